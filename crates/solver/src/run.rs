//! What the solvers of an objective have in common: counting, judging, reporting, and sums that keep their digits.

use crate::interrupt::Interrupt;
use crate::view::{Error, L1, Monitor, Objective, Outcome, Pass, Stop, Verdict};
use lineal_linalg::{Scalar, kernels};
use std::ops::ControlFlow;

/// What the solvers of an [`Objective`] have in common: counting, judging, reporting.
pub(crate) struct Run<'a, 'm, F> {
    stop: Stop,
    monitor: &'a mut Monitor<'m, F>,
    /// Values, gradients and Hessian products asked for.
    pub passes: usize,
    /// Points judged after the start.
    pub iterations: usize,
    /// The norm that the rule is about, at the start.
    measure_0: Option<f64>,
    /// Sizes of the features, asked for where there is no gap.
    sizes: Option<Option<Vec<f64>>>,
    /// At the last point judged.
    gap: Option<f64>,
    interrupt: Interrupt,
}

/// A point that could be returned.
pub(crate) struct Point<'a, F> {
    pub w: &'a [F],
    /// Of the smooth part.
    pub grad: &'a [F],
    /// Of the whole objective.
    pub value: f64,
    /// Of the whole objective's least subgradient.
    pub grad_norm: f64,
}

impl<'a, 'm, F: Scalar> Run<'a, 'm, F> {
    pub fn new(stop: Stop, monitor: &'a mut Monitor<'m, F>) -> Self {
        let (measure_0, sizes) = (None, None);
        let interrupt = Interrupt::current();
        Self { stop, monitor, passes: 0, iterations: 0, measure_0, sizes, gap: None, interrupt }
    }

    /// Counts the call.
    pub fn value_grad(&mut self, f: &mut dyn Objective<F>, w: &[F], grad: &mut [F]) -> f64 {
        self.passes += 1;
        f.value_grad(w, grad)
    }

    /// Whether the run is to end now, with whatever numbers.
    pub fn is_stopped(&self) -> bool {
        self.interrupt.is_stopped()
    }

    /// Passes that may still be made. The first, at the start, is free.
    pub fn passes_left(&self) -> usize {
        self.stop.max_passes.saturating_add(1).saturating_sub(self.passes)
    }

    /// Shows the point to the monitor (unless it is the start) and says if the run ends here.
    pub fn judge(
        &mut self,
        f: &mut dyn Objective<F>,
        at: &Point<'_, F>,
    ) -> Result<Option<Outcome>, Error> {
        let &Point { w, grad, value, grad_norm } = at;
        if self.is_stopped() {
            return Ok(Some(Outcome { passes: self.passes, value, ..Outcome::default() }));
        }
        if !(value.is_finite() && grad_norm.is_finite()) {
            let value = if value.is_finite() { grad_norm } else { value };
            return Err(Error::Diverged { value, pass: self.iterations + 1 });
        }
        let gap = f.gap(w, grad, self.stop.enough(value));
        self.gap = gap;
        let measure = match gap {
            Some(_) => grad_norm,
            None => match self.sizes.get_or_insert_with(|| f.sizes()) {
                Some(sizes) => scaled_norm(grad, sizes),
                None => grad_norm,
            },
        };
        let mut flow = ControlFlow::Continue(());
        let measure_0 = match self.measure_0 {
            None => *self.measure_0.insert(measure),
            Some(measure_0) => {
                self.iterations += 1;
                let pass = Pass {
                    pass: self.iterations,
                    w,
                    value,
                    gap,
                    gap_estimate: None,
                    grad_norm: Some(grad_norm),
                };
                flow = (self.monitor)(&pass);
                measure_0
            }
        };
        // A stationary point is the end even where the gap, in rounded numbers, is not 0.
        let converged = grad_norm == 0.0
            || self.stop.verdict(value, gap, measure, measure_0) == Verdict::Converged;
        let ends = converged || flow.is_break() || self.passes_left() == 0;
        Ok(ends.then(|| Outcome { converged, ..self.give_up(f, at) }))
    }

    /// An end without convergence, at the point that was judged last, with the best bound that can be proved.
    pub fn give_up(&self, f: &mut dyn Objective<F>, at: &Point<'_, F>) -> Outcome {
        let gap = match self.gap {
            // Infinity only says "more than enough".
            Some(gap) if !gap.is_finite() && !self.is_stopped() => {
                f.gap(at.w, at.grad, f64::INFINITY)
            }
            gap => gap,
        };
        let (value, grad_norm) = (at.value, Some(at.grad_norm));
        Outcome { passes: self.passes, value, gap, grad_norm, ..Outcome::default() }
    }
}

/// The subgradient of f + l1·Σ|wⱼ| of least norm; its negative is the direction of steepest descent.
pub(crate) fn least_subgradient<F: Scalar>(w: &[F], grad: &[F], l1: L1, out: &mut [F]) {
    out.copy_from_slice(grad);
    if l1.l1 > 0.0 {
        let by = F::from_f64(l1.l1);
        for (out, &w) in out[..l1.until].iter_mut().zip(w) {
            let g = *out;
            *out = if w > F::ZERO || (w == F::ZERO && g < -by) {
                g + by
            } else if w < F::ZERO || g > by {
                g - by
            } else {
                // 0, and NaN where it is NaN.
                g * F::ZERO
            };
        }
    }
}

/// The norm of the least subgradient of f + l1·Σ|wⱼ|, from ∇f: 0 at the optimum alone.
pub fn least_subgradient_norm<F: Scalar>(w: &[F], grad: &[F], l1: L1) -> f64 {
    let mut least = grad.to_vec();
    least_subgradient(w, grad, l1, &mut least);
    norm(&least)
}

/// Σ|wⱼ| over the penalised weights.
pub(crate) fn abs_sum<F: Scalar>(w: &[F], l1: L1) -> f64 {
    if l1.l1 > 0.0 { w[..l1.until].iter().map(|w| w.to_f64().abs()).sum() } else { 0.0 }
}

/// Σ|trialⱼ| − Σ|wⱼ|, weight by weight: near the end the two sums agree in all their digits.
pub(crate) fn abs_change<F: Scalar>(w: &[F], trial: &[F], l1: L1) -> f64 {
    if l1.l1 > 0.0 {
        let change = |(w, trial): (&F, &F)| trial.to_f64().abs() - w.to_f64().abs();
        w[..l1.until].iter().zip(trial).map(change).sum()
    } else {
        0.0
    }
}

/// The norm of a gradient in units of the features: √Σ (gⱼ/sizeⱼ)² over the features that have a size.
pub fn scaled_norm<F: Scalar>(grad: &[F], sizes: &[f64]) -> f64 {
    let own = |(g, &size): (&F, &f64)| if size > 0.0 { g.to_f64() / size } else { 0.0 };
    grad.iter().zip(sizes).map(own).map(|g| g * g).sum::<f64>().sqrt()
}

pub(crate) fn norm<F: Scalar>(v: &[F]) -> f64 {
    kernels::dot64(v, v).sqrt()
}

/// Sums over `trial − w` without a buffer for it; eight lanes, as in [`kernels::dot64`].
fn sum_over_move<F: Scalar>(
    w: &[F],
    trial: &[F],
    grad: &[F],
    term: impl Fn(f64, f64) -> f64,
) -> f64 {
    let mut acc = [0.0f64; 8];
    let blocks = w.chunks(8).zip(trial.chunks(8)).zip(grad.chunks(8));
    for ((w, trial), grad) in blocks {
        for (((acc, &w), &trial), &grad) in acc.iter_mut().zip(w).zip(trial).zip(grad) {
            *acc += term(trial.to_f64() - w.to_f64(), grad.to_f64());
        }
    }
    acc.iter().sum()
}

/// ⟨grad, trial − w⟩, without the cancellation of ⟨grad, trial⟩ − ⟨grad, w⟩.
pub(crate) fn slope_along<F: Scalar>(grad: &[F], w: &[F], trial: &[F]) -> f64 {
    sum_over_move(w, trial, grad, |s, g| s * g)
}

pub(crate) fn distance_squared<F: Scalar>(trial: &[F], w: &[F]) -> f64 {
    sum_over_move(w, trial, w, |s, _| s * s)
}
