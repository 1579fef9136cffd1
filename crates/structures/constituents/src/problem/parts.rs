//! Numbers for the parts of a sentence's derivations, together with the spans that they belong to.
//!
//! Parts, in this order: the pairs of the grammar, which all sentences share; then for each candidate span K columns (its symbol), C categories (the symbol of which it is the left child)
//! and C again (… the right child). That is O(n²·(K + 2C)) numbers for n words, not one for each anchored rule.

use crate::Spans;
use lineal_linalg::Scalar;
use lineal_model::structure::PartVector;
use std::sync::Arc;

/// A number for each part of one sentence: scores, amounts, or a gradient.
#[derive(Clone, Debug, Default)]
pub struct ConstituentParts<F> {
    /// The numbers.
    pub values: Vec<F>,
    pub(crate) shape: Arc<Shape>,
}

/// What the parts of a sentence are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// The sentence, if there is one.
    pub(crate) example: Option<usize>,
    pub(crate) spans: Spans,
}

impl<F> ConstituentParts<F> {
    /// The candidate spans.
    pub fn spans(&self) -> &Spans {
        &self.shape.spans
    }
}

impl<F: Scalar> PartVector<F> for ConstituentParts<F> {
    fn dot(&self, other: &Self) -> f64 {
        self.values.dot(&other.values)
    }

    fn add(&mut self, other: &Self, a: F) {
        self.values.add(&other.values, a);
    }

    fn scale(&mut self, a: F) {
        PartVector::scale(&mut self.values, a);
    }

    fn to_variances(&mut self) {
        // A pair may come several times in one tree: its count is no probability, and stands for its variance.
        let variance =
            |p: F| if p > F::from_f64(1.001) { p } else { (p * (F::ONE - p)).max(F::ZERO) };
        self.values.iter_mut().for_each(|p| *p = variance(*p));
    }
}
