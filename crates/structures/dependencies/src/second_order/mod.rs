//! Projective trees, scored by their arcs, grandparents and siblings.

mod max;
mod parts;

pub use parts::SecondOrder;

use crate::projective;
use lineal_linalg::Scalar;
use lineal_model::structure::Infeasible;
use max::Chart;

/// Oracles of projective trees of [second order](SecondOrder). Working memory of one thread.
#[derive(Clone, Debug, Default)]
pub struct SecondOrderProjective<F> {
    chart: Chart<F>,
}

impl<F: Scalar> SecondOrderProjective<F> {
    /// The tree with the highest score, left in `heads`, and its score as [`SecondOrder::score`] gives it. Scores are finite.
    ///
    /// # Panics
    /// If there is not one score for each part.
    pub fn max(
        &mut self,
        parts: &SecondOrder,
        theta: &[F],
        heads: &mut Vec<u32>,
    ) -> Result<f64, Infeasible> {
        assert_eq!(theta.len(), parts.len(), "one score for each part");
        if self.chart.max(parts, theta, heads) {
            return Ok(parts.score(theta, heads));
        }
        Err(projective::conflict(parts.arcs()))
    }
}
