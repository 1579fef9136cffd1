//! Huber's loss of the residual r: ½r² for |r| ≤ δ, δ(|r| − δ/2) beyond. Outliers pull with a bounded force.

use crate::{Domain, DualLoss, Loss, SecondOrder};
use lineal_linalg::Scalar;
use lineal_model::space::Real;

/// Squared near the target, absolute beyond δ.
#[derive(Clone, Copy, Debug)]
pub struct Huber {
    /// Where it turns linear.
    pub delta: f64,
}

impl<F: Scalar> Loss<F, Real> for Huber {
    #[inline]
    fn value_grad(&self, _: Real, scores: &mut [F], y: f64, grad: &mut [F]) -> f64 {
        let r = scores[0].to_f64() - y;
        let g = r.clamp(-self.delta, self.delta);
        grad[0] = F::from_f64(g);
        g * (r - 0.5 * g)
    }
}

impl<F: Scalar> SecondOrder<F, Real> for Huber {
    fn curve(&self, _: Real, scores: &mut [F], y: f64, state: &mut [F]) {
        let near = (scores[0].to_f64() - y).abs() <= self.delta;
        state[0] = if near { F::ONE } else { F::ZERO };
    }

    fn hess_vec(&self, _: Real, _: f64, state: &[F], dir: &[F], out: &mut [F]) {
        out[0] = state[0] * dir[0];
    }

    fn hess_diag(&self, _: Real, _: f64, state: &[F], out: &mut [F]) {
        out[0] = state[0];
    }
}

impl<F: Scalar> DualLoss<F, Real> for Huber {
    fn conjugate(&self, _: Real, y: f64, g: &[F]) -> f64 {
        let g = g[0].to_f64();
        0.5 * g * g + g * y
    }

    fn dual_step(
        &self,
        space: Real,
        y: f64,
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        let score = scores[0];
        let value = self.value_grad(space, scores, y, delta);
        let gap = value + self.conjugate(space, y, g) - (score * g[0]).to_f64();
        let (q, old) = (q.to_f64(), g[0].to_f64());
        let to = ((score.to_f64() - y + q * old) / (1.0 + q)).clamp(-self.delta, self.delta);
        delta[0] = F::from_f64(to) - g[0];
        g[0] = F::from_f64(to);
        gap
    }

    fn domain(&self) -> Domain {
        Domain::Interval
    }

    fn clamp(&self, _: Real, _: f64, g: &mut [F]) {
        let delta = F::from_f64(self.delta);
        g[0] = g[0].max(-delta).min(delta);
    }

    fn sensitivity(&self, _: Real, y: f64, g: &[F], off: &[f64]) -> f64 {
        2.0 * off[0] * (g[0].to_f64().abs() + y.abs())
    }
}
