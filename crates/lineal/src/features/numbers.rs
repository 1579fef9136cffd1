//! Numbers beside text, brought to mean 0 and deviation 1.

use lineal_data::{ColumnKind, Schema, Standardizer};
use lineal_linalg::{Csr, Matrix};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// For each feature that is a number: what is taken off, and what the rest is multiplied by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Numbers(Vec<Number>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Number {
    at: u32,
    mean: f32,
    scale: f32,
}

impl Numbers {
    /// Measures the columns of numbers. Categories and named numbers, of which most are absent, stay as they are.
    pub(super) fn learn(schema: &Schema, x: &Matrix) -> Self {
        let spans = schema.columns.iter().flatten().filter_map(|column| match column.kind {
            ColumnKind::Numeric { at, .. } => Some(at..at + 1),
            ColumnKind::Vector { at, len } => Some(at..at + len),
            _ => None,
        });
        // Without columns all features are numbers; where most are absent, 0 stays 0.
        let bare = schema.columns.is_none().then_some(0..schema.n_read());
        let places: Vec<usize> = spans.chain(bare).flatten().collect();
        let centre = schema.columns.is_some() || matches!(x, Matrix::Dense(_));
        if places.is_empty() {
            return Self::default();
        }
        let n = x.n_rows().max(1) as f64;
        let mut sums = vec![0.0f64; x.n_cols()];
        (0..x.n_rows()).for_each(|i| x.row(i).for_each(|j, v| sums[j] += f64::from(v)));
        let scale = Standardizer::fit(x, None).scale;
        let number = |at: usize| {
            let mean = if centre { (sums[at] / n) as f32 } else { 0.0 };
            Number { at: at as u32, mean, scale: scale[at] }
        };
        Self(places.into_iter().map(number).collect())
    }

    /// Whether each is a feature of that many, in order, and finite.
    pub(super) fn fits(&self, n_read: usize) -> bool {
        let inside =
            |n: &Number| (n.at as usize) < n_read && n.mean.is_finite() && n.scale.is_finite();
        self.0.iter().all(inside) && self.0.is_sorted_by(|a, b| a.at < b.at)
    }

    /// The matrix with numbers rescaled: a value in each row, zeros too where they are not 0 afterwards.
    pub(super) fn apply<'x>(&self, x: Cow<'x, Matrix>) -> Cow<'x, Matrix> {
        if self.0.is_empty() {
            return x;
        }
        let n_cols = x.n_cols();
        let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
        for i in 0..x.n_rows() {
            let mut numbers = self.0.iter().peekable();
            let mut push = |j: usize, v: f32| {
                if v != 0.0 {
                    idx.push(j as u32);
                    val.push(v);
                }
            };
            x.row(i).for_each(|j, v| {
                while let Some(n) = numbers.next_if(|n| (n.at as usize) < j) {
                    push(n.at as usize, -n.mean * n.scale);
                }
                match numbers.next_if(|n| n.at as usize == j) {
                    Some(n) => push(j, (v - n.mean) * n.scale),
                    None => push(j, v),
                }
            });
            numbers.for_each(|n| push(n.at as usize, -n.mean * n.scale));
            indptr.push(idx.len());
        }
        match Csr::new(n_cols, indptr, idx, val) {
            Ok(csr) => Cow::Owned(Matrix::Sparse(csr)),
            Err(_) => x,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::Dense;

    #[test]
    fn numbers_have_mean_zero_and_deviation_one_sparse_or_dense() {
        let values = vec![1.0, 7.0, 0.0, 0.0, 5.0, 7.0];
        let dense = Matrix::Dense(Dense::new(3, 2, values).unwrap());
        let csr = Csr::new(2, vec![0, 2, 2, 4], vec![0, 1, 0, 1], vec![1.0, 7.0, 5.0, 7.0]);
        let sparse = Matrix::Sparse(csr.unwrap());
        let numbers = Numbers(vec![Number { at: 0, mean: 2.0, scale: 0.5 }]);
        let made = numbers.apply(Cow::Borrowed(&sparse)).into_owned();
        let values = |x: &Matrix, j: usize| -> Vec<f32> {
            let mut column = vec![0.0; x.n_rows()];
            (0..x.n_rows()).for_each(|i| {
                x.row(i).for_each(|k, v| {
                    if k == j {
                        column[i] = v;
                    }
                });
            });
            column
        };
        assert_eq!(values(&made, 0), [-0.5, -1.0, 1.5]);
        assert_eq!(values(&made, 1), [7.0, 0.0, 7.0]);
        let of_dense = numbers.apply(Cow::Borrowed(&dense));
        assert_eq!(values(&of_dense, 0), values(&made, 0));
        assert!(numbers.fits(1) && !numbers.fits(0));
    }
}
