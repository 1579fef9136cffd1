//! Rows of features to a matrix.

use lineal_linalg::{Csr, Dense, Matrix, ShapeError};

/// The features of the rows so far.
pub(super) struct FeatureRows {
    n_features: usize,
    /// All features are numbers and each row has all of them: `val` is row-major then and `idx` empty.
    dense: bool,
    indptr: Vec<usize>,
    idx: Vec<u32>,
    val: Vec<f32>,
}

impl FeatureRows {
    pub(super) fn new(n_features: usize, dense: bool) -> Self {
        Self { n_features, dense, indptr: vec![0], idx: Vec::new(), val: Vec::new() }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Keeps a feature of the row at work. Features come in order.
    pub(super) fn push(&mut self, at: usize, value: f32) {
        if self.dense {
            self.val.push(value);
        } else if value != 0.0 {
            self.idx.push(at as u32);
            self.val.push(value);
        }
    }

    pub(super) fn end_row(&mut self) {
        self.indptr.push(self.val.len());
    }

    /// The rows so far, which are then forgotten. Dense where all features are numbers and fewer than half
    /// of them are 0.
    pub(super) fn take(&mut self) -> Result<Matrix, ShapeError> {
        let n_rows = self.n_rows();
        let indptr = std::mem::replace(&mut self.indptr, vec![0]);
        let (idx, val) = (std::mem::take(&mut self.idx), std::mem::take(&mut self.val));
        if !self.dense {
            return Csr::new(self.n_features, indptr, idx, val).map(Matrix::Sparse);
        }
        let zeros = val.iter().filter(|&&v| v == 0.0).count();
        if 2 * zeros < val.len() {
            Dense::new(n_rows, self.n_features, val).map(Matrix::Dense)
        } else {
            to_csr(n_rows, self.n_features, &val)
        }
    }
}

/// The nonzeros of row-major values.
fn to_csr(n_rows: usize, n_features: usize, values: &[f32]) -> Result<Matrix, ShapeError> {
    let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n_rows {
        let row = values.get(i * n_features..(i + 1) * n_features).unwrap_or_default();
        for (j, &v) in (0..).zip(row).filter(|(_, v)| **v != 0.0) {
            idx.push(j);
            val.push(v);
        }
        indptr.push(idx.len());
    }
    Csr::new(n_features, indptr, idx, val).map(Matrix::Sparse)
}
