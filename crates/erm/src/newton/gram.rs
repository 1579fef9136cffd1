//! Σ hᵢ xᵢxᵢᵀ over some rows, with a bias as the last feature: entry by entry where rows are sparse, else many rows at once.

use lineal_linalg::dense::{self, GramBlock};
use lineal_linalg::{Matrix, Row};
use lineal_solver::Interrupt;
use rayon::prelude::*;

/// Rows of the sum that a thread takes at once.
const PART: usize = 8 * GramBlock::STEP;
/// Rows that have fewer entries than this part of all features are added entry by entry.
pub(super) const SPARSE: usize = 4;

/// Rows that wait to be added.
pub(super) struct Gram {
    n_inputs: usize,
    n_features: usize,
    rows: Vec<f32>,
    scale: Vec<f64>,
    block: GramBlock,
}

impl Gram {
    /// Adds the sum to the lower triangle of `out`.
    pub(super) fn sum(
        x: &Matrix,
        n_inputs: usize,
        rows: impl Iterator<Item = (u32, f64)>,
        interrupt: &Interrupt,
        out: &mut [f64],
    ) {
        let (n_features, block) = (x.n_cols(), GramBlock::new(n_inputs));
        let (rows_at_hand, scale) = (Vec::new(), Vec::new());
        let mut gram = Self { n_inputs, n_features, rows: rows_at_hand, scale, block };
        for (row, h) in rows.take_while(|_| !interrupt.is_stopped()) {
            gram.add(x.row(row as usize), h, out);
        }
        gram.flush(out);
    }

    /// About how many multiplications of a vector register a row takes.
    pub(super) fn work(x: &Matrix, n_inputs: usize) -> f64 {
        let (n, d) = (x.n_rows().max(1) as f64, n_inputs as f64);
        let filled = (x.nnz() as f64 / n + 1.0).min(d);
        // A scattered addition takes as long as four or so in a register.
        if filled * (SPARSE as f64) < d { 2.0 * filled * filled } else { 0.5 * d * d }
    }

    fn add(&mut self, x: Row<'_>, h: f64, out: &mut [f64]) {
        let n = self.n_inputs;
        let has_bias = n > self.n_features;
        if let Row::Sparse(row) = x
            && row.idx().len() * SPARSE < n
        {
            dense::add_outer_square(row, has_bias.then_some(self.n_features), h, n, out);
            return;
        }
        let at = self.rows.len();
        self.rows.resize(at + n, 0.0);
        let into = &mut self.rows[at..];
        x.for_each(|j, v| into[j] = v);
        if has_bias {
            into[self.n_features] = 1.0;
        }
        self.scale.push(h.sqrt());
        if self.scale.len() == GramBlock::ROWS {
            self.flush(out);
        }
    }

    /// Adds what waits: threads share out the rows of the sum, so that it has the same bits at any number of them.
    fn flush(&mut self, out: &mut [f64]) {
        let Self { n_inputs: n, block, .. } = self;
        block.fill(&self.rows, Some(&self.scale));
        let block = &*block;
        out.par_chunks_mut(PART * *n)
            .enumerate()
            .for_each(|(at, part)| block.add_to(at * PART, part));
        self.rows.clear();
        self.scale.clear();
    }
}
