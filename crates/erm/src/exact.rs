//! Least squares at once: (mean xxᵀ + l2·I) W = mean x tᵀ, all outputs with one factorisation.
//!
//! Cholesky on the normal equations squares the condition number; where the factor's diagonal says that this loses too
//! much, QR on the weighted rows [√share·x; √l2·I] takes over, with column pivoting, so that a singular
//! problem gets the solution of least norm.

use crate::rows::{Examples, Rows};
use crate::shards::{Shard, Shards};
use lineal_linalg::{DenseSink, Row, dense};
use lineal_loss::Target;
use lineal_model::space::Real;
use lineal_model::{Linear, Model};
use lineal_solver::Interrupt;
use rayon::prelude::*;
use thiserror::Error;

/// The Gram matrix must fit: 4,000² numbers are 128 MB.
const MAX_FEATURES: usize = 4000;
/// From so many features on, shards of the Gram matrix would take more memory than the rows: 256² numbers are half a megabyte.
const WIDE: usize = 256;
/// Cholesky keeps half of the digits up to here.
const MAX_CONDITION: f64 = 1e10;
/// QR holds all rows densely: 2 GB.
const MAX_QR: usize = 1 << 28;

/// Why there is no exact answer.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExactError {
    /// Too many features for a dense factorisation.
    #[error(
        "the exact solver is for up to {MAX_FEATURES} features, this data has {0}; use spec.solver = newton, lbfgs or dual"
    )]
    TooWide(usize),
    /// Ill-conditioned and too tall for QR.
    #[error(
        "the normal equations are ill-conditioned and {0} rows are too many for QR; use spec.standardize, a larger spec.penalty.l2, or spec.solver = newton"
    )]
    TooTall(usize),
}

/// The weights that minimise mean ½‖θ − t‖² + (l2/2)‖w‖².
pub fn exact<S: Target<f64>>(
    model: &Linear<S>,
    data: &Rows<'_, S::Output>,
    l2: f64,
) -> Result<Vec<f64>, ExactError> {
    // All outputs share the Gram matrix of a model with one output.
    let one = Linear::new(model.n_features(), Real, model.bias());
    let n = Model::<f64>::dim(&one);
    if n > MAX_FEATURES {
        return Err(ExactError::TooWide(model.n_features()));
    }
    let (n_rows, k) = (data.n_rows(), Model::<f64>::max_parts(model));
    let share = |i| data.row_share(i);
    let interrupt = Interrupt::current();
    let target = |i: usize, c| S::target(data.outputs()[i], c);

    let mut gram = vec![0.0; n * n];
    if n >= WIDE && n_rows > 0 && matches!(data.row(0), Row::Dense(_)) {
        add_wide_gram(n, data, &interrupt, &mut gram);
    } else {
        Shards::new(n_rows, n * n, n_rows * n * n / 4).accumulate(&mut gram, &|range, gram| {
            add_gram(&one, data, range, gram);
            0.0
        });
    }
    let n_penalised = Model::<f64>::n_penalised(&one);
    for j in 0..n_penalised {
        gram[j * n + j] += l2;
    }
    let mut rhs = vec![0.0; n * k];
    let work = Examples::<f64, Linear<S>>::work(data, model);
    Shards::new(n_rows, n * k, work).accumulate(&mut rhs, &|range, rhs| {
        let mut t = vec![0.0; k];
        for i in range {
            t.iter_mut().enumerate().for_each(|(c, t)| *t = share(i) * target(i, c));
            model.accumulate(data.row(i), &t, &mut DenseSink(rhs));
        }
        0.0
    });

    let mut w = vec![0.0; n * k];
    let factored = dense::cholesky_while(&mut gram, n, &|| !interrupt.is_stopped()).is_ok();
    if interrupt.is_stopped() {
        return Ok(w);
    }
    if factored && dense::condition_estimate(&gram, n) < MAX_CONDITION {
        let mut column = vec![0.0; n];
        for c in 0..k {
            (0..n).for_each(|j| column[j] = rhs[j * k + c]);
            dense::cholesky_solve(&gram, n, &mut column);
            (0..n).for_each(|j| w[j * k + c] = column[j]);
        }
        return Ok(w);
    }

    let m = n_rows + n_penalised;
    if m.saturating_mul(n) > MAX_QR {
        return Err(ExactError::TooTall(n_rows));
    }
    let mut a = vec![0.0; m * n];
    for i in 0..n_rows {
        let mut entries = vec![0.0; n];
        one.accumulate(data.row(i), &[share(i).sqrt()], &mut DenseSink(&mut entries));
        (0..n).for_each(|j| a[j * m + i] = entries[j]);
    }
    for j in 0..n_penalised {
        a[j * m + n_rows + j] = l2.sqrt();
    }
    let qr = dense::Qr::new(a, m, n);
    let (mut b, mut column) = (vec![0.0; m], vec![0.0; n]);
    for c in 0..k {
        (0..n_rows).for_each(|i| b[i] = share(i).sqrt() * target(i, c));
        qr.least_squares(&b, &mut column);
        (0..n).for_each(|j| w[j * k + c] = column[j]);
    }
    Ok(w)
}

/// Adds Σ share·xxᵀ of some rows, with the bias as a last feature, to the lower triangle. Dense rows go by blocks through the
/// tiles of [`dense::gram`], sparse ones entry by entry.
fn add_gram<Y>(one: &Linear<Real>, data: &Rows<'_, Y>, range: Shard<'_>, gram: &mut [f64]) {
    const BLOCK: usize = 128;
    let n = Model::<f64>::dim(one);
    let (mut rows, mut roots) = (Vec::new(), Vec::new());
    let end = range.end();
    for i in range {
        match data.row(i) {
            Row::Dense(x) => {
                rows.extend_from_slice(x);
                rows.resize(rows.len() + n - x.len(), 1.0f32);
                roots.push(data.row_share(i).sqrt());
            }
            sparse => one.accumulate_outer(sparse, &[data.row_share(i)], gram),
        }
        if roots.len() == BLOCK || (i + 1 == end && !roots.is_empty()) {
            dense::gram(&rows, n, Some(&roots), gram);
            rows.clear();
            roots.clear();
        }
    }
}

/// The same for dense rows of many features, into a matrix of which there is no second copy: threads share out its rows.
fn add_wide_gram<Y>(n: usize, data: &Rows<'_, Y>, interrupt: &Interrupt, gram: &mut [f64]) {
    const PART: usize = 16 * dense::GramBlock::STEP;
    let mut block = dense::GramBlock::new(n);
    let (mut rows, mut roots) = (Vec::new(), Vec::new());
    for start in (0..data.n_rows()).step_by(dense::GramBlock::ROWS) {
        let end = (start + dense::GramBlock::ROWS).min(data.n_rows());
        rows.clear();
        roots.clear();
        for i in start..end {
            if let Row::Dense(x) = data.row(i) {
                rows.extend_from_slice(x);
                rows.resize(rows.len() + n - x.len(), 1.0f32);
                roots.push(data.row_share(i).sqrt());
            }
        }
        block.fill(&rows, Some(&roots));
        gram.par_chunks_mut(PART * n).enumerate().for_each(|(at, part)| {
            if !interrupt.is_stopped() {
                block.add_to(at * PART, part);
            }
        });
        if interrupt.is_stopped() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::{Dense, Matrix};
    use lineal_model::Bias;

    #[test]
    fn a_singular_problem_gets_the_solution_of_least_norm() {
        // Two equal columns without a penalty: the weight is shared.
        let x = Matrix::Dense(Dense::new(3, 2, vec![1.0, 1.0, 2.0, 2.0, 4.0, 4.0]).unwrap());
        let y = [2.0, 4.0, 8.0];
        let model = Linear::new(2, Real, Bias::None);
        let w = exact(&model, &Rows::new(&x, &y, None), 0.0).unwrap();
        assert!((w[0] - 1.0).abs() < 1e-9 && (w[1] - 1.0).abs() < 1e-9, "{w:?}");
    }

    #[test]
    fn wide_rows_have_the_normal_equations_of_others() {
        // Features of a few values, so that sums are exact in any order.
        let (n_rows, n) = (70, WIDE);
        let value = |i: usize, j: usize| ((i * 31 + j * 17 + i * j) % 5) as f32;
        let rows: Vec<f32> = (0..n_rows).flat_map(|i| (0..n).map(move |j| value(i, j))).collect();
        let x = Matrix::Dense(Dense::new(n_rows, n, rows).unwrap());
        let y: Vec<f64> = (0..n_rows).map(|i| (i % 7) as f64).collect();
        let data = Rows::new(&x, &y, None);
        let one = Linear::new(n, Real, Bias::Free);
        let dim = Model::<f64>::dim(&one);
        let (mut wide, mut other) = (vec![0.0; dim * dim], vec![0.0; dim * dim]);
        add_wide_gram(dim, &data, &Interrupt::new(), &mut wide);
        Shards::new(n_rows, dim * dim, 1).accumulate(&mut other, &|range, gram| {
            add_gram(&one, &data, range, gram);
            0.0
        });
        for (a, b) in wide.iter().zip(&other) {
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}");
        }
    }

    #[test]
    fn an_ill_conditioned_problem_is_still_solved() {
        // Columns 1 and 1 + 1e-6·t (in f32): normal equations would lose the difference.
        let rows: Vec<f32> = (0..20).flat_map(|t| [1.0, 1.0 + t as f32 * 1e-6]).collect();
        let y: Vec<f64> = rows.chunks(2).map(|r| f64::from(r[0]) * 3.0 - f64::from(r[1])).collect();
        let x = Matrix::Dense(Dense::new(20, 2, rows).unwrap());
        let model = Linear::new(2, Real, Bias::None);
        let w = exact(&model, &Rows::new(&x, &y, None), 0.0).unwrap();
        assert!((w[0] - 3.0).abs() < 1e-6 && (w[1] + 1.0).abs() < 1e-6, "{w:?}");
    }
}
