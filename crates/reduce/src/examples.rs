//! The caller's examples, borrowed and checked once.

use crate::Error;
use lineal_linalg::{Csr, Matrix, Row};

/// A collection of inputs by number: the only thing that a reduction knows of them.
///
/// It is implemented for slices (an input is `&T`, whatever `T` is) and for the matrices of `lineal_linalg` (an input
/// is a [`Row`], which borrows the matrix but is no reference to anything stored in it). The associated type with a
/// lifetime is what lets one trait serve both.
pub trait Inputs: Sync {
    /// One input. It is `Copy`, because it is shown to many scorers: a reference or a small view.
    type X<'a>: Copy
    where
        Self: 'a;
    /// How many there are.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Input `i`, below [`len`](Self::len).
    fn get(&self, i: usize) -> Self::X<'_>;
}

impl<T: Sync> Inputs for [T] {
    type X<'a>
        = &'a T
    where
        T: 'a;
    fn len(&self) -> usize {
        <[T]>::len(self)
    }
    fn get(&self, i: usize) -> &T {
        &self[i]
    }
}

impl Inputs for Matrix {
    type X<'a> = Row<'a>;
    fn len(&self) -> usize {
        self.n_rows()
    }
    fn get(&self, i: usize) -> Row<'_> {
        self.row(i)
    }
}

impl Inputs for Csr {
    type X<'a> = Row<'a>;
    fn len(&self) -> usize {
        self.n_rows()
    }
    fn get(&self, i: usize) -> Row<'_> {
        self.row(i)
    }
}

/// Inputs with their classes and weights. Valid by construction: below it nothing is checked again.
///
/// The one thing it owns is the rows grouped by class, 4 bytes a row.
#[derive(Debug)]
pub struct Examples<'a, I: ?Sized> {
    inputs: &'a I,
    y: &'a [u32],
    weights: Option<&'a [f32]>,
    /// Rows of class k, rising: `by_class[start[k]..start[k + 1]]`.
    by_class: Vec<u32>,
    start: Vec<usize>,
}

impl<'a, I: Inputs + ?Sized> Examples<'a, I> {
    /// Example `i` is `inputs.get(i)` of class `y[i]`, below `n_classes`. A class may have no rows.
    pub fn new(inputs: &'a I, y: &'a [u32], n_classes: usize) -> Result<Self, Error> {
        let n_rows = inputs.len();
        if n_rows != y.len() {
            return Err(Error::Lengths { inputs: n_rows, others: y.len(), what: "labels" });
        }
        if n_rows == 0 {
            return Err(Error::NoRows);
        }
        if u32::try_from(n_rows).is_err() {
            return Err(Error::TooManyRows(n_rows));
        }
        if let Some(row) = y.iter().position(|&k| k as usize >= n_classes) {
            return Err(Error::Label { row, y: y[row], n_classes });
        }
        let (by_class, start) = group(y, n_classes);
        Ok(Self { inputs, y, weights: None, by_class, start })
    }

    /// The same examples with a weight each, finite and not negative.
    pub fn with_weights(self, weights: &'a [f32]) -> Result<Self, Error> {
        if weights.len() != self.y.len() {
            let (inputs, others) = (self.y.len(), weights.len());
            return Err(Error::Lengths { inputs, others, what: "weights" });
        }
        match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            Some(row) => Err(Error::Weight(row)),
            None => Ok(Self { weights: Some(weights), ..self }),
        }
    }

    /// Number of classes, those without rows included.
    pub fn n_classes(&self) -> usize {
        self.start.len() - 1
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// The inputs.
    pub fn inputs(&self) -> &'a I {
        self.inputs
    }

    /// The class of each row.
    pub fn y(&self) -> &'a [u32] {
        self.y
    }

    /// The weight of each row, if not all are 1.
    pub fn weights(&self) -> Option<&'a [f32]> {
        self.weights
    }

    pub(crate) fn weight(&self, row: u32) -> f64 {
        self.weights.map_or(1.0, |w| w[row as usize].into())
    }

    /// Rows of class `k`, rising.
    pub fn rows_of(&self, k: usize) -> &[u32] {
        &self.by_class[self.start[k]..self.start[k + 1]]
    }

    /// How many rows each class has: what [`Tree::huffman`](crate::Tree::huffman) asks for.
    pub fn counts(&self) -> Vec<u64> {
        self.start.windows(2).map(|p| (p[1] - p[0]) as u64).collect()
    }

    /// Whether class `k` has a row.
    pub(crate) fn is_seen(&self, k: usize) -> bool {
        self.start[k] < self.start[k + 1]
    }

    pub(crate) fn seen(&self) -> Vec<bool> {
        (0..self.n_classes()).map(|k| self.is_seen(k)).collect()
    }

    /// The rows of some classes in the order of the data. The order matters: a learner that makes one pass over
    /// rows sorted by class would end with whatever the last class taught it.
    pub(crate) fn rows_of_all(&self, classes: impl Iterator<Item = usize>) -> Vec<u32> {
        let mut rows = Vec::new();
        for k in classes {
            rows.extend_from_slice(self.rows_of(k));
        }
        // Stable, since that sort merges the rising runs which `rows` is made of: two classes cost one merge.
        rows.sort();
        rows
    }
}

/// Row numbers by class, rising within each, and where each class starts: a counting sort.
fn group(y: &[u32], n_classes: usize) -> (Vec<u32>, Vec<usize>) {
    let mut start = vec![0; n_classes + 1];
    for &k in y {
        start[k as usize + 1] += 1;
    }
    for k in 0..n_classes {
        start[k + 1] += start[k];
    }
    let mut next = start.clone();
    let mut by_class = vec![0; y.len()];
    for (row, &k) in (0u32..).zip(y) {
        by_class[next[k as usize]] = row;
        next[k as usize] += 1;
    }
    (by_class, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_grouped_and_merged_in_the_order_of_the_data() {
        let (x, y) = ([(); 6], [2, 0, 2, 1, 0, 2]);
        let examples = Examples::new(&x[..], &y, 4).unwrap();
        assert_eq!(examples.rows_of(2), [0, 2, 5]);
        assert_eq!(examples.counts(), [2, 1, 3, 0]);
        assert_eq!(examples.rows_of_all([2, 0].into_iter()), [0, 1, 2, 4, 5]);
        assert_eq!(examples.seen(), [true, true, true, false]);
    }

    #[test]
    fn bad_examples_are_refused() {
        let x = [(); 2];
        let refused = |y: &[u32]| Examples::new(&x[..], y, 2).unwrap_err().to_string();
        assert_eq!(refused(&[0]), "2 inputs but 1 labels");
        assert_eq!(refused(&[0, 2]), "row 1 has class 2, but the 2 classes count from 0");
        assert_eq!(Examples::new(&x[..0], &[], 2).unwrap_err(), Error::NoRows);
        let examples = || Examples::new(&x[..], &[0, 1], 2).unwrap();
        assert_eq!(examples().with_weights(&[1.0, -1.0]).unwrap_err(), Error::Weight(1));
        assert_eq!(examples().with_weights(&[f32::NAN, 1.0]).unwrap_err(), Error::Weight(0));
        assert!(examples().with_weights(&[1.0]).is_err());
        assert!(examples().with_weights(&[0.0, 2.0]).is_ok());
    }
}
