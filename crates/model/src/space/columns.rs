//! Yes-or-no questions side by side: what one-vs-all, one-vs-one, output codes and multilabel problems have in common.
//!
//! An example has a *kind*: its class, or its own number where examples have sets of labels. Column l asks the kind
//! c = `signed(kind, l)`: c > 0 is yes, c < 0 is no, 0 takes no part, and |c| is how much the answer counts. A score a
//! column; nothing ties the columns together, so that any run of them is a space of its own.

use super::{OutputSpace, classes::argmax};
use lineal_linalg::Scalar;
use std::ops::Range;

/// What the columns ask.
#[derive(Clone, Copy, Debug)]
pub enum Signs<'a> {
    /// Column l: "class l, or any other?" The kind is the class.
    OneVsAll,
    /// `table[kind · n_columns + l]`.
    Table {
        /// One row a kind.
        table: &'a [f64],
        /// Its width.
        n_columns: usize,
    },
    /// Column l: "does it have label l?" Labels of kind i are `ids[start[i]..start[i + 1]]`, rising.
    Labels {
        /// Where each list starts; the last entry ends the last list.
        start: &'a [usize],
        /// Labels.
        ids: &'a [u32],
    },
}

/// A run of columns.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    signs: Signs<'a>,
    first: usize,
    n: usize,
}

impl<'a> Columns<'a> {
    /// All `n` columns.
    ///
    /// # Panics
    /// If a table does not have rows of `n` entries.
    pub fn new(signs: Signs<'a>, n: usize) -> Self {
        if let Signs::Table { table, n_columns } = signs {
            assert!(n_columns == n && table.len().is_multiple_of(n.max(1)), "rows of {n} columns");
        }
        Self { signs, first: 0, n }
    }

    /// Only the columns of a range of these.
    pub fn part(self, range: Range<usize>) -> Self {
        assert!(range.end <= self.n, "columns {range:?} of {}", self.n);
        Self { first: self.first + range.start, n: range.len(), ..self }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Whether kinds are examples with lists of labels, so that no kind can be predicted.
    pub fn has_lists(&self) -> bool {
        matches!(self.signs, Signs::Labels { .. })
    }

    /// What the columns say about a kind: its sign times its weight, for each column.
    pub fn signed<F: Scalar>(&self, kind: u32, out: &mut [F]) {
        let out = &mut out[..self.n];
        match self.signs {
            Signs::OneVsAll => {
                out.fill(-F::ONE);
                if let Some(own) =
                    (kind as usize).checked_sub(self.first).and_then(|l| out.get_mut(l))
                {
                    *own = F::ONE;
                }
            }
            Signs::Table { table, n_columns } => {
                let row = &table[kind as usize * n_columns + self.first..][..self.n];
                out.iter_mut().zip(row).for_each(|(o, &c)| *o = F::from_f64(c));
            }
            Signs::Labels { start, ids } => {
                out.fill(-F::ONE);
                let labels = &ids[start[kind as usize]..start[kind as usize + 1]];
                for &label in labels {
                    if let Some(own) =
                        (label as usize).checked_sub(self.first).and_then(|l| out.get_mut(l))
                    {
                        *own = F::ONE;
                    }
                }
            }
        }
    }

    /// The share of questions about the kind whose answer has the wrong sign.
    pub fn wrong<F: Scalar>(&self, kind: u32, scores: &[F]) -> f64 {
        let mut signed = vec![F::ZERO; self.n];
        self.signed(kind, &mut signed);
        let asked = signed.iter().filter(|&&c| c != F::ZERO).count();
        let wrong = signed
            .iter()
            .zip(scores)
            .filter(|&(&c, &s)| c != F::ZERO && (c > F::ZERO) != (s > F::ZERO));
        wrong.count() as f64 / asked.max(1) as f64
    }
}

impl<F: Scalar> OutputSpace<F> for Columns<'_> {
    type Output = u32;

    fn n_parts(&self) -> usize {
        self.n
    }

    /// The kind whose answers agree best with the scores, Σ_l c_l θ_l; the lowest among equals. With lists of labels kinds
    /// are examples, and there is nothing to choose from: 0.
    fn decode(&self, scores: &[F]) -> u32 {
        match self.signs {
            Signs::OneVsAll => argmax(scores) as u32,
            Signs::Labels { .. } => 0,
            Signs::Table { table, n_columns } => {
                let agreement = |row: &[f64]| -> F {
                    let row = &row[self.first..self.first + self.n];
                    row.iter().zip(scores).map(|(&c, &s)| F::from_f64(c) * s).sum()
                };
                let all: Vec<F> = table.chunks_exact(n_columns.max(1)).map(agreement).collect();
                argmax(&all) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(space: Columns<'_>, kind: u32) -> Vec<f64> {
        let mut out = vec![0.0; space.len()];
        space.signed(kind, &mut out);
        out
    }

    #[test]
    fn parts_of_columns_ask_what_the_whole_asks() {
        let table = [1.0, -1.0, 0.0, -2.0, 0.0, 1.0];
        let (start, ids) = ([0, 2, 2], [0, 2]);
        let spaces = [
            Columns::new(Signs::OneVsAll, 3),
            Columns::new(Signs::Table { table: &table, n_columns: 3 }, 3),
            Columns::new(Signs::Labels { start: &start, ids: &ids }, 3),
        ];
        for space in spaces {
            for kind in 0..2 {
                let whole = signed(space, kind);
                for (lo, hi) in [(0, 1), (1, 3), (2, 2), (0, 3)] {
                    assert_eq!(signed(space.part(lo..hi), kind), whole[lo..hi]);
                }
            }
        }
        assert_eq!(signed(spaces[0], 1), [-1.0, 1.0, -1.0]);
        assert_eq!(signed(spaces[2], 0), [1.0, -1.0, 1.0]);
        assert_eq!(signed(spaces[2], 1), [-1.0; 3]);
    }

    #[test]
    fn the_kind_that_agrees_best_wins() {
        let table = [1.0, -1.0, -1.0, 1.0];
        let space = Columns::new(Signs::Table { table: &table, n_columns: 2 }, 2);
        assert_eq!(space.decode(&[0.5, -0.1]), 0);
        assert_eq!(space.decode(&[-0.5, 0.1]), 1);
        assert_eq!(Columns::new(Signs::OneVsAll, 3).decode(&[0.0, 2.0, 2.0]), 1);
        assert_eq!(space.wrong(0, &[1.0, 1.0]), 0.5);
    }
}
