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
    /// There is no sentence with a position to learn from.
    #[error("there is no sentence to learn from")]
    Empty,
    /// Sentences, options and model do not fit each other.
    #[error("{0}")]
    Shape(String),
    /// Gold labels that the constraints exclude.
    #[error("sentence {}, token {}: the gold labels break the constraints", .sentence + 1, .position + 1)]
    Gold {
        /// Counted from 0.
        sentence: usize,
        /// Counted from 0, within the sentence.
        position: usize,
    },
    /// Stored parts that do not fit each other.
    #[error("{0}")]
    Parts(String),
}
