//! Learning to label sequences: structured perceptron, structured SVM and conditional random field.
//!
//! The objective is that of the flat models with the label sequences of a sentence as its outputs,
//!
//! ```text
//! Σᵢ shareᵢ · loss(sentenceᵢ) + (l2/2)‖w‖² + l1‖w‖₁,
//! ```
//!
//! and [`learn`] minimises it. The weights are those of a [`ChainModel`], and come back as a [`PrunedModel`]: a predictor needs
//! `lineal_chain` alone. What runs in parallel runs in the current thread pool, with the same bits at any number of threads.
//!
//! ```
//! use lineal_chain::ChainModel;
//! use lineal_linalg::SparseRows;
//! use lineal_erm::chain::{ChainLoss, ChainSpec, Sentences, learn};
//! use std::ops::ControlFlow;
//!
//! // Two sentences; attribute 0 comes with label 0, attribute 1 with label 1.
//! let mut unary = SparseRows::new();
//! for id in [0, 1, 1, 0, 1] {
//!     unary.push(id);
//!     unary.end_row();
//! }
//! let sentences = Sentences { unary: &unary, pairs: None, labels: &[0, 1, 1, 0, 1], ends: &[3, 5], weights: None };
//! let model = ChainModel { n_labels: 2, n_unary: 2, n_pairs: 0, transitions: true, ends: true, triples: false };
//! let spec = ChainSpec { loss: ChainLoss::Perceptron, passes: 10, ..ChainSpec::default() };
//! let learnt = learn(model, sentences, &spec, None, &mut |_| ControlFlow::Continue(()))?;
//! assert!(learnt.report.converged);
//! # Ok::<(), lineal_erm::chain::ChainError>(())
//! ```

mod batch;
mod cuts;
mod dually;
mod exponentiated;
mod frank_wolfe;
mod layout;
mod learn;
mod online;
mod problem;
mod sentences;
mod spec;

pub use learn::learn;
pub use sentences::Sentences;
pub use spec::{
    ChainError, ChainLoss, ChainPass, ChainReport, ChainSolver, ChainSpec, ChainUpdate,
    ChainWeights, Learnt,
};

#[cfg(doc)]
use lineal_chain::{ChainModel, PrunedModel};
