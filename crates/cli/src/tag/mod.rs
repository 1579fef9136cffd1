//! `--task tag`: the commands for models of sequences.

mod eval;
mod explain;
mod inspect;
mod json;
mod predict;
mod request;
mod train;
mod write;

pub mod demo;

pub use eval::{metric_rows, run as eval, type_rows};
pub use explain::{headline, reason_place, run as explain};
pub use inspect::{facts as inspect_facts, run as inspect};
pub use predict::run as predict;
pub use train::{Outcome, run as train};
