//! The regularised risk over rows that are somewhere else, as the solvers see it, and what its gradient proves.
//!
//! The objective is P(w, b) = L(w, b) + (λ/2)‖w‖², where L is the mean loss, which other processes know, and b are biases that no penalty covers (there may be none). P is λ-strongly convex in w,
//! so with the gradient g = (g_w, g_b) at a point, and Δ the way to the optimum,
//!
//! ```text
//! P − P* ≤ −⟨g_w, Δw⟩ − (λ/2)‖Δw‖² − ⟨g_b, Δb⟩ ≤ ‖g_w‖²/(2λ) + ‖g_b‖₁·max|Δb|.
//! ```
//!
//! Where every weight is penalised that is a proof as it stands. Else |Δb| must be bounded, and the loss does that ([`BiasBound`]): no value that was seen, call the least p, is below P*, so at the
//! optimum the mean loss is at most p, which keeps the mean score of the rows of each class from being far on the wrong side. With q the least share of a class and R the length of the longest row:
//!
//! ```text
//! logistic        loss ≥ −margin          |b*| ≤ p/q + R‖w*‖     (for softmax, half the spread of b*)
//! squared hinge   loss = (1 − margin)₊²   |b*| ≤ √(p/q) + R‖w*‖
//! squares         loss = ½(score − y)²    |b* − b| ≤ 2√(2p) + R‖Δw‖
//! ```
//!
//! ‖w*‖ ≤ ‖w‖ + ‖Δw‖ in turn, and strong convexity bounds ‖Δw‖ by λ‖Δw‖² ≤ ‖g_w‖‖Δw‖ + ‖g_b‖₁ max|Δb|. A crude ‖Δw‖ put in gives a better one; a few rounds suffice. The bound is loose where g_b is
//! not small, and g_b is the easiest part of a gradient to make small.
//!
//! Sums come rounded. What a run stops by does not count that, [`Distributed::proven`] does: it takes 2⁻³⁶ of what was summed for lost, which is what a shard of 2¹⁶ rows can lose in f64.

use crate::partial::{Question, Round};
use crate::risk::Penalty;
use lineal_linalg::kernels;
use lineal_solver::{CurvedObjective, L1, Objective};
use std::ops::ControlFlow;

/// Answers a question about all shards: the value is returned, the vector overwrites the slice.
pub type Ask<'a, E> = dyn FnMut(Question<'_>, &mut [f64]) -> Result<f64, E> + 'a;

/// Asks until there is no answer. From then on every value is not a number, which ends the run of a solver.
pub(crate) struct Asking<'r, 'a, E> {
    ask: &'r mut Ask<'a, E>,
    /// Why there was no answer.
    pub(crate) failure: Option<E>,
}

impl<'r, 'a, E> Asking<'r, 'a, E> {
    pub(crate) fn new(ask: &'r mut Ask<'a, E>) -> Self {
        Self { ask, failure: None }
    }

    pub(crate) fn ask(&mut self, question: Question<'_>, out: &mut [f64]) -> f64 {
        if self.failure.is_some() {
            return f64::NAN;
        }
        match (self.ask)(question, out) {
            Ok(value) => value,
            Err(failure) => {
                self.failure = Some(failure);
                out.fill(f64::NAN);
                f64::NAN
            }
        }
    }
}

/// How a loss grows where scores are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// At least as −margin: logistic losses.
    Linear,
    /// As (1 − margin)², one column at a time.
    Quadratic,
    /// As ½(score − y)².
    Squares,
}

/// What bounds biases that are not penalised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BiasBound {
    /// Of the loss.
    pub growth: Growth,
    /// The length of the longest row.
    pub longest_row: f64,
    /// The least share among all rows, by weight, of those of a class; for columns, of those of either sign in any column.
    pub least_share: f64,
}

/// What is known at a point.
#[derive(Clone, Copy, Debug)]
struct Point {
    w_norm: f64,
    /// ‖g_w‖.
    slope: f64,
    /// ‖g_b‖₁.
    bias_slope: f64,
    /// max|b|.
    bias: f64,
    /// The least value seen.
    best: f64,
    l2: f64,
}

impl BiasBound {
    /// max|Δb|, if w is so far from the optimum.
    fn reach(&self, at: &Point, distance: f64) -> f64 {
        let (p, q, longest) = (at.best, self.least_share, self.longest_row);
        match self.growth {
            Growth::Linear => p / q + longest * (at.w_norm + distance) + at.bias,
            Growth::Quadratic => (p / q).sqrt() + longest * (at.w_norm + distance) + at.bias,
            Growth::Squares => 2.0 * (2.0 * p).sqrt() + longest * distance,
        }
    }

    /// The largest mean of slopes, over all of `n_outputs`.
    fn steepest(&self, best: f64, n_outputs: usize) -> f64 {
        match self.growth {
            Growth::Linear => 2.0 * (n_outputs as f64).sqrt(),
            Growth::Quadratic | Growth::Squares => 2.0 * best.sqrt(),
        }
    }

    fn gap(&self, at: &Point) -> f64 {
        let &Point { w_norm, slope, bias_slope, best, l2, .. } = at;
        let mut distance = w_norm + (2.0 * best / l2).sqrt();
        for _ in 0..4 {
            let rest = 4.0 * l2 * bias_slope * self.reach(at, distance);
            distance = distance.min((slope + (slope * slope + rest).sqrt()) / (2.0 * l2));
        }
        slope * slope / (2.0 * l2) + bias_slope * self.reach(at, distance)
    }
}

/// The share of a sum that rounding may have cost.
const LOST: f64 = 1.0 / (1u64 << 36) as f64;

/// The regularised risk over rows that are somewhere else, for the solvers. The mean loss is what `ask` says; penalties are added here.
pub struct Distributed<'a, E> {
    dim: usize,
    n_penalised: usize,
    penalty: Penalty,
    asking: Asking<'a, 'a, E>,
    at: Vec<f64>,
    best: f64,
    bound: Option<BiasBound>,
    /// A point that was asked about before the run, its mean loss and that one's gradient.
    known: Option<(Vec<f64>, f64, Vec<f64>)>,
    /// The gap at the point judged last, with what rounding may have cost.
    pub proven: Option<f64>,
}

impl<'a, E> Distributed<'a, E> {
    /// So many weights, of which a penalty covers the first `n_penalised`.
    pub fn new(dim: usize, n_penalised: usize, penalty: Penalty, ask: &'a mut Ask<'a, E>) -> Self {
        Self {
            dim,
            n_penalised,
            penalty,
            asking: Asking::new(ask),
            at: Vec::new(),
            best: f64::INFINITY,
            bound: None,
            known: None,
            proven: None,
        }
    }

    /// Why there was no answer, if there was none. The run then ended with a value that is not a number.
    pub fn take_failure(&mut self) -> Option<E> {
        self.asking.failure.take()
    }

    /// Rounds of stochastic steps from `w`, each shard on its own and then averaged: a start for another solver. `see` is told the number of each round, from 1, and the loss on its way, and may end
    /// the run: then no other solver should go on, and `Break` is returned. If the objective ends above the loss of the first round, or a number is not finite, `w` is left unchanged.
    ///
    /// Averages of runs on parts of the rows: Zinkevich et al., *Parallelized stochastic gradient descent* (2010), with restarts from the average.
    pub fn start_by_steps(
        &mut self,
        rounds: usize,
        curvature: f64,
        w: &mut [f64],
        see: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        let (first, mut next, mut limit) = (w.to_vec(), vec![0.0; self.dim], f64::NAN);
        for round in 0..rounds {
            let how = Round { l2: self.penalty.l2, curvature, round };
            let loss = self.asking.ask(Question::Steps { w, how }, &mut next);
            if !loss.is_finite() || next.iter().any(|w| !w.is_finite()) {
                w.copy_from_slice(&first);
                return flow;
            }
            w.copy_from_slice(&next);
            if round == 0 {
                limit = loss;
            }
            flow = see(round + 1, loss);
            if flow.is_break() {
                break;
            }
        }
        if limit.is_finite() {
            let mean_loss = self.asking.ask(Question::Gradient { w }, &mut next);
            let n = self.n_penalised;
            let value = mean_loss + 0.5 * self.penalty.l2 * kernels::dot64(&w[..n], &w[..n]);
            match value <= limit {
                true => self.known = Some((w.to_vec(), mean_loss, next)),
                false => w.copy_from_slice(&first),
            }
        }
        flow
    }

    /// With what bounds the biases that no penalty covers: the gradient then proves a gap.
    pub fn bounded(mut self, bound: Option<BiasBound>) -> Self {
        self.bound = bound.filter(|b| b.least_share > 0.0 && b.longest_row.is_finite());
        self
    }
}

impl<E> Objective<f64> for Distributed<'_, E> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn value_grad(&mut self, w: &[f64], grad: &mut [f64]) -> f64 {
        let mean_loss = match self.known.take().filter(|(at, ..)| at == w) {
            Some((_, mean_loss, known)) => {
                grad.copy_from_slice(&known);
                mean_loss
            }
            None => self.asking.ask(Question::Gradient { w }, grad),
        };
        let (n, l2) = (self.n_penalised, self.penalty.l2);
        kernels::axpy(l2, &w[..n], &mut grad[..n]);
        let value = mean_loss + 0.5 * l2 * kernels::dot64(&w[..n], &w[..n]);
        self.best = self.best.min(value);
        value
    }

    fn l1(&self) -> L1 {
        L1 { l1: self.penalty.l1, until: self.n_penalised }
    }

    fn gap(&mut self, w: &[f64], grad: &[f64], _: f64) -> Option<f64> {
        let (n, Penalty { l2, l1 }) = (self.n_penalised, self.penalty);
        self.proven = None;
        if l1 != 0.0 || l2 <= 0.0 {
            return None;
        }
        let n_free = self.dim - n;
        let at = Point {
            w_norm: kernels::dot64(&w[..n], &w[..n]).sqrt(),
            slope: kernels::dot64(&grad[..n], &grad[..n]).sqrt(),
            bias_slope: grad[n..].iter().map(|g| g.abs()).sum(),
            bias: w[n..].iter().fold(0.0, |most: f64, b| most.max(b.abs())),
            best: self.best,
            l2,
        };
        let Some(bound) = self.bound else {
            let gap = at.slope * at.slope / (2.0 * l2);
            self.proven = (n_free == 0).then_some(gap);
            return self.proven;
        };
        // Only as many outputs as biases matter where there are any; where all are penalised none are free.
        let steepest = bound.steepest(self.best, n_free.max(1));
        let lost = Point {
            slope: at.slope + LOST * (steepest * bound.longest_row.max(1.0) + l2 * at.w_norm),
            bias_slope: if n_free == 0 {
                0.0
            } else {
                at.bias_slope + LOST * steepest * n_free as f64
            },
            ..at
        };
        self.proven = Some(bound.gap(&lost) + LOST * self.best);
        Some(bound.gap(&at))
    }
}

impl<E> CurvedObjective<f64> for Distributed<'_, E> {
    fn curve_at(&mut self, w: &[f64]) {
        self.at.clear();
        self.at.extend_from_slice(w);
    }

    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        let at = std::mem::take(&mut self.at);
        self.asking.ask(Question::Product { w: &at, v }, out);
        self.at = at;
        let n = self.n_penalised;
        kernels::axpy(self.penalty.l2, &v[..n], &mut out[..n]);
    }

    fn hess_diag(&mut self, out: &mut [f64]) {
        let at = std::mem::take(&mut self.at);
        self.asking.ask(Question::Diagonal { w: &at }, out);
        self.at = at;
        out[..self.n_penalised].iter_mut().for_each(|o| *o += self.penalty.l2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means of the logistic loss of some rows with one feature and a bias, labelled −1 and 1.
    const ROWS: [(f64, f64); 5] = [(0.5, 1.0), (-1.0, -1.0), (2.0, 1.0), (0.3, -1.0), (-0.4, 1.0)];

    fn mean_loss(w: &[f64], out: &mut [f64]) -> f64 {
        out.fill(0.0);
        let mut value = 0.0;
        for (x, y) in ROWS {
            let margin = y * (w[0] * x + w[1]);
            let slope = -y / (1.0 + margin.exp()) / 5.0;
            value += (-margin).exp().ln_1p() / 5.0;
            out[0] += slope * x;
            out[1] += slope;
        }
        value
    }

    /// At any point the gap must be at least what the objective is above its minimum, and near the minimum it must be small.
    #[test]
    fn a_free_bias_does_not_break_the_bound() {
        let l2 = 0.1;
        let value = |w: [f64; 2]| mean_loss(&w, &mut [0.0; 2]) + 0.5 * l2 * w[0] * w[0];
        let grid = (-400..400).flat_map(|i| (-400..400).map(move |j| [i, j]));
        let (least, at) = grid
            .map(|[i, j]| [f64::from(i) * 0.005, f64::from(j) * 0.005])
            .map(|w| (value(w), w))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap();
        let bound = BiasBound { growth: Growth::Linear, longest_row: 2.0, least_share: 0.4 };
        let gap = |w: [f64; 2]| {
            let mut ask = |question: Question<'_>, out: &mut [f64]| -> Result<f64, String> {
                match question {
                    Question::Gradient { w } => Ok(mean_loss(w, out)),
                    _ => Err("only gradients".into()),
                }
            };
            let penalty = Penalty { l2, l1: 0.0 };
            let mut risk = Distributed::new(2, 1, penalty, &mut ask).bounded(Some(bound));
            let mut grad = [0.0; 2];
            risk.value_grad(&w, &mut grad);
            let gap = risk.gap(&w, &grad, 0.0).unwrap();
            assert!(risk.proven.unwrap() > gap);
            gap
        };
        for w in [[0.0, 0.0], [3.0, -2.0], [-1.0, 5.0], [0.4, 0.3], at] {
            assert!(gap(w) >= value(w) - least, "{w:?}: {} < {}", gap(w), value(w) - least);
        }
        assert!(gap(at) < 0.02, "{}", gap(at));
    }
}
