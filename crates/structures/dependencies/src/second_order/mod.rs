//! Projective trees, scored by their arcs, grandparents and siblings.

mod max;
mod packed;
mod parts;

pub use parts::SecondOrder;

use crate::forest::Forest;
use crate::k_best::Ranking;
use crate::{RankedTree, projective};
use lineal_linalg::{Rng, Scalar};
use lineal_model::structure::Infeasible;
use max::Chart;
use packed::Items;

/// Oracles of projective trees of [second order](SecondOrder). Working memory of one thread.
///
/// All take one finite score for each part and panic if there is another number of scores.
#[derive(Clone, Debug, Default)]
pub struct SecondOrderProjective<F> {
    chart: Chart<F>,
    items: Items,
    forest: Forest,
    ranking: Ranking,
    scores: Vec<f64>,
    mu: Vec<f64>,
}

impl<F: Scalar> SecondOrderProjective<F> {
    /// The tree with the highest score, left in `heads`, and its score as [`SecondOrder::score`] gives it.
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

    /// log Σ exp score over all trees.
    pub fn log_partition(&mut self, parts: &SecondOrder, theta: &[F]) -> Result<f64, Infeasible> {
        self.pack(parts, theta)?;
        Ok(self.forest.log_partition(&self.scores))
    }

    /// log Σ exp score over all trees; the probability of each part overwrites `mu`.
    pub fn expect(
        &mut self,
        parts: &SecondOrder,
        theta: &[F],
        mu: &mut [F],
    ) -> Result<f64, Infeasible> {
        assert_eq!(mu.len(), parts.len(), "one marginal for each part");
        self.pack(parts, theta)?;
        self.mu.clear();
        self.mu.resize(parts.len(), 0.0);
        let log_partition = self.forest.expect(&self.scores, &mut self.mu);
        for arc in 0..parts.arcs().len() {
            self.mu[arc] = self.mu[parts.siblings(arc)].iter().sum();
        }
        mu.iter_mut().zip(&self.mu).for_each(|(mu, &p)| *mu = F::from_f64(p));
        Ok(log_partition)
    }

    /// The `k` trees with the highest scores, best first (fewer if there are not as many).
    pub fn k_best(
        &mut self,
        parts: &SecondOrder,
        theta: &[F],
        k: usize,
    ) -> Result<Vec<RankedTree>, Infeasible> {
        self.pack(parts, theta)?;
        let mut ranked = Vec::new();
        self.ranking.k_best(&self.forest, &self.scores, k, |of_tree| {
            let mut heads = vec![0; parts.arcs().n_words()];
            of_tree.iter().for_each(|&part| set_head(parts, part, &mut heads));
            ranked.push(RankedTree { score: parts.score(theta, &heads), heads });
        });
        Ok(ranked)
    }

    /// Trees drawn independently, each with probability exp(score) / Σ exp score.
    pub fn samples(
        &mut self,
        parts: &SecondOrder,
        theta: &[F],
        n_samples: usize,
        rng: &mut Rng,
    ) -> Result<Vec<Vec<u32>>, Infeasible> {
        self.log_partition(parts, theta)?;
        let draw = |_| {
            let mut heads = vec![0; parts.arcs().n_words()];
            self.forest.sample(rng, |part| set_head(parts, part, &mut heads));
            heads
        };
        Ok((0..n_samples).map(draw).collect())
    }

    fn pack(&mut self, parts: &SecondOrder, theta: &[F]) -> Result<(), Infeasible> {
        assert_eq!(theta.len(), parts.len(), "one score for each part");
        if !self.items.pack(parts, &mut self.forest) {
            return Err(projective::conflict(parts.arcs()));
        }
        self.scores.clear();
        self.scores.extend(theta.iter().map(|theta| theta.to_f64()));
        for part in parts.all_siblings() {
            self.scores[part] += self.scores[parts.outer(part)];
        }
        Ok(())
    }
}

/// Sibling parts are as many as the arcs of a tree: they tell its heads.
fn set_head(parts: &SecondOrder, part: usize, heads: &mut [u32]) {
    if parts.all_siblings().contains(&part) {
        let arc = parts.outer(part);
        heads[parts.arcs().modifier(arc) - 1] = parts.arcs().head(arc) as u32;
    }
}
