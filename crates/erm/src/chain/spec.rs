//! What to learn and how: the request, and what comes of it.

use lineal_chain::{Grammar, LabelCost, PrunedModel};
use lineal_solver::Schedule;
use thiserror::Error;

/// The loss of a sentence, by the scores of its label sequences and its gold labels.
///
/// Where labels are missing, the gold sequence is the best one that has the labels that are there (perceptron, hinge), or all
/// of them together (logistic). With missing labels the objective is not convex and has no gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainLoss {
    /// max over y of score(y) − score(gold): the structured perceptron.
    Perceptron,
    /// max over y of score(y) + cost(gold, y) − score(gold): the structured SVM.
    Hinge,
    /// log Σ over y of exp score(y) − score(gold): the conditional random field.
    Logistic,
}

/// Which algorithm finds the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainSolver {
    /// `Sgd` for the perceptron and passive–aggressive updates, `Dual` for the hinge, and for the logistic loss what is fastest to the tolerance.
    Auto,
    /// One sentence a step.
    Sgd,
    /// Limited-memory BFGS, and OWL-QN with `l1`. Logistic only.
    Lbfgs,
    /// Dual blocks, one a sentence, with a duality gap: block-coordinate Frank–Wolfe for the hinge, dual coordinate ascent for the logistic loss. Needs `l2`.
    Dual,
}

/// How a sentence moves the weights in `Sgd`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChainUpdate {
    /// Along the (sub)gradient, with the rate of the schedule.
    Gradient,
    /// Just far enough that the gold sequence leads by the cost, but at most by `aggressiveness` times the difference of features (PA-I of Crammer et al. 2006).
    PassiveAggressive {
        /// C of the paper.
        aggressiveness: f64,
    },
}

/// Which labels an attribute has weights for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainWeights {
    /// All labels for attributes that come with several, those that it came with for the others. Nearly as good as `All` at the cost of `Observed`.
    Frequent,
    /// Those that it came with in the training data, and the transitions that were there: as CRFsuite does it.
    Observed,
    /// All: as CRF++ does it.
    All,
}

/// What to learn. The objective is
///
/// ```text
/// Σᵢ shareᵢ · loss(sentenceᵢ) + (l2/2)‖w‖² + l1‖w‖₁,      shareᵢ = weightᵢ / Σ weights
/// ```
///
/// with n sentences of equal weight, CRFsuite's c2 is `l2 = 2·c2/n` and its c1 is `l1 = c1/n`.
#[derive(Clone, Debug)]
pub struct ChainSpec {
    /// The loss.
    pub loss: ChainLoss,
    /// The algorithm.
    pub solver: ChainSolver,
    /// How a step of `Sgd` moves.
    pub update: ChainUpdate,
    /// Which weights there are.
    pub weights: ChainWeights,
    /// The cost of wrong labels for the hinge and for passive–aggressive updates; Hamming if it is not given.
    pub cost: Option<LabelCost<f64>>,
    /// What is forbidden to gold labels, and to what may stand where they are missing; nothing if it is not given.
    pub grammar: Option<Grammar>,
    /// Whether the sequences that the gold labels are set against must obey the grammar as well, so that nothing is learnt about those that prediction excludes
    /// anyway. That costs accuracy if anything: a mean span F1 of 93.86 against 93.89 in eight folds of CoNLL-2000's training data with a perceptron.
    pub legal_rivals: bool,
    /// The factor of ½‖w‖².
    pub l2: f64,
    /// The factor of ‖w‖₁.
    pub l1: f64,
    /// At most that many passes over the sentences.
    pub passes: usize,
    /// Stop when the objective is within this part of the optimum, as far as that can be proved; without `l2` or a convex objective when the gradient is this part
    /// of the first. The proof lags behind: at 0.01 the objective is usually within 0.0005. `Sgd` runs all its passes unless an epoch changes nothing.
    pub tol: f64,
    /// The first rate of `Sgd`; if it is not given, 0.1 for the logistic loss (less where sentences are longer than a hundred positions) and 1 for the others.
    pub rate: Option<f64>,
    /// How the rate falls; by default it stays for the perceptron, and is `Pegasos` for the hinge and `Inverse` for the logistic loss.
    pub schedule: Option<Schedule>,
    /// Whether `Sgd` returns the mean of its iterates; by default yes but for the logistic loss.
    pub average: Option<bool>,
    /// Of the order of sentences.
    pub seed: u64,
}

impl Default for ChainSpec {
    fn default() -> Self {
        Self {
            loss: ChainLoss::Logistic,
            solver: ChainSolver::Auto,
            update: ChainUpdate::Gradient,
            weights: ChainWeights::Frequent,
            cost: None,
            grammar: None,
            legal_rivals: false,
            l2: 0.0,
            l1: 0.0,
            passes: 100,
            tol: 1e-2,
            rate: None,
            schedule: None,
            average: None,
            seed: 0,
        }
    }
}

/// A run after a pass.
pub struct ChainPass<'a> {
    /// Passes done, from 1.
    pub pass: usize,
    /// The mean loss that the pass saw on its way, before each step.
    pub loss: f64,
    /// The objective, where the solver knows it.
    pub objective: Option<f64>,
    /// A proven bound on its distance from the optimum.
    pub gap: Option<f64>,
    /// The gradient's norm.
    pub grad_norm: Option<f64>,
    pub(crate) model: &'a dyn Fn() -> PrunedModel,
}

impl ChainPass<'_> {
    /// The model that would be returned now. It is made on demand, for a metric on other data.
    pub fn model(&self) -> PrunedModel {
        (self.model)()
    }
}

impl std::fmt::Debug for ChainPass<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "pass {}: loss {}", self.pass, self.loss)
    }
}

/// What was learnt.
#[derive(Clone, Debug)]
pub struct Learnt {
    /// The weights.
    pub model: PrunedModel,
    /// How it went.
    pub report: ChainReport,
}

/// How a run ended. Figures are of the weights that are returned.
#[derive(Clone, Copy, Debug)]
pub struct ChainReport {
    /// What `Auto` became.
    pub solver: ChainSolver,
    /// The mean loss; for the perceptron what the last pass saw on its way.
    pub loss: f64,
    /// Mean loss and penalties. None for updates that minimise nothing: perceptron and passive–aggressive.
    pub objective: Option<f64>,
    /// A proven bound on the distance from the optimum.
    pub gap: Option<f64>,
    /// The norm of the least subgradient.
    pub grad_norm: Option<f64>,
    /// Passes over the sentences.
    pub passes: usize,
    /// Steps that changed the weights, for `Sgd`.
    pub updates: Option<u64>,
    /// The tolerance was reached; for the perceptron: a pass changed nothing.
    pub converged: bool,
    /// How many weights there were to learn.
    pub n_weights: usize,
}

/// Why nothing was learnt.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ChainError {
    /// No sentence has a position.
    #[error("there is no sentence to learn from")]
    Empty,
    /// Sentences and model do not fit each other.
    #[error("{0}")]
    Shape(String),
    /// A combination that has no algorithm.
    #[error("{0}")]
    Request(String),
    /// Gold labels that the constraints exclude.
    #[error("sentence {}, token {}: the gold labels break the constraints (forbidden transitions or --scheme)", .sentence + 1, .position + 1)]
    Infeasible {
        /// Counted from 0.
        sentence: usize,
        /// Counted from 0, within the sentence.
        position: usize,
    },
    /// The objective became infinite or NaN.
    #[error("the objective became {value} in pass {pass}; try a smaller --rate or a larger --l2")]
    Diverged {
        /// What it became.
        value: f64,
        /// When.
        pass: usize,
    },
}
