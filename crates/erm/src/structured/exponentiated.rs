//! The conditional random field in the dual: a distribution over the outputs of each example, moved in its exponent.
//!
//! Collins, Globerson, Koo, Carreras, Bartlett, *Exponentiated Gradient Algorithms for Conditional Random Fields and Max-Margin Markov Networks* (JMLR 2008), online form; the
//! same dual as SDCA (Shalev-Shwartz & Zhang 2013; for chains Le Priol, Piché, Lacoste-Julien 2018). With shares pᵢ, qᵢ(y) ∝ exp ⟨ηᵢ, parts(y)⟩ and its marginals μᵢ:
//!
//! ```text
//! w(q) = (1/l2) Σᵢ pᵢ Ψᵢᵀ(parts(yᵢ) − μᵢ)              D(q) = Σᵢ pᵢ H(qᵢ) − (l2/2)‖w(q)‖²
//! ηᵢ ← (1 − γ) ηᵢ + γ θᵢ(w)                               H(qᵢ) = log Z(ηᵢ) − ⟨ηᵢ, μᵢ⟩
//! ```
//!
//! At the optimum ηᵢ = θᵢ(w) up to what does not change qᵢ. The block's gap is pᵢ KL(qᵢ ‖ p(·|θᵢ)) = pᵢ (log Z(θᵢ) − log Z(ηᵢ) + ⟨ηᵢ − θᵢ, μᵢ⟩). Both ηᵢ and μᵢ are kept:
//! twice the parts of each example, which is fine for positions and arcs and much for structures of many parts.
//! γ is kept for each example: a step that would lower D is taken back and γ halved, others let it grow by a tenth.
//!
//! Along d = μ′ − μ, D grows by pᵢ (H′ − H + ⟨θᵢ, d⟩) − pᵢ²‖Ψᵢᵀd‖²/(2·l2).

use super::LearnError;
use super::problem::{Problem, Worker};
use lineal_linalg::{Scalar, kernels};
use lineal_model::structure::{MaxOracle, PartVector};
use lineal_solver::{Blocks, DualStep};
use rayon::prelude::*;
use std::ops::Range;

pub(crate) struct Exponentiated<'p, 'a, S: MaxOracle<F>, F: Scalar> {
    problem: &'p Problem<'a, S, F>,
    worker: Worker<S, F>,
    blocks: Vec<Block<S::Parts>>,
    w: Vec<F>,
    best_dual: f64,
    /// Zeros, between steps.
    spare: Vec<F>,
    next: Block<S::Parts>,
}

#[derive(Clone)]
struct Block<P> {
    eta: P,
    mu: P,
    entropy: f64,
    gamma: f64,
}

/// Examples that a thread takes at a time.
const CHUNK: usize = 64;
/// The first step is half of the way.
const FIRST_GAMMA: f64 = 0.5;

impl<'p, 'a, S: MaxOracle<F>, F: Scalar> Exponentiated<'p, 'a, S, F> {
    /// From the distributions at `w`; without it from some that are nearly sure of the gold output, so that w(q) begins near 0.
    pub(crate) fn new(
        problem: &'p Problem<'a, S, F>,
        w: Option<Vec<F>>,
    ) -> Result<Self, LearnError> {
        let (cold, w) = (w.is_none(), w.unwrap_or_else(|| vec![F::ZERO; problem.dim()]));
        let (eta, mu) = (S::Parts::default(), S::Parts::default());
        let empty = Block { eta, mu, entropy: 0.0, gamma: FIRST_GAMMA };
        let mut blocks = vec![empty.clone(); problem.n()];
        blocks.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, blocks)| {
            let mut worker = problem.worker();
            for (i, block) in blocks.iter_mut().enumerate() {
                let i = chunk * CHUNK + i;
                problem.scores(i, &w, &mut worker);
                if cold {
                    problem.concentrate(i, &mut worker.theta);
                }
                block.eta.clone_from(&worker.theta);
                block.complete(problem, i, &mut worker)?;
            }
            Ok(())
        })?;
        let (worker, spare) = (problem.worker(), vec![F::ZERO; w.len()]);
        let best_dual = f64::NEG_INFINITY;
        let mut new = Self { problem, worker, blocks, w, best_dual, spare, next: empty };
        new.refresh();
        Ok(new)
    }

    /// w(q), computed afresh.
    fn refresh(&mut self) {
        let (problem, blocks) = (self.problem, &self.blocks);
        let structure = problem.structure;
        problem.shards().accumulate(&mut self.w, &|range, w| {
            let mut worker = problem.worker();
            for i in range {
                let Worker { grad, gold, s, .. } = &mut worker;
                grad.clone_from(&blocks[i].mu);
                structure.gold(i, gold);
                structure.add_output(i, gold, -F::ONE, grad);
                grad.scale(F::from_f64(-structure.share(i) / problem.spec.l2));
                structure.accumulate(i, grad, s, w);
            }
            0.0
        });
    }
}

impl<P> Block<P> {
    /// Marginals and entropy of the distribution that η is now.
    fn complete<S: MaxOracle<F, Parts = P>, F: Scalar>(
        &mut self,
        problem: &Problem<'_, S, F>,
        i: usize,
        worker: &mut Worker<S, F>,
    ) -> Result<(), LearnError>
    where
        P: PartVector<F>,
    {
        let log_z = problem.expect(i, &self.eta, &mut worker.s, &mut self.mu)?;
        self.entropy = log_z - self.eta.dot(&self.mu);
        Ok(())
    }
}

impl<S: MaxOracle<F>, F: Scalar> Blocks<F> for Exponentiated<'_, '_, S, F> {
    type Error = LearnError;

    fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn step(&mut self, i: usize) -> Result<DualStep, LearnError> {
        let Self { problem, worker, blocks, w, spare, next, .. } = self;
        let structure = problem.structure;
        let (l2, share) = (problem.spec.l2, structure.share(i));
        let block = &mut blocks[i];
        problem.scores(i, w, worker);
        let log_z = problem.log_partition(i, &worker.theta, &mut worker.s)?;
        let cross = worker.theta.dot(&block.mu);
        let gap = (share * (log_z - block.entropy - cross)).max(0.0);
        let mut moved = false;
        while gap > 0.0 && block.gamma > 1e-12 {
            // η ← (1 − γ) η + γ θ
            next.eta.clone_from(&block.eta);
            next.eta.scale(F::from_f64(1.0 - block.gamma));
            next.eta.add(&worker.theta, F::from_f64(block.gamma));
            next.complete(problem, i, worker)?;
            let Worker { theta, grad, s, .. } = worker;
            grad.clone_from(&next.mu);
            grad.add(&block.mu, -F::ONE);
            let by = F::from_f64(-share / l2);
            structure.accumulate(i, grad, s, spare);
            let mut norm = 0.0;
            structure.each_touched(i, grad, s, |range| norm += settle(range, by, spare, w));
            let gain = share * (next.entropy - block.entropy + theta.dot(grad))
                - 0.5 * share * share / l2 * norm;
            if gain >= -1e-14 * share * (1.0 + block.entropy.abs()) {
                next.gamma = (block.gamma * 1.1).min(1.0);
                std::mem::swap(block, next);
                moved = true;
                break;
            }
            grad.scale(-by);
            structure.accumulate(i, grad, s, w);
            block.gamma *= 0.5;
        }
        block.gamma = block.gamma.max(1e-6);
        Ok(DualStep { gap, moved })
    }

    fn certify(&mut self, gaps: &mut [f64]) -> Result<(f64, f64), LearnError> {
        self.refresh();
        let (problem, blocks, w) = (self.problem, &self.blocks, &self.w);
        let structure = problem.structure;
        let mut losses = vec![0.0; gaps.len()];
        let both = gaps.par_chunks_mut(CHUNK).zip(losses.par_chunks_mut(CHUNK)).enumerate();
        both.try_for_each(|(chunk, (gaps, losses))| {
            let mut worker = problem.worker();
            for (j, (gap, loss)) in gaps.iter_mut().zip(losses).enumerate() {
                let i = chunk * CHUNK + j;
                problem.scores(i, w, &mut worker);
                let log_z = problem.log_partition(i, &worker.theta, &mut worker.s)?;
                structure.gold(i, &mut worker.gold);
                *loss = log_z - structure.score(i, &worker.theta, &worker.gold);
                let cross = worker.theta.dot(&blocks[i].mu);
                *gap = (structure.share(i) * (log_z - blocks[i].entropy - cross)).max(0.0);
            }
            Ok(())
        })?;
        let mean = |of: &dyn Fn(usize) -> f64| -> f64 {
            (0..losses.len()).map(|i| structure.share(i) * of(i)).sum()
        };
        let penalty = 0.5 * problem.spec.l2 * kernels::dot64(w, w);
        let objective = mean(&|i| losses[i]) + penalty;
        let dual = mean(&|i| blocks[i].entropy) - penalty;
        self.best_dual = self.best_dual.max(dual);
        Ok((objective, (objective - self.best_dual).max(0.0)))
    }

    fn weights(&self) -> &[F] {
        &self.w
    }
}

/// Adds `by` times what lies in a range of `spare` to `w`, leaves zeros there, and returns its squared norm.
fn settle<F: Scalar>(range: Range<usize>, by: F, spare: &mut [F], w: &mut [F]) -> f64 {
    let mut sum = F::ZERO;
    for (w, spare) in w[range.clone()].iter_mut().zip(&mut spare[range]) {
        *w += by * *spare;
        sum += *spare * *spare;
        *spare = F::ZERO;
    }
    sum.to_f64()
}
