//! Two classes, one score.
//!
//! Class 1 has μ = +½, class 0 has μ = −½: the multiclass model with w₁ = −w₀ = w/2, which is why every
//! loss that is written with parts gives the textbook binary loss in f = ⟨w, x⟩: max(0, 1 − yf), ln(1 + e^{−yf}).

use super::{Discrete, Marginals, OutputSpace};
use lineal_linalg::{Scalar, special::sigmoid_log1p_exp};

/// Two classes, 0 and 1. A score of exactly 0 is class 0, the lower.
#[derive(Clone, Copy, Debug)]
pub struct Binary;

impl Binary {
    /// −1 for class 0, +1 for class 1.
    #[inline(always)]
    pub fn sign<F: Scalar>(y: u32) -> F {
        if y == 0 { -F::ONE } else { F::ONE }
    }
}

impl<F: Scalar> OutputSpace<F> for Binary {
    type Output = u32;

    fn n_parts(&self) -> usize {
        1
    }

    fn decode(&self, scores: &[F]) -> u32 {
        u32::from(scores[0] > F::ZERO)
    }
}

impl<F: Scalar> Discrete<F> for Binary {
    #[inline]
    fn add_parts(&self, y: u32, a: F, parts: &mut [F]) {
        parts[0] += a * F::from_f32(0.5) * Self::sign(y);
    }

    #[inline]
    fn score(&self, scores: &[F], y: u32) -> F {
        F::from_f32(0.5) * Self::sign::<F>(y) * scores[0]
    }

    #[inline]
    fn max(&self, scores: &[F], parts: &mut [F]) -> F {
        let y_hat = self.decode(scores);
        parts[0] = F::from_f32(0.5) * Self::sign::<F>(y_hat);
        self.score(scores, y_hat)
    }
}

impl<F: Scalar> Marginals<F> for Binary {
    #[inline]
    fn log_sum_exp(&self, scores: &[F], parts: &mut [F]) -> F {
        // ln(e^{f/2} + e^{−f/2}) = ln(1 + e^f) − f/2.
        let (sigmoid, log_sum) = sigmoid_log1p_exp(scores[0]);
        parts[0] = sigmoid - F::from_f32(0.5);
        log_sum - F::from_f32(0.5) * scores[0]
    }

    #[inline]
    fn cov_vec(&self, mean: &[F], dir: &[F], out: &mut [F]) {
        self.cov_diag(mean, out);
        out[0] *= dir[0];
    }

    #[inline]
    fn cov_diag(&self, mean: &[F], out: &mut [F]) {
        out[0] = (F::from_f32(0.5) + mean[0]) * (F::from_f32(0.5) - mean[0]);
    }
}
