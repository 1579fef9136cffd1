//! Small dense factorisations in f64: `A = LLᵀ` and `AΠ = QR`, and the Gram matrix that leads to the first.
//!
//! Layouts, chosen so that every inner loop is contiguous:
//!
//! - [`cholesky`], [`cholesky_solve`], [`gram`]: `n × n`, **row-major**, only the lower triangle (with the
//!   diagonal) is read and written. What the strict upper triangle holds stays as it was.
//! - [`Qr`]: `m × n`, **column-major** (column `j` is `a[j*m..(j+1)*m]`), because a reflection acts on columns.
//!
//! Cholesky is the right-looking blocked one (Golub & Van Loan, *Matrix Computations*, 4th ed., algorithm 4.2.2
//! with §4.2.6's blocks): factor 64 columns, then take their outer product off the rest. Nearly all of its n³/3
//! multiply–adds are in that update, which runs over 4 × 8 tiles held in registers. Every sum has a fixed order,
//! the same with and without AVX2, and nothing is fused: the bits do not depend on the machine.
//!
//! QR is Householder's with column pivoting (Golub & Van Loan, algorithm 5.4.1), with norms downdated and
//! recomputed as in LAPACK's `dlaqp2`. For a rank-deficient matrix a second factorisation, of the transposed leading
//! rows of R, gives the solution of least norm (the complete orthogonal decomposition, §5.5.7).

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
const TILE: usize = 8;
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

type Tile = [[f64; TILE]; TILE_ROWS];

/// `Σ rows[8p + r] · cols[8p + c]`, for AVX2 where the machine has it.
#[inline]
fn tile_product(rows: &[f64], cols: &[f64]) -> Tile {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2(rows: &[f64], cols: &[f64]) -> Tile {
            tile_product_portable(rows, cols)
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was detected.
            return unsafe { avx2(rows, cols) };
        }
    }
    tile_product_portable(rows, cols)
}

#[inline(always)]
fn tile_product_portable(rows: &[f64], cols: &[f64]) -> Tile {
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

/// A factorisation `AΠ = QR` with column pivoting, ready to solve least squares.
///
/// ```
/// use lineal_linalg::dense::Qr;
///
/// // Columns (1, 1, 1) and (0, 1, 2): the line through three points.
/// let qr = Qr::new(vec![1.0, 1.0, 1.0, 0.0, 1.0, 2.0], 3, 2);
/// let mut x = [0.0; 2];
/// qr.least_squares(&[1.0, 3.0, 5.0], &mut x);
/// assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14);
/// ```
#[derive(Clone, Debug)]
pub struct Qr {
    /// R on and above the diagonal, reflections `v` (with `v[k] = 1` understood) below it.
    a: Vec<f64>,
    tau: Vec<f64>,
    /// `order[k]` is the column of A that stands at `k`.
    order: Vec<usize>,
    m: usize,
    n: usize,
    rank: usize,
    /// Of the transposed first `rank` rows of R, where `rank < n`.
    transposed: Option<Box<Qr>>,
}

impl Qr {
    /// Factors the column-major `m × n` matrix `a`; `m` may be less than `n`.
    ///
    /// Its rank is the number of diagonal entries of R above `max(m, n) · ε` times the first.
    ///
    /// # Panics
    /// If `a` does not have `m · n` numbers.
    pub fn new(a: Vec<f64>, m: usize, n: usize) -> Self {
        Self::with_tolerance(a, m, n, m.max(n) as f64 * f64::EPSILON)
    }

    /// [`Qr::new`] with another relative tolerance for the rank.
    ///
    /// # Panics
    /// If `a` does not have `m · n` numbers.
    pub fn with_tolerance(a: Vec<f64>, m: usize, n: usize, tolerance: f64) -> Self {
        let mut qr = Self::factor(a, m, n, tolerance);
        if qr.rank < n {
            let rank = qr.rank;
            let mut rows = vec![0.0; n * rank];
            for (i, row) in rows.chunks_exact_mut(n).enumerate() {
                for j in i..n {
                    row[j] = qr.a[j * m + i];
                }
            }
            qr.transposed = Some(Box::new(Self::factor(rows, n, rank, 0.0)));
        }
        qr
    }

    /// The numerical rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Writes the `x` (length `n`) that minimises `‖Ax − b‖`; among several, the one of least norm.
    ///
    /// # Panics
    /// If `b` is not `m` long or `x` not `n`.
    pub fn least_squares(&self, b: &[f64], x: &mut [f64]) {
        assert_eq!((b.len(), x.len()), (self.m, self.n), "the lengths of b and x");
        let mut c = b.to_vec();
        self.apply_q_transposed(&mut c);
        let mut y = vec![0.0; self.n];
        match &self.transposed {
            None => {
                y.copy_from_slice(&c[..self.n]);
                self.solve_r(&mut y);
            }
            // R₁ = TᵀQ₂ᵀ up to a permutation of rows, so y = Q₂T⁻ᵀc has no part outside R₁'s row space.
            Some(rows) => {
                for (y, &at) in y.iter_mut().zip(&rows.order) {
                    *y = c[at];
                }
                rows.solve_r_transposed(&mut y);
                rows.apply_q(&mut y);
            }
        }
        for (&at, &y) in self.order.iter().zip(&y) {
            x[at] = y;
        }
    }

    fn factor(mut a: Vec<f64>, m: usize, n: usize, tolerance: f64) -> Self {
        assert_eq!(a.len(), m * n, "numbers in a {m} × {n} matrix");
        let norm = |v: &[f64]| kernels::dot64(v, v).sqrt();
        let mut order: Vec<usize> = (0..n).collect();
        let mut norms: Vec<f64> = (0..n).map(|j| norm(&a[j * m..(j + 1) * m])).collect();
        // The norm that was last computed, not downdated: what the rounding error is relative to.
        let mut exact_norms = norms.clone();
        let steps = m.min(n);
        let mut tau = vec![0.0; steps];
        let mut rank = 0;
        for k in 0..steps {
            let pivot = (k..n).fold(k, |best, j| if norms[j] > norms[best] { j } else { best });
            if pivot != k {
                let (left, right) = a.split_at_mut(pivot * m);
                left[k * m..(k + 1) * m].swap_with_slice(&mut right[..m]);
                order.swap(k, pivot);
                norms[pivot] = norms[k];
                exact_norms[pivot] = exact_norms[k];
            }
            let (done, rest) = a.split_at_mut((k + 1) * m);
            let v = &mut done[k * m + k..];
            tau[k] = reflection(v);
            let diagonal = std::mem::replace(&mut v[0], 1.0);
            for (at, column) in rest.chunks_exact_mut(m).enumerate() {
                let column = &mut column[k..];
                kernels::axpy(-tau[k] * kernels::dot64(v, column), v, column);
                let j = k + 1 + at;
                if norms[j] > 0.0 {
                    let left = (1.0 - (column[0] / norms[j]).powi(2)).max(0.0);
                    if left * (norms[j] / exact_norms[j]).powi(2) <= f64::EPSILON.sqrt() {
                        norms[j] = norm(&column[1..]);
                        exact_norms[j] = norms[j];
                    } else {
                        norms[j] *= left.sqrt();
                    }
                }
            }
            v[0] = diagonal;
            let first = a[0].abs();
            if rank == k && diagonal.abs() > tolerance * first {
                rank = k + 1;
            }
        }
        Self { a, tau, order, m, n, rank, transposed: None }
    }

    /// `c ← Qᵀc`.
    fn apply_q_transposed(&self, c: &mut [f64]) {
        for k in 0..self.tau.len() {
            self.reflect(k, c);
        }
    }

    /// `c ← Qc`.
    fn apply_q(&self, c: &mut [f64]) {
        for k in (0..self.tau.len()).rev() {
            self.reflect(k, c);
        }
    }

    fn reflect(&self, k: usize, c: &mut [f64]) {
        let v = &self.a[k * self.m + k + 1..(k + 1) * self.m];
        let along = self.tau[k] * (c[k] + kernels::dot64(v, &c[k + 1..]));
        c[k] -= along;
        kernels::axpy(-along, v, &mut c[k + 1..]);
    }

    /// `y ← R⁻¹y`, full rank.
    fn solve_r(&self, y: &mut [f64]) {
        for j in (0..self.n).rev() {
            let column = &self.a[j * self.m..=j * self.m + j];
            y[j] /= column[j];
            let y_j = y[j];
            kernels::axpy(-y_j, &column[..j], &mut y[..j]);
        }
    }

    /// The first `n` of `y ← R⁻ᵀy`, full rank.
    fn solve_r_transposed(&self, y: &mut [f64]) {
        for j in 0..self.n {
            let column = &self.a[j * self.m..=j * self.m + j];
            y[j] = (y[j] - kernels::dot64(&column[..j], &y[..j])) / column[j];
        }
    }
}

/// Makes `v` the reflection `I − τvvᵀ` (with `v[0] = 1` understood) that maps it to `(β, 0, …)`; `v[0]` becomes β.
fn reflection(v: &mut [f64]) -> f64 {
    let (head, tail) = v.split_at_mut(1);
    let below = kernels::dot64(tail, tail);
    if below == 0.0 {
        return 0.0;
    }
    let alpha = head[0];
    // The sign that does not cancel.
    let beta = -(alpha * alpha + below).sqrt().copysign(alpha);
    for v in tail {
        *v /= alpha - beta;
    }
    head[0] = beta;
    (beta - alpha) / beta
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Entries in [−1, 1), the same every time.
    fn noise(len: usize, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..len).map(|_| next()).collect()
    }

    /// A + Aᵀ over the lower triangle's mirror.
    fn symmetric(lower: &[f64], n: usize, i: usize, j: usize) -> f64 {
        lower[i.max(j) * n + i.min(j)]
    }

    fn gram_by_definition(x: &[f64], n: usize, scale: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; n * n];
        for (x, s) in x.chunks_exact(n).zip(scale) {
            for i in 0..n {
                for j in 0..=i {
                    out[i * n + j] += s * x[i] * (s * x[j]);
                }
            }
        }
        out
    }

    fn positive_definite(n: usize, seed: u64) -> Vec<f64> {
        let mut a = vec![0.0; n * n];
        gram(&noise((n + 2) * n, seed), n, None, &mut a);
        for i in 0..n {
            a[i * n + i] += 0.1;
        }
        a
    }

    /// 1 / (i + j + 1): the least squares problem that normal equations cannot do.
    fn hilbert(m: usize, n: usize) -> Vec<f64> {
        (0..n).flat_map(|j| (0..m).map(move |i| 1.0 / (i + j + 1) as f64)).collect()
    }

    fn times(a: &[f64], m: usize, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; m];
        for (column, &x) in a.chunks_exact(m).zip(x) {
            kernels::axpy(x, column, &mut out);
        }
        out
    }

    /// ‖Aᵀ(Ax − b)‖∞.
    fn normal_residual(a: &[f64], m: usize, x: &[f64], b: &[f64]) -> f64 {
        let mut r = times(a, m, x);
        kernels::axpy(-1.0, b, &mut r);
        a.chunks_exact(m).map(|column| kernels::dot64(column, &r).abs()).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn gram_is_the_sum_of_outer_products(n in 1usize..30, rows in 0usize..150, seed: u64) {
            let (x, scale) = (noise(n * rows, seed), noise(rows, seed ^ 1));
            let mut out = vec![0.0; n * n];
            gram(&x, n, Some(&scale), &mut out);
            for (got, want) in out.iter().zip(gram_by_definition(&x, n, &scale)) {
                prop_assert!((got - want).abs() < 1e-12);
            }
        }

        #[test]
        fn cholesky_reproduces_and_solves(n in 1usize..150, seed: u64) {
            let a = positive_definite(n, seed);
            let mut l = a.clone();
            cholesky(&mut l, n).unwrap();
            for i in 0..n {
                for j in 0..=i {
                    let product = kernels::dot64(&l[i * n..=i * n + j], &l[j * n..=j * n + j]);
                    prop_assert!((product - a[i * n + j]).abs() < 1e-12 * n as f64);
                }
            }
            let x = noise(n, seed ^ 2);
            let mut b: Vec<f64> = (0..n)
                .map(|i| (0..n).map(|j| symmetric(&a, n, i, j) * x[j]).sum())
                .collect();
            cholesky_solve(&l, n, &mut b);
            for (got, want) in b.iter().zip(&x) {
                prop_assert!((got - want).abs() < 1e-8);
            }
        }

        #[test]
        fn residual_is_orthogonal_to_the_range(m in 1usize..40, n in 1usize..20, rank in 1usize..20, seed: u64) {
            // A = BC of rank at most `rank`, over- or underdetermined.
            let (b, c) = (noise(m * rank, seed), noise(rank * n, seed ^ 3));
            let a: Vec<f64> = c.chunks_exact(rank).flat_map(|c| times(&b, m, c)).collect();
            let rhs = noise(m, seed ^ 4);
            let qr = Qr::with_tolerance(a.clone(), m, n, 1e-10);
            prop_assert!(qr.rank() <= rank.min(m).min(n));
            let mut x = vec![0.0; n];
            qr.least_squares(&rhs, &mut x);
            prop_assert!(normal_residual(&a, m, &x, &rhs) < 1e-7);
            // Least norm: x is in the row space, so it is a fixed point of x ↦ least_squares(Ax).
            let mut again = vec![0.0; n];
            qr.least_squares(&times(&a, m, &x), &mut again);
            for (x, again) in x.iter().zip(&again) {
                prop_assert!((x - again).abs() <= 1e-6 * (1.0 + x.abs()));
            }
        }
    }

    #[test]
    fn both_builds_give_the_same_bits() {
        let (rows, cols) = (noise(64 * TILE, 1), noise(64 * TILE, 2));
        for offset in [0, 4] {
            let rows = &rows[offset..];
            assert_eq!(tile_product(rows, &cols), tile_product_portable(rows, &cols));
        }
    }

    #[test]
    fn upper_triangle_is_not_touched() {
        let n = 70;
        let mut a = positive_definite(n, 7);
        for i in 0..n {
            a[i * n + i + 1..(i + 1) * n].fill(f64::NAN);
        }
        cholesky(&mut a, n).unwrap();
        for i in 0..n {
            assert!(a[i * n..=i * n + i].iter().all(|v| v.is_finite()));
            assert!(a[i * n + i + 1..(i + 1) * n].iter().all(|v| v.is_nan()));
        }
    }

    #[test]
    fn singular_and_indefinite_matrices_are_refused() {
        assert_eq!(cholesky(&mut [1.0, 0.0, 2.0, 1.0], 2).unwrap_err().row, 1);
        assert!(cholesky(&mut [0.0], 1).is_err());
        assert!(cholesky(&mut [f64::NAN], 1).is_err());
        // Rank 80 of 100: the bad pivot is in the second block.
        let n = 100;
        let mut a = vec![0.0; n * n];
        gram(&noise(80 * n, 5), n, None, &mut a);
        assert_eq!(cholesky(&mut a, n).unwrap_err().row, 80);
        assert!(cholesky(&mut [], 0).is_ok());
    }

    #[test]
    fn condition_estimate_is_exact_on_diagonals() {
        let mut a = [4.0, 0.0, 0.0, 1e-6];
        cholesky(&mut a, 2).unwrap();
        assert!((condition_estimate(&a, 2) / 4e6 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn qr_solves_hilbert_where_normal_equations_fail() {
        let (m, n) = (8, 8);
        let a = hilbert(m, n);
        let ones = vec![1.0; n];
        let b = times(&a, m, &ones);
        let error = |x: &[f64]| x.iter().map(|x| (x - 1.0).abs()).fold(0.0, f64::max);
        let mut x = vec![0.0; n];
        let qr = Qr::new(a.clone(), m, n);
        qr.least_squares(&b, &mut x);
        assert_eq!(qr.rank(), 8);
        assert!(error(&x) < 1e-4, "{x:?}");

        // H is symmetric: its rows are its columns. κ(HᵀH) ≈ 2e20.
        let mut normal = vec![0.0; n * n];
        gram(&a, n, None, &mut normal);
        let mut y: Vec<f64> = a.chunks_exact(m).map(|column| kernels::dot64(column, &b)).collect();
        let failed = match cholesky(&mut normal, n) {
            Err(_) => true,
            Ok(()) => {
                cholesky_solve(&normal, n, &mut y);
                error(&y) > 1e-2
            }
        };
        assert!(failed, "{y:?}");
    }

    #[test]
    fn twin_columns_share_the_weight() {
        let qr = Qr::new(vec![1.0, 2.0, 1.0, 2.0, 0.0, 0.0], 2, 3);
        assert_eq!(qr.rank(), 1);
        let mut x = [9.0; 3];
        qr.least_squares(&[2.0, 4.0], &mut x);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14 && x[2].abs() < 1e-14);
        Qr::new(vec![0.0; 6], 3, 2).least_squares(&[1.0; 3], &mut x[..2]);
        assert_eq!(x[..2], [0.0, 0.0]);
    }
}
