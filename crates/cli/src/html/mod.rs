//! Reports as one self-contained HTML page: no script, font or picture from elsewhere. A little script of its own sorts tables and moves the threshold; without it everything can be read.

mod chart;
mod compare;
mod eval;
mod explain;
mod image;
mod page;
mod scale;
mod threshold;
mod train;
mod tree;

pub use compare::compare_page;
#[cfg(feature = "serve")]
pub use eval::kept_evaluation;
pub use eval::{by_class, confusion, eval_page, importance};
pub use explain::{draw, explain_page};
#[cfg(feature = "serve")]
pub use image::base64;
pub use image::image;
pub use page::{Page, escape, numbers, pairs, section};
pub use train::train_page;
#[cfg(feature = "serve")]
pub use train::training;
pub use tree::tree;
