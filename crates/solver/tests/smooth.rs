//! Every solver of an objective, on functions whose minimum is known.

mod problems;

use lineal_linalg::Scalar;
use lineal_solver::{
    CurvedObjective, Gd, GdStep, Lbfgs, Newton, Objective, Outcome, Stop, gd, lbfgs, newton, silent,
};
use problems::{Fit, Quadratic, Rosenbrock, Valley};
use proptest::prelude::*;

const LONG: usize = 200_000;

fn by_gd<F: Scalar>(f: &mut dyn Objective<F>, w: &mut [F], tol: f64) -> Outcome {
    let config = Gd { step: GdStep::Backtracking, stop: Stop { tol, max_passes: LONG } };
    gd(&config, f, w, &mut silent()).unwrap()
}

fn by_lbfgs<F: Scalar>(f: &mut dyn Objective<F>, w: &mut [F], tol: f64) -> Outcome {
    let config = Lbfgs { stop: Stop { tol, max_passes: LONG }, ..Lbfgs::default() };
    lbfgs(&config, f, w, &mut silent()).unwrap()
}

fn by_newton<F: Scalar>(
    f: &mut dyn CurvedObjective<F>,
    w: &mut [F],
    tol: f64,
    dense_up_to: usize,
) -> Outcome {
    let stop = Stop { tol, max_passes: LONG };
    newton(&Newton { stop, dense_up_to, ..Newton::default() }, f, w, &mut silent()).unwrap()
}

type Solve<'a, F> = &'a mut dyn FnMut(&mut dyn CurvedObjective<F>, &mut [F]) -> Outcome;

/// All of them, dense and truncated Newton apart.
fn by_each<F: Scalar>(
    mut f: impl CurvedObjective<F>,
    start: &[F],
    tol: f64,
    check: impl Fn(&str, Outcome, &[F]),
) {
    let mut run = |name: &str, solve: Solve<'_, F>| {
        let mut w = start.to_vec();
        let outcome = solve(&mut f, &mut w);
        check(name, outcome, &w);
    };
    run("gd", &mut |f, w| by_gd(f, w, tol));
    run("lbfgs", &mut |f, w| by_lbfgs(f, w, tol));
    run("newton, dense", &mut |f, w| by_newton(f, w, tol, usize::MAX));
    run("newton, products", &mut |f, w| by_newton(f, w, tol, 0));
}

fn distance<F: Scalar>(w: &[F], best: &[f64]) -> f64 {
    w.iter().zip(best).map(|(w, best)| (w.to_f64() - best).abs()).fold(0.0, f64::max)
}

#[test]
fn quadratics_of_any_condition() {
    for condition in [1.0, 1e2, 1e4, 1e6] {
        for n in [1, 2, 20] {
            let f = Quadratic::new(n, condition, n as u64);
            let best = f.best.clone();
            by_each::<f64>(f, &vec![0.0; n], 1e-10, |name, outcome, w| {
                assert!(outcome.converged, "{name} {condition} {n}: {outcome:?}");
                let off = distance(w, &best);
                assert!(off < 1e-9 * condition, "{name} {condition} {n}: off by {off}");
            });
        }
    }
}

#[test]
fn passes_do_not_creep_up() {
    let f = || Quadratic::new(20, 1e4, 9);
    let mut w = [0.0; 20];
    assert!(by_lbfgs::<f64>(&mut f(), &mut w, 1e-8).passes <= 500);
    let mut w = [0.0; 20];
    assert!(by_gd::<f64>(&mut f(), &mut w, 1e-8).passes <= 900);
    // A parabola is one Newton step: the start, a Hessian, the end.
    let mut w = [0.0; 20];
    assert_eq!(by_newton::<f64>(&mut f(), &mut w, 1e-8, 300).passes, 3);
}

#[test]
fn single_precision_gets_to_its_own_limit() {
    let f = Quadratic::new(20, 1e2, 4);
    let best = f.best.clone();
    by_each::<f32>(f, &[0.0; 20], 1e-5, |name, outcome, w| {
        assert!(outcome.converged, "{name}: {outcome:?}");
        assert!(distance(w, &best) < 1e-2, "{name}: {w:?}");
    });
    by_each::<f32>(Valley::default(), &[0.0; 2], 1e-5, |name, _, w| {
        assert!(distance(w, &[1.0, 1.0]) < 1e-3, "{name}: {w:?}");
    });
}

#[test]
fn valley_reaches_one_one() {
    by_each::<f64>(Valley::default(), &[0.0; 2], 1e-10, |name, outcome, w| {
        assert!(outcome.converged, "{name}: {outcome:?}");
        assert!(distance(w, &[1.0, 1.0]) < 1e-8, "{name}: {w:?}");
    });
}

#[test]
fn rosenbrock_in_2_and_10_dimensions() {
    by_each::<f64>(Rosenbrock::new(2), &[-1.2, 1.0], 1e-10, |name, outcome, w| {
        assert!(outcome.converged && distance(w, &[1.0; 2]) < 1e-6, "{name}: {outcome:?} {w:?}");
    });
    by_each::<f64>(Rosenbrock::new(10), &[0.0; 10], 1e-10, |name, outcome, w| {
        assert!(outcome.converged && distance(w, &[1.0; 10]) < 1e-6, "{name}: {outcome:?} {w:?}");
    });
}

#[test]
fn newton_takes_generalised_and_singular_hessians() {
    let mut f = Fit::new(60, 12, 3);
    (f.one_sided, f.l2) = (true, 1e-3);
    by_each::<f64>(f, &[0.0; 12], 1e-10, |name, outcome, _| {
        assert!(outcome.converged, "{name}: {outcome:?}");
    });
    // 5 rows for 12 weights: H has rank 5, the least value is 0.
    by_each::<f64>(Fit::new(5, 12, 3), &[0.0; 12], 1e-9, |name, outcome, _| {
        assert!(outcome.converged && outcome.value < 1e-16, "{name}: {outcome:?}");
    });
}

#[test]
fn a_large_constant_does_not_hide_the_end() {
    // Values differ in their last digits only: line searches must go by slopes, and end.
    let mut f = Quadratic::new(20, 1e3, 6);
    f.least = 1e6;
    by_each::<f64>(f, &[0.0; 20], 1e-8, |name, outcome, _| {
        assert!(outcome.converged, "{name}: {outcome:?}");
    });
}

#[test]
fn asking_for_more_digits_than_there_are_ends_quietly() {
    let mut f = Quadratic::new(20, 1e3, 6);
    f.least = 3.0;
    by_each::<f64>(f, &[0.0; 20], 0.0, |name, outcome, _| {
        assert!(outcome.grad_norm.unwrap() < 1e-9, "{name}: {outcome:?}");
        // `gd` may rise, so it goes round in the last digits until `max_passes`.
        assert!(name == "gd" || outcome.passes < 1000, "{name}: {outcome:?}");
    });
}

/// +∞ outside w < 1: a trial beyond it only shortens the step.
struct Barrier;

impl Objective<f64> for Barrier {
    fn dim(&self) -> usize {
        1
    }
    fn value_grad(&mut self, w: &[f64], grad: &mut [f64]) -> f64 {
        grad[0] = 1.0 / (1.0 - w[0]) - 100.0;
        if w[0] < 1.0 { -(1.0 - w[0]).ln() - 100.0 * w[0] } else { f64::INFINITY }
    }
}

impl CurvedObjective<f64> for Barrier {
    fn curve_at(&mut self, _w: &[f64]) {}
    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
    }
}

#[test]
fn infinite_trials_shorten_the_step() {
    by_each(Barrier, &[0.0], 1e-8, |name, outcome, w| {
        assert!(outcome.converged && (w[0] - 0.99).abs() < 1e-6, "{name}: {outcome:?} {w:?}");
    });
}

proptest! {
    #[test]
    fn random_quadratics(n in 1usize..40, digits in 0f64..4.0, seed: u64) {
        let f = Quadratic::new(n, 10f64.powf(digits), seed);
        by_each::<f64>(f, &vec![0.0; n], 1e-8, |name, outcome, _| {
            assert!(outcome.converged, "{name}: {outcome:?}");
        });
    }
}
