//! How strongly a smooth loss bends, at w = 0: what scales the variables of L-BFGS, and how long stochastic steps may be.
//!
//! The Hessian in the scores of a query is taken for c times the Laplacian of its pairs of different grades ([`Oracle::pair_curvature`]), so that by weights its diagonal is
//! c Σ over pairs of (xᵢ − xⱼ)², and its trace, above its largest eigenvalue, c Σ over pairs of ‖xᵢ − xⱼ‖².

use super::Ranking;
use crate::oracle::Oracle;
use lineal_linalg::Scalar;

impl<O: Oracle> Ranking<'_, O> {
    /// The greatest curvature of a query's part of the mean loss, times n: how steep one stochastic step may find it.
    pub(super) fn steepest(&self) -> f64 {
        let n = self.queries.len() as f64;
        let mut diagonal = vec![0.0f64; self.queries.n_features()];
        let of_query = |q: usize| {
            let share = n * self.shares[q];
            if self.queries.is_dense() {
                diagonal.fill(0.0);
                self.add_diagonal(q, share, &mut diagonal);
                return diagonal.iter().sum();
            }
            let query = self.queries.query(q);
            let norm = |d: usize| {
                let group = query.group_of[d] as usize;
                let n_pairs = (query.n() - query.places(group).len()) as f64;
                n_pairs * self.queries.row(self.queries.documents(q).start + d).norm_sq()
            };
            match self.is_informative(q) {
                true => {
                    share
                        * self.oracle.pair_curvature(&query)
                        * (0..query.n()).map(norm).sum::<f64>()
                }
                false => 0.0,
            }
        };
        (0..self.queries.len()).map(of_query).fold(0.0, f64::max)
    }

    /// `into += share ·` the diagonal of the Hessian by the weights at w = 0, taken for a Laplacian of equal amounts for all pairs: Σ over pairs of (xᵢ − xⱼ)². For dense rows by sums over the
    /// query and over its groups, for sparse rows Σ over documents of their number of pairs times x², which is at least half of it.
    pub(super) fn add_diagonal<F: Scalar>(&self, i: usize, share: F, into: &mut [F]) {
        if !self.is_informative(i) {
            return;
        }
        let (query, first) = (self.queries.query(i), self.queries.documents(i).start);
        let factor = share * F::from_f64(self.oracle.pair_curvature(&query));
        if factor == F::ZERO {
            return;
        }
        let row = |document: u32| self.queries.row(first + document as usize);
        if !self.queries.is_dense() {
            for group in 0..query.n_groups() {
                let n_pairs = F::from_f64((query.n() - query.places(group).len()) as f64);
                for &document in query.group(group) {
                    row(document).for_each(|at, x| {
                        let x = F::from_f32(x);
                        into[at] += factor * n_pairs * x * x;
                    });
                }
            }
            return;
        }
        let mut sums = vec![(0.0f64, 0.0f64, 0.0f64); self.queries.n_features()];
        for group in 0..query.n_groups() {
            // x relative to the query's first row, so that squares do not cancel.
            let documents = query.group(group);
            let mut own = vec![(0.0f64, 0.0f64); sums.len()];
            for &document in documents {
                let zeros = row(0).values().iter().zip(row(document).values());
                for (own, (&zero, &x)) in own.iter_mut().zip(zeros) {
                    let x = f64::from(x) - f64::from(zero);
                    *own = (own.0 + x, own.1 + x * x);
                }
            }
            for (sums, own) in sums.iter_mut().zip(&own) {
                let within = documents.len() as f64 * own.1 - own.0 * own.0;
                *sums = (sums.0 + own.0, sums.1 + own.1, sums.2 + within);
            }
        }
        let n = query.n() as f64;
        for (into, (sum, squares, within)) in into.iter_mut().zip(sums) {
            let between = (n * squares - sum * sum - within).max(0.0);
            *into += factor * F::from_f64(between);
        }
    }
}
