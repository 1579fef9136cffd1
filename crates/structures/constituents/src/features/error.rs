//! What can be wrong with a file of templates.

use thiserror::Error;

/// Why a file of templates cannot be used. Lines count from 1.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateError {
    /// A line that does not follow the syntax.
    #[error("line {line}: {message}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// A section without which there is no parser.
    #[error("section [{0}] has no template")]
    Missing(&'static str),
}
