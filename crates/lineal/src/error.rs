//! One error for the whole façade: a complete message with the place and the remedy.

use std::path::PathBuf;
use thiserror::Error;

/// Why reading, training, predicting or saving failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The data file.
    #[error(transparent)]
    Data(#[from] lineal_data::Error),
    /// Arrays that do not form a matrix.
    #[error(transparent)]
    Arrays(#[from] lineal_linalg::ArrayError),
    /// The model file.
    #[error(transparent)]
    ModelFile(#[from] lineal_model::file::Error),
    /// The solver.
    #[cfg(feature = "train")]
    #[error(transparent)]
    Solver(#[from] lineal_solver::Error),
    /// The exact solver.
    #[cfg(feature = "train")]
    #[error(transparent)]
    Exact(#[from] lineal_erm::ExactError),
    /// Metrics of nothing.
    #[error(transparent)]
    Metrics(#[from] lineal_metrics::Error),
    /// Templates and attributes of tokens.
    #[error(transparent)]
    Templates(#[from] lineal_features::sequence::Error),
    /// Sequences: schemes, constraints.
    #[cfg(feature = "tag")]
    #[error(transparent)]
    Chain(#[from] lineal_chain::Error),
    /// Documents that do not form queries.
    #[cfg(feature = "rank")]
    #[error(transparent)]
    Queries(#[from] lineal_ranking::QueryError),
    /// Learning from sequences.
    #[cfg(feature = "train")]
    #[error(transparent)]
    Learning(#[from] lineal_erm::structured::LearnError),
    /// The request does not fit the data, or contradicts itself.
    #[error("{0}")]
    Request(String),
    /// No weights hold every margin.
    #[error("{message}")]
    Inseparable {
        /// What was proven, and the rows on the wrong side, in words.
        message: String,
        /// Those rows, from 0, worst first.
        rows: Vec<usize>,
    },
    /// An [`Interrupt`](crate::Interrupt) ended the run.
    #[error("the run was interrupted; there is no result")]
    Interrupted,
    /// Writing a file; the message names it.
    #[error("{0}")]
    Write(std::io::Error),
    /// Reading a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Error::Request(message.into())
    }
}
