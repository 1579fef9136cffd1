//! `A = LLᵀ` for positive definite matrices, its condition, and the Gram matrix that leads to it.

use crate::vectors::vectorised;
use crate::{Scalar, kernels};
use thiserror::Error;

/// A pivot was not positive, or so small beside its row's diagonal that it is rounding.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("the matrix is not positive definite: pivot {row} became {pivot:e}")]
pub struct NotPositiveDefinite {
    /// Where.
    pub row: usize,
    /// What was left of the diagonal.
    pub pivot: f64,
}

/// Replaces the lower triangle of the symmetric `n × n` matrix `a` by its factor `L`.
///
/// After an error the triangle holds a half-done factor.
///
/// # Panics
/// If `a` is shorter than `n × n`.
pub fn cholesky(a: &mut [f64], n: usize) -> Result<(), NotPositiveDefinite> {
    assert!(a.len() >= n * n, "{} numbers for a {n} × {n} matrix", a.len());
    let mut pack = vec![0.0; n.next_multiple_of(TILE) * BLOCK];
    for k in (0..n).step_by(BLOCK) {
        let width = BLOCK.min(n - k);
        factor_columns(a, n, k, width)?;
        let below = k + width;
        pack_tiles(&mut pack, n - below, width, |p, j| a[(below + j) * n + k + p]);
        rank_update(&mut a[below * n..], n, below, n - below, &pack, width, -1.0);
    }
    Ok(())
}

/// Solves `LLᵀx = b` in place, `l` being [`cholesky`]'s.
///
/// # Panics
/// If a slice is too short.
pub fn cholesky_solve(l: &[f64], n: usize, b: &mut [f64]) {
    let b = &mut b[..n];
    for i in 0..n {
        let (row, diagonal) = (&l[i * n..i * n + i], l[i * n + i]);
        b[i] = (b[i] - kernels::dot64(row, &b[..i])) / diagonal;
    }
    for i in (0..n).rev() {
        let (row, diagonal) = (&l[i * n..i * n + i], l[i * n + i]);
        let (before, rest) = b.split_at_mut(i);
        rest[0] /= diagonal;
        kernels::axpy(-rest[0], row, before);
    }
}

/// (max Lᵢᵢ / min Lᵢᵢ)²: a lower bound on the condition number of `LLᵀ`, in n steps.
///
/// Usually within a factor n of it, but not always: a large answer is proof of trouble, a small one is a good sign.
pub fn condition_estimate(l: &[f64], n: usize) -> f64 {
    let diagonal = || (0..n).map(|i| l[i * n + i]);
    let (low, high) = (diagonal().fold(f64::INFINITY, f64::min), diagonal().fold(0.0, f64::max));
    if n == 0 { 1.0 } else { (high / low).powi(2) }
}

/// Adds `Σ sₚ² xₚxₚᵀ` to the lower triangle of the `n × n` matrix `out`.
///
/// The rows `x` of length `n` lie one after the other; `scale` has one `s` a row (a weight's square root), or is
/// `None` for all ones. Products and sums are f64 whatever `F` is.
///
/// # Panics
/// If the lengths do not fit together.
pub fn gram<F: Scalar>(x: &[F], n: usize, scale: Option<&[f64]>, out: &mut [f64]) {
    assert!(out.len() >= n * n, "{} numbers for a {n} × {n} matrix", out.len());
    assert!(x.is_empty() || x.len().is_multiple_of(n), "{} numbers in rows of {n}", x.len());
    if x.is_empty() {
        return;
    }
    let n_rows = x.len() / n;
    assert!(scale.is_none_or(|s| s.len() == n_rows), "a scale for each row");
    let mut pack = vec![0.0; n.next_multiple_of(TILE) * BLOCK];
    for start in (0..n_rows).step_by(BLOCK) {
        let depth = BLOCK.min(n_rows - start);
        pack_tiles(&mut pack, n, depth, |p, j| {
            x[(start + p) * n + j].to_f64() * scale.map_or(1.0, |s| s[start + p])
        });
        rank_update(out, n, 0, n, &pack, depth, 1.0);
    }
}

/// Columns that are factored together, and depth of a rank update: 64 × 8 numbers of a tile are 4 kB, in L1.
const BLOCK: usize = 64;
/// Columns of a register tile.
pub(super) const TILE: usize = 8;
/// Rows of a register tile: 4 × 8 sums are 8 of AVX2's 16 registers.
const TILE_ROWS: usize = 4;

/// Columns `k..k + width` of L, rows `k..n`: all earlier columns have been taken off.
fn factor_columns(
    a: &mut [f64],
    n: usize,
    k: usize,
    width: usize,
) -> Result<(), NotPositiveDefinite> {
    for i in k..n {
        let (above, from_i) = a.split_at_mut(i * n);
        let row_i = &mut from_i[k..k + width];
        for j in k..i.min(k + width) {
            let row_j = &above[j * n + k..j * n + k + width];
            let at = j - k;
            row_i[at] = (row_i[at] - kernels::dot64(&row_i[..at], &row_j[..at])) / row_j[at];
        }
        if i < k + width {
            let at = i - k;
            let before = row_i[at];
            let pivot = before - kernels::dot64(&row_i[..at], &row_i[..at]);
            // Rounding is relative to the diagonal that the row started with: put back what earlier blocks took off.
            let start = before + kernels::dot64(&from_i[..k], &from_i[..k]);
            if !(pivot > start * n as f64 * f64::EPSILON && pivot.is_finite()) {
                return Err(NotPositiveDefinite { row: i, pivot });
            }
            from_i[i] = pivot.sqrt();
        }
    }
    Ok(())
}

/// `pack[(tile · depth + p) · 8 + c] = entry(p, 8·tile + c)`, padded with zeros.
fn pack_tiles(pack: &mut [f64], n: usize, depth: usize, entry: impl Fn(usize, usize) -> f64) {
    for (tile, out) in pack.chunks_exact_mut(depth * TILE).take(n.div_ceil(TILE)).enumerate() {
        let first = tile * TILE;
        for (p, out) in out.chunks_exact_mut(TILE).enumerate() {
            for (c, out) in out.iter_mut().enumerate() {
                *out = if first + c < n { entry(p, first + c) } else { 0.0 };
            }
        }
    }
}

/// Lower triangle of `C += sign · PᵀP`: `C` is `n × n` from column `left` of `c`, whose rows are `stride` apart.
fn rank_update(
    c: &mut [f64],
    stride: usize,
    left: usize,
    n: usize,
    pack: &[f64],
    depth: usize,
    sign: f64,
) {
    let tile_at = |j: usize| &pack[j * depth..(j + TILE) * depth];
    for i in (0..n).step_by(TILE_ROWS) {
        let rows = &tile_at(i / TILE * TILE)[i % TILE..];
        for j in (0..=i).step_by(TILE) {
            let sums = tile_product(rows, tile_at(j));
            for (r, sums) in sums.iter().enumerate().take(n - i) {
                let until = TILE.min(i + r + 1 - j);
                let at = (i + r) * stride + left + j;
                for (c, &sum) in c[at..at + until].iter_mut().zip(sums) {
                    *c += sign * sum;
                }
            }
        }
    }
}

pub(super) type Tile = [[f64; TILE]; TILE_ROWS];

/// `Σ rows[8p + r] · cols[8p + c]`, in the build of the machine.
#[inline]
pub(super) fn tile_product(rows: &[f64], cols: &[f64]) -> Tile {
    vectorised(
        #[inline(always)]
        || tile_product_portable(rows, cols),
    )
}

#[inline(always)]
pub(super) fn tile_product_portable(rows: &[f64], cols: &[f64]) -> Tile {
    let mut sums = [[0.0; TILE]; TILE_ROWS];
    for (row, col) in rows.chunks(TILE).zip(cols.chunks_exact(TILE)) {
        // The last chunk of `rows` is short by where the tile starts, never below its own four numbers.
        let row = &row[..TILE_ROWS];
        for r in 0..TILE_ROWS {
            for c in 0..TILE {
                sums[r][c] += row[r] * col[c];
            }
        }
    }
    sums
}
