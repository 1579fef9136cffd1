//! Multiclass from *any* binary learner, linear or not.
//!
//! A reduction turns "which of K classes?" into yes-or-no questions, hands each to a [`BinaryLearner`] it knows
//! nothing about, and reads a class from the answers. Four of them, one file each, with probabilities that sum to one
//! (`proba`):
//!
//! | reduction | questions | rows touched | answers asked for by one prediction |
//! |---|---|---|---|
//! | [`OneVsAll`] | K: "class k, or any other?" | K·N | K |
//! | [`OneVsOne`] | K(K−1)/2: "class a, or class b?" | (K−1)·N | K(K−1)/2, or K−1 in a tournament |
//! | [`OutputCode`] | L: one per column of a [`Code`] | at most L·N | L |
//! | [`LabelTree`] | K−1: "which half?", one per node of a [`Tree`] | about N·log₂K | log₂K, times the beam |
//!
//! And three where mistakes have [`Costs`]: [`CostOneVsAll`], [`CostAllPairs`] and [`FilterTree`].
//!
//! This crate must not know what an input is, how a learner learns, or that linear models exist. It copies no
//! example: a [`BinaryTask`] is the caller's inputs, a list of row numbers, and a rule that gives each row its sign.
//!
//! Conventions that hold in all of it: classes count from 0; a score of exactly 0 is *yes* (positive, left, the
//! lower class of a pair); among equals the lowest class wins; a class without a training row is never predicted
//! (unless costs say that it should), and a question to which only one answer occurs in the training rows is not asked. Questions are learnt in
//! parallel on rayon's current pool; each is a function of the task alone, so the result does not depend on the
//! number of threads.
//!
//! A decision stump, one threshold on one number, is no linear model of anything. Here it tells three species
//! apart:
//!
//! ```
//! use lineal_reduce::{BinaryLearner, BinaryScorer, BinaryTask, Examples, OneVsOne, PairDecision, Scratch};
//! use std::convert::Infallible;
//!
//! struct Flower { petal: f64, sepal: f64 }
//!
//! /// Yes if `side · (value − threshold) ≥ 0`.
//! struct Stump { on_petal: bool, threshold: f64, side: f64 }
//!
//! impl BinaryScorer for Stump {
//!     type Inputs = [Flower];
//!     fn score(&self, x: &Flower) -> f64 {
//!         self.side * (if self.on_petal { x.petal } else { x.sepal } - self.threshold)
//!     }
//! }
//!
//! struct BestStump;
//!
//! impl BinaryLearner for BestStump {
//!     type Scorer = Stump;
//!     type Error = Infallible;
//!     fn fit(&self, task: &BinaryTask<'_, [Flower]>) -> Result<Stump, Infallible> {
//!         let mut best = (usize::MAX, Stump { on_petal: true, threshold: 0.0, side: 1.0 });
//!         for example in task.iter() {
//!             for (on_petal, side) in [(true, 1.0), (true, -1.0), (false, 1.0), (false, -1.0)] {
//!                 let threshold = if on_petal { example.x.petal } else { example.x.sepal };
//!                 let stump = Stump { on_petal, threshold, side };
//!                 let wrong = task.iter().filter(|e| (stump.score(e.x) >= 0.0) != (e.sign > 0.0)).count();
//!                 if wrong < best.0 {
//!                     best = (wrong, stump);
//!                 }
//!             }
//!         }
//!         Ok(best.1)
//!     }
//! }
//!
//! let flowers = [(1.4, 5.1), (1.3, 4.9), (4.7, 7.0), (4.5, 6.4), (6.0, 6.3), (5.1, 5.8)]
//!     .map(|(petal, sepal)| Flower { petal, sepal });
//! let species = [0, 0, 1, 1, 2, 2];
//!
//! let examples = Examples::new(&flowers[..], &species, 3)?;
//! let model = OneVsOne::fit(&BestStump, &examples)?;
//! assert_eq!(model.report().problems, 3);
//! assert_eq!(model.report().rows, 2 * 6);
//!
//! let mut scratch = Scratch::default();
//! let unseen = Flower { petal: 1.35, sepal: 5.0 };
//! assert_eq!(model.predict(&unseen, PairDecision::Votes, &mut scratch), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod code;
mod cost;
mod duels;
mod error;
mod examples;
mod label_tree;
mod learner;
mod one_vs_all;
mod one_vs_one;
mod output_code;
mod problems;
mod tree;

/// The examples of the guide, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reductions.md")]
mod guide {}

pub use code::Code;
pub use cost::{CostAllPairs, CostOneVsAll, Costs, FilterTree};
pub use duels::PairDecision;
pub use error::{Error, FitError};
pub use examples::{Examples, Inputs};
pub use label_tree::LabelTree;
pub use learner::{BinaryLearner, BinaryScorer, BinaryTask, Example, InputOf, InputsOf};
pub use one_vs_all::OneVsAll;
pub use one_vs_one::OneVsOne;
pub use output_code::{Decoding, MarginLoss, OutputCode};
pub use problems::{Report, Scratch};
pub use tree::{Tree, class_centroids};
