//! What comes of a request: passes on the way, weights and figures at the end, or why there are none.

use super::Solver;
use std::ops::ControlFlow;
use thiserror::Error;

/// A run after a pass.
pub struct LearnPass<'a> {
    /// Passes done, from 1.
    pub pass: usize,
    /// The mean loss: for `Sgd` what the pass saw on its way, before each step. The dual solver does not know it.
    pub loss: Option<f64>,
    /// The objective, where the solver knows it.
    pub objective: Option<f64>,
    /// A proven bound on its distance from the optimum.
    pub gap: Option<f64>,
    /// What the gap seems to be from what the dual solver saw on its way: no proof.
    pub gap_estimate: Option<f64>,
    /// The gradient's norm.
    pub grad_norm: Option<f64>,
    pub(crate) weights: &'a dyn Fn() -> Vec<f32>,
}

impl LearnPass<'_> {
    /// The weights that would be returned now. They are made on demand, for a metric on other data.
    pub fn weights(&self) -> Vec<f32> {
        (self.weights)()
    }
}

impl std::fmt::Debug for LearnPass<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "pass {}: loss {:?}, gap {:?}", self.pass, self.loss, self.gap)
    }
}

/// Sees every pass; `Break` ends the run with what there is.
pub type OnPass<'m> = dyn FnMut(&LearnPass<'_>) -> ControlFlow<()> + 'm;

/// What was learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// The weights.
    pub w: Vec<f32>,
    /// How it went.
    pub report: LearnReport,
}

/// How a run ended. Figures are of the weights that are returned, computed in f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnReport {
    /// What `Auto` became.
    pub solver: Solver,
    /// The mean loss; for the perceptron and passive–aggressive updates what the last pass saw on its way.
    pub loss: f64,
    /// Mean loss and penalties. None for updates that minimise nothing: perceptron and passive–aggressive. Where the argmax is inexact: no less than that.
    pub objective: Option<f64>,
    /// A proven bound on the distance from the optimum.
    pub gap: Option<f64>,
    /// The norm of the least subgradient.
    pub grad_norm: Option<f64>,
    /// Passes over the examples.
    pub passes: usize,
    /// Steps that changed the weights, for `Sgd`.
    pub updates: Option<u64>,
    /// The tolerance was reached; for the perceptron: a pass changed nothing.
    pub converged: bool,
}

impl LearnReport {
    pub(crate) fn new(solver: Solver, passes: usize, converged: bool) -> Self {
        Self {
            solver,
            loss: 0.0,
            objective: None,
            gap: None,
            grad_norm: None,
            passes,
            updates: None,
            converged,
        }
    }
}

/// Why nothing was learnt.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LearnError {
    /// There is no example.
    #[error("there is no example to learn from")]
    Empty,
    /// Weights to start from that are not those of the structure.
    #[error("{given} weights to start from, and the structure has {dim}")]
    Start {
        /// How many were given.
        given: usize,
        /// How many there are.
        dim: usize,
    },
    /// A combination that has no algorithm.
    #[error("{0}")]
    Request(String),
    /// An example without an output that satisfies its constraints.
    #[error("example {}: no output satisfies the constraints at part {}", .example + 1, .at + 1)]
    Infeasible {
        /// Counted from 0.
        example: usize,
        /// Position, word or other part of the example, counted from 0.
        at: usize,
    },
    /// An [`Interrupt`](lineal_solver::Interrupt) ended the run.
    #[error("learning was interrupted")]
    Interrupted,
    /// The objective or a weight became infinite or NaN.
    #[error(
        "the objective or a weight became {value} in pass {pass}; try a smaller rate or a larger l2"
    )]
    Diverged {
        /// What it became.
        value: f64,
        /// When.
        pass: usize,
    },
}
