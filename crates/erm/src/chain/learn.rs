//! Checks a request and hands it to its algorithm.

use super::online::{self, Steps};
use super::problem::Problem;
use super::{
    ChainError, ChainLoss, ChainPass, ChainReport, ChainSolver, ChainSpec, ChainUpdate, Learnt,
    Sentences,
};
use lineal_chain::{ChainModel, PrunedModel};
use lineal_solver::Schedule;
use std::ops::ControlFlow;

/// Learns the weights of `model` from sentences, from zeros or from `start`, a model of the same shape.
///
/// `on_pass` sees every pass; `Break` ends the run with what there is.
pub fn learn(
    model: ChainModel,
    sentences: Sentences<'_>,
    spec: &ChainSpec,
    start: Option<&PrunedModel>,
    on_pass: &mut dyn FnMut(&ChainPass<'_>) -> ControlFlow<()>,
) -> Result<Learnt, ChainError> {
    let solver = spec.check()?;
    let problem = Problem::new(model, sentences, spec, start)?;
    let mut w = vec![0.0f32; problem.layout.dim()];
    if let Some(start) = start {
        problem.layout.load(start, &mut w);
    }
    let steps = Steps {
        rate: spec.rate.unwrap_or(if spec.loss == ChainLoss::Logistic { 0.1 } else { 1.0 }),
        schedule: spec.schedule.unwrap_or(match spec.loss {
            ChainLoss::Perceptron => Schedule::Constant,
            ChainLoss::Hinge if spec.l2 > 0.0 => Schedule::Pegasos,
            _ => Schedule::Inverse,
        }),
        average: spec.average.unwrap_or(spec.loss != ChainLoss::Logistic),
        epochs: spec.passes,
    };
    let run = online::epochs(&problem, steps, w, on_pass)?;
    let report = ChainReport {
        solver,
        loss: run.loss,
        objective: None,
        gap: None,
        grad_norm: None,
        passes: run.passes,
        updates: Some(run.updates),
        converged: run.still,
        n_weights: problem.layout.n_weights(),
    };
    Ok(Learnt { model: problem.layout.pruned(&run.w), report })
}

impl ChainSpec {
    /// Whether the argmax is sought with the cost.
    pub(crate) fn has_margin(&self) -> bool {
        self.loss == ChainLoss::Hinge || self.update != ChainUpdate::Gradient
    }

    /// What `Auto` becomes; or why the request cannot be met.
    fn check(&self) -> Result<ChainSolver, ChainError> {
        let refuse = |why: &str| Err(ChainError::Request(why.to_string()));
        let amounts = [self.l2, self.l1, self.tol, self.rate.unwrap_or(1.0)];
        if !amounts.iter().all(|a| a.is_finite() && *a >= 0.0) {
            return refuse("l2, l1, tol and rate must be numbers ≥ 0");
        }
        let passive = self.update != ChainUpdate::Gradient;
        if passive && self.loss == ChainLoss::Logistic {
            return refuse("passive-aggressive updates need the loss perceptron or hinge");
        }
        match self.solver {
            ChainSolver::Auto | ChainSolver::Sgd => Ok(ChainSolver::Sgd),
            _ => refuse("sequences are learnt by sgd"),
        }
    }
}
