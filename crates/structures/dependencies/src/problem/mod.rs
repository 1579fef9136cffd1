//! Problems to learn: heads one by one (the pruner), trees, and the relations of a known tree.

mod heads;

pub use heads::{Heads, HeadsScratch};
