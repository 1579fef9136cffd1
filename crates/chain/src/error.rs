//! What can be wrong with a request.

use thiserror::Error;

/// Why a request about sequences cannot be answered.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The constraints leave no sequence: `position` (from 0) is the first one that no legal beginning can reach with a label.
    #[error(
        "no label is possible at position {position}: the allowed labels and the forbidden transitions exclude each other"
    )]
    Infeasible {
        /// Counted from 0.
        position: usize,
    },
    /// A label that the scheme of spans does not know.
    #[error("label `{label}` does not fit the scheme {scheme}: expected `O` or {expected}")]
    Label {
        /// The label as it was given.
        label: String,
        /// The scheme's name.
        scheme: &'static str,
        /// The prefixes that the scheme has.
        expected: &'static str,
    },
    /// A name that is no scheme of spans.
    #[error("`{0}` is no scheme: choose bio, bioes or iob1")]
    Scheme(String),
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
        "attribute `{attribute}`: `{value}` is no finite number (write `\\:` for a colon that belongs to the name)"
    )]
    Value {
        /// The attribute's name.
        attribute: String,
        /// What stands after the colon.
        value: String,
    },
    /// Stored parts that do not fit each other.
    #[error("{0}")]
    Parts(String),
}
