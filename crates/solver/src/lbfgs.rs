//! L-BFGS, and OWL-QN where there is an l1 part.
//!
//! Minimises f(w) + l1·Σ|wⱼ|. The last `memory` moves sᵢ of w and yᵢ of ∇f define a matrix H ≈ (∇²f)⁻¹, never formed:
//! Nocedal & Wright, *Numerical Optimization*, 2nd ed., algorithm 7.4 multiplies by it and 7.5 is the method.
//!
//! Buffers: `s`, `y`: `memory` vectors of `dim` each, used in turn; `grad`, `steepest`, `trial`, `trial_grad`,
//! `direction`: `dim`.
//!
//! Where the Hessian's diagonal is known, about, H starts from its inverse, times one number, in place of a number alone ([`lbfgs_from`]).
//!
//! **l1 = 0.** w ← w + t d, d = −H∇f, with a step t under the weak Wolfe conditions ([`line_search`]). t = 1 is tried
//! first and is nearly always taken: one evaluation an iteration.
//!
//! **l1 > 0.** Algorithm 1 of Andrew & Gao, *Scalable training of L1-regularized log-linear models* (2007). With v the
//! least subgradient ("pseudo-gradient"): d = −Hv, and w ← π(w + t d), where π sets to 0 every weight that leaves the
//! orthant of w (of −v where w is 0). t is shortened until F(trial) ≤ F(w) + c ⟨v, trial − w⟩. What differs:
//!
//! - Weights that are 0 and stay there (w = v = 0) are taken out of sᵢ, yᵢ while multiplying by H, so that H
//!   approximates the inverse of the Hessian *of the free weights*, not that part of the whole inverse.
//! - The paper sets to 0 every entry of d that does not descend along v; here only those of weights that are 0, which
//!   could not move anyhow. The rest of d is a quasi-Newton step and is worth more whole. (If d then does not
//!   descend, the paper's rule.) Logistic loss on a9a, l1 = 10 / n, to a relative gap of 1e-8: 117 passes, 710 with the
//!   paper's rule; l1 = 0.1 / n: 886, and more than 10,000.

use crate::run::{Point, Run, abs_change, abs_sum, least_subgradient, norm, slope_along};
use crate::search::{ARMIJO, Decrease, MAX_TRIES, Ray, line_search, step_to};
use crate::view::{Error, L1, Monitor, Objective, Outcome, Stop};
use lineal_linalg::{Scalar, kernels};

/// Settings of [`lbfgs`].
#[derive(Clone, Copy, Debug)]
pub struct Lbfgs {
    /// How many past moves to keep; 10 by default.
    pub memory: usize,
    /// When to stop.
    pub stop: Stop,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Self { memory: 10, stop: Stop::default() }
    }
}

/// Minimises `f` from the given `w`, in place.
///
/// Ends unconverged, without an error, when no step makes the value smaller any more in the precision of `F`.
///
/// # Errors
/// [`Error::Diverged`] if the value or the gradient is not finite at the start or after a step.
pub fn lbfgs<F: Scalar>(
    config: &Lbfgs,
    f: &mut dyn Objective<F>,
    w: &mut [F],
    monitor: &mut Monitor<'_, F>,
) -> Result<Outcome, Error> {
    lbfgs_from(config, None, f, w, monitor)
}

/// As [`lbfgs`], with about what the inverse of the Hessian's diagonal is.
///
/// # Errors
/// As [`lbfgs`].
pub fn lbfgs_from<F: Scalar>(
    config: &Lbfgs,
    inverse_diagonal: Option<&[F]>,
    f: &mut dyn Objective<F>,
    w: &mut [F],
    monitor: &mut Monitor<'_, F>,
) -> Result<Outcome, Error> {
    let n = f.dim();
    assert_eq!(w.len(), n, "weights for an objective of {n}");
    let l1 = f.l1();
    let mut history = History::new(config.memory, n, inverse_diagonal);
    let zeros = || vec![F::ZERO; n];
    let [mut grad, mut trial, mut trial_grad] = [zeros(), zeros(), zeros()];
    let [mut steepest, mut direction] = [zeros(), zeros()];

    let mut run = Run::new(config.stop, monitor);
    let mut smooth = run.value_grad(f, w, &mut grad);
    let mut norm_1 = abs_sum(w, l1);
    loop {
        let value = smooth + l1.l1 * norm_1;
        least_subgradient(w, &grad, l1, &mut steepest);
        let grad_norm = norm(&steepest);
        if let Some(outcome) = run.judge(f, &Point { w, grad: &grad, value, grad_norm })? {
            return Ok(outcome);
        }

        let accepted = loop {
            if l1.l1 > 0.0 {
                history.descend_free(w, &steepest, &mut direction);
                align(&mut direction, &steepest, l1, |j| w[j] == F::ZERO);
                if !descends(&direction, &steepest) {
                    align(&mut direction, &steepest, l1, |_| true);
                }
            } else {
                history.descend(&steepest, &mut direction);
            }
            let slope = kernels::dot64(&steepest, &direction);
            // Without a history the first move has length 1 at most, whatever the gradient's units.
            let step = match history.len {
                0 => 1.0 / history.norm(&steepest, grad_norm).max(1.0),
                _ => 1.0,
            };
            let start = Ray { w, d: &direction, value, slope };
            let end = if !descends(&direction, &steepest) {
                None
            } else if l1.l1 > 0.0 {
                orthant_search(
                    &mut run,
                    f,
                    &start,
                    &steepest,
                    l1,
                    step,
                    &mut trial,
                    &mut trial_grad,
                )
            } else {
                line_search(&mut run, f, &start, step, CURVATURE, &mut trial, &mut trial_grad)
                    .map(|value| (value, 0.0))
            };
            // A bad history may be to blame: once more along the steepest descent.
            if end.is_some() || history.len == 0 {
                break end;
            }
            history.len = 0;
        };
        let Some(accepted) = accepted else {
            return Ok(run.give_up(f, &Point { w, grad: &grad, value, grad_norm }));
        };
        history.push(w, &trial, &grad, &trial_grad);
        w.copy_from_slice(&trial);
        std::mem::swap(&mut grad, &mut trial_grad);
        (smooth, norm_1) = accepted;
    }
}

/// Wolfe's fraction: a step may leave this much of the slope.
const CURVATURE: f64 = 0.9;

/// Backtracking over π(w + t d); returns the smooth value and Σ|wⱼ| at `trial`.
fn orthant_search<F: Scalar>(
    run: &mut Run<'_, '_, F>,
    f: &mut dyn Objective<F>,
    start: &Ray<'_, F>,
    steepest: &[F],
    l1: L1,
    first: f64,
    trial: &mut [F],
    grad: &mut [F],
) -> Option<(f64, f64)> {
    let &Ray { w, d, value, .. } = start;
    let mut t = first;
    for _ in 0..MAX_TRIES {
        if !step_to(w, d, t, trial) {
            return None;
        }
        for ((trial, &w), &v) in trial[..l1.until].iter_mut().zip(w).zip(steepest) {
            let orthant = if w == F::ZERO { -v } else { w };
            // The sign of a product could underflow.
            if (*trial > F::ZERO) != (orthant > F::ZERO)
                || (*trial < F::ZERO) != (orthant < F::ZERO)
            {
                *trial = F::ZERO;
            }
        }
        let smooth = run.value_grad(f, trial, grad);
        let trial_norm_1 = abs_sum(trial, l1);
        let slope = slope_along(steepest, w, trial);
        let decrease = Decrease {
            value,
            slope,
            trial_value: smooth + l1.l1 * trial_norm_1,
            trial_slope: slope_along(grad, w, trial) + l1.l1 * abs_change(w, trial, l1),
            wanted: ARMIJO * (-slope).max(0.0),
        };
        if decrease.is_enough::<F>() {
            return Some((smooth, trial_norm_1));
        }
        let shorter = slope / (2.0 * (slope - (decrease.trial_value - value)));
        t *= if shorter.is_finite() { shorter.clamp(0.1, 0.5) } else { 0.1 };
    }
    None
}

fn descends<F: Scalar>(direction: &[F], steepest: &[F]) -> bool {
    kernels::dot64(steepest, direction) < 0.0
}

/// Sets to 0 the penalised entries of `direction`, among those asked for, that do not descend.
fn align<F: Scalar>(direction: &mut [F], steepest: &[F], l1: L1, of: impl Fn(usize) -> bool) {
    for (j, (d, &v)) in direction[..l1.until].iter_mut().zip(steepest).enumerate() {
        if of(j) && !((*d < F::ZERO && v > F::ZERO) || (*d > F::ZERO && v < F::ZERO)) {
            *d = F::ZERO;
        }
    }
}

/// The last moves.
struct History<'d, F> {
    inverse_diagonal: Option<&'d [F]>,
    s: Vec<Vec<F>>,
    y: Vec<Vec<F>>,
    /// ⟨sᵢ, yᵢ⟩.
    sy: Vec<f64>,
    alpha: Vec<f64>,
    free: Vec<usize>,
    /// Where the next move goes.
    next: usize,
    len: usize,
}

impl<'d, F: Scalar> History<'d, F> {
    fn new(memory: usize, n: usize, inverse_diagonal: Option<&'d [F]>) -> Self {
        let vectors = || (0..memory).map(|_| vec![F::ZERO; n]).collect();
        let zeros = || vec![0.0; memory];
        let (s, y, sy, alpha, free) = (vectors(), vectors(), zeros(), zeros(), Vec::new());
        Self { inverse_diagonal, s, y, sy, alpha, free, next: 0, len: 0 }
    }

    /// The length of a gradient: in units of the diagonal, where it is known.
    fn norm(&self, v: &[F], plain: f64) -> f64 {
        let Some(inverse) = self.inverse_diagonal else { return plain };
        let squares = v.iter().zip(inverse).map(|(v, d)| v.to_f64().powi(2) * d.to_f64());
        squares.sum::<f64>().sqrt()
    }

    /// d ← H₀ d, with ⟨s, y⟩ of the last move and ⟨y, y⟩ as [`weighted`](Self::weighted) has it.
    fn start(&self, sy_yy: Option<(f64, f64)>, d: &mut [F]) {
        if let Some(inverse) = self.inverse_diagonal {
            d.iter_mut().zip(inverse).for_each(|(d, &inverse)| *d *= inverse);
        }
        if let Some((sy, yy)) = sy_yy {
            scale(d, sy / yy);
        }
    }

    /// Σ yⱼ² at these places, times the inverse diagonal where it is known.
    fn weighted(&self, y: &[F], at: impl Iterator<Item = usize>) -> Option<f64> {
        let inverse = self.inverse_diagonal?;
        Some(at.map(|j| y[j].to_f64().powi(2) * inverse[j].to_f64()).sum())
    }

    /// Keeps a move, unless f was not convex along it: H must stay positive definite.
    fn push(&mut self, w: &[F], w_next: &[F], grad: &[F], grad_next: &[F]) {
        let Some(s) = self.s.get_mut(self.next) else { return };
        let y = &mut self.y[self.next];
        subtract(w_next, w, s);
        subtract(grad_next, grad, y);
        let sy = kernels::dot64(s, y);
        if sy > 1e-10 * kernels::dot64(s, s).sqrt() * kernels::dot64(y, y).sqrt() {
            self.sy[self.next] = sy;
            self.next = (self.next + 1) % self.s.len();
            self.len = (self.len + 1).min(self.s.len());
        }
    }

    /// Indices of the moves kept, newest first.
    fn newest_first(&self) -> impl DoubleEndedIterator<Item = usize> + use<'d, F> {
        let (memory, next) = (self.s.len(), self.next);
        (1..=self.len).map(move |back| (next + memory - back) % memory)
    }

    /// `d = −H v`.
    fn descend(&mut self, v: &[F], d: &mut [F]) {
        negate(v, d);
        for i in self.newest_first() {
            self.alpha[i] = kernels::dot64(&self.s[i], d) / self.sy[i];
            kernels::axpy(F::from_f64(-self.alpha[i]), &self.y[i], d);
        }
        let newest = self.newest_first().next().map(|i| {
            let y = &self.y[i];
            let yy = self.weighted(y, 0..y.len()).unwrap_or_else(|| kernels::dot64(y, y));
            (self.sy[i], yy)
        });
        self.start(newest, d);
        for i in self.newest_first().rev() {
            let beta = kernels::dot64(&self.y[i], d) / self.sy[i];
            kernels::axpy(F::from_f64(self.alpha[i] - beta), &self.s[i], d);
        }
    }

    /// `d = −H v` with H over the weights that are free: those with `w ≠ 0` or `v ≠ 0`. Costs what is free.
    fn descend_free(&mut self, w: &[F], v: &[F], d: &mut [F]) {
        negate(v, d);
        self.free.clear();
        self.free.extend((0..v.len()).filter(|&j| w[j] != F::ZERO || v[j] != F::ZERO));
        let mut newest = None;
        for i in self.newest_first() {
            let (s, y) = (&self.s[i], &self.y[i]);
            let [sy, ss, yy] = [(s, y), (s, s), (y, y)].map(|(a, b)| dot_at(&self.free, a, b));
            // 0 marks a move along which the free weights alone say nothing of the curvature.
            self.sy[i] = if sy > 1e-10 * (ss * yy).sqrt() { sy } else { 0.0 };
            if self.sy[i] > 0.0 {
                newest
                    .get_or_insert((sy, self.weighted(y, self.free.iter().copied()).unwrap_or(yy)));
                self.alpha[i] = dot_at(&self.free, s, d) / sy;
                axpy_at(&self.free, -self.alpha[i], y, d);
            }
        }
        self.start(newest, d);
        for i in self.newest_first().rev() {
            if self.sy[i] > 0.0 {
                let beta = dot_at(&self.free, &self.y[i], d) / self.sy[i];
                axpy_at(&self.free, self.alpha[i] - beta, &self.s[i], d);
            }
        }
    }
}

fn dot_at<F: Scalar>(at: &[usize], a: &[F], b: &[F]) -> f64 {
    at.iter().map(|&j| a[j].to_f64() * b[j].to_f64()).sum()
}

fn axpy_at<F: Scalar>(at: &[usize], a: f64, x: &[F], y: &mut [F]) {
    let a = F::from_f64(a);
    for &j in at {
        y[j] += a * x[j];
    }
}

fn subtract<F: Scalar>(a: &[F], b: &[F], out: &mut [F]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = a - b;
    }
}

fn negate<F: Scalar>(v: &[F], out: &mut [F]) {
    for (out, &v) in out.iter_mut().zip(v) {
        *out = -v;
    }
}

fn scale<F: Scalar>(v: &mut [F], by: f64) {
    let by = F::from_f64(by);
    for v in v {
        *v *= by;
    }
}
