//! max(0, |r| − ε) of the residual r: support vector regression. Errors below ε are free.

use crate::{Domain, DualLoss, Loss};
use lineal_linalg::Scalar;
use lineal_model::space::Real;

/// Absolute beyond ε, nothing within.
#[derive(Clone, Copy, Debug)]
pub struct Epsilon {
    /// Half the width of the tube.
    pub epsilon: f64,
}

impl<F: Scalar> Loss<F, Real> for Epsilon {
    #[inline]
    fn value_grad(&self, _: Real, scores: &mut [F], y: f64, grad: &mut [F]) -> f64 {
        let r = scores[0].to_f64() - y;
        let over = r.abs() - self.epsilon;
        grad[0] = if over > 0.0 { F::from_f64(r.signum()) } else { F::ZERO };
        over.max(0.0)
    }
}

impl<F: Scalar> DualLoss<F, Real> for Epsilon {
    fn conjugate(&self, _: Real, y: f64, g: &[F]) -> f64 {
        let g = g[0].to_f64();
        self.epsilon * g.abs() + g * y
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
        // min ε|g'| − (θ − y)g' + (q/2)(g' − g)²: soft threshold, then the interval.
        let (q, old) = (q.to_f64(), g[0].to_f64());
        let pull = score.to_f64() - y + q * old;
        let to = pull.signum() * ((pull.abs() - self.epsilon).max(0.0) / q).min(1.0);
        delta[0] = F::from_f64(to) - g[0];
        g[0] = F::from_f64(to);
        gap
    }

    fn domain(&self) -> Domain {
        Domain::Interval
    }

    fn clamp(&self, _: Real, _: f64, g: &mut [F]) {
        g[0] = g[0].max(-F::ONE).min(F::ONE);
    }

    fn sensitivity(&self, _: Real, y: f64, _: &[F], off: &[f64]) -> f64 {
        off[0] * (self.epsilon + y.abs())
    }
}
