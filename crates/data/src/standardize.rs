//! Columns to the same scale.

use lineal_linalg::{Csr, Dense, Matrix};
use serde::{Deserialize, Serialize};

/// Divides columns by their standard deviation and, for dense matrices, takes off their mean: centring
/// would fill a sparse matrix.
///
/// With n the sum of the example weights, mean = Σ wᵢxᵢ / n and variance = Σ wᵢ(xᵢ − mean)² / n, where the
/// entries that a sparse matrix does not store count as 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    /// What each column is multiplied by: 1 / deviation, or 1 for a constant column.
    pub scale: Vec<f32>,
    /// What is taken off first.
    pub mean: Option<Vec<f32>>,
}

impl Standardizer {
    /// Measures all columns. Sums are in f64 and in the order of rows.
    ///
    /// # Panics
    /// If there are not as many weights as rows.
    pub fn fit(x: &Matrix, weights: Option<&[f32]>) -> Self {
        let (mean, scale) = measure(x, weights);
        let centred = matches!(x, Matrix::Dense(_));
        Self { scale, mean: centred.then(|| mean.into_iter().map(|m| m as f32).collect()) }
    }

    /// Measures some columns, which rise, and leaves the others as they are. These are centred in a sparse matrix, too: columns of
    /// numbers have few zeros.
    ///
    /// # Panics
    /// If there are not as many weights as rows, or a column is not of the matrix.
    pub fn fit_columns(x: &Matrix, weights: Option<&[f32]>, columns: &[usize]) -> Self {
        let (all_means, all_scales) = measure(x, weights);
        let (mut mean, mut scale) = (vec![0.0; x.n_cols()], vec![1.0; x.n_cols()]);
        for &j in columns {
            (mean[j], scale[j]) = (all_means[j] as f32, all_scales[j]);
        }
        Self { scale, mean: Some(mean) }
    }

    /// The columns that it changes.
    pub fn columns(&self) -> Vec<ColumnScale> {
        let of = |at: usize| {
            let mean = self.mean.as_ref().map_or(0.0, |mean| mean[at]);
            ColumnScale { at: at as u32, mean, scale: self.scale[at] }
        };
        let is_moved = |column: &ColumnScale| column.mean != 0.0 || column.scale != 1.0;
        (0..self.scale.len()).map(of).filter(is_moved).collect()
    }

    /// Rescales in place. A sparse matrix gets an entry in each row for each column that has a mean to take off; where that is most
    /// columns, it becomes dense.
    ///
    /// # Panics
    /// If the matrix has another number of columns.
    pub fn apply(&self, x: &mut Matrix) {
        let n_cols = self.scale.len();
        assert_eq!(x.n_cols(), n_cols, "a matrix of other columns");
        if let (Matrix::Sparse(_), Some(mean)) = (&*x, &self.mean) {
            let n_centred = mean.iter().filter(|&&m| m != 0.0).count();
            if 2 * n_centred < n_cols {
                *x = rescale_columns(x, &self.columns());
                return;
            }
            make_dense(x);
        }
        match (x, &self.mean) {
            (Matrix::Sparse(x), _) => {
                let (idx, val) = x.values_mut();
                for (v, &j) in val.iter_mut().zip(idx) {
                    *v *= self.scale[j as usize];
                }
            }
            (Matrix::Dense(_), _) if n_cols == 0 => {}
            (Matrix::Dense(x), None) => {
                for row in x.values_mut().chunks_exact_mut(n_cols) {
                    row.iter_mut().zip(&self.scale).for_each(|(v, s)| *v *= s);
                }
            }
            (Matrix::Dense(x), Some(mean)) => {
                for row in x.values_mut().chunks_exact_mut(n_cols) {
                    for ((v, s), m) in row.iter_mut().zip(&self.scale).zip(mean) {
                        *v = (*v - m) * s;
                    }
                }
            }
        }
    }
}

/// What is taken off a column, and what the rest is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnScale {
    /// The column.
    pub at: u32,
    /// What is taken off first.
    pub mean: f32,
    /// What the rest is multiplied by.
    pub scale: f32,
}

/// A sparse matrix with some columns, which rise, rescaled: each row has a value in them, zeros too where they are not 0 afterwards.
pub fn rescale_columns(x: &Matrix, columns: &[ColumnScale]) -> Matrix {
    let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
    for i in 0..x.n_rows() {
        let mut columns = columns.iter().peekable();
        let mut push = |j: usize, v: f32| {
            if v != 0.0 {
                idx.push(j as u32);
                val.push(v);
            }
        };
        x.row(i).for_each(|j, v| {
            while let Some(c) = columns.next_if(|c| (c.at as usize) < j) {
                push(c.at as usize, -c.mean * c.scale);
            }
            match columns.next_if(|c| c.at as usize == j) {
                Some(c) => push(j, (v - c.mean) * c.scale),
                None => push(j, v),
            }
        });
        columns.for_each(|c| push(c.at as usize, -c.mean * c.scale));
        indptr.push(idx.len());
    }
    // The rows came from a matrix of the same shape, so the parts fit together.
    Csr::new(x.n_cols(), indptr, idx, val).map_or_else(|_| x.clone(), Matrix::Sparse)
}

/// Means and scales of all columns.
fn measure(x: &Matrix, weights: Option<&[f32]>) -> (Vec<f64>, Vec<f32>) {
    let n_cols = x.n_cols();
    if let Some(weights) = weights {
        assert_eq!(weights.len(), x.n_rows(), "one weight per row");
    }
    let weight = |i: usize| weights.map_or(1.0, |w| f64::from(w[i]));
    let total: f64 = (0..x.n_rows()).map(weight).sum();
    let share = if total > 0.0 { 1.0 / total } else { 0.0 };
    let mut mean = vec![0.0f64; n_cols];
    for i in 0..x.n_rows() {
        x.row(i).for_each(|j, v| mean[j] += weight(i) * f64::from(v));
    }
    mean.iter_mut().for_each(|m| *m *= share);
    // Two passes: a variance by squares alone would cancel for a large mean.
    let mut var = vec![0.0f64; n_cols];
    let mut stored = vec![0.0f64; n_cols];
    for i in 0..x.n_rows() {
        x.row(i).for_each(|j, v| {
            let d = f64::from(v) - mean[j];
            var[j] += weight(i) * d * d;
            stored[j] += weight(i);
        });
    }
    let scale = (0..n_cols).map(|j| {
        let zeros = (total - stored[j]).max(0.0);
        let var = (var[j] + zeros * mean[j] * mean[j]) * share;
        // What rounding alone makes of a constant column is not a deviation.
        let noise = mean[j] * f64::EPSILON * x.n_rows() as f64;
        let scale = (1.0 / var.sqrt()) as f32;
        if var > noise * noise && scale.is_finite() && scale > 0.0 { scale } else { 1.0 }
    });
    let scale = scale.collect();
    (mean, scale)
}

fn make_dense(x: &mut Matrix) {
    let Matrix::Sparse(sparse) = &*x else { return };
    let (n_rows, n_cols) = (sparse.n_rows(), sparse.n_cols());
    let mut val = vec![0.0; n_rows * n_cols];
    for i in 0..n_rows {
        sparse.row(i).for_each(|j, v| val[i * n_cols + j] = v);
    }
    if let Ok(dense) = Dense::new(n_rows, n_cols, val) {
        *x = Matrix::Dense(dense);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::Row;

    fn dense() -> Matrix {
        // Columns: 1 3 5 7; constant 0.1; 0 0 0 4.
        let val = vec![1.0, 0.1, 0.0, 3.0, 0.1, 0.0, 5.0, 0.1, 0.0, 7.0, 0.1, 4.0];
        Matrix::Dense(Dense::new(4, 3, val).unwrap())
    }

    fn sparse() -> Matrix {
        let val = vec![1.0, 0.1, 3.0, 0.1, 5.0, 0.1, 7.0, 0.1, 4.0];
        let idx = vec![0, 1, 0, 1, 0, 1, 0, 1, 2];
        Matrix::Sparse(Csr::new(3, vec![0, 2, 4, 6, 9], idx, val).unwrap())
    }

    #[test]
    fn dense_is_centred_and_sparse_is_not() {
        let fit = Standardizer::fit(&dense(), None);
        // numpy: np.std([1, 3, 5, 7]) = 2.23606797749979; np.std([0, 0, 0, 4]) = 1.7320508075688772
        assert_eq!(fit.scale, [1.0 / 2.236_068, 1.0, 1.0 / 1.732_050_8]);
        assert_eq!(fit.mean, Some(vec![4.0, 0.1, 1.0]));
        let of_sparse = Standardizer::fit(&sparse(), None);
        assert_eq!((&of_sparse.scale, &of_sparse.mean), (&fit.scale, &None));
        let (mut a, mut b) = (dense(), sparse());
        fit.apply(&mut a);
        fit.apply(&mut b);
        assert_eq!(a, b);
        let mut c = sparse();
        of_sparse.apply(&mut c);
        assert_eq!(c.row(1), Row::sparse(&[0, 1], &[3.0 / 2.236_068, 0.1]).unwrap());
    }

    #[test]
    fn some_columns_alone_are_centred_in_a_sparse_matrix() {
        let fit = Standardizer::fit_columns(&sparse(), None, &[0]);
        assert_eq!(fit.scale, [1.0 / 2.236_068, 1.0, 1.0]);
        assert_eq!(fit.mean, Some(vec![4.0, 0.0, 0.0]));
        let (mut a, mut b) = (sparse(), dense());
        fit.apply(&mut a);
        fit.apply(&mut b);
        assert!(matches!(a, Matrix::Sparse(_)));
        make_dense(&mut a);
        assert_eq!(a, b);
    }

    #[test]
    fn a_weight_of_two_is_a_row_given_twice() {
        let weighted = Standardizer::fit(&dense(), Some(&[2.0, 1.0, 0.0, 1.0]));
        let repeated = Standardizer::fit(&dense().select(&[0, 0, 1, 3]), None);
        assert_eq!(weighted, repeated);
        let none = Standardizer::fit(&dense(), Some(&[0.0; 4]));
        assert_eq!(none.scale, [1.0; 3]);
    }
}
