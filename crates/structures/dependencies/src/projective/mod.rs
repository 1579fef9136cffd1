//! Projective trees, scored by their arcs.

mod eisner;
mod packed;
mod sums;

use crate::forest::Forest;
use crate::k_best::Ranking;
use crate::{Arcs, RankedTree, infeasible};
use eisner::Chart;
use lineal_linalg::{Rng, Scalar};
use lineal_model::structure::Infeasible;
use packed::Items;
use sums::Sums;

/// Oracles of projective trees: no two arcs cross, the root standing before the first word. Working memory of one thread.
///
/// All take one finite score for each arc and panic if there is another number of scores.
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
    sums: Sums,
    items: Items,
    forest: Forest,
    ranking: Ranking,
    scores: Vec<f64>,
}

impl<F: Scalar> Projective<F> {
    /// The tree with the highest score, left in `heads`, and its score as [`Arcs::score`] gives it.
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

    /// log Σ exp score over all trees.
    pub fn log_partition(&mut self, arcs: &Arcs, theta: &[F]) -> Result<f64, Infeasible> {
        assert_eq!(theta.len(), arcs.len(), "one score for each arc");
        self.sums.log_partition(arcs, theta).ok_or_else(|| conflict(arcs))
    }

    /// log Σ exp score over all trees; the probability of each arc overwrites `mu`.
    pub fn expect(&mut self, arcs: &Arcs, theta: &[F], mu: &mut [F]) -> Result<f64, Infeasible> {
        assert_eq!(mu.len(), arcs.len(), "one marginal for each arc");
        let log_partition = self.log_partition(arcs, theta)?;
        self.sums.marginals(arcs, mu);
        Ok(log_partition)
    }

    /// The `k` trees with the highest scores, best first (fewer if there are not as many).
    pub fn k_best(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        k: usize,
    ) -> Result<Vec<RankedTree>, Infeasible> {
        self.pack(arcs, theta)?;
        let mut ranked = Vec::new();
        self.ranking.k_best(&self.forest, &self.scores, k, |parts| {
            let mut heads = vec![0; arcs.n_words()];
            parts.iter().for_each(|&arc| heads[arcs.modifier(arc) - 1] = arcs.head(arc) as u32);
            ranked.push(RankedTree { score: arcs.score(theta, &heads), heads });
        });
        Ok(ranked)
    }

    /// Trees drawn independently, each with probability exp(score) / Σ exp score.
    pub fn samples(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        n_samples: usize,
        rng: &mut Rng,
    ) -> Result<Vec<Vec<u32>>, Infeasible> {
        self.pack(arcs, theta)?;
        self.forest.log_partition(&self.scores);
        let draw = |_| {
            let mut heads = vec![0; arcs.n_words()];
            self.forest.sample(rng, |arc| heads[arcs.modifier(arc) - 1] = arcs.head(arc) as u32);
            heads
        };
        Ok((0..n_samples).map(draw).collect())
    }

    fn pack(&mut self, arcs: &Arcs, theta: &[F]) -> Result<(), Infeasible> {
        assert_eq!(theta.len(), arcs.len(), "one score for each arc");
        if !self.items.pack(arcs, &mut self.forest) {
            return Err(conflict(arcs));
        }
        self.scores.clear();
        self.scores.extend(theta.iter().map(|theta| theta.to_f64()));
        Ok(())
    }
}

/// Where candidates leave no projective tree. In very long sentences only a word without any is looked for; else it is the first word.
pub(crate) fn conflict(arcs: &Arcs) -> Infeasible {
    if arcs.n_words() > infeasible::CHARTED {
        return Infeasible { at: infeasible::first_without_heads(arcs).unwrap_or(0) };
    }
    let (mut chart, mut heads) = (Chart::<f32>::default(), Vec::new());
    infeasible::first_conflict(arcs, |arcs| chart.max(arcs, &vec![0.0; arcs.len()], &mut heads))
}
