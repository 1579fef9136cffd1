//! What is seen of a run on structured outputs, and what it comes to.

use super::request::{Learning, solver_kind};
use crate::Error;
use crate::request::spec::{LossKind, Precision, Strategy, TrainSpec};
use crate::train::report::{CurvePoint, Report, StructuredReport};
use crate::train::summary;
use crate::train::watch::{OnPass, Watch};
use lineal_erm::structured::{LearnPass, LearnReport};
use std::ops::ControlFlow;

/// Measures weights on held-out examples.
pub(crate) type Metric<'h> = Box<dyn Fn(&[f32]) -> Result<f64, Error> + 'h>;

/// Sees the passes of a run, measures the held-out examples, stops early.
pub(crate) struct Observer<'a, 'h> {
    watch: Watch<'a, Vec<f32>>,
    metric: Option<Metric<'h>>,
    failed: Option<Error>,
}

/// What is left of a run when it has ended: the curve, and the pass to return to if it was not the last.
pub(crate) struct Seen {
    pub curve: Vec<CurvePoint>,
    pub best: Option<(usize, Vec<f32>)>,
}

impl<'a, 'h> Observer<'a, 'h> {
    pub(crate) fn new(
        on_pass: Option<&'a mut OnPass<'a>>,
        spec: &TrainSpec,
        metric: Option<Metric<'h>>,
    ) -> Self {
        Self { watch: Watch::new(on_pass, spec.patience), metric, failed: None }
    }

    pub(crate) fn see(&mut self, pass: &LearnPass<'_>) -> ControlFlow<()> {
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

    pub(crate) fn finish(mut self) -> Result<Seen, Error> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(Seen { best: self.watch.take_best(), curve: self.watch.curve }),
        }
    }
}

/// The report of a run. `best_pass` and `curve` are what the observer saw.
pub(crate) fn report(
    spec: &TrainSpec,
    learning: &Learning,
    run: &LearnReport,
    best_pass: Option<usize>,
    curve: Vec<CurvePoint>,
    structured: StructuredReport,
) -> Report {
    let mut report = Report {
        task: spec.task,
        examples: 0,
        features: 0,
        classes: 0,
        loss: learning.loss,
        sum: false,
        strategy: Strategy::Joint,
        problems: 1,
        rows_touched: 0,
        code: None,
        tree: None,
        solver: solver_kind(run.solver),
        precision: Precision::F32,
        l2: learning.l2,
        l1: spec.l1,
        objective: run.objective.unwrap_or(f64::NAN),
        gap: run.gap,
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
        report.gap = point.and_then(|point| point.gap);
        report.grad_norm = None;
        report.converged = false;
    }
    let minimises = report.loss != LossKind::Perceptron && !report.objective.is_nan();
    if minimises && best_pass.is_none() {
        report.warnings.extend(summary::unconverged(&report, spec));
    }
    report
}
