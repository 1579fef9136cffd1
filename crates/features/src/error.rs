//! What went wrong, with the value and what would fix it.

use thiserror::Error;

/// Why a setting, a file's part or a template was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A setting that makes no sense, alone or with another.
    #[error("{setting} {value}: {remedy}")]
    Setting {
        /// Which one, as the field is called.
        setting: &'static str,
        /// The value that was asked for.
        value: String,
        /// What would work.
        remedy: String,
    },
    /// A regular expression that does not compile.
    #[error("token pattern `{pattern}`: {why}")]
    Pattern {
        /// The expression.
        pattern: String,
        /// The first complaint about it.
        why: String,
    },
    /// Rows with another number of text columns.
    #[error("rows have {found} text columns, the features were made for {expected}")]
    Columns {
        /// How many the rows have.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// Nothing to learn from.
    #[error("{0}")]
    Empty(String),
    /// More than the 32-bit numbers of columns and names can count.
    #[error(
        "{what} exceed the {limit} that can be numbered; raise min_df, lower the n-gram length or hash"
    )]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// Stored features that contradict themselves: the file is damaged or was made to mislead.
    #[error("stored features are damaged: {0}")]
    Damaged(String),
    /// A map that does not fit the matrix.
    #[error("a map of {columns} columns: {why}")]
    Map {
        /// How many columns it was to be applied to.
        columns: usize,
        /// What is wrong, and what would work.
        why: String,
    },
    /// A line of templates that cannot be read.
    #[error("templates, line {line}: `{text}`: {why}")]
    Template {
        /// 1-based line.
        line: usize,
        /// The line.
        text: String,
        /// What is wrong, and what would work.
        why: String,
    },
}

impl Error {
    pub(crate) fn setting(
        setting: &'static str,
        value: impl ToString,
        remedy: impl Into<String>,
    ) -> Self {
        Error::Setting { setting, value: value.to_string(), remedy: remedy.into() }
    }
}
