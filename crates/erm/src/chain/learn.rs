//! Checks a request and hands it to its algorithm.

use super::batch::{Batch, Scaled, multiply};
use super::dually::{self, Blocks};
use super::exponentiated::Exponentiated;
use super::frank_wolfe::FrankWolfe;
use super::online::{self, Steps};
use super::problem::Problem;
use super::{
    ChainError, ChainLoss, ChainPass, ChainReport, ChainSolver, ChainSpec, ChainUpdate, Learnt,
    Sentences,
};
use lineal_chain::{ChainModel, PrunedModel};
use lineal_linalg::Scalar;
use lineal_solver::{self as solver, Lbfgs, Objective, Schedule, Stop};
use std::ops::ControlFlow;

/// Sees every pass; `Break` ends the run.
pub(crate) type OnPass<'m> = dyn FnMut(&ChainPass<'_>) -> ControlFlow<()> + 'm;

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
    spec.check()?;
    let problem = Problem::new(model, sentences, spec, start)?;
    match spec.chosen() {
        ChainSolver::Dual if problem.partial && spec.solver == ChainSolver::Dual => {
            let why =
                "missing labels have no dual: choose --solver sgd, or lbfgs for --loss logistic";
            Err(ChainError::Request(why.into()))
        }
        ChainSolver::Dual if problem.partial => by_steps(&problem, start, on_pass),
        ChainSolver::Lbfgs if spec.tol >= SINGLE => by_gradients::<f32>(&problem, start, on_pass),
        ChainSolver::Lbfgs => by_gradients::<f64>(&problem, start, on_pass),
        ChainSolver::Dual if spec.tol >= SINGLE => by_blocks::<f32>(&problem, start, on_pass),
        ChainSolver::Dual => by_blocks::<f64>(&problem, start, on_pass),
        _ => by_steps(&problem, start, on_pass),
    }
}

/// The tolerance from which on f32 is enough.
const SINGLE: f64 = 1e-4;

fn first_weights<F: Scalar>(problem: &Problem<'_>, start: Option<&PrunedModel>) -> Vec<F> {
    let mut w = vec![F::ZERO; problem.layout.dim()];
    if let Some(start) = start {
        problem.layout.load(start, &mut w);
    }
    w
}

fn by_steps(
    problem: &Problem<'_>,
    start: Option<&PrunedModel>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, ChainError> {
    let spec = problem.spec;
    let w = first_weights(problem, start);
    let run = online::epochs(problem, Steps::of(problem), w, on_pass)?;
    let report = ChainReport {
        solver: ChainSolver::Sgd,
        loss: run.loss,
        objective: None,
        gap: None,
        grad_norm: None,
        passes: run.passes,
        updates: Some(run.updates),
        converged: run.still,
        n_weights: problem.layout.n_weights(),
    };
    if spec.loss == ChainLoss::Perceptron || spec.update != ChainUpdate::Gradient {
        return Ok(Learnt { model: problem.layout.pruned(&run.w), report });
    }
    Ok(certified(problem, &run.w, report, None))
}

fn by_gradients<F: Scalar>(
    problem: &Problem<'_>,
    start: Option<&PrunedModel>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, ChainError> {
    let spec = problem.spec;
    let mut w: Vec<F> = first_weights(problem, start);
    let mut first = 0;
    let mut broken = false;
    if spec.solver == ChainSolver::Auto && start.is_none() {
        let steps = Steps { epochs: HEAD_START.min(spec.passes), ..Steps::of(problem) };
        let run = online::epochs(problem, steps, vec![0.0; w.len()], on_pass)?;
        // Steps that went astray are worse than none.
        if run.loss <= loss_of_nothing(problem) {
            w.iter_mut().zip(&run.w).for_each(|(w, &from)| *w = F::from_f32(from));
        }
        (first, broken) = (run.passes, run.broken);
    }
    let mut batch = Batch::<F>::new(problem);
    let stop = Stop {
        tol: spec.tol,
        max_passes: if broken { 0 } else { spec.passes.saturating_sub(first) },
    };
    let config = Lbfgs { memory: 6, stop };
    let layout = &problem.layout;
    let mut show = |pass: &solver::Pass<'_, F>, inverse: Option<&[F]>| {
        on_pass(&ChainPass {
            pass: first + pass.pass,
            loss: pass.value,
            objective: Some(pass.value),
            gap: pass.gap,
            grad_norm: pass.grad_norm,
            model: &|| match inverse {
                None => layout.pruned(pass.w),
                Some(inverse) => {
                    let mut w = pass.w.to_vec();
                    multiply(pass.w, inverse, &mut w);
                    layout.pruned(&w)
                }
            },
        })
    };
    let outcome = if spec.l1 > 0.0 || spec.l2 == 0.0 {
        solver::lbfgs(&config, &mut batch, &mut w, &mut |pass| show(pass, None))
    } else {
        let mut diagonal = vec![F::ZERO; w.len()];
        batch.diagonal(&w, &mut diagonal);
        batch.keep_cuts();
        let mut scaled = Scaled::new(&mut batch, &diagonal);
        let inverse = scaled.inverse.clone();
        let mut u: Vec<F> = w.iter().zip(&inverse).map(|(&w, &inverse)| w / inverse).collect();
        let outcome =
            solver::lbfgs(&config, &mut scaled, &mut u, &mut |pass| show(pass, Some(&inverse)));
        multiply(&u, &inverse, &mut w);
        outcome
    };
    let solver::Outcome { passes, converged, value, gap, .. } = outcome.map_err(diverged)?;
    let report = ChainReport {
        solver: ChainSolver::Lbfgs,
        loss: 0.0,
        objective: None,
        gap: None,
        grad_norm: None,
        passes: first + passes,
        updates: None,
        converged,
        n_weights: layout.n_weights(),
    };
    Ok(certified(problem, &w, report, gap.map(|gap| value - gap)))
}

fn by_blocks<F: Scalar>(
    problem: &Problem<'_>,
    start: Option<&PrunedModel>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, ChainError> {
    let mut blocks: Box<dyn Blocks> = match problem.spec.loss {
        ChainLoss::Logistic => {
            let w = start.map(|_| first_weights(problem, start));
            Box::new(Exponentiated::<F>::new(problem, w)?)
        }
        _ => Box::new(FrankWolfe::<F>::new(problem)),
    };
    let run = dually::ascend(problem, &mut *blocks, on_pass)?;
    let model = blocks.model(problem);
    let mut w = vec![0.0f64; problem.layout.dim()];
    problem.layout.load(&model, &mut w);
    let report = ChainReport {
        solver: ChainSolver::Dual,
        loss: 0.0,
        objective: None,
        gap: None,
        grad_norm: None,
        passes: run.passes,
        updates: None,
        converged: run.converged,
        n_weights: problem.layout.n_weights(),
    };
    Ok(certified(problem, &w, report, Some(run.objective - run.gap)))
}

/// How many epochs of single steps come before L-BFGS.
const HEAD_START: usize = 8;

/// The mean logistic loss at w = 0, but for what is forbidden.
fn loss_of_nothing(problem: &Problem<'_>) -> f64 {
    let of_one = (problem.layout.model.n_labels as f64).ln();
    let lengths = (0..problem.sentences.len()).map(|i| problem.sentences.range(i).len() as f64);
    lengths.zip(&problem.shares).map(|(length, share)| share * length * of_one).sum()
}

fn diverged(error: solver::Error) -> ChainError {
    match error {
        solver::Error::Diverged { value, pass } => ChainError::Diverged { value, pass },
        _ => ChainError::Request(error.to_string()),
    }
}

/// The figures of the weights that are stored, in f64. `bound` is a lower bound on the optimum, if one was found on the way.
fn certified<F: Scalar>(
    problem: &Problem<'_>,
    w: &[F],
    mut report: ChainReport,
    bound: Option<f64>,
) -> Learnt {
    let model = problem.layout.pruned(w);
    let mut w = vec![0.0f64; w.len()];
    problem.layout.load(&model, &mut w);
    let mut grad = w.clone();
    let mut batch = Batch::<f64>::new(problem);
    batch.value_grad(&w, &mut grad);
    report.loss = batch.mean_loss;
    let objective = batch.objective(&w);
    report.objective = Some(objective);
    report.gap = bound.map(|bound| (objective - bound).max(0.0));
    if problem.spec.loss == ChainLoss::Logistic {
        let by_gradient = batch.gap(&w, &grad, f64::INFINITY);
        report.gap = match (report.gap, by_gradient) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        report.grad_norm = Some(solver::least_subgradient_norm(&w, &grad, batch.l1()));
    }
    Learnt { model, report }
}

impl Steps {
    fn of(problem: &Problem<'_>) -> Self {
        let spec = problem.spec;
        let by_default = || match spec.loss {
            ChainLoss::Logistic => 0.1 * problem.sentences.shortness(),
            _ => 1.0,
        };
        Self {
            rate: spec.rate.unwrap_or_else(by_default),
            schedule: spec.schedule.unwrap_or(match spec.loss {
                ChainLoss::Perceptron => Schedule::Constant,
                ChainLoss::Hinge if spec.l2 > 0.0 => Schedule::Pegasos,
                _ => Schedule::Inverse,
            }),
            average: spec.average.unwrap_or(spec.loss != ChainLoss::Logistic),
            epochs: spec.passes,
        }
    }
}

impl ChainSpec {
    /// Whether the argmax is sought with the cost.
    pub(crate) fn has_margin(&self) -> bool {
        self.loss == ChainLoss::Hinge || self.update != ChainUpdate::Gradient
    }

    /// What `Auto` becomes.
    fn chosen(&self) -> ChainSolver {
        match (self.solver, self.loss) {
            (ChainSolver::Auto, ChainLoss::Logistic) => ChainSolver::Lbfgs,
            (ChainSolver::Auto, ChainLoss::Hinge)
                if self.l2 > 0.0 && self.update == ChainUpdate::Gradient =>
            {
                ChainSolver::Dual
            }
            (ChainSolver::Auto, _) => ChainSolver::Sgd,
            (solver, _) => solver,
        }
    }

    /// Says why a request cannot be met.
    fn check(&self) -> Result<(), ChainError> {
        let refuse = |why: &str| Err(ChainError::Request(why.to_string()));
        let amounts = [self.l2, self.l1, self.tol, self.rate.unwrap_or(1.0)];
        if !amounts.iter().all(|a| a.is_finite() && *a >= 0.0) {
            return refuse("l2, l1, tol and rate must be numbers ≥ 0");
        }
        let passive = self.update != ChainUpdate::Gradient;
        if passive && self.loss == ChainLoss::Logistic {
            return refuse("passive-aggressive updates need the loss perceptron or hinge");
        }
        if self.l1 > 0.0 && self.chosen() != ChainSolver::Lbfgs {
            return refuse("l1 needs --loss logistic with --solver auto or lbfgs");
        }
        match self.chosen() {
            ChainSolver::Lbfgs if self.loss != ChainLoss::Logistic => {
                refuse("lbfgs needs a smooth loss: choose --loss logistic, or --solver sgd or dual")
            }
            ChainSolver::Dual if self.loss == ChainLoss::Perceptron || passive => refuse(
                "the dual solver needs --loss hinge or logistic, without passive-aggressive updates",
            ),
            ChainSolver::Dual if self.l2 == 0.0 => {
                refuse("the dual solver needs a penalty: give --l2 or -C")
            }
            ChainSolver::Sgd if self.schedule == Some(Schedule::Pegasos) && self.l2 == 0.0 => {
                refuse("the rate of Pegasos is 1 / (l2·t): give --l2 or -C")
            }
            _ => Ok(()),
        }
    }
}
