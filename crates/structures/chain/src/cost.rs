//! What a wrong label costs.

use crate::UNLABELLED;
use lineal_linalg::Scalar;

/// Σₜ δ(yₜ, ŷₜ): the Hamming cost, each mistake weighted by the pair of labels.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelCost<F> {
    n_labels: usize,
    delta: Vec<F>,
}

impl<F: Scalar> LabelCost<F> {
    /// 1 for each wrong label.
    pub fn hamming(n_labels: usize) -> Self {
        let delta = (0..n_labels * n_labels)
            .map(|i| if i / n_labels == i % n_labels { F::ZERO } else { F::ONE })
            .collect();
        Self { n_labels, delta }
    }

    /// `delta[gold·K + predicted]`, K² costs; `None` if they are not as many.
    pub fn new(n_labels: usize, delta: Vec<F>) -> Option<Self> {
        (delta.len() == n_labels * n_labels).then_some(Self { n_labels, delta })
    }

    /// The same costs in another precision.
    pub fn cast<G: Scalar>(&self) -> LabelCost<G> {
        let delta = self.delta.iter().map(|d| G::from_f64(d.to_f64())).collect();
        LabelCost { n_labels: self.n_labels, delta }
    }

    /// How many labels there are.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// What each label costs where `gold` is right.
    ///
    /// # Panics
    /// If there is no such label.
    #[inline]
    pub fn row(&self, gold: u32) -> &[F] {
        let at = gold as usize * self.n_labels;
        &self.delta[at..at + self.n_labels]
    }

    /// The cost of a label sequence. Positions without a gold label cost nothing.
    pub fn cost(&self, gold: &[u32], labels: &[u32]) -> f64 {
        gold.iter()
            .zip(labels)
            .filter(|(gold, _)| **gold != UNLABELLED)
            .map(|(&gold, &label)| self.row(gold)[label as usize].to_f64())
            .sum()
    }

    /// Adds the costs to unary scores: the argmax of the sum is loss-augmented.
    ///
    /// # Panics
    /// If there are not K scores for each gold label.
    pub fn augment(&self, gold: &[u32], unary: &mut [F]) {
        assert_eq!(unary.len(), gold.len() * self.n_labels);
        for (&gold, unary) in gold.iter().zip(unary.chunks_exact_mut(self.n_labels.max(1))) {
            if gold != UNLABELLED {
                for (score, &cost) in unary.iter_mut().zip(self.row(gold)) {
                    *score += cost;
                }
            }
        }
    }
}
