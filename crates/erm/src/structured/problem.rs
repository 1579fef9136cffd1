//! A structure with a loss: what the learners ask about one example.

use super::{LearnError, LearnSpec, Loss};
use crate::shards::Shards;
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Infeasible, MaxOracle, PartVector, Structure, SumOracle};
use lineal_solver::Interrupt;

/// A structure, and what to learn of it.
pub(crate) struct Problem<'a, S: MaxOracle<F>, F: Scalar> {
    pub(crate) structure: &'a S,
    pub(crate) spec: &'a LearnSpec,
    pub(crate) sums: Option<Sums<S, F>>,
    /// Whether some gold output is known in part only.
    pub(crate) partial: bool,
    /// Ends the run: examples then have no loss.
    pub(crate) interrupt: Interrupt,
}

/// The calls of a [`SumOracle`], as pointers: the learners are compiled once for structures with sums and without, and a call per example is cheap.
pub(crate) struct Sums<S: Structure<F>, F: Scalar> {
    expect: Expect<S, <S as Structure<F>>::Parts, <S as Structure<F>>::Scratch>,
    log_partition: LogPartition<S, <S as Structure<F>>::Parts, <S as Structure<F>>::Scratch>,
    concentrate: fn(&S, usize, &mut S::Parts),
}

type Expect<S, P, M> = fn(&S, usize, &P, Ask, &mut M, &mut P) -> Result<f64, Infeasible>;
type LogPartition<S, P, M> = fn(&S, usize, &P, Ask, &mut M) -> Result<f64, Infeasible>;

impl<S: SumOracle<F>, F: Scalar> Sums<S, F> {
    pub(crate) fn new() -> Self {
        Self { expect: S::expect, log_partition: S::log_partition, concentrate: S::concentrate }
    }
}

/// Buffers of one thread.
pub(crate) struct Worker<S: Structure<F>, F: Scalar> {
    /// Scores.
    pub(crate) theta: S::Parts,
    /// The logistic loss's gradient.
    pub(crate) grad: S::Parts,
    other: S::Parts,
    pub(crate) s: S::Scratch,
    /// The best output, and the gold one that it is compared with: the other losses' gradient is their difference.
    pub(crate) y_hat: S::Output,
    pub(crate) gold: S::Output,
}

/// The loss of an example.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExampleLoss {
    /// By the output that was found.
    pub(crate) seen: f64,
    /// By how much the output that was found outscores the gold one; negative where an inexact argmax missed even that.
    pub(crate) lead: f64,
    /// It is no more than this: above `seen` where the argmax was inexact.
    pub(crate) upper: f64,
    /// The score of the gold output.
    pub(crate) gold_score: f64,
}

/// The loss of an example in a run that was interrupted, which nobody sees.
const INTERRUPTED: Infeasible = Infeasible { at: 0 };

/// No sums were asked for that are not there: requests are checked first.
const NO_SUMS: Infeasible = Infeasible { at: 0 };

impl<'a, S: MaxOracle<F>, F: Scalar> Problem<'a, S, F> {
    pub(crate) fn n(&self) -> usize {
        self.structure.n_examples()
    }

    pub(crate) fn dim(&self) -> usize {
        self.structure.dim()
    }

    /// Whether the loss is convex and all weights are penalised: what certificates need.
    pub(crate) fn is_convex(&self) -> bool {
        !self.partial && self.structure.n_penalised() == self.dim()
    }

    /// Whether Newton's method has what it needs.
    pub(crate) fn is_curved(&self) -> bool {
        self.is_convex() && self.structure.is_curved()
    }

    pub(crate) fn is_logistic(&self) -> bool {
        self.spec.loss == Loss::Logistic
    }

    /// The division of the examples for sums.
    pub(crate) fn shards(&self) -> Shards<F> {
        Shards::new(self.n(), self.dim(), self.structure.work())
    }

    pub(crate) fn worker(&self) -> Worker<S, F> {
        Worker {
            theta: S::Parts::default(),
            grad: S::Parts::default(),
            other: S::Parts::default(),
            s: self.structure.scratch(),
            y_hat: S::Output::default(),
            gold: S::Output::default(),
        }
    }

    /// Scores the parts of example `i` at the weights `w`.
    pub(crate) fn scores(&self, i: usize, w: &[F], worker: &mut Worker<S, F>) {
        self.structure.scores(i, w, F::ONE, &mut worker.s, &mut worker.theta);
    }

    /// After scores and a load: the loss of example `i`. Its gradient is left in the worker: see there.
    pub(crate) fn loss(
        &self,
        i: usize,
        worker: &mut Worker<S, F>,
    ) -> Result<ExampleLoss, Infeasible> {
        if self.interrupt.is_stopped() {
            return Err(INTERRUPTED);
        }
        if self.is_logistic() { self.log_loss(i, worker) } else { self.max_loss(i, worker) }
    }

    /// max score (+ cost) − score of the gold output.
    fn max_loss(&self, i: usize, worker: &mut Worker<S, F>) -> Result<ExampleLoss, Infeasible> {
        let Worker { theta, s, y_hat, gold, .. } = worker;
        let structure = self.structure;
        if structure.is_whole(i) {
            structure.gold(i, gold);
        } else {
            structure.argmax(i, theta, Ask::Gold, s, gold)?;
        }
        let gold_score = structure.score(i, theta, gold);
        let with_cost = self.spec.loss == Loss::Hinge || self.spec.is_passive();
        let ask = if with_cost { Ask::Augmented } else { Ask::Plain };
        let found = structure.argmax(i, theta, ask, s, y_hat)?;
        let loss = |score: f64| (score - gold_score).max(0.0);
        let lead = found.score - gold_score;
        Ok(ExampleLoss { seen: loss(found.score), lead, upper: loss(found.upper), gold_score })
    }

    /// log Σ exp score over all outputs less that over those with what is known of the gold one.
    fn log_loss(&self, i: usize, worker: &mut Worker<S, F>) -> Result<ExampleLoss, Infeasible> {
        let Worker { theta, grad, other, s, gold, .. } = worker;
        let (structure, sums) = (self.structure, self.sums.as_ref().ok_or(NO_SUMS)?);
        let all = (sums.expect)(structure, i, theta, Ask::Plain, s, grad)?;
        let gold_score = if structure.is_whole(i) {
            structure.gold(i, gold);
            structure.add_output(i, gold, -F::ONE, grad);
            structure.score(i, theta, gold)
        } else {
            let some = (sums.expect)(structure, i, theta, Ask::Gold, s, other)?;
            grad.add(other, -F::ONE);
            some
        };
        let loss = all - gold_score;
        Ok(ExampleLoss { seen: loss, lead: loss, upper: loss, gold_score })
    }

    /// After scores and a load: leaves the variance of each part in `grad`, and returns the loss.
    pub(crate) fn variances(&self, i: usize, worker: &mut Worker<S, F>) -> Result<f64, Infeasible> {
        let Worker { theta, grad, other, s, gold, .. } = worker;
        let (structure, sums) = (self.structure, self.sums.as_ref().ok_or(NO_SUMS)?);
        let all = (sums.expect)(structure, i, theta, Ask::Plain, s, grad)?;
        let gold_score = if structure.is_whole(i) {
            structure.gold(i, gold);
            structure.score(i, theta, gold)
        } else {
            (sums.expect)(structure, i, theta, Ask::Gold, s, other)?
        };
        grad.to_variances();
        Ok(all - gold_score)
    }

    /// log Σ exp score for any scores; the expected parts overwrite `mu`.
    pub(crate) fn expect(
        &self,
        i: usize,
        theta: &S::Parts,
        s: &mut S::Scratch,
        mu: &mut S::Parts,
    ) -> Result<f64, LearnError> {
        if self.interrupt.is_stopped() {
            return Err(LearnError::Interrupted);
        }
        self.structure.load_parts(theta, s);
        let sums = self.sums.as_ref().ok_or_else(|| infeasible(i)(NO_SUMS))?;
        (sums.expect)(self.structure, i, theta, Ask::Plain, s, mu).map_err(infeasible(i))
    }

    /// log Σ exp score for any scores.
    pub(crate) fn log_partition(
        &self,
        i: usize,
        theta: &S::Parts,
        s: &mut S::Scratch,
    ) -> Result<f64, LearnError> {
        if self.interrupt.is_stopped() {
            return Err(LearnError::Interrupted);
        }
        self.structure.load_parts(theta, s);
        let sums = self.sums.as_ref().ok_or_else(|| infeasible(i)(NO_SUMS))?;
        (sums.log_partition)(self.structure, i, theta, Ask::Plain, s).map_err(infeasible(i))
    }

    /// Makes a distribution nearly sure of the gold output.
    pub(crate) fn concentrate(&self, i: usize, theta: &mut S::Parts) {
        if let Some(sums) = &self.sums {
            (sums.concentrate)(self.structure, i, theta);
        }
    }
}

/// Names the example that has no output.
pub(crate) fn infeasible(example: usize) -> impl Fn(Infeasible) -> LearnError {
    move |none| LearnError::Infeasible { example, at: none.at }
}
