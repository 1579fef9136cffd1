//! The end of a run: which weights are kept, and what is proven about exactly these.

use crate::Error;
use crate::train::fit::Job;
use crate::train::weights::{Number, Weights};
use lineal_erm::{Erm, LowerBound, Rows};
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

/// Keeps the best weights if there was early stopping, and certifies what is kept, in f64. `bound` is a proven lower bound of the optimum that the run found; where there is none, the
/// weights alone give one. The loss is dynamic: it is one pass, and losses share its code.
pub(crate) fn finish<F, S, M, Y>(
    job: &mut Job<'_, '_>,
    erm: &mut Erm<'_, f64, M, &dyn DualLoss<f64, S>, Rows<'_, Y>>,
    w: Vec<F>,
    outcome: Outcome,
    bound: Option<LowerBound>,
) -> Result<Fit, Error>
where
    F: Number,
    S: OutputSpace<f64, Output = Y>,
    M: for<'x> Model<f64, Input<'x> = Row<'x>, Space = S>,
    Y: Copy + Sync,
{
    let best = job.watch.take_best();
    let best_pass = best.as_ref().map(|(pass, _)| *pass);
    let weights = best.map_or_else(|| F::own(w), |(_, w)| w);
    let w = weights.to_f64();

    let mut grad = vec![0.0; w.len()];
    let value = erm.proven_value(&w, &mut grad);
    let objective = value.objective;
    let broken = w.iter().copied().find(|w| !w.is_finite());
    if let Some(value) = (!objective.is_finite()).then_some(objective).or(broken) {
        return Err(solver::Error::Diverged { value, pass: outcome.passes }.into());
    }
    let bound = bound.or_else(|| erm.proven_bound(&value.blocks));
    let proof = value.proof(bound);
    let gap = proof.finite_gap();
    let l1 = erm.l1();
    // Without a gap: the gradient in units of the features, beside what it is without weights.
    let measure = gap.is_none().then(|| {
        let sizes = erm.feature_sizes();
        let (zero, mut grad_0) = (vec![0.0; w.len()], vec![0.0; w.len()]);
        erm.value_grad(&zero, &mut grad_0);
        subgradient(&zero, l1, &mut grad_0);
        let mut grad = grad.clone();
        subgradient(&w, l1, &mut grad);
        (solver::scaled_norm(&grad, &sizes), solver::scaled_norm(&grad_0, &sizes))
    });
    subgradient(&w, l1, &mut grad);
    let grad_norm = kernels::dot64(&grad, &grad).sqrt();
    let converged = match (gap, measure) {
        (Some(_), _) => proof.converged(job.spec.tol),
        (None, Some((now, at_first))) => {
            // An epoch of single steps that changed nothing has arrived, if at a kink.
            let settled = outcome.converged && outcome.updates.is_some();
            now <= job.spec.tol * at_first || settled
        }
        (None, None) => false,
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
