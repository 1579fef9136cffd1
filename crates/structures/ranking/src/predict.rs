//! From weights to orders: scores, ranks, probabilities, and why one document stands above another.

use crate::queries::Queries;
use lineal_linalg::special::sigmoid;
use lineal_linalg::{Row, Scalar, kernels};

impl Queries<'_> {
    /// The score of each document of a query.
    pub fn scores<F: Scalar>(&self, q: usize, w: &[F]) -> Vec<F> {
        self.documents(q).map(|document| kernels::dot(self.row(document), w)).collect()
    }
}

/// Documents from the highest score to the lowest; equal scores stay in the order given. What is not a number comes last.
pub fn order<F: Scalar>(scores: &[F]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    let key = |document: u32| {
        let score = scores[document as usize].to_f64();
        // −0 and 0 are the same score.
        if score.is_nan() { f64::NEG_INFINITY } else { score + 0.0 }
    };
    order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    order
}

/// The probability that the document of the first score is better than that of the second, by a model of the pairwise logistic loss.
pub fn probability_above<F: Scalar>(score: F, other: F) -> f64 {
    sigmoid(score.to_f64() - other.to_f64())
}

/// What one feature adds to the lead of a document over another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// Its column.
    pub feature: u32,
    /// Its weight.
    pub weight: f64,
    /// Its value in the document, and in the other one.
    pub values: (f32, f32),
    /// weight · (value − other value).
    pub lead: f64,
}

impl Reason {
    /// Why a document stands above (or below) another: the features in which they differ and that have a weight, largest part of the lead first, of either sign. The leads add up to the difference of
    /// the scores.
    pub fn list<F: Scalar>(document: Row<'_>, other: Row<'_>, w: &[F]) -> Vec<Self> {
        let mut values: Vec<(u32, f32, f32)> = Vec::new();
        document.for_each(|at, x| values.push((at as u32, x, 0.0)));
        other.for_each(|at, x| values.push((at as u32, 0.0, x)));
        values.sort_by_key(|value| value.0);
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                (kept.1, kept.2) = (kept.1 + next.1, kept.2 + next.2);
            }
            same
        });
        let reason = |(feature, a, b): (u32, f32, f32)| {
            let weight = w.get(feature as usize).map_or(0.0, |w| w.to_f64());
            let lead = weight * (f64::from(a) - f64::from(b));
            Self { feature, weight, values: (a, b), lead }
        };
        let mut reasons: Vec<Self> = values.into_iter().map(reason).collect();
        reasons.retain(|reason| reason.lead != 0.0);
        reasons.sort_by(|a, b| b.lead.abs().total_cmp(&a.lead.abs()));
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_stable() {
        assert_eq!(order(&[1.0, 3.0, 1.0, 3.0, -0.0, 0.0]), [1, 3, 0, 2, 4, 5]);
        assert_eq!(order(&[f64::NAN, -1e30, 1e30]), [2, 1, 0]);
        assert!(order::<f32>(&[]).is_empty());
    }

    #[test]
    fn probabilities_are_those_of_the_loss() {
        assert_eq!(probability_above(2.0f32, 2.0), 0.5);
        assert!((probability_above(1.0, 0.0) - 1.0 / (1.0 + (-1.0f64).exp())).abs() < 1e-15);
        assert_eq!((probability_above(1e30, -1e30), probability_above(-1e30, 1e30)), (1.0, 0.0));
    }

    #[test]
    fn reasons_add_up_to_the_lead() {
        let w = [0.5f32, -2.0, 1.0, 3.0];
        let a = Row::Dense(&[1.0, 0.5, 0.0, 2.0]);
        let b = Row::sparse(&[1, 2, 3], &[1.5, 1.0, 2.0]).unwrap();
        let reasons = Reason::list(a, b, &w);
        let features: Vec<u32> = reasons.iter().map(|reason| reason.feature).collect();
        assert_eq!(features, [1, 2, 0]);
        let lead: f64 = reasons.iter().map(|reason| reason.lead).sum();
        let scores = f64::from(kernels::dot(a, &w)) - f64::from(kernels::dot(b, &w));
        assert!((lead - scores).abs() < 1e-6 && (reasons[0].lead - 2.0).abs() < 1e-12);
    }
}
