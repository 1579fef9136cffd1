//! Columns trained side by side are the optima of their own problems, and say so truthfully.
#![allow(missing_docs, reason = "a test")]

use lineal_erm::Proof;
use lineal_erm::columns::{ColumnTask, certify, dual};
use lineal_erm::{Erm, Penalty, Rows};
use lineal_linalg::{Csr, Matrix, Scalar};
use lineal_loss::{DualLoss, Hinge, Logistic, OfMargin, SquaredHinge};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, Columns, Signs};
use lineal_model::{Bias, Linear, Model};
use lineal_solver::{Dual, Lbfgs, Stop, lbfgs, silent};
use std::ops::ControlFlow;

const L2: f64 = 0.02;

/// Rows of words: some in many rows, the last in one row only. Every class has rows.
fn rows(n: usize, shared: u32, alone: usize, k: usize) -> (Matrix, Vec<u32>) {
    let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
    let mut next = shared;
    let kinds: Vec<u32> = (0..n).map(|i| (i * 7 % k) as u32).collect();
    for (i, &kind) in kinds.iter().enumerate() {
        for j in 0..shared {
            let draw = (i * 2654435761 + j as usize * 40503 + kind as usize * 9973) % 1009;
            if draw.is_multiple_of(5) || j as usize % k == kind as usize {
                idx.push(j);
                val.push(draw as f32 / 1009.0 + 0.1);
            }
        }
        for _ in 0..if i.is_multiple_of(3) { alone } else { 0 } {
            idx.push(next);
            val.push(0.3 + (next % 7) as f32 / 10.0);
            next += 1;
        }
        indptr.push(idx.len());
    }
    (Matrix::Sparse(Csr::new(next as usize, indptr, idx, val).unwrap()), kinds)
}

fn config(tol: f64) -> Dual {
    Dual { stop: Stop { tol, max_passes: 20_000 }, ..Dual::default() }
}

/// Column `l` of the weights, and its objective by plain sums.
fn objective<F: Scalar>(
    task: &ColumnTask<'_>,
    w: &[F],
    l: usize,
    loss: impl Fn(f64) -> f64,
) -> (Vec<f64>, f64) {
    let k = task.space.len();
    let own: Vec<f64> = w.chunks_exact(k).map(|w| w[l].to_f64()).collect();
    let d = task.x.n_cols();
    let bias = own.get(d).copied().unwrap_or(0.0);
    let n = task.x.n_rows();
    let mut sum = 0.0;
    for i in 0..n {
        let mut score = bias;
        task.x.row(i).for_each(|j, x| score += f64::from(x) * own[j]);
        sum += loss(if task.kinds[i] as usize == l { score } else { -score }) / n as f64;
    }
    let penalised = if task.bias == Bias::Penalised { &own[..] } else { &own[..d] };
    let norm: f64 = penalised.iter().map(|w| w * w).sum();
    (own, sum + 0.5 * task.l2 * norm)
}

/// The optimum of one column, by L-BFGS.
fn optimum<L: DualLoss<f64, Binary>>(task: &ColumnTask<'_>, loss: &L, l: usize) -> f64 {
    let model = Linear::new(task.x.n_cols(), Binary, task.bias);
    let y: Vec<u32> = task.kinds.iter().map(|&kind| u32::from(kind as usize == l)).collect();
    let penalty = Penalty { l2: task.l2, l1: 0.0 };
    let mut erm = Erm::new(&model, loss, Rows::new(task.x, &y, None), penalty);
    let mut w = vec![0.0; Model::<f64>::dim(&model)];
    let lbfgs_config = Lbfgs { stop: Stop { tol: 1e-12, max_passes: 2000 }, ..Default::default() };
    lbfgs(&lbfgs_config, &mut erm, &mut w, &mut silent()).unwrap().value
}

fn agrees<F: Scalar, L: OfMargin<F> + OfMargin<f64> + Copy>(
    task: &ColumnTask<'_>,
    loss: L,
    tol: f64,
    optimum: Option<&dyn Fn(usize) -> f64>,
) {
    let fit = dual::<F, L>(task, loss, &config(tol), &|_| ControlFlow::Continue(()));
    assert!(fit.converged);
    let k = task.space.len();
    assert_eq!(fit.w.len() % k, 0);
    let (mut sum, mut gaps) = (0.0, 0.0);
    for (l, &Proof { objective: value, gap, .. }) in fit.certificates.iter().enumerate() {
        let plain = |m: f64| OfMargin::<f64>::value_slope(&loss, m).0;
        let (_, exact) = objective(task, &fit.w, l, plain);
        assert!((exact - value).abs() <= 1e-12 * exact.abs().max(1e-3), "{exact} {value}");
        (sum, gaps) = (sum + value, gaps + gap);
        if let Some(optimum) = optimum {
            let best = optimum(l);
            // What is said of the distance is true, and no less than the distance of rounded weights.
            assert!(value - gap <= best * (1.0 + 1e-9), "column {l}: {value} − {gap} above {best}");
        }
    }
    assert!(gaps <= tol * sum);
    // The bound that weights alone give, in f64, is worse but no lower.
    let w: Vec<f64> = fit.w.iter().map(|w| w.to_f64()).collect();
    for (own, alone) in fit.certificates.iter().zip(certify(task, loss, &w)) {
        let size = own.objective.abs().max(1e-3);
        assert!((own.objective - alone.objective).abs() <= 1e-12 * size);
        assert!(alone.objective - alone.gap <= own.objective + 1e-12);
    }
}

#[test]
fn every_width_and_bias_reaches_the_optimum_that_it_claims() {
    for (k, alone) in [(2, 0), (3, 2), (9, 1), (17, 3), (20, 2), (24, 0), (25, 2), (41, 1)] {
        let (x, kinds) = rows(5 * k + 20, 30, alone, k);
        for bias in [Bias::Free, Bias::Penalised, Bias::None] {
            let task = ColumnTask {
                x: &x,
                kinds: &kinds,
                weights: None,
                space: Columns::new(Signs::OneVsAll, k),
                bias,
                l2: L2,
                report: &vec![1.0; k],
                side_by_side: &[],
            };
            let squared = SquaredHinge(ZeroOne);
            let best: Vec<f64> = (0..k).map(|l| optimum(&task, &squared, l)).collect();
            agrees::<f64, _>(&task, squared, 1e-9, Some(&|l| best[l]));
            agrees::<f32, _>(&task, squared, 1e-4, Some(&|l| best[l]));
            let logistic = Logistic(NoCost);
            agrees::<f32, _>(&task, logistic, 1e-3, Some(&|l| optimum(&task, &logistic, l)));
            agrees::<f64, _>(&task, Hinge(ZeroOne), 1e-5, None);
        }
    }
}

#[test]
fn a_part_of_the_rows_alone_gives_the_weights_of_all_features() {
    // One block over two of many kinds: it is trained on a copy of its rows, over the features that occur there.
    let (x, kinds) = rows(60, 20, 2, 6);
    let table: Vec<f64> = (0..6).map(|kind| [1.0, -1.0, 0.0, 0.0, 0.0, 0.0][kind]).collect();
    let task = ColumnTask {
        x: &x,
        kinds: &kinds,
        weights: None,
        space: Columns::new(Signs::Table { table: &table, n_columns: 1 }, 1),
        bias: Bias::Free,
        l2: L2,
        report: &[1.0],
        side_by_side: &[],
    };
    let see = |_| ControlFlow::Continue(());
    let fit = dual::<f64, _>(&task, SquaredHinge(ZeroOne), &config(1e-10), &see);
    assert_eq!(fit.w.len(), x.n_cols() + 1);
    let Proof { objective, gap, .. } = certify(&task, SquaredHinge(ZeroOne), &fit.w)[0];
    let own = fit.certificates[0].objective;
    assert!((objective - own).abs() < 1e-12 && gap < 1e-5, "{objective} {gap}");
}
