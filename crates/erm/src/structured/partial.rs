//! Structured examples that several processes hold: what each of them adds to the mean loss, and the learner that asks for the sums.
//!
//! A process answers for its examples ([`answer`]), whose shares are those among all examples; who drives the run adds the answers up by the tree of [`partial`](crate::partial). The steps of
//! [`learn_distributed`] are those of [`learn`](super::learn) with L-BFGS or OWL-QN, in f64 from beginning to end, and it proves its gap as [`learn`](super::learn) does. Given the same answers it takes the same steps.

use super::batch::{Batch, MeanLoss, gap, with_penalty};
use super::cuts::Cuts;
use super::learn::{Bound, Figures, Start, descend_on, gold_norm, judged, single};
use super::online::{self, Steps};
use super::problem::{Problem, Sums};
use super::{LearnError, LearnPass, LearnReport, LearnSpec, Learnt, Loss, OnPass, Solver};
use crate::distributed::Asking;
use crate::partial::{Ask, Question, Round};
use crate::risk::Penalty;
use lineal_linalg::{Scalar, kernels};
use lineal_model::structure::{Structure, SumOracle};
use lineal_solver::{Interrupt, L1, Objective};
use std::ops::ControlFlow;

/// What some examples add to the mean logistic loss of all: the value is returned, the vector overwrites `out`. Of the diagonal the value is the loss, and what is added by the penalty is left out.
/// Products with the Hessian are refused. Runs in the current thread pool, with the same bits at any number of threads.
pub fn answer<S: SumOracle<f32> + SumOracle<f64, Output = <S as Structure<f32>>::Output>>(
    structure: &S,
    question: Question<'_>,
    out: &mut [f64],
) -> Result<f64, LearnError> {
    let dim = Structure::<f64>::dim(structure);
    let (Question::Gradient { w }
    | Question::Diagonal { w }
    | Question::Product { w, .. }
    | Question::Steps { w, .. }) = question;
    if w.len() != dim || out.len() != dim {
        return Err(LearnError::Start { given: w.len(), dim });
    }
    let spec = LearnSpec::default();
    let value = match question {
        Question::Gradient { w } => sums(structure, &spec, |batch| batch.value_grad(w, out))?,
        Question::Diagonal { w } => sums(structure, &spec, |batch| batch.variances(w, out))?,
        Question::Steps { w, how } => steps(structure, w, how, out)?,
        Question::Product { .. } => {
            let why = "structures do not answer with products of the Hessian";
            return Err(LearnError::Request(why.into()));
        }
    };
    match Interrupt::current().is_stopped() {
        true => Err(LearnError::Interrupted),
        false => Ok(value),
    }
}

fn problem<'a, S: SumOracle<F>, F: Scalar>(
    structure: &'a S,
    spec: &'a LearnSpec,
) -> Problem<'a, S, F> {
    let partial = (0..structure.n_examples()).any(|i| !structure.is_whole(i));
    let (sums, interrupt) = (Some(Sums::new()), Interrupt::current());
    Problem { structure, spec, sums, partial, interrupt }
}

fn sums<S: SumOracle<f64>>(
    structure: &S,
    spec: &LearnSpec,
    f: impl FnOnce(&mut Batch<'_, '_, S, f64>) -> f64,
) -> Result<f64, LearnError> {
    let problem = problem(structure, spec);
    let mut batch = Batch::new(&problem);
    let value = f(&mut batch);
    batch.failure().map_or(Ok(value), Err)
}

/// One epoch of single steps, in f32 as all such steps are.
fn steps<S: SumOracle<f32>>(
    structure: &S,
    w: &[f64],
    how: Round,
    out: &mut [f64],
) -> Result<f64, LearnError> {
    let total: f64 = (0..structure.n_examples()).map(|i| structure.share(i)).sum();
    if total == 0.0 {
        out.fill(0.0);
        return Ok(0.0);
    }
    let spec = LearnSpec { l2: how.l2, seed: how.round as u64, ..LearnSpec::default() };
    let problem = problem(structure, &spec);
    let settings = Steps::round(&problem, how.round, total);
    let go_on = &mut |_: &LearnPass<'_>| ControlFlow::Continue(());
    let run = match online::epochs(&problem, settings, single(w), go_on) {
        Ok(run) => run,
        // Who asked sees that the loss is not a number, and does without.
        Err(LearnError::Diverged { .. }) => {
            out.iter_mut().zip(w).for_each(|(out, w)| *out = total * w);
            return Ok(f64::NAN);
        }
        Err(error) => return Err(error),
    };
    out.iter_mut().zip(&run.w).for_each(|(out, &w)| *out = total * f64::from(w));
    Ok(run.loss)
}

/// Twice Σ over examples of the norm of their gold outputs' features, each with its share: what [`Elsewhere::gold_norm`] is the sum of.
pub fn gold_norm_of<S: SumOracle<f32>>(structure: &S) -> f64 {
    gold_norm(&problem(structure, &LearnSpec::default()))
}

/// What is known of examples that are elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elsewhere {
    /// Weights, all of them penalised.
    pub dim: usize,
    /// How many examples there are.
    pub n_examples: usize,
    /// Whether every gold output is known as a whole: else nothing is proven.
    pub is_whole: bool,
    /// The sum of [`gold_norm_of`] all examples.
    pub gold_norm: f64,
    /// The mean loss at weights of 0.
    pub loss_at_zero: f64,
    /// Rounds of stochastic steps before L-BFGS; 0 for none. They are left out with `l1`.
    pub rounds: usize,
}

/// Learns the weights of a structure whose examples are elsewhere, with the logistic loss. `ask` answers with sums over all of them.
///
/// # Errors
/// What `ask` says, or why nothing was learnt.
pub fn learn_distributed<E: From<LearnError>>(
    whole: &Elsewhere,
    spec: &LearnSpec,
    ask: &mut Ask<'_, E>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, E> {
    spec.check()?;
    if spec.loss != Loss::Logistic || spec.chosen() != Solver::Lbfgs {
        let why = "examples of several processes: the loss must be logistic, and the solver auto or lbfgs";
        return Err(LearnError::Request(why.into()).into());
    }
    if whole.n_examples == 0 {
        return Err(LearnError::Empty.into());
    }
    let penalty = Penalty { l2: spec.l2, l1: spec.l1 };
    let mut remote =
        Remote { whole, penalty, asking: Asking::new(ask), mean_loss: f64::INFINITY, cuts: None };
    let learnt = remote.learn(spec, on_pass);
    match remote.asking.failure {
        Some(failure) => Err(failure),
        None if Interrupt::current().is_stopped() => Err(LearnError::Interrupted.into()),
        None => Ok(learnt?),
    }
}

/// The objective of examples that are elsewhere.
struct Remote<'r, 'a, E> {
    whole: &'r Elsewhere,
    penalty: Penalty,
    asking: Asking<'r, 'a, E>,
    mean_loss: f64,
    cuts: Option<Cuts<f64>>,
}

impl<E> Remote<'_, '_, E> {
    fn learn(&mut self, spec: &LearnSpec, on_pass: &mut OnPass<'_>) -> Result<Learnt, LearnError> {
        let start = self.start(spec, on_pass);
        let first = start.passes;
        let end = descend_on(self, spec, self.whole.dim, start, on_pass)?;
        let report = LearnReport::new(Solver::Lbfgs, first + end.passes, end.converged);
        let reach = end.cuts.map_or(0.0, |cuts| cuts.reach());
        let bound = end.bound.map(|value| Bound { value, reach });
        // Weights are stored in f32, and it is of these that figures are told.
        let stored = single(&end.w);
        let figures = self.figures(&stored)?;
        judged(stored, figures, report, bound, spec, self.whole.gold_norm, self.l1())
    }

    /// Rounds of stochastic steps, where they are wanted.
    fn start(&mut self, spec: &LearnSpec, on_pass: &mut OnPass<'_>) -> Start<f64> {
        let dim = self.whole.dim;
        let zeros = Start { w: vec![0.0; dim], passes: 0, stopped: false, limit: f64::INFINITY };
        if spec.l1 > 0.0 || spec.l2 == 0.0 {
            return zeros;
        }
        let (mut w, mut next, mut stopped, mut passes) =
            (zeros.w.clone(), vec![0.0; dim], false, 0);
        for round in 0..self.whole.rounds.min(spec.passes) {
            let how = Round { l2: spec.l2, curvature: 1.0, round };
            let loss = self.asking.ask(Question::Steps { w: &w, how }, &mut next);
            if !loss.is_finite() || next.iter().any(|w| !w.is_finite()) {
                return zeros;
            }
            std::mem::swap(&mut w, &mut next);
            passes = round + 1;
            let pass = LearnPass {
                pass: passes,
                loss: Some(loss),
                objective: None,
                gap: None,
                gap_estimate: None,
                grad_norm: None,
                weights: &|| single(&w),
            };
            stopped = on_pass(&pass).is_break();
            if stopped {
                break;
            }
        }
        let limit = if passes == 0 { f64::INFINITY } else { self.whole.loss_at_zero };
        Start { w, passes, stopped, limit }
    }

    fn figures(&mut self, w: &[f32]) -> Result<Figures, LearnError> {
        let w: Vec<f64> = w.iter().map(|&w| f64::from(w)).collect();
        let mut grad = vec![0.0; w.len()];
        self.cuts = None;
        self.value_grad(&w, &mut grad);
        let gap = self.gap(&w, &grad, f64::INFINITY);
        let objective = self.mean_loss + self.penalty.value(&w);
        Ok(Figures { loss: self.mean_loss, objective, gap, w, grad })
    }
}

impl<E> Objective<f64> for Remote<'_, '_, E> {
    fn dim(&self) -> usize {
        self.whole.dim
    }

    fn value_grad(&mut self, w: &[f64], grad: &mut [f64]) -> f64 {
        self.mean_loss = self.asking.ask(Question::Gradient { w }, grad);
        if let Some(cuts) = &mut self.cuts {
            cuts.push(w, grad, self.mean_loss - kernels::dot64(w, grad));
        }
        kernels::axpy(self.penalty.l2, w, grad);
        self.mean_loss + 0.5 * self.penalty.l2 * kernels::dot64(w, w)
    }

    fn l1(&self) -> L1 {
        L1 { l1: self.penalty.l1, until: self.whole.dim }
    }

    fn gap(&mut self, w: &[f64], grad: &[f64], _: f64) -> Option<f64> {
        let Self { penalty, mean_loss, cuts, whole, .. } = self;
        whole.is_whole.then(|| gap(*penalty, *mean_loss, cuts.as_mut(), w, grad))?
    }
}

impl<E> MeanLoss<f64> for Remote<'_, '_, E> {
    fn diagonal(&mut self, w: &[f64], out: &mut [f64]) -> f64 {
        let mean_loss = self.asking.ask(Question::Diagonal { w }, out);
        with_penalty(out, self.penalty.l2, self.whole.n_examples);
        mean_loss
    }

    fn keep_cuts(&mut self) {
        if self.whole.is_whole && self.penalty.l1 == 0.0 && self.penalty.l2 > 0.0 {
            self.cuts = Some(Cuts::new(self.penalty.l2));
        }
    }

    fn take_cuts(&mut self) -> Option<Cuts<f64>> {
        self.cuts.take()
    }

    fn failure(&self) -> Option<LearnError> {
        None
    }
}
