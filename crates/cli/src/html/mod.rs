//! Reports as one self-contained HTML page: no script, no font, no picture from elsewhere.

mod chart;
mod compare;
mod eval;
mod explain;
mod image;
mod page;
mod scale;
mod train;
mod tree;

pub use compare::compare_page;
pub use eval::{by_class, confusion, eval_page};
pub use explain::{BARS, draw, explain_page};
pub use image::image;
pub use page::{Page, numbers, pairs, section};
pub use train::train_page;
pub use tree::tree;
