//! ½‖θ − t‖²: least squares. The target t is the number itself; for classes +1 for the gold and −1 for the others, as
//! scikit-learn's `RidgeClassifier` has it.

use crate::{Domain, DualLoss, Loss, SecondOrder};
use lineal_linalg::Scalar;
use lineal_model::space::{Binary, Classes, OutputSpace, Real};

/// Half the squared distance from the target.
#[derive(Clone, Copy, Debug)]
pub struct Squared;

/// The scores that least squares aims at.
pub trait Target<F: Scalar>: OutputSpace<F> {
    /// Part `c`'s target for gold `y`.
    fn target(y: Self::Output, c: usize) -> F;
}

impl<F: Scalar> Target<F> for Real {
    #[inline]
    fn target(y: f64, _: usize) -> F {
        F::from_f64(y)
    }
}

impl<F: Scalar> Target<F> for Binary {
    #[inline]
    fn target(y: u32, _: usize) -> F {
        Binary::sign(y)
    }
}

impl<F: Scalar> Target<F> for Classes {
    #[inline]
    fn target(y: u32, c: usize) -> F {
        if y as usize == c { F::ONE } else { -F::ONE }
    }
}

impl<F: Scalar, S: Target<F>> Loss<F, S> for Squared {
    #[inline]
    fn value_grad(&self, _: S, scores: &mut [F], y: S::Output, grad: &mut [F]) -> f64 {
        let mut value = 0.0;
        for (c, (g, &s)) in grad.iter_mut().zip(scores.iter()).enumerate() {
            *g = s - S::target(y, c);
            value += 0.5 * g.to_f64() * g.to_f64();
        }
        value
    }
}

impl<F: Scalar, S: Target<F>> SecondOrder<F, S> for Squared {
    fn curve(&self, _: S, _: &mut [F], _: S::Output, state: &mut [F]) {
        state.fill(F::ONE);
    }

    fn hess_vec(&self, _: S, _: S::Output, _: &[F], dir: &[F], out: &mut [F]) {
        out.copy_from_slice(dir);
    }

    fn hess_diag(&self, _: S, _: S::Output, _: &[F], out: &mut [F]) {
        out.fill(F::ONE);
    }
}

impl<F: Scalar, S: Target<F>> DualLoss<F, S> for Squared {
    fn conjugate(&self, _: S, y: S::Output, g: &[F]) -> f64 {
        let each = g.iter().enumerate().map(|(c, &g)| {
            let g = g.to_f64();
            0.5 * g * g + g * S::target(y, c).to_f64()
        });
        each.sum()
    }

    #[inline]
    fn dual_step(
        &self,
        _: S,
        y: S::Output,
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        let mut gap = 0.0;
        for (c, ((g, d), &s)) in g.iter_mut().zip(delta).zip(scores.iter()).enumerate() {
            let residual = s - S::target(y, c) - *g;
            *d = residual / (F::ONE + q);
            *g += *d;
            gap += 0.5 * residual.to_f64() * residual.to_f64();
        }
        gap
    }

    fn domain(&self) -> Domain {
        Domain::Free
    }

    fn clamp(&self, _: S, _: S::Output, _: &mut [F]) {}

    fn sensitivity(&self, _: S, y: S::Output, g: &[F], off: &[f64]) -> f64 {
        let of = |(c, (g, off)): (usize, (&F, &f64))| {
            // ε²off² is at most ε·10⁻⁶off².
            2.0 * off * (g.to_f64().abs() + S::target(y, c).to_f64().abs()) + 1e-6 * off * off
        };
        g.iter().zip(off).enumerate().map(of).sum()
    }
}
