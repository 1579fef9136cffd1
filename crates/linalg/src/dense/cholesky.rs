//! `A = LLᵀ` for positive definite matrices, its condition, and the Gram matrix that leads to it.

use crate::vectors::{has_many_registers, vectorised};
use crate::{Scalar, kernels};
use std::ops::Range;
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
    cholesky_while(a, n, &|| true)
}

/// [`cholesky`] as long as `goes_on`, which is asked every millisecond or so. What it leaves when it was stopped means nothing.
///
/// # Panics
/// If `a` is shorter than `n × n`.
pub fn cholesky_while(
    a: &mut [f64],
    n: usize,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), NotPositiveDefinite> {
    assert!(a.len() >= n * n, "{} numbers for a {n} × {n} matrix", a.len());
    let mut pack = vec![0.0; n.next_multiple_of(TILE) * BLOCK];
    for k in (0..n).step_by(BLOCK) {
        if !goes_on() {
            break;
        }
        let width = BLOCK.min(n - k);
        vectorised(
            #[inline(always)]
            || factor_columns(a, n, k, width),
        )?;
        let below = k + width;
        pack_tiles(&mut pack, n - below, width, |p, j| a[(below + j) * n + k + p]);
        let update = Update { pack: &pack, depth: width, sign: -1.0 };
        let place = Place { stride: n, left: below };
        update.add_to(&mut a[below * n..], place, 0..n - below, goes_on);
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
    assert!(scale.is_none_or(|s| s.len() == x.len() / n), "a scale for each row");
    let mut block = GramBlock::new(n);
    for (at, rows) in x.chunks(GramBlock::ROWS * n).enumerate() {
        let first = at * GramBlock::ROWS;
        block.fill(rows, scale.map(|s| &s[first..first + rows.len() / n]));
        block.add_to(0, &mut out[..n * n]);
    }
}

/// Some rows that are packed once and then added to parts of a [Gram matrix](gram), which may go side by side.
pub struct GramBlock {
    pack: Vec<f64>,
    n: usize,
    depth: usize,
}

impl GramBlock {
    /// The most rows that it holds.
    pub const ROWS: usize = GRAM_ROWS;
    /// A part of the matrix begins at a multiple of this many rows.
    pub const STEP: usize = TILE;

    /// No rows, of length `n`.
    pub fn new(n: usize) -> Self {
        Self { pack: vec![0.0; n.next_multiple_of(TILE) * GRAM_ROWS], n, depth: 0 }
    }

    /// Replaces the rows by at most [`ROWS`](Self::ROWS) others, which lie one after the other.
    ///
    /// # Panics
    /// If there are more, or the lengths do not fit together.
    pub fn fill<F: Scalar>(&mut self, x: &[F], scale: Option<&[f64]>) {
        let n = self.n;
        self.depth = x.len() / n.max(1);
        assert!(self.depth <= Self::ROWS && x.len() == self.depth * n, "{} numbers", x.len());
        if self.depth > 0 {
            pack_tiles(&mut self.pack, n, self.depth, |p, j| {
                x[p * n + j].to_f64() * scale.map_or(1.0, |s| s[p])
            });
        }
    }

    /// Adds their outer products to the rows from `first` on of the lower triangle, which `out` holds.
    ///
    /// # Panics
    /// If `first` is not a multiple of [`STEP`](Self::STEP), or `out` not of whole rows.
    pub fn add_to(&self, first: usize, out: &mut [f64]) {
        assert!(first.is_multiple_of(Self::STEP) && out.len().is_multiple_of(self.n.max(1)));
        if self.depth > 0 {
            let end = first + out.len() / self.n;
            let update = Update { pack: &self.pack, depth: self.depth, sign: 1.0 };
            update.add_to(out, Place { stride: self.n, left: 0 }, first..end, &|| true);
        }
    }
}

/// Columns that are factored together, and depth of a rank update: 64 × 8 numbers of a tile are 4 kB, in L1.
const BLOCK: usize = 64;
/// Rows that are added to a Gram matrix together: deeper, since all of the matrix is read and written for every block.
const GRAM_ROWS: usize = 128;
/// Rows and columns of a tile: 8 × 8 sums are 8 of AVX-512's 32 registers, and 4 × 8 are 8 of AVX2's 16.
pub(super) const TILE: usize = 8;

/// Columns `k..k + width` of L, rows `k..n`: all earlier columns have been taken off.
#[inline(always)]
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
            row_i[at] = (row_i[at] - kernels::dot64_inline(&row_i[..at], &row_j[..at])) / row_j[at];
        }
        if i < k + width {
            let at = i - k;
            let before = row_i[at];
            let pivot = before - kernels::dot64_inline(&row_i[..at], &row_i[..at]);
            // Rounding is relative to the diagonal that the row started with: put back what earlier blocks took off.
            let start = before + kernels::dot64_inline(&from_i[..k], &from_i[..k]);
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

/// Where a matrix lies: from column `left` on of rows that are `stride` apart.
#[derive(Clone, Copy)]
struct Place {
    stride: usize,
    left: usize,
}

/// `sign · PᵀP`, from a packed P with `depth` rows.
struct Update<'a> {
    pack: &'a [f64],
    depth: usize,
    sign: f64,
}

impl Update<'_> {
    /// Adds these rows of its lower triangle to `c`, which begins with the first of them, as long as `goes_on`.
    fn add_to(&self, c: &mut [f64], place: Place, rows: Range<usize>, goes_on: &dyn Fn() -> bool) {
        let Self { pack, depth, sign } = *self;
        let (first, end) = (rows.start, rows.end);
        let (points, _) = pack.as_chunks::<TILE>();
        let tile_at = |j: usize| &points[j / TILE * depth..][..depth];
        for i in rows.step_by(TILE).take_while(|_| goes_on()) {
            let rows = tile_at(i);
            for j in (0..=i).step_by(TILE) {
                let sums = tile_product(rows, tile_at(j));
                for (r, sums) in sums.iter().enumerate().take(end - i) {
                    let at = (i + r - first) * place.stride + place.left + j;
                    if j < i {
                        // Of a length that is known, so that it is one addition of a register.
                        if let Some(c) = c[at..].first_chunk_mut::<TILE>() {
                            (0..TILE).for_each(|at| c[at] += sign * sums[at]);
                        }
                    } else {
                        c[at..=at + r].iter_mut().zip(sums).for_each(|(c, sum)| *c += sign * sum);
                    }
                }
            }
        }
    }
}

pub(super) type Tile = [[f64; TILE]; TILE];

/// `Σ rows[p][r] · cols[p][c]`, in the build of the machine.
#[inline]
pub(super) fn tile_product(rows: &[[f64; TILE]], cols: &[[f64; TILE]]) -> Tile {
    let mut sums = [[0.0; TILE]; TILE];
    vectorised(
        #[inline(always)]
        || match has_many_registers() {
            true => tile_rows::<TILE>(rows, cols, 0, &mut sums),
            false => tile_halves(rows, cols, &mut sums),
        },
    );
    sums
}

/// Each half by itself: the same sums, in fewer registers.
#[inline(always)]
pub(super) fn tile_halves(rows: &[[f64; TILE]], cols: &[[f64; TILE]], sums: &mut Tile) {
    const HALF: usize = TILE / 2;
    tile_rows::<HALF>(rows, cols, 0, sums);
    tile_rows::<HALF>(rows, cols, HALF, sums);
}

/// `R` rows of a tile, from row `first` on.
#[inline(always)]
fn tile_rows<const R: usize>(
    rows: &[[f64; TILE]],
    cols: &[[f64; TILE]],
    first: usize,
    out: &mut Tile,
) {
    let mut sums = [[0.0; TILE]; R];
    for (row, col) in rows.iter().zip(cols) {
        for (r, sums) in sums.iter_mut().enumerate() {
            let v = row[first + r];
            // Products first, as in `add_tile`: else the compiler shuffles vectors of several rows.
            let mut product = *col;
            (0..TILE).for_each(|c| product[c] *= v);
            (0..TILE).for_each(|c| sums[c] += product[c]);
        }
    }
    out[first..first + R].copy_from_slice(&sums);
}
