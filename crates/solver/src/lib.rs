//! Step 3: pick a solver.
//!
//! A solver is a config struct and a function; its parameter says which view of the problem it needs:
//! [`Objective`] (value and gradient), [`CurvedObjective`] (Hessian products too), [`Stochastic`] (one example's
//! update) or [`DualBlocks`] (one example's dual block). This crate must not know what an example, a label, a loss or
//! a file is; it is tested on quadratics and on Rosenbrock's function.
//!
//! All of them stop by the same rule, [`Stop`]: a *relative duality gap* where the objective can bound its distance
//! from the optimum, a *relative gradient norm* elsewhere; and all of them report every pass to a [`Monitor`].
//!
//! ```
//! use lineal_solver::{Newton, Objective, CurvedObjective, newton, silent};
//!
//! /// F(w) = ½(w₁² − w₂)² + ½(w₁ − 1)², whose minimum is at (1, 1).
//! #[derive(Default)]
//! struct F { at: [f64; 2] }
//!
//! impl Objective<f64> for F {
//!     fn dim(&self) -> usize { 2 }
//!     fn value_grad(&mut self, w: &[f64], grad: &mut [f64]) -> f64 {
//!         let (r, s) = (w[0] * w[0] - w[1], w[0] - 1.0);
//!         grad.copy_from_slice(&[2.0 * w[0] * r + s, -r]);
//!         0.5 * r * r + 0.5 * s * s
//!     }
//! }
//!
//! impl CurvedObjective<f64> for F {
//!     fn curve_at(&mut self, w: &[f64]) { self.at.copy_from_slice(w); }
//!     fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
//!         let [w1, w2] = self.at;
//!         out[0] = (6.0 * w1 * w1 - 2.0 * w2 + 1.0) * v[0] - 2.0 * w1 * v[1];
//!         out[1] = -2.0 * w1 * v[0] + v[1];
//!     }
//! }
//!
//! let mut w = [0.0, 0.0];
//! let outcome = newton(&Newton::default(), &mut F::default(), &mut w, &mut silent()).unwrap();
//! assert!(outcome.converged);
//! assert!((w[0] - 1.0).abs() < 1e-6 && (w[1] - 1.0).abs() < 1e-6);
//! ```

mod dual;
mod gd;
mod interrupt;
mod iterate;
mod lbfgs;
mod newton;
mod online;
mod pick;
mod run;
mod search;
mod sgd;
mod view;

pub use dual::{Blocks, Dual, DualBlocks, DualStep, Soon, dual, dual_by_gaps};
pub use gd::{Gd, GdStep, gd};
pub use interrupt::Interrupt;
pub use iterate::Iterate;
pub use lbfgs::{Lbfgs, lbfgs, lbfgs_from};
pub use newton::{Newton, newton};
pub use online::{Fall, Move, Online, OnlineConfig, OnlineState, Rule};
pub use pick::shuffle;
pub use run::{least_subgradient_norm, scaled_norm};
pub use sgd::{Averaging, Draws, Schedule, Sgd, Stochastic, sgd};
pub use view::{
    CurvedObjective, Error, L1, Monitor, Objective, Outcome, Pass, Stop, Verdict, silent,
};
