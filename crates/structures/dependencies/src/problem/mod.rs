//! Problems to learn: heads one by one (the pruner), trees, and the relations of a known tree.

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
pub use projectivize::projectivize;
pub use relations::Relations;
pub use tree_spec::{Tree, TreeKind, TreeSpec};
pub use trees::{Trees, TreesScratch};
