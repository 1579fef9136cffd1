//! 0 where every margin holds, ∞ elsewhere: the constraint θ_y − θ_r ≥ Δ(y, r) for all r ≠ y.
//!
//! The max and the sum form of the hinge become the same thing. Dual blocks are flows a_r ≥ 0 without an upper end, ℓ*(g) =
//! −Σ a_r Δ(y, r).

use crate::sum_hinge::{distribute_flow, margins};
use crate::{Domain, DualLoss, Loss, block::flow_level, clamp_flows, others};
use lineal_linalg::Scalar;
use lineal_model::cost::Cost;
use lineal_model::space::{Binary, Classes};

/// The constraint, with the cost as target margin.
#[derive(Clone, Copy, Debug)]
pub struct HardMargin<C>(pub C);

impl<F: Scalar, C: Cost<F, Binary>> Loss<F, Binary> for HardMargin<C> {
    fn value_grad(&self, _: Binary, scores: &mut [F], y: u32, grad: &mut [F]) -> f64 {
        let sign = Binary::sign::<F>(y);
        let violated = self.0.cost(y, 1 - y) > sign * scores[0];
        grad[0] = if violated { -sign } else { F::ZERO };
        if violated { f64::INFINITY } else { 0.0 }
    }
}

impl<F: Scalar, C: Cost<F, Binary>> DualLoss<F, Binary> for HardMargin<C> {
    fn conjugate(&self, _: Binary, y: u32, g: &[F]) -> f64 {
        (g[0] * Binary::sign(y) * self.0.cost(y, 1 - y)).to_f64()
    }

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
        let to = (a + slack / q).max(F::ZERO);
        delta[0] = -sign * (to - a);
        g[0] = -sign * to;
        if slack > F::ZERO { f64::INFINITY } else { -(a * slack).to_f64() }
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Binary, y: u32, g: &mut [F]) {
        let sign = Binary::sign::<F>(y);
        g[0] = -sign * (-sign * g[0]).max(F::ZERO);
    }

    fn sensitivity(&self, _: Binary, y: u32, _: &[F], off: &[f64]) -> f64 {
        off[0] * self.0.cost(y, 1 - y).to_f64().abs()
    }
}

impl<F: Scalar, C: Cost<F, Classes>> Loss<F, Classes> for HardMargin<C> {
    fn value_grad(&self, _: Classes, scores: &mut [F], y: u32, grad: &mut [F]) -> f64 {
        margins(&self.0, scores, y);
        let mut flow = F::ZERO;
        for (g, &m) in grad.iter_mut().zip(scores.iter()) {
            *g = if m > F::ZERO { F::ONE } else { F::ZERO };
            flow += *g;
        }
        grad[y as usize] = -flow;
        if flow > F::ZERO { f64::INFINITY } else { 0.0 }
    }
}

impl<F: Scalar, C: Cost<F, Classes>> DualLoss<F, Classes> for HardMargin<C> {
    fn conjugate(&self, _: Classes, y: u32, g: &[F]) -> f64 {
        let others = g.iter().enumerate().filter(|&(c, _)| c != y as usize);
        -others.map(|(c, &g)| (g * self.0.cost(y, c as u32)).to_f64()).sum::<f64>()
    }

    fn dual_step(
        &self,
        _: Classes,
        y: u32,
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        margins(&self.0, scores, y);
        let gold = y as usize;
        let flow = -g[gold];
        g[gold] = F::ZERO;
        scores[gold] = F::ZERO;
        let (mut violated, mut slack) = (false, F::ZERO);
        let inv_q = F::ONE / q;
        for (m, &a) in scores.iter_mut().zip(g.iter()) {
            violated |= *m > F::ZERO;
            slack -= a * *m;
            *m = *m * inv_q + a;
        }
        scores[gold] = -F::INFINITY;
        let level = flow_level(scores, F::ONE, F::INFINITY, F::ONE, flow);
        distribute_flow(scores, level, F::ONE, F::INFINITY, gold, flow, g, delta);
        if violated { f64::INFINITY } else { slack.to_f64() }
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Classes, y: u32, g: &mut [F]) {
        clamp_flows(g, y as usize, F::INFINITY, F::INFINITY);
    }

    fn sensitivity(&self, _: Classes, y: u32, _: &[F], off: &[f64]) -> f64 {
        let gain = |(c, off): (u32, f64)| off * self.0.cost(y, c).to_f64().abs();
        others(off, y as usize).map(gain).sum()
    }
}
