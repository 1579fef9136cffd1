//! Many binary problems over the same rows, trained in one pass over the data.
//!
//! One-vs-all, one-vs-one and output codes are all a matrix of signs, and so is a multilabel problem: [`Columns`] tells
//! what each column asks of each row. Columns are taken in blocks of up to 16, whose weights for one feature lie side by side;
//! a block is a dual problem with one block of variables a row (`block`), solved by
//! [`lineal_solver::dual`], which leaves out rows that are calm in every column. Blocks are spread over threads and
//! share nothing, so that the number of threads changes no bit.

mod block;
mod compact_features;
mod curvature;
mod multipliers;
mod newton;
mod singleton_features;
mod tree;

pub use multipliers::{MOST_FEATURES, multipliers, multipliers_fit, multipliers_pay};
pub use newton::{newton, newton_fits, newton_pays, newton_pays_everywhere_curved};
pub use tree::{ColumnScale, NodePenalty, Outputs, TreeFit, TreeTask, cut, dual_tree};

use crate::dually::follow;
use crate::rounding::{Proof, total};
use block::{About, Block};
use compact_features::CompactFeatures;
use lineal_linalg::{Matrix, Scalar};
use lineal_loss::OfMargin;
use lineal_model::Bias;
use lineal_model::space::Columns;
use lineal_solver::{self as solver, Interrupt, Outcome, Pass};
use rayon::prelude::*;
use singleton_features::SingletonFeatures;
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
    /// How many neighbours train together, block by block, at most 16 each; where there are none, every 16. Columns that share few rows are better off
    /// in small blocks.
    pub side_by_side: &'a [usize],
}

impl ColumnTask<'_> {
    /// Rows that take part in any of the columns.
    fn rows(&self, columns: Range<usize>) -> Vec<u32> {
        let space = self.space.part(columns);
        let n_kinds = self.kinds.iter().max().map_or(0, |&kind| kind + 1);
        let mut signed = vec![0.0f32; space.len()];
        let mut takes_part = |kind: u32| {
            space.signed(kind, &mut signed);
            signed.iter().any(|&c| c != 0.0)
        };
        let takes_part: Vec<bool> = (0..n_kinds).map(&mut takes_part).collect();
        (0..)
            .zip(self.kinds)
            .filter(|&(_, &kind)| takes_part[kind as usize])
            .map(|(i, _)| i)
            .collect()
    }

    /// How much each row counts, in parts of all.
    fn shares(&self) -> Vec<f64> {
        let weight = |i: usize| self.weights.map_or(1.0, |w| f64::from(w[i]));
        let all = total((0..self.x.n_rows()).map(weight));
        (0..self.x.n_rows()).map(|i| weight(i) / all).collect()
    }

    /// Columns of each block.
    fn blocks(&self) -> Vec<Range<usize>> {
        if self.side_by_side.is_empty() {
            return by_sixteen(self.space.len());
        }
        let mut end = 0;
        let next = |&n: &usize| {
            end += n;
            end - n..end
        };
        self.side_by_side.iter().map(next).collect()
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub struct ColumnFit<F> {
    /// (features + bias) × columns.
    pub w: Vec<F>,
    /// What is proven of each column, not yet multiplied by `report`.
    pub certificates: Vec<Proof>,
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
    let scales = Scales::new(task);
    let blocks = task.blocks();
    assert_eq!(blocks.last().map_or(0, |b| b.end), task.space.len(), "every column in a block");
    let solve_block = |number: usize| {
        let see = |pass: usize, gap: f64, done: bool| {
            monitor(BlockPass { block: number, n_blocks: blocks.len(), pass, gap, done })
        };
        solve::<F, L>(task, loss, blocks[number].clone(), &scales, config, &see)
    };
    let (w, parts) = if blocks.len() == 1 {
        let (part, w) = solve_block(0);
        (w.alone(task), vec![part])
    } else {
        let all = All::new(task);
        let interrupt = Interrupt::current();
        let solve_and_put = |number: usize| {
            let (part, w) = interrupt.scope(|| solve_block(number));
            all.put(blocks[number].clone(), w);
            part
        };
        let parts: Vec<Part> = (0..blocks.len()).into_par_iter().map(solve_and_put).collect();
        (all.take(), parts)
    };
    ColumnFit {
        w,
        certificates: parts.iter().flat_map(|p| p.certificates.iter().copied()).collect(),
        passes: parts.iter().map(|p| p.outcome.passes).max().unwrap_or(0),
        converged: parts.iter().all(|p| p.outcome.converged),
    }
}

/// What is proven of each column at `w`, from the dual variables that the weights alone give.
pub fn certify<L: OfMargin<f64>>(task: &ColumnTask<'_>, loss: L, w: &[f64]) -> Vec<Proof> {
    let scales = Scales::<f64>::new(task);
    let of_block = |columns: &Range<usize>| match columns.len() {
        1 => certify_wide::<L, 1>(task, loss, columns, &scales, w),
        2..=4 => certify_wide::<L, 4>(task, loss, columns, &scales, w),
        5..=8 => certify_wide::<L, 8>(task, loss, columns, &scales, w),
        _ => certify_wide::<L, 16>(task, loss, columns, &scales, w),
    };
    let interrupt = Interrupt::current();
    let of_block = |columns: &Range<usize>| interrupt.scope(|| of_block(columns));
    by_sixteen(task.space.len()).par_iter().flat_map_iter(of_block).collect()
}

fn certify_wide<L: OfMargin<f64>, const T: usize>(
    task: &ColumnTask<'_>,
    loss: L,
    columns: &Range<usize>,
    scales: &Scales<f64>,
    w: &[f64],
) -> Vec<Proof> {
    let block = Block::<f64, L, T>::new(task, loss, columns.clone(), scales.about());
    let (n, width) = (task.space.len(), block.width());
    let mut own = vec![0.0; w.len() / n.max(1) * width];
    for (own, w) in own.chunks_exact_mut(width).zip(w.chunks_exact(n)) {
        own[..columns.len()].copy_from_slice(&w[columns.clone()]);
    }
    block.at_weights(&own)
}

/// What is proven of all columns together, each times what it counts.
pub fn sum(certificates: &[Proof], report: &[f64]) -> Proof {
    Proof::sum(certificates.iter().zip(report.iter().copied()))
}

/// Blocks of 16 columns, then what is left. Of 17 to 24 the first 12 are a block, so that two threads have about as much to do: on newsgroups, with 20, one thread then takes 0 to 17 % more CPU time than for all
/// of them in one walk over the rows. Smaller blocks cost more where rows are short (77 columns on banking77: 1.4 to 1.6 times as much with blocks of 8).
fn by_sixteen(n_columns: usize) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < n_columns {
        let n = match n_columns - at {
            left @ ..=16 => left,
            17..=24 => 12,
            _ => 16,
        };
        blocks.push(at..at + n);
        at += n;
    }
    blocks
}

/// What blocks know of the rows.
struct Scales<F> {
    scale: Vec<[F; 2]>,
    shares: Vec<f64>,
    singletons: SingletonFeatures,
    beta_sq: f64,
}

impl<F: Scalar> Scales<F> {
    fn new(task: &ColumnTask<'_>) -> Self {
        let n = task.x.n_rows();
        let norms: Vec<f64> = (0..n).map(|i| task.x.row(i).norm_sq()).collect();
        let mean = norms.iter().sum::<f64>() / n.max(1) as f64;
        let beta_sq = match task.bias {
            Bias::Free => follow(mean, n as f64 * task.l2),
            Bias::Penalised => 1.0,
            Bias::None => 0.0,
        };
        let shares = task.shares();
        let of = |(share, norm): (&f64, f64)| {
            [F::from_f64(share / task.l2), F::from_f64(norm + beta_sq)]
        };
        let scale = shares.iter().zip(norms).map(of).collect();
        Self { scale, shares, singletons: SingletonFeatures::new(task.x), beta_sq }
    }

    fn about(&self) -> About<'_, F> {
        let Self { scale, shares, singletons, beta_sq } = self;
        About { scale, shares, singletons, beta_sq: *beta_sq }
    }
}

/// What is known of a block once its weights are among the others'.
struct Part {
    certificates: Vec<Proof>,
    outcome: Outcome,
}

/// Looks on a block: its passes, its gap, whether it has ended.
type See<'s> = &'s dyn Fn(usize, f64, bool) -> ControlFlow<()>;

/// Picks the rows and the width of a block and trains it.
fn solve<F: Scalar, L: OfMargin<F> + OfMargin<f64>>(
    task: &ColumnTask<'_>,
    loss: L,
    columns: Range<usize>,
    scales: &Scales<F>,
    config: &solver::Dual,
    see: See<'_>,
) -> (Part, BlockWeights<F>) {
    let compact = CompactFeatures::new(task, columns.clone(), scales);
    let own = compact.as_ref().map(|f| ColumnTask { x: &f.x, kinds: &f.kinds, ..*task });
    let task = own.as_ref().unwrap_or(task);
    let about = compact.as_ref().map_or(scales.about(), |f| f.scales.about());
    let (part, mut w) = match columns.len() {
        1 => solve_wide(Block::<F, L, 1>::new(task, loss, columns, about), config, see),
        2..=4 => solve_wide(Block::<F, L, 4>::new(task, loss, columns, about), config, see),
        5..=8 => solve_wide(Block::<F, L, 8>::new(task, loss, columns, about), config, see),
        _ => solve_wide(Block::<F, L, 16>::new(task, loss, columns, about), config, see),
    };
    w.places = compact.map(|f| f.places);
    (part, w)
}

fn solve_wide<F: Scalar, L: OfMargin<F> + OfMargin<f64>, const T: usize>(
    mut block: Block<'_, F, L, T>,
    config: &solver::Dual,
    see: See<'_>,
) -> (Part, BlockWeights<F>) {
    let mut a = Aligned::zeros(block.n_dual());
    let mut w = Aligned::zeros(solver::DualBlocks::dim(&block));
    block.start(w.slice());
    let mut monitor = |pass: &Pass<'_, F>| {
        see(pass.pass, pass.gap.or(pass.gap_estimate).unwrap_or(f64::INFINITY), false)
    };
    let outcome = solver::dual(config, &mut block, a.slice(), w.slice(), &mut monitor);
    let _ = see(outcome.passes, outcome.gap.unwrap_or(f64::INFINITY), true);
    let part = Part { certificates: block.prove(a.slice(), w.slice()), outcome };
    (part, BlockWeights { w, width: block.width(), places: None })
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

/// The weights of a block.
struct BlockWeights<F> {
    w: Aligned<F>,
    /// Of a feature.
    width: usize,
    /// For each row of the weights the row of all weights, where these are not the same.
    places: Option<Vec<u32>>,
}

impl<F: Scalar> BlockWeights<F> {
    /// The weights of the only block, in the buffer that it was trained in.
    fn alone(self, task: &ColumnTask<'_>) -> Vec<F> {
        let n = task.space.len();
        if self.places.is_some() {
            let all = All::new(task);
            all.put(0..n, self);
            return all.take();
        }
        let Aligned { mut buffer, start, len } = self.w;
        let n_rows = len / self.width.max(1);
        if start > 0 || n < self.width {
            for row in 0..n_rows {
                let from = start + row * self.width;
                buffer.copy_within(from..from + n, row * n);
            }
        }
        buffer.truncate(n_rows * n);
        buffer.shrink_to_fit();
        buffer
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

    /// Takes in weights of some columns.
    fn put(&self, columns: Range<usize>, mut own: BlockWeights<F>) {
        let mut all = self.w.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, w) in own.w.slice().chunks_exact(own.width).enumerate() {
            let row = own.places.as_ref().map_or(at, |places| places[at] as usize);
            all[row * self.n_columns..][columns.clone()].copy_from_slice(&w[..columns.len()]);
        }
    }

    fn take(self) -> Vec<F> {
        self.w.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
