//! Many binary problems over the same rows, trained in one pass over the data.
//!
//! One-vs-all, one-vs-one and output codes are all a matrix of signs, and so is a multilabel problem: [`Columns`] tells
//! what each column asks of each row. Columns are taken in blocks of 16, 8, 4 or 1, whose weights for one feature lie side by side
//! in at most one cache line; a block is a dual problem with one block of variables a row (`block`), solved by
//! [`lineal_solver::dual`], which leaves out rows that are calm in every column. Blocks are spread over threads and
//! share nothing, so that the number of threads changes no bit.

mod block;
mod tree;

pub use tree::{ColumnScale, NodePenalty, Outputs, TreeFit, TreeTask, cut, dual_tree};

use block::Block;
use lineal_linalg::{Matrix, Scalar};
use lineal_loss::OfMargin;
use lineal_model::Bias;
use lineal_model::space::Columns;
use lineal_solver::{self as solver, Outcome, Pass};
use rayon::prelude::*;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

/// Binary problems over the rows of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct ColumnTask<'a> {
    /// Inputs.
    pub x: &'a Matrix,
    /// The kind of each row.
    pub kinds: &'a [u32],
    /// How much each row counts; 1 for `None`.
    pub weights: Option<&'a [f32]>,
    /// What the columns ask.
    pub space: Columns<'a>,
    /// The bias of each column.
    pub bias: Bias,
    /// λ over the mean of all rows: column l minimises Σᵢ shareᵢ |c| ℓ + (l2/2)‖w_l‖².
    pub l2: f64,
    /// What a column's value counts in sums.
    pub report: &'a [f64],
}

/// What came out.
#[derive(Clone, Debug)]
pub struct ColumnFit<F> {
    /// (features + bias) × columns.
    pub w: Vec<F>,
    /// For each column its objective, not yet multiplied by `report`, and a proven bound on its distance from the optimum.
    pub certificates: Vec<[f64; 2]>,
    /// The most passes that any block took.
    pub passes: usize,
    /// Whether every block met the tolerance.
    pub converged: bool,
}

/// A block's news, for whoever looks on.
#[derive(Clone, Copy, Debug)]
pub struct BlockPass {
    /// Which block.
    pub block: usize,
    /// How many there are.
    pub n_blocks: usize,
    /// Its passes so far.
    pub pass: usize,
    /// Its gap, proven or estimated.
    pub gap: f64,
    /// Whether it has ended.
    pub done: bool,
}

/// Looks on; called from several threads.
pub type OnBlock<'m> = dyn Fn(BlockPass) -> ControlFlow<()> + Sync + 'm;

/// Dual coordinate ascent on every column, to the tolerance of `config`.
///
/// # Panics
/// If `l2` is not above 0 or the lengths disagree.
pub fn dual<F: Scalar, L: OfMargin<F> + OfMargin<f64>>(
    task: &ColumnTask<'_>,
    loss: L,
    config: &solver::Dual,
    monitor: &OnBlock<'_>,
) -> ColumnFit<F> {
    assert!(task.l2 > 0.0, "the dual needs l2 > 0");
    assert_eq!(task.x.n_rows(), task.kinds.len(), "as many kinds as rows");
    assert_eq!(task.space.len(), task.report.len(), "a factor for each column");
    let (exact, _) = scale::<f64>(task);
    let (scale, beta_sq) = scale::<F>(task);
    let blocks = blocks(task.space.len());
    let all = All::new(task);
    let parts: Vec<Part> = blocks
        .par_iter()
        .enumerate()
        .map(|(number, columns)| {
            let see = |pass: usize, gap: f64, done: bool| {
                monitor(BlockPass { block: number, n_blocks: blocks.len(), pass, gap, done })
            };
            let run = Run {
                task,
                loss,
                columns: columns.clone(),
                scale: &scale,
                exact: &exact,
                beta_sq,
                config,
            };
            match columns.len() {
                1 => solve::<F, L, 1>(run, &all, &see),
                2..=4 => solve::<F, L, 4>(run, &all, &see),
                5..=8 => solve::<F, L, 8>(run, &all, &see),
                _ => solve::<F, L, 16>(run, &all, &see),
            }
        })
        .collect();
    ColumnFit {
        w: all.take(),
        certificates: parts.iter().flat_map(|p| p.certificates.iter().copied()).collect(),
        passes: parts.iter().map(|p| p.outcome.passes).max().unwrap_or(0),
        converged: parts.iter().all(|p| p.outcome.converged),
    }
}

/// Each column's objective at `w`, and a proven bound on its distance from the optimum: from `bounds`, lower bounds on the optima, or where
/// there are none from the dual variables that the weights alone give.
pub fn certify<L: OfMargin<f64>>(
    task: &ColumnTask<'_>,
    loss: L,
    w: &[f64],
    bounds: Option<&[f64]>,
) -> Vec<[f64; 2]> {
    const T: usize = 16;
    let (scale, beta_sq) = scale::<f64>(task);
    let n = task.space.len();
    let of_block = |columns: &Range<usize>| -> Vec<[f64; 2]> {
        let block = Block::<f64, L, T>::new(task, loss, columns.clone(), &scale, beta_sq);
        let mut own = vec![0.0; w.len() / n.max(1) * T];
        for (own, w) in own.chunks_exact_mut(T).zip(w.chunks_exact(n)) {
            own[..columns.len()].copy_from_slice(&w[columns.clone()]);
        }
        let primal = block.primal(&own);
        let from_slopes = match bounds {
            Some(_) => [0.0; T],
            None => block.bound(&block.slopes(&own), &mut vec![0.0; own.len()]),
        };
        let bound = |l: usize| bounds.map_or(from_slopes[l], |bounds| bounds[columns.start + l]);
        (0..columns.len()).map(|l| [primal[l], (primal[l] - bound(l)).max(0.0)]).collect()
    };
    blocks(n).par_iter().flat_map_iter(of_block).collect()
}

/// Columns of each block: 16 each, then what is left.
fn blocks(n_columns: usize) -> Vec<Range<usize>> {
    (0..n_columns).step_by(16).map(|at| at..(at + 16).min(n_columns)).collect()
}

/// For each row its share over l2 and its squared norm with the bias's; and what a free bias adds to it.
fn scale<F: Scalar>(task: &ColumnTask<'_>) -> (Vec<[F; 2]>, f64) {
    let n = task.x.n_rows();
    let weight = |i: usize| task.weights.map_or(1.0, |w| f64::from(w[i]));
    let total: f64 = (0..n).map(weight).sum();
    let norms: Vec<f64> = (0..n).map(|i| task.x.row(i).norm_sq()).collect();
    let mean = norms.iter().sum::<f64>() / n.max(1) as f64;
    let beta_sq = match task.bias {
        Bias::Free if mean > 0.0 => mean,
        Bias::Free | Bias::Penalised => 1.0,
        Bias::None => 0.0,
    };
    let of = |i: usize| {
        let rate = weight(i) / (total * task.l2);
        [F::from_f64(rate), F::from_f64(norms[i] + beta_sq)]
    };
    ((0..n).map(of).collect(), beta_sq)
}

/// What is known of a block once its weights are among the others'.
struct Part {
    certificates: Vec<[f64; 2]>,
    outcome: Outcome,
}

struct Run<'a, F, L> {
    task: &'a ColumnTask<'a>,
    loss: L,
    columns: Range<usize>,
    scale: &'a [[F; 2]],
    exact: &'a [[f64; 2]],
    beta_sq: f64,
    config: &'a solver::Dual,
}

fn solve<F: Scalar, L: OfMargin<F> + OfMargin<f64>, const T: usize>(
    run: Run<'_, F, L>,
    all: &All<F>,
    see: &dyn Fn(usize, f64, bool) -> ControlFlow<()>,
) -> Part {
    let Run { task, loss, columns, scale, exact, beta_sq, config } = run;
    let mut block = Block::<F, L, T>::new(task, loss, columns.clone(), scale, beta_sq);
    let mut a = Aligned::zeros(block.n_dual());
    let mut w = Aligned::zeros(solver::DualBlocks::dim(&block));
    let mut monitor = |pass: &Pass<'_, F>| {
        see(pass.pass, pass.gap.or(pass.gap_estimate).unwrap_or(f64::INFINITY), false)
    };
    let outcome = solver::dual(config, &mut block, a.slice(), w.slice(), &mut monitor);
    // What is reported is the objective of the weights as they are, in f64.
    let primal = block.exact_primal(w.slice(), exact);
    let certificate = |l: usize| {
        let [value, gap] = block.certificates[l];
        [primal[l], (primal[l] - (value - gap)).max(0.0)]
    };
    let certificates = (0..columns.len()).map(certificate).collect();
    all.put(columns, w.slice(), T);
    let _ = see(outcome.passes, outcome.gap.unwrap_or(f64::INFINITY), true);
    Part { certificates, outcome }
}

/// A buffer that starts at a cache line: 16 weights of a feature are then one line, not two.
struct Aligned<F> {
    buffer: Vec<F>,
    start: usize,
    len: usize,
}

impl<F: Scalar> Aligned<F> {
    fn zeros(len: usize) -> Self {
        const LINE: usize = 64;
        let spare = LINE / size_of::<F>();
        let buffer = vec![F::ZERO; len + spare];
        let start = buffer.as_ptr().align_offset(LINE).min(spare);
        Self { buffer, start, len }
    }

    fn slice(&mut self) -> &mut [F] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}

/// The weights of all columns, filled in as blocks end so that none has to be kept.
struct All<F> {
    w: Mutex<Vec<F>>,
    n_columns: usize,
}

impl<F: Scalar> All<F> {
    fn new(task: &ColumnTask<'_>) -> Self {
        let n_columns = task.space.len();
        let n_rows = task.x.n_cols() + usize::from(task.bias != Bias::None);
        Self { w: Mutex::new(vec![F::ZERO; n_rows * n_columns]), n_columns }
    }

    /// Takes in weights of some columns, `width` a feature.
    fn put(&self, columns: Range<usize>, w: &[F], width: usize) {
        let mut all = self.w.lock().unwrap_or_else(PoisonError::into_inner);
        for (all, w) in all.chunks_exact_mut(self.n_columns).zip(w.chunks_exact(width)) {
            all[columns.clone()].copy_from_slice(&w[..columns.len()]);
        }
    }

    fn take(self) -> Vec<F> {
        self.w.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
