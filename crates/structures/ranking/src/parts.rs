//! A number for each document of a query, and an output as learners see it.

use lineal_linalg::{Scalar, kernels};
use lineal_model::structure::PartVector;

/// Scores θ of documents, amounts μ, or a gradient: one number for each document of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents<F> {
    /// In the order of the documents.
    pub values: Vec<F>,
    /// Whether these are factors of squared features: see [`to_variances`](PartVector::to_variances).
    pub(crate) squared: bool,
}

impl<F> From<Vec<F>> for Documents<F> {
    fn from(values: Vec<F>) -> Self {
        Self { values, squared: false }
    }
}

impl<F: Scalar> PartVector<F> for Documents<F> {
    fn dot(&self, other: &Self) -> f64 {
        kernels::dot64(&self.values, &other.values)
    }

    fn add(&mut self, other: &Self, a: F) {
        kernels::axpy(a, &other.values, &mut self.values);
    }

    fn scale(&mut self, a: F) {
        self.values.iter_mut().for_each(|part| *part *= a);
    }

    /// Amounts of documents are counts of either sign, so that p·(1 − p) says nothing. Instead the vector is marked, and
    /// [`accumulate`](lineal_model::structure::Structure::accumulate) adds the diagonal of the Hessian at w = 0.
    fn to_variances(&mut self) {
        self.values.iter_mut().for_each(|part| *part = F::ONE);
        self.squared = true;
    }
}

/// An output: what it amounts to for each document, and its cost. Outputs with the same amounts and cost are the same to every learner, so that nothing else is kept of
/// them: a million pairs of a thousand documents are a thousand numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// μ(y): the score of the output is Σ amount · score over the documents.
    pub amounts: Vec<f64>,
    /// Δ(gold, y).
    pub cost: f64,
}
