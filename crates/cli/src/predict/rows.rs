//! Predictions with what was asked about them.

use lineal::{Predicted, Table};

/// One answer a row, and the numbers behind it.
pub struct Rows {
    pub classes: Vec<String>,
    pub answers: Answers,
    pub proba: Option<Table>,
    pub scores: Option<Table>,
    pub shows_proba: bool,
    pub shows_scores: bool,
    pub top: Option<usize>,
}

/// One answer a row.
pub enum Answers {
    Classes(Vec<u32>),
    Real(Vec<f64>),
}

impl From<Predicted> for Answers {
    fn from(predicted: Predicted) -> Self {
        match predicted {
            Predicted::Classes(y) => Answers::Classes(y),
            Predicted::Real(y) => Answers::Real(y),
        }
    }
}

impl Answers {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Answers::Classes(y) => y.len(),
            Answers::Real(y) => y.len(),
        }
    }
}

impl Rows {
    /// A value for each class of row `i`, if one list of them was asked for.
    pub fn list(&self, i: usize) -> Option<&[f64]> {
        let table = if self.shows_proba {
            self.proba.as_ref()
        } else if self.shows_scores {
            self.scores.as_ref()
        } else {
            None
        };
        table.map(|table| table.row(i))
    }

    /// The best classes of row `i` with their probabilities, or scores where there are none.
    pub fn best(&self, i: usize) -> Option<Vec<(usize, f64)>> {
        let table = self.proba.as_ref().or(self.scores.as_ref())?;
        self.top.map(|k| best(table.row(i), k))
    }

    /// The name of a class.
    pub fn name(&self, class: usize) -> &str {
        self.classes.get(class).map_or("", String::as_str)
    }
}

/// The `k` largest values with their places, falling; the lower place first among equals.
pub fn best(values: &[f64], k: usize) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(k);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first_and_ties_by_place() {
        assert_eq!(best(&[0.2, 0.5, 0.5, -1.0], 3), [(1, 0.5), (2, 0.5), (0, 0.2)]);
        assert_eq!(best(&[1.0], 9).len(), 1);
    }
}
