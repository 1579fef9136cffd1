//! Dependency trees over the words of a sentence: oracles, features of arcs, problems to learn.
//!
//! A tree gives each word 1 … n its head, another word or the root 0. Heads are `u32`, one for each word in order.
//!
//! This crate must not know files, flags, losses or solvers.
//!
//! ```
//! use lineal_dependencies::tree;
//!
//! // She saw the dog: `saw` is the root's, `She` and `dog` are `saw`'s, `the` is `dog`'s.
//! let heads = [2, 0, 4, 2];
//! assert!(tree::is_tree(&heads) && tree::is_projective(&heads));
//! ```

mod arcs;
pub mod features;
mod forest;
mod infeasible;
mod k_best;
mod non_projective;
pub mod problem;
mod projective;
mod second_order;
pub mod tree;

pub use arcs::Arcs;
pub use non_projective::NonProjective;
pub use projective::Projective;
pub use second_order::{SecondOrder, SecondOrderProjective};
pub use tree::RankedTree;
