//! Where the weights of a feature lie: a run of neighbours, one for each symbol.
//!
//! The weights of one feature for all symbols lie side by side, so that scoring a span is a sum of rows: a feature costs a few neighbouring cache lines, whatever the number of symbols. Runs
//! begin at multiples of sixteen weights and may overlap. Most features meet few symbols, so that two runs that overlap seldom use the same weight: a table of so many weights holds more
//! features than one of whole rows.

use lineal_linalg::{Scalar, kernels};

/// Runs begin at multiples of this: a cache line of f32.
const STEP: usize = 16;

/// Runs of `width` weights in a table of `len`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    n_starts: u64,
    width: usize,
}

impl Runs {
    /// There must be at least `width` weights.
    pub(crate) fn new(len: usize, width: usize) -> Self {
        Self { n_starts: (len.saturating_sub(width) / STEP + 1) as u64, width }
    }

    /// How many weights a feature has.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Where the run of a feature starts.
    #[inline]
    pub(crate) fn start(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.n_starts) >> 32) as usize * STEP
    }

    /// Adds the weights of all features to `sums`.
    #[inline]
    pub(crate) fn sum<F: Scalar>(&self, w: &[F], hashes: &[u32], sums: &mut [F]) {
        let width = self.width;
        for &hash in hashes {
            let start = self.start(hash);
            for line in (0..width).step_by(STEP) {
                kernels::prefetch_at(w, start + line);
            }
        }
        let sums = &mut sums[..width];
        for &hash in hashes {
            let start = self.start(hash);
            let run = &w[start..start + width];
            for (sum, &w) in sums.iter_mut().zip(run) {
                *sum += w;
            }
        }
    }

    /// Adds `g` to the weights of all features.
    #[inline]
    pub(crate) fn add<F: Scalar>(&self, g: &[F], hashes: &[u32], into: &mut [F]) {
        for &hash in hashes {
            let start = self.start(hash);
            for (w, &g) in into[start..start + self.width].iter_mut().zip(g) {
                *w += g;
            }
        }
    }
}
