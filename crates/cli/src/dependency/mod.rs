//! `--task dependency`: a head and a relation for each word of a sentence.

mod eval;
mod explain;
mod inspect;
mod predict;
mod program;
mod train;
mod write;

pub use eval::{length_rows, metric_rows, relation_rows, sentence_rows};
pub use explain::headline;
pub use program::Explained;
