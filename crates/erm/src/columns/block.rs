//! Up to `T` columns that are trained side by side.
//!
//! Shapes, row-major: weights `w` (n_features + bias) × T, dual variables `a` n_rows × T, `signed` n_kinds × T; columns beyond
//! the last are 0 everywhere. For column l and row i with c = signed(kind i, l):
//!
//! ```text
//! minimise   P_l = Σᵢ shareᵢ |c| ℓ(sign(c) ⟨w_l, xᵢ⟩) + (l2/2)‖w_l‖²,      w_l = Σᵢ (shareᵢ/l2) c aᵢ xᵢ
//! ```
//!
//! A step takes all T dual variables of a row: one walk along the row's entries for T scores, T exact steps in vector registers, and
//! one walk back if any of them moved. Hsieh et al. (ICML 2008) do the same for one column at a time, and read the row
//! as often as there are columns.

use crate::balance::even;
use crate::columns::ColumnTask;
use lineal_linalg::{Scalar, kernels};
use lineal_loss::{OfMargin, Steps};
use lineal_model::Bias;
use lineal_solver::{DualBlocks, DualStep, Soon};
use std::ops::Range;

pub(super) struct Block<'a, F, L, const T: usize> {
    task: &'a ColumnTask<'a>,
    loss: L,
    /// Rows that take part in any column.
    rows: Vec<u32>,
    /// For each kind, what the columns say about it.
    signed: Vec<[F; T]>,
    /// For each row of the data, shareᵢ/l2 and ‖xᵢ‖², with what the bias adds to it.
    scale: &'a [[F; 2]],
    beta_sq: f64,
    /// What a column counts in reports.
    report: [f64; T],
    /// Value and proven gap of each column, as of the last certificate.
    pub(super) certificates: [[f64; 2]; T],
}

impl<'a, F: Scalar, L: OfMargin<F>, const T: usize> Block<'a, F, L, T> {
    pub(super) fn new(
        task: &'a ColumnTask<'a>,
        loss: L,
        columns: Range<usize>,
        scale: &'a [[F; 2]],
        beta_sq: f64,
    ) -> Self {
        let space = task.space.part(columns.clone());
        let n_kinds = task.kinds.iter().max().map_or(0, |&kind| kind as usize + 1);
        let mut signed = vec![[F::ZERO; T]; n_kinds];
        for (kind, signed) in (0u32..).zip(&mut signed) {
            space.signed(kind, &mut signed[..columns.len()]);
        }
        let takes_part: Vec<bool> =
            signed.iter().map(|c| c.iter().any(|&c| c != F::ZERO)).collect();
        let rows = (0u32..)
            .zip(task.kinds)
            .filter(|&(i, &kind)| takes_part[kind as usize] && scale[i as usize][0] > F::ZERO)
            .map(|(i, _)| i)
            .collect();
        let mut report = [0.0; T];
        report[..columns.len()].copy_from_slice(&task.report[columns]);
        let certificates = [[0.0; 2]; T];
        Self { task, loss, rows, signed, scale, beta_sq, report, certificates }
    }

    /// How many dual variables there are.
    pub(super) fn n_dual(&self) -> usize {
        self.rows.len() * T
    }

    /// Where the bias lies in the weights; empty where there is none.
    fn bias_at(&self) -> Range<usize> {
        let at = self.task.x.n_cols() * T;
        if self.task.bias == Bias::None { at..at } else { at..at + T }
    }

    fn scores(&self, row: usize, w: &[F]) -> [F; T] {
        let mut scores = [F::ZERO; T];
        kernels::scores(self.task.x.row(row), w, &mut scores);
        for (score, &b) in scores.iter_mut().zip(&w[self.bias_at()]) {
            *score += b;
        }
        scores
    }

    fn signed(&self, row: usize) -> &[F; T] {
        &self.signed[self.task.kinds[row] as usize]
    }

    /// Factors that make the dual respect a free bias: for each column, of its yes and of its no rows.
    fn balance(&self, a: &[F]) -> [[f64; 2]; T] {
        let mut sums = [[0.0; 2]; T];
        if self.task.bias != Bias::Free {
            return [[1.0; 2]; T];
        }
        for (&row, a) in self.rows.iter().zip(a.chunks_exact(T)) {
            let rate = self.scale[row as usize][0];
            for (sum, (&a, &c)) in sums.iter_mut().zip(a.iter().zip(self.signed(row as usize))) {
                sum[usize::from(c < F::ZERO)] += (rate * c.abs() * a).to_f64();
            }
        }
        sums.map(even)
    }
}

impl<F: Scalar, L: OfMargin<F>, const T: usize> Block<'_, F, L, T> {
    /// Each column's objective at `w`.
    pub(super) fn primal(&self, w: &[F]) -> [f64; T] {
        self.primal_with(w, |row| self.share(row), |row| self.scores(row, w))
    }

    /// The same with sums, losses and shares in `f64`, whatever the weights are.
    pub(super) fn exact_primal(&self, w: &[F], exact: &[[f64; 2]]) -> [f64; T]
    where
        L: OfMargin<f64>,
    {
        let scores = |row| {
            let mut scores = [0.0f64; T];
            self.task.x.row(row).for_each(|j, x| {
                let weights = &w[j * T..(j + 1) * T];
                scores.iter_mut().zip(weights).for_each(|(s, w)| *s += f64::from(x) * w.to_f64());
            });
            scores.iter_mut().zip(&w[self.bias_at()]).for_each(|(s, b)| *s += b.to_f64());
            scores
        };
        self.primal_with(w, |row| exact[row][0] * self.task.l2, scores)
    }

    fn primal_with<G: Scalar>(
        &self,
        w: &[F],
        share: impl Fn(usize) -> f64,
        scores: impl Fn(usize) -> [G; T],
    ) -> [f64; T]
    where
        L: OfMargin<G>,
    {
        let at = self.bias_at();
        let n_penalised = if self.task.bias == Bias::Free { at.start } else { at.end };
        let mut value = norms::<F, T>(&w[..n_penalised]).map(|norm| 0.5 * self.task.l2 * norm);
        for &row in &self.rows {
            let (share, scores) = (share(row as usize), scores(row as usize));
            for (l, &c) in self.signed(row as usize).iter().enumerate() {
                let m = if c < F::ZERO { -scores[l] } else { scores[l] };
                value[l] += share * c.to_f64().abs() * self.loss.value_slope(m).0.to_f64();
            }
        }
        value
    }

    /// Each column's dual value at dual variables near `a` that respect a free bias; `v` becomes their weights, but for a free bias's.
    pub(super) fn bound(&self, a: &[F], v: &mut [F]) -> [f64; T] {
        let factors = self.balance(a);
        let at = self.bias_at();
        v.fill(F::ZERO);
        let mut value = [0.0f64; T];
        for (&row, a) in self.rows.iter().zip(a.chunks_exact(T)) {
            let rate = self.scale[row as usize][0];
            let share = self.share(row as usize);
            let mut g = [F::ZERO; T];
            for (l, &c) in self.signed(row as usize).iter().enumerate() {
                let a = a[l] * F::from_f64(factors[l][usize::from(c < F::ZERO)]);
                g[l] = rate * c * a;
                if g[l] != F::ZERO {
                    value[l] -= share * c.to_f64().abs() * self.loss.conjugate(a.to_f64());
                }
            }
            if g.iter().any(|&g| g != F::ZERO) {
                kernels::add_outer(self.task.x.row(row as usize), &g, v);
                if self.task.bias == Bias::Penalised {
                    v[at.clone()].iter_mut().zip(&g).for_each(|(b, &g)| *b += g);
                }
            }
        }
        let n_penalised = if self.task.bias == Bias::Free { at.start } else { at.end };
        for (value, norm) in value.iter_mut().zip(norms::<F, T>(&v[..n_penalised])) {
            *value -= 0.5 * self.task.l2 * norm;
        }
        value
    }

    /// The dual variables that weights alone give: the loss's slopes.
    pub(super) fn slopes(&self, w: &[F]) -> Vec<F> {
        let mut a = Vec::with_capacity(self.n_dual());
        for &row in &self.rows {
            let scores = self.scores(row as usize, w);
            a.extend(self.signed(row as usize).iter().zip(scores).map(|(&c, score)| {
                let m = if c < F::ZERO { -score } else { score };
                if c == F::ZERO { F::ZERO } else { self.loss.value_slope(m).1 }
            }));
        }
        a
    }

    fn share(&self, row: usize) -> f64 {
        self.scale[row][0].to_f64() * self.task.l2
    }
}

impl<F: Scalar, L: OfMargin<F>, const T: usize> DualBlocks<F> for Block<'_, F, L, T> {
    type Scratch = ();

    fn dim(&self) -> usize {
        self.bias_at().end
    }

    fn n_blocks(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    fn block(&self, i: usize) -> Range<usize> {
        i * T..(i + 1) * T
    }

    fn scratch(&self) {}

    #[inline]
    fn step(&self, i: usize, a: &mut [F], w: &mut [F], (): &mut ()) -> DualStep {
        let row = self.rows[i] as usize;
        let [rate, norm] = self.scale[row];
        let scores = self.scores(row, w);
        let signed = self.signed(row);
        let mut steps = Steps {
            m: scores,
            q: [F::ONE; T],
            a: [F::ZERO; T],
            to: [F::ZERO; T],
            gap: [F::ZERO; T],
        };
        steps.a.copy_from_slice(a);
        let (curvature, least) = (rate * norm, F::from_f32(1e-6));
        for l in 0..T {
            let c = signed[l];
            steps.m[l] = if c < F::ZERO { -scores[l] } else { scores[l] };
            steps.q[l] = (curvature * c.abs()).max(least);
        }
        self.loss.steps(&mut steps);
        let mut delta = [F::ZERO; T];
        let mut moved = F::ZERO;
        let mut gap = F::ZERO;
        for l in 0..T {
            let c = signed[l];
            delta[l] = rate * c * (steps.to[l] - steps.a[l]);
            moved += delta[l].abs();
            gap += c.abs() * steps.gap[l];
            a[l] = if c == F::ZERO { F::ZERO } else { steps.to[l] };
        }
        let moved = moved > F::ZERO;
        if moved {
            kernels::add_outer(self.task.x.row(row), &delta, w);
            let by = if self.task.bias == Bias::Free { F::from_f64(self.beta_sq) } else { F::ONE };
            for (b, &d) in w[self.bias_at()].iter_mut().zip(&delta) {
                *b += by * d;
            }
        }
        DualStep { gap: rate.to_f64() * self.task.l2 * gap.to_f64(), moved }
    }

    #[inline]
    fn prefetch(&self, i: usize, soon: Soon, a: &[F], w: &[F]) {
        let row = self.rows[i] as usize;
        match soon {
            Soon::Far => {
                self.task.x.prefetch_start(row);
                kernels::prefetch_at(self.scale, row);
                kernels::prefetch_at(self.task.kinds, row);
                kernels::prefetch_at(a, i * T);
            }
            Soon::Near => self.task.x.prefetch(row),
            Soon::Next => self.task.x.prefetch_weights(row, w, T),
        }
    }

    fn run(&self) -> usize {
        let x = self.task.x;
        let many = x.n_rows() > 4096;
        if many && x.nnz() < 32 * x.n_rows() { 8 } else { 1 }
    }

    fn end_pass(&mut self, a: &[F], w: &mut [F]) {
        if self.task.bias != Bias::Free {
            return;
        }
        let mut residual = [0.0f64; T];
        for (&row, a) in self.rows.iter().zip(a.chunks_exact(T)) {
            let rate = self.scale[row as usize][0];
            for (r, (&a, &c)) in residual.iter_mut().zip(a.iter().zip(self.signed(row as usize))) {
                *r += (rate * c * a).to_f64();
            }
        }
        for (b, r) in w[self.bias_at()].iter_mut().zip(residual) {
            *b += F::from_f64(self.beta_sq * r);
        }
    }

    fn certify(&mut self, a: &[F], w: &mut [F]) -> (f64, f64) {
        let dual = if self.task.bias == Bias::Free {
            let mut v = vec![F::ZERO; w.len()];
            self.bound(a, &mut v)
        } else {
            // The weights of these dual variables, without the rounding of many small steps.
            self.bound(a, w)
        };
        let primal = self.primal(w);
        let (mut value, mut gap) = (0.0, 0.0);
        for l in 0..T {
            self.certificates[l] = [primal[l], (primal[l] - dual[l]).max(0.0)];
            value += self.report[l] * primal[l];
            gap += self.report[l] * self.certificates[l][1];
        }
        (value, gap)
    }
}

/// ‖w_l‖² of each column.
fn norms<F: Scalar, const T: usize>(w: &[F]) -> [f64; T] {
    let mut norms = [0.0; T];
    for w in w.chunks_exact(T) {
        for l in 0..T {
            norms[l] += w[l].to_f64() * w[l].to_f64();
        }
    }
    norms
}
