//! Matrices from the arrays of other libraries: compressed sparse rows with pointers and indices of 32 or 64 bits, dense values in either order, in single or double precision.
//!
//! What lies in memory as it must is kept as it is: indices of 32 bits and values in single precision. Pointers are copied, indices of 64 bits and values in double precision are narrowed once, and
//! a dense array whose columns are contiguous is transposed.

use crate::{Buffer, Csr, Dense};
use thiserror::Error;

/// Whole numbers in the type that an array has.
#[derive(Clone, Debug)]
pub enum Integers {
    /// With a sign, 32 bits.
    I32(Buffer<i32>),
    /// With a sign, 64 bits.
    I64(Buffer<i64>),
    /// Without a sign, 32 bits.
    U32(Buffer<u32>),
    /// Without a sign, 64 bits.
    U64(Buffer<u64>),
}

/// Numbers in the precision that an array has.
#[derive(Clone, Debug)]
pub enum Numbers {
    /// Single precision.
    F32(Buffer<f32>),
    /// Double precision.
    F64(Buffer<f64>),
}

macro_rules! from_arrays {
    ($($to:ident::$kind:ident of $number:ty),+) => {$(
        impl From<Buffer<$number>> for $to {
            fn from(buffer: Buffer<$number>) -> Self {
                $to::$kind(buffer)
            }
        }
        impl From<Vec<$number>> for $to {
            fn from(own: Vec<$number>) -> Self {
                $to::$kind(own.into())
            }
        }
    )+};
}
from_arrays!(
    Integers::I32 of i32,
    Integers::I64 of i64,
    Integers::U32 of u32,
    Integers::U64 of u64,
    Numbers::F32 of f32,
    Numbers::F64 of f64
);

/// How the values of a dense array follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Row by row ("C order").
    #[default]
    Rows,
    /// Column by column ("Fortran order").
    Columns,
}

/// Why arrays do not form a matrix. The message begins with the argument that is to blame.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayError {
    /// There is not even the pointer to the first row.
    #[error("indptr is empty; it has one entry more than there are rows")]
    NoPointers,
    /// A row would begin before 0, before the row above it, or after the last entry.
    #[error(
        "indptr[{at}] is {value}; row pointers rise from 0 to at most the number of entries, which is {n_entries}"
    )]
    Pointer {
        /// Which entry of `indptr`.
        at: usize,
        /// What it is.
        value: i128,
        /// The number of indices.
        n_entries: usize,
    },
    /// Not as many values as indices.
    #[error(
        "values has {values} entries, and indices has {indices}; both have one for each number that is stored"
    )]
    Lengths {
        /// How many indices.
        indices: usize,
        /// How many values.
        values: usize,
    },
    /// A column that is not there.
    #[error("indices[{at}] is {value}; the columns are 0 to {}", n_cols.wrapping_sub(1))]
    Index {
        /// Which entry of `indices`.
        at: usize,
        /// What it is.
        value: i128,
        /// The number of columns.
        n_cols: usize,
    },
    /// Not as many values as a matrix of this shape has.
    #[error("values has {values} entries, which are not {n_rows} rows of {n_cols}")]
    Shape {
        /// How many.
        values: usize,
        /// Rows that were to be.
        n_rows: usize,
        /// Columns that were to be.
        n_cols: usize,
    },
}

impl Integers {
    fn len(&self) -> usize {
        match self {
            Integers::I32(v) => v.len(),
            Integers::I64(v) => v.len(),
            Integers::U32(v) => v.len(),
            Integers::U64(v) => v.len(),
        }
    }

    fn truncate(&mut self, len: usize) {
        match self {
            Integers::I32(v) => v.truncate(len),
            Integers::I64(v) => v.truncate(len),
            Integers::U32(v) => v.truncate(len),
            Integers::U64(v) => v.truncate(len),
        }
    }

    fn get(&self, at: usize) -> i128 {
        match self {
            Integers::I32(v) => v[at].into(),
            Integers::I64(v) => v[at].into(),
            Integers::U32(v) => v[at].into(),
            Integers::U64(v) => v[at].into(),
        }
    }

    /// Row pointers into so many entries.
    fn pointers(&self, n_entries: usize) -> Result<Vec<usize>, ArrayError> {
        /// A negative one becomes larger than any number of entries.
        fn each<T: Copy>(from: &[T], to: impl Fn(T) -> Option<usize>) -> Vec<usize> {
            from.iter().map(|&v| to(v).unwrap_or(usize::MAX)).collect()
        }
        let pointers = match self {
            Integers::I32(v) => each(v, |v| v.try_into().ok()),
            Integers::I64(v) => each(v, |v| v.try_into().ok()),
            Integers::U32(v) => each(v, |v| v.try_into().ok()),
            Integers::U64(v) => each(v, |v| v.try_into().ok()),
        };
        let Some(&first) = pointers.first() else { return Err(ArrayError::NoPointers) };
        let falls = || pointers.windows(2).position(|p| p[1] < p[0] || p[1] > n_entries);
        let wrong = if first == 0 { falls().map(|at| at + 1) } else { Some(0) };
        match wrong {
            Some(at) => Err(ArrayError::Pointer { at, value: self.get(at), n_entries }),
            None => Ok(pointers),
        }
    }

    /// Columns below `n_cols`, in 32 bits.
    fn columns(self, n_cols: usize) -> Result<Buffer<u32>, ArrayError> {
        let wrong = |at: usize, value: i128| ArrayError::Index { at, value, n_cols };
        fn each<T: Copy>(from: &[T], to: impl Fn(T) -> Option<u32>) -> Result<Vec<u32>, usize> {
            let mut columns = Vec::with_capacity(from.len());
            for (at, &v) in from.iter().enumerate() {
                columns.push(to(v).ok_or(at)?);
            }
            Ok(columns)
        }
        match self {
            Integers::U32(v) => Ok(v),
            Integers::I32(v) => v.into_unsigned().map_err(|(at, value)| wrong(at, value.into())),
            Integers::I64(v) => each(&v, |v| v.try_into().ok())
                .map(Buffer::from)
                .map_err(|at| wrong(at, v[at].into())),
            Integers::U64(v) => each(&v, |v| v.try_into().ok())
                .map(Buffer::from)
                .map_err(|at| wrong(at, v[at].into())),
        }
    }
}

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Numbers::F32(v) => v.len(),
            Numbers::F64(v) => v.len(),
        }
    }

    /// In single precision: rounded to the nearest, and infinite where that has no room.
    fn single(self) -> Buffer<f32> {
        match self {
            Numbers::F32(v) => v,
            Numbers::F64(v) => v.iter().map(|&v| v as f32).collect::<Vec<f32>>().into(),
        }
    }
}

impl Csr {
    /// Checks and takes the arrays of compressed sparse rows, as SciPy has them: row `i` has the columns `indices[indptr[i]..indptr[i + 1]]` and their `values`.
    ///
    /// Columns that are not in order are sorted, in a copy, and the values of a column that a row names more than once are added up. Entries after the last row are left out.
    ///
    /// ```
    /// use lineal_linalg::{Csr, Row};
    ///
    /// let x = Csr::from_arrays(3, vec![0i32, 2, 3], vec![2i64, 0, 1], vec![1.5f64, 0.5, 2.0])?;
    /// assert_eq!(Some(x.row(0)), Row::sparse(&[0, 2], &[0.5, 1.5]));
    /// let wrong = Csr::from_arrays(2, vec![0i32, 1], vec![2i32], vec![1.0f32]).unwrap_err();
    /// assert_eq!(wrong.to_string(), "indices[0] is 2; the columns are 0 to 1");
    /// # Ok::<(), lineal_linalg::ArrayError>(())
    /// ```
    pub fn from_arrays(
        n_cols: usize,
        indptr: impl Into<Integers>,
        indices: impl Into<Integers>,
        values: impl Into<Numbers>,
    ) -> Result<Self, ArrayError> {
        let (indptr, mut indices, values) = (indptr.into(), indices.into(), values.into());
        if values.len() != indices.len() {
            return Err(ArrayError::Lengths { indices: indices.len(), values: values.len() });
        }
        let indptr = indptr.pointers(indices.len())?;
        let nnz = indptr.last().copied().unwrap_or(0);
        indices.truncate(nnz);
        let indices = indices.columns(n_cols)?;
        let mut values = values.single();
        values.truncate(nnz);
        let mut sorted = true;
        for span in indptr.windows(2) {
            let row = &indices[span[0]..span[1]];
            // No early exit: these loops vectorise, and rows are almost always in order.
            let rising = row.windows(2).fold(true, |rising, p| rising & (p[0] < p[1]));
            sorted &= rising;
            let last = if rising { row.last().copied() } else { row.iter().copied().max() };
            if last.is_some_and(|last| last as usize >= n_cols) {
                let at = row.iter().position(|&j| j as usize >= n_cols).unwrap_or(0);
                let value = i128::from(row[at]);
                return Err(ArrayError::Index { at: span[0] + at, value, n_cols });
            }
        }
        Ok(match sorted {
            true => Self { n_cols, indptr, idx: indices, val: values },
            false => Self::sorted(n_cols, &indptr, &indices, &values),
        })
    }

    /// A copy with the columns of each row in order, the values of equal ones added in the order in which they came.
    fn sorted(n_cols: usize, indptr: &[usize], indices: &[u32], values: &[f32]) -> Self {
        let (mut idx, mut val) =
            (Vec::with_capacity(indices.len()), Vec::with_capacity(values.len()));
        let (mut ends, mut row) = (Vec::with_capacity(indptr.len()), Vec::new());
        ends.push(0);
        for span in indptr.windows(2) {
            let entries = span[0]..span[1];
            row.clear();
            row.extend(
                indices[entries.clone()].iter().copied().zip(values[entries].iter().copied()),
            );
            row.sort_by_key(|&(j, _)| j);
            let start = idx.len();
            for &(j, v) in &row {
                match val.last_mut().filter(|_| idx.len() > start && idx.last() == Some(&j)) {
                    Some(last) => *last += v,
                    None => {
                        idx.push(j);
                        val.push(v);
                    }
                }
            }
            ends.push(idx.len());
        }
        Self { n_cols, indptr: ends, idx: idx.into(), val: val.into() }
    }
}

/// Columns that are transposed at a time: as many rows of them are written line by line of the cache.
const TILE: usize = 32;

impl Dense {
    /// Checks and takes a dense array of either order.
    ///
    /// ```
    /// use lineal_linalg::{Dense, Order, Row};
    ///
    /// let by_columns = vec![1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0];
    /// let x = Dense::from_array(2, 3, by_columns, Order::Columns)?;
    /// assert_eq!(x.row(0), Row::Dense(&[1.0, 3.0, 5.0]));
    /// # Ok::<(), lineal_linalg::ArrayError>(())
    /// ```
    pub fn from_array(
        n_rows: usize,
        n_cols: usize,
        values: impl Into<Numbers>,
        order: Order,
    ) -> Result<Self, ArrayError> {
        let values = values.into();
        if n_rows.checked_mul(n_cols) != Some(values.len()) {
            return Err(ArrayError::Shape { values: values.len(), n_rows, n_cols });
        }
        let is_one = n_rows <= 1 || n_cols <= 1;
        let val = match (order, &values) {
            (Order::Columns, Numbers::F32(v)) if !is_one => transposed(n_rows, n_cols, v, |v| v),
            (Order::Columns, Numbers::F64(v)) if !is_one => {
                transposed(n_rows, n_cols, v, |v| v as f32)
            }
            _ => values.single(),
        };
        Ok(Self { n_cols, n_rows, val })
    }
}

fn transposed<T: Copy>(
    n_rows: usize,
    n_cols: usize,
    by_columns: &[T],
    to: impl Fn(T) -> f32,
) -> Buffer<f32> {
    let mut rows = vec![0.0f32; by_columns.len()];
    for first in (0..n_cols).step_by(TILE) {
        let tile = first..n_cols.min(first + TILE);
        for (i, row) in rows.chunks_exact_mut(n_cols).enumerate() {
            for (j, out) in tile.clone().zip(&mut row[tile.clone()]) {
                *out = to(by_columns[j * n_rows + i]);
            }
        }
    }
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Row, lend};

    fn entries(x: &Csr) -> Vec<Vec<(usize, f32)>> {
        let row = |i| {
            let mut row = Vec::new();
            x.row(i).for_each(|j, v| row.push((j, v)));
            row
        };
        (0..x.n_rows()).map(row).collect()
    }

    #[test]
    fn every_type_gives_the_same_rows() {
        let (indptr, indices, values) = ([0, 2, 2, 3], [1, 4, 0], [0.5, -2.0, 3.0]);
        let expected = [vec![(1, 0.5), (4, -2.0)], vec![], vec![(0, 3.0)]];
        macro_rules! check {
            ($($pointer:ty, $index:ty);+) => {$(
                let pointers = indptr.map(|v| v as $pointer).to_vec();
                let columns = indices.map(|v| v as $index).to_vec();
                let single = values.map(|v| v as f32).to_vec();
                let x = Csr::from_arrays(5, pointers.clone(), columns.clone(), single).unwrap();
                assert_eq!(entries(&x), expected);
                let x = Csr::from_arrays(5, pointers, columns, values.to_vec()).unwrap();
                assert_eq!(entries(&x), expected);
            )+};
        }
        check!(i32, i32; i64, i64; i32, u32; i64, i32; u32, u64; u64, i64);
    }

    #[test]
    fn what_fits_is_not_copied() {
        let (indptr, indices, values) = (vec![0i64, 2], vec![1i32, 4], vec![0.5f32, 2.0]);
        lend(|loan| {
            let (p, i, v) = (loan.buffer(&indptr), loan.buffer(&indices), loan.buffer(&values));
            let x = Csr::from_arrays(5, p, i, v).unwrap();
            let Row::Sparse(row) = x.row(0) else { panic!("sparse") };
            assert_eq!(row.idx().as_ptr().cast(), indices.as_ptr());
            assert_eq!(row.val().as_ptr(), values.as_ptr());
            let dense = Dense::from_array(1, 2, loan.buffer(&values), Order::Rows).unwrap();
            assert_eq!(dense.row(0).values().as_ptr(), values.as_ptr());
        });
    }

    #[test]
    fn rows_out_of_order_are_sorted_and_repeats_added() {
        let x = Csr::from_arrays(
            9,
            vec![0i32, 4, 5, 7],
            vec![7i32, 2, 7, 0, 3, 3, 1, 8],
            vec![1.0f32, 2.0, 0.5, 4.0, 9.0, 1.0, 1.0, 5.0],
        );
        let expected =
            [vec![(0, 4.0), (2, 2.0), (7, 1.5)], vec![(3, 9.0)], vec![(1, 1.0), (3, 1.0)]];
        assert_eq!(entries(&x.unwrap()), expected);
    }

    #[test]
    fn what_is_wrong_names_its_argument() {
        let csr = |indptr: Vec<i64>, indices: Vec<i32>, n: usize| {
            Csr::from_arrays(3, indptr, indices, vec![1.0f32; n]).unwrap_err().to_string()
        };
        assert!(csr(vec![], vec![], 0).starts_with("indptr is empty"));
        assert!(csr(vec![1, 1], vec![0], 1).starts_with("indptr[0] is 1;"));
        assert!(csr(vec![0, -1], vec![0], 1).starts_with("indptr[1] is -1;"));
        assert!(csr(vec![0, 2], vec![0], 1).starts_with("indptr[1] is 2;"));
        assert!(csr(vec![0, 2, 1], vec![0, 1], 2).starts_with("indptr[2] is 1;"));
        assert!(csr(vec![0, 1], vec![0], 2).starts_with("values has 2 entries"));
        assert!(csr(vec![0, 2], vec![0, 3], 2).starts_with("indices[1] is 3;"));
        assert!(csr(vec![0, 2], vec![5, 1], 2).starts_with("indices[0] is 5;"));
        assert!(csr(vec![0, 1], vec![-7], 1).starts_with("indices[0] is -7;"));
        let wide = Csr::from_arrays(3, vec![0i32, 1], vec![1i64 << 40], vec![1.0f32]);
        assert!(wide.unwrap_err().to_string().starts_with("indices[0] is 1099511627776;"));
        let shape = Dense::from_array(2, 3, vec![0.0f32; 5], Order::Columns).unwrap_err();
        assert_eq!(shape.to_string(), "values has 5 entries, which are not 2 rows of 3");
    }

    #[test]
    fn either_order_gives_the_same_rows() {
        for (n_rows, n_cols) in [(1, 5), (5, 1), (3, 70), (70, 3), (33, 65)] {
            let value = |i: usize, j: usize| (i * 1000 + j) as f64;
            let by_rows: Vec<f64> =
                (0..n_rows * n_cols).map(|at| value(at / n_cols, at % n_cols)).collect();
            let by_columns: Vec<f64> =
                (0..n_rows * n_cols).map(|at| value(at % n_rows, at / n_rows)).collect();
            let narrow = |v: &[f64]| v.iter().map(|&v| v as f32).collect::<Vec<f32>>();
            let expected = Dense::new(n_rows, n_cols, narrow(&by_rows)).unwrap();
            let single = narrow(&by_columns);
            for made in [
                Dense::from_array(n_rows, n_cols, by_rows, Order::Rows),
                Dense::from_array(n_rows, n_cols, by_columns, Order::Columns),
                Dense::from_array(n_rows, n_cols, single, Order::Columns),
            ] {
                assert_eq!(made.as_ref(), Ok(&expected));
            }
        }
    }
}
