//! Reports as one self-contained HTML page: no script, no font, no picture from elsewhere.

mod chart;
mod compare;
mod dependency;
mod eval;
mod explain;
mod page;
mod scale;
mod tag;
mod train;

pub use compare::compare_page;
pub use dependency::{dependency_eval_page, dependency_explain_page};
pub use eval::eval_page;
pub use explain::explain_page;
pub use tag::{tag_eval_page, tag_explain_page};
pub use train::train_page;
