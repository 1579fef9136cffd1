//! Step 1: pick a model. Features Ψ(x, y), an output space Y(x) with its argmax, and the weights between them.
//!
//! An output y is a vector of *parts* μ(y); scores of parts are linear in the weights, θ = Ψ(x) w, and
//! the score of y is ⟨θ, μ(y)⟩. A [`Model`] maps an input to θ and a gradient in θ back to weights; an [`OutputSpace`](space::OutputSpace)
//! knows the parts, the argmax and, where it can, log-sum-exp. Losses and solvers see nothing else.
//!
//! A problem whose outputs have structure (sequences, trees, cuts, orders) is a [`Structure`](structure::Structure): one interface for all of them, at the example.
//!
//! This crate must not know a loss or a solver: a predictor links nothing that it does not run.
//!
//! ```
//! use lineal_linalg::Row;
//! use lineal_model::{Bias, Linear, Model, space::{Classes, OutputSpace}};
//!
//! // Three classes over three features; the weights of a feature lie side by side.
//! let w = [2.0, 1.2, 1.0, /**/ 5.6, -3.1, 1.2, /**/ -3.0, 5.7, -0.5];
//! let model = Linear::new(3, Classes(3), Bias::None);
//! let mut scores = [0.0f64; 3];
//! model.scores(Row::Dense(&[1.0, 1.0, 0.0]), &w, &mut scores);
//! assert!((scores[0] - 7.6).abs() < 1e-12 && (scores[1] + 1.9).abs() < 1e-12);
//! assert_eq!(Classes(3).decode(&scores), 0);
//! ```

pub mod assignment;
pub mod chunks;
pub mod cost;
pub mod explain;
pub mod file;
pub mod hash;
mod joint;
pub mod label_tree;
mod linear;
pub mod packed;
pub mod space;
pub mod structure;
pub mod word;

/// In a byte per label, that a label is not known.
pub const VOID: u8 = u8::MAX;

pub use joint::Joint;
pub use linear::{Bias, Linear, Model};
