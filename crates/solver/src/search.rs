//! Line searches: is a trial low enough, and where to try next.

use crate::run::Run;
use crate::view::Objective;
use lineal_linalg::{Scalar, kernels};

/// Armijo's fraction: of the slope's promise, what a step must keep.
pub(crate) const ARMIJO: f64 = 1e-4;
/// Values asked of one line search.
pub(crate) const MAX_TRIES: usize = 30;

/// Where a line search starts, and its direction.
pub(crate) struct Ray<'a, F> {
    pub w: &'a [F],
    pub d: &'a [F],
    pub value: f64,
    /// ⟨∇f(w), d⟩ < 0.
    pub slope: f64,
}

/// Looks for a step t that is low enough ([`Decrease`]) and, after which the slope is at least `curvature` times the
/// first one (∞: any slope will do, plain backtracking). On success `trial = w + t d`, `grad` is the gradient there
/// and the value is returned.
///
/// Bisection of Lewis & Overton, *Nonsmooth optimization via quasi-Newton methods* (2013), algorithm 2.6, whose only
/// assumption is continuity; the points inside the bracket come from a cubic through values and slopes at its ends.
pub(crate) fn line_search<F: Scalar>(
    run: &mut Run<'_, '_, F>,
    f: &mut dyn Objective<F>,
    start: &Ray<'_, F>,
    first: f64,
    curvature: f64,
    trial: &mut [F],
    grad: &mut [F],
) -> Option<f64> {
    let &Ray { w, d, value, slope } = start;
    let mut low = End { t: 0.0, value, slope };
    let mut high: Option<End> = None;
    let mut t = first;
    for _ in 0..MAX_TRIES {
        let moved = step_to(w, d, t, trial);
        if !moved {
            return None;
        }
        let trial_value = run.value_grad(f, trial, grad);
        let end = End { t, value: trial_value, slope: kernels::dot64(grad, d) };
        let decrease = Decrease {
            value,
            slope: t * slope,
            trial_value,
            trial_slope: t * end.slope,
            wanted: -ARMIJO * t * slope,
        };
        if !decrease.is_enough::<F>() || !end.slope.is_finite() {
            high = Some(end);
        } else if end.slope < curvature * slope {
            low = end;
        } else {
            return Some(trial_value);
        }
        t = match &high {
            Some(high) => between(&low, high),
            None => beyond(&low, slope),
        };
    }
    // Low enough but steep: better than nothing.
    (low.t > 0.0).then(|| {
        step_to(w, d, low.t, trial);
        run.value_grad(f, trial, grad)
    })
}

/// What is known at a step.
struct End {
    t: f64,
    value: f64,
    slope: f64,
}

/// The minimum of the cubic through both ends, kept off them; a tenth of the way where the far end is not finite.
fn between(low: &End, high: &End) -> f64 {
    let width = high.t - low.t;
    let mid = 3.0 * (low.value - high.value) / width + low.slope + high.slope;
    let root = (mid * mid - low.slope * high.slope).max(0.0).sqrt();
    let at = 1.0 - (high.slope + root - mid) / (high.slope - low.slope + 2.0 * root);
    low.t + width * if at.is_finite() { at.clamp(0.1, 0.9) } else { 0.1 }
}

/// Where the slope would vanish if it went on like this, at least 2 and at most 10 times as far.
fn beyond(low: &End, first_slope: f64) -> f64 {
    let ratio = first_slope / (first_slope - low.slope);
    low.t * if ratio > 0.0 { ratio.clamp(2.0, 10.0) } else { 10.0 }
}

/// `trial = w + t d`; says if that moved anything.
pub(crate) fn step_to<F: Scalar>(w: &[F], d: &[F], t: f64, trial: &mut [F]) -> bool {
    let t = F::from_f64(t);
    let mut moved = false;
    for ((trial, &w), &d) in trial.iter_mut().zip(w).zip(d) {
        *trial = w + t * d;
        moved |= *trial != w;
    }
    moved
}

/// The question every line search here asks: is the trial low enough?
pub(crate) struct Decrease {
    /// The value to be below.
    pub value: f64,
    /// ⟨∇, s⟩ at the start, s being the whole move; negative.
    pub slope: f64,
    /// The value at the trial.
    pub trial_value: f64,
    /// ⟨∇, s⟩ at the trial.
    pub trial_slope: f64,
    /// How far below it should be.
    pub wanted: f64,
}

impl Decrease {
    /// By values; or, where their difference drowns in rounding, by slopes: the approximate Wolfe condition of
    /// Hager & Zhang, *A new conjugate gradient method with guaranteed descent* (2005), (4.1), which equals Armijo's on a
    /// parabola and can still be told at a relative distance ε from the minimum instead of √ε.
    pub fn is_enough<F: Scalar>(&self) -> bool {
        let rounding = (1e-12 + 8.0 * F::EPSILON.to_f64()) * self.value.abs();
        self.trial_value <= self.value - self.wanted
            || (self.trial_value <= self.value + rounding
                && self.trial_slope <= (2.0 * ARMIJO - 1.0) * self.slope)
    }
}
