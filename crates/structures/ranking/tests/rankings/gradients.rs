//! Smooth losses against sums over all pairs or choices, and their gradients against finite differences.

use super::{identity, near, smooth_loss, sparse_identity};
use lineal_linalg::Rng;
use lineal_ranking::{Decisions, Gain, Normalise, Queries, Ranking};

const ALL: [Decisions; 4] = [
    Decisions::Pairs,
    Decisions::SquaredPairs,
    Decisions::Softmax(Gain::Exponential),
    Decisions::PlackettLuce,
];

/// The loss as it is defined.
fn plainly(decisions: Decisions, grades: &[f32], scores: &[f64]) -> f64 {
    let n = grades.len();
    let pairs = |f: &dyn Fn(f64) -> f64| -> f64 {
        let of = |i: usize| {
            let lower = (0..n).filter(|&j| grades[i] > grades[j]);
            lower.map(|j| f(scores[i] - scores[j])).sum::<f64>()
        };
        (0..n).map(of).sum()
    };
    let log_sum = |documents: &[usize]| {
        let top = documents.iter().map(|&d| scores[d]).fold(f64::NEG_INFINITY, f64::max);
        top + documents.iter().map(|&d| (scores[d] - top).exp()).sum::<f64>().ln()
    };
    match decisions {
        Decisions::Pairs => pairs(&|d| (-d).max(0.0) + (-d.abs()).exp().ln_1p()),
        Decisions::SquaredPairs => pairs(&|d| (1.0 - d).max(0.0).powi(2)),
        Decisions::Softmax(_) => {
            let gain = |d: usize| 2f64.powf(f64::from(grades[d])) - 1.0;
            let sum: f64 = (0..n).map(gain).sum();
            let gold: f64 = (0..n).map(|d| gain(d) / sum * scores[d]).sum();
            log_sum(&(0..n).collect::<Vec<_>>()) - gold
        }
        Decisions::PlackettLuce => {
            let lowest = grades.iter().copied().fold(f32::INFINITY, f32::min);
            let choice = |i: usize| {
                let rivals: Vec<usize> = (0..n).filter(|&j| grades[j] <= grades[i]).collect();
                log_sum(&rivals) - scores[i]
            };
            (0..n).filter(|&i| grades[i] > lowest).map(choice).sum()
        }
        _ => unreachable!("all are listed"),
    }
}

fn draw(n: usize, n_grades: u64, spread: f64, seed: u64) -> (Vec<f32>, Vec<f64>) {
    let mut rng = Rng::new(seed);
    let mut grades: Vec<f32> = (0..n).map(|_| (rng.next_u64() % n_grades) as f32).collect();
    // At least two grades, so that there is something to learn.
    (grades[0], grades[1]) = (0.0, 1.0);
    let scores = (0..n).map(|_| spread * (rng.unit() - 0.5)).collect();
    (grades, scores)
}

#[test]
fn values_are_those_of_the_definitions() {
    for decisions in ALL {
        for (n, n_grades, spread) in
            [(2, 2, 1.0), (7, 3, 4.0), (150, 2, 3.0), (200, 5, 60.0), (300, 40, 2.0), (90, 1, 0.0)]
        {
            for x in [identity(n), sparse_identity(n)] {
                let (grades, scores) = draw(n, n_grades, spread, n as u64);
                let ends = [n];
                let queries = Queries::new(&x, &ends, &grades).unwrap();
                let ranking = Ranking::new(queries, decisions, Normalise::default());
                let expected = plainly(decisions, &grades, &scores);
                let (loss, grad) = smooth_loss(&ranking, &scores);
                assert!(near(loss, expected, 1e-12), "{decisions:?} {n} {loss} {expected}");
                for at in (0..n).step_by(1 + n / 12) {
                    let moved = |by: f64| {
                        let mut scores = scores.clone();
                        scores[at] += by;
                        plainly(decisions, &grades, &scores)
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let tol = 1e-5 * (1.0 + expected.abs() / n as f64);
                    assert!((grad[at] - slope).abs() < tol, "{decisions:?} {} {slope}", grad[at]);
                }
            }
        }
    }
}

/// A gradient of pairs sums to 0: a constant for all scores changes nothing.
#[test]
fn constants_cancel() {
    let (grades, scores) = draw(120, 4, 5.0, 8);
    let (x, ends) = (identity(120), [120]);
    for decisions in ALL {
        let queries = Queries::new(&x, &ends, &grades).unwrap();
        let ranking = Ranking::new(queries, decisions, Normalise::default());
        let (loss, grad) = smooth_loss(&ranking, &scores);
        assert!(grad.iter().sum::<f64>().abs() < 1e-9);
        let moved: Vec<f64> = scores.iter().map(|score| score + 1024.0).collect();
        assert!(near(smooth_loss(&ranking, &moved).0, loss, 1e-10), "{decisions:?}");
    }
}
