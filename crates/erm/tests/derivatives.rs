//! The risk's gradient and Hessian, and what weights mean.
#![allow(missing_docs, reason = "a test")]

mod small;

use lineal_erm::{Erm, Penalty, Rows};
use lineal_linalg::Matrix;
use lineal_loss::{DualLoss, SecondOrder};
use lineal_model::space::OutputSpace;
use lineal_model::{Bias, Linear, Model};
use lineal_solver::{CurvedObjective, Objective};
use small::{BIASES, Small, every_loss, every_smooth_loss, noise, small};

const PENALTY: Penalty = Penalty { l2: 0.3, l1: 0.0 };

fn moved(w: &[f64], dir: &[f64], t: f64) -> Vec<f64> {
    w.iter().zip(dir).map(|(w, d)| w + t * d).collect()
}

fn assert_close(got: f64, wanted: f64, tol: f64, what: &str) {
    assert!((got - wanted).abs() <= tol * (1.0 + wanted.abs()), "{what}: {got}, not {wanted}");
}

fn gradient<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small, bias: Bias)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S>,
{
    let model = Linear::new(data.x.n_cols(), space, bias);
    for weights in [None, Some(data.weights.as_slice())] {
        let mut erm = Erm::new(&model, loss, Rows::new(&data.x, y, weights), PENALTY);
        let dim = Model::<f64>::dim(&model);
        let (w, dir) = (noise(dim, 5), noise(dim, 6));
        let mut grad = vec![0.0; dim];
        let value = erm.value_grad(&w, &mut grad);
        assert_close(erm.objective(&w), value, 1e-12, name);
        let slope: f64 = grad.iter().zip(&dir).map(|(g, d)| g * d).sum();
        let h = 1e-6;
        let (after, before) =
            (erm.objective(&moved(&w, &dir, h)), erm.objective(&moved(&w, &dir, -h)));
        let (right, left) = ((after - value) / h, (value - before) / h);
        assert!((right - left).abs() < 1e-3, "{name}: pick weights that are no kink");
        assert_close((after - before) / (2.0 * h), slope, 1e-6, &format!("{name}, bias {bias:?}"));
    }
}

#[test]
fn gradients_match_finite_differences() {
    let data = small(12, 4, 1);
    for bias in BIASES {
        every_loss!(gradient, &data, &data, bias);
    }
}

fn hessian<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small, bias: Bias)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S> + SecondOrder<f64, S>,
{
    let what = &format!("{name}, bias {bias:?}");
    let model = Linear::new(data.x.n_cols(), space, bias);
    for weights in [None, Some(data.weights.as_slice())] {
        let mut erm = Erm::new(&model, loss, Rows::new(&data.x, y, weights), PENALTY);
        let dim = Model::<f64>::dim(&model);
        let (w, dir) = (noise(dim, 7), noise(dim, 8));
        let (mut after, mut before, mut product) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
        let h = 1e-6;
        erm.value_grad(&moved(&w, &dir, h), &mut after);
        erm.value_grad(&moved(&w, &dir, -h), &mut before);
        erm.curve_at(&w);
        erm.hess_vec(&dir, &mut product);
        for j in 0..dim {
            assert_close((after[j] - before[j]) / (2.0 * h), product[j], 1e-6, what);
        }

        let (mut diagonal, mut all) = (vec![0.0; dim], vec![0.0; dim * dim]);
        erm.hess_diag(&mut diagonal);
        erm.hessian(&mut all);
        for j in 0..dim {
            let mut unit = vec![0.0; dim];
            unit[j] = 1.0;
            erm.hess_vec(&unit, &mut product);
            assert_close(diagonal[j], product[j], 1e-13, what);
            for i in 0..dim {
                assert_close(all[j * dim + i], product[i], 1e-13, what);
            }
        }
    }
}

#[test]
fn hessians_match_finite_differences_in_all_their_forms() {
    let data = small(12, 4, 2);
    for bias in BIASES {
        every_smooth_loss!(hessian, &data, &data, bias);
    }
}

/// Each row as often as its weight says.
fn repeated<Y: Copy>(data: &Small, y: &[Y]) -> (Matrix, Vec<Y>) {
    let times = |i: usize| std::iter::repeat_n(i, data.weights[i] as usize);
    let rows: Vec<usize> = (0..y.len()).flat_map(times).collect();
    (data.x.select(&rows), rows.iter().map(|&i| y[i]).collect())
}

fn duplication<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small, bias: Bias)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S>,
{
    let model = Linear::new(data.x.n_cols(), space, bias);
    let (x, y_repeated) = repeated(data, y);
    let mut weighted = Erm::new(&model, loss, Rows::new(&data.x, y, Some(&data.weights)), PENALTY);
    let mut repeated = Erm::new(&model, loss, Rows::new(&x, &y_repeated, None), PENALTY);
    let dim = Model::<f64>::dim(&model);
    let w = noise(dim, 9);
    let (mut grad, mut grad_repeated) = (vec![0.0; dim], vec![0.0; dim]);
    let value = weighted.value_grad(&w, &mut grad);
    let value_repeated = repeated.value_grad(&w, &mut grad_repeated);
    assert_close(value, value_repeated, 1e-13, name);
    for j in 0..dim {
        assert_close(grad[j], grad_repeated[j], 1e-13, name);
    }
    let gap = weighted.gap(&w, &grad, f64::INFINITY).expect("an l2 penalty has a dual");
    let gap_repeated = repeated.gap(&w, &grad_repeated, f64::INFINITY).expect("the same");
    assert_close(gap, gap_repeated, 1e-11, name);
}

#[test]
fn weights_equal_duplication() {
    let data = small(14, 4, 3);
    assert!(
        data.weights.contains(&0.0) && data.weights.contains(&2.0) && data.weights.contains(&1.0)
    );
    for bias in BIASES {
        every_loss!(duplication, &data, &data, bias);
    }
}

fn bits<S, L>(name: &str, space: S, loss: &L, y: &[S::Output], data: &Small)
where
    S: OutputSpace<f64>,
    L: DualLoss<f64, S> + SecondOrder<f64, S>,
{
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let model = Linear::new(data.x.n_cols(), space, Bias::Free);
            let rows = Rows::new(&data.x, y, Some(&data.weights));
            let mut erm = Erm::new(&model, loss, rows, PENALTY);
            let dim = Model::<f64>::dim(&model);
            let (w, dir) = (noise(dim, 10), noise(dim, 11));
            let (mut grad, mut product, mut diag) =
                (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
            let mut all = vec![0.0; dim * dim];
            let value = erm.value_grad(&w, &mut grad);
            erm.curve_at(&w);
            erm.hess_vec(&dir, &mut product);
            erm.hess_diag(&mut diag);
            erm.hessian(&mut all);
            let gap = erm.gap(&w, &grad, f64::INFINITY).expect("an l2 penalty has a dual");
            let scalars = [value, gap, erm.mean_loss(&w)];
            let numbers = scalars.iter().chain(&grad).chain(&product).chain(&diag).chain(&all);
            numbers.map(|v| v.to_bits()).collect::<Vec<u64>>()
        })
    };
    assert_eq!(run(1), run(2), "{name}");
}

#[test]
fn the_same_bits_on_one_thread_and_on_two() {
    let data = small(400, 6, 4);
    every_smooth_loss!(bits, &data, &data);
}
