//! Second derivatives against explicit pairs and against differences of gradients; Newton's method against the other solvers.

use super::near;
use lineal_erm::structured::{LearnError, LearnSpec, Loss, Solver, learn};
use lineal_linalg::{Csr, Dense, Matrix, Rng};
use lineal_model::structure::{Around, Ask, MaxOracle, Structure, SumOracle};
use lineal_ranking::{Decisions, Documents, Normalise, Queries, Ranking};
use std::ops::ControlFlow;

const DIM: usize = 5;

/// One query: features far from 0, of which a third are equal in all documents.
fn query(n: usize, n_grades: u64, seed: u64) -> (Vec<f32>, Vec<f32>) {
    let mut rng = Rng::new(seed);
    let mut grades: Vec<f32> = (0..n).map(|_| (rng.next_u64() % n_grades) as f32).collect();
    (grades[0], grades[1]) = (0.0, 1.0);
    let x = (0..n * DIM).map(|at| match at % DIM {
        0 => 7.0,
        1 => 100.0 + rng.unit() as f32,
        _ => 2.0 * rng.unit() as f32 - 1.0,
    });
    (x.collect(), grades)
}

fn matrices(x: &[f32]) -> [Matrix; 2] {
    let n = x.len() / DIM;
    let columns = (0..x.len()).map(|at| (at % DIM) as u32).collect();
    let starts = (0..=n).map(|row| row * DIM).collect();
    let sparse = Csr::new(DIM, starts, columns, x.to_vec()).unwrap();
    [Matrix::Dense(Dense::new(n, DIM, x.to_vec()).unwrap()), Matrix::Sparse(sparse)]
}

/// Pairs in the order of their dual numbers: by the better document in the order of grades, then by the worse.
fn pairs(grades: &[f32]) -> Vec<(usize, usize)> {
    let mut by_grade: Vec<usize> = (0..grades.len()).collect();
    by_grade.sort_by(|&a, &b| grades[b].total_cmp(&grades[a]));
    let worse = |&i: &usize| {
        let lower = by_grade.iter().filter(move |&&j| grades[i] > grades[j]);
        lower.map(move |&j| (i, j)).collect::<Vec<_>>()
    };
    by_grade.iter().flat_map(worse).collect()
}

/// Σ over pairs of weight · (xᵢ − xⱼ)(xᵢ − xⱼ)ᵀ.
fn outer_products(x: &[f32], weighted: impl Iterator<Item = ((usize, usize), f64)>) -> Vec<f64> {
    let mut sum = vec![0.0; DIM * DIM];
    for ((i, j), weight) in weighted {
        let z = |at: usize| f64::from(x[i * DIM + at]) - f64::from(x[j * DIM + at]);
        for a in 0..DIM {
            for b in 0..DIM {
                sum[a * DIM + b] += weight * z(a) * z(b);
            }
        }
    }
    sum
}

fn theta(ranking: &Ranking<'_, Decisions>, w: &[f64]) -> Documents<f64> {
    let (mut s, mut theta) = (Structure::<f64>::scratch(ranking), Documents::default());
    ranking.scores(0, w, 1.0, &mut s, &mut theta);
    theta
}

fn hessian(ranking: &Ranking<'_, Decisions>, w: &[f64], around: Option<Around<'_>>) -> Vec<f64> {
    let mut sum = vec![0.25; DIM * DIM];
    let mut s = Structure::<f64>::scratch(ranking);
    ranking.add_hessian(0, &theta(ranking, w), around, 2.0, &mut s, &mut sum);
    // It is added, times the factor.
    sum.iter().map(|sum| 0.5 * (sum - 0.25)).collect()
}

const SIZES: [(usize, u64); 6] = [(2, 2), (4, 2), (9, 2), (13, 3), (40, 2), (60, 6)];

/// By differences of the gradient along each weight.
fn differences(gradient: impl Fn(&[f64]) -> Vec<f64>, w: &[f64]) -> Vec<f64> {
    let by = 1e-6;
    let column = |at: usize| {
        let moved = |by: f64| {
            let mut w = w.to_vec();
            w[at] += by;
            gradient(&w)
        };
        moved(by).into_iter().zip(moved(-by)).map(|(a, b)| (a - b) / (2.0 * by)).collect::<Vec<_>>()
    };
    (0..w.len()).flat_map(column).collect()
}

#[test]
fn hessians_of_smooth_losses_are_those_of_pairs_and_of_differences() {
    for (n, n_grades) in SIZES {
        let (x, grades) = query(n, n_grades, n as u64);
        let w: Vec<f64> = (0..DIM).map(|at| 0.3 + 0.4 * at as f64).collect();
        for (matrix, decisions) in matrices(&x)
            .iter()
            .flat_map(|m| [Decisions::Pairs, Decisions::SquaredPairs].map(|d| (m, d)))
        {
            let ends = [n];
            let queries = Queries::new(matrix, &ends, &grades).unwrap();
            let ranking = Ranking::new(queries, decisions, Normalise::default());
            let scores = theta(&ranking, &w).values;
            let weighted = pairs(&grades).into_iter().map(|(i, j)| {
                let lead = scores[i] - scores[j];
                let sigma = 1.0 / (1.0 + lead.exp());
                let squared = if lead < 1.0 { 2.0 } else { 0.0 };
                (
                    (i, j),
                    if decisions == Decisions::Pairs { sigma * (1.0 - sigma) } else { squared },
                )
            });
            let expected = outer_products(&x, weighted);
            let gradient = |w: &[f64]| {
                let mut s = Structure::<f64>::scratch(&ranking);
                let mut mu = Documents::default();
                ranking.expect(0, &theta(&ranking, w), Ask::Plain, &mut s, &mut mu).unwrap();
                let mut grad = vec![0.0; DIM];
                ranking.accumulate(0, &mu, &mut s, &mut grad);
                grad
            };
            let scale = 1.0 + expected.iter().fold(0.0f64, |most, h| most.max(h.abs()));
            let found = hessian(&ranking, &w, None);
            for ((found, expected), slope) in
                found.iter().zip(&expected).zip(differences(gradient, &w))
            {
                assert!(
                    (found - expected).abs() < 1e-5 * scale,
                    "{decisions:?} {found} {expected}"
                );
                assert!((found - slope).abs() < 1e-4 * scale, "{decisions:?} {found} {slope}");
            }
        }
    }
}

#[test]
fn the_smooth_hinge_is_the_best_of_its_duals() {
    let mut rng = Rng::new(3);
    for (n, n_grades) in SIZES {
        let (x, grades) = query(n, n_grades, n as u64);
        let w: Vec<f64> = (0..DIM).map(|at| 0.6 - 0.3 * at as f64).collect();
        let pairs = pairs(&grades);
        let duals: Vec<f32> = pairs.iter().map(|_| rng.unit() as f32).collect();
        for (matrix, width) in matrices(&x).iter().flat_map(|m| [3.0, 0.5, 0.05].map(|d| (m, d))) {
            let ends = [n];
            let queries = Queries::new(matrix, &ends, &grades).unwrap();
            let ranking = Ranking::new(queries, Decisions::Pairs, Normalise::default());
            assert!(MaxOracle::<f64>::is_curved(&ranking));
            assert_eq!(MaxOracle::<f64>::n_duals(&ranking, 0), pairs.len());
            let around = Around { width, duals: &duals };
            let scores = theta(&ranking, &w).values;
            let (mut value, mut loss, mut cost) = (0.0, 0.0, 0.0);
            let (mut alphas, mut bent) = (Vec::new(), Vec::new());
            for (&(i, j), &a) in pairs.iter().zip(&duals) {
                let (missing, a) = (1.0 - (scores[i] - scores[j]), f64::from(a));
                let of = |alpha: f64| alpha * missing - 0.5 * width * (alpha - a).powi(2);
                // Concave in α: the best of a fine grid is no better than what is found.
                let alpha = (a + missing / width).clamp(0.0, 1.0);
                assert!((0..=50).all(|at| of(f64::from(at) / 50.0) <= of(alpha) + 1e-12));
                value += of(alpha);
                loss += missing.max(0.0);
                cost += alpha;
                alphas.push(alpha);
                bent.push(if alpha > 0.0 && alpha < 1.0 { 1.0 / width } else { 0.0 });
            }
            let smooth = |w: &[f64], moved: &mut [f32]| {
                let (mut s, mut grad) = (Structure::<f64>::scratch(&ranking), Documents::default());
                let theta = theta(&ranking, w);
                let found = ranking.smoothed(0, &theta, around, &mut s, &mut grad, moved);
                let mut by_weight = vec![0.0; DIM];
                ranking.accumulate(0, &grad, &mut s, &mut by_weight);
                (found, grad.values, by_weight)
            };
            let mut moved = vec![0.0; pairs.len()];
            let (found, grad, _) = smooth(&w, &mut moved);
            assert!(near(found.value, value, 1e-9) && near(found.loss, loss, 1e-9), "{found:?}");
            assert!(near(found.cost, cost, 1e-9), "{found:?} {cost}");
            assert!(moved.iter().zip(&alphas).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6));
            // ⟨scores, gradient⟩ + cost = Σ α · missing.
            let along: f64 = scores.iter().zip(&grad).map(|(score, g)| score * g).sum();
            let sum: f64 = pairs
                .iter()
                .zip(&alphas)
                .map(|(&(i, j), a)| a * (1.0 - (scores[i] - scores[j])))
                .sum();
            assert!((along + found.cost - sum).abs() < 1e-7 * (1.0 + sum.abs()), "{along} {sum}");

            let expected = outer_products(&x, pairs.iter().copied().zip(bent));
            let scale = 1.0 + expected.iter().fold(0.0f64, |most, h| most.max(h.abs()));
            let slopes = differences(|w| smooth(w, &mut []).2, &w);
            for ((found, expected), slope) in
                hessian(&ranking, &w, Some(around)).iter().zip(&expected).zip(slopes)
            {
                assert!((found - expected).abs() < 1e-5 * scale, "{found} {expected}");
                assert!((found - slope).abs() < 1e-4 * scale, "{found} {slope}");
            }
        }
    }
}

/// Newton, L-BFGS and Frank–Wolfe or exponentiated gradient: the same optimum, each with its proof, at penalties from strong to weak.
#[test]
fn newton_comes_to_the_same_optimum() {
    let (mut x, mut grades, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for q in 0..25 {
        let (rows, of_query) = query(2 + q % 9, 2 + (q % 3) as u64, 100 + q as u64);
        x.extend(rows);
        grades.extend(of_query);
        ends.push(grades.len());
    }
    for x in &matrices(&x) {
        for (decisions, loss, other) in [
            (Decisions::Pairs, Loss::Hinge, Solver::Dual),
            (Decisions::Pairs, Loss::Logistic, Solver::Lbfgs),
            (Decisions::SquaredPairs, Loss::Logistic, Solver::Lbfgs),
        ] {
            for l2 in [1.0, 0.01, 0.001] {
                let queries = Queries::new(x, &ends, &grades).unwrap();
                let ranking = Ranking::new(queries, decisions, Normalise::default());
                let run = |solver: Solver| {
                    let spec = LearnSpec {
                        loss,
                        solver,
                        l2,
                        tol: 1e-6,
                        passes: 20_000,
                        ..LearnSpec::default()
                    };
                    learn(&ranking, &spec, None, &mut |_| ControlFlow::Continue(())).unwrap().report
                };
                let (newton, other) = (run(Solver::Newton), run(other));
                for report in [newton, other] {
                    let (objective, gap) = (report.objective.unwrap(), report.gap.unwrap());
                    assert!(
                        report.converged && gap <= 2e-6 * objective,
                        "{loss:?} {l2} {report:?}"
                    );
                }
                assert_eq!(newton.solver, Solver::Newton);
                let apart = newton.objective.unwrap() - other.objective.unwrap();
                assert!(apart.abs() < 4e-6, "{loss:?} {l2} {newton:?} {other:?}");
                assert!(newton.passes < 200, "{newton:?}");
                assert_eq!(run(Solver::Auto).solver, Solver::Newton);
            }
        }
    }
}

#[test]
fn newton_is_refused_where_it_cannot_be() {
    let (x, grades) = query(400, 2, 1);
    let [x, _] = matrices(&x);
    let ends = [400];
    let run = |decisions: Decisions, spec: LearnSpec| {
        let queries = Queries::new(&x, &ends, &grades).unwrap();
        let ranking = Ranking::new(queries, decisions, Normalise::default());
        let spec = LearnSpec { solver: Solver::Newton, ..spec };
        match learn(&ranking, &spec, None, &mut |_| ControlFlow::Continue(())) {
            Err(LearnError::Request(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let with = |loss: Loss, l2: f64| LearnSpec { loss, l2, ..LearnSpec::default() };
    // About a hundred pairs for each document.
    assert!(run(Decisions::Pairs, with(Loss::Hinge, 0.1)).contains("choose the solver dual"));
    assert!(run(Decisions::PlackettLuce, with(Loss::Logistic, 0.1)).contains("lbfgs"));
    assert!(run(Decisions::Pairs, with(Loss::Logistic, 0.0)).contains("l2 must be positive"));
    assert!(run(Decisions::Pairs, with(Loss::Perceptron, 0.1)).contains("hinge or logistic"));
}
