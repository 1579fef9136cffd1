//! Trees whose arcs may cross, scored by their arcs.

mod arborescence;
mod k_best;
mod matrix_tree;

use crate::{Arcs, RankedTree, infeasible};
use arborescence::Arborescence;
use lineal_linalg::Scalar;
use lineal_model::structure::Infeasible;
use matrix_tree::MatrixTree;

/// Oracles of trees whose arcs may cross. Working memory of one thread.
///
/// All take one finite score for each arc and panic if there is another number of scores.
///
/// ```
/// use lineal_dependencies::{Arcs, NonProjective};
///
/// // Two words that like each other: the arcs 0 → 1, 2 → 1, 0 → 2, 1 → 2.
/// let (arcs, theta) = (Arcs::full(2, true), [1.0, 5.0, 0.5, 5.0]);
/// let (mut oracle, mut heads) = (NonProjective::default(), Vec::new());
/// assert_eq!(oracle.max(&arcs, &theta, &mut heads)?, 6.0);
/// assert_eq!(heads, [0, 1]);
///
/// let mut mu = [0.0; 4];
/// oracle.expect(&arcs, &theta, &mut mu)?;
/// assert!((mu[0] + mu[2] - 1.0f64).abs() < 1e-12);
/// # Ok::<(), lineal_model::structure::Infeasible>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NonProjective {
    arborescence: Arborescence,
    matrix_tree: MatrixTree,
}

impl NonProjective {
    /// The tree with the highest score, left in `heads`, and its score as [`Arcs::score`] gives it.
    pub fn max<F: Scalar>(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        heads: &mut Vec<u32>,
    ) -> Result<f64, Infeasible> {
        assert_eq!(theta.len(), arcs.len(), "one score for each arc");
        if self.arborescence.max(arcs, theta, |_| true, heads) {
            return Ok(arcs.score(theta, heads));
        }
        Err(conflict(arcs))
    }

    /// log Σ exp score over all trees.
    pub fn log_partition<F: Scalar>(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
    ) -> Result<f64, Infeasible> {
        assert_eq!(theta.len(), arcs.len(), "one score for each arc");
        self.matrix_tree.sums(arcs, theta, None).ok_or_else(|| conflict(arcs))
    }

    /// log Σ exp score over all trees; the probability of each arc overwrites `mu`.
    pub fn expect<F: Scalar>(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        mu: &mut [F],
    ) -> Result<f64, Infeasible> {
        assert_eq!(theta.len(), arcs.len(), "one score for each arc");
        assert_eq!(mu.len(), arcs.len(), "one marginal for each arc");
        self.matrix_tree.sums(arcs, theta, Some(mu)).ok_or_else(|| conflict(arcs))
    }

    /// The `k` trees with the highest scores, best first (fewer if there are not as many).
    pub fn k_best<F: Scalar>(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        k: usize,
    ) -> Result<Vec<RankedTree>, Infeasible> {
        assert_eq!(theta.len(), arcs.len(), "one score for each arc");
        let ranked = k_best::k_best(&mut self.arborescence, arcs, theta, k);
        if ranked.is_empty() && k > 0 { Err(conflict(arcs)) } else { Ok(ranked) }
    }
}

/// Where candidates leave no tree.
fn conflict(arcs: &Arcs) -> Infeasible {
    let (mut solver, mut heads) = (Arborescence::default(), Vec::new());
    infeasible::first_conflict(arcs, |arcs| {
        solver.max(arcs, &vec![0.0; arcs.len()], |_| true, &mut heads)
    })
}
