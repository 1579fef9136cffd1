//! What can be wrong with templates and attributes.

use thiserror::Error;

/// Why templates, a list of features or an attribute was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A line of a template file.
    #[error("template line {line}: {problem}")]
    Template {
        /// Counted from 1.
        line: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// An item of the built-in feature vocabulary.
    #[error("feature `{item}`: {problem}")]
    Feature {
        /// The item as it was given.
        item: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A template that reads a column which the data has not.
    #[error(
        "the templates read column {column}, but the data has {n_columns} (columns are counted from 0)"
    )]
    Column {
        /// The highest column that is read.
        column: usize,
        /// How many there are.
        n_columns: usize,
    },
    /// An attribute `name:value` whose value is no finite number.
    #[error(
        "attribute `{attribute}`: `{value}` is not a finite number (write `\\:` for a colon that belongs to the name)"
    )]
    Value {
        /// The attribute's name.
        attribute: String,
        /// What stands after the colon.
        value: String,
    },
    /// A stored index that contradicts itself.
    #[error("{0}")]
    Damaged(String),
}

/// An error of a sentence, at its token if it is one token's.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{error}")]
pub struct TokenError {
    /// From 0.
    pub token: Option<usize>,
    /// What is wrong.
    pub error: Error,
}

impl From<Error> for TokenError {
    fn from(error: Error) -> Self {
        Self { token: None, error }
    }
}
