//! Rankings against definitions written out: all orders, all pairs, all choices.

mod enumeration;
mod extremes;
mod gradients;
mod learners;
mod newton;

use lineal_linalg::{Csr, Dense, Matrix};
use lineal_model::structure::{Ask, Found, MaxOracle, Structure, SumOracle};
use lineal_ranking::{Documents, Outcome, Ranking};

/// A matrix whose rows are unit vectors, so that the scores are the weights.
fn identity(n: usize) -> Matrix {
    let values = (0..n * n).map(|at| if at % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
    Matrix::Dense(Dense::new(n, n, values).unwrap())
}

/// The same, sparse.
fn sparse_identity(n: usize) -> Matrix {
    let columns = (0..n as u32).collect();
    Matrix::Sparse(Csr::new(n, (0..=n).collect(), columns, vec![1.0; n]).unwrap())
}

/// What an argmax finds for the first query at these scores.
fn argmax<R: MaxOracle<f64, Output = Outcome, Parts = Documents<f64>>>(
    ranking: &R,
    scores: &[f64],
    ask: Ask,
) -> (Found, Outcome) {
    let (mut s, mut theta, mut y) = (ranking.scratch(), Documents::default(), Outcome::default());
    ranking.scores(0, scores, 1.0, &mut s, &mut theta);
    assert_eq!(theta.values, scores);
    let found = ranking.argmax(0, &mut theta, ask, &mut s, &mut y).unwrap();
    let cost = if ask == Ask::Augmented { ranking.cost(0, &y) } else { 0.0 };
    assert_eq!(found.score, ranking.score(0, &theta, &y) + cost);
    (found, y)
}

fn gold<O>(ranking: &Ranking<'_, O>) -> Outcome
where
    for<'a> Ranking<'a, O>: Structure<f64, Output = Outcome>,
{
    let mut y = Outcome::default();
    ranking.gold(0, &mut y);
    y
}

/// Loss and gradient of the first query, by the smooth function.
fn smooth_loss<R: SumOracle<f64, Output = Outcome, Parts = Documents<f64>>>(
    ranking: &R,
    scores: &[f64],
) -> (f64, Vec<f64>) {
    let (mut s, mut theta, mut mu) =
        (ranking.scratch(), Documents::default(), Documents::default());
    ranking.scores(0, scores, 1.0, &mut s, &mut theta);
    let all = ranking.expect(0, &theta, Ask::Plain, &mut s, &mut mu).unwrap();
    assert_eq!(all, ranking.log_partition(0, &theta, Ask::Plain, &mut s).unwrap());
    let mut y = Outcome::default();
    ranking.gold(0, &mut y);
    ranking.add_output(0, &y, -1.0, &mut mu);
    (all - ranking.score(0, &theta, &y), mu.values)
}

fn near(a: f64, b: f64, tol: f64) -> bool {
    (a - b).abs() <= tol * (1.0 + b.abs())
}

/// Σ score · amount.
fn dot(scores: &[f64], amounts: &[f64]) -> f64 {
    scores.iter().zip(amounts).map(|(score, amount)| score * amount).sum()
}
