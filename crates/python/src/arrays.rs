//! Arrays to matrices.

use crate::errors::refused;
use lineal::linalg::{Csr, Dense, Matrix};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// What Python hands over as features: a C-ordered array of f32, or the parts of a CSR matrix with its width.
#[derive(FromPyObject)]
pub(crate) enum Features<'py> {
    /// `(n_features, row pointers, columns, values)`.
    Sparse(usize, PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f32>),
    /// One row after the other.
    Dense(PyReadonlyArray2<'py, f32>),
}

impl Features<'_> {
    /// The matrix.
    pub(crate) fn matrix(&self) -> PyResult<Matrix> {
        match self {
            Self::Dense(array) => {
                let (n_rows, n_cols) = (array.shape()[0], array.shape()[1]);
                let values = array.as_slice().map_err(refused)?.to_vec();
                Dense::new(n_rows, n_cols, values).map(Matrix::Dense).map_err(refused)
            }
            Self::Sparse(n_cols, start, columns, values) => {
                let start = start.as_slice().map_err(refused)?.to_vec();
                let columns = columns.as_slice().map_err(refused)?.to_vec();
                let values = values.as_slice().map_err(refused)?.to_vec();
                Csr::new(*n_cols, start, columns, values).map(Matrix::Sparse).map_err(refused)
            }
        }
    }
}
