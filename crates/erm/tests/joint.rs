//! Joint features: the multivector model as a special case, derivatives, and every solver at the same optimum.
#![allow(missing_docs, reason = "a test")]

mod small;

use lineal_erm::{Dually, Erm, Penalty, Rows, Stochastically};
use lineal_linalg::{Dense, Matrix};
use lineal_loss::{DualLoss, Hinge, Logistic, SecondOrder, Squared, SquaredHinge, SumHinge};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::Classes;
use lineal_model::{Bias, Joint, Linear, Model};
use lineal_solver::{
    CurvedObjective, Dual, Lbfgs, Newton, Objective, Sgd, Stop, dual, lbfgs, newton, sgd, silent,
};
use small::{BIASES, noise, small};

const PENALTY: Penalty = Penalty { l2: 0.05, l1: 0.0 };

/// Two columns that see whole classes, two that see classes 0 and 2 as one, one that sees all classes as one.
fn shared(bias: Bias) -> Joint {
    Joint::new(3, [(2, vec![0, 1, 2]), (2, vec![0, 1, 0]), (1, vec![0, 0, 0])], bias).unwrap()
}

/// Ψ(x, y) as rows of a dense matrix, from what the model says about single weights.
fn psi(model: &Joint, x: &Matrix, i: usize) -> Vec<Vec<f64>> {
    let mut psi = vec![vec![0.0; model.n_weights()]; 3];
    for (class, psi) in psi.iter_mut().enumerate() {
        x.row(i).for_each(|j, v| psi[model.at(j, class)] += f64::from(v));
        if let Some(at) = model.bias_weights().nth(class) {
            psi[at] += 1.0;
        }
    }
    psi
}

fn dense(x: &Matrix) -> Matrix {
    let mut values = vec![0.0; x.n_rows() * x.n_cols()];
    for i in 0..x.n_rows() {
        x.row(i).for_each(|j, v| values[i * x.n_cols() + j] = v);
    }
    Matrix::Dense(Dense::new(x.n_rows(), x.n_cols(), values).unwrap())
}

#[test]
fn scores_are_products_with_psi_and_gradients_its_transpose() {
    let data = small(8, 5, 3);
    for bias in BIASES {
        let model = shared(bias);
        let w = noise(model.n_weights(), 4);
        for x in [data.x.clone(), dense(&data.x)] {
            for i in 0..x.n_rows() {
                let psi = psi(&model, &x, i);
                let mut scores = [0.0f64; 3];
                model.scores(x.row(i), &w, &mut scores);
                for (score, psi) in scores.iter().zip(&psi) {
                    let want: f64 = psi.iter().zip(&w).map(|(p, w)| p * w).sum();
                    assert!((score - want).abs() < 1e-12);
                }
                let parts = [0.5, -2.0, 1.5f64];
                let mut grad = vec![0.0; w.len()];
                model.accumulate(x.row(i), &parts, &mut lineal_linalg::DenseSink(&mut grad));
                let mut squares = vec![0.0; w.len()];
                model.accumulate_squares(x.row(i), &parts, &mut squares);
                for j in 0..w.len() {
                    let want: f64 = (0..3).map(|y| psi[y][j] * parts[y]).sum();
                    assert!((grad[j] - want).abs() < 1e-12);
                    let want: f64 = (0..3).map(|y| psi[y][j] * psi[y][j] * parts[y]).sum();
                    assert!((squares[j] - want).abs() < 1e-12);
                }
                // uᵀΨΨᵀu ≤ c·‖u‖² over the penalised weights.
                let n = Model::<f64>::n_penalised(&model);
                let norm: f64 = grad[..n].iter().map(|g| g * g).sum();
                let bound = Model::<f64>::isotropy(&model, x.row(i)).unwrap();
                assert!(norm <= bound * parts.iter().map(|p| p * p).sum::<f64>() + 1e-9);
            }
        }
    }
}

fn hessian<L: DualLoss<f64, Classes> + SecondOrder<f64, Classes>>(loss: &L, bias: Bias) {
    let data = small(12, 5, 6);
    let model = shared(bias);
    let rows = Rows::new(&data.x, &data.three, Some(&data.weights));
    let mut erm = Erm::new(&model, loss, rows, PENALTY);
    let dim = model.n_weights();
    let (w, dir) = (noise(dim, 7), noise(dim, 8));
    let moved = |t: f64| -> Vec<f64> { w.iter().zip(&dir).map(|(w, d)| w + t * d).collect() };
    let (mut after, mut before, mut product) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
    erm.value_grad(&moved(1e-6), &mut after);
    erm.value_grad(&moved(-1e-6), &mut before);
    erm.curve_at(&w);
    erm.hess_vec(&dir, &mut product);
    let mut all = vec![0.0; dim * dim];
    erm.hessian(&mut all);
    for j in 0..dim {
        assert!(((after[j] - before[j]) / 2e-6 - product[j]).abs() < 1e-5);
        let row: f64 = all[j * dim..(j + 1) * dim].iter().zip(&dir).map(|(h, d)| h * d).sum();
        assert!((row - product[j]).abs() < 1e-10, "{row}, not {}", product[j]);
    }
}

#[test]
fn hessians_match_finite_differences() {
    for bias in BIASES {
        hessian(&Logistic(NoCost), bias);
        hessian(&Squared, bias);
    }
}

#[test]
fn the_multivector_model_is_a_special_case() {
    let data = small(20, 4, 9);
    for bias in BIASES {
        let joint = Joint::multivector(3, 4, bias).unwrap();
        let linear = Linear::new(4, Classes(3), bias);
        let w = noise(joint.n_weights(), 10);
        assert_eq!(joint.n_weights(), Model::<f64>::dim(&linear));
        for x in [&data.x, &dense(&data.x)] {
            let rows = Rows::new(x, &data.three, Some(&data.weights));
            let loss = Logistic(NoCost);
            let (mut a, mut b) = (vec![0.0; w.len()], vec![0.0; w.len()]);
            let value = Erm::new(&joint, &loss, rows, PENALTY).value_grad(&w, &mut a);
            assert_eq!(value, Erm::new(&linear, &loss, rows, PENALTY).value_grad(&w, &mut b));
            assert_eq!(a, b);
            // The same steps, bit for bit.
            let train = |w: &mut [f64], which: bool| {
                let config = Dual { stop: Stop { tol: 1e-6, max_passes: 5000 }, ..Dual::default() };
                if which {
                    let mut erm = Erm::new(&joint, &loss, rows, PENALTY);
                    let mut problem = Dually::new(&mut erm);
                    let mut mu = vec![0.0; problem.n_dual()];
                    dual(&config, &mut problem, &mut mu, w, &mut silent())
                } else {
                    let mut erm = Erm::new(&linear, &loss, rows, PENALTY);
                    let mut problem = Dually::new(&mut erm);
                    let mut mu = vec![0.0; problem.n_dual()];
                    dual(&config, &mut problem, &mut mu, w, &mut silent())
                }
            };
            let (mut a, mut b) = (vec![0.0; w.len()], vec![0.0; w.len()]);
            assert!(train(&mut a, true).converged && train(&mut b, false).converged);
            assert_eq!(a, b);
        }
    }
}

fn by_dual<L: DualLoss<f64, Classes>>(name: &str, loss: &L, bias: Bias) -> f64 {
    let data = small(24, 5, 11);
    let model = shared(bias);
    let mut erm = Erm::new(&model, loss, Rows::new(&data.x, &data.three, None), PENALTY);
    let mut problem = Dually::new(&mut erm);
    let (mut w, mut mu) = (vec![0.0; model.n_weights()], vec![0.0; problem.n_dual()]);
    let config = Dual { stop: Stop { tol: 1e-5, max_passes: 50_000 }, ..Dual::default() };
    let outcome = dual(&config, &mut problem, &mut mu, &mut w, &mut silent());
    assert!(outcome.converged, "{name}, bias {bias:?}: a gap of {:?}", outcome.gap);
    outcome.value
}

#[test]
fn every_loss_is_certified_by_the_dual_though_classes_share_weights() {
    for bias in BIASES {
        by_dual("hinge", &Hinge(ZeroOne), bias);
        by_dual("sum hinge", &SumHinge(ZeroOne), bias);
        by_dual("squared hinge", &SquaredHinge(ZeroOne), bias);
        by_dual("squared", &Squared, bias);
        let value = by_dual("softmax", &Logistic(NoCost), bias);

        let data = small(24, 5, 11);
        let model = shared(bias);
        let rows = Rows::new(&data.x, &data.three, None);
        let loss = Logistic(NoCost);
        let mut erm = Erm::new(&model, &loss, rows, PENALTY);
        let mut w = vec![0.0; model.n_weights()];
        let stop = Stop { tol: 1e-8, max_passes: 500 };
        newton(&Newton { stop, ..Newton::default() }, &mut erm, &mut w, &mut silent()).unwrap();
        assert!((erm.objective(&w) - value).abs() < 1e-4 * value);
        let mut w = vec![0.0; model.n_weights()];
        lbfgs(&Lbfgs { stop, ..Lbfgs::default() }, &mut erm, &mut w, &mut silent()).unwrap();
        assert!((erm.objective(&w) - value).abs() < 1e-4 * value);
        let mut w = vec![0.0; model.n_weights()];
        let config = Sgd { epochs: 300, rate: 0.1, l2: PENALTY.l2, ..Sgd::default() };
        sgd(&config, &Stochastically(&erm), &mut w, &mut silent()).unwrap();
        assert!((erm.objective(&w) - value).abs() < 0.02 * value);
    }
}

#[test]
fn groups_that_make_no_sense_are_refused() {
    let refused = |groups: Vec<u32>| Joint::new(3, [(1, groups)], Bias::Free).unwrap_err();
    assert_eq!(refused(vec![0, 1]), "groups of 2 classes, not of 3");
    assert!(refused(vec![0, 0, 2]).contains("groups"));
    assert!(refused(vec![0, 1, 7]).contains("beyond"));
    assert!(Joint::new(2, [(usize::MAX, vec![0, 1])], Bias::Free).unwrap_err().contains("many"));
}
