//! Few rows of many, over the features that occur in them: what a pair of classes or a node of a tree trains on.

use super::singleton_features::SingletonFeatures;
use super::{ColumnTask, Scales};
use lineal_linalg::{Csr, Matrix, Scalar};
use lineal_model::Bias;

/// The rows that a block takes, where they are less than half of all: a copy of them whose weights stay in the cache.
pub(super) struct CompactFeatures<F> {
    pub(super) x: Matrix,
    pub(super) kinds: Vec<u32>,
    pub(super) scales: Scales<F>,
    /// For each row of the block's weights, the row of all weights.
    pub(super) places: Vec<u32>,
}

impl<F: Scalar> CompactFeatures<F> {
    /// `None` where the rows are many, or dense: then there is nothing to leave out.
    pub(super) fn new(
        task: &ColumnTask<'_>,
        columns: std::ops::Range<usize>,
        scales: &Scales<F>,
    ) -> Option<Self> {
        let rows = task.rows(columns);
        if matches!(task.x, Matrix::Dense(_)) || 2 * rows.len() >= task.x.n_rows() {
            return None;
        }
        let (x, mut places) = localise(task.x, &rows);
        if task.bias != Bias::None {
            places.push(task.x.n_cols() as u32);
        }
        let picked = rows.iter().map(|&row| row as usize);
        let scales = Scales {
            scale: picked.clone().map(|row| scales.scale[row]).collect(),
            shares: picked.clone().map(|row| scales.shares[row]).collect(),
            singletons: SingletonFeatures::new(&x),
            beta_sq: scales.beta_sq,
        };
        Some(Self { x, kinds: picked.map(|row| task.kinds[row]).collect(), scales, places })
    }
}

/// Some rows of a matrix over the features that occur in them, and what these are.
pub(super) fn localise(x: &Matrix, rows: &[u32]) -> (Matrix, Vec<u32>) {
    let each = |f: &mut dyn FnMut(usize, f32)| {
        for &row in rows {
            x.row(row as usize).for_each(|j, v| {
                if v != 0.0 {
                    f(j, v);
                }
            });
        }
    };
    let mut nnz = 0usize;
    rows.iter().for_each(|&row| nnz += x.row(row as usize).nnz());
    // Few entries: sort them. Many: count over all features.
    let mut features: Vec<u32>;
    let mut place = Vec::new();
    if nnz < x.n_cols() / 8 {
        features = Vec::with_capacity(nnz);
        each(&mut |j, _| features.push(j as u32));
        features.sort_unstable();
        features.dedup();
    } else {
        place = vec![u32::MAX; x.n_cols()];
        each(&mut |j, _| place[j] = 0);
        features = (0..x.n_cols() as u32).filter(|&j| place[j as usize] == 0).collect();
        for (local, &j) in (0..).zip(&features) {
            place[j as usize] = local;
        }
    }
    let (mut indptr, mut idx, mut val) =
        (Vec::with_capacity(rows.len() + 1), Vec::with_capacity(nnz), Vec::with_capacity(nnz));
    indptr.push(0);
    for &row in rows {
        let mut from = 0;
        x.row(row as usize).for_each(|j, v| {
            if v != 0.0 {
                let local = if place.is_empty() {
                    from += features[from..].partition_point(|&f| (f as usize) < j);
                    from as u32
                } else {
                    place[j]
                };
                idx.push(local);
                val.push(v);
            }
        });
        indptr.push(idx.len());
    }
    let csr = Csr::new(features.len(), indptr, idx, val);
    (Matrix::Sparse(csr.expect("rows of a matrix, renumbered in order")), features)
}
