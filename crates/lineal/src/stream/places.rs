//! Which row of the tables a LIBSVM index has.
//!
//! While tables with a row for each index up to the largest are small, that is what they are. Where they would be large and seven in eight of their rows empty (hashes, the
//! numbers of users), only indices that have occurred have rows, in their order. Sums over the entries of an example then run in the same order, and a row that is not
//! there is one of zeros, so what is learnt has the same bits either way. The model's file follows from the tables alone, so that a run that is taken up again writes the same.

use lineal_linalg::{Csr, Matrix, Row, ShapeError};
use lineal_solver::OnlineState;

/// Tables of so many weights have a row for each index.
const SMALL_TABLE: usize = 1 << 24;

/// Models of so many features have one for each index, as without a stream.
pub(super) const SMALL: usize = 1 << 17;

/// How many times as many rows as are used are too many.
const TOO_MANY: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// The indices that have rows, rising, counted from 0; `None` if all up to the largest have.
    pub ids: Option<Vec<u32>>,
    /// The largest index so far, counted from 1.
    pub n_indices: usize,
}

impl Places {
    /// How many features have rows.
    pub fn n_features(&self) -> usize {
        self.ids.as_ref().map_or(self.n_indices, Vec::len)
    }

    /// Whether rows for these alone are to be had, of so many outputs.
    pub fn are_few(n_indices: usize, n_outputs: usize, n_used: usize) -> bool {
        n_indices.saturating_mul(n_outputs) > SMALL_TABLE && n_indices > TOO_MANY * n_used
    }

    /// The same for a model's file.
    pub fn are_few_in_file(n_indices: usize, n_used: usize) -> bool {
        n_indices > SMALL && n_indices > TOO_MANY * n_used
    }

    /// Where the rows of indices are, for examples that have these indices (rising); all of them must have rows.
    pub fn of(&self, distinct: &[u32]) -> Vec<u32> {
        let ids = self.ids.as_deref().unwrap_or_default();
        let mut from = 0;
        let place = |&id: &u32| {
            from += ids[from..].partition_point(|&other| other < id);
            from as u32
        };
        distinct.iter().map(place).collect()
    }

    /// Examples with rows in place of indices; `distinct` are the indices in them.
    pub fn number(&self, x: &Csr, distinct: &[u32]) -> Result<Matrix, ShapeError> {
        let places = self.of(distinct);
        let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
        for i in 0..x.n_rows() {
            x.row(i).for_each(|j, value| {
                let at = distinct.partition_point(|&id| (id as usize) < j);
                idx.push(places[at]);
                val.push(value);
            });
            indptr.push(idx.len());
        }
        Csr::new(self.n_features(), indptr, idx, val).map(Matrix::Sparse)
    }
}

/// The largest index of any row, counted from 1.
pub(super) fn largest(x: &Csr) -> usize {
    let last = |i| match x.row(i) {
        Row::Sparse(row) => row.idx().last().map_or(0, |&j| j as usize + 1),
        Row::Dense(row) => row.len(),
    };
    (0..x.n_rows()).map(last).max().unwrap_or(0)
}

/// The indices of a chunk, rising.
pub(super) fn distinct(x: &Csr) -> Vec<u32> {
    let mut all = Vec::new();
    (0..x.n_rows()).for_each(|i| x.row(i).for_each(|j, _| all.push(j as u32)));
    all.sort_unstable();
    all.dedup();
    all
}

/// Both lists in one, rising.
pub(super) fn merged(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = [a, b].concat();
    // A sort of two runs is a merge.
    all.sort();
    all.dedup();
    all
}

/// The rows of features, without the last `n_bias`, in which some table has a bit set.
pub(super) fn used(state: &OnlineState, n_bias: usize) -> Vec<usize> {
    fn any<T: Copy>(table: &[T], n_rows: usize, row: usize, is_set: impl Fn(T) -> bool) -> bool {
        let width = table.len() / n_rows;
        table[row * width..][..width].iter().any(|&value| is_set(value))
    }
    let is_set = |value: f32| value.to_bits() != 0;
    let n = state.n_rows;
    let is_used = |row: usize| {
        any(&state.weights, n, row, is_set)
            || any(&state.squares, n, row, is_set)
            || any(&state.largest, n, row, is_set)
            || state.sum.as_ref().is_some_and(|(sum, _)| any(sum, n, row, |v| v.to_bits() != 0))
    };
    (0..n - n_bias.min(n)).filter(|&row| is_used(row)).collect()
}

/// Tables of `n_features` and the bias, to which row `old` of a feature has moved if `to` has its new place; the others are left out.
pub(super) fn moved(
    state: OnlineState,
    n_bias: usize,
    n_features: usize,
    rows: impl Iterator<Item = (usize, usize)> + Clone,
) -> OnlineState {
    fn table<T: Copy + Default>(
        old: Vec<T>,
        n_old: usize,
        n_new: usize,
        rows: impl Iterator<Item = (usize, usize)>,
    ) -> Vec<T> {
        let width = old.len() / n_old.max(1);
        let mut new = vec![T::default(); n_new * width];
        for (from, to) in rows {
            new[to * width..][..width].copy_from_slice(&old[from * width..][..width]);
        }
        new
    }
    let (n_old, n_new) = (state.n_rows, n_features + n_bias);
    let bias = (0..n_bias).map(|b| (n_old - n_bias + b, n_features + b));
    let rows = rows.chain(bias);
    OnlineState {
        n_rows: n_new,
        weights: table(state.weights, n_old, n_new, rows.clone()),
        squares: table(state.squares, n_old, n_new, rows.clone()),
        largest: table(state.largest, n_old, n_new, rows.clone()),
        sum: state.sum.map(|(sum, steps)| (table(sum, n_old, n_new, rows), steps)),
        ..state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> OnlineState {
        OnlineState {
            n_rows: 4,
            n_columns: 2,
            weights: vec![0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 7.0, 8.0],
            largest: vec![0.0, 3.0, 4.0, 1.0],
            ..OnlineState::default()
        }
    }

    #[test]
    fn rows_move_and_the_bias_stays_last() {
        assert_eq!(used(&state(), 1), [1, 2]);
        let few = moved(state(), 1, 2, [(1, 0), (2, 1)].into_iter());
        assert_eq!(few.weights, [1.0, 2.0, 0.0, 0.0, 7.0, 8.0]);
        assert_eq!((few.largest.as_slice(), few.n_rows), (&[3.0, 4.0, 1.0][..], 3));
        assert!(few.squares.is_empty());
        assert_eq!(moved(few, 1, 3, [(0, 1), (1, 2)].into_iter()), state());
    }

    #[test]
    fn entries_keep_their_order() {
        let x = Csr::new(1 << 31, vec![0, 2, 3], vec![5, 2_000_000_000, 9], vec![1.0, 2.0, 3.0]);
        let x = x.unwrap();
        assert_eq!((largest(&x), distinct(&x)), (2_000_000_001, vec![5, 9, 2_000_000_000]));
        let ids = merged(&[5, 7], &distinct(&x));
        let places = Places { ids: Some(ids), n_indices: largest(&x) };
        let Matrix::Sparse(numbered) = places.number(&x, &distinct(&x)).unwrap() else {
            panic!("sparse")
        };
        assert_eq!(numbered.row(0), Row::sparse(&[0, 3], &[1.0, 2.0]).unwrap());
        assert_eq!(numbered.row(1), Row::sparse(&[2], &[3.0]).unwrap());
    }
}
