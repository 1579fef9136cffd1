//! Problems to learn: spans one by one (the pruner), and derivations.
//!
//! Both are structures of [`lineal_model::structure`]; whoever learns their weights knows nothing of trees. A parser is two steps:
//!
//! 1. [`SpanClassifier`] scores all spans with few features, [`SpanClassifier::prune`] leaves [`Candidates`];
//! 2. [`Constituents`] finds the best derivation over the candidates, [`Grammar::restore`](crate::Grammar::restore) makes a tree of it.
//!
//! `examples/parse.rs` has all of it.

mod candidates;
mod classifier;
mod constituents;
mod explain;
mod known;
mod parts;

pub use candidates::Candidates;
pub use classifier::{ClassifierScratch, PruneSpec, SpanClassifier};
pub use constituents::{Bracket, Constituents, ConstituentsScratch, SpanProbability};
pub use explain::Contribution;
pub use known::{Known, KnownError};
pub use parts::ConstituentParts;
