//! A trained model of rows: what it predicts, how its columns become classes, what metrics say of it, and its file.

pub(crate) mod arrays;
pub(crate) mod evaluate;
pub(crate) mod evaluation;
pub(crate) mod file;
pub(crate) mod layout;
pub(crate) mod model;
pub(crate) mod packed;
pub(crate) mod scoring;
pub(crate) mod sparse_rows;
