//! Label sequences: a label for each position, scored by its attributes and by its neighbours.
//!
//! The first structured output space: y = (y₀ … yₙ₋₁) with K labels each has K^n values, and dynamic programming finds the best one, sums over all, or
//! ranks them in time n·K². The crate has layers that can be used alone:
//!
//! - **Oracles.** A [`Chain`] views scores of parts (unary scores, [`Transitions`], optionally transitions of each position) and constraints (a [`Grammar`], [`LabelSets`] allowed
//!   at positions) and answers: [`Chain::viterbi`], [`Chain::viterbi_augmented`], [`Chain::log_partition`], [`Chain::k_best`], and as [`Posterior`] marginals, probabilities of spans and
//!   sequences, posterior decoding, samples. [`PairChain`] makes order 2 of it, and a [`Decoder`] hides which of both a model has. What no legal sequence can satisfy is [`Error::Infeasible`].
//! - **Model.** [`ChainModel`] knows where the weights of attributes lie, maps them to [`Parts`] and back; [`PrunedModel`] has no zeros.
//! - **Problem.** A [`ChainProblem`] is [`Sentences`] with gold labels and the weights to learn, in a fast layout, as the [`Structure`](lineal_model::structure::Structure) that learners ask for.
//!
//! A [`Scheme`] of spans makes illegal sequences impossible.
//!
//! Partial labels need nothing of their own: restricted to the known labels, the log-partition marginalises over the others and Viterbi maximises over them.
//!
//! This crate must not know files, flags, losses or solvers. Its inner loops are slices over the *next* label; vectors come in `f32` or `f64`, sums over
//! sequences do not overflow for any finite scores, and what training calls (Viterbi, sums, marginals) allocates nothing once a [`Scratch`] has grown.
//!
//! ```
//! use lineal_chain::{Chain, LabelSets, Scheme, Scratch, Transitions};
//!
//! // Three tokens with scores for O, B-NP, I-NP. The scheme forbids I-NP at the start and after O.
//! let grammar = Scheme::Bio.grammar(&["O", "B-NP", "I-NP"])?;
//! let mut transitions = Transitions::new(grammar);
//! transitions.load(&[0.0f64; 9], &[0.0; 3], &[0.0; 3]);
//! let unary = [1.0, 0.8, 3.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0];
//! let chain = Chain::new(&transitions, &unary);
//!
//! let (mut scratch, mut labels) = (Scratch::new(), Vec::new());
//! chain.viterbi(&mut scratch, &mut labels)?;
//! assert_eq!(labels, [1, 2, 0]);
//!
//! let mut posterior = chain.posterior(&mut scratch)?;
//! let span = posterior.span(0, &[1, 2]);
//! assert!(span > 0.5 && span < posterior.unary()[1]);
//! drop(posterior);
//!
//! // Someone knows that the second token is outside.
//! let mut known = LabelSets::full(3, 3);
//! known.keep_only(1, 0);
//! chain.with_allowed(&known).viterbi(&mut scratch, &mut labels)?;
//! assert_eq!(labels, [0, 0, 0]);
//! # Ok::<(), lineal_chain::Error>(())
//! ```

mod chain;
mod cost;
mod decoder;
mod error;
mod k_best;
mod layout;
mod log_space;
mod model;
mod observed;
mod pairs;
mod parts;
mod posterior;
mod problem;
mod pruned;
mod reshape;
mod scheme;
mod scratch;
mod sentences;
mod sets;
mod steps;
mod sums;
mod transitions;
mod viterbi;

pub use chain::{Chain, UNLABELLED};
pub use cost::LabelCost;
pub use decoder::Decoder;
pub use error::Error;
pub use k_best::Ranked;
pub use layout::ChainWeights;
pub use model::{ChainModel, Observations};
pub use observed::Observed;
pub use pairs::PairChain;
pub use parts::Parts;
pub use posterior::Posterior;
pub use problem::{ChainLayout, ChainOptions, ChainProblem, ChainScratch};
pub use pruned::{PrunedModel, PrunedParts};
pub use scheme::Scheme;
pub use scratch::Scratch;
pub use sentences::Sentences;
pub use sets::{Grammar, LabelSets};
pub use transitions::Transitions;
