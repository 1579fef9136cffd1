//! Images and graphs with a label for each node.
//!
//! This crate must not know files, flags or solvers.

pub mod features;
mod nodes;

pub use nodes::NodeFeatures;
