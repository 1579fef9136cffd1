//! A run on structured outputs: the examples it learns from and those it watches, the passes, and what it comes to.

use super::request::{Learning, loss_kind, solver_kind};
use super::{Examples, PRUNER, Tables};
use crate::Error;
use crate::request::spec::{LossKind, Precision, Strategy, TrainSpec};
use crate::train::prepare::split;
use crate::train::report::{CurvePoint, Report, StageReport, StructuredReport};
use crate::train::summary;
use crate::train::watch::{OnPass, Watch};
use lineal_erm::structured::{LearnPass, LearnReport, LearnSpec, Learnt, Loss, Solver, learn};
use lineal_model::structure::{Structure, SumOracle};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// The examples to learn from, and those to watch: given, or a share of the first.
pub(crate) fn train_and_held_out<'a, D: Examples>(
    data: &'a D,
    held_out: Option<&'a D>,
    spec: &TrainSpec,
) -> Result<(Cow<'a, D>, Option<Cow<'a, D>>), Error> {
    let (rows, held_rows) = split(data.n_examples(), spec, held_out.is_some())?;
    let pick = |rows: Vec<usize>| Cow::Owned(data.select(&rows));
    let held_out = held_out.map(Cow::Borrowed).or(held_rows.map(pick));
    Ok((rows.map_or(Cow::Borrowed(data), pick), held_out))
}

/// Epochs of a pruner, and the rate of its steps.
const PRUNER_EPOCHS: usize = 2;
const PRUNER_RATE: f64 = 0.05;

/// Measures weights on held-out examples.
pub(crate) type Metric<'h> = Box<dyn Fn(&[f32]) -> Result<f64, Error> + 'h>;

/// Sees the passes of a run, measures the held-out examples, stops early.
struct Observer<'a, 'h> {
    watch: Watch<'a, Vec<f32>>,
    metric: Option<Metric<'h>>,
    failed: Option<Error>,
}

/// What is left of a run when it has ended: the curve, and the pass to return to if it was not the last.
struct Seen {
    curve: Vec<CurvePoint>,
    best: Option<(usize, Vec<f32>)>,
}

impl<'a, 'h> Observer<'a, 'h> {
    fn see(&mut self, pass: &LearnPass<'_>) -> ControlFlow<()> {
        let mut point = CurvePoint {
            pass: pass.pass,
            objective: pass.objective,
            train_loss: pass.loss,
            gap: pass.gap.filter(|gap| gap.is_finite()),
            gap_estimate: pass.gap_estimate.filter(|gap| gap.is_finite()),
            ..CurvePoint::default()
        };
        let Some(metric) = &self.metric else { return self.watch.note(point) };
        let weights = pass.weights();
        match metric(&weights) {
            Ok(metric) => point.held_out_metric = Some(metric),
            Err(error) => {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        self.watch.see(point, || weights)
    }

    fn finish(mut self) -> Result<Seen, Error> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(Seen { best: self.watch.take_best(), curve: self.watch.curve }),
        }
    }
}

/// What was learnt.
pub(crate) struct Run {
    /// The weights: of the last pass, or of the best one on the held-out examples.
    pub w: Vec<f32>,
    outcome: LearnReport,
    best_pass: Option<usize>,
    curve: Vec<CurvePoint>,
}

/// Runs a learner, and watches the held-out examples by their metric.
pub(crate) fn fit<'a>(
    spec: &TrainSpec,
    on_pass: Option<&'a mut OnPass<'a>>,
    metric: Option<Metric<'_>>,
    learn: impl FnOnce(&mut dyn FnMut(&LearnPass<'_>) -> ControlFlow<()>) -> Result<Learnt, Error>,
) -> Result<Run, Error> {
    let mut observer = Observer { watch: Watch::new(on_pass, spec.patience), metric, failed: None };
    let Learnt { w, report: outcome } = learn(&mut |pass| observer.see(pass))?;
    let seen = observer.finish()?;
    let (best_pass, best) = seen.best.unzip();
    Ok(Run { w: best.unwrap_or(w), outcome, best_pass, curve: seen.curve })
}

/// How much a run was about.
pub(crate) struct Counts {
    pub examples: usize,
    pub features: usize,
    pub classes: usize,
}

/// What is told of a stage: `figure` is what it achieves on the training data.
pub(crate) fn stage(
    name: &str,
    request: &LearnSpec,
    run: &LearnReport,
    figure: (&str, f64),
) -> StageReport {
    StageReport {
        stage: name.into(),
        loss: loss_kind(request.loss),
        solver: solver_kind(run.solver),
        passes: run.passes,
        objective: run.objective,
        gap: run.gap,
        figure: Some((figure.0.into(), figure.1)),
    }
}

/// Learns what prunes the parts of trees: a few epochs of local decisions, and their recall on the training data.
pub(crate) fn learn_pruner<
    S: SumOracle<f32> + SumOracle<f64, Output = <S as Structure<f32>>::Output>,
>(
    problem: &S,
    seed: u64,
    of: &str,
    recall: impl FnOnce(&[f32]) -> f64,
) -> Result<(Vec<f32>, StageReport), Error> {
    let request = LearnSpec {
        loss: Loss::Logistic,
        solver: Solver::Sgd,
        passes: PRUNER_EPOCHS,
        rate: Some(PRUNER_RATE),
        seed,
        ..LearnSpec::default()
    };
    let Learnt { w, report } = learn(problem, &request, None, &mut |_| ControlFlow::Continue(()))?;
    let (name, recall) = (format!("recall of {of} in the training data"), recall(&w));
    let report = stage(PRUNER, &request, &report, (&name, recall));
    Ok((w, report))
}

/// How much a parser was learnt from.
pub(crate) struct TreeCounts {
    pub sentences: usize,
    pub words: usize,
    pub labels: usize,
}

impl Run {
    /// The report of a parser with these tables.
    pub(crate) fn parser_report(
        self,
        spec: &TrainSpec,
        learning: &Learning,
        counts: TreeCounts,
        tables: &Tables,
        stages: Vec<StageReport>,
    ) -> Report {
        let weights = tables.trees();
        let features = weights.iter().filter(|w| **w != 0.0).count();
        let TreeCounts { sentences, words, labels } = counts;
        let counts = Counts { examples: sentences, features, classes: labels };
        let (tokens, weights) = (words, tables.n_all());
        let more = StructuredReport { tokens, weights, stages, ..StructuredReport::default() };
        self.report(spec, learning, counts, more)
    }

    /// The report, and the weights.
    pub(crate) fn report(
        self,
        spec: &TrainSpec,
        learning: &Learning,
        counts: Counts,
        structured: StructuredReport,
    ) -> Report {
        let Self { outcome: run, best_pass, curve, .. } = self;
        let mut report = Report {
            task: spec.task,
            examples: counts.examples,
            features: counts.features,
            classes: counts.classes,
            loss: learning.loss,
            sum: false,
            strategy: Strategy::Joint,
            problems: 1,
            rows_touched: counts.examples as u64,
            code: None,
            tree: None,
            solver: solver_kind(run.solver),
            precision: Precision::F32,
            l2: learning.l2,
            l1: spec.l1,
            objective: run.objective.unwrap_or(f64::NAN),
            // No loss is below 0, so that the objective itself is a bound.
            gap: run.gap.map(|gap| gap.min(run.objective.unwrap_or(gap))),
            grad_norm: run.grad_norm,
            converged: run.converged,
            passes: run.passes,
            updates: run.updates,
            best_pass,
            curve,
            margins: None,
            warnings: Vec::new(),
            structured: Some(StructuredReport { mean_loss: run.loss, ..structured }),
        };
        if let Some(gap) = report.gap {
            report.converged |= gap <= spec.tol * report.objective.abs();
        }
        if let Some(best) = best_pass {
            // The figures are those of the weights that are stored, as far as the solver knew them then.
            let point = report.curve.iter().find(|point| point.pass == best);
            report.objective = point.and_then(|point| point.objective).unwrap_or(f64::NAN);
            // The gap of a pass on the way is no proof.
            report.gap = None;
            report.grad_norm = None;
            report.converged = false;
        }
        let minimises = report.loss != LossKind::Perceptron && !report.objective.is_nan();
        if minimises && best_pass.is_none() {
            report.warnings.extend(summary::unconverged(&report, spec));
        }
        report
    }
}
