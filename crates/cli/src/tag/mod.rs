//! `--task tag`: a label for each position of a sequence.

pub mod demo;
mod eval;
mod explain;
mod inspect;
mod predict;
mod program;
mod train;
mod write;

pub use eval::{metric_rows, type_rows};
pub use explain::{headline, reason_place};
