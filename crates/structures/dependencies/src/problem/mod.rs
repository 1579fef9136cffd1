//! Problems to learn: heads one by one (the pruner), trees, and the relations of a known tree.
//!
//! All are structures of [`lineal_model::structure`]; whoever learns their weights knows nothing of trees. A parser is three steps:
//!
//! 1. [`Heads`] scores all arcs with few features, [`Heads::prune`] leaves [`Candidates`];
//! 2. [`Trees`] finds the best tree over the candidates ([`projectivize`] makes gold trees fit for a projective one);
//! 3. [`Relations`] labels the words of the tree, unless `Trees` chose relations together with the arcs.
//!
//! `examples/parse_ewt.rs` has all of it.

mod candidates;
mod explain;
mod heads;
mod parts;
mod projectivize;
mod relations;
mod tree_spec;
mod trees;

pub use candidates::Candidates;
pub use explain::Contribution;
pub use heads::{Heads, HeadsScratch, PruneSpec};
pub use parts::TreeParts;
pub use projectivize::{projectivize, projectivize_all};
pub use relations::Relations;
pub use tree_spec::{Tree, TreeKind, TreeSpec};
pub use trees::{Trees, TreesScratch};
