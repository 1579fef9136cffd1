//! Numbers for the parts of a sentence's trees, together with what they belong to.
//!
//! The candidate arcs and the numbering of parts over them go with the numbers, so that an output can be scored without finding them again. They are shared: copies of
//! scores cost their numbers only.

use crate::{Arcs, SecondOrder};
use lineal_linalg::Scalar;
use lineal_model::structure::PartVector;
use std::sync::Arc;

/// A number for each part of one sentence: scores, amounts, or a gradient.
#[derive(Clone, Debug, Default)]
pub struct TreeParts<F> {
    /// The candidate arcs first; what else there is depends on the kind of trees.
    pub values: Vec<F>,
    pub(crate) shape: Arc<Shape>,
}

/// What the parts of a sentence are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// The sentence, if there is one.
    pub(crate) example: Option<usize>,
    pub(crate) arcs: Arcs,
    /// Built for trees of second order only.
    pub(crate) second: SecondOrder,
}

impl<F> TreeParts<F> {
    /// The candidate arcs.
    pub fn arcs(&self) -> &Arcs {
        &self.shape.arcs
    }
}

impl<F: Scalar> PartVector<F> for TreeParts<F> {
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
        self.values.to_variances();
    }
}
