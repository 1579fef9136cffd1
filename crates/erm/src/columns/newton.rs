//! Newton's method on every column by itself, for features so few that a Hessian is small.
//!
//! Column l minimises, over its weights w and bias,
//!
//! ```text
//! P(w) = Σᵢ shareᵢ |cᵢ| ℓ(sign(cᵢ) θᵢ) + (l2/2)‖w‖²,      θ = X w,      for a smooth ℓ of a margin
//! ```
//!
//! by w ← w + t d with H d = −∇P, H = Σ shareᵢ |cᵢ| ℓ″ xᵢxᵢᵀ + l2·I, factored in f64. Of the squared hinge only rows within the margin have a curvature,
//! soon a small part of all, and it is the same for all of them: rows that come and go are added and taken off (`curvature.rs`). At w = 0 all columns that ask every row the same have one Hessian, which is factored once. Scores along the ray are θ + t·Xd, so that the line search
//! touches no row. Without a free bias the duality gap at w is ‖∇P‖²/(2·l2), exactly: slopes are a dual point. That decides when to stop; the certificate is computed at the
//! weights that are returned.
//!
//! Dense features that are hardly penalised take the dual hundreds of passes (usps, squared hinge, C = 1: 579), and this 7 to 17 steps for each of its columns.
//!
//! Buffers of a column: scores, changes of scores and slopes (rows), H (dim²).

use super::curvature::{Curvature, Start};
use super::{BlockPass, ColumnFit, ColumnTask, OnBlock, certify};
use crate::newton::stiffness;
use lineal_linalg::{Matrix, Row, Scalar, dense, kernels};
use lineal_loss::OfMargin;
use lineal_model::Bias;
use lineal_solver::{Interrupt, Stop};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Steps of a line search, at most: it is Newton's method in one dimension.
const SEARCH: usize = 12;
/// The part of the slope along a ray that may be left.
const FLAT: f64 = 0.03;
/// Rows that have fewer entries than this part of all features are added to a Hessian entry by entry.
pub(super) const SPARSE: usize = 6;

/// The most features whose Hessian is formed.
const MOST_FEATURES: usize = 1000;
/// How many passes of the dual a run of [`newton`] may cost as much as. Where the dual needs fewer, it needs little time.
const WORTH_PASSES: f64 = 100.0;

/// Whether [`newton`] is for a task: few features, and a penalty.
pub fn newton_fits(task: &ColumnTask<'_>) -> bool {
    task.l2 > 0.0 && task.x.n_cols() <= MOST_FEATURES
}

/// Whether [`newton`] is likely to be faster than [`dual`](super::dual) with a loss that has a curvature within the margin only: about as much work as some passes. It is on usps (256 dense features:
/// 0.5 s of CPU time against 2.1 to 3.2), letter (16: 0.12 against 0.20), and not on mnist (784, 10,000 rows: 3.0 against 1.3).
pub fn newton_pays(x: &Matrix) -> bool {
    let (n, d) = (x.n_rows() as f64, x.n_cols() as f64 + 1.0);
    let filled = (x.nnz() as f64 / n.max(1.0) + 1.0).min(d);
    let outer = if filled * SPARSE as f64 > d { d * d / 16.0 } else { filled * filled / 2.0 };
    // Ten steps: each a gradient and the scores of a direction, a Hessian of some of the rows, a factor.
    let work = 10.0 * (n * (3.0 * filled + 0.3 * outer) + d.powi(3) / 24.0);
    x.n_cols() <= MOST_FEATURES && work < WORTH_PASSES * n * filled
}

/// Whether [`newton`] is likely to be faster than [`dual`](super::dual) with the logistic loss, which has a curvature at every row. `l2` is that of the mean over all rows.
///
/// Both costs are models in nanoseconds, fitted to usps and letter with C = 0.1, 1, 10 and tolerances of 0.1 to 0.001: steps hardly grow with the stiffness, passes of the dual do (letter, C = 10 to 0.001: 0.15 s of
/// CPU time against 0.62; usps: 0.75 against 4.6; with C = 1 both take as long).
pub fn newton_pays_everywhere_curved(x: &Matrix, n_columns: usize, l2: f64, tol: f64) -> bool {
    let (n, d, k) = (x.n_rows() as f64, x.n_cols() as f64 + 1.0, n_columns as f64);
    if l2 <= 0.0 || x.n_cols() > MOST_FEATURES || n < 4.0 * d {
        return false;
    }
    let filled = (x.nnz() as f64 / n + 1.0).min(d);
    let stiffness = stiffness(x, l2);
    let (entry, outer) = match filled * SPARSE as f64 > d {
        true => (0.6, 0.012 * d * d),
        false => (2.0, 0.5 * filled * filled),
    };
    let step = n * (45.0 + entry * filled + outer) + 0.04 * d.powi(3);
    let own = k * step * (3.0 + 0.8 * stiffness.ln_1p());
    let pass = n * (45.0 * k + 2.0 * filled * (k / 16.0).ceil());
    let looser = (tol.max(1e-8) / 1e-3).powf(-0.22);
    let dual = pass * (3.0 + 2.2 * stiffness.powf(0.72) * looser);
    own < 0.6 * dual
}

/// Newton's method on every column, to the tolerance of `stop`, from weights of all columns, (features + bias) × columns, or from zeros.
///
/// # Panics
/// If `l2` is not above 0 or the lengths disagree.
pub fn newton<F: Scalar, L: OfMargin<f64>>(
    task: &ColumnTask<'_>,
    loss: L,
    from: Option<&[f64]>,
    stop: Stop,
    monitor: &OnBlock<'_>,
) -> ColumnFit<F> {
    let shares = task.shares();
    let problem = Problem::new(task, &shares, stop);
    let start = from.is_none().then(|| problem.start(loss.curvature(0.0), 0.0)).flatten();
    let solve = |column: usize, see: See<'_>| {
        problem.solve(&loss, column, problem.column_of(from, column), start.as_ref(), see)
    };
    let columns: Vec<Solved> = problem.each_column(monitor, solve);
    let w: Vec<F> = problem.side_by_side(columns.iter().map(|solved| solved.w.as_slice()));
    let stored: Vec<f64> = w.iter().map(|w| w.to_f64()).collect();
    ColumnFit {
        certificates: certify(task, loss, &stored),
        w,
        passes: columns.iter().map(|c| c.passes).max().unwrap_or(0),
        converged: columns.iter().all(|c| c.converged),
    }
}

/// What all columns share.
pub(super) struct Problem<'p> {
    pub(super) task: &'p ColumnTask<'p>,
    pub(super) stop: Stop,
    pub(super) shares: &'p [f64],
    pub(super) interrupt: Interrupt,
}

struct Solved {
    w: Vec<f64>,
    passes: usize,
    converged: bool,
}

/// A row of a column's problem: its place, shareᵢ|cᵢ| and sign(cᵢ).
#[derive(Clone, Copy)]
pub(super) struct Example {
    pub(super) row: u32,
    pub(super) weight: f64,
    pub(super) sign: f64,
}

/// Margins that are looked at together, in vectors.
const BATCH: usize = 64;

/// A smooth loss of the margins of examples, of which `start` is the first.
pub(super) trait Smooth {
    /// ℓᵢ(m) and −ℓᵢ′(m) ≥ 0.
    fn values(&self, start: usize, m: &[f64], value: &mut [f64], slope: &mut [f64]);
    /// −ℓᵢ′(m) and ℓᵢ″(m).
    fn slopes(&self, start: usize, m: &[f64], slope: &mut [f64], curvature: &mut [f64]);
}

/// The same loss for all examples.
impl<L: OfMargin<f64>> Smooth for L {
    fn values(&self, _: usize, m: &[f64], value: &mut [f64], slope: &mut [f64]) {
        OfMargin::values(self, m, value, slope);
    }

    fn slopes(&self, _: usize, m: &[f64], slope: &mut [f64], curvature: &mut [f64]) {
        OfMargin::slopes(self, m, slope, curvature);
    }
}

/// Looks on a column: its passes, its gap, whether it has ended.
pub(super) type See<'s> = &'s dyn Fn(usize, f64, bool) -> ControlFlow<()>;

impl<'p> Problem<'p> {
    /// `shares` has what each row counts, in parts of all.
    pub(super) fn new(task: &'p ColumnTask<'p>, shares: &'p [f64], stop: Stop) -> Self {
        assert!(task.l2 > 0.0, "a column needs l2 > 0");
        assert_eq!(task.x.n_rows(), task.kinds.len(), "as many kinds as rows");
        assert_eq!(task.space.len(), task.report.len(), "a factor for each column");
        Self { task, stop, shares, interrupt: Interrupt::current() }
    }

    pub(super) fn dim(&self) -> usize {
        self.task.x.n_cols() + usize::from(self.task.bias != Bias::None)
    }

    pub(super) fn n_penalised(&self) -> usize {
        self.task.x.n_cols() + usize::from(self.task.bias == Bias::Penalised)
    }

    /// Solves every column, on all threads.
    pub(super) fn each_column<T: Send>(
        &self,
        monitor: &OnBlock<'_>,
        solve: impl Fn(usize, See<'_>) -> T + Sync,
    ) -> Vec<T> {
        let n_columns = self.task.space.len();
        let solve = |column: usize| {
            let see = |pass: usize, gap: f64, done: bool| {
                monitor(BlockPass { block: column, n_blocks: n_columns, pass, gap, done })
            };
            solve(column, &see)
        };
        (0..n_columns).into_par_iter().map(solve).collect()
    }

    /// Weights of all columns, those of a feature side by side.
    pub(super) fn side_by_side<'w, F: Scalar>(
        &self,
        columns: impl Iterator<Item = &'w [f64]>,
    ) -> Vec<F> {
        let n_columns = self.task.space.len();
        let mut w = vec![F::ZERO; self.dim() * n_columns];
        for (column, own) in columns.enumerate() {
            for (row, &from) in w.chunks_exact_mut(n_columns).zip(own) {
                row[column] = F::from_f64(from);
            }
        }
        w
    }

    pub(super) fn examples(&self, column: usize) -> Vec<Example> {
        let space = self.task.space.part(column..column + 1);
        let mut examples = Vec::with_capacity(self.shares.len());
        for ((row, &kind), &share) in (0u32..).zip(self.task.kinds).zip(self.shares) {
            let mut c = [0.0f64];
            space.signed(kind, &mut c);
            let weight = share * c[0].abs();
            if weight > 0.0 {
                examples.push(Example { row, weight, sign: c[0].signum() });
            }
        }
        examples
    }

    /// The weights of one column out of those of all, or zeros.
    pub(super) fn column_of(&self, all: Option<&[f64]>, column: usize) -> Vec<f64> {
        let n_columns = self.task.space.len();
        let own = |all: &[f64]| all.iter().skip(column).step_by(n_columns).copied().collect();
        all.map_or_else(|| vec![0.0; self.dim()], own)
    }

    /// The Hessian at 0, if it is that of all columns: there every row has the same `curvature`. A free bias has `free` beyond it.
    pub(super) fn start(&self, curvature: f64, free: f64) -> Option<Start> {
        let n_columns = self.task.space.len();
        let mut signed = vec![0.0f64; n_columns];
        let n_kinds = self.task.kinds.iter().max().map_or(0, |&kind| kind + 1);
        let same = (0..n_kinds).all(|kind| {
            self.task.space.signed(kind, &mut signed);
            signed.iter().all(|c| c.abs() == 1.0)
        });
        (n_columns > 1 && same && curvature > 0.0).then(|| Start::new(self, curvature, free))
    }

    fn solve(
        &self,
        loss: &impl Smooth,
        column: usize,
        mut w: Vec<f64>,
        start: Option<&Start>,
        see: See<'_>,
    ) -> Solved {
        let dim = self.dim();
        if self.interrupt.is_stopped() {
            return Solved { w, passes: 0, converged: false };
        }
        let examples = self.examples(column);
        let [mut grad, mut direction] = [(); 2].map(|()| vec![0.0; dim]);
        let [mut scores, mut along] = [(); 2].map(|()| vec![0.0; examples.len()]);
        if w.iter().any(|&w| w != 0.0) {
            self.scores(&examples, &w, &mut scores);
        }
        let mut curvature = Curvature::new(self, start);
        let mut passes = 0;
        let mut last = f64::INFINITY;
        loop {
            let value = self.value_grad(loss, &examples, &scores, &w, &mut grad);
            passes += 1;
            if self.interrupt.is_stopped() {
                return Solved { w, passes, converged: false };
            }
            let gap = self.gap(&w, &grad);
            let enough = 0.5 * self.stop.enough(value);
            let converged = gap <= enough;
            // Where a step does not make the value smaller any more, what is left is rounding.
            let stuck = value >= last;
            if converged || stuck || passes >= self.stop.max_passes || !gap.is_finite() {
                let _ = see(passes, gap, true);
                return Solved { w, passes, converged };
            }
            if see(passes, gap, false).is_break() {
                return Solved { w, passes, converged };
            }
            last = value;
            direction.iter_mut().zip(&grad).for_each(|(d, g)| *d = -g);
            if let (1, Some(start)) = (passes, start) {
                dense::cholesky_solve(&start.factor, dim, &mut direction);
            } else {
                passes += 1;
                let factor = curvature.factor(&examples, &curved(loss, &examples, &scores), 0.0);
                dense::cholesky_solve(factor, dim, &mut direction);
            }
            self.scores(&examples, &direction, &mut along);
            if self.interrupt.is_stopped() {
                return Solved { w, passes, converged: false };
            }
            let slope = kernels::dot64(&grad, &direction);
            let t = self.search(loss, &examples, [&scores, &along], &w, &direction, slope);
            kernels::axpy(t, &direction, &mut w);
            kernels::axpy(t, &along, &mut scores);
        }
    }

    /// The score of each example.
    pub(super) fn scores(&self, examples: &[Example], w: &[f64], out: &mut [f64]) {
        let x = self.task.x;
        let listening = |_: &_| !self.interrupt.is_stopped();
        for (out, e) in out.iter_mut().zip(examples).take_while(listening) {
            *out = score(x.row(e.row as usize), w, x.n_cols());
        }
    }

    /// P at the weights whose scores these are, and its gradient.
    pub(super) fn value_grad(
        &self,
        loss: &impl Smooth,
        examples: &[Example],
        scores: &[f64],
        w: &[f64],
        grad: &mut [f64],
    ) -> f64 {
        let (x, d) = (self.task.x, self.task.x.n_cols());
        grad.fill(0.0);
        let (mut value, mut bias) = (0.0, 0.0);
        let [mut m, mut losses, mut slopes] = [[0.0; BATCH]; 3];
        let batches = (0..).step_by(BATCH).zip(examples.chunks(BATCH).zip(scores.chunks(BATCH)));
        for (start, (examples, scores)) in batches.take_while(|_| !self.interrupt.is_stopped()) {
            let n = examples.len();
            margins(examples, scores, &mut m);
            loss.values(start, &m[..n], &mut losses[..n], &mut slopes[..n]);
            for (e, (loss, slope)) in examples.iter().zip(losses.iter().zip(&slopes)) {
                value += e.weight * loss;
                let slope = -e.sign * e.weight * slope;
                if slope != 0.0 {
                    kernels::add_outer(x.row(e.row as usize), &[slope], &mut grad[..d]);
                    bias += slope;
                }
            }
        }
        if let Some(grad) = grad.get_mut(d) {
            *grad = bias;
        }
        let n = self.n_penalised();
        kernels::axpy(self.task.l2, &w[..n], &mut grad[..n]);
        value + 0.5 * self.task.l2 * kernels::dot64(&w[..n], &w[..n])
    }

    /// The duality gap; with a free bias about what it is once the slopes add up to 0.
    fn gap(&self, w: &[f64], grad: &[f64]) -> f64 {
        let n = self.n_penalised();
        let free: f64 = (n..w.len()).map(|at| grad[at].abs() * (1.0 + w[at].abs())).sum();
        0.5 * kernels::dot64(&grad[..n], &grad[..n]) / self.task.l2 + 2.0 * free
    }

    /// The best length of a step: about the root of the slope along it, which is `start` at its beginning and does not fall. 0 if there is none.
    pub(super) fn search(
        &self,
        loss: &impl Smooth,
        examples: &[Example],
        [scores, along]: [&[f64]; 2],
        w: &[f64],
        direction: &[f64],
        start: f64,
    ) -> f64 {
        let n = self.n_penalised();
        let l2 = self.task.l2;
        let straight = l2 * kernels::dot64(&w[..n], &direction[..n]);
        let bend = l2 * kernels::dot64(&direction[..n], &direction[..n]);
        let slope_at = |t: f64| {
            let (mut slope, mut curvature) = (straight + t * bend, bend);
            let [mut at, mut m, mut slopes, mut curvatures] = [[0.0; BATCH]; 4];
            let each = examples.chunks(BATCH).zip(scores.chunks(BATCH).zip(along.chunks(BATCH)));
            for (start, (examples, (scores, along))) in (0..).step_by(BATCH).zip(each) {
                let n = examples.len();
                for (at, (score, along)) in at.iter_mut().zip(scores.iter().zip(along)) {
                    *at = score + t * along;
                }
                margins(examples, &at, &mut m);
                loss.slopes(start, &m[..n], &mut slopes[..n], &mut curvatures[..n]);
                for (l, (e, along)) in examples.iter().zip(along).enumerate() {
                    slope -= e.weight * e.sign * along * slopes[l];
                    curvature += e.weight * along * along * curvatures[l];
                }
            }
            (slope, curvature)
        };
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..SEARCH {
            let (slope, curvature) = slope_at(t);
            if slope.abs() <= FLAT * start.abs() {
                return t;
            }
            if slope < 0.0 {
                low = t;
            } else {
                high = t;
            }
            let next = t - slope / curvature;
            t = match next > low && next < high {
                true => next,
                // A step far too long becomes shorter fast.
                false if low == 0.0 => 0.1 * high,
                false if high.is_finite() => 0.5 * (low + high),
                false => 2.0 * t,
            };
        }
        // The value falls up to `low`; at 0 no length that was tried is known to make it smaller.
        low
    }
}

/// The curvature of each example's loss.
pub(super) fn curved(loss: &impl Smooth, examples: &[Example], scores: &[f64]) -> Vec<f64> {
    let mut curvatures = vec![0.0; examples.len()];
    let [mut m, mut slopes] = [[0.0; BATCH]; 2];
    let each = examples.chunks(BATCH).zip(scores.chunks(BATCH).zip(curvatures.chunks_mut(BATCH)));
    for (start, (examples, (scores, curvatures))) in (0..).step_by(BATCH).zip(each) {
        margins(examples, scores, &mut m);
        loss.slopes(start, &m[..examples.len()], &mut slopes[..examples.len()], curvatures);
    }
    curvatures
}

/// Margins of some examples.
fn margins(examples: &[Example], scores: &[f64], m: &mut [f64; BATCH]) {
    for (m, (e, score)) in m.iter_mut().zip(examples.iter().zip(scores)) {
        *m = e.sign * score;
    }
}

/// ⟨x, w⟩ with the bias, if there is one.
fn score(x: Row<'_>, w: &[f64], d: usize) -> f64 {
    kernels::dot(x, &w[..d]) + w.get(d).copied().unwrap_or(0.0)
}
