//! Losses that are sums over pairs, for Newton's method: the hinge made smooth, and Hessians.
//!
//! With lead d = scoreᵢ − scoreⱼ the hinge of a pair is max over α in [0, 1] of α (1 − d). Around dual numbers a it becomes α (1 − d) − (δ/2)(α − a)², whose best α is a + (1 − d)/δ
//! cut to [0, 1]: a loss that bends by 1/δ where 0 < α < 1 and is straight elsewhere.
//!
//! The Hessian by the weights is Σ over pairs of h (xᵢ − xⱼ)(xᵢ − xⱼ)ᵀ. If more pairs than documents have an h, it is Σ over documents of xᵢ mᵢᵀ with mᵢ = Σⱼ h (xᵢ − xⱼ), which takes one outer
//! product for each document. Rows count from the first one of their query, so that a common offset does not cancel, and features that are the same in all of its documents (half of them and more
//! where features are sparse) are left out; a query is added up in f32 and queries in f64.

use super::{Ranking, RankingScratch};
use crate::listed::{LANES, Listed, each_row};
use crate::oracle::Oracle;
use crate::queries::Query;
use lineal_linalg::{Row, Scalar, kernels};
use lineal_model::structure::{Around, Smoothed};

/// Pairs for each document up to which every pair may have a number of its own.
const PAIRS_PER_DOCUMENT: f64 = 64.0;

impl<O: Oracle> Ranking<'_, O> {
    /// Whether all pairs can be listed.
    pub(super) fn has_few_pairs(&self) -> bool {
        let n_pairs: f64 = (0..self.queries.len()).map(|q| self.queries.query(q).n_pairs()).sum();
        n_pairs <= PAIRS_PER_DOCUMENT * self.gold.len() as f64
    }

    fn load<F: Scalar>(&self, i: usize, theta: &[F], s: &mut RankingScratch<F>) {
        s.scores.clear();
        s.scores.extend(theta.iter().map(|score| score.to_f64()));
        s.buffers.listed.load(&self.queries.query(i), &s.scores);
    }

    /// The hinge around dual numbers. Amounts are left in the scratch.
    pub(super) fn smooth_hinge<F: Scalar>(
        &self,
        i: usize,
        theta: &[F],
        around: Around<'_>,
        s: &mut RankingScratch<F>,
        moved: &mut [f32],
    ) -> Smoothed {
        self.load(i, theta, s);
        let query = self.queries.query(i);
        let Listed { scores, amounts, .. } = &mut s.buffers.listed;
        let Around { width, duals } = around;
        let (inverse, half) = (1.0 / width, 0.5 * width);
        let (mut total, mut at) = (Smoothed::default(), 0);
        each_row(&query, |better, worse| {
            let high = scores[better];
            let pairs = at..at + worse.len();
            at = pairs.end;
            let (low, own) = (&scores[worse.clone()], &mut amounts[worse]);
            let duals = &duals[pairs.clone()];
            let [mut values, mut losses, mut costs] = [[0.0; LANES]; 3];
            let mut one = |l: usize, low: f64, a: f32, own: &mut f64| {
                let (missing, a) = (1.0 - (high - low), f64::from(a));
                let alpha = (a + missing * inverse).clamp(0.0, 1.0);
                values[l] += alpha * missing - half * (alpha - a) * (alpha - a);
                losses[l] += missing.max(0.0);
                costs[l] += alpha;
                *own += alpha;
            };
            let split = low.len() - low.len() % LANES;
            let blocks = low[..split].chunks_exact(LANES).zip(duals.chunks_exact(LANES));
            for ((low, a), own) in blocks.zip(own.chunks_exact_mut(LANES)) {
                for (l, ((low, a), own)) in low.iter().zip(a).zip(own).enumerate() {
                    one(l, *low, *a, own);
                }
            }
            for ((low, a), own) in low[split..].iter().zip(&duals[split..]).zip(&mut own[split..]) {
                one(0, *low, *a, own);
            }
            if !moved.is_empty() {
                for ((to, low), a) in moved[pairs].iter_mut().zip(low).zip(duals) {
                    let alpha = f64::from(*a) + (1.0 - (high - low)) * inverse;
                    *to = alpha.clamp(0.0, 1.0) as f32;
                }
            }
            let cost: f64 = costs.iter().sum();
            amounts[better] -= cost;
            total.value += values.iter().sum::<f64>();
            total.loss += losses.iter().sum::<f64>();
            total.cost += cost;
        });
        s.amounts.clear();
        s.amounts.resize(query.n(), 0.0);
        s.buffers.listed.unload(&query, &mut s.amounts);
        total
    }

    /// `into += factor ·` the Hessian by the weights.
    pub(super) fn add_pair_hessian<F: Scalar>(
        &self,
        i: usize,
        theta: &[F],
        around: Option<Around<'_>>,
        factor: f64,
        s: &mut RankingScratch<F>,
        into: &mut [f64],
    ) {
        let Some(second_derivative) = self.oracle.pair_second_derivative() else { return };
        if !self.is_informative(i) {
            return;
        }
        self.load(i, theta, s);
        let (query, dim) = (self.queries.query(i), self.queries.n_features());
        let listed = &mut s.buffers.listed;
        let n_bent = match around {
            None => listed.weigh(&query, |lead, _| second_derivative(lead) as f32),
            Some(Around { width, duals }) => listed.weigh(&query, |lead, at| {
                let alpha = f64::from(duals[at]) + (1.0 - lead) / width;
                if alpha > 0.0 && alpha < 1.0 { (1.0 / width) as f32 } else { 0.0 }
            }),
        };
        if n_bent == 0 {
            return;
        }
        self.gather_rows(i, &query, dim, &mut listed.rows);
        let Listed { weights, rows, sums, block, columns, .. } = listed;
        keep_varying(rows, dim, columns);
        if columns.is_empty() {
            return;
        }
        let mut outer = Outer::new(block, columns);
        let dim_all = dim;
        let dim = columns.len();
        let row = |place: usize| place * dim..(place + 1) * dim;
        let mut at = 0;
        if n_bent <= query.n() {
            sums.clear();
            sums.resize(2 * dim, 0.0);
            let (difference, times) = sums.split_at_mut(dim);
            each_row(&query, |better, worse| {
                for low in worse {
                    let h = weights[at];
                    at += 1;
                    if h == 0.0 {
                        continue;
                    }
                    let pairs = rows[row(better)].iter().zip(&rows[row(low)]);
                    for ((z, hz), (high, low)) in difference.iter_mut().zip(&mut *times).zip(pairs)
                    {
                        *z = high - low;
                        *hz = h * *z;
                    }
                    outer.add(difference, times);
                }
            });
        } else {
            sums.clear();
            sums.resize(query.n() * dim, 0.0);
            each_row(&query, |better, worse| {
                let (before, after) = sums.split_at_mut(worse.start * dim);
                let own = &mut before[row(better)];
                for (low, of_low) in worse.zip(after.chunks_exact_mut(dim)) {
                    let h = weights[at];
                    at += 1;
                    if h == 0.0 {
                        continue;
                    }
                    let pairs = rows[row(better)].iter().zip(&rows[row(low)]);
                    for ((own, of_low), (high, low)) in own.iter_mut().zip(of_low).zip(pairs) {
                        let hz = h * (high - low);
                        *own += hz;
                        *of_low -= hz;
                    }
                }
            });
            for (row, sum) in rows.chunks_exact(dim).zip(sums.chunks_exact(dim)) {
                outer.add(row, sum);
            }
        }
        outer.add_to(factor, dim_all, into);
    }

    /// Rows in the order of grades, relative to the query's first one.
    fn gather_rows(&self, i: usize, query: &Query<'_>, dim: usize, rows: &mut Vec<f32>) {
        let first = self.queries.documents(i).start;
        rows.clear();
        for &document in query.by_grade {
            let start = rows.len();
            let zero = self.queries.row(first);
            match (self.queries.row(first + document as usize), zero) {
                (Row::Dense(x), Row::Dense(zero)) => {
                    rows.extend(x.iter().zip(zero).map(|(x, zero)| x - zero));
                }
                (x, zero) => {
                    rows.resize(start + dim, 0.0);
                    let row = &mut rows[start..];
                    x.for_each(|at, x| row[at] += x);
                    zero.for_each(|at, zero| row[at] -= zero);
                }
            }
        }
    }
}

impl Listed {
    /// Leaves `f(lead, number of the pair)` in the weights; says how many are not 0.
    fn weigh(&mut self, query: &Query<'_>, f: impl Fn(f64, usize) -> f32) -> usize {
        let Self { scores, weights, .. } = self;
        weights.clear();
        each_row(query, |better, worse| {
            let (high, from) = (scores[better], weights.len());
            weights.extend(scores[worse].iter().zip(from..).map(|(low, at)| f(high - low, at)));
        });
        weights.iter().filter(|h| **h != 0.0).count()
    }
}

/// Leaves the columns that are not 0 in all rows, and in `rows` those alone.
fn keep_varying(rows: &mut Vec<f32>, dim: usize, columns: &mut Vec<u32>) {
    columns.clear();
    if dim == 0 {
        return;
    }
    columns.resize(dim, 0);
    for row in rows.chunks_exact(dim) {
        for (varies, x) in columns.iter_mut().zip(row) {
            *varies |= u32::from(*x != 0.0);
        }
    }
    columns.iter_mut().zip(1..).for_each(|(column, at)| *column *= at);
    columns.retain(|column| *column != 0);
    columns.iter_mut().for_each(|column| *column -= 1);
    let kept = columns.len();
    let n = rows.len() / dim;
    for row in 0..n {
        for (to, &column) in columns.iter().enumerate() {
            rows[row * kept + to] = rows[row * dim + column as usize];
        }
    }
    rows.truncate(n * kept);
}

/// A sum of outer products of some columns.
struct Outer<'b> {
    columns: &'b [u32],
    block: &'b mut [f32],
}

impl<'b> Outer<'b> {
    fn new(block: &'b mut Vec<f32>, columns: &'b [u32]) -> Self {
        block.clear();
        block.resize(columns.len() * columns.len(), 0.0);
        Self { columns, block }
    }

    fn add(&mut self, a: &[f32], b: &[f32]) {
        kernels::add_outer(Row::Dense(a), b, self.block);
    }

    /// Into a matrix of all columns, of which there are `dim`.
    fn add_to(self, factor: f64, dim: usize, into: &mut [f64]) {
        let rows = self.block.chunks_exact(self.columns.len());
        for (&a, row) in self.columns.iter().zip(rows) {
            let into = &mut into[a as usize * dim..];
            for (&b, &sum) in self.columns.iter().zip(row) {
                into[b as usize] += factor * f64::from(sum);
            }
        }
    }
}
