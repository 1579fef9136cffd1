//! Numbers beside text, brought to mean 0 and deviation 1.

use lineal_data::{ColumnScale, Schema, Standardizer, rescale_columns};
use lineal_linalg::Matrix;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// For each feature that is a number: what is taken off, and what the rest is multiplied by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Numbers(Vec<ColumnScale>);

impl Numbers {
    /// Measures the columns of numbers. Categories and named numbers, of which most are absent, stay as they are.
    pub(super) fn learn(schema: &Schema, x: &Matrix) -> Self {
        let table = schema.columns.is_some();
        // Without columns all features are numbers; where most are absent, 0 stays 0.
        let places = if table { schema.number_features() } else { (0..schema.n_read()).collect() };
        let centre = table || matches!(x, Matrix::Dense(_));
        let Standardizer { scale, mean } = Standardizer::fit_columns(x, None, &places);
        let number = |at: usize| {
            let mean = mean.as_ref().filter(|_| centre).map_or(0.0, |mean| mean[at]);
            ColumnScale { at: at as u32, mean, scale: scale[at] }
        };
        Self(places.into_iter().map(number).collect())
    }

    /// Whether each is a feature of that many, in order, and finite.
    pub(super) fn fits(&self, n_read: usize) -> bool {
        let inside =
            |n: &ColumnScale| (n.at as usize) < n_read && n.mean.is_finite() && n.scale.is_finite();
        self.0.iter().all(inside) && self.0.is_sorted_by(|a, b| a.at < b.at)
    }

    /// What was done to a feature, if anything.
    pub(super) fn of(&self, feature: usize) -> Option<&ColumnScale> {
        let found = self.0.binary_search_by_key(&feature, |scale| scale.at as usize);
        found.ok().map(|at| &self.0[at])
    }

    /// The matrix with numbers rescaled.
    pub(super) fn apply<'x>(&self, x: Cow<'x, Matrix>) -> Cow<'x, Matrix> {
        if self.0.is_empty() { x } else { Cow::Owned(rescale_columns(&x, &self.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::{Csr, Dense};

    #[test]
    fn numbers_have_mean_zero_and_deviation_one_sparse_or_dense() {
        let values = vec![1.0, 7.0, 0.0, 0.0, 5.0, 7.0];
        let dense = Matrix::Dense(Dense::new(3, 2, values).unwrap());
        let csr = Csr::new(2, vec![0, 2, 2, 4], vec![0, 1, 0, 1], vec![1.0, 7.0, 5.0, 7.0]);
        let sparse = Matrix::Sparse(csr.unwrap());
        let numbers = Numbers(vec![ColumnScale { at: 0, mean: 2.0, scale: 0.5 }]);
        let scaled = numbers.apply(Cow::Borrowed(&sparse)).into_owned();
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
        assert_eq!(values(&scaled, 0), [-0.5, -1.0, 1.5]);
        assert_eq!(values(&scaled, 1), [7.0, 0.0, 7.0]);
        let of_dense = numbers.apply(Cow::Borrowed(&dense));
        assert_eq!(values(&of_dense, 0), values(&scaled, 0));
        assert!(numbers.fits(1) && !numbers.fits(0));
    }
}
