//! Σ over ŷ ≠ y of max(0, Δ(y, ŷ) + θ_ŷ − θ_y): Weston & Watkins (1999).
//!
//! The dual block is a flow a_r in [0, 1] from the gold class to each other one (g_r = a_r, g_y = −Σ a) with
//! ℓ*(g) = −Σ a_r Δ(y, r). The exact step (Wang & Scott, ICML 2021, in O(K log K)) needs one number, the change T of the total
//! flow: a_r' = clamp(a_r + m_r/q − T, 0, 1) with m_r = Δ + θ_r − θ_y and Σ a' = Σ a + T.
//! Without cost it is the perceptron that updates every class that outscores the gold one.

use crate::{Domain, DualLoss, Loss, block::flow_level, clamp_flows, others};
use lineal_linalg::Scalar;
use lineal_model::cost::{Cost, NoCost};
use lineal_model::space::Classes;

/// The sum form of the hinge, with its cost.
#[derive(Clone, Copy, Debug)]
pub struct SumHinge<C>(pub C);

/// Raises the gold class and lowers every class that outscores it.
pub type SumPerceptron = SumHinge<NoCost>;

/// Replaces scores by margins m_r = Δ(y, r) + θ_r − θ_y; the gold's is −∞.
#[inline]
pub(crate) fn margins<F: Scalar, C: Cost<F, Classes>>(cost: &C, scores: &mut [F], y: u32) {
    cost.augment(Classes(scores.len()), y, scores);
    let base = scores[y as usize];
    scores.iter_mut().for_each(|s| *s -= base);
    scores[y as usize] = -F::INFINITY;
}

impl<F: Scalar, C: Cost<F, Classes>> Loss<F, Classes> for SumHinge<C> {
    fn value_grad(&self, _: Classes, scores: &mut [F], y: u32, grad: &mut [F]) -> f64 {
        margins(&self.0, scores, y);
        let (mut value, mut flow) = (0.0, F::ZERO);
        for (c, (g, &m)) in grad.iter_mut().zip(scores.iter()).enumerate() {
            // A tie is lost to the lower class, as in `decode`: without this a perceptron would never leave zero.
            let violates = m > F::ZERO || (m == F::ZERO && c < y as usize);
            *g = if violates { F::ONE } else { F::ZERO };
            flow += *g;
            value += m.max(F::ZERO).to_f64();
        }
        grad[y as usize] = -flow;
        value
    }
}

impl<F: Scalar, C: Cost<F, Classes>> DualLoss<F, Classes> for SumHinge<C> {
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
        let mut gap = F::ZERO;
        g[gold] = F::ZERO;
        scores[gold] = F::ZERO;
        for (&m, &a) in scores.iter().zip(g.iter()) {
            gap += m.max(F::ZERO) - a * m;
        }
        if gap <= F::ZERO {
            delta.fill(F::ZERO);
            g[gold] = -flow;
            return 0.0;
        }
        let inv_q = F::ONE / q;
        for (v, &a) in scores.iter_mut().zip(g.iter()) {
            *v = *v * inv_q + a;
        }
        scores[gold] = -F::INFINITY;
        let level = flow_level(scores, F::ONE, F::ONE, F::ONE, flow);
        distribute_flow(scores, level, F::ONE, F::ONE, gold, flow, g, delta);
        gap.to_f64()
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Classes, y: u32, g: &mut [F]) {
        clamp_flows(g, y as usize, F::ONE, F::INFINITY);
    }

    fn sensitivity(&self, _: Classes, y: u32, _: &[F], off: &[f64]) -> f64 {
        let gain = |(c, off): (u32, f64)| off * self.0.cost(y, c).to_f64().abs();
        others(off, y as usize).map(gain).sum()
    }
}

/// Writes the flows clamp(s·(v − level), 0, hi) into `g` (whose gold entry the caller has set to 0), their sum into the
/// gold's entry, and the change into `delta`.
#[inline]
pub(crate) fn distribute_flow<F: Scalar>(
    v: &[F],
    level: F,
    s: F,
    hi: F,
    gold: usize,
    flow: F,
    g: &mut [F],
    delta: &mut [F],
) {
    let mut sum = F::ZERO;
    for ((a, &v), d) in g.iter_mut().zip(v).zip(delta.iter_mut()) {
        let to = (s * (v - level)).max(F::ZERO).min(hi);
        *d = to - *a;
        *a = to;
        sum += to;
    }
    g[gold] = -sum;
    delta[gold] = flow - sum;
}
