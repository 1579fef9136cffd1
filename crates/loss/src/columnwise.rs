//! A loss of a margin in every column: Σ_l |c_l| ℓ(sign(c_l) θ_l), with c what the columns say about the example's kind.
//!
//! Columns do not see one another, so this is the sum of as many binary problems, for every solver. (The dual has a
//! faster way with them in `lineal_erm::columns`; this one is its yardstick.)

use crate::{Domain, DualLoss, Loss, OfMargin, SecondOrder, Steps};
use lineal_linalg::Scalar;
use lineal_model::space::Columns;

/// The loss of each column.
#[derive(Clone, Copy, Debug)]
pub struct Columnwise<L>(pub L);

/// |c| and sign(c); a column that takes no part has |c| = 0.
#[inline]
fn parted<F: Scalar>(c: F) -> (F, F) {
    (c.abs(), if c < F::ZERO { -F::ONE } else { F::ONE })
}

impl<'a, F: Scalar, L: OfMargin<F>> Loss<F, Columns<'a>> for Columnwise<L> {
    fn value_grad(&self, space: Columns<'a>, scores: &mut [F], kind: u32, grad: &mut [F]) -> f64 {
        space.signed(kind, grad);
        let mut sum = 0.0;
        for (g, &score) in grad.iter_mut().zip(scores.iter()) {
            let (weight, sign) = parted(*g);
            let (value, slope) = self.0.value_slope(sign * score);
            sum += (weight * value).to_f64();
            *g = -(weight * sign * slope);
        }
        sum
    }
}

impl<'a, F: Scalar, L: OfMargin<F>> SecondOrder<F, Columns<'a>> for Columnwise<L> {
    fn curve(&self, space: Columns<'a>, scores: &mut [F], kind: u32, state: &mut [F]) {
        space.signed(kind, state);
        for (c, &score) in state.iter_mut().zip(scores.iter()) {
            let (weight, sign) = parted(*c);
            *c = weight * self.0.curvature(sign * score);
        }
    }

    fn hess_vec(&self, _: Columns<'a>, _: u32, state: &[F], dir: &[F], out: &mut [F]) {
        for (o, (&h, &d)) in out.iter_mut().zip(state.iter().zip(dir)) {
            *o = h * d;
        }
    }

    fn hess_diag(&self, _: Columns<'a>, _: u32, state: &[F], out: &mut [F]) {
        out.copy_from_slice(state);
    }
}

impl<'a, F: Scalar, L: OfMargin<F>> DualLoss<F, Columns<'a>> for Columnwise<L> {
    fn conjugate(&self, space: Columns<'a>, kind: u32, g: &[F]) -> f64 {
        let mut signed = vec![F::ZERO; g.len()];
        space.signed(kind, &mut signed);
        let of = |(&c, &g): (&F, &F)| {
            let weight = c.to_f64().abs();
            if weight > 0.0 { weight * self.0.conjugate(g.to_f64().abs() / weight) } else { 0.0 }
        };
        signed.iter().zip(g).map(of).sum()
    }

    fn dual_step(
        &self,
        space: Columns<'a>,
        kind: u32,
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        space.signed(kind, delta);
        let mut gap = 0.0;
        for ((g, d), &score) in g.iter_mut().zip(delta.iter_mut()).zip(scores.iter()) {
            let (weight, sign) = parted(*d);
            *d = F::ZERO;
            if weight == F::ZERO {
                continue;
            }
            let mut step = Steps::<F, 1> {
                m: [sign * score],
                q: [weight * q],
                a: [g.abs() / weight],
                to: [F::ZERO],
                gap: [F::ZERO],
            };
            self.0.steps(&mut step);
            gap += (weight * step.gap[0]).to_f64();
            let to = -(sign * weight * step.to[0]);
            *d = to - *g;
            *g = to;
        }
        gap
    }

    fn domain(&self) -> Domain {
        Domain::Interval
    }

    fn clamp(&self, space: Columns<'a>, kind: u32, g: &mut [F]) {
        let mut signed = vec![F::ZERO; g.len()];
        space.signed(kind, &mut signed);
        for (g, &c) in g.iter_mut().zip(&signed) {
            let (weight, sign) = parted(c);
            let most = F::from_f64(self.0.largest()) * weight;
            let most = if weight > F::ZERO { most } else { F::ZERO };
            *g = -sign * (-sign * *g).max(F::ZERO).min(most);
        }
    }

    fn sensitivity(&self, space: Columns<'a>, kind: u32, g: &[F], off: &[f64]) -> f64 {
        let mut signed = vec![F::ZERO; g.len()];
        space.signed(kind, &mut signed);
        let of = |((&c, &g), &off): ((&F, &F), &f64)| {
            let weight = c.to_f64().abs();
            if weight == 0.0 {
                return 0.0;
            }
            let (a, off) = (g.to_f64().abs() / weight, off / weight);
            // The quotient is one more rounding.
            2.0 * weight * self.0.sensitivity(a, off)
        };
        signed.iter().zip(g).zip(off).map(of).sum()
    }
}
