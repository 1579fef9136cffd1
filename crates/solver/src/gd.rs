//! Gradient descent.
//!
//! Minimises f(w) + l1·Σ|wⱼ| by
//!
//! ```text
//! w ← w − η ∇f(w)                            l1 = 0
//! w ← shrink(w − η ∇f(w), η·l1)              l1 > 0;  shrink(a, b) = sign(a)·max(|a| − b, 0), entry by entry
//! ```
//!
//! Buffers: four vectors of `dim`: `trial` (the next w), `grad`, `trial_grad`, `steepest` (the least subgradient).
//!
//! With [`GdStep::Fixed`] that is all. With [`GdStep::Backtracking`] the step comes from the last moves s of w and y of ∇f,
//! as Barzilai and Borwein's long ⟨s, s⟩ / ⟨s, y⟩ or, where it is less than half of that, the shortest of the last few
//! short ones ⟨s, y⟩ / ⟨y, y⟩: rule ABBmin of Frassoldati, Zanni & Zanghirati, *New adaptive stepsize selections in
//! gradient methods* (2008). It is then shortened until the value is sufficiently below the largest of the last few:
//! algorithm SpaRSA of Wright, Nowak & Figueiredo, *Sparse reconstruction by separable approximation* (2009), which is
//! Raydan's (1997) where l1 = 0. So the value may rise for a moment: asking every step to descend would bring back
//! the zigzag of steepest descent. With the long step alone, a9a to a gap of 1e-6 at C = 1 takes 984 passes instead of
//! 422 (logistic) and more than 20,000 instead of 772 (squared hinge). What differs: a shortened step is where a parabola
//! through the trial has its minimum, and a decrease lost in rounding is judged by slopes ([`Decrease`]).

use crate::run::{
    Point, Run, abs_change, abs_sum, distance_squared, least_subgradient, norm, slope_along,
};
use crate::search::{ARMIJO, Decrease, MAX_TRIES};
use crate::view::{Error, L1, Monitor, Objective, Outcome, Stop};
use lineal_linalg::Scalar;

/// Settings of [`gd`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Gd {
    /// How far to go along the gradient; [`GdStep::Backtracking`] by default.
    pub step: GdStep,
    /// When to stop.
    pub stop: Stop,
}

/// The rule for η.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum GdStep {
    /// The same η always: plain gradient descent. Diverges if η is above 2 / (largest curvature).
    Fixed(f64),
    /// Chosen by the last move and checked by the value.
    #[default]
    Backtracking,
}

/// Minimises `f` from the given `w`, in place.
///
/// `max_passes` of [`Stop`] counts gradients after the first, so a fixed step makes exactly that many steps.
///
/// # Errors
/// [`Error::Diverged`] if the value or the gradient stops being finite.
pub fn gd<F: Scalar>(
    config: &Gd,
    f: &mut dyn Objective<F>,
    w: &mut [F],
    monitor: &mut Monitor<'_, F>,
) -> Result<Outcome, Error> {
    let n = f.dim();
    assert_eq!(w.len(), n, "weights for an objective of {n}");
    let l1 = f.l1();
    let [mut grad, mut trial, mut trial_grad, mut steepest] = [const { Vec::new() }; 4];
    for buffer in [&mut grad, &mut trial, &mut trial_grad, &mut steepest] {
        buffer.resize(n, F::ZERO);
    }

    let mut run = Run::new(config.stop, monitor);
    let mut smooth = run.value_grad(f, w, &mut grad);
    let mut norm_1 = abs_sum(w, l1);
    let mut recent = [f64::NEG_INFINITY; MEMORY];
    let mut eta = None;
    let mut shorts = [f64::INFINITY; SHORTS];
    loop {
        let value = smooth + l1.l1 * norm_1;
        least_subgradient(w, &grad, l1, &mut steepest);
        let grad_norm = norm(&steepest);
        let at = Point { w, grad: &grad, value, grad_norm };
        if let Some(outcome) = run.judge(f, &at)? {
            return Ok(outcome);
        }

        let reference = match config.step {
            GdStep::Fixed(_) => f64::INFINITY,
            GdStep::Backtracking => {
                recent[run.iterations % MEMORY] = value;
                recent.iter().copied().fold(f64::NEG_INFINITY, f64::max)
            }
        };
        let mut step = match config.step {
            GdStep::Fixed(step) => step,
            // The first move has length 1 at most, whatever the gradient's units.
            GdStep::Backtracking => eta.unwrap_or(1.0 / grad_norm.max(1.0)),
        };
        let mut tries = 0;
        let accepted = loop {
            proximal_step(w, &grad, step, l1, &mut trial);
            let trial_smooth = run.value_grad(f, &trial, &mut trial_grad);
            let trial_norm_1 = abs_sum(&trial, l1);
            if reference == f64::INFINITY {
                break Some((trial_smooth, trial_norm_1));
            }
            let shrunk = l1.l1 * abs_change(w, &trial, l1);
            let moved = distance_squared(&trial, w);
            let slope = slope_along(&grad, w, &trial);
            let decrease = Decrease {
                value: reference,
                slope: slope + shrunk,
                trial_value: trial_smooth + l1.l1 * trial_norm_1,
                trial_slope: slope_along(&trial_grad, w, &trial) + shrunk,
                wanted: 0.5 * ARMIJO / step * moved,
            };
            if decrease.is_enough::<F>() {
                break Some((trial_smooth, trial_norm_1));
            }
            tries += 1;
            if tries == MAX_TRIES || moved == 0.0 {
                break None;
            }
            let shorter = slope / (2.0 * (slope - (trial_smooth - smooth)));
            step *= if shorter.is_finite() { shorter.clamp(0.1, 0.5) } else { 0.1 };
        };
        let Some(accepted) = accepted else {
            return Ok(run.give_up(f, &Point { w, grad: &grad, value, grad_norm }));
        };
        let sy = slope_along(&trial_grad, w, &trial) - slope_along(&grad, w, &trial);
        let (long, short) =
            (distance_squared(&trial, w) / sy, sy / distance_squared(&trial_grad, &grad));
        // ⟨s, y⟩ ≤ 0 is a concave stretch: go further than last time.
        eta = Some(if long > 0.0 && long.is_finite() && short > 0.0 {
            shorts[run.iterations % SHORTS] = short;
            if short < 0.5 * long { shorts.iter().copied().fold(long, f64::min) } else { long }
        } else {
            4.0 * step
        });
        w.copy_from_slice(&trial);
        std::mem::swap(&mut grad, &mut trial_grad);
        (smooth, norm_1) = accepted;
    }
}

/// How many past values a trial may hide behind.
const MEMORY: usize = 10;
/// How many short steps to choose from.
const SHORTS: usize = 6;

/// `out = shrink(w − step · grad, step · l1)`.
fn proximal_step<F: Scalar>(w: &[F], grad: &[F], step: f64, l1: L1, out: &mut [F]) {
    let eta = F::from_f64(step);
    for ((out, &w), &g) in out.iter_mut().zip(w).zip(grad) {
        *out = w - eta * g;
    }
    if l1.l1 > 0.0 {
        let by = F::from_f64(step * l1.l1);
        for out in &mut out[..l1.until] {
            *out = (*out - by).max(F::ZERO) + (*out + by).min(F::ZERO);
        }
    }
}
