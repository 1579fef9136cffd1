//! Predictions with what was asked about them.

use lineal::{Labels, Predicted, Table};
use serde_json::Value;

/// One answer per row, and the numbers behind it that were asked for.
pub struct Rows {
    pub classes: Vec<String>,
    pub answers: Answers,
    pub proba: Option<Table>,
    pub scores: Option<Table>,
    pub top: Option<Top>,
    /// Between the labels of a row.
    pub separator: char,
    /// Columns of the data that go before the answer.
    pub kept: Option<Kept>,
}

/// Cells of the data beside the answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub names: Vec<String>,
    /// One list per row.
    pub rows: Vec<Vec<Value>>,
}

impl Kept {
    /// The cells of row `i` as text.
    pub fn texts(&self, i: usize) -> impl Iterator<Item = String> {
        self.rows[i].iter().map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }
}

/// The best classes of each row with their probabilities, or scores where there are none, best first.
pub struct Top {
    /// How many were asked for.
    pub k: usize,
    pub best: Vec<Vec<(u32, f64)>>,
}

/// One answer per row.
pub enum Answers {
    Classes(Vec<u32>),
    Labels(Labels),
    Real(Vec<f64>),
}

impl From<Predicted> for Answers {
    fn from(predicted: Predicted) -> Self {
        match predicted {
            Predicted::Classes(y) => Answers::Classes(y),
            Predicted::Labels(y) => Answers::Labels(y),
            Predicted::Real(y) => Answers::Real(y),
        }
    }
}

impl Answers {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Answers::Classes(y) => y.len(),
            Answers::Labels(y) => y.n_rows(),
            Answers::Real(y) => y.len(),
        }
    }
}

impl Rows {
    /// A value for each class of row `i`, if they were asked for.
    pub fn list(&self, i: usize) -> Option<&[f64]> {
        self.proba.as_ref().or(self.scores.as_ref()).map(|table| table.row(i))
    }

    /// The best classes of row `i`, if they were asked for.
    pub fn best(&self, i: usize) -> Option<&[(u32, f64)]> {
        self.top.as_ref().map(|top| top.best[i].as_slice())
    }

    /// The name of a class.
    pub fn name(&self, class: u32) -> &str {
        self.classes.get(class as usize).map_or("", String::as_str)
    }
}
