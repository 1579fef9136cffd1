//! Losses of one margin m = sign · θ, as the columns of a code have them: hinge, perceptron, squared hinge, logistic.
//!
//! The dual variable of a margin is a ≥ 0, minus the loss's slope at the optimum. Steps are taken for several columns at
//! once, in arrays, so that the compiler makes vector code of them.

use crate::{Hinge, Logistic, SquaredHinge};
use lineal_linalg::special::{sigmoid, sigmoid_log1p_exp, x_ln_x};
use lineal_linalg::{Scalar, logistic};
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
    /// ℓ and −ℓ′ of many margins.
    #[inline]
    fn values(&self, m: &[F], value: &mut [F], slope: &mut [F]) {
        for ((&m, value), slope) in m.iter().zip(value).zip(slope) {
            (*value, *slope) = self.value_slope(m);
        }
    }
    /// −ℓ′ and ℓ″ of many margins.
    #[inline]
    fn slopes(&self, m: &[F], slope: &mut [F], curvature: &mut [F]) {
        for ((&m, slope), curvature) in m.iter().zip(slope).zip(curvature) {
            (*slope, *curvature) = (self.value_slope(m).1, self.curvature(m));
        }
    }
    /// ℓ(m), −ℓ′(m) and ℓ*(−a) of each.
    #[inline(always)]
    fn terms<const T: usize>(&self, m: &[F; T], a: &[f64; T]) -> Terms<T> {
        plain_terms(self, m, a)
    }
    /// Moves each `a` to the minimiser of ℓ*(−a') + m a' + (q/2)(a' − a)², for q > 0.
    fn steps<const T: usize>(&self, s: &mut Steps<F, T>);
}

/// Of `T` margins and dual variables.
#[derive(Clone, Copy, Debug)]
pub struct Terms<const T: usize> {
    /// ℓ(m)
    pub value: [f64; T],
    /// −ℓ′(m) ≥ 0
    pub slope: [f64; T],
    /// ℓ*(−a)
    pub conjugate: [f64; T],
}

impl<const T: usize> Terms<T> {
    fn zeros() -> Self {
        Self { value: [0.0; T], slope: [0.0; T], conjugate: [0.0; T] }
    }
}

/// One after the other.
#[inline(always)]
fn plain_terms<F: Scalar, L: OfMargin<F>, const T: usize>(
    loss: &L,
    m: &[F; T],
    a: &[f64; T],
) -> Terms<T> {
    let mut terms = Terms::zeros();
    for l in 0..T {
        let (value, slope) = loss.value_slope(m[l]);
        (terms.value[l], terms.slope[l]) = (value.to_f64(), slope.to_f64());
        terms.conjugate[l] = loss.conjugate(a[l]);
    }
    terms
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

    fn terms<const T: usize>(&self, m: &[F; T], a: &[f64; T]) -> Terms<T> {
        // Of few the vectors take longer: 60 ns in place of 129 for 8, 79 in place of 59 for 4.
        if T < 8 {
            return plain_terms(self, m, a);
        }
        let mut terms = Terms::zeros();
        let Terms { value, slope, conjugate } = &mut terms;
        logistic::terms(&m.map(F::to_f64), a, [value, slope, conjugate]);
        terms
    }

    #[inline]
    fn values(&self, m: &[F], value: &mut [F], slope: &mut [F]) {
        logistic::values(m, value, slope);
    }

    #[inline]
    fn slopes(&self, m: &[F], slope: &mut [F], curvature: &mut [F]) {
        logistic::slopes(m, slope, curvature);
    }

    #[inline]
    fn steps<const T: usize>(&self, s: &mut Steps<F, T>) {
        logistic::steps(&s.m, &s.q, &s.a, &mut s.to, &mut s.gap);
    }
}
