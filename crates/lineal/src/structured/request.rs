//! From a spec to a request that the learners of structures understand.

use crate::Error;
use crate::request::spec::{LossKind, Penalty, ScheduleKind, SolverKind, Task, TrainSpec};
use lineal_erm::structured::{LearnSpec, Loss, Solver, Update};
use lineal_solver::Schedule;

/// The most passes of solvers that stop by themselves.
const PASSES: usize = 1000;

/// What to learn with, decided and checked.
pub(crate) struct Learning {
    pub loss: LossKind,
    pub l2: f64,
    pub request: LearnSpec,
}

impl Learning {
    /// Whether the learner asks for the best output: perceptron, passive–aggressive updates, hinge.
    pub(crate) fn needs_argmax(&self) -> bool {
        self.request.loss != Loss::Logistic || self.request.update != Update::Gradient
    }
}

impl TrainSpec {
    /// Refuses losses, solvers and penalties that need a sum over all outputs, which `outputs` (such as "labellings of an image") do not have.
    pub(crate) fn check_without_sums(&self, outputs: &str) -> Result<(), Error> {
        let refuse = |flag: String, remedy: &str| {
            Err(Error::request(format!(
                "{flag} is not available for spec.task = {}, because a sum over all {outputs} cannot be computed: {remedy}",
                self.task
            )))
        };
        let losses = "choose spec.loss = hinge (structured SVM) or perceptron";
        match (self.loss, self.solver) {
            (Some(loss), _) if !matches!(loss, LossKind::Hinge | LossKind::Perceptron) => {
                refuse(format!("spec.loss = {loss}"), losses)
            }
            (_, solver)
                if !matches!(solver, SolverKind::Auto | SolverKind::Sgd | SolverKind::Dual) =>
            {
                refuse(format!("spec.solver = {solver}"), "choose spec.solver = dual or sgd")
            }
            _ if self.l1 > 0.0 => {
                refuse("spec.l1".into(), "choose spec.penalty.l2 or spec.penalty.c")
            }
            _ => Ok(()),
        }
    }

    /// The request to the learners of structures, for so many examples.
    pub(crate) fn learning(&self, n_examples: f64) -> Result<Learning, Error> {
        let kind = self.loss.unwrap_or(LossKind::Logistic);
        let task = self.task;
        let loss = match kind {
            LossKind::Perceptron => Loss::Perceptron,
            LossKind::Hinge => Loss::Hinge,
            LossKind::Logistic => Loss::Logistic,
            other => {
                return Err(Error::request(format!(
                    "spec.loss = {other} is not available for spec.task = {task}: choose perceptron, hinge (structured SVM) or logistic (CRF)"
                )));
            }
        };
        let solver = match self.solver {
            SolverKind::Auto => Solver::Auto,
            SolverKind::Sgd => Solver::Sgd,
            SolverKind::Lbfgs => Solver::Lbfgs,
            SolverKind::Dual => Solver::Dual,
            // Of the structures that have a task, pairs of documents alone know their second derivatives.
            SolverKind::Newton if task == Task::Rank => Solver::Newton,
            other => {
                return Err(Error::request(format!(
                    "spec.solver = {other} is not available for spec.task = {task}: choose auto, sgd, lbfgs (logistic) or dual (hinge, logistic)"
                )));
            }
        };
        // Also where the learner has no use for it: it is stored with the model, and JSON has no NaN.
        let (name, strength) = match self.penalty {
            Penalty::C(c) => ("spec.penalty.c", c),
            Penalty::L2(l2) => ("spec.penalty.l2", l2),
        };
        if !(strength.is_finite() && strength >= 0.0) {
            return Err(Error::request(format!("{name} {strength} is not a number ≥ 0")));
        }
        let passive_aggressive = self.sgd.passive_aggressive;
        // Updates that minimise nothing have no penalty unless it is asked for, in the form that means the same for any loss.
        let l2 = match (kind, self.penalty) {
            (LossKind::Perceptron, Penalty::C(_)) => 0.0,
            _ if passive_aggressive.is_some() => 0.0,
            (_, penalty) => penalty.l2(n_examples),
        };
        let request = LearnSpec {
            loss,
            solver,
            update: match passive_aggressive {
                Some(aggressiveness) => Update::PassiveAggressive { aggressiveness },
                None => Update::Gradient,
            },
            l2,
            l1: self.l1,
            passes: self.n_epochs().or(self.max_passes).unwrap_or(PASSES),
            tol: self.tol,
            rate: self.sgd.rate,
            schedule: self.sgd.schedule.map(|schedule| match schedule {
                ScheduleKind::Constant => Schedule::Constant,
                ScheduleKind::Inverse => Schedule::Inverse,
                ScheduleKind::Pegasos => Schedule::Pegasos,
            }),
            average: self.sgd.average,
            seed: self.seed,
            ..LearnSpec::default()
        };
        request.check()?;
        Ok(Learning { loss: kind, l2, request })
    }

    /// Whether the argmax of training is sought with costs.
    pub(crate) fn uses_cost(&self) -> bool {
        self.loss == Some(LossKind::Hinge) || self.sgd.passive_aggressive.is_some()
    }
}

/// The learner's name of a solver.
pub(super) fn solver_kind(solver: Solver) -> SolverKind {
    match solver {
        Solver::Auto => SolverKind::Auto,
        Solver::Sgd => SolverKind::Sgd,
        Solver::Lbfgs => SolverKind::Lbfgs,
        Solver::Dual => SolverKind::Dual,
        Solver::Newton => SolverKind::Newton,
    }
}

/// The name of a loss.
pub(super) fn loss_kind(loss: Loss) -> LossKind {
    match loss {
        Loss::Perceptron => LossKind::Perceptron,
        Loss::Hinge => LossKind::Hinge,
        Loss::Logistic => LossKind::Logistic,
    }
}
