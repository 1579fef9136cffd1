//! max over ŷ of (θ_ŷ + Δ(y, ŷ)) − θ_y: the large margin.
//!
//! Binary: max(0, Δ − yf). Classes: Crammer & Singer (JMLR 2001), whose dual block is g = p − e_y with p in the
//! simplex and ℓ*(g) = −⟨p, Δ(y, ·)⟩; the exact step is a projection of p + (θ + Δ)/q onto the simplex (Keerthi
//! et al., KDD 2008, by sorting; here by active sets, linear in practice).
//! With no cost it is the perceptron's loss.

use crate::{Domain, DualLoss, Loss, clamp_flows, others};
use lineal_linalg::{Scalar, simplex};
use lineal_model::cost::{Cost, NoCost};
use lineal_model::space::{Binary, Classes, Discrete};

/// The max form of the hinge, with its cost.
#[derive(Clone, Copy, Debug)]
pub struct Hinge<C>(pub C);

/// max θ_ŷ − θ_y: 0 unless the argmax is wrong.
pub type Perceptron = Hinge<NoCost>;

impl<F, S, C> Loss<F, S> for Hinge<C>
where
    F: Scalar,
    S: Discrete<F, Output = u32>,
    C: Cost<F, S>,
{
    #[inline]
    fn value_grad(&self, space: S, scores: &mut [F], y: u32, grad: &mut [F]) -> f64 {
        self.0.augment(space, y, scores);
        let best = space.max(scores, grad);
        let value = best - space.score(scores, y);
        space.add_parts(y, -F::ONE, grad);
        value.to_f64()
    }
}

impl<F: Scalar, C: Cost<F, Binary>> DualLoss<F, Binary> for Hinge<C> {
    fn conjugate(&self, _: Binary, y: u32, g: &[F]) -> f64 {
        (g[0] * Binary::sign(y) * self.0.cost(y, 1 - y)).to_f64()
    }

    #[inline]
    fn dual_step(
        &self,
        _: Binary,
        y: u32,
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        let sign = Binary::sign::<F>(y);
        let a = -sign * g[0];
        let slack = self.0.cost(y, 1 - y) - sign * scores[0];
        let to = (a + slack / q).max(F::ZERO).min(F::ONE);
        delta[0] = -sign * (to - a);
        g[0] = -sign * to;
        (slack.max(F::ZERO) - a * slack).to_f64()
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Binary, y: u32, g: &mut [F]) {
        let sign = Binary::sign::<F>(y);
        g[0] = -sign * (-sign * g[0]).max(F::ZERO).min(F::ONE);
    }

    fn sensitivity(&self, _: Binary, y: u32, _: &[F], off: &[f64]) -> f64 {
        off[0] * self.0.cost(y, 1 - y).to_f64().abs()
    }
}

impl<F: Scalar, C: Cost<F, Classes>> DualLoss<F, Classes> for Hinge<C> {
    fn conjugate(&self, _: Classes, y: u32, g: &[F]) -> f64 {
        -Cost::<F, Classes>::total(&self.0, y, g)
    }

    #[inline]
    fn dual_step(
        &self,
        space: Classes,
        y: u32,
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        let gold = y as usize;
        self.0.augment(space, y, scores);
        // p = g + e_y; gap = max(θ + Δ) − ⟨p, θ + Δ⟩.
        g[gold] += F::ONE;
        let gap = simplex::step(scores, q, g, delta);
        g[gold] -= F::ONE;
        gap.to_f64()
    }

    fn has_sparse_blocks(&self) -> bool {
        true
    }

    #[inline]
    fn dual_step_on(
        &self,
        y: u32,
        parts: &[u32],
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        let Some(gold) = parts.iter().position(|&part| part == y) else { return 0.0 };
        for (score, &part) in scores.iter_mut().zip(parts) {
            *score += self.0.cost(y, part);
        }
        g[gold] += F::ONE;
        let gap = simplex::step_of_few(scores, q, g, delta);
        g[gold] -= F::ONE;
        gap.to_f64()
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Classes, y: u32, g: &mut [F]) {
        clamp_flows(g, y as usize, F::ONE, F::ONE);
    }

    fn sensitivity(&self, _: Classes, y: u32, _: &[F], off: &[f64]) -> f64 {
        let gain = |(c, off): (u32, f64)| off * self.0.cost(y, c).to_f64().abs();
        others(off, y as usize).map(gain).sum()
    }
}
