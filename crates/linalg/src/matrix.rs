//! Rows of data, sparse or dense, and the matrices that hold them.

use crate::buffer::Buffer;
use crate::kernels;
use thiserror::Error;

/// One row of a [`Matrix`]. Kernels match on it once, not once an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row<'a> {
    /// Only some columns.
    Sparse(SparseRow<'a>),
    /// Every column's value.
    Dense(&'a [f32]),
}

/// Column indices, strictly increasing, with their values. Valid by construction: one look at the last
/// index tells kernels that none is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseRow<'a> {
    idx: &'a [u32],
    val: &'a [f32],
}

impl<'a> SparseRow<'a> {
    /// Takes the two slices if they are as long and the indices rise strictly.
    pub fn new(idx: &'a [u32], val: &'a [f32]) -> Option<Self> {
        let rising = idx.windows(2).all(|p| p[0] < p[1]);
        (rising && idx.len() == val.len()).then_some(Self { idx, val })
    }

    /// Slices of which the crate knows that they are as long and that the indices rise strictly.
    #[inline]
    pub(crate) fn in_order(idx: &'a [u32], val: &'a [f32]) -> Self {
        debug_assert!(idx.len() == val.len() && idx.windows(2).all(|p| p[0] < p[1]));
        Self { idx, val }
    }

    /// Columns, strictly increasing.
    #[inline]
    pub fn idx(&self) -> &'a [u32] {
        self.idx
    }

    /// As many values as columns.
    #[inline]
    pub fn val(&self) -> &'a [f32] {
        self.val
    }

    /// The first `n` entries, or all where there are fewer, and the rest.
    #[inline]
    pub fn split_at(&self, n: usize) -> (Self, Self) {
        let n = n.min(self.idx.len());
        let ((idx, more_idx), (val, more_val)) = (self.idx.split_at(n), self.val.split_at(n));
        (Self { idx, val }, Self { idx: more_idx, val: more_val })
    }
}

impl<'a> Row<'a> {
    /// A sparse row, if the indices rise strictly and there are as many values.
    pub fn sparse(idx: &'a [u32], val: &'a [f32]) -> Option<Self> {
        SparseRow::new(idx, val).map(Row::Sparse)
    }

    /// The stored values.
    #[inline]
    pub fn values(&self) -> &'a [f32] {
        match self {
            Row::Sparse(x) => x.val,
            Row::Dense(val) => val,
        }
    }

    /// How many entries are stored.
    pub fn nnz(&self) -> usize {
        self.values().len()
    }

    /// Σ xⱼ², in f64.
    pub fn norm_sq(&self) -> f64 {
        self.values().iter().map(|&v| f64::from(v) * f64::from(v)).sum()
    }

    /// Calls `f(column, value)` for each stored entry, in order of columns.
    #[inline]
    pub fn for_each(&self, mut f: impl FnMut(usize, f32)) {
        match self {
            Row::Sparse(x) => {
                for (&j, &v) in x.idx.iter().zip(x.val) {
                    f(j as usize, v);
                }
            }
            Row::Dense(val) => {
                for (j, &v) in val.iter().enumerate() {
                    f(j, v);
                }
            }
        }
    }
}

/// Why buffers do not form a matrix.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// Row pointers do not start at 0, fall, or do not end at the number of entries.
    #[error("row pointers must rise from 0 to the number of entries, {0}")]
    Indptr(usize),
    /// Indices and values differ in number.
    #[error("{0} indices but {1} values")]
    Lengths(usize, usize),
    /// A row's indices are not strictly increasing below `n_cols`.
    #[error("row {0} has column indices that repeat, fall, or exceed the {1} columns")]
    Indices(usize, usize),
    /// The values do not fill whole rows.
    #[error("{0} values do not fill rows of {1} columns")]
    Ragged(usize, usize),
    /// Matrices side by side differ in rows, or below one another in columns.
    #[error("{0} rows or columns beside {1}")]
    Apart(usize, usize),
}

/// Sparse rows, one after the other. Indices are valid by construction: kernels rely on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    pub(crate) n_cols: usize,
    pub(crate) indptr: Vec<usize>,
    pub(crate) idx: Buffer<u32>,
    pub(crate) val: Buffer<f32>,
}

impl Csr {
    /// Checks and takes the buffers: row `i` is `indptr[i]..indptr[i+1]`.
    pub fn new(
        n_cols: usize,
        indptr: Vec<usize>,
        idx: Vec<u32>,
        val: Vec<f32>,
    ) -> Result<Self, ShapeError> {
        Self::from_buffers(n_cols, indptr, idx.into(), val.into())
    }

    /// The same of buffers that may be [somebody else's](Buffer::shared).
    pub fn from_buffers(
        n_cols: usize,
        indptr: Vec<usize>,
        idx: Buffer<u32>,
        val: Buffer<f32>,
    ) -> Result<Self, ShapeError> {
        if idx.len() != val.len() {
            return Err(ShapeError::Lengths(idx.len(), val.len()));
        }
        if indptr.first() != Some(&0) || indptr.last() != Some(&idx.len()) || !indptr.is_sorted() {
            return Err(ShapeError::Indptr(idx.len()));
        }
        for (i, span) in indptr.windows(2).enumerate() {
            let row = &idx[span[0]..span[1]];
            // No early exit: this loop vectorises, and rows are almost always in order.
            let rising = row.windows(2).fold(true, |rising, p| rising & (p[0] < p[1]));
            if !rising || row.last().is_some_and(|&j| j as usize >= n_cols) {
                return Err(ShapeError::Indices(i, n_cols));
            }
        }
        Ok(Self { n_cols, indptr, idx, val })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        let span = self.indptr[i]..self.indptr[i + 1];
        Row::Sparse(SparseRow { idx: &self.idx[span.clone()], val: &self.val[span] })
    }

    /// The stored values, to rescale in place.
    pub fn values_mut(&mut self) -> (&[u32], &mut [f32]) {
        (&self.idx, self.val.to_mut())
    }

    /// Appends the rows of a matrix of as many columns.
    pub fn extend(&mut self, more: &Csr) -> Result<(), ShapeError> {
        if self.n_cols != more.n_cols {
            return Err(ShapeError::Apart(self.n_cols, more.n_cols));
        }
        let before = self.idx.len();
        self.idx.to_mut().extend_from_slice(&more.idx);
        self.val.to_mut().extend_from_slice(&more.val);
        self.indptr.extend(more.indptr[1..].iter().map(|end| before + end));
        Ok(())
    }

    /// Each row of `left`, whose stored columns are all below `at`, followed by this matrix's row, whose columns move up by
    /// `at`. Zeros of dense rows are not stored.
    ///
    /// Rows are moved from the last to the first within their own buffers, so no second copy is ever held.
    pub fn beside(mut self, left: &Matrix, at: usize) -> Result<Csr, ShapeError> {
        let n_rows = self.n_rows();
        if left.n_rows() != n_rows {
            return Err(ShapeError::Apart(left.n_rows(), n_rows));
        }
        let n_cols = at.saturating_add(self.n_cols);
        let shift = u32::try_from(n_cols).map(|_| at as u32);
        let shift = shift.map_err(|_| ShapeError::Indices(0, n_cols))?;
        let mut kept = Vec::with_capacity(n_rows);
        for i in 0..n_rows {
            let (mut n, mut inside) = (0, true);
            left.row(i).for_each(|j, v| {
                n += usize::from(v != 0.0);
                inside &= v == 0.0 || j < at;
            });
            if !inside {
                return Err(ShapeError::Indices(i, at));
            }
            kept.push(n);
        }
        let mut free = self.idx.len() + kept.iter().sum::<usize>();
        let (idx, val) = (self.idx.to_mut(), self.val.to_mut());
        idx.resize(free, 0);
        val.resize(free, 0.0);
        for i in (0..n_rows).rev() {
            let span = self.indptr[i]..self.indptr[i + 1];
            self.indptr[i + 1] = free;
            free -= span.len();
            idx[span.clone()].iter_mut().for_each(|j| *j += shift);
            idx.copy_within(span.clone(), free);
            val.copy_within(span, free);
            free -= kept[i];
            let mut to = free;
            left.row(i).for_each(|j, v| {
                if v != 0.0 {
                    (idx[to], val[to]) = (j as u32, v);
                    to += 1;
                }
            });
        }
        self.n_cols = n_cols;
        Ok(self)
    }

    /// The same rows seen with more columns (none of them stored). Never fewer.
    pub fn widen(&mut self, n_cols: usize) {
        self.n_cols = self.n_cols.max(n_cols);
    }
}

/// Dense rows, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    pub(crate) n_cols: usize,
    pub(crate) n_rows: usize,
    pub(crate) val: Buffer<f32>,
}

impl Dense {
    /// Checks and takes row-major values.
    pub fn new(n_rows: usize, n_cols: usize, val: Vec<f32>) -> Result<Self, ShapeError> {
        Self::from_buffer(n_rows, n_cols, val.into())
    }

    /// The same of a buffer that may be [somebody else's](Buffer::shared).
    pub fn from_buffer(n_rows: usize, n_cols: usize, val: Buffer<f32>) -> Result<Self, ShapeError> {
        if n_rows.checked_mul(n_cols) != Some(val.len()) {
            return Err(ShapeError::Ragged(val.len(), n_cols));
        }
        Ok(Self { n_cols, n_rows, val })
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        Row::Dense(&self.val[i * self.n_cols..(i + 1) * self.n_cols])
    }

    /// The values, row-major, to rescale in place.
    pub fn values_mut(&mut self) -> &mut [f32] {
        self.val.to_mut()
    }
}

/// Sparse or dense rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// Only the nonzeros are stored.
    Sparse(Csr),
    /// Everything is stored.
    Dense(Dense),
}

impl AsRef<Matrix> for Matrix {
    fn as_ref(&self) -> &Matrix {
        self
    }
}

impl Matrix {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Matrix::Sparse(m) => m.n_rows(),
            Matrix::Dense(m) => m.n_rows,
        }
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        match self {
            Matrix::Sparse(m) => m.n_cols,
            Matrix::Dense(m) => m.n_cols,
        }
    }

    /// How many entries are stored.
    pub fn nnz(&self) -> usize {
        match self {
            Matrix::Sparse(m) => m.idx.len(),
            Matrix::Dense(m) => m.val.len(),
        }
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        match self {
            Matrix::Sparse(m) => m.row(i),
            Matrix::Dense(m) => m.row(i),
        }
    }

    /// Asks for where row `i` lies.
    #[inline]
    pub fn prefetch_start(&self, i: usize) {
        if let Matrix::Sparse(m) = self {
            kernels::prefetch_at(&m.indptr, i);
        }
    }

    /// Asks for the weights that the first entries of row `i` meet, `k` a column.
    #[inline]
    pub fn prefetch_weights<F>(&self, i: usize, w: &[F], k: usize) {
        if let Row::Sparse(x) = self.row(i) {
            x.idx.iter().take(24).for_each(|&j| kernels::prefetch_at(w, j as usize * k));
        }
    }

    /// Asks for row `i` to be brought near: worth it a few rows ahead of a visit in random order.
    #[inline]
    pub fn prefetch(&self, i: usize) {
        let values = match self.row(i) {
            Row::Sparse(x) => {
                prefetch_slice(x.idx);
                x.val
            }
            Row::Dense(x) => x,
        };
        prefetch_slice(values);
    }

    /// Sparse rows that are at least a third full as a matrix without gaps, whose products with weights are several times faster. `None` for other rows, and for more than `most` numbers.
    pub fn densified(&self, most: usize) -> Option<Matrix> {
        let (n, d) = (self.n_rows(), self.n_cols());
        let size = n.checked_mul(d).filter(|&size| size <= most)?;
        if !matches!(self, Matrix::Sparse(_)) || 3 * self.nnz() < size {
            return None;
        }
        let mut values = vec![0.0; size];
        for (i, row) in values.chunks_exact_mut(d.max(1)).enumerate() {
            self.row(i).for_each(|at, value| row[at] = value);
        }
        Dense::new(n, d, values).ok().map(Matrix::Dense)
    }

    /// A copy of some rows, in the order asked for.
    pub fn select(&self, rows: &[usize]) -> Matrix {
        match self {
            Matrix::Sparse(m) => {
                let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
                for &i in rows {
                    let span = m.indptr[i]..m.indptr[i + 1];
                    idx.extend_from_slice(&m.idx[span.clone()]);
                    val.extend_from_slice(&m.val[span]);
                    indptr.push(idx.len());
                }
                let (idx, val) = (idx.into(), val.into());
                Matrix::Sparse(Csr { n_cols: m.n_cols, indptr, idx, val })
            }
            Matrix::Dense(m) => {
                let mut val = Vec::with_capacity(rows.len() * m.n_cols);
                for &i in rows {
                    val.extend_from_slice(&m.val[i * m.n_cols..(i + 1) * m.n_cols]);
                }
                Matrix::Dense(Dense { n_cols: m.n_cols, n_rows: rows.len(), val: val.into() })
            }
        }
    }
}

/// Prefetches the first kilobyte of a slice.
#[inline]
fn prefetch_slice<T>(slice: &[T]) {
    const LINE: usize = 64;
    let lines = size_of_val(slice).div_ceil(LINE).min(16);
    for line in 0..lines {
        kernels::prefetch(slice.as_ptr().wrapping_byte_add(line * LINE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_shapes_are_refused() {
        let csr = |indptr: &[usize], idx: &[u32]| {
            Csr::new(3, indptr.to_vec(), idx.to_vec(), vec![1.0; idx.len()])
        };
        assert_eq!(csr(&[0, 1], &[3]), Err(ShapeError::Indices(0, 3)));
        assert_eq!(csr(&[0, 2], &[1, 1]), Err(ShapeError::Indices(0, 3)));
        assert_eq!(csr(&[0, 2], &[1]), Err(ShapeError::Indptr(1)));
        assert_eq!(csr(&[1, 1], &[1]), Err(ShapeError::Indptr(1)));
        assert!(csr(&[0, 0, 2], &[0, 2]).is_ok());
        assert_eq!(Dense::new(2, 2, vec![0.0; 3]), Err(ShapeError::Ragged(3, 2)));
    }

    #[test]
    fn matrices_stand_side_by_side_and_below_one_another() {
        let right = Csr::new(2, vec![0, 2, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0]).unwrap();
        let dense = Matrix::Dense(Dense::new(3, 2, vec![0.0, 4.0, 5.0, 6.0, 0.0, 0.0]).unwrap());
        let both = right.clone().beside(&dense, 2).unwrap();
        let expected = Csr::new(
            4,
            vec![0, 3, 5, 6],
            vec![1, 2, 3, 0, 1, 3],
            vec![4.0, 1.0, 2.0, 5.0, 6.0, 3.0],
        );
        assert_eq!(Ok(&both), expected.as_ref());
        assert_eq!(right.clone().beside(&dense, 1), Err(ShapeError::Indices(0, 1)));
        let short = Matrix::Dense(Dense::new(2, 0, vec![]).unwrap());
        assert_eq!(right.clone().beside(&short, 0), Err(ShapeError::Apart(2, 3)));
        let none = Matrix::Dense(Dense::new(3, 0, vec![]).unwrap());
        assert_eq!(right.clone().beside(&none, 0).as_ref(), Ok(&right));

        let mut twice = right.clone();
        twice.extend(&right).unwrap();
        assert_eq!((twice.n_rows(), twice.row(5)), (6, right.row(2)));
        assert_eq!(twice.extend(&both), Err(ShapeError::Apart(2, 4)));
    }

    #[test]
    fn select_copies_rows_in_order() {
        let x = Csr::new(3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 5.0]).unwrap();
        let picked = Matrix::Sparse(x).select(&[1, 0, 1]);
        assert_eq!(picked.n_rows(), 3);
        assert_eq!(Some(picked.row(2)), Row::sparse(&[1], &[5.0]));
    }
}
