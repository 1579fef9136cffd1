//! The learners of structures by name: what a comparison compares and a search searches.

use crate::request::spec::{LossKind, Penalty, Task, TrainSpec, choice};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

choice! {
    /// A way to learn a structure: a loss that is minimised, or updates that minimise nothing.
    Learner {
        /// The averaged perceptron.
        Perceptron = "perceptron",
        /// Updates that are just large enough to be right, and at most C.
        PassiveAggressive = "passive-aggressive",
        /// The large margin: the structured SVM.
        Hinge = "hinge",
        /// Its square, of pairs of documents.
        SquaredHinge = "squared-hinge",
        /// Maximum likelihood: the conditional random field.
        Logistic = "logistic",
    }
}

/// The largest passive–aggressive update where a task has no such learner by default.
const UPDATE: f64 = 0.05;
/// Steps of a path over C, relative to the task's usual one.
const AROUND_PENALTY: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
const AROUND_UPDATE: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];

impl Learner {
    /// Those that a structured task may have. Some may still be refused for what else is asked for, with a reason, when they are trained.
    pub fn of(task: Task) -> Vec<Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|&learner| learner != Self::SquaredHinge || task == Task::Rank).collect()
    }

    /// What a search tries unless it is told: the updates of tasks that are learnt by them, else everything that is minimised.
    pub fn usual(base: &TrainSpec) -> Vec<Self> {
        match base.sgd.passive_aggressive {
            Some(_) => vec![Self::PassiveAggressive],
            None => Self::of(base.task)
                .into_iter()
                .filter(|learner| !matches!(learner, Self::Perceptron | Self::PassiveAggressive))
                .collect(),
        }
    }

    /// The loss of its training runs.
    pub fn loss(self) -> LossKind {
        match self {
            Self::Perceptron => LossKind::Perceptron,
            Self::PassiveAggressive | Self::Hinge => LossKind::Hinge,
            Self::SquaredHinge => LossKind::SquaredHinge,
            Self::Logistic => LossKind::Logistic,
        }
    }

    /// A run with this learner. C is the weight of the losses against the penalty, or the largest passive–aggressive update; without one it is that of `base`, or the task's usual one.
    pub fn spec(self, base: &TrainSpec, c: Option<f64>) -> TrainSpec {
        let mut spec = TrainSpec { loss: Some(self.loss()), ..base.clone() };
        // It is this one, whatever a trial of others would find.
        #[cfg(feature = "tag")]
        {
            spec.tag.choose = false;
        }
        match self {
            Self::PassiveAggressive => {
                spec.sgd.passive_aggressive = Some(c.unwrap_or_else(|| update(base)));
            }
            _ => {
                spec.sgd.passive_aggressive = None;
                spec.penalty = c.map_or(base.penalty, Penalty::C);
            }
        }
        spec
    }

    /// Values of C around the usual one.
    pub fn path(self, base: &TrainSpec) -> Vec<f64> {
        let (middle, around) = match (self, base.penalty) {
            (Self::PassiveAggressive, _) => (update(base), AROUND_UPDATE),
            (_, Penalty::C(c)) => (c, AROUND_PENALTY),
            _ => (1.0, AROUND_PENALTY),
        };
        around.iter().map(|factor| in_few_digits(factor * middle)).collect()
    }
}

/// The largest passive–aggressive update where none is said.
fn update(base: &TrainSpec) -> f64 {
    let usual = TrainSpec::for_task(base.task).sgd.passive_aggressive;
    base.sgd.passive_aggressive.or(usual).unwrap_or(UPDATE)
}

/// 0.015000000000000001 is 0.015.
fn in_few_digits(x: f64) -> f64 {
    format!("{x:.6e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_learners_of_tasks_and_their_paths() {
        let tag = TrainSpec::for_task(Task::Tag);
        assert_eq!(Learner::usual(&tag), [Learner::Hinge, Learner::Logistic]);
        assert_eq!(Learner::Logistic.path(&tag), [0.01, 0.1, 1.0, 10.0, 100.0]);
        let trees = TrainSpec::for_task(Task::Dependency);
        assert_eq!(Learner::usual(&trees), [Learner::PassiveAggressive]);
        assert_eq!(Learner::PassiveAggressive.path(&trees), [0.005, 0.015, 0.05, 0.15, 0.5]);
        let svm = Learner::Hinge.spec(&trees, Some(3.0));
        assert_eq!((svm.penalty, svm.sgd.passive_aggressive), (Penalty::C(3.0), None));
        let mut open = tag.clone();
        open.tag.choose = true;
        assert!(!Learner::Hinge.spec(&open, Some(3.0)).tag.choose);
        let updates = Learner::PassiveAggressive.spec(&svm, None);
        assert_eq!(updates.sgd.passive_aggressive, Some(0.05));
    }
}
