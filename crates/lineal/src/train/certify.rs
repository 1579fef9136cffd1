//! The end of a run: which weights are kept, and what is proven about exactly these.

use crate::Error;
use crate::train::fit::{Gold, Job};
use crate::train::weights::{Number, Weights};
use lineal_erm::{Erm, Penalty, Rows};
use lineal_linalg::{Row, kernels};
use lineal_loss::DualLoss;
use lineal_model::Model;
use lineal_model::space::OutputSpace;
use lineal_solver::{self as solver, Objective, Outcome};

/// Weights with their certificate, in f64 at exactly these weights.
pub(crate) struct Fit {
    pub weights: Weights,
    pub certificate: Certificate,
    pub outcome: Outcome,
    pub best_pass: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Certificate {
    pub objective: f64,
    pub gap: Option<f64>,
    pub grad_norm: Option<f64>,
    pub converged: bool,
}

/// Keeps the best weights if there was early stopping, and certifies what is kept, in f64.
pub(crate) fn finish<F, S, M, L, Y>(
    job: &mut Job<'_, '_>,
    model: &M,
    loss: &L,
    penalty: Penalty,
    gold: Gold<'_, Y>,
    w: Vec<F>,
    outcome: Outcome,
) -> Result<Fit, Error>
where
    F: Number,
    S: OutputSpace<f64, Output = Y>,
    M: for<'x> Model<f64, Input<'x> = Row<'x>, Space = S>,
    L: DualLoss<f64, S>,
    Y: Copy + Sync,
{
    let best = job.watch.take_best();
    let best_pass = best.as_ref().map(|(pass, _)| *pass);
    let weights = best.map_or_else(|| F::own(w), |(_, w)| w);
    let w = weights.to_f64();

    let mut erm = Erm::new(model, loss, Rows::new(job.x, gold.train, job.weights), penalty);
    let mut grad = vec![0.0; w.len()];
    let smooth_value = erm.value_grad(&w, &mut grad);
    let l1 = erm.l1();
    let objective = smooth_value + l1.l1 * w[..l1.until].iter().map(|w| w.abs()).sum::<f64>();
    if !objective.is_finite() {
        return Err(solver::Error::Diverged { value: objective, pass: outcome.passes }.into());
    }
    // The solver's dual bound, where it has one for these weights, beats the one that the weights alone give.
    let bound = if best_pass.is_none() { outcome.gap.map(|gap| outcome.value - gap) } else { None };
    let gap = match bound {
        Some(bound) => Some((objective - bound).max(0.0)),
        None => erm.gap(&w, &grad, f64::INFINITY),
    };
    subgradient(&w, l1, &mut grad);
    let grad_norm = kernels::dot64(&grad, &grad).sqrt();
    let converged = match gap {
        Some(gap) => gap <= job.spec.tol * objective.abs(),
        None => {
            let (zero, mut grad_0) = (vec![0.0; w.len()], vec![0.0; w.len()]);
            erm.value_grad(&zero, &mut grad_0);
            subgradient(&zero, l1, &mut grad_0);
            grad_norm <= job.spec.tol * kernels::dot64(&grad_0, &grad_0).sqrt() || outcome.converged
        }
    };
    let certificate = Certificate { objective, gap, grad_norm: Some(grad_norm), converged };
    Ok(Fit { weights, certificate, outcome, best_pass })
}

/// Turns the smooth part's gradient into the smallest subgradient of the whole.
fn subgradient(w: &[f64], l1: solver::L1, grad: &mut [f64]) {
    if l1.l1 == 0.0 {
        return;
    }
    for (g, &w) in grad.iter_mut().zip(w).take(l1.until) {
        *g = if w != 0.0 {
            *g + l1.l1 * w.signum()
        } else {
            g.signum() * (g.abs() - l1.l1).max(0.0)
        };
    }
}
