//! Checks what is asked for, and says it as the learners understand it.

use super::file::{MAX_LABELS, MAX_LABELS_OF_TRIPLES};
use super::spec::{TagSpec, WeightsKind};
use crate::Error;
use crate::spec::{LossKind, Penalty, ScheduleKind, SolverKind};
use lineal_chain::{ChainOptions, ChainWeights, Grammar, LabelCost};
use lineal_data::{Sequences, UNLABELLED};
use lineal_erm::structured::{LearnSpec, Loss, Solver, Update};
use lineal_features::sequence::AttributeIndex;
use lineal_solver::Schedule;

/// Passes of `sgd`, and of the others.
const EPOCHS: usize = 20;
const PASSES: usize = 1000;

impl TagSpec {
    /// Whether the run is a fixed number of passes, one sequence a step.
    pub fn is_stochastic(&self) -> bool {
        match self.solver {
            SolverKind::Auto => {
                self.loss == LossKind::Perceptron || self.passive_aggressive.is_some()
            }
            solver => solver == SolverKind::Sgd,
        }
    }

    /// The most passes that the run makes.
    pub fn n_passes(&self) -> usize {
        self.passes.unwrap_or(if self.is_stochastic() { EPOCHS } else { PASSES })
    }

    /// λ for so many sequences.
    pub(super) fn l2(&self, n_sequences: usize) -> f64 {
        match (self.loss, self.penalty) {
            (LossKind::Perceptron, Penalty::C(_)) => 0.0,
            _ if self.passive_aggressive.is_some() => 0.0,
            (_, penalty) => penalty.l2(n_sequences as f64),
        }
    }

    /// Sees that the choices fit each other and the data.
    pub(super) fn check(&self, data: &Sequences) -> Result<(), Error> {
        let refuse = |why: String| Err(Error::Request(why));
        if !(1..=2).contains(&self.order) {
            return refuse(format!("--order {} is not there: choose 1 or 2", self.order));
        }
        if let Some(bits) =
            self.hash_bits.filter(|bits| !(1..=AttributeIndex::MAX_BITS).contains(bits))
        {
            return refuse(format!(
                "--hash {bits}: choose from 1 to {} bits",
                AttributeIndex::MAX_BITS
            ));
        }
        let n_labels = data.schema.labels.len();
        if n_labels > MAX_LABELS {
            let label = &data.schema.columns[data.schema.label];
            return refuse(format!(
                "{}: column {label} has {n_labels} different values, and labels may be {MAX_LABELS} at most; is it the label? (see --label)",
                data.source
            ));
        }
        if self.order == 2 && n_labels > MAX_LABELS_OF_TRIPLES {
            return refuse(format!(
                "--order 2 has weights for three labels in a row, and {n_labels} labels are too many for that ({MAX_LABELS_OF_TRIPLES} at most)"
            ));
        }
        if let Some(cost) = self.cost.as_ref().filter(|cost| cost.n_classes() != n_labels) {
            return refuse(format!(
                "the costs are of {} labels, and the data has {n_labels}",
                cost.n_classes()
            ));
        }
        let uses_cost = self.loss == LossKind::Hinge || self.passive_aggressive.is_some();
        if self.cost.is_some() && !uses_cost {
            return refuse(format!(
                "--cost has no place in the {} loss of sequences: choose --loss hinge",
                self.loss
            ));
        }
        if self.patience.is_some() && self.validation == 0.0 {
            return refuse("patience needs held-out sequences to watch".into());
        }
        Ok(())
    }

    /// The request to the learner.
    pub(super) fn learner(&self, l2: f64) -> Result<LearnSpec, Error> {
        let loss = match self.loss {
            LossKind::Perceptron => Loss::Perceptron,
            LossKind::Hinge => Loss::Hinge,
            LossKind::Logistic => Loss::Logistic,
            other => {
                return Err(Error::request(format!(
                    "--loss {other} is not there for sequences: choose perceptron, hinge (structured SVM) or logistic (CRF)"
                )));
            }
        };
        let solver = match self.solver {
            SolverKind::Auto => Solver::Auto,
            SolverKind::Sgd => Solver::Sgd,
            SolverKind::Lbfgs => Solver::Lbfgs,
            SolverKind::Dual => Solver::Dual,
            other => {
                return Err(Error::request(format!(
                    "--solver {other} is not there for sequences: choose auto, sgd, lbfgs (logistic) or dual (hinge, logistic)"
                )));
            }
        };
        Ok(LearnSpec {
            loss,
            solver,
            update: match self.passive_aggressive {
                Some(aggressiveness) => Update::PassiveAggressive { aggressiveness },
                None => Update::Gradient,
            },
            l2,
            l1: self.l1,
            passes: self.n_passes(),
            tol: self.tol,
            rate: self.rate,
            schedule: self.schedule.map(|schedule| match schedule {
                ScheduleKind::Constant => Schedule::Constant,
                ScheduleKind::Inverse => Schedule::Inverse,
                ScheduleKind::Pegasos => Schedule::Pegasos,
            }),
            average: self.average,
            seed: self.seed,
            ..LearnSpec::default()
        })
    }

    /// The weights, the costs and the constraints of the problem.
    pub(super) fn problem(&self, grammar: &Grammar) -> ChainOptions {
        let k = grammar.n_labels();
        let delta = |cost: &lineal_model::cost::CostMatrix| {
            (0..k as u32).flat_map(|y| cost.row(y).to_vec()).collect()
        };
        ChainOptions {
            weights: match self.weights {
                WeightsKind::Frequent => ChainWeights::Frequent,
                WeightsKind::Observed => ChainWeights::Observed,
                WeightsKind::All => ChainWeights::All,
            },
            cost: self.cost.as_ref().and_then(|cost| LabelCost::new(k, delta(cost))),
            legal_rivals: self.legal_rivals,
            grammar: (!grammar.is_free()).then(|| grammar.clone()),
        }
    }
}

/// The learner's name of a solver.
pub(super) fn solver_kind(solver: Solver) -> SolverKind {
    match solver {
        Solver::Auto => SolverKind::Auto,
        Solver::Sgd => SolverKind::Sgd,
        Solver::Lbfgs => SolverKind::Lbfgs,
        Solver::Dual => SolverKind::Dual,
    }
}

/// How many positions have no label.
pub(super) fn n_unlabelled(data: &Sequences) -> usize {
    data.gold().iter().filter(|&&label| label == UNLABELLED).count()
}
