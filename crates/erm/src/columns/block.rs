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
//! **The gap of the run** needs no second vector of weights: where w = w(a) and a respects a free bias, P − D is
//! Σᵢ shareᵢ |c| (ℓ(mᵢ) + ℓ*(−aᵢ) + aᵢ mᵢ), one more walk for the scores. Where a misses the constraint, a and w are first moved to where it is
//! met. w is w(a) up to the rounding of its steps, which enters squared.
//!
//! **What is proven** in the end ([`Block::prove`]) is, for any weights w and dual variables a that respect a free bias,
//!
//! ```text
//! P(w) − D(a) = Σᵢ shareᵢ |c| (ℓ(mᵢ) + ℓ*(−aᵢ) + aᵢ mᵢ) + (l2/2)‖w − w(a)‖²
//! ```
//!
//! with w(a) computed afresh in f64 and every rounding bounded outward (`rounding.rs`): the a that is meant is scaled on one side by the real quotient of two sums, and
//! what is computed differs from it by the part ε at most, which costs ε·(sensitivity of ℓ* + a|m|) in a row's term and ε·shareᵢ|c|aᵢ‖xᵢ‖/l2 in ‖w − w(a)‖. A score is off by γ‖xᵢ‖‖w‖, which costs at most that times
//! the loss's slope, a, and 1 for a jump of the slope.

use crate::balance::even;
use crate::columns::ColumnTask;
use crate::columns::singleton_features::SingletonFeatures;
use crate::rounding::{Compensated, Proof, compensated, gamma, underflow};
use crate::rows::NEAR;
use lineal_linalg::{Row, Scalar, kernels};
use lineal_loss::{OfMargin, Steps};
use lineal_model::Bias;
use lineal_solver::{DualBlocks, DualStep, Interrupt, Soon};
use std::ops::Range;

pub(super) struct Block<'a, F, L, const T: usize> {
    task: &'a ColumnTask<'a>,
    loss: L,
    /// Weights of a feature.
    width: usize,
    /// Rows that take part in any column.
    rows: Vec<u32>,
    /// Rows that would, if their shares were not 0 in `F`.
    light: Vec<u32>,
    /// For each kind, what the columns say about it.
    signed: Vec<[F; T]>,
    /// For each row of the data, shareᵢ/l2 and ‖xᵢ‖², with what the bias adds to it.
    scale: &'a [[F; 2]],
    /// For each row of the data, its share.
    shares: &'a [f64],
    singletons: &'a SingletonFeatures,
    beta_sq: f64,
    /// What a column counts in reports.
    report: [F; T],
    columns: Range<usize>,
    interrupt: Interrupt,
}

/// What a block knows of the rows of its task.
#[derive(Clone, Copy)]
pub(super) struct About<'a, F> {
    /// For each row shareᵢ/l2 and ‖xᵢ‖², with what the bias adds to it.
    pub(super) scale: &'a [[F; 2]],
    pub(super) shares: &'a [f64],
    pub(super) singletons: &'a SingletonFeatures,
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
        let About { scale, shares, singletons, beta_sq } = about;
        let space = task.space.part(columns.clone());
        let n_kinds = task.kinds.iter().max().map_or(0, |&kind| kind as usize + 1);
        let mut signed = vec![[F::ZERO; T]; n_kinds];
        for (kind, signed) in (0u32..).zip(&mut signed) {
            space.signed(kind, &mut signed[..columns.len()]);
        }
        let (rows, mut light): (Vec<u32>, Vec<u32>) = task
            .rows(columns.clone())
            .into_iter()
            .partition(|&row| scale[row as usize][0] > F::ZERO);
        light.retain(|&row| shares[row as usize] > 0.0);
        let interrupt = Interrupt::current();
        let mut report = [F::ZERO; T];
        for (own, &report) in report.iter_mut().zip(&task.report[columns.clone()]) {
            *own = F::from_f64(report);
        }
        // A multiple of 8 takes no more instructions than one of 4, but more memory: for weights that stay near.
        let near = task.x.n_cols() * T * size_of::<F>() <= NEAR / 2;
        let width = match (T, columns.len()) {
            (1, _) => 1,
            (_, 9..=16) if near => 16,
            (_, n) => n.next_multiple_of(4),
        };
        Self {
            task,
            loss,
            width,
            rows,
            light,
            signed,
            scale,
            shares,
            singletons,
            beta_sq,
            report,
            columns,
            interrupt,
        }
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

    /// The rows that have dual variables, in their order.
    pub(super) fn all_rows(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().copied()
    }

    /// The rows that take part; none any more once the run is interrupted.
    fn rows(&self) -> impl Iterator<Item = &u32> {
        self.rows.iter().take_while(|_| !self.interrupt.is_stopped())
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

    /// Factors that make the dual respect a free bias: for each column, of its yes and of its no rows.
    fn balance(&self, a: &[F]) -> [[f64; 2]; T] {
        let mut sums = [[0.0; 2]; T];
        if self.task.bias != Bias::Free {
            return [[1.0; 2]; T];
        }
        for (&row, a) in self.rows.iter().zip(a.chunks_exact(T)) {
            let share = self.shares[row as usize];
            for (sum, (a, c)) in sums.iter_mut().zip(a.iter().zip(self.signed(row as usize))) {
                let (yes, no) = (c.max(F::ZERO).to_f64(), (-*c).max(F::ZERO).to_f64());
                sum[0] += share * yes * a.to_f64();
                sum[1] += share * no * a.to_f64();
            }
        }
        sums.map(|sums| even(sums, 0.0))
    }

    /// Each column's objective at `w`, and how far it is at most above the optimum: with dual variables near `a` that respect a free bias and
    /// have the weights `w`.
    fn gaps(&self, a: &[F], w: &[F]) -> [[f64; 2]; T] {
        let factors = self.balance(a);
        let (mut value, mut gap) = ([0.0; T], [0.0; T]);
        for (&row, a) in self.rows().zip(a.chunks_exact(T)) {
            let (row, share) = (row as usize, self.shares[row as usize]);
            let scores = self.scores64(row, w);
            let [mut m, mut dual] = [[0.0; T]; 2];
            let signed = self.signed(row);
            for (l, &c) in signed.iter().enumerate() {
                let no = usize::from(c < F::ZERO);
                m[l] = if no == 1 { -scores[l] } else { scores[l] };
                dual[l] = a[l].to_f64() * factors[l][no];
            }
            let terms = self.loss.terms(&m, &dual);
            for (l, &c) in signed.iter().enumerate() {
                let weight = share * c.to_f64().abs();
                value[l] += weight * terms.value[l];
                gap[l] += weight * (terms.value[l] + terms.conjugate[l] + dual[l] * m[l]);
            }
        }
        let norms = self.norms(w);
        std::array::from_fn(|l| [value[l] + 0.5 * self.task.l2 * norms[l], gap[l].max(0.0)])
    }

    /// ‖w_l‖² of each column, without a free bias.
    fn norms(&self, w: &[F]) -> [f64; T] {
        let mut norms = [0.0; T];
        kernels::squares(self.penalised(w), &mut norms[..self.width]);
        norms
    }

    /// Moves dual variables and weights to where they respect a free bias.
    fn centre(&self, a: &mut [F], w: &mut [F]) {
        let factors = self.balance(a);
        if factors.iter().flatten().all(|&factor| factor == 1.0) {
            return;
        }
        let factors = factors.map(|by| by.map(F::from_f64));
        for (&row, a) in self.rows().zip(a.chunks_exact_mut(T)) {
            let row = row as usize;
            let rate = self.scale[row][0];
            let mut delta = [F::ZERO; T];
            let mut moved = F::ZERO;
            for (l, &c) in self.signed(row).iter().enumerate() {
                let to = a[l] * factors[l][usize::from(c < F::ZERO)];
                delta[l] = rate * c * (to - a[l]);
                moved += delta[l].abs();
                a[l] = to;
            }
            if moved > F::ZERO {
                self.add(self.singletons.shared(self.task.x, row), &delta, w);
            }
        }
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

    /// Writes the weights of features that occur in one row only.
    fn write_singletons(&self, a: &[F], w: &mut [F]) {
        if !self.singletons.any() {
            return;
        }
        for (&row, a) in self.rows().zip(a.chunks_exact(T)) {
            let row = row as usize;
            let rate = self.scale[row][0];
            let signed = self.signed(row);
            self.singletons.alone(self.task.x, row).for_each(|j, x| {
                let w = &mut w[j * self.width..(j + 1) * self.width];
                for (w, (&a, &c)) in w.iter_mut().zip(a.iter().zip(signed)) {
                    *w = rate * c * a * F::from_f32(x);
                }
            });
        }
    }

    /// What is proven of each column at `w`, with the dual variables that the weights alone give.
    pub(super) fn at_weights(&self, w: &[F]) -> Vec<Proof> {
        self.prove(&self.slopes(w), w)
    }

    /// What is proven of each column at `w`, by dual variables near `a`.
    pub(super) fn prove(&self, a: &[F], w: &[F]) -> Vec<Proof> {
        let space = self.task.space.part(self.columns.clone());
        let mut signed = vec![[0.0; T]; self.signed.len()];
        for (kind, signed) in (0u32..).zip(&mut signed) {
            space.signed(kind, &mut signed[..self.columns.len()]);
        }
        let balanced = Balanced { a, signed: &signed, factors: [[1.0; 2]; T], error: gamma(4) };
        let balanced = self.balanced(balanced);
        let apart = self.distance(&balanced, w);
        let proofs = self.proofs(&balanced, w, apart);
        proofs[..self.columns.len()].to_vec()
    }

    /// Factors that make the dual respect a free bias in exact arithmetic.
    fn balanced<'b>(&self, given: Balanced<'b, F, T>) -> Balanced<'b, F, T> {
        if self.task.bias != Bias::Free {
            return given;
        }
        let off = gamma(4) + compensated(self.rows.len());
        let mut sums = [[Compensated::default(); 2]; T];
        for (&row, a) in self.rows().zip(given.a.chunks_exact(T)) {
            let share = self.shares[row as usize];
            let signed = &given.signed[self.task.kinds[row as usize] as usize];
            for (sum, (a, c)) in sums.iter_mut().zip(a.iter().zip(signed)) {
                let a = self.inside(*a);
                sum[0].add(share * c.max(0.0) * a);
                sum[1].add(share * (-c).max(0.0) * a);
            }
        }
        let factors = sums.map(|sums| even(sums.map(Compensated::total), off));
        Balanced { factors, error: 4.0 * off, ..given }
    }

    /// A dual variable, moved into the domain.
    fn inside(&self, a: F) -> f64 {
        a.to_f64().max(0.0).min(OfMargin::<f64>::largest(&self.loss))
    }

    /// At least ‖xᵢ‖, with a penalised bias.
    fn norm(&self, row: usize) -> f64 {
        let bias = f64::from(u8::from(self.task.bias == Bias::Penalised));
        let row = self.task.x.row(row);
        (row.norm_sq() + bias).sqrt() * (1.0 + gamma(row.nnz()))
    }

    /// ‖w − w(a)‖ of each column: as computed, and at most.
    fn distance(&self, of: &Balanced<'_, F, T>, w: &[F]) -> [[f64; 2]; T] {
        let (width, x, first) = (self.width, self.task.x, self.singletons.first());
        let mut shared = vec![0.0; first * width];
        let mut seen = vec![false; x.n_cols() - first];
        let (mut bias, mut length, mut square) = ([0.0; T], [0.0; T], [0.0; T]);
        let mut add = |at: usize, exact: &[f64]| {
            for (square, (w, exact)) in square.iter_mut().zip(w[at..].iter().zip(exact)) {
                let off = w.to_f64() - exact;
                *square += off * off;
            }
        };
        for (&row, a) in self.rows().zip(of.a.chunks_exact(T)) {
            let row = row as usize;
            let (share, norm) = (self.shares[row], self.norm(row));
            let mut g = [0.0; T];
            for (l, &c) in of.signed[self.task.kinds[row] as usize].iter().enumerate() {
                let a = self.inside(a[l]) * of.factors[l][usize::from(c < 0.0)];
                g[l] = share / self.task.l2 * c * a;
                length[l] += norm * g[l].abs();
                bias[l] += g[l];
            }
            if g.iter().any(|&g| g != 0.0) {
                kernels::add_outer(self.singletons.shared(x, row), &g[..width], &mut shared);
            }
            self.singletons.alone(x, row).for_each(|j, x| {
                seen[j - first] = true;
                add(j * width, &g.map(|g| g * f64::from(x))[..width]);
            });
        }
        shared.chunks_exact(width.max(1)).enumerate().for_each(|(j, w)| add(j * width, w));
        for (j, _) in (first..).zip(&seen).filter(|(_, seen)| !**seen) {
            add(j * width, &[0.0; T][..width]);
        }
        if self.task.bias == Bias::Penalised {
            add(self.bias_at().start, &bias[..width]);
        }
        let n = self.rows.len();
        let lost = of.error + gamma(n + 16);
        let wide = 1.0 + gamma(self.bias_at().end / width.max(1) + 8);
        std::array::from_fn(|l| {
            let apart = square[l].sqrt();
            [apart, apart * wide + lost * length[l] + underflow(n)]
        })
    }

    /// What is proven of each column: of weights that are so far apart from those of the dual variables.
    fn proofs(&self, of: &Balanced<'_, F, T>, w: &[F], apart: [[f64; 2]; T]) -> [Proof; T] {
        let (mut value, mut gap) = ([0.0; T], [0.0; T]);
        // What rounding can change, in parts of: the terms, the dual variables, the scores by ‖w‖ and by a bias.
        let (mut terms, mut moved) = ([0.0; T], [0.0; T]);
        let (mut steep, mut flat, mut curved) = ([0.0; T], [0.0; T], [0.0; T]);
        let [mut longest, mut most] = [0.0f64; 2];
        let zeros = [F::ZERO; T];
        let light = self.light.iter().map(|row| (row, zeros.as_slice()));
        for (&row, a) in self.rows().zip(of.a.chunks_exact(T)).chain(light) {
            let row = row as usize;
            let share = self.shares[row];
            let scores = self.scores64(row, w);
            let by_score = gamma(self.task.x.row(row).nnz() + 8);
            let norm = by_score * self.norm(row);
            (longest, most) = (longest.max(norm), most.max(by_score));
            let signed = &of.signed[self.task.kinds[row] as usize];
            let [mut margins, mut duals] = [[0.0; T]; 2];
            for (l, &c) in signed.iter().enumerate() {
                let no = usize::from(c < 0.0);
                margins[l] = if no == 1 { -scores[l] } else { scores[l] };
                duals[l] = self.inside(a[l]) * of.factors[l][no];
            }
            let all = self.loss.terms(&margins, &duals);
            for (l, &c) in signed.iter().enumerate() {
                let (m, a) = (margins[l], duals[l]);
                let (loss, slope, conjugate) = (all.value[l], all.slope[l], all.conjugate[l]);
                let weight = share * c.abs();
                value[l] += weight * loss;
                gap[l] += weight * (loss + conjugate + a * m);
                terms[l] += weight * (loss + conjugate.abs() + a * m.abs());
                let sensitivity = OfMargin::<f64>::sensitivity(&self.loss, a, a);
                moved[l] += weight * (sensitivity + a * m.abs());
                let slopes = weight * (slope + a + 1.0);
                steep[l] += norm * slopes;
                flat[l] += by_score * slopes;
                curved[l] += slopes;
            }
        }
        let norms = self.norms(w);
        let bias = &w[self.bias_at()];
        let by_row = 2.0 * gamma(self.rows.len() + self.light.len() + 8);
        let n_weights = self.bias_at().end / self.width.max(1);
        std::array::from_fn(|l| {
            let penalty = 0.5 * self.task.l2 * norms[l];
            let value = value[l] + penalty;
            let norm = norms[l].sqrt() * (1.0 + gamma(n_weights));
            let constant = bias.get(l).map_or(0.0, |b| b.to_f64().abs()) + 1.0;
            let furthest = longest * norm + most * constant;
            let by_scores =
                norm * steep[l] + constant * flat[l] + 2.0 * furthest * furthest * curved[l];
            // Once for the gap, once for the value.
            let error = 2.0 * by_scores
                + by_row * (terms[l] + value)
                + 2.0 * of.error * moved[l]
                + gamma(n_weights + 8) * penalty;
            let [near, far] = apart[l].map(|apart| 0.5 * self.task.l2 * apart * apart);
            let gap = gap[l].max(0.0);
            let proven = (gap + far + error) * (1.0 + gamma(8));
            match proven.is_finite() && value.is_finite() {
                true => Proof { objective: value, gap: proven, rounding: proven - (gap + near) },
                false => Proof::nothing(value),
            }
        })
    }

    /// The dual variables that weights alone give: the loss's slopes.
    fn slopes(&self, w: &[F]) -> Vec<F> {
        let mut a = Vec::with_capacity(self.n_dual());
        for &row in self.rows() {
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
        let shared = self.singletons.shared(self.task.x, row);
        let mut scores = [F::ZERO; T];
        kernels::scores(shared, w, &mut scores[..self.width]);
        for (score, &b) in scores.iter_mut().zip(&w[self.bias_at()]) {
            *score += b;
        }
        // What the features that no other row has add.
        let alone = rate * F::from_f32(self.singletons.square(row));
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
                self.singletons.prefetch(row);
            }
            Soon::Near => self.task.x.prefetch(row),
            Soon::Next if size_of_val(w) > NEAR => self.task.x.prefetch_weights(row, w, self.width),
            Soon::Next => {}
        }
    }

    fn run(&self) -> usize {
        let x = self.task.x;
        // Neighbours are often of one class, which costs passes: with runs of 8 the hinges took 27 to 88 % more on banking77 and trec, and about as many on occupations (47,478 rows).
        let many = x.n_rows() > 1 << 14;
        if many && x.nnz() < 32 * x.n_rows() { 8 } else { 1 }
    }

    fn is_coupled(&self) -> bool {
        self.task.bias == Bias::Free
    }

    fn end_pass(&mut self, a: &mut [F], w: &mut [F]) {
        if self.task.bias != Bias::Free {
            return;
        }
        let mut residual = [0.0f64; T];
        for (&row, a) in self.rows().zip(a.chunks_exact(T)) {
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
        for (&row, a) in self.rows().zip(a.chunks_exact(T)) {
            let (row, share) = (row as usize, self.shares[row as usize]);
            let alone = f64::from(self.singletons.square(row)) * 0.5 * share * share / self.task.l2;
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
        self.write_singletons(a, w);
        let report = self.report.iter().map(|r| r.to_f64());
        self.gaps(a, w)
            .iter()
            .zip(report)
            .fold((0.0, 0.0), |(value, gap), (own, by)| (value + by * own[0], gap + by * own[1]))
    }
}

/// Dual variables that respect a free bias: `a` times `factors`, for each column of its yes and of its no rows, each off by the part `error` at most.
struct Balanced<'b, F, const T: usize> {
    a: &'b [F],
    /// For each kind, what the columns say about it, in f64.
    signed: &'b [[f64; T]],
    factors: [[f64; 2]; T],
    error: f64,
}
