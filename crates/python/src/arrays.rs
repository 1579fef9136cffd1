//! Arrays to matrices, without a copy where their layout allows.

use crate::errors::refused;
use lineal::linalg::{Csr, Dense, Integers, Loan, Matrix, Numbers, Order, lend};
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Whole numbers: row pointers, or columns.
#[derive(FromPyObject)]
pub(crate) enum WholeNumbers<'py> {
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
}

/// Values of a sparse matrix.
#[derive(FromPyObject)]
pub(crate) enum Values<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
}

/// What Python hands over as features: an array in either order, or the parts of a CSR matrix with its width.
#[derive(FromPyObject)]
pub(crate) enum Features<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    /// `(n_features, row pointers, columns, values)`.
    Sparse(usize, WholeNumbers<'py>, WholeNumbers<'py>, Values<'py>),
}

impl<'py> WholeNumbers<'py> {
    fn lent<'env>(&'env self, loan: &Loan<'env>) -> PyResult<Integers> {
        Ok(match self {
            Self::I32(array) => loan.buffer(array.as_slice().map_err(refused)?).into(),
            Self::I64(array) => loan.buffer(array.as_slice().map_err(refused)?).into(),
        })
    }
}

impl<'py> Values<'py> {
    fn py(&self) -> Python<'py> {
        match self {
            Self::F32(array) => array.py(),
            Self::F64(array) => array.py(),
        }
    }

    fn lent<'env>(&'env self, loan: &Loan<'env>) -> PyResult<Numbers> {
        Ok(match self {
            Self::F32(array) => loan.buffer(array.as_slice().map_err(refused)?).into(),
            Self::F64(array) => loan.buffer(array.as_slice().map_err(refused)?).into(),
        })
    }
}

/// The matrix of an array.
fn dense<'env, T: Element + Sync + 'static>(
    loan: &Loan<'env>,
    array: &'env PyReadonlyArray2<'_, T>,
) -> PyResult<Matrix>
where
    Numbers: From<lineal::linalg::Buffer<T>>,
{
    let order = if array.is_c_contiguous() { Order::Rows } else { Order::Columns };
    let values = loan.buffer(array.as_slice().map_err(refused)?);
    let (n_rows, n_cols) = (array.shape()[0], array.shape()[1]);
    // Numbers of double precision are copied, which other threads need not wait for.
    let x = array.py().detach(|| Dense::from_array(n_rows, n_cols, values, order));
    x.map(Matrix::Dense).map_err(refused)
}

impl Features<'_> {
    /// Calls `f` with the matrix, which shares the memory of the arrays and must be gone when `f` returns.
    pub(crate) fn with<R>(&self, f: impl FnOnce(Matrix) -> PyResult<R>) -> PyResult<R> {
        lend(|loan| {
            f(match self {
                Self::F32(array) => dense(loan, array)?,
                Self::F64(array) => dense(loan, array)?,
                Self::Sparse(n_cols, start, columns, values) => {
                    let py = values.py();
                    let (start, columns, values) =
                        (start.lent(loan)?, columns.lent(loan)?, values.lent(loan)?);
                    // Each entry is looked at, which other threads need not wait for.
                    let x = py.detach(|| Csr::from_arrays(*n_cols, start, columns, values));
                    Matrix::Sparse(x.map_err(refused)?)
                }
            })
        })
    }
}
