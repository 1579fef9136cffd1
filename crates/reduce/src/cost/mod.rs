//! Mistakes that do not cost alike: reductions that learn from a table Δ(y, ŷ) which prediction is cheap.
//!
//! Each makes binary problems of *weighted* rows, so the learner must honour [`BinaryTask::weight`](crate::BinaryTask::weight). The
//! answers are about costs, not about classes: these models predict, but have no probabilities. A model that has
//! probabilities can instead leave the costs to the end: [`Costs::least_expected`].
//!
//! Any class may be predicted, also one without training rows: "ask a human", at a small cost whatever the truth, is such a
//! class.

mod all_pairs;
mod filter_tree;
mod one_vs_all;

pub use all_pairs::CostAllPairs;
pub use filter_tree::FilterTree;
pub use one_vs_all::CostOneVsAll;

use crate::Error;

/// A K × K table Δ(y, ŷ): row y, column ŷ. Finite, and not negative; the diagonal need not be 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs<'a> {
    n_classes: usize,
    cost: &'a [f64],
}

impl<'a> Costs<'a> {
    /// Checks a row-major table.
    pub fn new(n_classes: usize, cost: &'a [f64]) -> Result<Self, Error> {
        if n_classes.checked_mul(n_classes) != Some(cost.len()) {
            return Err(Error::Costs { n_classes, found: cost.len() });
        }
        match cost.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            Some(at) => Err(Error::Cost { y: at / n_classes, y_hat: at % n_classes }),
            None => Ok(Self { n_classes, cost }),
        }
    }

    /// Number of classes, K.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Δ(y, ·).
    pub fn row(&self, y: u32) -> &'a [f64] {
        &self.cost[y as usize * self.n_classes..(y as usize + 1) * self.n_classes]
    }

    /// argmin over ŷ of Σ_y P(y) Δ(y, ŷ), the lowest among equals: what to predict if these are the probabilities of the K
    /// classes.
    pub fn least_expected(&self, proba: &[f64]) -> u32 {
        let expected = |y_hat: usize| -> f64 {
            proba.iter().zip(self.cost.chunks(self.n_classes)).map(|(p, row)| p * row[y_hat]).sum()
        };
        let mut best = (f64::INFINITY, 0);
        for y_hat in 0..self.n_classes {
            let cost = expected(y_hat);
            if cost < best.0 {
                best = (cost, y_hat as u32);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_is_not_always_the_likeliest() {
        let table = [0.0, 1.0, 10.0, 0.0];
        let costs = Costs::new(2, &table).unwrap();
        assert_eq!(costs.row(1), [10.0, 0.0]);
        assert_eq!(costs.least_expected(&[0.95, 0.05]), 0);
        assert_eq!(costs.least_expected(&[0.8, 0.2]), 1);
        // 10 · 1/11 = 1 · 10/11.
        assert_eq!(costs.least_expected(&[10.0, 1.0]), 0);
    }

    #[test]
    fn bad_tables_are_refused() {
        assert_eq!(Costs::new(2, &[0.0; 3]), Err(Error::Costs { n_classes: 2, found: 3 }));
        assert_eq!(Costs::new(2, &[0.0, 1.0, -1.0, 0.0]), Err(Error::Cost { y: 1, y_hat: 0 }));
        assert!(Costs::new(1, &[f64::NAN]).is_err() && Costs::new(usize::MAX, &[]).is_err());
    }
}
