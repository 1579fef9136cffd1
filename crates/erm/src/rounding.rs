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

/// A sum that remembers what its additions lost (Neumaier 1974): of n numbers it is off by at most [`compensated`]`(n)` of the sum of their sizes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let next = self.sum + value;
        let (large, small) =
            if self.sum.abs() >= value.abs() { (self.sum, value) } else { (value, self.sum) };
        self.lost += (large - next) + small;
        self.sum = next;
    }

    pub(crate) fn total(self) -> f64 {
        self.sum + self.lost
    }
}

/// The part by which a [`Compensated`] sum of n numbers may be off: two roundings, and those of what was lost.
pub(crate) fn compensated(n: usize) -> f64 {
    gamma(2) + 2.0 * gamma(n) * gamma(n)
}

/// A compensated sum.
pub(crate) fn total(values: impl Iterator<Item = f64>) -> f64 {
    let mut sum = Compensated::default();
    values.for_each(|value| sum.add(value));
    sum.total()
}

/// What underflow may cost n operations.
pub(crate) fn underflow(n: usize) -> f64 {
    n as f64 * f64::MIN_POSITIVE
}

/// A lower bound of an optimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerBound {
    /// As computed in f64.
    pub computed: f64,
    /// What is left of it when all rounding goes the wrong way: a bound in exact arithmetic.
    pub proven: f64,
}

/// The objective at some weights, and how far it is at most above the optimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proof {
    /// The objective, as computed in f64.
    pub objective: f64,
    /// No weights are below objective − gap, in exact arithmetic; infinite where nothing is proven.
    pub gap: f64,
    /// The part of the gap that pays for rounding.
    pub rounding: f64,
}

/// With more rounding than this part of the objective, rounding is not excused: only the whole gap counts.
const MOST_ROUNDING: f64 = 1e-6;

impl Proof {
    /// (value + error) − bound, rounded up and at least 0.
    pub(crate) fn new(value: f64, error: f64, bound: LowerBound) -> Self {
        let upper = value + error;
        let gap = (upper - bound.proven) + gamma(4) * (upper.abs() + bound.proven.abs());
        if !(gap.is_finite() && bound.proven.is_finite()) {
            return Self::nothing(value);
        }
        let gap = gap.max(0.0);
        let computed = (value - bound.computed).max(0.0);
        Self { objective: value, gap, rounding: (gap - computed).max(0.0) }
    }

    /// Of no examples at all.
    pub(crate) fn of_nothing() -> Self {
        Self { objective: 0.0, gap: 0.0, rounding: 0.0 }
    }

    /// Where nothing is proven.
    pub(crate) fn nothing(objective: f64) -> Self {
        Self { objective, gap: f64::INFINITY, rounding: f64::INFINITY }
    }

    /// Whether the objective is within the relative tolerance of the optimum as far as f64 can tell: the gap is within it, or all of the gap but what pays for rounding is, and rounding is little.
    /// A problem at its optimum has a gap of some roundings, which no further pass takes away, so that counting them would leave it unconverged for ever.
    pub fn converged(&self, tol: f64) -> bool {
        let size = self.objective.abs();
        let is_rounded_off =
            self.gap - self.rounding <= tol * size && self.rounding <= MOST_ROUNDING * size;
        // Nothing is below an objective of 0.
        size == 0.0 || self.gap <= tol * size || is_rounded_off
    }

    /// The gap as computed, without what pays for rounding.
    pub(crate) fn computed_gap(&self) -> f64 {
        if self.gap.is_finite() { self.gap - self.rounding } else { f64::INFINITY }
    }

    /// The gap, unless nothing is proven. No loss and no penalty is below 0, so that the objective itself is a bound.
    pub fn finite_gap(&self) -> Option<f64> {
        self.gap.is_finite().then(|| self.gap.min(self.objective.max(0.0)))
    }

    /// The sum of several problems, each times what it counts.
    pub fn sum<'p>(parts: impl IntoIterator<Item = (&'p Proof, f64)>) -> Proof {
        let [mut objective, mut size, mut gap, mut rounding, mut n] = [0.0; 5];
        for (part, by) in parts {
            objective += by * part.objective;
            size += (by * part.objective).abs();
            gap += by * part.gap;
            rounding += by * part.rounding;
            n += 1.0;
        }
        let rounded = gamma(n as usize + 4) * (size + gap);
        Self { objective, gap: gap + rounded, rounding: rounding + rounded }
    }
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
    fn a_compensated_sum_forgets_nothing() {
        let values = || (0..10_000).map(|i| [1e16, 1.0, -1e16][i % 3]);
        let plain: f64 = values().take(9_999).sum();
        assert_ne!(plain, 3333.0);
        assert_eq!(total(values().take(9_999)), 3333.0);
        assert!(compensated(1_000_000) < 2e-15);
    }

    fn bound(of: f64) -> LowerBound {
        LowerBound { computed: of, proven: of }
    }

    #[test]
    fn a_gap_is_never_negative_and_never_not_a_number() {
        let gap = |value, error, of| Proof::new(value, error, bound(of)).gap;
        assert!((0.0..1e-14).contains(&gap(1.0, 0.0, 1.0)));
        assert_eq!(gap(1.0, 0.0, 2.0), 0.0);
        assert_eq!(gap(1.0, 0.0, f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(gap(1.0, f64::INFINITY, 0.5), f64::INFINITY);
        assert_eq!(gap(f64::NAN, 0.0, 0.5), f64::INFINITY);
    }

    #[test]
    fn roundings_do_not_count_against_convergence_unless_they_are_many() {
        // A perceptron at its optimum: the objective is 0 and the gap is what rounding may hide.
        assert!(Proof::new(0.0, 3e-14, bound(0.0)).converged(1e-3));
        // A gap of the solver's does count.
        assert!(!Proof::new(1.0, 0.0, bound(0.99)).converged(1e-3));
        assert!(Proof::new(1.0, 0.0, bound(0.9995)).converged(1e-3));
        assert!(!Proof::new(1.0, 1e-3, bound(1.0)).converged(1e-3));
        assert!(!Proof::nothing(1.0).converged(1e-3));
        // With a penalty that hardly counts the objective is small, and rounding can be most of it.
        let small = Proof { objective: 2.4e-8, gap: 1.6e-8, rounding: 1.6e-8 };
        assert!(!small.converged(1e-8));
        // No optimum is below 0.
        assert_eq!(Proof::new(0.0, 3e-14, bound(0.0)).finite_gap(), Some(0.0));
        assert_eq!(Proof::new(1.0, 0.0, bound(-3.0)).finite_gap(), Some(1.0));
    }
}
