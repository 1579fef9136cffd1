//! log Σ exp(θ_ŷ + Δ(y, ŷ)) − θ_y: maximum likelihood, and softmax-margin (Gimpel & Smith 2010) where there is a cost.
//!
//! Binary: ln(1 + e^{Δ − yf}). The dual block is g = p − e_y with p inside the simplex and ℓ*(g) = Σ p ln p − ⟨p, Δ⟩. Its exact step
//! solves ln p'_r + q(p'_r − p_r) = θ_r + Δ_r + ν with Σ p' = 1, here by Newton's method on ln p' and ν together ([`entropy::step`]): each
//! iteration is one exponential per class, quadratically convergent (Yu, Huang & Lin 2011 solve the same block by
//! two classes at a time).

use crate::{Domain, DualLoss, Loss, SecondOrder, clamp_flows, entropy_sensitivity, others};
use lineal_linalg::special::{sigmoid, x_ln_x};
use lineal_linalg::{Scalar, entropy};
use lineal_model::cost::Cost;
use lineal_model::space::{Binary, Classes, Marginals};

/// The logistic loss, with the cost that softmax-margin adds to the scores ([`NoCost`](lineal_model::cost::NoCost) for none).
#[derive(Clone, Copy, Debug)]
pub struct Logistic<C>(pub C);

impl<F, S, C> Loss<F, S> for Logistic<C>
where
    F: Scalar,
    S: Marginals<F, Output = u32>,
    C: Cost<F, S>,
{
    #[inline]
    fn value_grad(&self, space: S, scores: &mut [F], y: u32, grad: &mut [F]) -> f64 {
        self.0.augment(space, y, scores);
        let log_sum = space.log_sum_exp(scores, grad);
        let value = log_sum - space.score(scores, y);
        space.add_parts(y, -F::ONE, grad);
        value.to_f64().max(0.0)
    }
}

impl<F, S, C> SecondOrder<F, S> for Logistic<C>
where
    F: Scalar,
    S: Marginals<F, Output = u32>,
    C: Cost<F, S>,
{
    fn curve(&self, space: S, scores: &mut [F], y: u32, state: &mut [F]) {
        self.0.augment(space, y, scores);
        space.log_sum_exp(scores, state);
    }

    fn hess_vec(&self, space: S, _: u32, state: &[F], dir: &[F], out: &mut [F]) {
        space.cov_vec(state, dir, out);
    }

    fn hess_diag(&self, space: S, _: u32, state: &[F], out: &mut [F]) {
        space.cov_diag(state, out);
    }
}

impl<F: Scalar, C: Cost<F, Binary>> DualLoss<F, Binary> for Logistic<C> {
    fn conjugate(&self, _: Binary, y: u32, g: &[F]) -> f64 {
        let a = -(Binary::sign::<F>(y) * g[0]).to_f64();
        x_ln_x(a) + x_ln_x(1.0 - a) - a * self.0.cost(y, 1 - y).to_f64()
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
        let target = self.0.cost(y, 1 - y) - sign * scores[0];
        // With a' = σ(t): t + q σ(t) = target + q a, increasing in t with slope at least 1.
        let sigma = sigmoid(target);
        let gap = (a - sigma) * (a - sigma) / (sigma * (F::ONE - sigma) + F::EPSILON);
        let goal = target + q * a;
        let mut t = if q < F::ONE { target } else { logit(a).max(-goal.abs()).min(goal.abs()) };
        let mut to = sigmoid(t);
        for _ in 0..50 {
            let step = (goal - t - q * to) / (F::ONE + q * to * (F::ONE - to));
            t += step.max(F::from_f32(-4.0)).min(F::from_f32(4.0));
            to = sigmoid(t);
            if step.abs() <= F::EPSILON.sqrt() * F::from_f32(0.1) {
                break;
            }
        }
        delta[0] = -sign * (to - a);
        g[0] = -sign * to;
        F::from_f32(0.5).to_f64() * gap.to_f64()
    }

    fn domain(&self) -> Domain {
        Domain::Flows
    }

    fn clamp(&self, _: Binary, y: u32, g: &mut [F]) {
        let sign = Binary::sign::<F>(y);
        g[0] = -sign * (-sign * g[0]).max(F::ZERO).min(F::ONE);
    }

    fn sensitivity(&self, _: Binary, y: u32, _: &[F], off: &[f64]) -> f64 {
        // 1 − a is off by a rounding of 1.
        let cost = self.0.cost(y, 1 - y).to_f64().abs();
        2.0 * entropy_sensitivity(off[0]) + off[0] * cost + 2.0
    }
}

fn logit<F: Scalar>(a: F) -> F {
    let a = a.max(F::EPSILON).min(F::ONE - F::EPSILON);
    (a / (F::ONE - a)).ln()
}

impl<F: Scalar, C: Cost<F, Classes>> DualLoss<F, Classes> for Logistic<C> {
    fn conjugate(&self, _: Classes, y: u32, g: &[F]) -> f64 {
        // p = g + e_y; what is below 0 counts as 0.
        let gold = g[y as usize].to_f64();
        let entropy = entropy::sum_x_ln_x(g) - x_ln_x(gold) + x_ln_x(gold + 1.0);
        entropy - Cost::<F, Classes>::total(&self.0, y, g)
    }

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
        g[gold] += F::ONE;
        let gap = entropy::step(scores, q, g, delta);
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
        let cost = |c: u32| Cost::<F, Classes>::cost(&self.0, y, c).to_f64().abs();
        let own = |(c, off): (u32, f64)| entropy_sensitivity(off) + off * (cost(c) + cost(y));
        let flow = others(off, y as usize).map(|(_, off)| off).sum();
        // 1 − Σ a is off by a rounding of 1.
        others(off, y as usize).map(own).sum::<f64>() + entropy_sensitivity(flow) + 2.0 + cost(y)
    }
}
