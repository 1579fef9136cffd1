//! K classes, K scores: μ(y) is the unit vector of y.

use super::{Discrete, Marginals, OutputSpace};
use lineal_linalg::{Scalar, special::softmax};

/// That many classes, from 0.
#[derive(Clone, Copy, Debug)]
pub struct Classes(pub usize);

/// The position of the largest score; the first among equals.
#[inline]
pub(super) fn argmax<F: Scalar>(scores: &[F]) -> usize {
    let mut best = 0;
    for (c, &s) in scores.iter().enumerate() {
        if s > scores[best] {
            best = c;
        }
    }
    best
}

impl<F: Scalar> OutputSpace<F> for Classes {
    type Output = u32;

    fn n_parts(&self) -> usize {
        self.0
    }

    fn decode(&self, scores: &[F]) -> u32 {
        argmax(scores) as u32
    }
}

impl<F: Scalar> Discrete<F> for Classes {
    #[inline]
    fn add_parts(&self, y: u32, a: F, parts: &mut [F]) {
        parts[y as usize] += a;
    }

    #[inline]
    fn score(&self, scores: &[F], y: u32) -> F {
        scores[y as usize]
    }

    #[inline]
    fn max(&self, scores: &[F], parts: &mut [F]) -> F {
        let best = argmax(scores);
        parts.fill(F::ZERO);
        parts[best] = F::ONE;
        scores[best]
    }
}

impl<F: Scalar> Marginals<F> for Classes {
    #[inline]
    fn log_sum_exp(&self, scores: &[F], parts: &mut [F]) -> F {
        softmax(scores, parts)
    }

    #[inline]
    fn cov_vec(&self, mean: &[F], dir: &[F], out: &mut [F]) {
        let along: F = mean.iter().zip(dir).map(|(&p, &d)| p * d).sum();
        for (o, (&p, &d)) in out.iter_mut().zip(mean.iter().zip(dir)) {
            *o = p * (d - along);
        }
    }

    #[inline]
    fn cov_diag(&self, mean: &[F], out: &mut [F]) {
        for (o, &p) in out.iter_mut().zip(mean) {
            *o = p * (F::ONE - p);
        }
    }
}
