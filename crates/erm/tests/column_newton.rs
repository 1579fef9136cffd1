//! Newton's method column by column against dual ascent, which shares nothing with it but the certificate.

use lineal_erm::columns::{self, ColumnTask};
use lineal_linalg::{Csr, Dense, Matrix, Rng};
use lineal_loss::{Logistic, OfMargin, SquaredHinge};
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

fn agree<L: OfMargin<f64>>(loss: L, signs: Signs<'_>, n_columns: usize) {
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
                let stop = Stop { tol: 1e-9, max_passes: 100_000 };
                let on = |_| ControlFlow::Continue(());
                let newton = columns::newton::<f64, L>(&task, loss, stop, &on);
                let dual = Dual { stop: Stop { tol: 1e-7, ..stop }, ..Dual::default() };
                let dual = columns::dual::<f64, L>(&task, loss, &dual, &on);
                let case = format!("sparse {sparse}, {bias:?}, l2 {l2}");
                assert!(newton.converged && newton.passes < 60, "{case}: {}", newton.passes);
                for (newton, dual) in newton.certificates.iter().zip(&dual.certificates) {
                    let gap = newton.finite_gap().expect("a gap");
                    assert!(gap <= 1e-8 * newton.objective, "{case}: gap {gap:e}");
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
    agree(SquaredHinge(ZeroOne), Signs::OneVsAll, 3);
    agree(Logistic(NoCost), Signs::OneVsAll, 3);
}

/// Rows of a third class take no part in a pair, and answers may count for more or less.
#[test]
fn pairs_and_weighted_answers_reach_the_optimum_of_the_dual() {
    let table = [1.0, 1.0, 0.0, -1.0, 0.0, 0.5, 0.0, -2.0, -1.0];
    agree(SquaredHinge(ZeroOne), Signs::Table { table: &table, n_columns: 3 }, 3);
    agree(Logistic(NoCost), Signs::Table { table: &table, n_columns: 3 }, 3);
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
        let fit = columns::newton::<f64, _>(&task, SquaredHinge(ZeroOne), stop, &on);
        assert!(fit.w.iter().all(|w| w.is_finite()), "{bias:?}: {:?}", fit.w);
        assert!(fit.certificates.iter().all(|proof| proof.objective.is_finite()), "{bias:?}");
    }
}
