//! Where the three steps meet: the regularised empirical risk
//!
//! ```text
//! P(w) = Σᵢ shareᵢ · loss(Ψ(xᵢ) w, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁,      shareᵢ = weightᵢ / Σ weights,
//! ```
//!
//! as every view that a solver may want: [`Erm`] is an `Objective` and a `CurvedObjective`, [`Stochastically`] takes one
//! example at a time, [`Dually`] one dual block at a time, [`exact`] solves least squares at once. [`structured`] learns where outputs are sequences, trees, matchings.
//!
//! The penalty is applied here and nowhere else; sums over examples are taken shard by shard in an order that does
//! not depend on the number of threads. This crate must not know a file, a flag or a class's name.
//!
//! ```
//! use lineal_erm::{Erm, Penalty, Rows};
//! use lineal_linalg::{Dense, Matrix};
//! use lineal_loss::Squared;
//! use lineal_model::{Bias, Linear, space::Real};
//! use lineal_solver::{Newton, newton, silent};
//!
//! let x = Matrix::Dense(Dense::new(3, 1, vec![0.0, 1.0, 2.0]).unwrap());
//! let y = [1.0, 3.0, 5.0];
//! let model = Linear::new(1, Real, Bias::Free);
//! let mut erm = Erm::new(&model, &Squared, Rows::new(&x, &y, None), Penalty::default());
//! let mut w = [0.0f64; 2];
//! newton(&Newton::default(), &mut erm, &mut w, &mut silent()).unwrap();
//! assert!((w[0] - 2.0).abs() < 1e-6 && (w[1] - 1.0).abs() < 1e-6); // y = 2x + 1
//! ```

mod balance;
pub mod columns;
mod distributed;
mod dually;
mod exact;
mod gap;
mod hard_margin;
pub mod newton;
pub mod online;
pub mod partial;
mod risk;
mod rounding;
mod rows;
mod shards;
mod stochastically;
pub mod structured;
mod support;

pub use dually::{Dually, Prover};
pub use exact::{ExactError, exact};
pub use gap::ProvenValue;
pub use hard_margin::{Margin, Separation, hard_margin, margins};
pub use risk::{Erm, Penalty};
pub use rounding::{LowerBound, Proof};
pub use rows::{Examples, Rows};
pub use stochastically::Stochastically;
