//! Code matrices M ∈ {−1, 0, +1}^{K×L}: row k is the codeword of class k, column l a binary problem.
//!
//! Dietterich and Bakiri, *Solving multiclass learning problems via error-correcting output codes*, JAIR 1995; with zeros,
//! for classes that take no part in a column, Allwein, Schapire and Singer, *Reducing multiclass to binary*, JMLR 2000.
//!
//! A [`Code`] is valid by construction: every column has a + and a −, none is a copy or the complement of another (it
//! would make the same mistakes again), no two classes share a codeword, and none is all zeros.

mod bch;
mod bits;
mod build;
mod text;

pub(crate) use bits::BitRows;

use crate::Error;
use std::collections::HashMap;

/// A checked code matrix. Its text form ([`Display`](std::fmt::Display), [`FromStr`](std::str::FromStr)) is a line of
/// `+`, `-` and `0` a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    n_classes: usize,
    n_columns: usize,
    /// Row-major: the codeword of class k is `entries[k·L..(k + 1)·L]`.
    entries: Vec<i8>,
}

impl Code {
    /// Takes one row per class, of entries −1, 0 and 1.
    pub fn from_rows(rows: &[impl AsRef<[i8]>]) -> Result<Self, Error> {
        let n_columns = rows.first().map_or(0, |row| row.as_ref().len());
        let mut entries = Vec::with_capacity(rows.len() * n_columns);
        for (class, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != n_columns {
                return Err(Error::Ragged { class, found: row.len(), expected: n_columns });
            }
            if let Some(column) = row.iter().position(|value| !(-1..=1).contains(value)) {
                return Err(Error::Entry { class, column, value: row[column] });
            }
            entries.extend_from_slice(row);
        }
        Self::new(rows.len(), n_columns, entries)
    }

    /// Checks everything but the entries' values.
    fn new(n_classes: usize, n_columns: usize, entries: Vec<i8>) -> Result<Self, Error> {
        check_size(n_classes, n_columns)?;
        let code = Self { n_classes, n_columns, entries };
        code.check_columns()?;
        code.check_rows()?;
        Ok(code)
    }

    /// Number of classes, K.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Number of columns, L: as many binary problems.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The codeword of a class below [`n_classes`](Self::n_classes).
    pub fn row(&self, class: usize) -> &[i8] {
        &self.entries[class * self.n_columns..(class + 1) * self.n_columns]
    }

    /// What the column asks of the class: 1 yes, −1 no, 0 nothing.
    #[inline]
    pub fn entry(&self, class: usize, column: usize) -> i8 {
        self.entries[class * self.n_columns + column]
    }

    /// The column's entries, class by class.
    pub fn column(&self, column: usize) -> impl Iterator<Item = i8> {
        (0..self.n_classes).map(move |class| self.entry(class, column))
    }

    /// The minimum distance d between codewords.
    ///
    /// Without zeros it is the Hamming distance. With zeros it is what decoding can rely on: the answer of a column in
    /// which the true class has a 0 may be anything, so that for classes r and q
    /// d(r, q) = #{l : M_rl M_ql = −1} − ½ |nnz(r) − nnz(q)|, rounded down, at least 0. One-vs-one has d = 1, although
    /// half of its entries are zeros: one wrong duel may crown the wrong class. Costs K²L/64 word operations.
    pub fn min_distance(&self) -> usize {
        BitRows::new(self).min_half_distance().max(0) as usize / 2
    }

    /// ⌊(d−1)/2⌋: Hamming decoding returns the true class if no more columns than this are wrong on an input.
    pub fn corrects(&self) -> usize {
        self.min_distance().saturating_sub(1) / 2
    }

    fn check_columns(&self) -> Result<(), Error> {
        let mut first: HashMap<Vec<i8>, usize> = HashMap::with_capacity(self.n_columns);
        for column in 0..self.n_columns {
            let mut entries: Vec<i8> = self.column(column).collect();
            if !canonical(&mut entries) {
                return Err(Error::ConstantColumn(column));
            }
            if let Some(earlier) = first.insert(entries, column) {
                return Err(Error::RepeatedColumn(earlier, column));
            }
        }
        Ok(())
    }

    fn check_rows(&self) -> Result<(), Error> {
        let mut first: HashMap<&[i8], usize> = HashMap::with_capacity(self.n_classes);
        for class in 0..self.n_classes {
            let row = self.row(class);
            if row.iter().all(|&entry| entry == 0) {
                return Err(Error::EmptyRow(class));
            }
            if let Some(earlier) = first.insert(row, class) {
                return Err(Error::RepeatedRow(earlier, class));
            }
        }
        Ok(())
    }
}

/// Makes the first nonzero of a column +, so that a column and its complement look alike. False if it has not both
/// signs.
fn canonical(column: &mut [i8]) -> bool {
    let both = column.contains(&1) && column.contains(&-1);
    if column.iter().find(|&&entry| entry != 0) == Some(&-1) {
        column.iter_mut().for_each(|entry| *entry = -*entry);
    }
    both
}

fn check_size(n_classes: usize, n_columns: usize) -> Result<(), Error> {
    const MAX: usize = 1 << 28;
    let refuse = |remedy: String| Err(Error::Size { what: "a code", n_classes, remedy });
    if n_classes < 2 {
        return refuse("it takes two to ask which".into());
    }
    if n_columns == 0 {
        return refuse("it needs a column".into());
    }
    match n_classes.checked_mul(n_columns) {
        Some(size) if size <= MAX => Ok(()),
        _ => refuse(format!("{n_columns} columns make more than {MAX} entries; ask for fewer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_codes_are_refused() {
        let refused = |rows: &[&[i8]]| Code::from_rows(rows).unwrap_err();
        assert_eq!(refused(&[&[1, 1], &[1, -1]]), Error::ConstantColumn(0));
        assert_eq!(refused(&[&[1, 0, 0], &[-1, 1, 1], &[0, -1, 1]]), Error::ConstantColumn(2));
        assert_eq!(refused(&[&[1, -1], &[-1, 1]]), Error::RepeatedColumn(0, 1));
        assert_eq!(refused(&[&[1, 1], &[-1, -1]]), Error::RepeatedColumn(0, 1));
        assert_eq!(refused(&[&[1], &[-1], &[1]]), Error::RepeatedRow(0, 2));
        assert_eq!(refused(&[&[1], &[-1], &[0]]), Error::EmptyRow(2));
        assert_eq!(refused(&[&[1, 1], &[-1]]), Error::Ragged { class: 1, found: 1, expected: 2 });
        assert_eq!(refused(&[&[1], &[-2]]), Error::Entry { class: 1, column: 0, value: -2 });
        assert!(matches!(refused(&[]), Error::Size { .. }));
        assert!(matches!(refused(&[&[], &[]]), Error::Size { .. }));
    }
}
