//! Passes over the rows: scores of weights, sums of rows, products with the Hessian. Weights are feature-major with `stride` numbers for a feature, the bias
//! last.

use super::row_loss::RowLoss;
use crate::shards::Shards;
use lineal_linalg::dense::{self, BLOCK};
use lineal_linalg::{Matrix, Row, Scalar, kernels};
use std::ops::Range;

/// Rows whose scores are at hand together.
const BATCH: usize = 32;

/// The rows, and how they are divided among threads.
pub(super) struct Pass<'a> {
    pub x: &'a Matrix,
    pub loss: &'a dyn RowLoss,
    /// Weights of a feature, and numbers of a row.
    pub stride: usize,
    pub shards32: Shards<f32>,
    pub shards64: Shards<f64>,
}

impl<'a> Pass<'a> {
    pub fn new(x: &'a Matrix, loss: &'a dyn RowLoss, n_inputs: usize) -> Self {
        let k = loss.n_outputs();
        let stride = match k {
            1 => 1,
            9..=16 => 16,
            _ => k.next_multiple_of(4),
        };
        let (n, dim) = (x.n_rows(), n_inputs * stride);
        let work = (x.nnz() + n) * stride;
        let (shards32, shards64) = (Shards::new(n, dim, work), Shards::new(n, dim, work));
        Self { x, loss, stride, shards32, shards64 }
    }

    fn bias<'w, F>(&self, w: &'w [F]) -> &'w [F] {
        &w[self.x.n_cols() * self.stride..]
    }

    /// Calls `visit` with those rows whose numbers in `of` (`stride` each) are not all 0. Dense rows come in blocks, of which at least two are such.
    fn for_blocks<F: Scalar>(
        &self,
        rows: Range<usize>,
        of: &[F],
        mut visit: impl FnMut(Range<usize>),
    ) {
        let is_dense = matches!(self.x, Matrix::Dense(_)) && self.stride > 1;
        let size = if is_dense { BLOCK } else { 1 };
        let numbers = |i: usize| &of[(i - rows.start) * self.stride..][..self.stride];
        for start in rows.clone().step_by(size) {
            let block = start..rows.end.min(start + size);
            let mut counted = block.clone().filter(|&i| numbers(i).iter().any(|&v| v != F::ZERO));
            match (counted.next(), counted.next()) {
                (None, _) => {}
                (Some(one), None) => visit(one..one + 1),
                _ => visit(block),
            }
        }
    }

    /// Whether the rows are dense and worth a block: their values.
    fn dense_rows(&self, rows: Range<usize>, into: &mut [&'a [f32]; BLOCK]) -> bool {
        let x = self.x;
        self.stride > 1
            && rows.zip(into).all(|(i, into)| match x.row(i) {
                Row::Dense(row) => {
                    *into = row;
                    true
                }
                Row::Sparse(_) => false,
            })
    }

    /// The scores of the rows of a block overwrite `out`.
    fn scores<F: Scalar>(&self, rows: Range<usize>, w: &[F], out: &mut [F]) {
        let (mut dense, n) = ([&[][..]; BLOCK], rows.len());
        if self.dense_rows(rows.clone(), &mut dense) {
            dense::block_scores(&dense[..n], w, out);
        } else {
            for (i, out) in rows.zip(out.chunks_exact_mut(self.stride)) {
                kernels::scores(self.x.row(i), w, out);
            }
        }
        for out in out.chunks_exact_mut(self.stride) {
            out.iter_mut().zip(self.bias(w)).for_each(|(score, &b)| *score += b);
        }
    }

    /// Adds Σ xᵢ gᵢᵀ of some rows to `out`.
    fn add<F: Scalar>(&self, rows: Range<usize>, g: &[F], out: &mut [F]) {
        let (start, at) = (rows.start, self.x.n_cols() * self.stride);
        self.for_blocks(rows, g, |rows| {
            let g = &g[(rows.start - start) * self.stride..(rows.end - start) * self.stride];
            let (mut dense, n) = ([&[][..]; BLOCK], rows.len());
            if self.dense_rows(rows.clone(), &mut dense) {
                dense::block_add(&dense[..n], g, &mut out[..at]);
            } else {
                for (i, g) in rows.zip(g.chunks_exact(self.stride)) {
                    kernels::add_outer(self.x.row(i), g, &mut out[..at]);
                }
            }
            for g in g.chunks_exact(self.stride) {
                out[at..].iter_mut().zip(g).for_each(|(out, &g)| *out += g);
            }
        });
    }

    /// Scores of all rows at `w`.
    pub fn all_scores(&self, w: &[f64], out: &mut [f64]) {
        let (stride, k) = (self.stride, self.loss.n_outputs());
        self.shards64.fill(out, k, &|shard, out| {
            let start = shard.start();
            let mut wide = vec![0.0; BLOCK * stride];
            for rows in shard.batches(BLOCK) {
                let own = &mut out[(rows.start - start) * k..(rows.end - start) * k];
                let wide = &mut wide[..rows.len() * stride];
                self.scores(rows, w, wide);
                let each = own.chunks_exact_mut(k).zip(wide.chunks_exact(stride));
                each.for_each(|(own, wide)| own.copy_from_slice(&wide[..k]));
            }
            0.0
        });
    }

    /// The mean loss at these scores; its gradient overwrites `grad`.
    pub fn gradient(&mut self, scores: &[f64], grad: &mut [f64]) -> f64 {
        let mut shards = std::mem::replace(&mut self.shards64, Shards::none());
        let (this, stride, k) = (&*self, self.stride, self.loss.n_outputs());
        let value = shards.accumulate(grad, &|shard, grad| {
            let mut slopes = vec![0.0; BATCH * stride];
            let mut value = 0.0;
            for rows in shard.batches(BATCH) {
                let scores = &scores[rows.start * k..rows.end * k];
                let slopes = &mut slopes[..rows.len() * stride];
                value += this.loss.slopes(rows.clone(), stride, scores, slopes);
                this.add(rows, slopes, grad);
            }
            value
        });
        // They come seldom, and are as large as weights for each shard.
        shards.forget();
        self.shards64 = shards;
        value
    }

    /// The loss's curvature at these scores.
    pub fn curve(&self, scores: &[f64], state: &mut [f32], diagonal: &mut [f32]) {
        let (stride, k) = (self.stride, self.loss.n_outputs());
        // One of two slices can be divided among shards; the other is divided alike by batches of its own.
        self.shards32.fill_two(state, diagonal, stride, &|shard, state, diagonal| {
            let start = shard.start();
            for rows in shard.batches(BATCH) {
                let own = (rows.start - start) * stride..(rows.end - start) * stride;
                let scores = &scores[rows.start * k..rows.end * k];
                let (state, diagonal) = (&mut state[own.clone()], &mut diagonal[own]);
                self.loss.curve(rows, stride, scores, state, diagonal);
            }
        });
    }

    /// `out` = Σ xᵢ (shareᵢ ∂²ℓᵢ Vᵀxᵢ)ᵀ, in single precision.
    pub fn product(&mut self, state: &[f32], diagonal: &[f32], v: &[f32], out: &mut [f32]) {
        let mut shards = std::mem::replace(&mut self.shards32, Shards::none());
        let (this, stride) = (&*self, self.stride);
        shards.accumulate(out, &|shard, out| {
            let mut scores = vec![0.0; BATCH * stride];
            for rows in shard.batches(BATCH) {
                let numbers = rows.start * stride..rows.end * stride;
                let (state, diagonal) = (&state[numbers.clone()], &diagonal[numbers]);
                let own = &mut scores[..state.len()];
                this.curved_scores(rows.clone(), diagonal, v, own);
                this.loss.products(rows.clone(), stride, state, own);
                this.add(rows, own, out);
            }
            0.0
        });
        self.shards32 = shards;
    }

    /// Scores of rows that have a curvature; others (outside of a margin) are not walked along unless they stand beside such rows, and their scores do not count.
    fn curved_scores(&self, rows: Range<usize>, diagonal: &[f32], v: &[f32], out: &mut [f32]) {
        let start = rows.start;
        out.fill(0.0);
        self.for_blocks(rows, diagonal, |rows| {
            let own = (rows.start - start) * self.stride..(rows.end - start) * self.stride;
            self.scores(rows, v, &mut out[own]);
        });
    }

    /// For each output the slope along a ray at `scores + t·along` with the step `t` of each output.
    pub fn along(&self, scores: &[f64], along: &[f64], t: &[f64]) -> Vec<f64> {
        let (stride, k) = (self.stride, self.loss.n_outputs());
        let parts = self.shards64.map(&|shard| {
            let (mut at, mut slopes) = (vec![0.0; BATCH * k], vec![0.0; BATCH * stride]);
            let mut sums = vec![0.0; k];
            for rows in shard.batches(BATCH) {
                let own = rows.start * k..rows.end * k;
                let (scores, along) = (&scores[own.clone()], &along[own]);
                let at = &mut at[..scores.len()];
                let each = scores.chunks_exact(k).zip(along.chunks_exact(k));
                for (at, (scores, along)) in at.chunks_exact_mut(k).zip(each) {
                    for (c, &t) in t.iter().enumerate() {
                        at[c] = scores[c] + t * along[c];
                    }
                }
                let slopes = &mut slopes[..rows.len() * stride];
                self.loss.slopes(rows, stride, at, slopes);
                let each = slopes.chunks_exact(stride).zip(along.chunks_exact(k));
                for (slopes, along) in each {
                    for (c, sum) in sums.iter_mut().enumerate() {
                        *sum += slopes[c] * along[c];
                    }
                }
            }
            sums
        });
        let mut sums = vec![0.0; k];
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        sums
    }
}
