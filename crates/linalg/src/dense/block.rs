//! Several dense rows at once: each weight that is read, or written, serves four rows. Row by row, the weights of 784 features and 10 outputs (50 kB) came from the second cache for every one of them.
//!
//! The sums of a row have the same order, and the same bits, however many rows are beside it.

use crate::Scalar;
use crate::vectors::vectorised;

/// Rows that are walked along together.
pub const BLOCK: usize = 4;

/// Covers `0..k` by tiles whose sums stay in registers.
macro_rules! for_tiles {
    ($k:expr, $at:ident, $T:ident, $body:expr) => {{
        let (k, mut $at) = ($k, 0);
        for_tiles!(@while 16, k, $at, $T, $body);
        for_tiles!(@while 8, k, $at, $T, $body);
        for_tiles!(@while 4, k, $at, $T, $body);
        for_tiles!(@while 1, k, $at, $T, $body);
    }};
    (@while $n:literal, $k:ident, $at:ident, $T:ident, $body:expr) => {
        while $k - $at >= $n {
            const $T: usize = $n;
            $body;
            $at += $n;
        }
    };
}

/// `out[r·k + c] = Σ x[r][j] w[j·k + c]`, each sum in the order of the columns, where `out` has `k` numbers for each of at most [`BLOCK`] rows.
///
/// # Panics
/// If rows differ in length or have more columns than `w`.
pub fn block_scores<F: Scalar>(x: &[&[f32]], w: &[F], out: &mut [F]) {
    let k = out.len() / x.len().max(1);
    match *x {
        [a, b, c, d] => rows_scores([a, b, c, d], w, k, out),
        _ => x
            .iter()
            .zip(out.chunks_exact_mut(k.max(1)))
            .for_each(|(&x, out)| rows_scores([x], w, k, out)),
    }
}

/// `w[j·k + c] += x[r][j] g[r·k + c]`, row by row, where `g` has `k` numbers for each of at most [`BLOCK`] rows.
///
/// # Panics
/// If rows differ in length or have more columns than `w`.
pub fn block_add<F: Scalar>(x: &[&[f32]], g: &[F], w: &mut [F]) {
    let k = g.len() / x.len().max(1);
    match *x {
        [a, b, c, d] => rows_add([a, b, c, d], g, k, w),
        _ => x.iter().zip(g.chunks_exact(k.max(1))).for_each(|(&x, g)| rows_add([x], g, k, w)),
    }
}

fn check<const R: usize>(x: &[&[f32]; R], k: usize, n_weights: usize) {
    assert!(x.iter().all(|row| row.len() == x[0].len()), "dense rows of different lengths");
    assert!(x[0].len().saturating_mul(k) <= n_weights, "dense rows with more columns than weights");
}

#[inline(never)]
fn rows_scores<F: Scalar, const R: usize>(x: [&[f32]; R], w: &[F], k: usize, out: &mut [F]) {
    check(&x, k, w.len());
    vectorised(
        #[inline(always)]
        || {
            for_tiles!(k, at, T, {
                // SAFETY: (j + 1)·k ≤ w.len() for all columns j, as was checked, and at + T ≤ k.
                let sums = unsafe { scores_tile::<F, R, T>(&x, w.as_ptr().wrapping_add(at), k) };
                for r in 0..R {
                    out[r * k + at..][..T].copy_from_slice(&sums[r]);
                }
            });
        },
    );
}

/// # Safety
/// The rows are as long as the first, and `w.add(j·k .. j·k + T)` is readable for each of their columns `j`.
#[inline(always)]
unsafe fn scores_tile<F: Scalar, const R: usize, const T: usize>(
    x: &[&[f32]; R],
    w: *const F,
    k: usize,
) -> [[F; T]; R] {
    let mut sums = [[F::ZERO; T]; R];
    for j in 0..x[0].len() {
        // SAFETY: the caller's promise.
        unsafe {
            let w = &*w.add(j * k).cast::<[F; T]>();
            for r in 0..R {
                let v = F::from_f32(*x[r].get_unchecked(j));
                for c in 0..T {
                    sums[r][c] += v * w[c];
                }
            }
        }
    }
    sums
}

#[inline(never)]
fn rows_add<F: Scalar, const R: usize>(x: [&[f32]; R], g: &[F], k: usize, w: &mut [F]) {
    check(&x, k, w.len());
    vectorised(
        #[inline(always)]
        || {
            for_tiles!(k, at, T, {
                let mut tiles = [[F::ZERO; T]; R];
                for r in 0..R {
                    tiles[r].copy_from_slice(&g[r * k + at..][..T]);
                }
                // SAFETY: (j + 1)·k ≤ w.len() for all columns j, as was checked, and at + T ≤ k.
                unsafe { add_tile(&x, &tiles, w.as_mut_ptr().wrapping_add(at), k) };
            });
        },
    );
}

/// # Safety
/// The rows are as long as the first, and `w.add(j·k .. j·k + T)` is writable for each of their columns `j`.
#[inline(always)]
unsafe fn add_tile<F: Scalar, const R: usize, const T: usize>(
    x: &[&[f32]; R],
    g: &[[F; T]; R],
    w: *mut F,
    k: usize,
) {
    for j in 0..x[0].len() {
        // SAFETY: the caller's promise.
        unsafe {
            let w = &mut *w.add(j * k).cast::<[F; T]>();
            let mut sum = *w;
            for r in 0..R {
                let v = F::from_f32(*x[r].get_unchecked(j));
                // Products first: in one loop the compiler turned the sums over rows into vectors, at a tenth of the speed.
                let mut product = g[r];
                for c in 0..T {
                    product[c] = v * product[c];
                }
                for c in 0..T {
                    sum[c] += product[c];
                }
            }
            *w = sum;
        }
    }
}
