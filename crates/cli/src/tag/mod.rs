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

pub use eval::run as eval;
pub use explain::run as explain;
pub use inspect::run as inspect;
pub use predict::run as predict;
pub use train::run as train;
