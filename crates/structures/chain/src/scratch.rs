//! Memory that the oracles use and keep.

use crate::k_best::Lattice;
use crate::log_space::LogBuffers;
use crate::sums::SumBuffers;
use lineal_linalg::Scalar;

/// Buffers of the oracles, grown to the longest sequence seen and used again: nothing is allocated after that.
///
/// One a thread; it remembers nothing between calls.
#[derive(Clone, Debug, Default)]
pub struct Scratch<F: Scalar> {
    /// Labels on some legal sequence, n + 1 rows of words.
    pub(crate) useful: Vec<u64>,
    /// Best scores of beginnings, n × stride.
    pub(crate) best: Vec<F>,
    /// Unary scores with costs, n × K.
    pub(crate) augmented: Vec<F>,
    /// One position's transition scores.
    pub(crate) entries: Vec<F>,
    pub(crate) sums: SumBuffers<F>,
    pub(crate) log: LogBuffers,
    pub(crate) lattice: Lattice,
    /// One row of probabilities.
    pub(crate) row: Vec<f64>,
}

impl<F: Scalar> Scratch<F> {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }
}
