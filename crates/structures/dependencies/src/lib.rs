//! Dependency trees over the words of a sentence: oracles, features of arcs, problems to learn.
//!
//! A tree gives each word 1 … n its head, another word or the root 0. Heads are `u32`, one for each word in order.
//!
//! **Oracles** run over the candidate [`Arcs`] of a sentence and know nothing of features. Each finds the best tree (`max`), sums over all (`log_partition`), gives the probability of
//! each part (`expect`) and ranks trees (`k_best`), with one word at the root or more. What no tree satisfies is [`Infeasible`](lineal_model::structure::Infeasible).
//!
//! | oracle | trees | parts | max | sums |
//! |---|---|---|---|---|
//! | [`Projective`] | without crossing arcs | arcs | Eisner | inside–outside |
//! | [`SecondOrderProjective`] | without crossing arcs | [`SecondOrder`]: arcs, grandparents, siblings | Koo and Collins | inside–outside on a packed forest |
//! | [`NonProjective`] | all | arcs | Chu–Liu–Edmonds | matrix-tree theorem |
//!
//! Scores come in `f32` or `f64`. Sums do not overflow for any finite scores, and what training calls (maxima, sums, probabilities) allocates nothing once an oracle has grown.
//! Cost augmentation, known heads and minimum risk need nothing of their own: add costs to scores, leave one candidate, take the maximum over probabilities.
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
pub mod parser;
pub mod problem;
mod projective;
mod second_order;
pub mod tree;

pub use arcs::Arcs;
pub use non_projective::NonProjective;
pub use projective::Projective;
pub use second_order::{SecondOrder, SecondOrderProjective};
pub use tree::RankedTree;
