//! Rounding errors, bounded outward.
//!
//! A certificate says that no weights are better than objective − gap. It is computed in f64, whose operations are each off by at most u = 2⁻⁵³ of their
//! result; n of them in a row, whatever the order of a sum, are off by at most γₙ = n·u/(1 − n·u) of the sum of the absolute values (Higham, *Accuracy and Stability of
//! Numerical Algorithms*, 2002, §3.1 and §4.2). Everything that enters a bound is widened by that, in the direction that makes the bound weaker.

use std::sync::{Mutex, PoisonError};

/// u: half the distance from 1 to the next number.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// γₙ, rounded up; infinite where it bounds nothing.
pub(crate) fn gamma(n: usize) -> f64 {
    // Eight more pay for the arithmetic on the bounds themselves.
    let nu = (n as f64 + 8.0) * ROUNDING;
    if nu < 0.25 { nu / (1.0 - 2.0 * nu) } else { f64::INFINITY }
}

/// A sum that is off by two roundings of itself at most, however many numbers ≥ 0 it has (Neumaier 1974).
pub(crate) fn total(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum >= value { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// What underflow may cost n operations.
pub(crate) fn underflow(n: usize) -> f64 {
    n as f64 * f64::MIN_POSITIVE
}

/// (value + error) − bound, rounded up and at least 0; none where it is not a number or proves nothing.
pub(crate) fn gap(value: f64, error: f64, bound: f64) -> Option<f64> {
    let upper = value + error;
    let gap = (upper - bound) + gamma(4) * (upper.abs() + bound.abs());
    (gap.is_finite() && bound.is_finite()).then(|| gap.max(0.0))
}

/// Several sums over shards, added in the order of the shards whatever the threads do.
pub(crate) struct Sums<const N: usize>(Mutex<Vec<(usize, [f64; N])>>);

impl<const N: usize> Sums<N> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The sums of the shard that starts at an example.
    pub(crate) fn put(&self, start: usize, sums: [f64; N]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((start, sums));
    }

    pub(crate) fn total(self) -> [f64; N] {
        let mut shards = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        shards.sort_by_key(|&(start, _)| start);
        let mut total = [0.0; N];
        for (_, sums) in shards {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_bounds_a_sum_of_tenths() {
        // 0.1 is not a number of f64: the sum of ten thousand is off by far more than one rounding and less than γ.
        let n = 10_000;
        let sum: f64 = (0..n).map(|_| 0.1).sum();
        let off = (sum - 0.1 * n as f64).abs();
        assert!(off > 1e-13 && off <= gamma(n) * sum, "{off}");
        assert!(gamma(usize::MAX).is_infinite());
    }

    #[test]
    fn a_gap_is_never_negative_and_never_not_a_number() {
        assert!(gap(1.0, 0.0, 1.0).is_some_and(|gap| (0.0..1e-14).contains(&gap)));
        assert_eq!(gap(1.0, 0.0, 2.0), Some(0.0));
        assert_eq!(gap(1.0, 0.0, f64::NEG_INFINITY), None);
        assert_eq!(gap(1.0, f64::INFINITY, 0.5), None);
        assert_eq!(gap(f64::NAN, 0.0, 0.5), None);
    }
}
