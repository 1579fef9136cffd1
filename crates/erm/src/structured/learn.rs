//! Checks a request and hands it to its algorithm.

use super::batch::{Batch, Scaled, multiply};
use super::exponentiated::Exponentiated;
use super::frank_wolfe::FrankWolfe;
use super::newton::{self, by_newton};
use super::nonnegative::project;
use super::online::{self, Steps};
use super::problem::{Problem, Sums};
use super::{LearnError, LearnPass, LearnReport, LearnSpec, Learnt, Loss, OnPass, Solver, Update};
use crate::risk::Penalty;
use lineal_linalg::Scalar;
use lineal_model::structure::{MaxOracle, Structure, SumOracle};
use lineal_solver::{self as solver, Blocks, Lbfgs, Objective, Stop};
use std::ops::ControlFlow;

/// Learns the weights of a structure, from zeros or from `start`, with any loss.
///
/// `on_pass` sees every pass; `Break` ends the run with what there is.
pub fn learn<S: SumOracle<f32> + SumOracle<f64>>(
    structure: &S,
    spec: &LearnSpec,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    run(structure, spec, (Some(Sums::new()), Some(Sums::new())), start, on_pass)
}

/// As [`learn`], for a structure without sums over its outputs: the logistic loss is refused.
pub fn learn_max<S: MaxOracle<f32> + MaxOracle<f64>>(
    structure: &S,
    spec: &LearnSpec,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    run(structure, spec, (None, None), start, on_pass)
}

/// The tolerance from which on f32 is enough.
const SINGLE: f64 = 1e-4;

/// The problem in both precisions: steps are made in f32, certificates in f64.
pub(super) struct Both<'a, S: MaxOracle<f32> + MaxOracle<f64>> {
    pub(super) single: Problem<'a, S, f32>,
    pub(super) double: Problem<'a, S, f64>,
}

type BothSums<S> = (Option<Sums<S, f32>>, Option<Sums<S, f64>>);

fn run<S: MaxOracle<f32> + MaxOracle<f64>>(
    structure: &S,
    spec: &LearnSpec,
    (single, double): BothSums<S>,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    spec.check()?;
    let (n, dim) = (Structure::<f32>::n_examples(structure), Structure::<f32>::dim(structure));
    if n == 0 {
        return Err(LearnError::Empty);
    }
    if let Some(start) = start.filter(|start| start.len() != dim) {
        return Err(LearnError::Start { given: start.len(), dim });
    }
    if spec.loss == Loss::Logistic && single.is_none() {
        let why = "the logistic loss needs sums over all outputs, which this structure does not have: choose the loss hinge or perceptron";
        return Err(LearnError::Request(why.into()));
    }
    let nonnegative = Structure::<f32>::nonnegative(structure);
    if spec.loss == Loss::Logistic && !nonnegative.is_empty() {
        let why = "the logistic loss cannot keep weights from becoming negative, as this structure needs it: choose the loss hinge or perceptron";
        return Err(LearnError::Request(why.into()));
    }
    let start = start.map(|start| {
        let mut start = start.to_vec();
        project(&mut start, &nonnegative);
        start
    });
    let start = start.as_deref();
    let partial = (0..n).any(|i| !Structure::<f32>::is_whole(structure, i));
    let both = Both {
        single: Problem { structure, spec, sums: single, partial },
        double: Problem { structure, spec, sums: double, partial },
    };
    if spec.may_be_newton() && dim <= newton::MOST_WEIGHTS && both.double.is_curved() {
        return by_newton(&both, start, on_pass);
    }
    if spec.solver == Solver::Newton {
        return Err(LearnError::Request(format!(
            "newton is for at most {} weights, all of them penalised, and structures with second derivatives, which pairs of documents have unless lists are long: choose the solver {}",
            newton::MOST_WEIGHTS,
            if spec.loss == Loss::Hinge { "dual" } else { "lbfgs" },
        )));
    }
    let dual = spec.chosen() == Solver::Dual;
    if dual && !both.single.is_convex() {
        if spec.solver == Solver::Auto {
            return by_steps(&both, start, on_pass);
        }
        let why = match partial {
            true => {
                "gold outputs that are known in part have no dual: choose the solver sgd, or lbfgs for the loss logistic"
            }
            false => {
                "weights without a penalty have no dual here: choose the solver sgd, or lbfgs for the loss logistic"
            }
        };
        return Err(LearnError::Request(why.into()));
    }
    match spec.chosen() {
        Solver::Lbfgs if spec.tol >= SINGLE => by_gradients(&both, &both.single, start, on_pass),
        Solver::Lbfgs => by_gradients(&both, &both.double, start, on_pass),
        Solver::Dual if spec.tol >= SINGLE => by_blocks(&both, &both.single, start, on_pass),
        Solver::Dual => by_blocks(&both, &both.double, start, on_pass),
        _ => by_steps(&both, start, on_pass),
    }
}

pub(super) fn first_weights<F: Scalar>(start: Option<&[f32]>, dim: usize) -> Vec<F> {
    match start {
        Some(start) => start.iter().map(|&w| F::from_f32(w)).collect(),
        None => vec![F::ZERO; dim],
    }
}

pub(super) fn single<F: Scalar>(w: &[F]) -> Vec<f32> {
    w.iter().map(|w| w.to_f32()).collect()
}

fn by_steps<S: MaxOracle<f32> + MaxOracle<f64>>(
    both: &Both<'_, S>,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    let problem = &both.single;
    let w = first_weights(start, problem.dim());
    let run = online::epochs(problem, Steps::new(problem), w, on_pass)?;
    let mut report = LearnReport::new(Solver::Sgd, run.passes, run.still);
    report.loss = run.loss;
    report.updates = Some(run.updates);
    if problem.spec.loss == Loss::Perceptron || problem.spec.update != Update::Gradient {
        return Ok(Learnt { w: run.w, report });
    }
    certified(both, run.w, report, None)
}

/// How many epochs of single steps come before L-BFGS.
const HEAD_START: usize = 8;

fn by_gradients<S: MaxOracle<f32> + MaxOracle<f64> + MaxOracle<F>, F: Scalar>(
    both: &Both<'_, S>,
    problem: &Problem<'_, S, F>,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    let spec = problem.spec;
    let mut w: Vec<F> = first_weights(start, problem.dim());
    let mut first = 0;
    let mut broken = false;
    if spec.solver == Solver::Auto && start.is_none() {
        let mut steps = Steps::new(&both.single);
        steps.epochs = HEAD_START.min(spec.passes);
        let run = online::epochs(&both.single, steps, vec![0.0; w.len()], on_pass)?;
        // Steps that went astray are worse than none.
        if run.loss <= loss_of_nothing(&both.single) {
            w = first_weights(Some(&run.w), w.len());
        }
        (first, broken) = (run.passes, run.broken);
    }
    let mut batch = Batch::new(problem);
    let max_passes = if broken { 0 } else { spec.passes.saturating_sub(first) };
    let config = Lbfgs { memory: 6, stop: Stop { tol: spec.tol, max_passes } };
    let penalty = Penalty { l2: spec.l2, l1: spec.l1 };
    let n_penalised = Structure::<F>::n_penalised(problem.structure);
    let mut show = |pass: &solver::Pass<'_, F>, inverse: Option<&[F]>| {
        let weights = || {
            let mut w = pass.w.to_vec();
            if let Some(inverse) = inverse {
                multiply(pass.w, inverse, &mut w);
            }
            w
        };
        on_pass(&LearnPass {
            pass: first + pass.pass,
            loss: Some(pass.value - penalty.value(&weights()[..n_penalised])),
            objective: Some(pass.value),
            gap: pass.gap,
            gap_estimate: None,
            grad_norm: pass.grad_norm,
            weights: &|| single(&weights()),
        })
    };
    let outcome = if spec.l1 > 0.0 || spec.l2 == 0.0 || n_penalised < w.len() {
        solver::lbfgs(&config, &mut batch, &mut w, &mut |pass| show(pass, None))
    } else {
        let mut diagonal = vec![F::ZERO; w.len()];
        batch.diagonal(&w, &mut diagonal);
        batch.keep_cuts();
        let mut scaled = Scaled::new(&mut batch, &diagonal);
        let inverse = scaled.inverse.clone();
        let mut u: Vec<F> = w.iter().zip(&inverse).map(|(&w, &inverse)| w / inverse).collect();
        let outcome =
            solver::lbfgs(&config, &mut scaled, &mut u, &mut |pass| show(pass, Some(&inverse)));
        multiply(&u, &inverse, &mut w);
        outcome
    };
    let solver::Outcome { passes, converged, value, gap, .. } =
        outcome.map_err(|error| batch.failure().unwrap_or_else(|| diverged(error)))?;
    let report = LearnReport::new(Solver::Lbfgs, first + passes, converged);
    certified(both, single(&w), report, gap.map(|gap| value - gap))
}

fn by_blocks<S: MaxOracle<f32> + MaxOracle<f64> + MaxOracle<F>, F: Scalar>(
    both: &Both<'_, S>,
    problem: &Problem<'_, S, F>,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    let start = start.map(|start| first_weights(Some(start), start.len()));
    match problem.spec.loss {
        Loss::Logistic => ascend(both, Exponentiated::new(problem, start)?, on_pass),
        _ => ascend(both, FrankWolfe::new(problem, start)?, on_pass),
    }
}

fn ascend<S: MaxOracle<f32> + MaxOracle<f64>, F: Scalar>(
    both: &Both<'_, S>,
    mut blocks: impl Blocks<F, Error = LearnError>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    let spec = both.single.spec;
    let stop = Stop { tol: spec.tol, max_passes: spec.passes };
    let mut diverged = None;
    let outcome = solver::dual_by_gaps(stop, spec.seed, &mut blocks, &mut |pass| {
        if pass.gap.is_some() && !pass.value.is_finite() {
            diverged = Some(LearnError::Diverged { value: pass.value, pass: pass.pass });
            return ControlFlow::Break(());
        }
        on_pass(&LearnPass {
            pass: pass.pass,
            loss: None,
            objective: pass.gap.map(|_| pass.value),
            gap: pass.gap,
            gap_estimate: pass.gap_estimate,
            grad_norm: None,
            weights: &|| single(pass.w),
        })
    })?;
    if let Some(diverged) = diverged {
        return Err(diverged);
    }
    let report = LearnReport::new(Solver::Dual, outcome.passes, outcome.converged);
    let bound = outcome.gap.map(|gap| outcome.value - gap);
    certified(both, single(blocks.weights()), report, bound)
}

/// The mean logistic loss at w = 0, but for what is forbidden.
fn loss_of_nothing<S: MaxOracle<f32>>(problem: &Problem<'_, S, f32>) -> f64 {
    let structure = problem.structure;
    (0..problem.n()).map(|i| structure.share(i) * structure.log_outputs(i)).sum()
}

fn diverged(error: solver::Error) -> LearnError {
    match error {
        solver::Error::Diverged { value, pass } => LearnError::Diverged { value, pass },
        _ => LearnError::Request(error.to_string()),
    }
}

/// The figures of the weights that are stored, in f64. `bound` is a lower bound on the optimum, if one was found on the way.
pub(super) fn certified<S: MaxOracle<f32> + MaxOracle<f64>>(
    both: &Both<'_, S>,
    w: Vec<f32>,
    mut report: LearnReport,
    bound: Option<f64>,
) -> Result<Learnt, LearnError> {
    let wide: Vec<f64> = w.iter().map(|&w| f64::from(w)).collect();
    let mut grad = wide.clone();
    let mut batch = Batch::new(&both.double);
    batch.value_grad(&wide, &mut grad);
    if let Some(failure) = batch.failure() {
        return Err(failure);
    }
    report.loss = batch.mean_loss;
    let objective = batch.objective(&wide);
    if !objective.is_finite() {
        return Err(LearnError::Diverged { value: objective, pass: report.passes });
    }
    report.objective = Some(objective);
    report.gap = bound.map(|bound| (objective - bound).max(0.0));
    if both.double.is_logistic() {
        let by_gradient = batch.gap(&wide, &grad, f64::INFINITY);
        report.gap = match (report.gap, by_gradient) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        report.grad_norm = Some(solver::least_subgradient_norm(&wide, &grad, batch.l1()));
    }
    Ok(Learnt { w, report })
}
