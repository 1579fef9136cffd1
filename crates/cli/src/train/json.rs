//! What `train --json` prints: first the keys that SPEC fixes, then more.

use lineal::{CurvePoint, LossKind, Margins, Metrics, Precision, SolverKind, Strategy, Task};
use serde::Serialize;

use super::{Outcome, Seconds};

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
    test: Option<&'a Metrics>,
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

impl<'a> TrainJson<'a> {
    pub fn new(outcome: &'a Outcome) -> Self {
        let report = &outcome.report;
        Self {
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
            test: outcome.test.as_ref(),
            l1: report.l1,
            sum: report.sum,
            precision: report.precision,
            updates: report.updates,
            best_pass: report.best_pass,
            certificate: report.certificate(),
            margins: report.margins.as_ref(),
            warnings: &report.warnings,
            curve: &report.curve,
        }
    }
}
