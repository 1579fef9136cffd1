//! What solvers promise whatever the function: counting, stopping, reporting, failing.

mod problems;

use lineal_solver::{
    Error, Gd, GdStep, Lbfgs, Monitor, Newton, Objective, Outcome, Pass, Stop, gd, lbfgs, newton,
    silent,
};
use problems::{Quadratic, Valley};
use std::ops::ControlFlow;

type Solve = fn(Stop, &mut Quadratic, &mut [f64], &mut Monitor<'_, f64>) -> Outcome;

const SOLVERS: [(&str, Solve); 4] = [
    ("gd", |stop, f, w, monitor| gd(&Gd { stop, ..Gd::default() }, f, w, monitor).unwrap()),
    ("lbfgs", |stop, f, w, monitor| {
        lbfgs(&Lbfgs { stop, ..Lbfgs::default() }, f, w, monitor).unwrap()
    }),
    ("newton, dense", |stop, f, w, monitor| {
        newton(&Newton { stop, ..Newton::default() }, f, w, monitor).unwrap()
    }),
    ("newton, products", |stop, f, w, monitor| {
        newton(&Newton { stop, dense_up_to: 0, ..Newton::default() }, f, w, monitor).unwrap()
    }),
];

fn ridge() -> Quadratic {
    let mut f = Quadratic::new(20, 1e3, 5);
    (f.knows_gap, f.least) = (true, 2.0);
    f
}

#[test]
fn a_known_gap_decides() {
    for (name, solve) in SOLVERS {
        for tol in [1e-2, 1e-8] {
            let (mut f, mut w) = (ridge(), [0.0; 20]);
            let outcome = solve(Stop { tol, max_passes: 1000 }, &mut f, &mut w, &mut silent());
            assert!(outcome.converged, "{name}: {outcome:?}");
            let gap = outcome.gap.unwrap();
            assert!(gap <= tol * outcome.value, "{name}: {outcome:?}");
            assert!((outcome.value - f.least - gap).abs() < 1e-12, "{name}: {outcome:?}");
            assert!(f.gaps_asked.iter().all(|&enough| enough.is_finite()), "{name}");
        }
    }
}

#[test]
fn an_unconverged_end_has_a_real_bound() {
    for (name, solve) in SOLVERS {
        let (mut f, mut w) = (ridge(), [0.0; 20]);
        let stop = Stop { tol: 1e-12, max_passes: 1 };
        let outcome = solve(stop, &mut f, &mut w, &mut silent());
        let gap = outcome.gap.unwrap();
        assert!(outcome.converged || gap.is_finite(), "{name}: {outcome:?}");
        assert!((outcome.value - f.least - gap).abs() < 1e-12, "{name}: {outcome:?}");
    }
}

#[test]
fn the_monitor_may_end_it() {
    for (name, solve) in SOLVERS {
        let (mut f, mut w) = (Quadratic::new(20, 1e3, 5), [0.0; 20]);
        let mut seen = vec![];
        let mut last_w = vec![];
        let mut monitor = |pass: &Pass<'_, f64>| {
            seen.push(pass.pass);
            last_w = pass.w.to_vec();
            assert!(pass.gap.is_none() && pass.grad_norm.is_some() && pass.value.is_finite());
            // Not the second: Newton is done by then.
            ControlFlow::Break(())
        };
        let outcome = solve(Stop { tol: 0.0, max_passes: 1000 }, &mut f, &mut w, &mut monitor);
        assert!(!outcome.converged, "{name}: {outcome:?}");
        assert_eq!(seen, [1], "{name}");
        assert_eq!(last_w, w, "{name}");
        let mut grad = [0.0; 20];
        assert_eq!(outcome.value, f.value_grad(&w, &mut grad), "{name}");
    }
}

#[test]
fn the_monitor_sees_each_iteration() {
    for (name, solve) in SOLVERS {
        let (mut f, mut w) = (Quadratic::new(20, 1e3, 5), [0.0; 20]);
        let mut seen = vec![];
        let mut monitor = |pass: &Pass<'_, f64>| {
            seen.push(pass.pass);
            ControlFlow::Continue(())
        };
        let outcome = solve(Stop::default(), &mut f, &mut w, &mut monitor);
        assert_eq!(seen, (1..=seen.len()).collect::<Vec<_>>(), "{name}");
        assert!(!seen.is_empty() && seen.len() < outcome.passes, "{name}");
    }
}

#[test]
fn the_minimum_is_left_at_once() {
    for (name, solve) in SOLVERS {
        let mut f = Quadratic::new(20, 1e3, 5);
        let mut w = f.best.clone();
        let mut monitor = |_: &Pass<'_, f64>| panic!("there is no iteration");
        let outcome = solve(Stop::default(), &mut f, &mut w, &mut monitor);
        assert!(outcome.converged && outcome.passes == 1, "{name}: {outcome:?}");
        assert_eq!(w, f.best, "{name}");
    }
}

#[test]
fn runs_repeat_bit_for_bit() {
    for (name, solve) in SOLVERS {
        let run = || {
            let (mut f, mut w) = (Quadratic::new(33, 1e3, 8), vec![0.0; 33]);
            let outcome = solve(Stop::default(), &mut f, &mut w, &mut silent());
            (w, outcome)
        };
        assert_eq!(run(), run(), "{name}");
    }
}

#[test]
fn fixed_is_plain_gradient_descent() {
    let eta = 0.1;
    let (mut w, mut by_hand) = (vec![0.3f64, -0.2], vec![0.3f64, -0.2]);
    let mut path = vec![];
    let mut monitor = |pass: &Pass<'_, f64>| {
        path.push(pass.w.to_vec());
        ControlFlow::Continue(())
    };
    let config = Gd { step: GdStep::Fixed(eta), stop: Stop { tol: 0.0, max_passes: 25 } };
    let outcome = gd(&config, &mut Valley::default(), &mut w, &mut monitor).unwrap();
    assert_eq!((path.len(), outcome.passes, outcome.converged), (25, 26, false));
    for w in &path {
        let mut grad = [0.0; 2];
        Valley::default().value_grad(&by_hand[..], &mut grad);
        by_hand[0] -= eta * grad[0];
        by_hand[1] -= eta * grad[1];
        assert_eq!(*w, by_hand);
    }
    assert_eq!(w, by_hand);
}

#[test]
fn fixed_with_too_large_a_step_diverges_with_an_error() {
    let diverges =
        |error| matches!(error, Error::Diverged { value, pass } if !value.is_finite() && pass > 1);
    let config = Gd { step: GdStep::Fixed(3.0), stop: Stop { tol: 1e-6, max_passes: 10_000 } };
    let mut f = Quadratic::new(5, 10.0, 1);
    let error = gd::<f64>(&config, &mut f, &mut [0.0; 5], &mut silent()).unwrap_err();
    assert!(diverges(error));
    let error = gd::<f32>(&config, &mut f, &mut [0.0; 5], &mut silent()).unwrap_err();
    assert!(diverges(error));
}

#[test]
fn a_start_that_is_not_finite_is_an_error() {
    let mut f = Quadratic::new(2, 10.0, 1);
    let start = [f64::NAN, 0.0];
    assert!(gd(&Gd::default(), &mut f, &mut start.clone(), &mut silent()).is_err());
    assert!(lbfgs(&Lbfgs::default(), &mut f, &mut start.clone(), &mut silent()).is_err());
    assert!(newton(&Newton::default(), &mut f, &mut start.clone(), &mut silent()).is_err());
}
