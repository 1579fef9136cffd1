//! The hard margin on sets small enough to solve by hand.
#![allow(missing_docs, reason = "a test")]

use lineal_erm::{Margin, Rows, Separation, hard_margin, margins};
use lineal_linalg::{Dense, Matrix};
use lineal_loss::{DualLoss, HardMargin, Hinge};
use lineal_model::cost::{Cost, CostMatrix, ZeroOne};
use lineal_model::space::{Binary, Classes};
use lineal_model::{Bias, Linear};
use lineal_solver::{Dual, Stop, silent};

fn matrix(rows: &[[f32; 2]]) -> Matrix {
    Matrix::Dense(Dense::new(rows.len(), 2, rows.concat()).expect("rows of two"))
}

fn separate<S: Margin, C>(space: S, bias: Bias, cost: &C, x: &Matrix, y: &[u32]) -> Separation
where
    C: Cost<f64, S> + Copy,
    HardMargin<C>: DualLoss<f64, S>,
    Hinge<C>: DualLoss<f64, S>,
{
    let config = Dual { stop: Stop { tol: 1e-9, max_passes: 100_000 }, ..Dual::default() };
    let model = Linear::new(2, space, bias);
    hard_margin(&model, Rows::new(x, y, None), cost, &config, &mut silent())
}

/// The weights, once they are checked to be worth `objective` with the smallest margin at 1.
fn solved<S: Margin>(space: S, bias: Bias, x: &Matrix, y: &[u32], objective: f64) -> Vec<f64>
where
    ZeroOne: Cost<f64, S>,
    HardMargin<ZeroOne>: DualLoss<f64, S>,
    Hinge<ZeroOne>: DualLoss<f64, S>,
{
    let separation = separate(space, bias, &ZeroOne, x, y);
    let Separation::Separable(w, outcome) = separation else { panic!("{bias:?}: {separation:?}") };
    assert!((outcome.value - objective).abs() < 1e-6, "{bias:?}: {outcome:?}, not {objective}");
    assert!(outcome.gap.expect("a gap") <= 1e-9 * outcome.value, "{bias:?}: {outcome:?}");
    let margins = margins(&Linear::new(2, space, bias), &Rows::new(x, y, None), &w);
    let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((least - 1.0).abs() < 1e-9, "{bias:?}: {margins:?}");
    w
}

fn assert_near(w: &[f64], wanted: &[f64]) {
    assert_eq!(w.len(), wanted.len());
    assert!(w.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-3), "{w:?}, not {wanted:?}");
}

#[test]
fn two_classes_by_hand() {
    // x₁ ≥ 3 against x₁ ≤ 1: w = (1, 0) with b = −2, also when b is part of the norm.
    let x = matrix(&[[3.0, 1.0], [3.0, -1.0], [5.0, 0.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 2.0]]);
    let y = [1, 1, 1, 0, 0, 0];
    assert_near(&solved(Binary, Bias::Free, &x, &y, 0.5), &[1.0, 0.0, -2.0]);
    assert_near(&solved(Binary, Bias::Penalised, &x, &y, 2.5), &[1.0, 0.0, -2.0]);
    // Without a bias: w₁ ≥ 1 and w₂ ≥ 1 is all that these ask for.
    let x = matrix(&[[1.0, 0.0], [0.0, 1.0], [-2.0, -2.0]]);
    assert_near(&solved(Binary, Bias::None, &x, &[1, 1, 0], 1.0), &[1.0, 1.0]);
}

#[test]
fn three_classes_by_hand() {
    // Unit vectors 120° apart: by symmetry W_c = t·x_c and b = 0, and a margin of 1.5 t = 1 gives ½·3·t² = 2/3.
    let angle = |c: u32| f64::from(c) * 2.0 * std::f64::consts::PI / 3.0;
    let unit = |c: u32| [angle(c).cos() as f32, angle(c).sin() as f32];
    let x = matrix(&[unit(0), unit(1), unit(2)]);
    for bias in [Bias::Free, Bias::Penalised, Bias::None] {
        let w = solved(Classes(3), bias, &x, &[0, 1, 2], 2.0 / 3.0);
        for c in 0..3u32 {
            let c_at = c as usize;
            let wanted = [2.0 / 3.0 * angle(c).cos(), 2.0 / 3.0 * angle(c).sin()];
            assert_near(&[w[c_at], w[3 + c_at]], &wanted);
        }
    }
}

#[test]
fn costs_are_target_margins() {
    // 3w + b ≥ 1 for class 1, −(w + b) ≥ 2 for class 0: w = 1.5, b = −3.5.
    let x = matrix(&[[3.0, 0.0], [1.0, 0.0]]);
    let cost = CostMatrix::new(2, vec![0.0, 2.0, 1.0, 0.0]).unwrap();
    let separation = separate(Binary, Bias::Free, &&cost, &x, &[1, 0]);
    let Separation::Separable(w, outcome) = separation else { panic!("{separation:?}") };
    assert!((outcome.value - 1.125).abs() < 1e-6, "{outcome:?}");
    assert_near(&w, &[1.5, 0.0, -3.5]);
}

#[test]
fn some_sets_need_a_bias() {
    let x = matrix(&[[3.0, 0.0], [1.0, 0.0]]);
    let y = [1, 0];
    assert_near(&solved(Binary, Bias::Free, &x, &y, 0.5), &[1.0, 0.0, -2.0]);
    let separation = separate(Binary, Bias::None, &ZeroOne, &x, &y);
    assert!(matches!(separation, Separation::Inseparable { .. }), "{separation:?}");
}

#[test]
fn an_inseparable_set_names_its_culprit() {
    let mut rows = vec![[3.0, 1.0], [3.0, -1.0], [4.0, 0.0], [1.0, 1.0], [1.0, -1.0], [0.0, 0.0]];
    let mut y = vec![1, 1, 1, 0, 0, 0];
    rows.push([3.5, 0.25]);
    y.push(0);
    for bias in [Bias::Free, Bias::Penalised] {
        let separation = separate(Binary, bias, &ZeroOne, &matrix(&rows), &y);
        let Separation::Inseparable { margin_bound, rows } = separation else {
            panic!("{separation:?}")
        };
        assert!(margin_bound < 1e-3, "{margin_bound}");
        assert_eq!(rows, [6], "{bias:?}");
    }
}

#[test]
fn an_inseparable_set_of_three_classes_names_its_culprit() {
    let mut rows =
        vec![[2.0, 0.0], [3.0, 0.5], [-1.0, 2.0], [-1.5, 2.5], [-1.0, -2.0], [-1.5, -2.5]];
    let mut y = vec![0, 0, 1, 1, 2, 2];
    rows.push([2.5, 0.25]);
    y.push(1);
    for bias in [Bias::Free, Bias::Penalised] {
        let separation = separate(Classes(3), bias, &ZeroOne, &matrix(&rows), &y);
        let Separation::Inseparable { rows, .. } = separation else { panic!("{separation:?}") };
        assert_eq!(rows, [6], "{bias:?}");
    }
}
