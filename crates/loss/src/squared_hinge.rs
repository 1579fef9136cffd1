//! The square of the hinge. Binary: max(0, Δ − yf)². Classes, max form: (max_r m_r)₊²; sum form: Σ_r (m_r)₊², with
//! m_r = Δ(y, r) + θ_r − θ_y.
//!
//! Dual blocks are flows a_r ≥ 0 without an upper end and with A = Σ a:
//! ℓ*(g) = A²/4 − Σ a_r Δ (max form), Σ (a_r²/4 − a_r Δ) (sum form). The binary and the sum form have a continuous gradient;
//! the max form has kinks where two classes tie above the margin, so Newton and L-BFGS do not take it.

use crate::sum_hinge::{distribute_flow, margins};
use crate::{Domain, DualLoss, Loss, SecondOrder, block::flow_level, clamp_flows, others};
use lineal_linalg::Scalar;
use lineal_model::cost::Cost;
use lineal_model::space::{Binary, Classes};

/// The binary and the max form.
#[derive(Clone, Copy, Debug)]
pub struct SquaredHinge<C>(pub C);

/// The sum form.
#[derive(Clone, Copy, Debug)]
pub struct SumSquaredHinge<C>(pub C);

impl<F: Scalar, C: Cost<F, Binary>> Loss<F, Binary> for SquaredHinge<C> {
    #[inline]
    fn value_grad(&self, _: Binary, scores: &mut [F], y: u32, grad: &mut [F]) -> f64 {
        let sign = Binary::sign::<F>(y);
        let slack = (self.0.cost(y, 1 - y) - sign * scores[0]).max(F::ZERO);
        grad[0] = -sign * (slack + slack);
        slack.to_f64() * slack.to_f64()
    }
}

impl<F: Scalar, C: Cost<F, Binary>> SecondOrder<F, Binary> for SquaredHinge<C> {
    fn curve(&self, _: Binary, scores: &mut [F], y: u32, state: &mut [F]) {
        let slack = self.0.cost(y, 1 - y) - Binary::sign::<F>(y) * scores[0];
        state[0] = if slack > F::ZERO { F::ONE + F::ONE } else { F::ZERO };
    }

    fn hess_vec(&self, _: Binary, _: u32, state: &[F], dir: &[F], out: &mut [F]) {
        out[0] = state[0] * dir[0];
    }

    fn hess_diag(&self, _: Binary, _: u32, state: &[F], out: &mut [F]) {
        out[0] = state[0];
    }
}

impl<F: Scalar, C: Cost<F, Binary>> DualLoss<F, Binary> for SquaredHinge<C> {
    fn conjugate(&self, _: Binary, y: u32, g: &[F]) -> f64 {
        let a = -(Binary::sign::<F>(y) * g[0]).to_f64();
        a * a / 4.0 - a * self.0.cost(y, 1 - y).to_f64()
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
        let half = F::from_f32(0.5);
        let sign = Binary::sign::<F>(y);
        let a = -sign * g[0];
        let slack = self.0.cost(y, 1 - y) - sign * scores[0];
        let to = ((slack + q * a) / (q + half)).max(F::ZERO);
        delta[0] = -sign * (to - a);
        g[0] = -sign * to;
        let over = slack.max(F::ZERO);
        (over * over + a * (a * half * half - slack)).to_f64()
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Binary, y: u32, g: &mut [F]) {
        let sign = Binary::sign::<F>(y);
        g[0] = -sign * (-sign * g[0]).max(F::ZERO);
    }

    fn sensitivity(&self, _: Binary, y: u32, g: &[F], off: &[f64]) -> f64 {
        off[0] * (g[0].to_f64().abs() + self.0.cost(y, 1 - y).to_f64().abs())
    }
}

impl<F: Scalar, C: Cost<F, Classes>> Loss<F, Classes> for SquaredHinge<C> {
    fn value_grad(&self, _: Classes, scores: &mut [F], y: u32, grad: &mut [F]) -> f64 {
        margins(&self.0, scores, y);
        grad.fill(F::ZERO);
        let mut worst = 0;
        for (c, &m) in scores.iter().enumerate() {
            if m > scores[worst] {
                worst = c;
            }
        }
        let over = scores[worst].max(F::ZERO);
        if over > F::ZERO {
            grad[worst] = over + over;
            grad[y as usize] = -(over + over);
        }
        over.to_f64() * over.to_f64()
    }
}

impl<F: Scalar, C: Cost<F, Classes>> Loss<F, Classes> for SumSquaredHinge<C> {
    fn value_grad(&self, _: Classes, scores: &mut [F], y: u32, grad: &mut [F]) -> f64 {
        margins(&self.0, scores, y);
        let (mut value, mut flow) = (0.0, F::ZERO);
        for (g, &m) in grad.iter_mut().zip(scores.iter()) {
            let over = m.max(F::ZERO);
            *g = over + over;
            flow += *g;
            value += over.to_f64() * over.to_f64();
        }
        grad[y as usize] = -flow;
        value
    }
}

impl<F: Scalar, C: Cost<F, Classes>> SecondOrder<F, Classes> for SumSquaredHinge<C> {
    fn curve(&self, _: Classes, scores: &mut [F], y: u32, state: &mut [F]) {
        margins(&self.0, scores, y);
        for (s, &m) in state.iter_mut().zip(scores.iter()) {
            *s = if m > F::ZERO { F::ONE + F::ONE } else { F::ZERO };
        }
    }

    fn hess_vec(&self, _: Classes, y: u32, state: &[F], dir: &[F], out: &mut [F]) {
        let along = dir[y as usize];
        let mut gold = F::ZERO;
        for (o, (&s, &d)) in out.iter_mut().zip(state.iter().zip(dir)) {
            *o = s * (d - along);
            gold += *o;
        }
        out[y as usize] = -gold;
    }

    fn hess_diag(&self, _: Classes, y: u32, state: &[F], out: &mut [F]) {
        out.copy_from_slice(state);
        out[y as usize] = state.iter().copied().sum();
    }
}

/// Turns margins into the flows' unclamped targets a + m/q; the gold's is −∞. Returns the flow before.
fn targets<F: Scalar>(margins: &mut [F], gold: usize, q: F, g: &mut [F]) -> F {
    let flow = -g[gold];
    g[gold] = F::ZERO;
    let inv_q = F::ONE / q;
    for (m, &a) in margins.iter_mut().zip(g.iter()) {
        *m = *m * inv_q + a;
    }
    margins[gold] = -F::INFINITY;
    flow
}

impl<F: Scalar, C: Cost<F, Classes>> DualLoss<F, Classes> for SquaredHinge<C> {
    fn conjugate(&self, _: Classes, y: u32, g: &[F]) -> f64 {
        let flow = g[y as usize].to_f64();
        let others = g.iter().enumerate().filter(|&(c, _)| c != y as usize);
        let gain: f64 = others.map(|(c, &g)| (g * self.0.cost(y, c as u32)).to_f64()).sum();
        flow * flow / 4.0 - gain
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
        let (gold, half) = (y as usize, F::from_f32(0.5));
        let (mut over, mut along) = (F::ZERO, F::ZERO);
        for (c, (&m, &a)) in scores.iter().zip(g.iter()).enumerate() {
            if c != gold {
                over = over.max(m);
                along += a * m;
            }
        }
        let gap = over * over + g[gold] * g[gold] * half * half - along;
        let flow = targets(scores, gold, q, g);
        let kappa = q / (q + half);
        let level = flow_level(scores, F::ONE, F::INFINITY, kappa, kappa * flow);
        distribute_flow(scores, level, F::ONE, F::INFINITY, gold, flow, g, delta);
        gap.to_f64()
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Classes, y: u32, g: &mut [F]) {
        clamp_flows(g, y as usize, F::INFINITY, F::INFINITY);
    }

    fn sensitivity(&self, _: Classes, y: u32, g: &[F], off: &[f64]) -> f64 {
        let flow = g[y as usize].to_f64().abs();
        let gain = |(c, off): (u32, f64)| off * (flow + self.0.cost(y, c).to_f64().abs());
        others(off, y as usize).map(gain).sum()
    }
}

impl<F: Scalar, C: Cost<F, Classes>> DualLoss<F, Classes> for SumSquaredHinge<C> {
    fn conjugate(&self, _: Classes, y: u32, g: &[F]) -> f64 {
        let others = g.iter().enumerate().filter(|&(c, _)| c != y as usize);
        others
            .map(|(c, &a)| {
                let a = a.to_f64();
                a * a / 4.0 - a * Cost::<F, Classes>::cost(&self.0, y, c as u32).to_f64()
            })
            .sum()
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
        let (gold, half) = (y as usize, F::from_f32(0.5));
        let mut gap = F::ZERO;
        for (c, (&m, &a)) in scores.iter().zip(g.iter()).enumerate() {
            if c != gold {
                let over = m.max(F::ZERO);
                gap += over * over + a * (a * half * half - m);
            }
        }
        let flow = targets(scores, gold, q, g);
        let s = q / (q + half);
        let level = flow_level(scores, s, F::INFINITY, F::ONE, flow);
        distribute_flow(scores, level, s, F::INFINITY, gold, flow, g, delta);
        gap.to_f64()
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Classes, y: u32, g: &mut [F]) {
        clamp_flows(g, y as usize, F::INFINITY, F::INFINITY);
    }

    fn sensitivity(&self, _: Classes, y: u32, g: &[F], off: &[f64]) -> f64 {
        let cost = |c: u32| Cost::<F, Classes>::cost(&self.0, y, c).to_f64().abs();
        let gain = |(c, off): (u32, f64)| off * (g[c as usize].to_f64().abs() + cost(c));
        others(off, y as usize).map(gain).sum()
    }
}
