//! Where Ψᵀg goes.

use crate::{Row, Scalar, kernels};

/// Takes multiples of input rows: the transpose of scoring, without knowing what it is added to.
///
/// `at` is the first weight of the block that the row speaks to; the block has `row columns × g.len()`
/// weights, feature-major.
pub trait Sink<F> {
    /// Adds `x_j · g` to the `g.len()` weights of each column `j`.
    fn add_row(&mut self, at: usize, x: Row<'_>, g: &[F]);
    /// Adds `g` to the weights from `at` on.
    fn add_block(&mut self, at: usize, g: &[F]);
}

/// Adds into a dense vector.
#[derive(Debug)]
pub struct DenseSink<'a, F>(pub &'a mut [F]);

impl<F: Scalar> Sink<F> for DenseSink<'_, F> {
    #[inline]
    fn add_row(&mut self, at: usize, x: Row<'_>, g: &[F]) {
        kernels::add_outer(x, g, &mut self.0[at..]);
    }

    #[inline]
    fn add_block(&mut self, at: usize, g: &[F]) {
        for (w, &g) in self.0[at..].iter_mut().zip(g) {
            *w += g;
        }
    }
}
