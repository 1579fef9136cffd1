//! What `train --json` and `inspect --json` print for sequences: first the keys that all tasks have, then more.

use lineal::{CurvePoint, LossKind, SchemeKind, SolverKind, TagMetrics, TagModel, Task};
use serde::Serialize;

use super::train::Outcome;
use crate::train::Seconds;

#[derive(Serialize)]
pub struct TrainJson<'a> {
    task: Task,
    examples: usize,
    features: usize,
    classes: usize,
    loss: LossKind,
    strategy: &'static str,
    solver: SolverKind,
    l2: f64,
    objective: Option<f64>,
    gap: Option<f64>,
    grad_norm: Option<f64>,
    converged: bool,
    passes: usize,
    seconds: Seconds,
    model_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a TagMetrics>,
    tokens: usize,
    unlabelled: usize,
    weights: usize,
    order: u32,
    scheme: Option<SchemeKind>,
    l1: f64,
    mean_loss: f64,
    updates: Option<u64>,
    best_pass: Option<usize>,
    certificate: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    shrunk: Option<ShrunkJson<'a>>,
    warnings: &'a [String],
    curve: &'a [CurvePoint],
}

/// What `--max-size` did.
#[derive(Serialize)]
struct ShrunkJson<'a> {
    bytes_before: u64,
    weights_before: usize,
    weights: usize,
    measured_on: &'a str,
    metric: &'static str,
    before: f64,
    after: f64,
}

impl<'a> TrainJson<'a> {
    pub fn new(model: &'a TagModel, outcome: &'a Outcome) -> Self {
        let report = &outcome.report;
        Self {
            task: report.task,
            examples: report.examples,
            features: report.features,
            classes: report.classes,
            loss: report.loss,
            strategy: "joint",
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
            tokens: report.tokens,
            unlabelled: report.unlabelled,
            weights: model.n_weights(),
            order: model.spec().order,
            scheme: model.spec().scheme,
            l1: report.l1,
            mean_loss: report.mean_loss,
            updates: report.updates,
            best_pass: report.best_pass,
            certificate: report.certificate(),
            shrunk: outcome.shrunk.as_ref().map(|s| ShrunkJson {
                bytes_before: s.bytes_before,
                weights_before: s.weights_before,
                weights: s.weights,
                measured_on: &s.on,
                metric: s.before.main_name(),
                before: s.before.main(),
                after: s.after.main(),
            }),
            warnings: &report.warnings,
            curve: &report.curve,
        }
    }
}
