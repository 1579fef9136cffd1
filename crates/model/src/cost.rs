//! Costs Δ(y, ŷ) between outputs.

use crate::space::{Binary, Classes};
use lineal_linalg::Scalar;
use serde::{Deserialize, Serialize};

/// A cost between outputs that can be added to part scores.
pub trait Cost<F: Scalar, S: Copy>: Sync {
    /// Adds Δ(y, ·) to the score of every output, up to a constant.
    fn augment(&self, space: S, y: u32, scores: &mut [F]);
    /// Δ(y, ŷ).
    fn cost(&self, y: u32, y_hat: u32) -> F;
    /// Σ of the costs of all outputs, each times its part.
    fn total(&self, y: u32, parts: &[F]) -> f64 {
        let cost = |(y_hat, part): (u32, &F)| part.to_f64() * self.cost(y, y_hat).to_f64();
        (0u32..).zip(parts).map(cost).sum()
    }
}

impl<F: Scalar, S: Copy, C: Cost<F, S>> Cost<F, S> for &C {
    #[inline(always)]
    fn augment(&self, space: S, y: u32, scores: &mut [F]) {
        C::augment(self, space, y, scores);
    }
    #[inline(always)]
    fn cost(&self, y: u32, y_hat: u32) -> F {
        C::cost(self, y, y_hat)
    }
    #[inline(always)]
    fn total(&self, y: u32, parts: &[F]) -> f64 {
        C::total(self, y, parts)
    }
}

/// No cost: the perceptron and plain maximum likelihood.
#[derive(Clone, Copy, Debug)]
pub struct NoCost;

impl<F: Scalar, S: Copy> Cost<F, S> for NoCost {
    #[inline(always)]
    fn augment(&self, _: S, _: u32, _: &mut [F]) {}
    #[inline(always)]
    fn cost(&self, _: u32, _: u32) -> F {
        F::ZERO
    }
    #[inline(always)]
    fn total(&self, _: u32, _: &[F]) -> f64 {
        0.0
    }
}

/// Every mistake costs 1.
#[derive(Clone, Copy, Debug)]
pub struct ZeroOne;

impl<F: Scalar> Cost<F, Binary> for ZeroOne {
    #[inline(always)]
    fn augment(&self, _: Binary, y: u32, scores: &mut [F]) {
        scores[0] -= Binary::sign::<F>(y);
    }
    #[inline(always)]
    fn cost(&self, y: u32, y_hat: u32) -> F {
        if y == y_hat { F::ZERO } else { F::ONE }
    }
}

impl<F: Scalar> Cost<F, Classes> for ZeroOne {
    #[inline(always)]
    fn augment(&self, _: Classes, y: u32, scores: &mut [F]) {
        // Adding 1 to all others or taking 1 from the gold: the same up to a constant.
        scores[y as usize] -= F::ONE;
    }
    #[inline(always)]
    fn cost(&self, y: u32, y_hat: u32) -> F {
        if y == y_hat { F::ZERO } else { F::ONE }
    }
}

/// A table Δ(y, ŷ) ≥ 0 with zeros on the diagonal; row y, column ŷ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(usize, Vec<f64>)", into = "(usize, Vec<f64>)")]
pub struct CostMatrix {
    n_classes: usize,
    cost: Vec<f64>,
}

impl CostMatrix {
    /// Checks and takes a row-major table.
    pub fn new(n_classes: usize, cost: Vec<f64>) -> Result<Self, String> {
        if n_classes.checked_mul(n_classes) != Some(cost.len()) {
            return Err(format!("{} costs for {n_classes} classes", cost.len()));
        }
        for y in 0..n_classes {
            for y_hat in 0..n_classes {
                let c = cost[y * n_classes + y_hat];
                if !c.is_finite() || c < 0.0 {
                    return Err(format!(
                        "the cost {c} in row {}, column {} is not a number ≥ 0",
                        y + 1,
                        y_hat + 1
                    ));
                }
                if y == y_hat && c != 0.0 {
                    return Err(format!(
                        "the cost of a correct answer must be 0, not {c} (row {})",
                        y + 1
                    ));
                }
            }
        }
        Ok(Self { n_classes, cost })
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Δ(y, ·).
    pub fn row(&self, y: u32) -> &[f64] {
        &self.cost[y as usize * self.n_classes..(y as usize + 1) * self.n_classes]
    }

    /// The class of least expected cost under `proba`; the lowest among equals.
    pub fn least_expected(&self, proba: &[f64]) -> u32 {
        let expected = |y_hat: usize| -> f64 {
            proba.iter().enumerate().map(|(y, p)| p * self.cost[y * self.n_classes + y_hat]).sum()
        };
        let mut best = (0, f64::INFINITY);
        for y_hat in 0..self.n_classes {
            let e = expected(y_hat);
            if e < best.1 {
                best = (y_hat as u32, e);
            }
        }
        best.0
    }
}

impl TryFrom<(usize, Vec<f64>)> for CostMatrix {
    type Error = String;
    fn try_from((n_classes, cost): (usize, Vec<f64>)) -> Result<Self, String> {
        Self::new(n_classes, cost)
    }
}

impl From<CostMatrix> for (usize, Vec<f64>) {
    fn from(m: CostMatrix) -> Self {
        (m.n_classes, m.cost)
    }
}

impl<F: Scalar> Cost<F, Binary> for CostMatrix {
    fn augment(&self, _: Binary, y: u32, scores: &mut [F]) {
        scores[0] -= Binary::sign::<F>(y) * F::from_f64(self.row(y)[1 - y as usize]);
    }
    fn cost(&self, y: u32, y_hat: u32) -> F {
        F::from_f64(self.row(y)[y_hat as usize])
    }
}

impl<F: Scalar> Cost<F, Classes> for CostMatrix {
    fn augment(&self, _: Classes, y: u32, scores: &mut [F]) {
        for (s, &c) in scores.iter_mut().zip(self.row(y)) {
            *s += F::from_f64(c);
        }
    }
    fn cost(&self, y: u32, y_hat: u32) -> F {
        F::from_f64(self.row(y)[y_hat as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_tables_are_refused() {
        assert!(CostMatrix::new(2, vec![0.0, 1.0, 5.0, 0.0]).is_ok());
        for bad in [
            vec![0.0; 3],
            vec![0.0, -1.0, 1.0, 0.0],
            vec![1.0, 1.0, 1.0, 0.0],
            vec![0.0, f64::NAN, 1.0, 0.0],
        ] {
            assert!(CostMatrix::new(2, bad).is_err());
        }
    }

    #[test]
    fn least_expected_cost_may_not_be_the_likeliest_class() {
        let cost = CostMatrix::new(2, vec![0.0, 1.0, 10.0, 0.0]).unwrap();
        assert_eq!(cost.least_expected(&[0.8, 0.2]), 1);
        assert_eq!(cost.least_expected(&[0.95, 0.05]), 0);
    }
}
