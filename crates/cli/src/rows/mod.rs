//! Models of rows: classes, labels and numbers.

mod advice;
mod by_label;
pub mod confusion;
pub mod details;
pub mod eval;
pub mod explain;
pub mod guess;
pub mod inspect;
pub mod predict;
mod program;
pub mod request;
pub mod summary;
mod train;

pub use by_label::ByLabel;
pub use train::Rows;
