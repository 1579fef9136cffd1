//! What solvers see, and what they say.

use lineal_linalg::Scalar;
use std::ops::ControlFlow;
use thiserror::Error;

/// A function to minimise: smooth(w) + l1·Σ|wⱼ|. Dispatched dynamically, once a pass.
pub trait Objective<F> {
    /// Number of weights.
    fn dim(&self) -> usize;

    /// The smooth part's value; its gradient overwrites `grad`.
    fn value_grad(&mut self, w: &[F], grad: &mut [F]) -> f64;

    /// The nonsmooth part. Most objectives have none.
    fn l1(&self) -> L1 {
        L1::default()
    }

    /// How large the feature of each weight is, where that is known and no gap is: the rule of [`Stop`] is then about the gradient in units of the features, so that it
    /// means the same whatever they are measured in.
    fn sizes(&mut self) -> Option<Vec<f64>> {
        None
    }

    /// An upper bound on (value at `w`) − (minimum), if this objective has a way to prove one.
    /// `grad` is the smooth part's gradient at `w`. Any bound above `enough` is as good as another:
    /// return infinity as soon as that is clear.
    fn gap(&mut self, w: &[F], grad: &[F], enough: f64) -> Option<f64> {
        let _ = (w, grad, enough);
        None
    }
}

/// l1·Σ|wⱼ| over the first `until` weights (the rest, a free bias, is not penalised).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct L1 {
    /// The factor; 0 is no penalty.
    pub l1: f64,
    /// How many weights it covers, from the front.
    pub until: usize,
}

/// An objective that can multiply by its Hessian.
pub trait CurvedObjective<F: Scalar>: Objective<F> {
    /// Fixes the point at which the calls below take the Hessian.
    fn curve_at(&mut self, w: &[F]);

    /// `out = H v`.
    fn hess_vec(&mut self, v: &[F], out: &mut [F]);

    /// The diagonal of H, for preconditioning. The default asks for H eᵢ one by one: override it where `dim` is large.
    fn hess_diag(&mut self, out: &mut [F]) {
        let mut unit = vec![F::ZERO; self.dim()];
        let mut column = vec![F::ZERO; self.dim()];
        for i in 0..self.dim() {
            unit[i] = F::ONE;
            self.hess_vec(&unit, &mut column);
            unit[i] = F::ZERO;
            out[i] = column[i];
        }
    }

    /// All of H, row-major (`dim × dim`). The default asks for H eᵢ one by one.
    fn hessian(&mut self, out: &mut [F]) {
        let n = self.dim();
        let mut unit = vec![F::ZERO; n];
        for i in 0..n {
            unit[i] = F::ONE;
            self.hess_vec(&unit, &mut out[i * n..(i + 1) * n]);
            unit[i] = F::ZERO;
        }
    }
}

/// When to stop: one meaning of `tol` for every solver.
///
/// Where the objective bounds its own error: `gap ≤ tol · value`, so that the value is within `tol` of the optimum,
/// relatively. Elsewhere: `‖gradient‖ ≤ tol · ‖gradient at the start‖`, each entry divided by the [size](Objective::sizes) of its feature.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// The relative tolerance.
    pub tol: f64,
    /// Give up after that many passes.
    pub max_passes: usize,
}

impl Default for Stop {
    fn default() -> Self {
        Self { tol: 1e-6, max_passes: 1000 }
    }
}

impl Stop {
    /// Applies the rule. `value` is that of the whole objective, nonsmooth part included.
    pub fn verdict(
        &self,
        value: f64,
        gap: Option<f64>,
        grad_norm: f64,
        grad_norm_0: f64,
    ) -> Verdict {
        let done = match gap {
            Some(gap) => gap <= self.tol * value.abs(),
            None => grad_norm <= self.tol * grad_norm_0,
        };
        if done { Verdict::Converged } else { Verdict::GoOn }
    }

    /// The gap that is small enough at this value: what to pass to [`Objective::gap`].
    pub fn enough(&self, value: f64) -> f64 {
        self.tol * value.abs()
    }
}

/// Whether a solver may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Converged,
    /// Not yet.
    GoOn,
}

/// A solver's state after a pass, shown to its [`Monitor`].
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a, F> {
    /// Passes done, from 1: iterations, and of the dual as [`Outcome::passes`] counts them.
    pub pass: usize,
    /// The weights that would be returned now.
    pub w: &'a [F],
    /// The objective at `w`, infinite if this solver has not computed it; the mean loss seen on the way for `sgd`.
    pub value: f64,
    /// The bound on the distance from the optimum, if it was computed.
    pub gap: Option<f64>,
    /// What the gap seems to be from what was seen on the way: no proof.
    pub gap_estimate: Option<f64>,
    /// The gradient's norm, if there is one.
    pub grad_norm: Option<f64>,
}

/// Sees every pass; `Break` ends the run (early stopping, Ctrl-C).
pub type Monitor<'m, F> = dyn FnMut(&Pass<'_, F>) -> ControlFlow<()> + 'm;

/// A monitor that looks away.
pub fn silent<F>() -> impl FnMut(&Pass<'_, F>) -> ControlFlow<()> {
    |_| ControlFlow::Continue(())
}

/// How a run ended. The weights are in the caller's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Passes over the data.
    pub passes: usize,
    /// The objective at the end, nonsmooth part included, as far as the solver knows it.
    pub value: f64,
    /// The proven bound on the distance from the optimum.
    pub gap: Option<f64>,
    /// The gradient's norm (the smallest subgradient's where there is an l1 part).
    pub grad_norm: Option<f64>,
    /// The rule of [`Stop`] was met.
    pub converged: bool,
    /// How many examples changed the weights, for `sgd`.
    pub updates: Option<u64>,
}

/// Why a run failed.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The value or the gradient became infinite or NaN.
    #[error(
        "the objective became {value} in pass {pass}; try a smaller step (spec.sgd.rate), a larger spec.penalty.l2, or spec.standardize"
    )]
    Diverged {
        /// What it became.
        value: f64,
        /// When.
        pass: usize,
    },
}
