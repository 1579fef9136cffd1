//! Trees by balanced 2-means over one sparse vector a class: classes that look alike are told apart last.
//!
//! As in Prabhu et al., *Parabel*, WWW 2018: with unit vectors c_k, maximise Σ_{k∈L} ⟨c_k, m_L⟩ + Σ_{k∈R} ⟨c_k, m_R⟩ over halves
//! L, R and unit means m_L, m_R by turns. Given the means, the best L is the half with the largest ⟨c_k, m_L − m_R⟩; given
//! the halves, the best means are their normalised sums, and the objective is ‖Σ_L c_k‖ + ‖Σ_R c_k‖. Work is proportional to the
//! stored entries, times turns, times ⌈log₂K⌉ levels.

use super::Tree;
use crate::{Error, Examples};
use lineal_linalg::{Csr, Matrix, ShapeError};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The mean row of each class, weighted, scaled to length 1: one row per class, empty for a class without rows.
pub fn class_centroids(examples: &Examples<'_, Matrix>) -> Result<Csr, ShapeError> {
    let n_cols = examples.inputs().n_cols();
    let mut sum = SparseSum::new(n_cols);
    let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
    for class in 0..examples.n_classes() {
        for &row in examples.rows_of(class) {
            let weight = examples.weights().map_or(1.0, |w| w[row as usize]);
            examples
                .inputs()
                .row(row as usize)
                .for_each(|j, v| sum.add(j, f64::from(weight) * f64::from(v)));
        }
        sum.touched.sort_unstable();
        let norm = sum.norm();
        for &j in &sum.touched {
            let v = (sum.value[j as usize] / norm) as f32;
            if v != 0.0 && v.is_finite() {
                idx.push(j);
                val.push(v);
            }
        }
        indptr.push(idx.len());
        sum.clear();
    }
    Csr::new(n_cols, indptr, idx, val)
}

impl Tree {
    /// Halves classes by similarity of their vectors, one per row, such as [`class_centroids`]; as balanced as
    /// [`balanced`](Self::balanced).
    pub fn clustered(centroids: &Csr, seed: u64) -> Result<Self, Error> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut halves = Halves {
            centroids,
            direction: vec![0.0; centroids.n_cols()],
            sums: [SparseSum::new(centroids.n_cols()), SparseSum::new(centroids.n_cols())],
            scores: vec![0.0; centroids.n_rows()],
        };
        let order = (0..centroids.n_rows().min(u32::MAX as usize) as u32).collect();
        Self::halved(order, |classes| halves.arrange(classes, &mut rng))
    }
}

/// Buffers of balanced 2-means; `direction` and `sums` are zero between calls.
struct Halves<'a> {
    centroids: &'a Csr,
    direction: Vec<f64>,
    sums: [SparseSum; 2],
    scores: Vec<f64>,
}

impl Halves<'_> {
    /// Reorders classes so that the two clusters are the two halves.
    fn arrange(&mut self, classes: &mut [u32], rng: &mut impl rand::Rng) {
        const MAX_TURNS: usize = 30;
        let n = classes.len();
        if n < 3 {
            return;
        }
        // A random class and the one least like it: two random ones often start, and stay, in the same cluster.
        let first = classes[rng.random_range(0..n)];
        self.add(0, first);
        self.halve(classes);
        let likes = |class: &u32| self.scores[*class as usize];
        let second = classes.iter().copied().filter(|&class| class != first);
        let second = second.min_by(|a, b| likes(a).total_cmp(&likes(b)).then(a.cmp(b)));
        self.add(0, first);
        self.add(1, second.unwrap_or(first));

        let mut objective = 0.0;
        for _ in 0..MAX_TURNS {
            self.halve(classes);
            let (left, right) = classes.split_at(n.div_ceil(2));
            left.iter().for_each(|&class| self.add(0, class));
            right.iter().for_each(|&class| self.add(1, class));
            let now = self.sums[0].norm() + self.sums[1].norm();
            if now <= objective * (1.0 + 1e-4) {
                break;
            }
            objective = now;
        }
        self.sums.iter_mut().for_each(SparseSum::clear);
    }

    /// Means from sums, then halves from means. Empties the sums.
    fn halve(&mut self, classes: &mut [u32]) {
        for (sum, side) in self.sums.iter_mut().zip([1.0, -1.0]) {
            let scale = side / sum.norm().max(f64::MIN_POSITIVE);
            for &j in &sum.touched {
                self.direction[j as usize] += scale * sum.value[j as usize];
            }
        }
        for &class in &*classes {
            let mut score = 0.0;
            self.centroids
                .row(class as usize)
                .for_each(|j, v| score += self.direction[j] * f64::from(v));
            self.scores[class as usize] = score;
        }
        for sum in &mut self.sums {
            for &j in &sum.touched {
                self.direction[j as usize] = 0.0;
            }
            sum.clear();
        }
        let scores = &self.scores;
        let middle = classes.len().div_ceil(2);
        // A total order, so that which classes are in which half does not depend on how they stood.
        classes.select_nth_unstable_by(middle, |&a, &b| {
            scores[b as usize].total_cmp(&scores[a as usize]).then(a.cmp(&b))
        });
    }

    fn add(&mut self, side: usize, class: u32) {
        let sum = &mut self.sums[side];
        self.centroids.row(class as usize).for_each(|j, v| sum.add(j, f64::from(v)));
    }
}

/// A dense vector that knows which of its entries may be nonzero, so that clearing it costs no more than filling it.
struct SparseSum {
    value: Vec<f64>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl SparseSum {
    fn new(n_cols: usize) -> Self {
        Self { value: vec![0.0; n_cols], touched: Vec::new(), is_touched: vec![false; n_cols] }
    }

    fn add(&mut self, j: usize, v: f64) {
        if !self.is_touched[j] {
            self.is_touched[j] = true;
            self.touched.push(j as u32);
        }
        self.value[j] += v;
    }

    fn norm(&self) -> f64 {
        self.touched.iter().map(|&j| self.value[j as usize].powi(2)).sum::<f64>().sqrt()
    }

    fn clear(&mut self) {
        for j in self.touched.drain(..) {
            self.value[j as usize] = 0.0;
            self.is_touched[j as usize] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_look_alike_share_a_subtree() {
        // Even classes have columns 0 and 1, odd ones 2 and 3.
        let rows: Vec<[f32; 4]> = (0..8u8)
            .map(|k| {
                let small = f32::from(k) / 16.0;
                if k % 2 == 0 { [1.0, small, 0.0, 0.0] } else { [0.0, 0.0, small, 1.0] }
            })
            .collect();
        let x = lineal_linalg::Dense::new(8, 4, rows.concat()).unwrap();
        let (x, y) = (Matrix::Dense(x), [0, 1, 2, 3, 4, 5, 6, 7]);
        let centroids = class_centroids(&Examples::new(&x, &y, 9).unwrap()).unwrap();
        let eight = class_centroids(&Examples::new(&x, &y, 8).unwrap()).unwrap();
        assert_eq!((centroids.n_rows(), centroids.row(8).nnz()), (9, 0));
        assert!((0..8).all(|k| (centroids.row(k).norm_sq() - 1.0).abs() < 1e-6));
        for seed in 0..20 {
            let tree = Tree::clustered(&eight, seed).unwrap();
            assert_eq!(tree.depth(), 3);
            let parity = |leaves: &[u32]| leaves.iter().map(|k| k % 2).collect::<Vec<_>>();
            let (left, right) = (parity(&tree.leaves()[..4]), parity(&tree.leaves()[4..]));
            assert!(
                left.windows(2).chain(right.windows(2)).all(|p| p[0] == p[1]),
                "seed {seed}: {tree}"
            );
        }
    }

    #[test]
    fn many_sparse_classes_cluster_in_near_linear_work() {
        // Class k has the decimal digits of k as features.
        let n = 20_000u32;
        let idx: Vec<u32> = (0..n)
            .flat_map(|k| (0..5).map(move |place| place * 10 + k / 10u32.pow(place) % 10))
            .collect();
        let indptr = (0..=n as usize).map(|k| 5 * k).collect();
        let centroids = Csr::new(50, indptr, idx, vec![0.447_213_6; 5 * n as usize]).unwrap();
        let tree = Tree::clustered(&centroids, 1).unwrap();
        assert_eq!(tree.depth(), 15);
        assert_eq!(tree, Tree::clustered(&centroids, 1).unwrap());
    }
}
