//! A real number: its own score.

use super::OutputSpace;
use lineal_linalg::Scalar;

/// Regression: the prediction is the score.
#[derive(Clone, Copy, Debug)]
pub struct Real;

impl<F: Scalar> OutputSpace<F> for Real {
    type Output = f64;

    fn n_parts(&self) -> usize {
        1
    }

    fn decode(&self, scores: &[F]) -> f64 {
        scores[0].to_f64()
    }
}
