//! An example as a reader hands it over: columns of tokens and lists of records.

use thiserror::Error;

/// One example. What its lists mean is up to the declaration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// Columns of tokens by name; all have the same length.
    pub columns: Vec<(String, Vec<String>)>,
    /// Lists of instances by name.
    pub lists: Vec<(String, Vec<Record>)>,
    /// How much it counts in training.
    pub weight: f64,
}

/// One instance: fields by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Its fields: the label, links, `start` and `end`, `features`.
    pub fields: Vec<(String, Value)>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number: a link, the start or the end of a span.
    Number(f64),
    /// A text: a label.
    Text(String),
    /// Names with values: features.
    Features(Vec<(String, f32)>),
}

impl Record {
    /// A record with these fields.
    pub fn new(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        Self { fields: fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Value::Number(number as f64)
    }
}

/// Why an example does not fit a declaration.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("example {example}: {message}")]
pub struct ExampleError {
    /// Which one, from 0.
    pub example: usize,
    /// What is wrong and what would fix it.
    pub message: String,
}
