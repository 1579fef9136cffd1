//! Newton's method column by column, and the method of multipliers for the hinge, against dual ascent, which shares nothing with them but the certificate.

use lineal_erm::columns::{self, ColumnFit, ColumnTask};
use lineal_linalg::{Csr, Dense, Matrix, Rng};
use lineal_loss::{Hinge, Logistic, OfMargin, SquaredHinge};
use lineal_model::Bias;
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Columns, Signs};
use lineal_solver::{Dual, Stop};
use std::ops::ControlFlow;

const N: usize = 60;
const D: usize = 7;

/// Rows around the centre of their class, one in three entries 0 where they are sparse.
fn rows(sparse: bool) -> (Matrix, Vec<u32>) {
    let mut rng = Rng::new(3);
    let mut number = || rng.unit() as f32 * 2.0 - 1.0;
    let kinds: Vec<u32> = (0..N as u32).map(|i| i % 3).collect();
    let value = |i: usize, j: usize, noise: f32| {
        let centre = f32::from(u8::from(kinds[i] as usize == j));
        if sparse && (i + j).is_multiple_of(3) { 0.0 } else { centre + noise }
    };
    let all: Vec<f32> = (0..N * D).map(|at| value(at / D, at % D, number())).collect();
    let x = if sparse {
        let mut indptr = vec![0];
        let (mut idx, mut val) = (Vec::new(), Vec::new());
        for row in all.chunks(D) {
            for (j, &v) in (0u32..).zip(row).filter(|(_, v)| **v != 0.0) {
                idx.push(j);
                val.push(v);
            }
            indptr.push(idx.len());
        }
        Matrix::Sparse(Csr::new(D, indptr, idx, val).unwrap())
    } else {
        Matrix::Dense(Dense::new(N, D, all).unwrap())
    };
    (x, kinds)
}

/// All columns of a problem, to a tolerance.
type Solver<'s> = &'s dyn Fn(&ColumnTask<'_>, Stop) -> ColumnFit<f64>;

fn by_newton<L: OfMargin<f64>>(loss: L, signs: Signs<'_>, n_columns: usize) {
    let on = |_| ControlFlow::Continue(());
    agree(loss, signs, n_columns, (1e-9, 60), &|task, stop| {
        columns::newton(task, loss, None, stop, &on)
    });
}

fn by_multipliers(signs: Signs<'_>, n_columns: usize) {
    let on = |_| ControlFlow::Continue(());
    let solve = |task: &ColumnTask<'_>, stop: Stop| columns::multipliers(task, None, stop, &on);
    agree(Hinge(ZeroOne), signs, n_columns, (1e-6, 200), &solve);
}

fn agree<L: OfMargin<f64>>(
    loss: L,
    signs: Signs<'_>,
    n_columns: usize,
    (tol, most_passes): (f64, usize),
    solve: Solver<'_>,
) {
    let weights: Vec<f32> = (0..N).map(|i| [1.0, 0.0, 2.5][i % 7 % 3]).collect();
    for sparse in [false, true] {
        let (x, kinds) = rows(sparse);
        for bias in [Bias::Free, Bias::Penalised, Bias::None] {
            for (l2, weights) in [(1e-1, None), (1e-3, Some(weights.as_slice()))] {
                let report = vec![1.0; n_columns];
                let task = ColumnTask {
                    x: &x,
                    kinds: &kinds,
                    weights,
                    space: Columns::new(signs, n_columns),
                    bias,
                    l2,
                    report: &report,
                    side_by_side: &[],
                };
                let stop = Stop { tol, max_passes: 100_000 };
                let on = |_| ControlFlow::Continue(());
                let newton = solve(&task, stop);
                let dual = Dual { stop: Stop { tol: 1e-7, ..stop }, ..Dual::default() };
                let dual = columns::dual::<f64, L>(&task, loss, &dual, &on);
                let case = format!("sparse {sparse}, {bias:?}, l2 {l2}");
                assert!(
                    newton.converged && newton.passes < most_passes,
                    "{case}: {}",
                    newton.passes
                );
                for (newton, dual) in newton.certificates.iter().zip(&dual.certificates) {
                    let gap = newton.finite_gap().expect("a gap");
                    assert!(gap <= 10.0 * tol * newton.objective, "{case}: gap {gap:e}");
                    // The dual's tolerance is one for all columns together: a single one may be further off, but its gap says how far.
                    let apart = dual.objective - newton.objective;
                    let most = dual.finite_gap().expect("a gap");
                    assert!((-gap..=most).contains(&apart), "{case}: {apart:e} of {most:e}");
                }
            }
        }
    }
}

#[test]
fn one_against_all_reaches_the_optimum_of_the_dual() {
    by_newton(SquaredHinge(ZeroOne), Signs::OneVsAll, 3);
    by_newton(Logistic(NoCost), Signs::OneVsAll, 3);
    by_multipliers(Signs::OneVsAll, 3);
}

/// Rows of a third class take no part in a pair, and answers may count for more or less.
#[test]
fn pairs_and_weighted_answers_reach_the_optimum_of_the_dual() {
    let table = [1.0, 1.0, 0.0, -1.0, 0.0, 0.5, 0.0, -2.0, -1.0];
    let signs = Signs::Table { table: &table, n_columns: 3 };
    by_newton(SquaredHinge(ZeroOne), signs, 3);
    by_newton(Logistic(NoCost), signs, 3);
    by_multipliers(signs, 3);
}

/// A column without a single yes, and one whose rows are all empty, end at once.
#[test]
fn columns_of_one_answer_and_empty_rows_end() {
    let x = Matrix::Sparse(Csr::new(2, vec![0; 4], vec![], vec![]).unwrap());
    let report = [1.0; 2];
    for bias in [Bias::Free, Bias::Penalised, Bias::None] {
        let space = Columns::new(Signs::OneVsAll, 2);
        let task = ColumnTask {
            x: &x,
            kinds: &[0, 0, 0],
            weights: None,
            space,
            bias,
            l2: 0.1,
            report: &report,
            side_by_side: &[],
        };
        let stop = Stop { tol: 1e-6, max_passes: 50 };
        let on = |_| ControlFlow::Continue(());
        let newton = columns::newton::<f64, _>(&task, SquaredHinge(ZeroOne), None, stop, &on);
        for fit in [newton, columns::multipliers::<f64>(&task, None, stop, &on)] {
            assert!(fit.w.iter().all(|w| w.is_finite()), "{bias:?}: {:?}", fit.w);
            assert!(fit.certificates.iter().all(|proof| proof.objective.is_finite()), "{bias:?}");
        }
    }
}

/// A run that begins where another ended has little left to do.
#[test]
fn multipliers_go_on_from_weights() {
    let (x, kinds) = rows(false);
    let report = [1.0; 3];
    let task = ColumnTask {
        x: &x,
        kinds: &kinds,
        weights: None,
        space: Columns::new(Signs::OneVsAll, 3),
        bias: Bias::Penalised,
        l2: 1e-2,
        report: &report,
        side_by_side: &[],
    };
    let stop = Stop { tol: 1e-3, max_passes: 1000 };
    let on = |_| ControlFlow::Continue(());
    let cold = columns::multipliers::<f64>(&task, None, stop, &on);
    let warm = columns::multipliers::<f64>(&task, Some(&cold.w), stop, &on);
    assert!(cold.converged && warm.converged);
    assert!(warm.passes < cold.passes, "{} {}", warm.passes, cold.passes);
    for (warm, cold) in warm.certificates.iter().zip(&cold.certificates) {
        assert!(warm.objective <= cold.objective * (1.0 + 1e-12), "{warm:?} {cold:?}");
    }
}
