//! What `train --json` prints: first the keys that SPEC fixes, then more.

use lineal::{
    CalibrateKind, CodeReport, CurvePoint, LossKind, Margins, Model, Precision, SolverKind,
    Strategy, Task, Threshold, TreeReport,
};
use serde::Serialize;
use serde_json::Value;

use super::{Outcome, Seconds};
use crate::eval;

#[derive(Serialize)]
pub struct TrainJson<'a> {
    task: Task,
    examples: usize,
    features: usize,
    classes: usize,
    loss: LossKind,
    strategy: Strategy,
    solver: SolverKind,
    l2: f64,
    objective: f64,
    gap: Option<f64>,
    grad_norm: Option<f64>,
    converged: bool,
    passes: usize,
    seconds: Seconds,
    model_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<Value>,
    problems: usize,
    rows_touched: u64,
    code: Option<CodeReport>,
    tree: Option<TreeReport>,
    calibration: Option<CalibrationJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<Threshold>,
    l1: f64,
    sum: bool,
    precision: Precision,
    updates: Option<u64>,
    best_pass: Option<usize>,
    certificate: String,
    margins: Option<&'a Margins>,
    warnings: &'a [String],
    curve: &'a [CurvePoint],
}

/// The map from scores to probabilities.
#[derive(Serialize)]
pub struct CalibrationJson {
    kind: CalibrateKind,
    folds: usize,
}

impl CalibrationJson {
    pub fn of(model: &Model) -> Option<Self> {
        let spec = model.spec();
        spec.calibrate.map(|kind| Self { kind, folds: spec.folds })
    }
}

impl<'a> TrainJson<'a> {
    pub fn new(model: &Model, outcome: &'a Outcome) -> anyhow::Result<Self> {
        let report = &outcome.report;
        let is_multilabel = report.task == Task::Multilabel;
        Ok(Self {
            task: report.task,
            examples: report.examples,
            features: report.features,
            classes: report.classes,
            loss: report.loss,
            strategy: report.strategy,
            solver: report.solver,
            l2: report.l2,
            objective: report.objective,
            gap: report.gap,
            grad_norm: report.grad_norm,
            converged: report.converged,
            passes: report.passes,
            seconds: outcome.seconds,
            model_bytes: outcome.model_bytes,
            test: outcome.test.as_ref().map(eval::json).transpose()?,
            problems: report.problems,
            rows_touched: report.rows_touched,
            code: report.code,
            tree: report.tree,
            calibration: CalibrationJson::of(model),
            threshold: is_multilabel.then_some(model.spec().threshold),
            l1: report.l1,
            sum: report.sum,
            precision: report.precision,
            updates: report.updates,
            best_pass: report.best_pass,
            certificate: report.certificate(),
            margins: report.margins.as_ref(),
            warnings: &report.warnings,
            curve: &report.curve,
        })
    }
}
