//! What a training run on sequences tells about itself.

use crate::request::spec::{LossKind, SolverKind, Task};
use crate::train::report::{CurvePoint, certificate};
use serde::{Deserialize, Serialize};

/// The run's certificate and its circumstances; `lineal train --json` prints it, the model file keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TagReport {
    /// Always `tag`.
    pub task: Task,
    /// Sequences trained on.
    pub examples: usize,
    /// Tokens in them.
    pub tokens: usize,
    /// Attributes that have weights.
    pub features: usize,
    /// Labels.
    pub classes: usize,
    /// The loss.
    pub loss: LossKind,
    /// Who minimised (never `auto`).
    pub solver: SolverKind,
    /// λ of (λ/2)‖W‖².
    pub l2: f64,
    /// The factor of ‖W‖₁.
    pub l1: f64,
    /// mean loss + (l2/2)‖W‖² + l1‖W‖₁ at the stored weights; none for updates that minimise nothing (perceptron, passive–aggressive).
    pub objective: Option<f64>,
    /// The mean loss; for the perceptron what the last pass saw on its way.
    pub mean_loss: f64,
    /// A proven bound on (objective − minimum).
    pub gap: Option<f64>,
    /// The norm of the objective's gradient (of its smallest subgradient where there is an l1 part).
    pub grad_norm: Option<f64>,
    /// Whether the tolerance was met; for the perceptron, whether a pass changed nothing.
    pub converged: bool,
    /// Passes over the data.
    pub passes: usize,
    /// Sequences that changed the weights, for `sgd`.
    pub updates: Option<u64>,
    /// Weights that there were to learn.
    pub weights: usize,
    /// Positions without a label, marginalised or maximised over.
    #[serde(default)]
    pub unlabelled: usize,
    /// The pass whose weights were kept, if that was not the last one (early stopping).
    pub best_pass: Option<usize>,
    /// One entry a pass.
    pub curve: Vec<CurvePoint>,
    /// Things the user should know.
    pub warnings: Vec<String>,
}

impl TagReport {
    /// The certificate in words: "objective 0.35, within 0.04 % of the optimum (duality gap 1.4e-4)".
    pub fn certificate(&self) -> String {
        match self.objective {
            Some(objective) => certificate(objective, self.gap, self.grad_norm),
            None if self.converged => {
                "a pass changed nothing: every training sequence is tagged right".into()
            }
            None => format!(
                "mean loss {:.6} in the last pass; this update minimises no objective, so there is no certificate",
                self.mean_loss
            ),
        }
    }
}
