//! Projective trees, scored by their arcs.

mod eisner;

use crate::{Arcs, infeasible};
use eisner::Chart;
use lineal_linalg::Scalar;
use lineal_model::structure::Infeasible;

/// Oracles of projective trees: no two arcs cross, the root standing before the first word. Working memory of one thread.
///
/// ```
/// use lineal_dependencies::{Arcs, Projective};
///
/// // Two words: the arcs 0 → 1, 2 → 1, 0 → 2, 1 → 2.
/// let (mut oracle, mut heads) = (Projective::default(), Vec::new());
/// let score = oracle.max(&Arcs::full(2, true), &[1.0, 0.0, 0.5, 3.0], &mut heads)?;
/// assert_eq!((score, &heads[..]), (4.0, &[0, 1][..]));
/// # Ok::<(), lineal_model::structure::Infeasible>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Projective<F> {
    chart: Chart<F>,
}

impl<F: Scalar> Projective<F> {
    /// The tree with the highest score, left in `heads`, and its score as [`Arcs::score`] gives it. Scores are finite.
    ///
    /// # Panics
    /// If there is not one score for each arc.
    pub fn max(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        heads: &mut Vec<u32>,
    ) -> Result<f64, Infeasible> {
        assert_eq!(theta.len(), arcs.len(), "one score for each arc");
        if self.chart.max(arcs, theta, heads) {
            return Ok(arcs.score(theta, heads));
        }
        Err(conflict(arcs))
    }
}

/// Where candidates leave no projective tree.
pub(crate) fn conflict(arcs: &Arcs) -> Infeasible {
    let (mut chart, mut heads) = (Chart::<f32>::default(), Vec::new());
    infeasible::first_conflict(arcs, |arcs| chart.max(arcs, &vec![0.0; arcs.len()], &mut heads))
}
