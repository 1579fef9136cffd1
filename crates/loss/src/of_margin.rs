//! Losses of one margin m = sign · θ, as the columns of a code have them: hinge, perceptron, squared hinge, logistic.
//!
//! The dual variable of a margin is a ≥ 0, minus the loss's slope at the optimum. Steps are taken for several columns at
//! once, in arrays, so that the compiler makes vector code of them.

use crate::{Hinge, Logistic, SquaredHinge};
use lineal_linalg::Scalar;
use lineal_linalg::special::{exp_slice, sigmoid, sigmoid_log1p_exp, x_ln_x};
use lineal_model::cost::{NoCost, ZeroOne};

/// A convex, falling loss of a margin.
pub trait OfMargin<F: Scalar>: Copy + Sync {
    /// ℓ(m) and −ℓ′(m) ≥ 0.
    fn value_slope(&self, m: F) -> (F, F);
    /// ℓ″(m), where it exists.
    fn curvature(&self, m: F) -> F;
    /// ℓ*(−a).
    fn conjugate(&self, a: f64) -> f64;
    /// The largest a of ℓ*'s domain.
    fn largest(&self) -> f64 {
        1.0
    }
    /// s with |ℓ*(−a') − (what [`conjugate`](Self::conjugate) computes at a)| ≤ ε·s for every a' of the domain with |a' − a| ≤ ε·`off`, `off` ≥ a and ε between 16 and 2²⁰ roundings of f64.
    fn sensitivity(&self, a: f64, off: f64) -> f64;
    /// Moves each `a` to the minimiser of ℓ*(−a') + m a' + (q/2)(a' − a)², for q > 0.
    fn steps<const T: usize>(&self, s: &mut Steps<F, T>);
}

/// `T` dual variables about to move.
#[derive(Clone, Copy, Debug)]
pub struct Steps<F, const T: usize> {
    /// Margins.
    pub m: [F; T],
    /// Curvatures.
    pub q: [F; T],
    /// Where they are.
    pub a: [F; T],
    /// Where they go.
    pub to: [F; T],
    /// ℓ(m) + ℓ*(−a) + m a ≥ 0 before the step, or a close estimate.
    pub gap: [F; T],
}

impl<F: Scalar> OfMargin<F> for Hinge<ZeroOne> {
    #[inline]
    fn value_slope(&self, m: F) -> (F, F) {
        let slack = F::ONE - m;
        if slack > F::ZERO { (slack, F::ONE) } else { (F::ZERO, F::ZERO) }
    }

    #[inline]
    fn curvature(&self, _: F) -> F {
        F::ZERO
    }

    #[inline]
    fn conjugate(&self, a: f64) -> f64 {
        -a
    }

    #[inline]
    fn sensitivity(&self, _: f64, off: f64) -> f64 {
        off
    }

    #[inline(always)]
    fn steps<const T: usize>(&self, s: &mut Steps<F, T>) {
        for t in 0..T {
            let slack = F::ONE - s.m[t];
            s.to[t] = (s.a[t] + slack / s.q[t]).max(F::ZERO).min(F::ONE);
            s.gap[t] = slack.max(F::ZERO) - s.a[t] * slack;
        }
    }
}

impl<F: Scalar> OfMargin<F> for Hinge<NoCost> {
    #[inline]
    fn value_slope(&self, m: F) -> (F, F) {
        // At 0 the prediction is not the yes that it should be: the perceptron moves.
        if m > F::ZERO { (F::ZERO, F::ZERO) } else { (-m, F::ONE) }
    }

    #[inline]
    fn curvature(&self, _: F) -> F {
        F::ZERO
    }

    #[inline]
    fn conjugate(&self, _: f64) -> f64 {
        0.0
    }

    #[inline]
    fn sensitivity(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    #[inline(always)]
    fn steps<const T: usize>(&self, s: &mut Steps<F, T>) {
        for t in 0..T {
            s.to[t] = (s.a[t] - s.m[t] / s.q[t]).max(F::ZERO).min(F::ONE);
            s.gap[t] = (-s.m[t]).max(F::ZERO) + s.a[t] * s.m[t];
        }
    }
}

impl<F: Scalar> OfMargin<F> for SquaredHinge<ZeroOne> {
    #[inline]
    fn value_slope(&self, m: F) -> (F, F) {
        let slack = (F::ONE - m).max(F::ZERO);
        (slack * slack, slack + slack)
    }

    #[inline]
    fn curvature(&self, m: F) -> F {
        if m < F::ONE { F::ONE + F::ONE } else { F::ZERO }
    }

    #[inline]
    fn conjugate(&self, a: f64) -> f64 {
        a * a / 4.0 - a
    }

    fn largest(&self) -> f64 {
        f64::INFINITY
    }

    #[inline]
    fn sensitivity(&self, a: f64, off: f64) -> f64 {
        off * (a + 1.0)
    }

    #[inline(always)]
    fn steps<const T: usize>(&self, s: &mut Steps<F, T>) {
        let half = F::from_f32(0.5);
        for t in 0..T {
            let slack = F::ONE - s.m[t];
            s.to[t] = ((slack + s.q[t] * s.a[t]) / (s.q[t] + half)).max(F::ZERO);
            let over = slack.max(F::ZERO);
            s.gap[t] = over * over + s.a[t] * (s.a[t] * half * half - slack);
        }
    }
}

impl<F: Scalar> OfMargin<F> for Logistic<NoCost> {
    #[inline]
    fn value_slope(&self, m: F) -> (F, F) {
        let (slope, value) = sigmoid_log1p_exp(-m);
        (value, slope)
    }

    #[inline]
    fn curvature(&self, m: F) -> F {
        let p = sigmoid(m);
        p * (F::ONE - p)
    }

    #[inline]
    fn conjugate(&self, a: f64) -> f64 {
        x_ln_x(a) + x_ln_x(1.0 - a)
    }

    #[inline]
    fn sensitivity(&self, _: f64, off: f64) -> f64 {
        // As `entropy_sensitivity`, twice, without a logarithm: x |ln x| ≤ ½ + x². And 1 − a is off by a rounding of 1.
        80.0 * off + 2.0 * off * off + 3.0
    }

    /// With a' = σ(t): t + q σ(t) = −m + q a, increasing in t with a slope of at least 1. Newton's method on all columns together,
    /// from where the current a is.
    fn steps<const T: usize>(&self, s: &mut Steps<F, T>) {
        let (tiny, far) = (F::EPSILON, F::from_f32(4.0));
        let close = F::EPSILON.sqrt() * F::from_f32(0.1);
        let mut sigma = [F::ZERO; T];
        let mut t = [F::ZERO; T];
        for l in 0..T {
            t[l] = -s.m[l];
        }
        sigmoids(&t, &mut sigma);
        for l in 0..T {
            let p = sigma[l];
            let off = s.a[l] - p;
            s.gap[l] = F::from_f32(0.5) * off * off / (p * (F::ONE - p) + tiny);
            // Small curvatures barely hold a back: start at its goal. Large ones: start where it is.
            if s.q[l] >= F::ONE {
                let a = s.a[l].max(tiny).min(F::ONE - tiny);
                let goal = (s.q[l] * s.a[l] - s.m[l]).abs();
                t[l] = (a / (F::ONE - a)).ln().max(-goal).min(goal);
            }
        }
        sigmoids(&t, &mut s.to);
        for _ in 0..50 {
            let mut worst = F::ZERO;
            for l in 0..T {
                let p = s.to[l];
                let goal = s.q[l] * s.a[l] - s.m[l];
                let step = (goal - t[l] - s.q[l] * p) / (F::ONE + s.q[l] * p * (F::ONE - p));
                t[l] += step.max(-far).min(far);
                worst = worst.max(step.abs());
            }
            sigmoids(&t, &mut s.to);
            if worst <= close {
                break;
            }
        }
    }
}

/// 1 / (1 + e⁻ᵗ) for each t.
#[inline]
fn sigmoids<F: Scalar, const T: usize>(t: &[F; T], out: &mut [F; T]) {
    for l in 0..T {
        out[l] = -t[l].abs();
    }
    exp_slice(out);
    for l in 0..T {
        let e = out[l];
        let p = F::ONE / (F::ONE + e);
        out[l] = if t[l] >= F::ZERO { p } else { e * p };
    }
}
