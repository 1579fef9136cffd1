//! Certificates are proofs: no weights are below objective − gap, whatever precision the run was in.

use lineal_erm::columns::{ColumnTask, certify, dual as dual_columns, sum};
use lineal_erm::{Dually, Erm, Penalty, Proof, Rows};
use lineal_linalg::{Dense, Matrix, Rng, Scalar};
use lineal_loss::{DualLoss, Hinge, Logistic, OfMargin, SquaredHinge};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, Columns, OutputSpace, Signs};
use lineal_model::{Bias, Linear};
use lineal_solver::{Dual, Stop, dual, silent};
use std::ops::ControlFlow;

/// Rows around an offset that is large beside their differences, and classes that do not follow from them.
fn offset_rows(seed: u64, offset: f64, n_classes: u64) -> (Matrix, Vec<u32>) {
    let mut rng = Rng::new(seed);
    let entries = (0..90).map(|at| {
        let own = [1.0, 1.1, -1.2][at % 3] * offset;
        (own + 4.0 * rng.unit() - 2.0) as f32
    });
    let x = Matrix::Dense(Dense::new(30, 3, entries.collect()).unwrap());
    let y = (0..30).map(|_| (rng.next_u64() % n_classes) as u32).collect();
    (x, y)
}

/// A proven bound from a run in `F`, and the objective of its weights.
fn bound<F: Scalar, S, L>(
    space: S,
    loss: &L,
    (x, y): (&Matrix, &[u32]),
    c: f64,
    tol: f64,
) -> (f64, f64)
where
    S: OutputSpace<F, Output = u32> + OutputSpace<f64, Output = u32>,
    L: DualLoss<F, S> + DualLoss<f64, S>,
{
    let model = Linear::new(3, space, Bias::Free);
    let penalty = Penalty { l2: 1.0 / (c * 30.0), l1: 0.0 };
    let rows = Rows::new(x, y, None);
    let mut erm = Erm::<F, _, _, _>::new(&model, loss, rows, penalty);
    let mut problem = Dually::new(&mut erm);
    let mut w = vec![F::ZERO; lineal_model::Model::<F>::dim(&model)];
    let mut mu = vec![F::ZERO; problem.n_dual()];
    let config = Dual { stop: Stop { tol, max_passes: 20_000 }, ..Dual::default() };
    dual(&config, &mut problem, &mut mu, &mut w, &mut silent());
    let mut exact = Erm::<f64, _, _, _>::new(&model, loss, rows, penalty);
    let w: Vec<f64> = w.iter().map(|w| w.to_f64()).collect();
    let mut grad = vec![0.0; w.len()];
    let value = exact.proven_value(&w, &mut grad);
    let bound = exact.proven_bound(&mu);
    let proof = value.proof(bound);
    assert!(proof.gap >= 0.0 && proof.gap.is_finite(), "{proof:?}");
    // The stopping rule of the run was met, and rounding is nothing beside it.
    assert!(proof.rounding < 1e-10 * value.objective, "{proof:?}");
    (value.objective, bound.unwrap().proven)
}

#[test]
fn a_bound_from_f32_is_below_the_optimum_on_offset_features() {
    for seed in 0..20 {
        let (x, y) = offset_rows(seed, 15.0, 2);
        let loss = Hinge(ZeroOne);
        let (best, _) = bound::<f64, _, _>(Binary, &loss, (&x, &y), 4.0, 1e-9);
        let (_, low) = bound::<f32, _, _>(Binary, &loss, (&x, &y), 4.0, 1e-3);
        assert!(low <= best, "seed {seed}: {low} {best}");
        assert!(low >= best - 0.02 * best, "seed {seed}: {low} {best}");
    }
}

#[test]
fn bounds_of_classes_balance_their_flows_exactly() {
    for seed in 0..6 {
        let (x, y) = offset_rows(100 + seed, 8.0, 3);
        for tol in [1e-2, 1e-3] {
            let hinge = Hinge(ZeroOne);
            let (best, _) = bound::<f64, _, _>(Classes(3), &hinge, (&x, &y), 1.0, 1e-8);
            let (_, low) = bound::<f32, _, _>(Classes(3), &hinge, (&x, &y), 1.0, tol);
            assert!(low <= best, "seed {seed}: {low} {best}");
            let logistic = Logistic(NoCost);
            let (best, _) = bound::<f64, _, _>(Classes(3), &logistic, (&x, &y), 1.0, 1e-8);
            let (_, low) = bound::<f32, _, _>(Classes(3), &logistic, (&x, &y), 1.0, tol);
            assert!(low <= best, "seed {seed}: {low} {best}");
        }
    }
}

fn columns<F: Scalar, L: OfMargin<F> + OfMargin<f64>>(
    task: &ColumnTask<'_>,
    loss: L,
    tol: f64,
) -> Proof {
    let config = Dual { stop: Stop { tol, max_passes: 3000 }, ..Dual::default() };
    let fit = dual_columns::<F, L>(task, loss, &config, &|_| ControlFlow::Continue(()));
    let proof = sum(&fit.certificates, task.report);
    assert!(proof.gap >= 0.0 && proof.gap.is_finite(), "{proof:?}");
    // Rounding does not take back what the run's own gap has reached.
    assert!(!fit.converged || proof.converged(tol), "{proof:?}");
    // The value is that of the weights.
    let w: Vec<f64> = fit.w.iter().map(|w| w.to_f64()).collect();
    let again = sum(&certify(task, loss, &w), task.report).objective;
    assert!((again - proof.objective).abs() <= 1e-12 * proof.objective, "{again} {proof:?}");
    proof
}

#[test]
fn columns_in_f32_prove_what_f64_confirms() {
    for seed in 0..6 {
        let (x, kinds) = offset_rows(200 + seed, 15.0, 3);
        for bias in [Bias::Free, Bias::Penalised, Bias::None] {
            let task = ColumnTask {
                x: &x,
                kinds: &kinds,
                weights: None,
                space: Columns::new(Signs::OneVsAll, 3),
                bias,
                l2: 1.0 / 120.0,
                report: &[1.0; 3],
                side_by_side: &[],
            };
            let best = columns::<f64, _>(&task, Hinge(ZeroOne), 1e-9).objective;
            let proof = columns::<f32, _>(&task, Hinge(ZeroOne), 1e-3);
            assert!(proof.objective - proof.gap <= best, "seed {seed}: {proof:?} above {best}");
            let best = columns::<f64, _>(&task, SquaredHinge(ZeroOne), 1e-9).objective;
            let proof = columns::<f32, _>(&task, SquaredHinge(ZeroOne), 1e-3);
            assert!(proof.objective - proof.gap <= best, "seed {seed}: {proof:?} above {best}");
        }
    }
}
