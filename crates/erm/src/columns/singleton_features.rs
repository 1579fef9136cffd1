//! Features that occur in one row only.
//!
//! The weights of such a feature j are those that its row i gives it, w_j = (shareᵢ/l2) c aᵢ xᵢⱼ, so that while training nobody needs
//! them: together they add (shareᵢ/l2) c aᵢ Σⱼ xᵢⱼ² to the row's scores. In text they are half of all features, and the half
//! that is never in a cache.

use lineal_linalg::{Matrix, Row};

/// Which entries of each row stand alone. Only the last features are looked at: text has its features by falling frequency.
#[derive(Debug)]
pub(super) struct SingletonFeatures {
    /// For each row how many entries come before, and the squares of those that stand alone; empty where no feature does.
    rows: Vec<(u32, f32)>,
    /// The first feature from which on all stand alone.
    first: usize,
}

impl SingletonFeatures {
    pub(super) fn new(x: &Matrix) -> Self {
        let none = Self { rows: Vec::new(), first: x.n_cols() };
        if matches!(x, Matrix::Dense(_)) {
            return none;
        }
        let mut often = vec![0u8; x.n_cols()];
        for i in 0..x.n_rows() {
            x.row(i).for_each(|j, _| often[j] = (often[j] + 1).min(2));
        }
        let first = often.iter().rposition(|&n| n > 1).map_or(0, |j| j + 1);
        if first == x.n_cols() {
            return none;
        }
        let of_row = |i: usize| {
            let (mut before, mut square) = (0, 0.0);
            x.row(i).for_each(|j, v| {
                if j < first {
                    before += 1;
                } else {
                    square += f64::from(v) * f64::from(v);
                }
            });
            (before, square as f32)
        };
        Self { rows: (0..x.n_rows()).map(of_row).collect(), first }
    }

    /// The entries of row `i` that share their features with other rows.
    #[inline]
    pub(super) fn shared<'x>(&self, x: &'x Matrix, i: usize) -> Row<'x> {
        match (self.rows.get(i), x.row(i)) {
            (Some(&(before, _)), Row::Sparse(row)) => Row::Sparse(row.split_at(before as usize).0),
            (_, row) => row,
        }
    }

    /// The entries of row `i` that stand alone.
    #[inline]
    pub(super) fn alone<'x>(&self, x: &'x Matrix, i: usize) -> Row<'x> {
        match (self.rows.get(i), x.row(i)) {
            (Some(&(before, _)), Row::Sparse(row)) => Row::Sparse(row.split_at(before as usize).1),
            (_, Row::Sparse(row)) => Row::Sparse(row.split_at(row.idx().len()).1),
            (_, Row::Dense(_)) => Row::Dense(&[]),
        }
    }

    /// Σⱼ xᵢⱼ² over these.
    #[inline]
    pub(super) fn square(&self, i: usize) -> f32 {
        self.rows.get(i).map_or(0.0, |&(_, square)| square)
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The first feature from which on all stand alone: their number where none does.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Asks for what is known of row `i` to be brought near.
    #[inline]
    pub(super) fn prefetch(&self, i: usize) {
        lineal_linalg::kernels::prefetch_at(&self.rows, i);
    }
}
