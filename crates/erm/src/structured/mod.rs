//! Learning with structured outputs: structured perceptron, structured SVM and conditional random field, for whatever has an argmax.
//!
//! The objective is that of the flat models, with the outputs of an example as its classes,
//!
//! ```text
//! Σᵢ shareᵢ · loss(exampleᵢ) + (l2/2)‖w‖² + l1‖w‖₁,
//! ```
//!
//! and [`learn`] minimises it for any structure with sums ([`SumOracle`](lineal_model::structure::SumOracle)), [`learn_max`] for one that has only an argmax
//! ([`MaxOracle`](lineal_model::structure::MaxOracle)). Nothing here knows what an output is. What runs in parallel runs in the current thread pool, with the same bits at any number
//! of threads.
//!
//! | loss | solvers |
//! |---|---|
//! | perceptron | `Sgd`: the averaged perceptron, passive–aggressive updates |
//! | hinge | `Dual`: block-coordinate Frank–Wolfe; `Sgd`: Pegasos and other rates, passive–aggressive updates; `Newton` |
//! | logistic | `Lbfgs` and OWL-QN; `Dual`: exponentiated gradient; `Sgd`; `Newton` |
//!
//! `Newton` is for few weights and structures that know their second derivatives ([`MaxOracle::is_curved`](lineal_model::structure::MaxOracle::is_curved)).
//!
//! `crates/erm/examples/matching.rs` shows a structure of its own with every learner that its argmax allows.
//!
//! ```
//! use lineal_chain::{ChainModel, ChainOptions, ChainProblem, Sentences};
//! use lineal_erm::structured::{LearnSpec, Loss, learn};
//! use lineal_linalg::SparseRows;
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
//! let problem = ChainProblem::new(model, sentences, &ChainOptions::default(), None)?;
//!
//! let spec = LearnSpec { loss: Loss::Perceptron, passes: 10, ..LearnSpec::default() };
//! let learnt = learn(&problem, &spec, None, &mut |_| ControlFlow::Continue(()))?;
//! assert!(learnt.report.converged);
//! let tagger = problem.pruned(&learnt.w)?;
//! assert!(tagger.n_weights() > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod cuts;
mod exponentiated;
mod frank_wolfe;
mod learn;
mod newton;
mod nonnegative;
mod online;
pub mod partial;
mod problem;
mod report;
mod spec;
mod vertex;

pub use learn::{learn, learn_max};
pub use report::{LearnError, LearnPass, LearnReport, Learnt, OnPass};
pub use spec::{LearnSpec, Loss, Solver, Update};
