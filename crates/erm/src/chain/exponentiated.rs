//! The conditional random field in the dual: a distribution over the label sequences of each sentence, moved in its exponent.
//!
//! Collins, Globerson, Koo, Carreras, Bartlett, *Exponentiated Gradient Algorithms for Conditional Random Fields and Max-Margin Markov Networks* (JMLR 2008), online form; the
//! same dual as SDCA (Shalev-Shwartz & Zhang 2013; for chains Le Priol, Piché, Lacoste-Julien 2018). With shares pᵢ, qᵢ(y) ∝ exp ⟨ηᵢ, parts(y)⟩ and its marginals μᵢ:
//!
//! ```text
//! w(q) = (1/l2) Σᵢ pᵢ Ψᵢᵀ(parts(yᵢ) − μᵢ)              D(q) = Σᵢ pᵢ H(qᵢ) − (l2/2)‖w(q)‖²
//! ηᵢ ← (1 − γ) ηᵢ + γ θᵢ(w)                               H(qᵢ) = log Z(ηᵢ) − ⟨ηᵢ, μᵢ⟩
//! ```
//!
//! At the optimum ηᵢ = θᵢ(w) up to what does not change qᵢ. The block's gap is pᵢ KL(qᵢ ‖ p(·|θᵢ)) = pᵢ (log Z(θᵢ) − log Z(ηᵢ) + ⟨ηᵢ − θᵢ, μᵢ⟩). The entropy of a chain of
//! which only the scores ηᵢ are kept costs one forward–backward sum, where mixtures of marginals would have to keep K² numbers a position.
//! γ is kept for each sentence: a step that would lower D is taken back and γ halved, others let it grow by a tenth.
//!
//! Along d = μ′ − μ, D grows by pᵢ (H′ − H + ⟨θᵢ, d⟩) − pᵢ²‖Ψᵢᵀd‖²/(2·l2).

use super::ChainError;
use super::dually::Blocks;
use super::problem::{Problem, Worker};
use crate::shards::Shards;
use lineal_chain::{Parts, PrunedModel};
use lineal_linalg::{Scalar, kernels};
use rayon::prelude::*;

pub(crate) struct Exponentiated<'p, 'a, F: Scalar> {
    problem: &'p Problem<'a>,
    worker: Worker<F>,
    blocks: Vec<Block<F>>,
    w: Vec<F>,
    best_dual: f64,
    /// Zeros, between steps.
    spare: Vec<F>,
    next: Block<F>,
}

#[derive(Clone)]
struct Block<F> {
    eta: Parts<F>,
    mu: Parts<F>,
    entropy: f64,
    gamma: f64,
}

impl<F: Scalar> Block<F> {
    fn set(&mut self, eta: &Parts<F>, worker: &mut Worker<F>) -> Result<(), lineal_chain::Error> {
        self.eta.clone_from(eta);
        let log_z = worker.expect(&self.eta, &mut self.mu)?;
        self.entropy = log_z - self.eta.dot(&self.mu);
        Ok(())
    }
}

impl<'p, 'a, F: Scalar> Exponentiated<'p, 'a, F> {
    /// From the distributions at `w`; without it from some that are nearly sure of the gold labels, so that w(q) begins near 0.
    pub(crate) fn new(problem: &'p Problem<'a>, w: Option<Vec<F>>) -> Result<Self, ChainError> {
        let sure = F::from_f64(SURE + (problem.layout.model.n_labels as f64).ln());
        let (cold, w) = (w.is_none(), w.unwrap_or_else(|| vec![F::ZERO; problem.layout.dim()]));
        let empty = Block { eta: Parts::new(), mu: Parts::new(), entropy: 0.0, gamma: FIRST_GAMMA };
        let mut blocks = vec![empty.clone(); problem.sentences.len()];
        blocks.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, blocks)| {
            let mut worker = problem.worker::<F>();
            for (i, block) in blocks.iter_mut().enumerate() {
                let i = chunk * CHUNK + i;
                problem.scores(i, &w, F::ONE, &mut worker);
                let mut parts = std::mem::take(&mut worker.parts);
                if cold {
                    for (t, &gold) in problem.sentences.gold(i).iter().enumerate() {
                        parts.unary[t * parts.start.len() + gold as usize] += sure;
                    }
                }
                block.set(&parts, &mut worker).map_err(|e| super::problem::infeasible(e, i))?;
                worker.parts = parts;
            }
            Ok(())
        })?;
        let spare = vec![F::ZERO; w.len()];
        let mut new = Self {
            problem,
            worker: problem.worker(),
            blocks,
            w,
            best_dual: f64::NEG_INFINITY,
            spare,
            next: empty,
        };
        new.refresh();
        Ok(new)
    }

    /// w(q), computed afresh.
    fn refresh(&mut self) {
        let (problem, blocks) = (self.problem, &self.blocks);
        let dim = problem.layout.dim();
        let work = problem.sentences.unary.nnz() * problem.layout.model.n_labels;
        let mut shards = Shards::<F>::new(problem.sentences.len(), dim, work);
        shards.accumulate(&mut self.w, &|range, w| {
            let mut parts = Parts::new();
            for i in range {
                parts.clone_from(&blocks[i].mu);
                parts.add_labels(problem.sentences.gold(i), -F::ONE);
                parts.scale(F::from_f64(-problem.shares[i] / problem.spec.l2));
                problem.layout.accumulate(&problem.slots, problem.sentences.range(i), &parts, w);
            }
            0.0
        });
    }
}

/// Sentences that a thread takes at a time.
const CHUNK: usize = 64;
/// The first step is half of the way.
const FIRST_GAMMA: f64 = 0.5;
/// The first lead of gold labels, beside the logarithm of the number of labels.
const SURE: f64 = 4.0;

impl<F: Scalar> Blocks for Exponentiated<'_, '_, F> {
    fn step(&mut self, i: usize) -> Result<f64, ChainError> {
        let Self { problem, worker, blocks, w, spare, next, .. } = self;
        let (l2, share) = (problem.spec.l2, problem.shares[i]);
        let block = &mut blocks[i];
        problem.scores(i, w, F::ONE, worker);
        let theta = std::mem::take(&mut worker.parts);
        let found = worker
            .log_partition(&theta)
            .map(|log_z| {
                let cross = theta.dot(&block.mu);
                (share * (log_z - block.entropy - cross)).max(0.0)
            })
            .map_err(|e| super::problem::infeasible(e, i));
        let at = problem.sentences.range(i);
        let layout = &problem.layout;
        while let Ok(gap) = found
            && gap > 0.0
            && block.gamma > 1e-12
        {
            // η ← (1 − γ) η + γ θ
            next.eta.clone_from(&block.eta);
            next.eta.scale(F::from_f64(1.0 - block.gamma));
            next.eta.add(&theta, F::from_f64(block.gamma));
            let eta = std::mem::take(&mut next.eta);
            next.set(&eta, worker).map_err(|e| super::problem::infeasible(e, i))?;
            worker.grad.clone_from(&next.mu);
            worker.grad.add(&block.mu, -F::ONE);
            let by = F::from_f64(-share / l2);
            layout.accumulate(&problem.slots, at.clone(), &worker.grad, spare);
            let norm = layout.settle(&problem.slots, at.clone(), &worker.grad, by, spare, w);
            let gain = share * (next.entropy - block.entropy + theta.dot(&worker.grad))
                - 0.5 * share * share / l2 * norm;
            let fine = gain >= -1e-14 * share * (1.0 + block.entropy.abs());
            if fine {
                next.gamma = (block.gamma * 1.1).min(1.0);
                std::mem::swap(block, next);
                break;
            }
            worker.grad.scale(-by);
            layout.accumulate(&problem.slots, at.clone(), &worker.grad, w);
            block.gamma *= 0.5;
        }
        block.gamma = block.gamma.max(1e-6);
        worker.parts = theta;
        found
    }

    fn certify(&mut self, gaps: &mut [f64]) -> Result<(f64, f64), ChainError> {
        self.refresh();
        let (problem, blocks, w) = (self.problem, &self.blocks, &self.w);
        let mut losses = vec![0.0; gaps.len()];
        let both = gaps.par_chunks_mut(CHUNK).zip(losses.par_chunks_mut(CHUNK)).enumerate();
        both.try_for_each(|(chunk, (gaps, losses))| {
            let mut worker = problem.worker::<F>();
            for (j, (gap, loss)) in gaps.iter_mut().zip(losses).enumerate() {
                let i = chunk * CHUNK + j;
                problem.scores(i, w, F::ONE, &mut worker);
                let theta = std::mem::take(&mut worker.parts);
                let log_z =
                    worker.log_partition(&theta).map_err(|e| super::problem::infeasible(e, i))?;
                *loss = log_z - theta.score(problem.sentences.gold(i));
                let cross = theta.dot(&blocks[i].mu);
                *gap = (problem.shares[i] * (log_z - blocks[i].entropy - cross)).max(0.0);
                worker.parts = theta;
            }
            Ok(())
        })?;
        let mean = |of: &dyn Fn(usize) -> f64| -> f64 {
            (0..losses.len()).map(|i| problem.shares[i] * of(i)).sum()
        };
        let penalty = 0.5 * problem.spec.l2 * kernels::dot64(w, w);
        let objective = mean(&|i| losses[i]) + penalty;
        let dual = mean(&|i| blocks[i].entropy) - penalty;
        self.best_dual = self.best_dual.max(dual);
        Ok((objective, (objective - self.best_dual).max(0.0)))
    }

    fn model(&self, problem: &Problem<'_>) -> PrunedModel {
        problem.layout.pruned(&self.w)
    }
}
