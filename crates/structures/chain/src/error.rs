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
    /// Stored parts that do not fit each other.
    #[error("{0}")]
    Parts(String),
}
