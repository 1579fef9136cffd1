//! What to learn and how: the request.

use super::LearnError;
use crate::Penalty;
use lineal_solver::Schedule;

/// The loss of an example, by the scores of its outputs and its gold output.
///
/// Where the gold output is known in part, it is the best one that has what is known (perceptron, hinge), or all of them together (logistic). Then the
/// objective is not convex and has no gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// max over y of score(y) − score(gold): the structured perceptron.
    Perceptron,
    /// max over y of score(y) + cost(gold, y) − score(gold): the structured SVM.
    Hinge,
    /// log Σ over y of exp score(y) − score(gold): the conditional random field.
    Logistic,
}

/// Which algorithm finds the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// `Sgd` for the perceptron and passive–aggressive updates, `Dual` for the hinge with `l2`, and for the logistic loss some epochs of `Sgd` and then `Lbfgs`; `Newton` in place of the last
    /// two where it can be.
    Auto,
    /// One example per step.
    Sgd,
    /// Limited-memory BFGS, and OWL-QN with `l1`. Logistic only.
    Lbfgs,
    /// Dual blocks, one per example, with a duality gap: block-coordinate Frank–Wolfe for the hinge, exponentiated gradient for the logistic loss. Needs `l2`.
    Dual,
    /// Newton's method, with a duality gap; for the hinge by the method of multipliers. Needs `l2` without `l1`, at most 300 weights, and a structure that knows its second derivatives.
    Newton,
}

/// How an example moves the weights in `Sgd`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update {
    /// Along the (sub)gradient, with the rate of the schedule.
    Gradient,
    /// Just far enough that the gold output leads by the cost, but at most by `aggressiveness` times the difference of features (PA-I of Crammer et al. 2006).
    PassiveAggressive {
        /// C of the paper.
        aggressiveness: f64,
    },
}

/// What to learn. The objective is
///
/// ```text
/// Σᵢ shareᵢ · loss(exampleᵢ) + (l2/2)‖w‖² + l1‖w‖₁,      shareᵢ = weightᵢ / Σ weights
/// ```
///
/// so that with n examples of equal weight CRFsuite's c2 is `l2 = 2·c2/n` and its c1 is `l1 = c1/n`.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnSpec {
    /// The loss; logistic by default.
    pub loss: Loss,
    /// The algorithm; `Auto` by default.
    pub solver: Solver,
    /// How a step of `Sgd` moves; along the gradient by default.
    pub update: Update,
    /// The factor of ½‖w‖²; 0 by default.
    pub l2: f64,
    /// The factor of ‖w‖₁; 0 by default.
    pub l1: f64,
    /// At most that many passes over the examples; 100 by default.
    pub passes: usize,
    /// Stop when the objective is within this part of the optimum, as far as that can be proved; without `l2` or a convex objective when the gradient is this part
    /// of the first. 0.01 by default. The proof lags behind: at 0.01 the objective is usually within 0.001. With `l1` the proof seldom comes: a run also ends, unconverged, where ten passes gain less than a tenth of this and the gap is above a tenth of the objective. `Sgd` runs all its passes unless an epoch changes nothing.
    pub tol: f64,
    /// The first rate of `Sgd`; if it is not given, 0.1 for the logistic loss (less where examples take more than a hundred decisions) and 1 for the others.
    pub rate: Option<f64>,
    /// How the rate falls; by default it stays for the perceptron, and is `Pegasos` for the hinge with `l2` and no rate and `Inverse` otherwise.
    pub schedule: Option<Schedule>,
    /// Whether `Sgd` returns the mean of its iterates, one after each step, in place of the last one; by default yes but for the logistic loss. In the mean of the
    /// perceptron all iterates count the same, in that of a convex objective the t-th counts t times.
    pub average: Option<bool>,
    /// The most outputs that Frank–Wolfe keeps for each example; 100 by default. When a list is full, the one of least weight gives way to a new one, unless that would lower the dual objective.
    pub max_outputs: usize,
    /// Of the order of examples; 0 by default.
    pub seed: u64,
}

impl Default for LearnSpec {
    fn default() -> Self {
        Self {
            loss: Loss::Logistic,
            solver: Solver::Auto,
            update: Update::Gradient,
            l2: 0.0,
            l1: 0.0,
            passes: 100,
            tol: 1e-2,
            rate: None,
            schedule: None,
            average: None,
            max_outputs: 100,
            seed: 0,
        }
    }
}

impl LearnSpec {
    /// Whether steps just reach a margin.
    pub(crate) fn is_passive(&self) -> bool {
        self.update != Update::Gradient
    }

    /// What `Auto` becomes.
    pub(crate) fn chosen(&self) -> Solver {
        match (self.solver, self.loss) {
            (Solver::Auto, Loss::Logistic) => Solver::Lbfgs,
            (Solver::Auto, Loss::Hinge) if self.l2 > 0.0 && !self.is_passive() => Solver::Dual,
            (Solver::Auto, _) => Solver::Sgd,
            (solver, _) => solver,
        }
    }

    /// Whether Newton's method is asked for or may be taken, if the structure allows it.
    pub(crate) fn may_be_newton(&self) -> bool {
        let smooth_or_hinge = self.loss != Loss::Perceptron && !self.is_passive();
        matches!(self.solver, Solver::Auto | Solver::Newton)
            && smooth_or_hinge
            && self.l2 > 0.0
            && self.l1 == 0.0
    }

    /// Says why a request cannot be met, whatever the structure.
    pub fn check(&self) -> Result<(), LearnError> {
        let refuse = |why: &str| Err(LearnError::Request(why.to_string()));
        let amounts = [self.l2, self.l1, self.tol, self.rate.unwrap_or(1.0)];
        if !amounts.iter().all(|a| a.is_finite() && *a >= 0.0) {
            return refuse("l2, l1, tol and rate must be numbers ≥ 0");
        }
        if let Some(why) = Penalty::refusal(self.l2) {
            return refuse(&why);
        }
        if self.is_passive() && self.loss == Loss::Logistic {
            return refuse("passive-aggressive updates need the loss perceptron or hinge");
        }
        if self.l1 > 0.0 && self.chosen() != Solver::Lbfgs {
            return refuse("l1 needs the loss logistic with the solver auto or lbfgs");
        }
        match self.chosen() {
            Solver::Lbfgs if self.loss != Loss::Logistic => refuse(
                "lbfgs needs a smooth loss: choose the loss logistic, or the solver sgd or dual",
            ),
            Solver::Dual if self.loss == Loss::Perceptron || self.is_passive() => refuse(
                "the dual solver needs the loss hinge or logistic, without passive-aggressive updates",
            ),
            Solver::Dual if self.l2 == 0.0 => {
                refuse("the dual solver needs a penalty: l2 must be positive")
            }
            Solver::Newton if self.loss == Loss::Perceptron || self.is_passive() => refuse(
                "newton needs the loss hinge or logistic, without passive-aggressive updates",
            ),
            Solver::Newton if self.l2 == 0.0 => {
                refuse("newton needs a penalty here: l2 must be positive")
            }
            Solver::Dual if self.max_outputs < 2 => refuse("max_outputs must be at least 2"),
            Solver::Sgd if self.schedule == Some(Schedule::Pegasos) && self.l2 == 0.0 => {
                refuse("the rate of the schedule pegasos is 1 / (l2·t): l2 must be positive")
            }
            _ => Ok(()),
        }
    }
}
