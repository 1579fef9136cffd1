//! Newton's method on columns: `crate::newton` with a certificate of each column.
//!
//! Dense features that are hardly penalised take the dual hundreds of passes (usps, squared hinge, C = 1: 579), and this a dozen steps.

use super::{BlockPass, ColumnFit, ColumnTask, OnBlock, certify};
use crate::newton::NewtonTask;
use lineal_linalg::Scalar;
use lineal_loss::{Columnwise, OfMargin};
use lineal_model::Bias;
use lineal_solver::Stop;

/// Whether [`newton`] is for a task: few features, and a penalty.
pub fn newton_fits(task: &ColumnTask<'_>) -> bool {
    crate::newton::newton_fits(task.x, task.space.len(), task.l2)
}

/// Newton's method on every column, to the tolerance of `stop`.
///
/// # Panics
/// If `l2` is not above 0 or the lengths disagree.
pub fn newton<F: Scalar, L: OfMargin<f64> + OfMargin<f32>>(
    task: &ColumnTask<'_>,
    loss: L,
    stop: Stop,
    monitor: &OnBlock<'_>,
) -> ColumnFit<F> {
    let loss_of_rows = Columnwise(loss);
    let by_rows = NewtonTask {
        x: task.x,
        y: task.kinds,
        weights: task.weights,
        space: task.space,
        loss: &loss_of_rows,
        bias: task.bias,
        l2: task.l2,
        coupled: false,
    };
    let n_inputs = task.x.n_cols() + usize::from(task.bias != Bias::None);
    let mut w = vec![0.0; n_inputs * task.space.len()];
    let see = |pass: usize, gap: f64, done: bool| {
        monitor(BlockPass { block: 0, n_blocks: 1, pass, gap, done })
    };
    let outcome = crate::newton::newton(&by_rows, stop, &mut w, &mut |pass| {
        see(pass.pass, pass.gap_estimate.unwrap_or(f64::INFINITY), false)
    });
    let _ = see(outcome.passes, outcome.gap.unwrap_or(f64::INFINITY), true);
    let w: Vec<F> = w.into_iter().map(F::from_f64).collect();
    let stored: Vec<f64> = w.iter().map(|w| w.to_f64()).collect();
    ColumnFit {
        certificates: certify(task, loss, &stored),
        w,
        passes: outcome.passes,
        converged: outcome.converged,
    }
}
