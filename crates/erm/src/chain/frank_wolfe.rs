//! The structured SVM in the dual: block-coordinate Frank–Wolfe with pairwise steps.
//!
//! Lacoste-Julien, Jaggi, Schmidt, Pletscher, *Block-Coordinate Frank–Wolfe Optimization for Structural SVMs* (ICML 2013); pairwise steps and caches after
//! Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien (ICML 2016). With shares pᵢ of the sentences, a distribution αᵢ over the label sequences of each:
//!
//! ```text
//! w(α) = (1/l2) Σᵢ pᵢ (Ψ(xᵢ, yᵢ) − Σ_y αᵢ(y) Ψ(xᵢ, y))
//! D(α) = Σᵢ pᵢ Σ_y αᵢ(y) Δ(yᵢ, y) − (l2/2)‖w(α)‖²
//! ```
//!
//! A block is the list of its sequences with αᵢ(y) > 0. A step finds the sequence s that the loss-augmented argmax answers, and of the list the one, a, that scores lowest,
//! and moves γ = min(αᵢ(a), l2 (score(s) − score(a)) / (pᵢ‖Ψ(s) − Ψ(a)‖²)) from a to s, scores with costs. That touches the features by which s and
//! a differ and nothing else. Where the list already has a sequence that promises half of the gap that the block last had, the
//! argmax is not asked for.
//!
//! The certificate is taken at w and at the mean of the iterates at the ends of passes, weighted by 2k/(K(K+1)), whose dual point is the mean of α.

use super::ChainError;
use super::dually::Blocks;
use super::problem::{Problem, Worker};
use crate::shards::Shards;
use lineal_chain::PrunedModel;
use lineal_linalg::{Scalar, kernels};
use rayon::prelude::*;

pub(crate) struct FrankWolfe<'p, 'a, F: Scalar> {
    problem: &'p Problem<'a>,
    worker: Worker<F>,
    active: Vec<Vec<Active>>,
    /// The gap that each block had at the last argmax.
    gaps: Vec<f64>,
    w: Vec<F>,
    /// Σᵢ pᵢ Σ_y αᵢ(y) Δ(yᵢ, y).
    cost: f64,
    /// Means of w and of the cost over certificates.
    mean: Vec<F>,
    mean_cost: f64,
    n_means: f64,
    /// Whether the mean is what should be returned.
    mean_is_better: bool,
    best_dual: f64,
    /// Zeros, between steps.
    spare: Vec<F>,
}

struct Active {
    labels: Vec<u32>,
    alpha: f64,
    cost: f64,
}

impl<'p, 'a, F: Scalar> FrankWolfe<'p, 'a, F> {
    pub(crate) fn new(problem: &'p Problem<'a>) -> Self {
        let n = problem.sentences.len();
        let gold = |i| Active { labels: problem.sentences.gold(i).to_vec(), alpha: 1.0, cost: 0.0 };
        let zeros = || vec![F::ZERO; problem.layout.dim()];
        Self {
            problem,
            worker: problem.worker(),
            active: (0..n).map(|i| vec![gold(i)]).collect(),
            gaps: vec![f64::INFINITY; n],
            w: zeros(),
            cost: 0.0,
            mean: zeros(),
            mean_cost: 0.0,
            n_means: 0.0,
            mean_is_better: false,
            best_dual: 0.0,
            spare: zeros(),
        }
    }

    /// w(α), computed afresh: rounding does not pile up.
    fn refresh(&mut self) {
        let (problem, active) = (self.problem, &self.active);
        let dim = problem.layout.dim();
        let work = problem.sentences.unary.nnz() * problem.layout.model.n_labels;
        let mut shards = Shards::<F>::new(problem.sentences.len(), dim, work);
        shards.accumulate(&mut self.w, &|range, w| {
            for i in range {
                let (at, gold) = (problem.sentences.range(i), problem.sentences.gold(i));
                for one in &active[i] {
                    let by = F::from_f64(problem.shares[i] / problem.spec.l2 * one.alpha);
                    let add = |place: usize, v: f32| w[place] += by * F::from_f32(v);
                    problem.layout.each_difference(
                        &problem.slots,
                        at.clone(),
                        gold,
                        &one.labels,
                        add,
                    );
                }
            }
            0.0
        });
        let shares = &problem.shares;
        let of_block = |(i, block): (usize, &Vec<Active>)| {
            shares[i] * block.iter().map(|one| one.alpha * one.cost).sum::<f64>()
        };
        self.cost = active.iter().enumerate().map(of_block).sum();
    }

    fn dual(&self, w: &[F], cost: f64) -> f64 {
        cost - 0.5 * self.problem.spec.l2 * kernels::dot64(w, w)
    }

    /// The primal objective, and the loss of each sentence.
    fn primal(&self, w: &[F], losses: &mut [f64]) -> Result<f64, ChainError> {
        let problem = self.problem;
        let blocks = losses.par_chunks_mut(CHUNK).enumerate();
        blocks.try_for_each(|(chunk, losses)| {
            let mut worker = problem.worker::<F>();
            problem.layout.shared_scores(w, &mut worker.parts);
            worker.decoder.load(&worker.parts);
            for (i, loss) in losses.iter_mut().enumerate() {
                let i = chunk * CHUNK + i;
                problem.scores(i, w, F::ONE, &mut worker);
                *loss = problem.loss(i, &mut worker)?;
            }
            Ok(())
        })?;
        let loss: f64 = losses.iter().zip(&problem.shares).map(|(l, p)| l * p).sum();
        Ok(loss + 0.5 * problem.spec.l2 * kernels::dot64(w, w))
    }
}

/// Sentences that a thread takes at a time.
const CHUNK: usize = 64;

impl<F: Scalar> Blocks for FrankWolfe<'_, '_, F> {
    fn step(&mut self, i: usize) -> Result<f64, ChainError> {
        let Self { problem, worker, active, gaps, w, cost, spare, .. } = self;
        let (l2, share) = (problem.spec.l2, problem.shares[i]);
        if share == 0.0 {
            return Ok(0.0);
        }
        let block = &mut active[i];
        problem.scores(i, w, F::ONE, worker);
        let score = |one: &Active| worker.parts.score(&one.labels) + one.cost;
        let scores: Vec<f64> = block.iter().map(score).collect();
        let mean: f64 = block.iter().zip(&scores).map(|(one, score)| one.alpha * score).sum();
        let lowest = argbest(&scores, |a, b| a < b);
        let highest = argbest(&scores, |a, b| a > b);
        // The list first; the argmax where it promises little.
        let cached = share * (scores[highest] - mean);
        let mut seen = gaps[i];
        let (towards, best) = if cached >= 0.5 * gaps[i] && cached > 0.0 {
            (highest, scores[highest])
        } else {
            let gold_score = worker.parts.score(problem.sentences.gold(i));
            worker.decoder.load(&worker.parts);
            let best = problem.loss(i, worker)? + gold_score;
            seen = (share * (best - mean)).max(0.0);
            let known = block.iter().position(|one| one.labels == worker.y_hat);
            let at = known.unwrap_or_else(|| {
                let labels = worker.y_hat.clone();
                let cost = worker.cost(problem.sentences.gold(i), &labels);
                block.push(Active { labels, alpha: 0.0, cost });
                block.len() - 1
            });
            (at, best)
        };
        gaps[i] = seen;
        let lead = best - scores[lowest];
        if towards != lowest && lead > 0.0 {
            let at = problem.sentences.range(i);
            let (plus, minus) = (&block[lowest].labels, &block[towards].labels);
            let mut norm = 0.0;
            let layout = &problem.layout;
            layout.each_difference(&problem.slots, at.clone(), plus, minus, |place, v| {
                let v = F::from_f32(v);
                norm += (v * (spare[place] + spare[place] + v)).to_f64();
                spare[place] += v;
            });
            let room = block[lowest].alpha;
            let gamma = if norm > 0.0 { (l2 * lead / (share * norm)).min(room) } else { room };
            let by = F::from_f64(gamma * share / l2);
            layout.each_difference(&problem.slots, at, plus, minus, |place, _| {
                w[place] += by * spare[place];
                spare[place] = F::ZERO;
            });
            *cost += share * gamma * (block[towards].cost - block[lowest].cost);
            block[towards].alpha += gamma;
            block[lowest].alpha = if gamma >= room { 0.0 } else { room - gamma };
        }
        block.retain(|one| one.alpha > 0.0);
        Ok(seen)
    }

    fn certify(&mut self, gaps: &mut [f64]) -> Result<(f64, f64), ChainError> {
        self.refresh();
        self.n_means += 1.0;
        let rho = 2.0 / (self.n_means + 1.0);
        let (keep, take) = (F::from_f64(1.0 - rho), F::from_f64(rho));
        for (mean, &w) in self.mean.iter_mut().zip(&self.w) {
            *mean = keep * *mean + take * w;
        }
        self.mean_cost = (1.0 - rho) * self.mean_cost + rho * self.cost;
        let dual = self.dual(&self.w, self.cost).max(self.dual(&self.mean, self.mean_cost));
        self.best_dual = self.best_dual.max(dual);
        let of_mean = self.primal(&self.mean, gaps)?;
        let own = self.primal(&self.w, gaps)?;
        // From the losses at w to the gaps: loss + score(gold) − Σ α (score + cost).
        let problem = self.problem;
        let (w, active) = (&self.w, &self.active);
        gaps.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, gaps)| {
            let mut worker = problem.worker::<F>();
            for (i, gap) in gaps.iter_mut().enumerate() {
                let i = chunk * CHUNK + i;
                problem.scores(i, w, F::ONE, &mut worker);
                let gold = worker.parts.score(problem.sentences.gold(i));
                let score =
                    |one: &Active| one.alpha * (worker.parts.score(&one.labels) + one.cost - gold);
                let mean: f64 = active[i].iter().map(score).sum();
                *gap = (problem.shares[i] * (*gap - mean)).max(0.0);
            }
        });
        self.gaps.copy_from_slice(gaps);
        self.mean_is_better = of_mean < own;
        let objective = own.min(of_mean);
        Ok((objective, (objective - self.best_dual).max(0.0)))
    }

    fn model(&self, problem: &Problem<'_>) -> PrunedModel {
        problem.layout.pruned(if self.mean_is_better { &self.mean } else { &self.w })
    }
}

fn argbest(scores: &[f64], better: impl Fn(f64, f64) -> bool) -> usize {
    (0..scores.len()).fold(0, |best, i| if better(scores[i], scores[best]) { i } else { best })
}
