//! Learners on small queries: certificates, weights, and the objective of scikit-learn over explicit pairs.

use lineal_erm::structured::{LearnSpec, Loss, Solver, learn, learn_max};
use lineal_linalg::{Csr, Dense, Matrix, Rng};
use lineal_ranking::{Decisions, Gain, Normalise, Orders, Queries, Ranking};
use std::ops::ControlFlow;

const N_FEATURES: usize = 4;

/// Queries of 1 to 8 documents whose grades follow the first two features with noise.
struct Data {
    x: Vec<f32>,
    grades: Vec<f32>,
    ends: Vec<usize>,
}

/// Without a generator of random numbers, so that another program can make the same data.
fn data() -> Data {
    let (mut x, mut grades, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    let hash = |a: usize, b: usize| ((a * 7919 + b * 104_729 + a * b * 31) % 1009) as f32 / 1009.0;
    for q in 0..30 {
        for d in 0..1 + q * 5 % 8 {
            let row: Vec<f32> = (0..N_FEATURES).map(|at| hash(q * 8 + d, at)).collect();
            let noise = hash(q * 8 + d, 17);
            grades.push((2.0 * row[0] + row[1] + noise - 0.5).floor().clamp(0.0, 2.0));
            x.extend(row);
        }
        ends.push(grades.len());
    }
    Data { x, grades, ends }
}

impl Data {
    fn matrix(&self) -> Matrix {
        let n = self.grades.len();
        Matrix::Dense(Dense::new(n, N_FEATURES, self.x.clone()).unwrap())
    }
}

fn spec(loss: Loss, solver: Solver, l2: f64) -> LearnSpec {
    LearnSpec { loss, solver, l2, tol: 1e-7, passes: 20_000, ..LearnSpec::default() }
}

/// The optimum that a solver reports, which it must have proved.
macro_rules! optimum {
    ($learn:ident, $ranking:expr, $loss:expr, $solver:expr) => {{
        let l2 = 0.01;
        let learnt =
            $learn($ranking, &spec($loss, $solver, l2), None, &mut |_| ControlFlow::Continue(()));
        let report = learnt.unwrap().report;
        assert!(report.converged && report.gap.unwrap() < 2e-6, "{report:?}");
        report.objective.unwrap()
    }};
}

/// L-BFGS and exponentiated gradient, whose bounds are found in different ways, come to the same optimum: also for the squared hinge, which is no sum over outputs.
#[test]
fn certificates_of_smooth_losses_agree() {
    let (data, ends) = (data(), data().ends);
    let x = data.matrix();
    for decisions in [
        Decisions::Pairs,
        Decisions::SquaredPairs,
        Decisions::Softmax(Gain::Exponential),
        Decisions::PlackettLuce,
    ] {
        for normalise in [Normalise::Decisions, Normalise::Queries] {
            let queries = Queries::new(&x, &ends, &data.grades).unwrap();
            let ranking = Ranking::new(queries, decisions, normalise);
            let by_gradient = optimum!(learn, &ranking, Loss::Logistic, Solver::Lbfgs);
            let by_dual = optimum!(learn, &ranking, Loss::Logistic, Solver::Dual);
            assert!((by_gradient - by_dual).abs() < 4e-6, "{decisions:?} {by_gradient} {by_dual}");
        }
    }
}

#[test]
fn orders_are_learnt_with_a_certificate() {
    let (data, ends) = (data(), data().ends);
    let x = data.matrix();
    for orders in [
        Orders::Ndcg { at: None, gain: Gain::Exponential },
        Orders::Ndcg { at: Some(2), gain: Gain::Exponential },
        Orders::AveragePrecision { above: 0.0 },
    ] {
        let queries = Queries::new(&x, &ends, &data.grades).unwrap();
        let ranking = Ranking::new(queries, orders, Normalise::Queries);
        let best = optimum!(learn_max, &ranking, Loss::Hinge, Solver::Dual);
        assert!(best > 0.0 && best < 1.0, "{best}");
        let steps = LearnSpec { passes: 3000, ..spec(Loss::Hinge, Solver::Sgd, 0.01) };
        let learnt = learn_max(&ranking, &steps, None, &mut |_| ControlFlow::Continue(()));
        let far = learnt.unwrap().report.objective.unwrap() - best;
        assert!((-1e-6..0.02).contains(&far), "{orders:?} {far}");
    }
}

/// A list of rows in another order, and sparse rows, are the same problem.
#[test]
fn lists_and_sparse_rows_are_the_same_problem() {
    let (data, ends) = (data(), data().ends);
    let n = data.grades.len();
    let x = data.matrix();
    let queries = Queries::new(&x, &ends, &data.grades).unwrap();
    let expected = optimum!(
        learn,
        &Ranking::new(queries, Decisions::Pairs, Normalise::default()),
        Loss::Logistic,
        Solver::Lbfgs
    );

    let mut places: Vec<usize> = (0..n).collect();
    let mut rng = Rng::new(2);
    places.sort_by_cached_key(|_| rng.next_u64());
    let mut rows = vec![0; n];
    places.iter().enumerate().for_each(|(to, &from)| rows[from] = to as u32);
    let grades: Vec<f32> = places.iter().map(|&from| data.grades[from]).collect();
    let values =
        places.iter().flat_map(|&from| &data.x[from * N_FEATURES..(from + 1) * N_FEATURES]);
    let columns = (0..n * N_FEATURES).map(|at| (at % N_FEATURES) as u32).collect();
    let starts = (0..=n).map(|row| row * N_FEATURES).collect();
    let sparse = Csr::new(N_FEATURES, starts, columns, values.copied().collect()).unwrap();
    let sparse = Matrix::Sparse(sparse);
    let queries = Queries::listed(&sparse, &rows, &ends, &grades).unwrap();
    let ranking = Ranking::new(queries, Decisions::Pairs, Normalise::default());
    let found = optimum!(learn, &ranking, Loss::Logistic, Solver::Lbfgs);
    assert!((found - expected).abs() < 4e-6, "{found} {expected}");
}

/// A query of weight 2 is one that comes twice; one of weight 0 is not there.
#[test]
fn weights_of_queries_equal_repeats() {
    let data = data();
    let x = data.matrix();
    let mut weights = vec![1.0; data.ends.len()];
    (weights[3], weights[4]) = (2.0, 0.0);
    let (mut rows, mut ends, mut start) = (Vec::new(), Vec::new(), 0);
    for (&end, &weight) in data.ends.iter().zip(&weights) {
        for _ in 0..weight as usize {
            rows.extend(start as u32..end as u32);
            ends.push(rows.len());
        }
        start = end;
    }
    for normalise in [Normalise::Decisions, Normalise::Queries] {
        let queries = Queries::new(&x, &data.ends, &data.grades).unwrap();
        let weighted = queries.with_weights(&weights).unwrap();
        let weighted = Ranking::new(weighted, Decisions::Pairs, normalise);
        let repeated = Queries::listed(&x, &rows, &ends, &data.grades).unwrap();
        let repeated = Ranking::new(repeated, Decisions::Pairs, normalise);
        let a = optimum!(learn, &weighted, Loss::Logistic, Solver::Lbfgs);
        let b = optimum!(learn, &repeated, Loss::Logistic, Solver::Lbfgs);
        assert!((a - b).abs() < 4e-6, "{a} {b}");
    }
}

/// The objectives are those of scikit-learn 1.9.1 over the 197 explicit pairs (differences of rows, every second one with its sign turned) without an intercept, C = 1 / (0.01 · 197), tol = 1e-12:
/// `LinearSVC(loss="hinge")`, `LinearSVC(loss="squared_hinge")`, `LogisticRegression()`; each times 0.01, as a mean.
#[test]
fn objectives_are_those_of_explicit_pairs() {
    let (data, ends) = (data(), data().ends);
    let x = data.matrix();
    for (decisions, loss, solver, expected) in [
        (Decisions::Pairs, Loss::Hinge, Solver::Dual, 0.199_319_385),
        (Decisions::SquaredPairs, Loss::Logistic, Solver::Lbfgs, 0.155_831_463),
        (Decisions::Pairs, Loss::Logistic, Solver::Lbfgs, 0.308_312_731),
    ] {
        let queries = Queries::new(&x, &ends, &data.grades).unwrap();
        let ranking = Ranking::new(queries, decisions, Normalise::Decisions);
        assert_eq!(ranking.n_decisions(), 197.0);
        let found = optimum!(learn, &ranking, loss, solver);
        assert!((found - expected).abs() < 1e-6, "{decisions:?} {loss:?} {found} {expected}");
    }
}

/// Features of very different sizes: the diagonal of the Hessian makes them alike.
#[test]
fn features_of_any_size_converge() {
    let mut data = data();
    for row in data.x.chunks_exact_mut(N_FEATURES) {
        row[1] = 1e3 * row[1] + 1e4;
        row[2] *= 1e-2;
    }
    let (x, ends) = (data.matrix(), data.ends.clone());
    for decisions in [Decisions::Pairs, Decisions::SquaredPairs, Decisions::PlackettLuce] {
        let queries = Queries::new(&x, &ends, &data.grades).unwrap();
        let ranking = Ranking::new(queries, decisions, Normalise::default());
        let request =
            LearnSpec { passes: 100, tol: 1e-4, ..spec(Loss::Logistic, Solver::Auto, 1e-3) };
        let learnt = learn(&ranking, &request, None, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(learnt.report.converged, "{decisions:?} {:?}", learnt.report);
    }
}

/// The same bits on 1, 2 and 3 threads.
#[test]
fn threads_do_not_change_a_bit() {
    let (data, ends) = (data(), data().ends);
    let x = data.matrix();
    for decisions in [Decisions::Pairs, Decisions::SquaredPairs] {
        let queries = Queries::new(&x, &ends, &data.grades).unwrap();
        let ranking = Ranking::new(queries, decisions, Normalise::default());
        let request = LearnSpec { passes: 20, ..spec(Loss::Logistic, Solver::Auto, 1e-3) };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = || learn(&ranking, &request, None, &mut |_| ControlFlow::Continue(()));
            pool.install(|| run().unwrap().w)
        };
        assert!(on(1) == on(2) && on(1) == on(3), "{decisions:?}");
    }
}
