//! OWL-QN and proximal gradient descent on the lasso, against coordinate descent.

mod problems;

use lineal_linalg::Scalar;
use lineal_solver::{Gd, GdStep, L1, Lbfgs, Outcome, Stop, gd, lbfgs, lbfgs_from, silent};
use problems::Fit;
use proptest::prelude::*;

/// Cyclic coordinate descent until nothing moves: slow and obvious.
fn by_coordinates(f: &Fit) -> Vec<f64> {
    let mut w = vec![0.0; f.n];
    let mut residual: Vec<f64> = f.y.iter().map(|y| -y).collect();
    loop {
        let mut moved = 0.0f64;
        for j in 0..f.n {
            let column = f.x.iter().skip(j).step_by(f.n);
            let curvature: f64 = column.clone().map(|x| x * x).sum::<f64>() + f.l2;
            let slope: f64 =
                column.clone().zip(&residual).map(|(x, r)| x * r).sum::<f64>() + f.l2 * w[j];
            let by = if j < f.l1.until { f.l1.l1 } else { 0.0 };
            let free = curvature * w[j] - slope;
            let new = free.signum() * (free.abs() - by).max(0.0) / curvature;
            column.zip(&mut residual).for_each(|(x, r)| *r += x * (new - w[j]));
            moved = moved.max((new - w[j]).abs());
            w[j] = new;
        }
        if moved < 1e-14 {
            return w;
        }
    }
}

fn lasso(n_rows: usize, n: usize, l1: f64, seed: u64) -> Fit {
    let mut f = Fit::new(n_rows, n, seed);
    // The last weight is a free bias.
    f.l1 = L1 { l1, until: n - 1 };
    f
}

fn by_lbfgs<F: Scalar>(f: &mut Fit, w: &mut [F], tol: f64) -> Outcome {
    let stop = Stop { tol, max_passes: 20_000 };
    lbfgs(&Lbfgs { stop, ..Lbfgs::default() }, f, w, &mut silent()).unwrap()
}

fn zeros(w: &[f64]) -> Vec<usize> {
    (0..w.len()).filter(|&j| w[j] == 0.0).collect()
}

#[test]
fn owl_qn_agrees_with_coordinate_descent() {
    let mut some_zeros = 0;
    for seed in 0..20 {
        let l1 = [0.1, 0.5, 2.0, 5.0][seed as usize % 4];
        let mut f = lasso(40, 25, l1, seed);
        let best = by_coordinates(&f);
        let mut w = vec![0.0; 25];
        let outcome = by_lbfgs(&mut f, &mut w, 1e-9);
        assert!(outcome.converged, "{seed}: {outcome:?}");
        let (value, least) = (f.value(&w), f.value(&best));
        assert!((outcome.value - value).abs() < 1e-12 * value, "{seed}: {outcome:?} but {value}");
        assert!(value - least <= 1e-8 * least, "{seed}: {value} above {least}");
        assert_eq!(zeros(&w), zeros(&best), "{seed}");
        some_zeros += zeros(&w).len();
    }
    assert!(some_zeros > 50, "the test has nothing to find");
}

#[test]
fn a_known_diagonal_saves_passes_where_columns_differ_in_scale() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..8 {
        let l1 = [0.0, 0.1][seed as usize % 2];
        let mut f = lasso(40, 25, l1, seed);
        for (at, x) in f.x.iter_mut().enumerate() {
            *x *= 10f64.powi((at % 25 % 4) as i32 - 2);
        }
        f.l2 = 1e-3;
        let best = f.value(&by_coordinates(&f));
        let squares = |j: usize| f.x.iter().skip(j).step_by(25).map(|x| x * x).sum::<f64>();
        let inverse: Vec<f64> = (0..25).map(|j| 1.0 / (squares(j) + f.l2)).collect();
        let config = Lbfgs { stop: Stop { tol: 1e-9, max_passes: 20_000 }, ..Lbfgs::default() };
        for (inverse, passes) in [(Some(&inverse[..]), &mut with), (None, &mut without)] {
            let mut w = vec![0.0; 25];
            let outcome = lbfgs_from(&config, inverse, &mut f, &mut w, &mut silent()).unwrap();
            assert!(
                outcome.converged && outcome.value - best <= 1e-7 * best,
                "{seed}: {outcome:?}"
            );
            *passes += outcome.passes;
        }
    }
    assert!(with < without, "{with} passes with the diagonal, {without} without");
}

#[test]
fn starts_anywhere_and_leaves_the_bias_alone() {
    let mut f = lasso(40, 10, 1e3, 3);
    let mut w: Vec<f64> = problems::noise(10, 8);
    assert!(by_lbfgs(&mut f, &mut w, 1e-10).converged);
    assert!(w[..9].iter().all(|&w| w == 0.0) && w[9] != 0.0, "{w:?}");
    // Where all penalised weights belong at 0 and there is nothing else, the start is the end.
    f.l1.until = 10;
    let mut w = vec![0.0; 10];
    let outcome = by_lbfgs(&mut f, &mut w, 1e-10);
    assert!(outcome.converged && outcome.passes == 1 && outcome.grad_norm == Some(0.0));
}

#[test]
fn proximal_gradient_finds_the_same() {
    let mut f = lasso(40, 25, 2.0, 5);
    let best = by_coordinates(&f);
    for step in [GdStep::Backtracking, GdStep::Fixed(0.02)] {
        let mut w = vec![0.0; 25];
        let stop = Stop { tol: 1e-9, max_passes: 100_000 };
        let outcome = gd(&Gd { step, stop }, &mut f, &mut w, &mut silent()).unwrap();
        assert!(outcome.converged, "{step:?}: {outcome:?}");
        assert!(f.value(&w) - f.value(&best) <= 1e-8 * f.value(&best), "{step:?}");
        assert_eq!(zeros(&w), zeros(&best), "{step:?}");
    }
}

#[test]
fn single_precision_too() {
    let mut f = lasso(40, 25, 2.0, 5);
    let best = by_coordinates(&f);
    let mut w = vec![0f32; 25];
    let outcome = by_lbfgs(&mut f, &mut w, 1e-5);
    assert!(outcome.converged, "{outcome:?}");
    let least = f.value(&best);
    assert!((outcome.value - least).abs() <= 1e-5 * least);
}

proptest! {
    #[test]
    fn more_weights_than_rows(n in 2usize..60, n_rows in 5usize..30, l1 in 0.05f64..3.0, seed: u64) {
        let mut f = lasso(n_rows, n, l1, seed);
        f.l2 = 0.01;
        let mut w = vec![0.0; n];
        let outcome = by_lbfgs(&mut f, &mut w, 1e-9);
        prop_assert!(outcome.converged, "{:?}", outcome);
        let least = f.value(&by_coordinates(&f));
        prop_assert!(outcome.value - least <= 1e-8 * least.max(1e-3), "{:?} above {}", outcome, least);
    }
}
