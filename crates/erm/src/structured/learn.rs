//! Checks a request and hands it to its algorithm.

use super::batch::{Batch, MeanLoss, Scaled, multiply};
use super::cuts::Cuts;
use super::exponentiated::Exponentiated;
use super::frank_wolfe::FrankWolfe;
use super::newton::{self, by_newton};
use super::nonnegative::project;
use super::online::{self, Steps};
use super::problem::{Problem, Sums};
use super::{LearnError, LearnPass, LearnReport, LearnSpec, Learnt, Loss, OnPass, Solver, Update};
use crate::risk::Penalty;
use crate::rounding::{LowerBound, Proof};
use lineal_linalg::{Scalar, kernels};
use lineal_model::structure::{MaxOracle, PartVector, Structure, SumOracle};
use lineal_solver::{self as solver, Blocks, Interrupt, L1, Lbfgs, Objective, Stop};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Learns the weights of a structure, from zeros or from `start`, with any loss.
///
/// `on_pass` sees every pass; `Break` ends the run with what there is. An [`Interrupt`] ends it within a pass, with an error.
pub fn learn<S: SumOracle<f32> + SumOracle<f64, Output = <S as Structure<f32>>::Output>>(
    structure: &S,
    spec: &LearnSpec,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    finite(run(structure, spec, (Some(Sums::new()), Some(Sums::new())), start, on_pass))
}

/// As [`learn`], for a structure without sums over its outputs: the logistic loss is refused.
pub fn learn_max<S: MaxOracle<f32> + MaxOracle<f64, Output = <S as Structure<f32>>::Output>>(
    structure: &S,
    spec: &LearnSpec,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    finite(run(structure, spec, (None, None), start, on_pass))
}

/// What a run that was interrupted leaves means nothing; weights that no file could hold are an error of the run that made them, whether it has an objective or not.
fn finite(learnt: Result<Learnt, LearnError>) -> Result<Learnt, LearnError> {
    if Interrupt::current().is_stopped() {
        return Err(LearnError::Interrupted);
    }
    let learnt = learnt?;
    match learnt.w.iter().find(|w| !w.is_finite()) {
        Some(&w) => Err(LearnError::Diverged { value: f64::from(w), pass: learnt.report.passes }),
        None => Ok(learnt),
    }
}

/// The tolerance from which on f32 is enough.
const SINGLE: f64 = 1e-4;

/// The problem in both precisions: steps are made in f32, certificates in f64.
pub(super) struct Both<'a, S: MaxOracle<f32> + MaxOracle<f64>> {
    pub(super) single: Problem<'a, S, f32>,
    pub(super) double: Problem<'a, S, f64>,
}

type BothSums<S> = (Option<Sums<S, f32>>, Option<Sums<S, f64>>);

fn run<S: MaxOracle<f32> + MaxOracle<f64, Output = <S as Structure<f32>>::Output>>(
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
    let interrupt = Interrupt::current();
    let partial = (0..n).any(|i| !Structure::<f32>::is_whole(structure, i));
    let both = Both {
        single: Problem { structure, spec, sums: single, partial, interrupt: interrupt.clone() },
        double: Problem { structure, spec, sums: double, partial, interrupt },
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
        Solver::Lbfgs => by_gradients(&both, start, on_pass),
        // Entropies are the bound of the exponentiated gradient, and f32 has too few digits for them.
        Solver::Dual if spec.loss == Loss::Logistic => {
            let start = start.map(|start| first_weights(Some(start), start.len()));
            ascend(&both, Exponentiated::new(&both.double, start)?, on_pass)
        }
        Solver::Dual if spec.tol >= SINGLE => {
            let start = start.map(|start| start.to_vec());
            ascend(&both, FrankWolfe::new(&both.single, start)?, on_pass)
        }
        Solver::Dual => {
            let start = start.map(|start| first_weights(Some(start), start.len()));
            ascend(&both, FrankWolfe::new(&both.double, start)?, on_pass)
        }
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

fn by_gradients<S: MaxOracle<f32> + MaxOracle<f64>>(
    both: &Both<'_, S>,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    let spec = both.single.spec;
    let dim = both.single.dim();
    let mut w: Vec<f32> = first_weights(start, dim);
    let mut passes = 0;
    let mut stopped = false;
    if spec.solver == Solver::Auto && start.is_none() {
        let run =
            online::epochs(&both.single, Steps::head_start(&both.single), vec![0.0; dim], on_pass)?;
        // Steps that went astray are worse than none. Their own loss is a mean over the way, which does not see where they ended: `descend` looks.
        if run.loss <= loss_of_nothing(&both.single) {
            w.clone_from(&run.w);
        }
        (passes, stopped) = (run.passes, run.stopped);
    }
    if spec.tol >= SINGLE {
        let end = descend(&both.single, w, passes, stopped, on_pass)?;
        passes += end.passes;
        let report = LearnReport::new(Solver::Lbfgs, passes, end.converged);
        let points = end.cuts.map(Cuts::into_points).unwrap_or_default();
        let learnt = match end.converged && !points.is_empty() {
            true => {
                let (figures, bound) = bound_at(&both.double, &end.w, &points)?;
                certified_by(both, end.w, figures, report, bound)?
            }
            false => certified(both, end.w, report, None)?,
        };
        let proven = learnt.report.gap.is_none() || learnt.report.converged;
        if proven || !end.converged || end.stopped || passes >= spec.passes {
            return Ok(learnt);
        }
        // The bound that ended the run was made of gradients in f32, and not all of it is left in f64: the same again from here in f64.
        w = learnt.w;
    }
    let wide = w.iter().map(|&w| f64::from(w)).collect();
    let end = descend(&both.double, wide, passes, stopped, on_pass)?;
    let report = LearnReport::new(Solver::Lbfgs, passes + end.passes, end.converged);
    let reach = end.cuts.map_or(0.0, |cuts| cuts.reach());
    let bound = end.bound.map(|value| Bound { value, reach });
    certified(both, single(&end.w), report, bound)
}

/// The figures of `w`, and the lower bound of the optimum that gradients in f64 give there and at as many of the points as it takes to prove that `w` is within the tolerance: a pass for each.
fn bound_at<S: MaxOracle<f64>>(
    problem: &Problem<'_, S, f64>,
    w: &[f32],
    points: &[Vec<f32>],
) -> Result<(Figures, Option<Bound>), LearnError> {
    let mut batch = Batch::new(problem);
    let figures = Figures::at(&mut batch, w)?;
    batch.keep_cuts();
    batch.keep_cut(&figures.w, &figures.grad);
    // A hair below, for what rounding takes.
    let enough = 0.99 * problem.spec.tol * figures.objective;
    let is_enough = |batch: &mut Batch<'_, '_, S, f64>| {
        batch.bound_of_cuts().is_none_or(|bound| figures.objective - bound <= enough)
    };
    let mut grad = vec![0.0; problem.dim()];
    for point in points.iter().filter(|p| *p != w) {
        if is_enough(&mut batch) {
            break;
        }
        let wide: Vec<f64> = point.iter().map(|&w| f64::from(w)).collect();
        batch.value_grad(&wide, &mut grad);
        if let Some(failure) = batch.failure() {
            return Err(failure);
        }
    }
    let bound =
        batch.take_cuts().map(|mut cuts| Bound { value: cuts.bound(), reach: cuts.reach() });
    Ok((figures, bound))
}

/// With l1, a gap that is this part of the objective where a run has become flat will not be proven soon.
const UNPROVABLE_GAP: f64 = 0.1;

/// Whether the last passes gained next to nothing. With l1 and without hope of a proof that is where a run ends: a bound needs every weight's gradient within l1, and the last few of a hundred thousand take longer than all else. The gap
/// that is reported is the one that there is.
fn is_flat(values: &[f64], tol: f64) -> bool {
    const PASSES: usize = 10;
    const PART: f64 = 0.1;
    let Some(&now) = values.last() else { return false };
    let before = values.len().checked_sub(1 + PASSES).map(|at| values[at]);
    before.is_some_and(|before| before - now <= PART * tol * now.abs())
}

/// Where L-BFGS ended.
pub(super) struct Descended<F> {
    pub(super) w: Vec<F>,
    pub(super) passes: usize,
    pub(super) converged: bool,
    /// Whether the caller wanted it to end.
    stopped: bool,
    /// A lower bound of the optimum, as far as `F` knows it.
    pub(super) bound: Option<f64>,
    /// The gradients that it was made of, if it was made of several.
    pub(super) cuts: Option<Cuts<F>>,
}

/// Where L-BFGS begins.
pub(super) struct Start<F> {
    pub(super) w: Vec<F>,
    /// Passes of something else before.
    pub(super) passes: usize,
    /// Whether the caller wanted it to end there.
    pub(super) stopped: bool,
    /// The objective at 0: if `w` is worse, it begins there.
    pub(super) limit: f64,
}

/// L-BFGS or OWL-QN from `w`, after `first` passes of something else.
fn descend<S: MaxOracle<F>, F: Scalar>(
    problem: &Problem<'_, S, F>,
    w: Vec<F>,
    first: usize,
    stopped: bool,
    on_pass: &mut OnPass<'_>,
) -> Result<Descended<F>, LearnError> {
    // Single steps may have ended worse than they began.
    let limit = match first {
        0 => f64::INFINITY,
        _ => loss_of_nothing(problem),
    };
    let n_penalised = Structure::<F>::n_penalised(problem.structure);
    let start = Start { w, passes: first, stopped, limit };
    descend_on(&mut Batch::new(problem), problem.spec, n_penalised, start, on_pass)
}

/// The same on any objective, of which the first `n_penalised` weights are penalised.
pub(super) fn descend_on<F: Scalar, B: MeanLoss<F>>(
    batch: &mut B,
    spec: &LearnSpec,
    n_penalised: usize,
    Start { mut w, passes: first, stopped, limit }: Start<F>,
    on_pass: &mut OnPass<'_>,
) -> Result<Descended<F>, LearnError> {
    let max_passes = if stopped { 0 } else { spec.passes.saturating_sub(first) };
    // With l1 a move costs what is free, and there is no penalty that would smooth the way.
    let memory = if spec.l1 > 0.0 { 24 } else { 6 };
    let config = Lbfgs { memory, stop: Stop { tol: spec.tol, max_passes } };
    let penalty = Penalty { l2: spec.l2, l1: spec.l1 };
    let mut stopped = stopped;
    let mut values = Vec::new();
    let mut show = |pass: &solver::Pass<'_, F>, inverse: Option<&[F]>| {
        let weights = || {
            let mut w = pass.w.to_vec();
            if let Some(inverse) = inverse {
                multiply(pass.w, inverse, &mut w);
            }
            w
        };
        let flow = on_pass(&LearnPass {
            pass: first + pass.pass,
            loss: Some(pass.value - penalty.value(&weights()[..n_penalised])),
            objective: Some(pass.value),
            gap: pass.gap,
            gap_estimate: None,
            grad_norm: pass.grad_norm,
            weights: &|| single(&weights()),
        });
        stopped |= flow.is_break();
        values.push(pass.value);
        let unproven = pass.gap.is_some_and(|gap| gap > UNPROVABLE_GAP * pass.value);
        match spec.l1 > 0.0 && unproven && is_flat(&values, spec.tol) {
            true => ControlFlow::Break(()),
            false => flow,
        }
    };
    let mut diagonal = vec![F::ZERO; w.len()];
    if spec.loss == Loss::Logistic {
        let mean_loss = batch.diagonal(&w, &mut diagonal);
        if mean_loss + penalty.value(&w[..n_penalised]) > limit {
            w.fill(F::ZERO);
            batch.diagonal(&w, &mut diagonal);
        }
    }
    let outcome = if spec.l1 > 0.0 || spec.l2 == 0.0 || n_penalised < w.len() {
        let inverse: Vec<F> = diagonal.iter().map(|&d| F::ONE / d).collect();
        solver::lbfgs_from(&config, Some(&inverse), batch, &mut w, &mut |p| show(p, None))
    } else {
        batch.keep_cuts();
        let mut scaled = Scaled::new(batch, &diagonal);
        let inverse = scaled.inverse.clone();
        let mut u: Vec<F> = w.iter().zip(&inverse).map(|(&w, &inverse)| w / inverse).collect();
        let outcome =
            solver::lbfgs(&config, &mut scaled, &mut u, &mut |pass| show(pass, Some(&inverse)));
        multiply(&u, &inverse, &mut w);
        outcome
    };
    let solver::Outcome { passes, converged, value, gap, .. } =
        outcome.map_err(|error| batch.failure().unwrap_or_else(|| diverged(error)))?;
    let bound = gap.map(|gap| value - gap);
    Ok(Descended { w, passes, converged, stopped, bound, cuts: batch.take_cuts() })
}

fn ascend<S: MaxOracle<f32> + MaxOracle<f64>, F: Scalar>(
    both: &Both<'_, S>,
    mut blocks: impl Blocks<F, Error = LearnError>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    let spec = both.single.spec;
    // A hair below: the objective that counts is in f64, and that of the weights as they are stored.
    let stop = Stop { tol: 0.99 * spec.tol, max_passes: spec.passes };
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
    let bound = outcome.gap.map(|gap| Bound { value: outcome.value - gap, reach: 0.0 });
    certified(both, single(blocks.weights()), report, bound)
}

/// The mean logistic loss at w = 0, but for what is forbidden.
fn loss_of_nothing<S: MaxOracle<F>, F: Scalar>(problem: &Problem<'_, S, F>) -> f64 {
    let structure = problem.structure;
    (0..problem.n()).map(|i| structure.share(i) * structure.log_outputs(i)).sum()
}

fn diverged(error: solver::Error) -> LearnError {
    match error {
        solver::Error::Diverged { value, pass } => LearnError::Diverged { value, pass },
        _ => LearnError::Request(error.to_string()),
    }
}

/// The part of what it sums up that f64 may lose in a structure's own sums. How many operations these take, and on what, only the structure knows; 2⁻³⁶ is room for a
/// hundred thousand roundings one after the other, each in the direction that hurts.
const LOST: f64 = 1.0 / (1u64 << 36) as f64;

/// What storing weights of f64 in f32 may cost, as a part of the objective.
const STORED: f64 = 1e-6;

/// Examples that a thread takes at a time.
const CHUNK: usize = 256;

/// A lower bound of the optimum, in f64.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) value: f64,
    /// The largest norm of other weights than the stored ones that it was computed at.
    pub(super) reach: f64,
}

/// What a pass in f64 finds at weights as they are stored.
pub(super) struct Figures {
    pub(super) w: Vec<f64>,
    /// Of mean loss and l2.
    pub(super) grad: Vec<f64>,
    pub(super) loss: f64,
    pub(super) objective: f64,
    /// The gap that the gradient proves.
    pub(super) gap: Option<f64>,
}

impl Figures {
    fn at<S: MaxOracle<f64>>(
        batch: &mut Batch<'_, '_, S, f64>,
        w: &[f32],
    ) -> Result<Self, LearnError> {
        let w: Vec<f64> = w.iter().map(|&w| f64::from(w)).collect();
        let mut grad = vec![0.0; w.len()];
        batch.value_grad(&w, &mut grad);
        if let Some(failure) = batch.failure() {
            return Err(failure);
        }
        let gap = batch.gap(&w, &grad, f64::INFINITY);
        Ok(Self { loss: batch.mean_loss, objective: batch.objective(&w), gap, w, grad })
    }
}

/// The weights that are stored with their figures. `bound` is a lower bound on the optimum, if one was found on the way.
pub(super) fn certified<S: MaxOracle<f32> + MaxOracle<f64>>(
    both: &Both<'_, S>,
    w: Vec<f32>,
    report: LearnReport,
    bound: Option<Bound>,
) -> Result<Learnt, LearnError> {
    let figures = Figures::at(&mut Batch::new(&both.double), &w)?;
    certified_by(both, w, figures, report, bound)
}

/// As [`certified`], where the figures are at hand.
fn certified_by<S: MaxOracle<f32> + MaxOracle<f64>>(
    both: &Both<'_, S>,
    w: Vec<f32>,
    figures: Figures,
    report: LearnReport,
    bound: Option<Bound>,
) -> Result<Learnt, LearnError> {
    let problem = &both.double;
    // Losses are differences of scores, which are at most ‖w‖ times the norm of what they score.
    let bounded = bound.is_some() || problem.is_logistic();
    let norm = if bounded { gold_norm(&both.single) } else { 0.0 };
    judged(w, figures, report, bound, problem.spec, norm, Batch::new(problem).l1())
}

/// What the figures of stored weights prove. `norm` is that of the gold outputs' features.
pub(super) fn judged(
    w: Vec<f32>,
    figures: Figures,
    mut report: LearnReport,
    bound: Option<Bound>,
    spec: &LearnSpec,
    norm: f64,
    l1: L1,
) -> Result<Learnt, LearnError> {
    let Figures { w: wide, grad, loss, objective, gap: by_gradient } = figures;
    report.loss = loss;
    if !objective.is_finite() {
        return Err(LearnError::Diverged { value: objective, pass: report.passes });
    }
    report.objective = Some(objective);
    let mut gap = bound.map(|bound| objective - bound.value);
    let w_norm = kernels::dot64(&wide, &wide).sqrt();
    // Once for the objective, twice for a bound that was computed elsewhere: by its offset, and by its square.
    let reach = w_norm + bound.map_or(0.0, |bound| 2.0 * bound.reach);
    let mut lost = LOST * (objective.abs() + reach * norm);
    if spec.loss == Loss::Logistic {
        // The logarithm of a sum near 1 is off by the sum's own rounding, however small it is.
        lost += LOST;
        gap = match (gap, by_gradient) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        report.grad_norm = Some(solver::least_subgradient_norm(&wide, &grad, l1));
        if spec.l2 > 0.0 {
            // ‖∇P + e‖² / (2·l2), with e a part of what examples add to the gradient.
            let (length, e) = (kernels::dot64(&grad, &grad).sqrt(), LOST * norm);
            lost += (length + e) * e / spec.l2;
        }
    }
    let Some(gap) = gap else { return Ok(Learnt { w, report }) };
    let bound = objective - gap.max(0.0);
    let bound = LowerBound { computed: bound, proven: bound };
    let proof = Proof::new(objective, lost, bound);
    let tol = spec.tol;
    report.gap = proof.finite_gap();
    // Weights are stored in f32, whose rounding may be more than a run in f64 was asked for.
    let stored = report.converged && tol < SINGLE && proof.converged(tol + STORED);
    report.converged = proof.converged(tol) || stored;
    Ok(Learnt { w, report })
}

/// Twice Σ over examples of the norm of their gold outputs' features, each with its share: what others have is about as much. Six digits of it are plenty.
pub(super) fn gold_norm<S: MaxOracle<f32>>(problem: &Problem<'_, S, f32>) -> f64 {
    let structure = problem.structure;
    let zeros = vec![0.0; problem.dim()];
    let mut norms = vec![0.0; problem.n()];
    norms.par_chunks_mut(CHUNK).enumerate().for_each_init(
        || (problem.worker(), zeros.clone()),
        |(worker, features), (chunk, norms)| {
            for (j, norm) in norms.iter_mut().enumerate() {
                let i = chunk * CHUNK + j;
                if !structure.is_whole(i) {
                    continue;
                }
                problem.scores(i, &zeros, worker);
                structure.gold(i, &mut worker.gold);
                worker.theta.scale(0.0);
                structure.add_output(i, &worker.gold, 1.0, &mut worker.theta);
                structure.accumulate(i, &worker.theta, &mut worker.s, features);
                let mut touched = 0.0;
                structure.each_touched(i, &worker.theta, &mut worker.s, |range| {
                    for feature in &mut features[range] {
                        touched += f64::from(*feature).powi(2);
                        *feature = 0.0;
                    }
                });
                *norm = structure.share(i) * touched.sqrt();
            }
        },
    );
    2.0 * norms.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_flat_after_ten_passes_that_gain_little() {
        let falling: Vec<f64> = (0..40).map(|i| 100.0 + 0.5f64.powi(i)).collect();
        // Ten passes gain less than 0.1 first from pass 4 on: 2⁻⁴ of it is left then.
        let first = (1..40).find(|&n| is_flat(&falling[..n], 0.01));
        assert_eq!(first, Some(15));
        assert!(!is_flat(&falling[..10], 1.0) && !is_flat(&[], 1.0));
    }
}
