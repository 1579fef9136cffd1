//! Platt's scaling: P(yes | s) = σ(a·s + b).
//!
//! (a, b) minimise Σ w (ln(1 + e^z) − t z) with z = a·s + b and smoothed targets, (n₊ + 1)/(n₊ + 2) for yes and 1/(n₋ + 2)
//! for no, n₊ and n₋ the weights of either answer: what a uniform prior makes of 1 and 0. They keep a finite where scores
//! separate the answers. J. Platt, *Probabilistic outputs for support vector machines*, 1999; Newton's method with
//! backtracking as in Lin, Lin and Weng, *A note on Platt's probabilistic outputs*, Machine Learning 68, 2007, algorithm 1.
//! Different from it: scores are first divided by the largest, which makes tolerances free of their scale, and the sign
//! of a is that of the usual logistic function.

use crate::Answers;
use lineal_linalg::special::{log1p_exp, sigmoid};
use serde::{Deserialize, Serialize};

/// σ(a·s + b). Where scores are of any use a is positive; it may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Platt {
    /// Slope.
    pub a: f64,
    /// Offset, the log-odds at a score of 0.
    pub b: f64,
}

impl Platt {
    /// The map of least smoothed log loss.
    pub fn fit(answers: &Answers<'_>) -> Self {
        let (mut n_yes, mut n_no, mut scale) = (0.0, 0.0, 0.0f64);
        for (score, yes, weight) in answers.iter() {
            *(if yes { &mut n_yes } else { &mut n_no }) += weight;
            scale = scale.max(score.abs());
        }
        // Below this a slope would not fit into f64.
        let scale = if scale < 1e-290 { 1.0 } else { scale };
        let problem = Problem {
            answers,
            scale,
            target_yes: (n_yes + 1.0) / (n_yes + 2.0),
            target_no: 1.0 / (n_no + 2.0),
            total: f64::max(n_yes + n_no, f64::MIN_POSITIVE),
        };
        let start = [0.0, ((n_yes + 1.0) / (n_no + 1.0)).ln()];
        let [a, b] = problem.newton(start);
        Self { a: a / scale, b }
    }

    /// P(yes) at a score. Infinite scores are legal, and NaN is taken for 0.
    #[inline]
    pub fn proba(&self, score: f64) -> f64 {
        let z = self.a * score + self.b;
        // 0 · ∞ is NaN as well.
        sigmoid(if z.is_nan() { self.b } else { z })
    }
}

/// The mean loss as a function of (a, b), for scaled scores.
struct Problem<'a> {
    answers: &'a Answers<'a>,
    scale: f64,
    target_yes: f64,
    target_no: f64,
    total: f64,
}

impl Problem<'_> {
    fn newton(&self, mut at: [f64; 2]) -> [f64; 2] {
        // A dozen is usual.
        const MAX_STEPS: usize = 100;
        let mut value = self.value(at);
        for _ in 0..MAX_STEPS {
            let ([g0, g1], [h00, h01, h11]) = self.grad_hess(at);
            if g0.abs().max(g1.abs()) < 1e-13 {
                break;
            }
            // The ridge of the paper: with one answer only, or equal scores, the Hessian is singular.
            let (h00, h11) = (h00 + 1e-12, h11 + 1e-12);
            let det = h00 * h11 - h01 * h01;
            let step = [-(h11 * g0 - h01 * g1) / det, -(h00 * g1 - h01 * g0) / det];
            let slope = g0 * step[0] + g1 * step[1];
            // Half steps until the value falls by enough; a rounding of it is forgiven.
            let slack = 1e-15 * value.abs();
            let mut length = 1.0;
            let better = loop {
                let next = [at[0] + length * step[0], at[1] + length * step[1]];
                let next_value = self.value(next);
                if next_value <= value + 1e-4 * length * slope + slack {
                    break Some((next, next_value));
                }
                length /= 2.0;
                if length < 1e-10 {
                    break None;
                }
            };
            let Some((next, next_value)) = better else { break };
            (at, value) = (next, next_value);
        }
        at
    }

    fn value(&self, [a, b]: [f64; 2]) -> f64 {
        let loss = self.answers.iter().fold(0.0, |sum, (score, yes, weight)| {
            let z = a * (score / self.scale) + b;
            sum + weight * (log1p_exp(z) - self.target(yes) * z)
        });
        loss / self.total
    }

    /// The gradient, and the entries aa, ab, bb of the Hessian.
    fn grad_hess(&self, [a, b]: [f64; 2]) -> ([f64; 2], [f64; 3]) {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for (score, yes, weight) in self.answers.iter() {
            let s = score / self.scale;
            let z = a * s + b;
            let d = weight * (sigmoid(z) - self.target(yes));
            // σ(z) σ(−z) keeps its digits where 1 − σ(z) does not.
            let c = weight * sigmoid(z) * sigmoid(-z);
            g = [g[0] + d * s, g[1] + d];
            h = [h[0] + c * s * s, h[1] + c * s, h[2] + c];
        }
        (g.map(|v| v / self.total), h.map(|v| v / self.total))
    }

    fn target(&self, yes: bool) -> f64 {
        if yes { self.target_yes } else { self.target_no }
    }
}
