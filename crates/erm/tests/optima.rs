//! Gaps are bounds, and solvers reach the optimum by them.
#![allow(missing_docs, reason = "a test")]

mod small;

use lineal_erm::{Dually, Erm, Penalty, Rows};
use lineal_linalg::{Csr, Matrix};
use lineal_loss::{DualLoss, Hinge, Logistic, SecondOrder};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, OutputSpace};
use lineal_model::{Bias, Linear, Model};
use lineal_solver::{Dual, Lbfgs, Newton, Objective, Outcome, Stop, dual, lbfgs, newton, silent};
use small::{BIASES, Small, every_loss, every_smooth_loss, noise, small};

const L2: Penalty = Penalty { l2: 0.05, l1: 0.0 };

fn by_dual<S, L>(
    model: &Linear<S>,
    loss: &L,
    rows: Rows<'_, S::Output>,
    penalty: Penalty,
    tol: f64,
) -> (Vec<f64>, Outcome)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S>,
{
    let mut erm = Erm::new(model, loss, rows, penalty);
    let mut problem = Dually::new(&mut erm);
    let (mut w, mut mu) = (vec![0.0; Model::<f64>::dim(model)], vec![0.0; problem.n_dual()]);
    let config = Dual { stop: Stop { tol, max_passes: 20_000 }, ..Dual::default() };
    let outcome = dual(&config, &mut problem, &mut mu, &mut w, &mut silent());
    (w, outcome)
}

/// P(w) − gap(w) ≤ P(u) for any u, the optimum included.
fn bound<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small, bias: Bias)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S>,
{
    let model = Linear::new(data.x.n_cols(), space, bias);
    let rows = Rows::new(&data.x, y, Some(&data.weights));
    let dim = Model::<f64>::dim(&model);
    let (best, _) = by_dual(&model, loss, rows, L2, 1e-10);
    for penalty in [L2, Penalty { l2: 0.05, l1: 0.02 }, Penalty { l2: 0.0, l1: 0.05 }] {
        let mut erm = Erm::new(&model, loss, rows, penalty);
        let mut points: Vec<Vec<f64>> = (0..4).map(|seed| noise(dim, 20 + seed)).collect();
        points.push(vec![0.0; dim]);
        points.push(best.clone());
        points.push(best.iter().map(|w| 0.9 * w + 1e-3).collect());
        let values: Vec<f64> = points.iter().map(|w| erm.objective(w)).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        for (w, value) in points.iter().zip(&values) {
            let mut grad = vec![0.0; dim];
            erm.value_grad(w, &mut grad);
            let gap = erm.gap(w, &grad, f64::INFINITY).expect("a penalty has a dual");
            assert!(
                gap.is_finite() && gap >= 0.0,
                "{name}, bias {bias:?}, {penalty:?}: a gap of {gap}"
            );
            assert!(
                value - gap <= least + 1e-9,
                "{name}, bias {bias:?}, {penalty:?}: {} claimed, {least} reached",
                value - gap
            );
        }
    }
}

#[test]
fn the_gap_never_claims_too_much() {
    for seed in [31, 32] {
        let data = small(16, 4, seed);
        for bias in BIASES {
            every_loss!(bound, &data, &data, bias);
        }
    }
}

fn reach<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small, bias: Bias)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S>,
{
    let model = Linear::new(data.x.n_cols(), space, bias);
    for weights in [None, Some(data.weights.as_slice())] {
        for l2 in [1.0, 0.01] {
            let rows = Rows::new(&data.x, y, weights);
            let penalty = Penalty { l2, l1: 0.0 };
            let (w, outcome) = by_dual(&model, loss, rows, penalty, 1e-8);
            let what = format!("{name}, bias {bias:?}, l2 {l2}, weights {}", weights.is_some());
            assert!(outcome.converged, "{what}: {outcome:?}");
            assert!(outcome.gap.expect("a gap") <= 1e-8 * outcome.value, "{what}: {outcome:?}");
            let value = Erm::new(&model, loss, rows, penalty).objective(&w);
            assert!(
                (value - outcome.value).abs() <= 1e-12,
                "{what}: {value}, told {}",
                outcome.value
            );
        }
    }
}

#[test]
fn the_dual_closes_the_gap_of_every_loss() {
    let data = small(24, 4, 41);
    for bias in BIASES {
        every_loss!(reach, &data, &data, bias);
    }
}

fn agree<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small, bias: Bias)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S> + SecondOrder<f64, S>,
{
    let what = format!("{name}, bias {bias:?}");
    let model = Linear::new(data.x.n_cols(), space, bias);
    let rows = Rows::new(&data.x, y, Some(&data.weights));
    let (_, by_dual) = by_dual(&model, loss, rows, L2, 1e-9);
    let stop = Stop { tol: 1e-9, max_passes: 5000 };
    let mut erm = Erm::new(&model, loss, rows, L2);
    let zeros = vec![0.0; Model::<f64>::dim(&model)];
    let mut w = zeros.clone();
    let config = Newton { stop, ..Newton::default() };
    let by_newton = newton(&config, &mut erm, &mut w, &mut silent()).expect("a finite objective");
    let mut w = zeros.clone();
    let config = Newton { dense_up_to: 0, ..config };
    let by_products = newton(&config, &mut erm, &mut w, &mut silent()).expect("a finite objective");
    let mut w = zeros;
    let config = Lbfgs { stop, ..Lbfgs::default() };
    let by_lbfgs = lbfgs(&config, &mut erm, &mut w, &mut silent()).expect("a finite objective");
    for other in [by_newton, by_products, by_lbfgs] {
        assert!(other.converged, "{what}: {other:?}");
        assert!(
            (other.value - by_dual.value).abs() <= 1e-7 * by_dual.value,
            "{what}: {other:?} {by_dual:?}"
        );
    }
}

#[test]
fn newton_lbfgs_and_dual_agree_on_smooth_losses() {
    let data = small(24, 4, 42);
    for bias in BIASES {
        every_smooth_loss!(agree, &data, &data, bias);
    }
}

fn sparse<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small, bias: Bias)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S> + SecondOrder<f64, S>,
{
    let model = Linear::new(data.x.n_cols(), space, bias);
    let stop = Stop { tol: 1e-8, max_passes: 20_000 };
    for penalty in [Penalty { l2: 0.05, l1: 0.02 }, Penalty { l2: 0.0, l1: 0.03 }] {
        let mut erm = Erm::new(&model, loss, Rows::new(&data.x, y, None), penalty);
        let mut w = vec![0.0; Model::<f64>::dim(&model)];
        let config = Lbfgs { stop, ..Lbfgs::default() };
        let outcome = lbfgs(&config, &mut erm, &mut w, &mut silent()).expect("a finite objective");
        assert!(
            outcome.converged && outcome.gap.is_some(),
            "{name}, bias {bias:?}, {penalty:?}: {outcome:?}"
        );
    }
}

#[test]
fn l1_runs_end_with_a_gap() {
    let data = small(24, 4, 43);
    for bias in BIASES {
        every_smooth_loss!(sparse, &data, &data, bias);
    }
}

/// Rows without weight or features leave the optimum where it is (but for a free bias, which an empty row may move).
fn harmless<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small, bias: Bias)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S>,
{
    let model = Linear::new(data.x.n_cols(), space, bias);
    let kept: Vec<usize> = (0..y.len()).filter(|&i| data.weights[i] > 0.0).collect();
    let (x, weights) =
        (data.x.select(&kept), kept.iter().map(|&i| data.weights[i]).collect::<Vec<f32>>());
    let y_kept: Vec<S::Output> = kept.iter().map(|&i| y[i]).collect();
    let (_, with) = by_dual(&model, loss, Rows::new(&data.x, y, Some(&data.weights)), L2, 1e-9);
    let (_, without) = by_dual(&model, loss, Rows::new(&x, &y_kept, Some(&weights)), L2, 1e-9);
    assert!(with.converged && without.converged, "{name}, bias {bias:?}: {with:?} {without:?}");
    let difference = (with.value - without.value).abs();
    assert!(difference <= 2e-9 * with.value, "{name}, bias {bias:?}: {with:?} {without:?}");
}

#[test]
fn rows_without_weight_do_not_count() {
    let data = small(16, 4, 44);
    assert!(data.weights.contains(&0.0));
    for bias in BIASES {
        every_loss!(harmless, &data, &data, bias);
    }
}

#[test]
fn rows_without_features_cost_what_the_bias_cannot_mend() {
    // Three empty rows of class 1 and one of class 0: no feature can help, so the bias alone answers.
    let x = Matrix::Sparse(Csr::new(2, vec![0; 5], vec![], vec![]).expect("empty rows"));
    let y = [1, 1, 1, 0];
    for (bias, hinge, logistic) in [
        (Bias::None, 1.0, 2f64.ln()),
        // b = 1: the lone class 0 pays 2. The best odds are 3 : 1.
        (Bias::Free, 0.5, -(0.75 * 0.75f64.ln() + 0.25 * 0.25f64.ln())),
    ] {
        let model = Linear::new(2, Binary, bias);
        let rows = Rows::new(&x, &y, None);
        let (w, outcome) = by_dual(&model, &Hinge(ZeroOne), rows, L2, 1e-9);
        assert!(outcome.converged && (outcome.value - hinge).abs() < 1e-8, "{bias:?}: {outcome:?}");
        assert!(w[..4 / 2].iter().all(|&w| w == 0.0), "{w:?}");
        let (_, outcome) = by_dual(&model, &Logistic(NoCost), rows, L2, 1e-9);
        assert!(
            outcome.converged && (outcome.value - logistic).abs() < 1e-8,
            "{bias:?}: {outcome:?}"
        );
    }
}
