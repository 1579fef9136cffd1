//! Up to `T` columns that are trained side by side.
//!
//! Shapes, row-major: weights `w` (n_features + bias) × width, dual variables `a` n_rows × T, `signed` n_kinds × T; columns beyond
//! the last are 0 everywhere. The width is the number of columns, or the next multiple of 4. For column l and row i with c = signed(kind i, l):
//!
//! ```text
//! minimise   P_l = Σᵢ shareᵢ |c| ℓ(mᵢ) + (l2/2)‖w_l‖²,      mᵢ = sign(c) ⟨w_l, xᵢ⟩,      w_l = Σᵢ (shareᵢ/l2) c aᵢ xᵢ
//! ```
//!
//! A step takes all dual variables of a row: one walk along the row's entries for their scores, exact steps in vector registers, and
//! one walk back if any of them moved. Hsieh et al. (ICML 2008) do the same for one column at a time, and read the row
//! as often as there are columns.
//!
//! **The certificate.** For any weights w and dual variables a that respect a free bias, P(w) − D(a) is
//!
//! ```text
//! Σᵢ shareᵢ |c| (ℓ(mᵢ) + ℓ*(−aᵢ) + aᵢ mᵢ) + (l2/2)‖w − w(a)‖²
//! ```
//!
//! Where a misses the constraint it is first moved to where the constraint is met, and then w(a) is computed afresh, in f64, and becomes w: only the rounding of w to `F` is left of the second
//! term. The first takes one more walk for the scores, in f64. All of it is proven in exact arithmetic (`rounding.rs`): the a that is meant is scaled on one side by the real quotient of two sums, and
//! what is computed differs from it by the part ε at most, which costs ε·(sensitivity of ℓ* + a|m|) in a row's term and ε·shareᵢ|c|aᵢ‖xᵢ‖/l2 in ‖w − w(a)‖. A score is off by γ‖xᵢ‖‖w‖, which costs at most that times
//! the loss's slope, a, and 1 for a jump of the slope.

use crate::balance::even;
use crate::columns::lone::Lone;
use crate::columns::{ColumnTask, sum};
use crate::rounding::{self, gamma, underflow};
use lineal_linalg::{Row, Scalar, kernels};
use lineal_loss::{OfMargin, Steps};
use lineal_model::Bias;
use lineal_solver::{DualBlocks, DualStep, Soon};
use std::ops::Range;

/// Weights of so many bytes stay in the second cache, and asking for them costs more than waiting.
const NEAR: usize = 1 << 19;

pub(super) struct Block<'a, F, L, const T: usize> {
    task: &'a ColumnTask<'a>,
    loss: L,
    /// Weights of a feature.
    width: usize,
    /// Rows that take part in any column.
    rows: Vec<u32>,
    /// For each kind, what the columns say about it.
    signed: Vec<[F; T]>,
    /// The same unrounded, for the certificate.
    signed64: Vec<[f64; T]>,
    /// For each row of the data, shareᵢ/l2 and ‖xᵢ‖², with what the bias adds to it.
    scale: &'a [[F; 2]],
    /// For each row of the data, its share.
    shares: &'a [f64],
    lone: &'a Lone,
    beta_sq: f64,
    /// What a column counts in reports.
    report: [F; T],
    /// Value and proven gap of each column, as of the last certificate.
    certificates: [[f64; 2]; T],
    n_columns: usize,
}

/// What a block knows of the rows of its task.
#[derive(Clone, Copy)]
pub(super) struct About<'a, F> {
    /// For each row shareᵢ/l2 and ‖xᵢ‖², with what the bias adds to it.
    pub(super) scale: &'a [[F; 2]],
    pub(super) shares: &'a [f64],
    pub(super) lone: &'a Lone,
    /// What a free bias adds to a row's norm.
    pub(super) beta_sq: f64,
}

impl<'a, F, L, const T: usize> Block<'a, F, L, T>
where
    F: Scalar,
    L: OfMargin<F> + OfMargin<f64>,
{
    pub(super) fn new(
        task: &'a ColumnTask<'a>,
        loss: L,
        columns: Range<usize>,
        about: About<'a, F>,
    ) -> Self {
        let About { scale, shares, lone, beta_sq } = about;
        let space = task.space.part(columns.clone());
        let n_kinds = task.kinds.iter().max().map_or(0, |&kind| kind as usize + 1);
        let mut signed = vec![[F::ZERO; T]; n_kinds];
        for (kind, signed) in (0u32..).zip(&mut signed) {
            space.signed(kind, &mut signed[..columns.len()]);
        }
        let mut signed64 = vec![[0.0; T]; n_kinds];
        for (kind, signed) in (0u32..).zip(&mut signed64) {
            space.signed(kind, &mut signed[..columns.len()]);
        }
        let mut rows = task.rows(columns.clone());
        rows.retain(|&row| scale[row as usize][0] > F::ZERO);
        let mut report = [F::ZERO; T];
        for (own, &report) in report.iter_mut().zip(&task.report[columns.clone()]) {
            *own = F::from_f64(report);
        }
        let width = if T == 1 { 1 } else { columns.len().next_multiple_of(4) };
        let (certificates, n_columns) = ([[0.0; 2]; T], columns.len());
        Self {
            task,
            loss,
            width,
            rows,
            signed,
            signed64,
            scale,
            shares,
            lone,
            beta_sq,
            report,
            certificates,
            n_columns,
        }
    }

    /// Value and proven gap of each column, as of the last certificate.
    pub(super) fn certificates(&self) -> Vec<[f64; 2]> {
        self.certificates[..self.n_columns].to_vec()
    }

    /// Weights of a feature.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How many dual variables there are.
    pub(super) fn n_dual(&self) -> usize {
        self.rows.len() * T
    }

    /// Where the bias lies in the weights; empty where there is none.
    fn bias_at(&self) -> Range<usize> {
        let at = self.task.x.n_cols() * self.width;
        if self.task.bias == Bias::None { at..at } else { at..at + self.width }
    }

    /// Sets a free bias to what is best without any feature: the first pass then learns what tells rows apart, not how many there are.
    pub(super) fn start(&self, w: &mut [F]) {
        if self.task.bias != Bias::Free {
            return;
        }
        let mut sides = [[0.0; 2]; T];
        for &row in &self.rows {
            let share = self.shares[row as usize];
            for (sides, c) in sides.iter_mut().zip(self.signed(row as usize)) {
                sides[usize::from(*c < F::ZERO)] += share * c.to_f64().abs();
            }
        }
        let slope = |m: f64| self.loss.value_slope(m).1;
        for (b, [yes, no]) in w[self.bias_at()].iter_mut().zip(sides) {
            let (mut low, mut high) = (-8.0, 8.0);
            for _ in 0..30 {
                let middle = 0.5 * (low + high);
                if yes * slope(middle) > no * slope(-middle) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            *b = if yes > 0.0 && no > 0.0 { F::from_f64(0.5 * (low + high)) } else { F::ZERO };
        }
    }

    /// The weights that the penalty covers.
    fn penalised<'w>(&self, w: &'w [F]) -> &'w [F] {
        let bias = self.bias_at();
        &w[..if self.task.bias == Bias::Free { bias.start } else { bias.end }]
    }

    fn signed(&self, row: usize) -> &[F; T] {
        &self.signed[self.task.kinds[row] as usize]
    }

    /// Scores at weights that are all written, in f64.
    fn scores64(&self, row: usize, w: &[F]) -> [f64; T] {
        let mut scores = [0.0; T];
        kernels::scores64(self.task.x.row(row), w, &mut scores[..self.width]);
        for (score, b) in scores.iter_mut().zip(&w[self.bias_at()]) {
            *score += b.to_f64();
        }
        scores
    }

    fn signed64(&self, row: usize) -> &[f64; T] {
        &self.signed64[self.task.kinds[row] as usize]
    }

    /// At least ‖xᵢ‖, with the penalised bias: the scale is rounded to `F`, and holds what a free bias adds besides.
    fn norm(&self, row: usize) -> f64 {
        (self.scale[row][1].to_f64() * (1.0 + 1e-6)).sqrt()
    }

    /// By which part sums over the rows may be off.
    fn off(&self) -> f64 {
        gamma(self.rows.len() + 8)
    }

    /// Factors that make the dual respect a free bias: for each column, of its yes and of its no rows.
    fn balance(&self, a: &[F]) -> [[f64; 2]; T] {
        let mut sums = [[0.0; 2]; T];
        if self.task.bias != Bias::Free {
            return [[1.0; 2]; T];
        }
        for (&row, a) in self.rows.iter().zip(a.chunks_exact(T)) {
            let share = self.shares[row as usize];
            for (sum, (a, c)) in sums.iter_mut().zip(a.iter().zip(self.signed64(row as usize))) {
                sum[0] += share * c.max(0.0) * a.to_f64();
                sum[1] += share * (-c).max(0.0) * a.to_f64();
            }
        }
        sums.map(|sums| even(sums, self.off()))
    }

    /// Each column's objective at `w`, and how far it is at most above the optimum, by the dual variables `a` times `factors`, of whose weights `w` is at most `apart` away.
    fn gaps(&self, a: &[F], factors: &[[f64; 2]; T], w: &[F], apart: [f64; T]) -> [[f64; 2]; T] {
        let (mut value, mut gap) = ([0.0; T], [0.0; T]);
        // What rounding can change in parts of itself, and in parts of the scores.
        let (mut mass, mut steep, mut flat) = ([0.0; T], [0.0; T], [0.0; T]);
        let mut longest = 0.0f64;
        for (&row, a) in self.rows.iter().zip(a.chunks_exact(T)) {
            let (row, share) = (row as usize, self.shares[row as usize]);
            let scores = self.scores64(row, w);
            let norm = self.norm(row);
            longest = longest.max(norm);
            for (l, &c) in self.signed64(row).iter().enumerate() {
                let (m, no) = if c < 0.0 { (-scores[l], 1) } else { (scores[l], 0) };
                let a = a[l].to_f64() * factors[l][no];
                let (loss, slope) = self.loss.value_slope(m);
                let weight = share * c.abs();
                value[l] += weight * loss;
                gap[l] += weight * (loss + OfMargin::<f64>::conjugate(&self.loss, a) + a * m);
                let sensitivity = OfMargin::<f64>::sensitivity(&self.loss, a, a);
                mass[l] += weight * (loss + sensitivity + a * m.abs());
                steep[l] += weight * norm * (slope + a + 1.0);
                flat[l] += weight * (slope + a + 1.0);
            }
        }
        let norms = self.norms(w);
        let bias = &w[self.bias_at()];
        let (by_row, by_score) = (6.0 * self.off(), gamma(self.task.x.n_cols() + 8));
        let n_weights = self.bias_at().end / self.width.max(1);
        std::array::from_fn(|l| {
            let penalty = 0.5 * self.task.l2 * norms[l];
            let value = value[l] + penalty;
            let norm = norms[l].sqrt() * (1.0 + gamma(n_weights));
            let constant = bias.get(l).map_or(0.0, |b| b.to_f64().abs()) + 1.0;
            let furthest = by_score * (longest * norm + constant);
            let scores = by_score * (norm * steep[l] + constant * flat[l])
                + 2.0 * furthest * furthest * flat[l];
            // Once for the gap, once for the value.
            let error = 2.0 * scores + by_row * (mass[l] + value) + gamma(n_weights) * penalty;
            let most = gap[l].max(0.0) + 0.5 * self.task.l2 * apart[l] * apart[l];
            let gap = rounding::gap(most, error, 0.0).unwrap_or(f64::INFINITY);
            [value, gap]
        })
    }

    /// ‖w_l‖² of each column, without a free bias.
    fn norms(&self, w: &[F]) -> [f64; T] {
        let mut norms = [0.0; T];
        kernels::squares(self.penalised(w), &mut norms[..self.width]);
        norms
    }

    /// Moves dual variables to where they respect a free bias, and the bias with them.
    fn centre(&self, a: &mut [F], w: &mut [F]) {
        let factors = self.balance(a);
        if factors.iter().flatten().all(|&factor| factor == 1.0) {
            return;
        }
        let factors = factors.map(|by| by.map(F::from_f64));
        let mut moved = [0.0; T];
        for (&row, a) in self.rows.iter().zip(a.chunks_exact_mut(T)) {
            let rate = self.scale[row as usize][0];
            for (l, &c) in self.signed(row as usize).iter().enumerate() {
                let to = a[l] * factors[l][usize::from(c < F::ZERO)];
                moved[l] += (rate * c * (to - a[l])).to_f64();
                a[l] = to;
            }
        }
        for (b, moved) in w[self.bias_at()].iter_mut().zip(moved) {
            *b += F::from_f64(self.beta_sq * moved);
        }
    }

    /// w(a) of the dual variables `a` times `factors`, in f64 and feature by feature, each to be seen by `f(at, weights)`. Returns for each column the most by which rounding took
    /// all of them away from where they belong.
    fn weights64(
        &self,
        a: &[F],
        factors: &[[f64; 2]; T],
        mut f: impl FnMut(usize, &[f64]),
    ) -> [f64; T] {
        let (width, x) = (self.width, self.task.x);
        let mut shared = vec![0.0; self.lone.first() * width];
        let mut bias = [0.0; T];
        let mut length = [0.0; T];
        for (&row, a) in self.rows.iter().zip(a.chunks_exact(T)) {
            let row = row as usize;
            let (share, norm) = (self.shares[row], self.norm(row));
            let mut g = [0.0; T];
            let mut any = 0.0;
            for (l, &c) in self.signed64(row).iter().enumerate() {
                g[l] = share / self.task.l2 * c * a[l].to_f64() * factors[l][usize::from(c < 0.0)];
                length[l] += norm * g[l].abs();
                bias[l] += g[l];
                any += g[l].abs();
            }
            if any == 0.0 {
                continue;
            }
            kernels::add_outer(self.lone.shared(x, row), &g[..width], &mut shared);
            self.lone.alone(x, row).for_each(|j, x| {
                let alone = g.map(|g| g * f64::from(x));
                f(j * width, &alone[..width]);
            });
        }
        shared.chunks_exact(width.max(1)).enumerate().for_each(|(j, w)| f(j * width, w));
        if self.task.bias == Bias::Penalised {
            f(self.bias_at().start, &bias[..width]);
        }
        let most = underflow(self.rows.len());
        length.map(|length| (4.0 * self.off() + gamma(self.rows.len() + 16)) * length + most)
    }

    /// Sets `w` to w(a), and returns how far each column's weights are at most from it.
    fn rewrite(&self, a: &[F], factors: &[[f64; 2]; T], w: &mut [F]) -> [f64; T] {
        let mut rounded = [0.0; T];
        // Features of rows that take no part any more would keep what they had.
        w[self.lone.first() * self.width..self.bias_at().start].fill(F::ZERO);
        let lost = self.weights64(a, factors, |at, exact| {
            for (l, (w, &exact)) in w[at..].iter_mut().zip(exact).enumerate() {
                *w = F::from_f64(exact);
                let off = w.to_f64() - exact;
                rounded[l] += off * off;
            }
        });
        self.apart(rounded, lost)
    }

    /// How far each column's weights are at most from w(a).
    fn distance(&self, a: &[F], factors: &[[f64; 2]; T], w: &[F]) -> [f64; T] {
        let mut square = [0.0; T];
        let mut own = self.penalised(w).to_vec();
        let lost = self.weights64(a, factors, |at, exact| {
            for (l, (w, &exact)) in own[at..].iter_mut().zip(exact).enumerate() {
                let off = w.to_f64() - exact;
                square[l] += off * off;
                *w = F::ZERO;
            }
        });
        // What no row with a dual variable has.
        let mut rest = [0.0; T];
        kernels::squares(&own, &mut rest[..self.width]);
        square.iter_mut().zip(rest).for_each(|(square, rest)| *square += rest);
        self.apart(square, lost)
    }

    fn apart(&self, square: [f64; T], lost: [f64; T]) -> [f64; T] {
        let off = gamma(self.bias_at().end / self.width.max(1) + 8);
        std::array::from_fn(|l| square[l].sqrt() * (1.0 + off) + lost[l])
    }

    /// A change of dual variables as one of weights: of the features that the row shares with others, and of the bias.
    #[inline]
    fn add(&self, shared: Row<'_>, delta: &[F; T], w: &mut [F]) {
        kernels::add_outer(shared, &delta[..self.width], w);
        let by = if self.task.bias == Bias::Free { F::from_f64(self.beta_sq) } else { F::ONE };
        for (b, &d) in w[self.bias_at()].iter_mut().zip(delta) {
            *b += by * d;
        }
    }

    /// Each column's objective at `w`, and how far it is at most above the optimum: with the dual variables that the weights alone give.
    pub(super) fn at_weights(&self, w: &[F]) -> [[f64; 2]; T] {
        let a = self.slopes(w);
        let factors = self.balance(&a);
        let apart = self.distance(&a, &factors, w);
        self.gaps(&a, &factors, w, apart)
    }

    /// The dual variables that weights alone give: the loss's slopes.
    fn slopes(&self, w: &[F]) -> Vec<F> {
        let mut a = Vec::with_capacity(self.n_dual());
        for &row in &self.rows {
            let scores = self.scores64(row as usize, w);
            a.extend(self.signed(row as usize).iter().zip(scores).map(|(&c, score)| {
                let m = if c < F::ZERO { -score } else { score };
                let slope = F::from_f64(self.loss.value_slope(m).1);
                if c == F::ZERO { F::ZERO } else { slope }
            }));
        }
        a
    }
}

impl<F, L, const T: usize> DualBlocks<F> for Block<'_, F, L, T>
where
    F: Scalar,
    L: OfMargin<F> + OfMargin<f64>,
{
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
        let signed = self.signed(row);
        let shared = self.lone.shared(self.task.x, row);
        let mut scores = [F::ZERO; T];
        kernels::scores(shared, w, &mut scores[..self.width]);
        for (score, &b) in scores.iter_mut().zip(&w[self.bias_at()]) {
            *score += b;
        }
        // What the features that no other row has add.
        let alone = rate * F::from_f32(self.lone.square(row));
        for l in 0..T {
            scores[l] += alone * signed[l] * a[l];
        }
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
            gap += self.report[l] * c.abs() * steps.gap[l];
            a[l] = if c == F::ZERO { F::ZERO } else { steps.to[l] };
        }
        let moved = moved > F::ZERO;
        if moved {
            self.add(shared, &delta, w);
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
                self.lone.prefetch(row);
            }
            Soon::Near => self.task.x.prefetch(row),
            Soon::Next if size_of_val(w) > NEAR => self.task.x.prefetch_weights(row, w, self.width),
            Soon::Next => {}
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

    /// The dual value, which needs no scores.
    fn estimate(&self, a: &[F], w: &[F]) -> Option<f64> {
        let mut value = self.norms(w).map(|norm| -0.5 * self.task.l2 * norm);
        for (&row, a) in self.rows.iter().zip(a.chunks_exact(T)) {
            let (row, share) = (row as usize, self.shares[row as usize]);
            let alone = f64::from(self.lone.square(row)) * 0.5 * share * share / self.task.l2;
            for (l, c) in self.signed(row).iter().enumerate() {
                let (a, c) = (a[l].to_f64(), c.to_f64().abs());
                let conjugate = OfMargin::<f64>::conjugate(&self.loss, a);
                value[l] -= share * c * conjugate + alone * c * c * a * a;
            }
        }
        let value: f64 = value.iter().zip(&self.report).map(|(v, r)| v * r.to_f64()).sum();
        (value > 0.0).then_some(value)
    }

    fn certify(&mut self, a: &mut [F], w: &mut [F]) -> (f64, f64) {
        self.centre(a, w);
        let factors = self.balance(a);
        let apart = self.rewrite(a, &factors, w);
        self.certificates = self.gaps(a, &factors, w, apart);
        let report = self.report.map(|r| r.to_f64());
        let [value, gap] = sum(&self.certificates, &report);
        (value, gap)
    }
}
