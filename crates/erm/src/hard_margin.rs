//! The hard margin: min ½‖w‖² subject to θ_y − θ_r ≥ Δ(y, r) for every row and every r ≠ y.
//!
//! Solved in the dual, where the flows have no upper end. Scaling the blocks by the best factor bounds the optimum from
//! below by L²/(2‖v‖²) with L = mean Σ a Δ; scaling w until the smallest margin holds bounds it from above.
//! The same L and v prove the opposite: no weights of norm 1 have a margin above ‖v‖/L, so when that falls to
//! rounding error beside the longest row, the data is not separable. Who is to blame is then told by a soft margin
//! with a large C: the rows on the wrong side.

use crate::dually::{Dually, Scratch};
use crate::gap;
use crate::risk::{Erm, Penalty};
use crate::rounding::{LowerBound, Proof, gamma};
use crate::rows::{Examples, Rows};
use lineal_linalg::{Scalar, kernels};
use lineal_loss::{DualLoss, HardMargin, Hinge};
use lineal_model::cost::Cost;
use lineal_model::space::{Binary, Classes, OutputSpace};
use lineal_model::{Linear, Model};
use lineal_solver::{Dual, DualBlocks, DualStep, Interrupt, Monitor, Outcome, Pass, Stop, dual};
use std::cell::Cell;
use std::ops::{ControlFlow, Range};

/// A margin bound below this part of the longest row counts as zero.
const ZERO_MARGIN: f64 = 1e-4;

/// How a search for a separator ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Separation {
    /// The weights hold every margin.
    Separable(Vec<f64>, Outcome),
    /// No weights do.
    Inseparable {
        /// No weights of norm 1 have a margin above this.
        margin_bound: f64,
        /// Rows on the wrong side of the best soft margin, worst first.
        rows: Vec<usize>,
    },
    /// The passes ran out before either was proven.
    Undecided {
        /// No weights of norm 1 have a margin above this.
        margin_bound: f64,
    },
}

/// A space whose outputs compete by score.
pub trait Margin: OutputSpace<f64, Output = u32> {
    /// The score of the gold output minus that of the best other one.
    fn margin(scores: &[f64], y: u32) -> f64;
    /// The smallest of (θ_y − θ_r) / Δ(y, r) over r ≠ y with Δ > 0.
    fn ratio<C: Cost<f64, Self>>(cost: &C, scores: &[f64], y: u32) -> f64;
}

impl Margin for Binary {
    fn margin(scores: &[f64], y: u32) -> f64 {
        Binary::sign::<f64>(y) * scores[0]
    }

    fn ratio<C: Cost<f64, Self>>(cost: &C, scores: &[f64], y: u32) -> f64 {
        let target = cost.cost(y, 1 - y);
        if target > 0.0 { Self::margin(scores, y) / target } else { f64::INFINITY }
    }
}

impl Margin for Classes {
    fn margin(scores: &[f64], y: u32) -> f64 {
        let others = scores.iter().enumerate().filter(|&(c, _)| c != y as usize);
        others.map(|(_, &s)| scores[y as usize] - s).fold(f64::INFINITY, f64::min)
    }

    fn ratio<C: Cost<f64, Self>>(cost: &C, scores: &[f64], y: u32) -> f64 {
        let ratio = |(c, &s): (usize, &f64)| {
            let target: f64 = cost.cost(y, c as u32);
            if target > 0.0 { (scores[y as usize] - s) / target } else { f64::INFINITY }
        };
        scores.iter().enumerate().map(ratio).fold(f64::INFINITY, f64::min)
    }
}

/// The margin of every row at `w`.
pub fn margins<F: Scalar, S: Margin + OutputSpace<F, Output = u32>>(
    model: &Linear<S>,
    data: &Rows<'_, u32>,
    w: &[F],
) -> Vec<f64> {
    let k = Model::<F>::max_parts(model);
    let (mut scores, mut wide) = (vec![F::ZERO; k], vec![0.0; k]);
    let interrupt = Interrupt::current();
    (0..data.n_rows())
        .map(|i| {
            // Nobody reads them any more.
            if interrupt.is_stopped() {
                return 0.0;
            }
            model.scores(data.row(i), w, &mut scores);
            wide.iter_mut().zip(&scores).for_each(|(w, s)| *w = s.to_f64());
            S::margin(&wide, data.outputs()[i])
        })
        .collect()
}

/// Searches until the relative gap of ½‖w‖² is within the tolerance, or inseparability is proven.
pub fn hard_margin<S, C>(
    model: &Linear<S>,
    data: Rows<'_, u32>,
    cost: &C,
    config: &Dual,
    monitor: &mut Monitor<'_, f64>,
) -> Separation
where
    S: Margin,
    C: Cost<f64, S> + Copy,
    HardMargin<C>: DualLoss<f64, S>,
    Hinge<C>: DualLoss<f64, S>,
{
    let n = data.n_rows();
    let norm = |i| model.isotropy(data.row(i));
    let longest =
        (0..n).filter_map(norm).fold(0.0f64, |m, v: f64| m.max(v)).sqrt().max(f64::MIN_POSITIVE);

    let loss = HardMargin(*cost);
    let mut erm = Erm::new(model, &loss, data, Penalty { l2: 1.0, l1: 0.0 });
    let margin_bound = Cell::new(f64::INFINITY);
    let proof = Cell::new(Proof::nothing(f64::INFINITY));
    let mut problem = Search {
        inner: Dually::new(&mut erm),
        cost,
        margin_bound: &margin_bound,
        proof: &proof,
        stop: config.stop,
    };
    let mut w = vec![0.0; Model::<f64>::dim(model)];
    let mut mu = vec![0.0; problem.inner.n_dual()];
    let inseparable = || margin_bound.get() < ZERO_MARGIN * longest;
    // A block's share of the gap is infinite while its margin is violated, so nothing here is calm.
    let config = Dual { shrink: false, ..*config };
    let outcome = dual(&config, &mut problem, &mut mu, &mut w, &mut |pass: &Pass<'_, f64>| {
        if inseparable() { ControlFlow::Break(()) } else { monitor(pass) }
    });

    if outcome.converged {
        return Separation::Separable(w, Outcome { gap: proof.get().finite_gap(), ..outcome });
    }
    let margin_bound = margin_bound.get();
    if !inseparable() {
        return Separation::Undecided { margin_bound };
    }
    let soft = Hinge(*cost);
    // The square of a tiny length is 0.
    let l2 = (1e-4 * longest * longest).max(f64::MIN_POSITIVE);
    let penalty = Penalty { l2, l1: 0.0 };
    let mut erm = Erm::new(model, &soft, data, penalty);
    let mut problem = Dually::new(&mut erm);
    let (mut w, mut mu) = (vec![0.0; w.len()], vec![0.0; problem.n_dual()]);
    // Few rows can take thousands of passes, many rows cannot afford them.
    let work = Examples::<f64, Linear<S>>::work(&data, model).max(1);
    let max_passes = (100_000_000 / work).clamp(300, 30_000);
    let config = Dual { stop: Stop { tol: 1e-3, max_passes }, ..config };
    dual(
        &config,
        &mut problem,
        &mut mu,
        &mut w,
        &mut |_: &Pass<'_, f64>| ControlFlow::Continue(()),
    );
    let margins = margins(model, &data, &w);
    let mut rows: Vec<usize> = (0..n).filter(|&i| margins[i] <= 0.0).collect();
    rows.sort_by(|&a, &b| margins[a].total_cmp(&margins[b]));
    Separation::Inseparable { margin_bound, rows }
}

/// [`Dually`] with a certificate of its own.
struct Search<'p, 'e, 'a, S, C> {
    inner: Dually<'e, 'a, f64, Linear<S>, HardMargin<C>, Rows<'a, u32>>,
    cost: &'p C,
    margin_bound: &'p Cell<f64>,
    /// Of the last certificate.
    proof: &'p Cell<Proof>,
    stop: Stop,
}

impl<S, C> DualBlocks<f64> for Search<'_, '_, '_, S, C>
where
    S: Margin,
    C: Cost<f64, S>,
    HardMargin<C>: DualLoss<f64, S>,
{
    type Scratch = Scratch<f64>;

    fn is_coupled(&self) -> bool {
        true
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn n_blocks(&self) -> usize {
        self.inner.n_blocks()
    }

    fn block(&self, i: usize) -> Range<usize> {
        self.inner.block(i)
    }

    fn scratch(&self) -> Scratch<f64> {
        self.inner.scratch()
    }

    fn step(&self, i: usize, mu: &mut [f64], w: &mut [f64], s: &mut Scratch<f64>) -> DualStep {
        self.inner.step(i, mu, w, s)
    }

    fn end_pass(&mut self, mu: &mut [f64], w: &mut [f64]) {
        self.inner.end_pass(mu, w);
    }

    fn certify(&mut self, mu: &mut [f64], w: &mut [f64]) -> (f64, f64) {
        let erm = &mut *self.inner.erm;
        let mut v = vec![0.0; w.len()];
        // From below and from above: s·L − (s²/2)‖v‖² at the best s is a lower bound of the optimum whatever rounding did.
        let (gain, v_norm) = gap::dual_point(erm.parts(), mu, &mut v, true).outward();
        let penalised = erm.model.n_penalised();
        if gain > 0.0 {
            self.margin_bound.set(self.margin_bound.get().min(v_norm / gain));
        }

        let mut scores = vec![0.0; erm.model.max_parts()];
        let mut smallest = f64::INFINITY;
        for i in 0..erm.data.n_rows() {
            erm.model.scores(erm.data.row(i), w, &mut scores);
            let y = erm.data.outputs()[i];
            smallest = smallest.min(S::ratio(self.cost, &scores, y));
        }
        self.proof.set(Proof::nothing(f64::INFINITY));
        if smallest <= 0.0 {
            return (f64::MAX, f64::INFINITY);
        }
        let w_sq = kernels::dot64(&w[..penalised], &w[..penalised]);
        let value = 0.5 * w_sq / (smallest * smallest);
        let lower = (gain.max(0.0) / v_norm).powi(2) / 2.0;
        // Scaling and squaring round, and a norm is a sum over the weights.
        let rounded = gamma(2 * w.len() + 32) * value;
        let bound = LowerBound { computed: lower, proven: lower * (1.0 - gamma(8)) };
        let proof = Proof::new(value, rounded, bound);
        self.proof.set(proof);
        let gap = proof.computed_gap();
        // Scaled only when it is the answer: w must stay w(μ) while the run goes on.
        if gap <= self.stop.enough(value) {
            w.iter_mut().for_each(|w| *w /= smallest);
        }
        (value, gap)
    }
}
