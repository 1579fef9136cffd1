//! The inner loops: scores of a row and their transpose, for one output and for `k` side by side.
//!
//! With `k` outputs the weights of column `j` are `w[j*k..][..k]`, so that one entry of the row meets one
//! contiguous run. Each kernel is written once, generic over the number type and over a tile of `T` outputs
//! held in registers, and compiled for each width of vectors (`vectors.rs`). No build fuses
//! multiply and add or lets the compiler reorder sums, so all give **the same bits**.
//!
//! The generic bodies are compiled in this crate alone, once for each number type, behind methods of [`Scalar`]: inlined
//! into every loss and solver they were compiled anew for each, which the release build paid for.
//!
//! Sums have two accumulators a lane (even and odd entries) so that the add's latency is hidden.

use crate::vectors::vectorised;
use crate::{Row, Scalar, SparseRow};

/// Covers `0..k` by tiles of 32, 24, 20, 16, 12, 10, 8, 6 and 4 outputs, and one of what is left: each is a walk along the row.
macro_rules! for_tiles {
    ($k:expr, $at:ident, $T:ident, $body:expr) => {{
        let k = $k;
        let mut $at = 0;
        while k - $at >= 32 {
            const $T: usize = 32;
            $body;
            $at += 32;
        }
        for_tiles!(@once 24, k, $at, $T, $body);
        for_tiles!(@once 20, k, $at, $T, $body);
        for_tiles!(@once 16, k, $at, $T, $body);
        for_tiles!(@once 12, k, $at, $T, $body);
        for_tiles!(@once 10, k, $at, $T, $body);
        for_tiles!(@once 8, k, $at, $T, $body);
        for_tiles!(@once 6, k, $at, $T, $body);
        for_tiles!(@once 4, k, $at, $T, $body);
        for_tiles!(@once 3, k, $at, $T, $body);
        for_tiles!(@once 2, k, $at, $T, $body);
        for_tiles!(@once 1, k, $at, $T, $body);
        let _ = $at;
    }};
    (@once $n:literal, $k:ident, $at:ident, $T:ident, $body:expr) => {
        if $k - $at >= $n {
            const $T: usize = $n;
            $body;
            $at += $n;
        }
    };
}

/// Σ xⱼ wⱼ.
///
/// # Panics
/// If the row has a column that `w` has not.
#[inline]
pub fn dot<F: Scalar>(x: Row<'_>, w: &[F]) -> F {
    F::kernel_dot(x, w)
}

#[inline(always)]
pub(crate) fn dot_generic<F: Scalar>(x: Row<'_>, w: &[F]) -> F {
    match x {
        Row::Sparse(x) => {
            check(x, 1, w.len());
            // SAFETY: `check` saw that every column of the row is inside `w`.
            unsafe { dot_sparse(x, w) }
        }
        Row::Dense(x) => dot_dense_fast(x, w),
    }
}

/// [`dot_dense`] in the build of the machine.
#[inline(never)]
fn dot_dense_fast<F: Scalar>(x: &[f32], w: &[F]) -> F {
    vectorised(
        #[inline(always)]
        || dot_dense(x, w),
    )
}

/// `out[c] = Σ xⱼ w[j·k + c]` for each of the `k = out.len()` outputs.
///
/// # Panics
/// If the row has a column that `w` has not.
#[inline]
pub fn scores<F: Scalar>(x: Row<'_>, w: &[F], out: &mut [F]) {
    if let [out] = out {
        *out = F::kernel_dot(x, w);
    } else {
        F::kernel_scores(x, w, out);
    }
}

#[inline(always)]
pub(crate) fn scores_generic<F: Scalar, G: SumOf<F>>(x: Row<'_>, w: &[F], out: &mut [G]) {
    match x {
        Row::Sparse(x) => {
            check(x, out.len(), w.len());
            // SAFETY: `check` saw that every column of the row is inside `w`.
            unsafe { scores_fast(Sparse(x), w, out) }
        }
        Row::Dense(x) => {
            assert!(
                x.len().saturating_mul(out.len()) <= w.len(),
                "a dense row with more columns than weights"
            );
            // SAFETY: asserted above.
            unsafe { scores_fast(AllColumns(x), w, out) }
        }
    }
}

/// [`scores`] with products and sums in f64, whatever the weights are.
///
/// # Panics
/// If the row has a column that `w` has not.
#[inline]
pub fn scores64<F: Scalar>(x: Row<'_>, w: &[F], out: &mut [f64]) {
    F::kernel_scores64(x, w, out);
}

/// `w[j·k + c] += xⱼ g[c]` for each of the `k = g.len()` outputs.
///
/// # Panics
/// If the row has a column that `w` has not.
#[inline]
pub fn add_outer<F: Scalar>(x: Row<'_>, g: &[F], w: &mut [F]) {
    F::kernel_add(x, g, w);
}

#[inline(always)]
pub(crate) fn add_generic<F: Scalar>(x: Row<'_>, g: &[F], w: &mut [F]) {
    match x {
        Row::Sparse(x) => {
            check(x, g.len(), w.len());
            if let [g] = *g {
                // SAFETY: `check` saw that every column of the row is inside `w`.
                return unsafe { axpy_sparse(x, g, w) };
            }
            if g.len() >= 2 * OF_MANY {
                let mut few = Few::new();
                if few.are(g) {
                    // SAFETY: `check` saw that every column of the row is inside `w`.
                    return unsafe { add_few(x, few.all(), g.len(), w) };
                }
            }
            // SAFETY: `check` saw that every column of the row is inside `w`.
            unsafe { add_fast(Sparse(x), g, w) }
        }
        Row::Dense(x) => {
            assert!(
                x.len().saturating_mul(g.len()) <= w.len(),
                "a dense row with more columns than weights"
            );
            if let [g] = *g {
                vectorised(
                    #[inline(always)]
                    || {
                        for (w, &v) in w.iter_mut().zip(x) {
                            *w += F::from_f32(v) * g;
                        }
                    },
                );
            } else {
                // SAFETY: asserted above.
                unsafe { add_fast(AllColumns(x), g, w) }
            }
        }
    }
}

/// The scores of some of `k` outputs: `out[i] = Σ xⱼ w[j·k + outputs[i]]`.
///
/// # Panics
/// If the row has a column that `w` has not, or `k` outputs are too few.
pub fn scores_of<F: Scalar>(x: Row<'_>, w: &[F], k: usize, outputs: &[u32], out: &mut [F]) {
    assert!(outputs.iter().all(|&c| (c as usize) < k), "an output beyond the last");
    // SAFETY: every column of the row is inside `w`, as `check` or the assertion saw, and the outputs are below `k`.
    unsafe {
        match x {
            Row::Sparse(x) => {
                check(x, k, w.len());
                scores_of_all(Sparse(x), w, k, outputs, out);
            }
            Row::Dense(x) => {
                assert!(
                    x.len().saturating_mul(k) <= w.len(),
                    "a dense row with more columns than weights"
                );
                scores_of_all(AllColumns(x), w, k, outputs, out);
            }
        }
    }
}

/// # Safety
/// `(column + 1) · k ≤ w.len()` for every entry of `x`, and every output is below `k`.
#[inline(always)]
unsafe fn scores_of_all<F: Scalar>(
    x: impl Entries,
    w: &[F],
    k: usize,
    outputs: &[u32],
    out: &mut [F],
) {
    for (outputs, out) in outputs.chunks(4).zip(out.chunks_mut(4)) {
        // SAFETY: the caller's promise.
        unsafe {
            match outputs.len() {
                4 => scores_of_some::<F, 4>(x, w, k, outputs, out),
                3 => scores_of_some::<F, 3>(x, w, k, outputs, out),
                2 => scores_of_some::<F, 2>(x, w, k, outputs, out),
                _ => scores_of_some::<F, 1>(x, w, k, outputs, out),
            }
        }
    }
}

/// # Safety
/// As [`scores_of_all`], for `T` outputs.
#[inline(always)]
unsafe fn scores_of_some<F: Scalar, const T: usize>(
    x: impl Entries,
    w: &[F],
    k: usize,
    outputs: &[u32],
    out: &mut [F],
) {
    let mut at = [0; T];
    at.iter_mut().zip(outputs).for_each(|(at, &c)| *at = c as usize);
    let mut sums = [F::ZERO; T];
    for p in 0..x.len() {
        // SAFETY: p < len, and the caller's promise.
        unsafe {
            let (j, v) = x.entry(p);
            for c in 0..T {
                sums[c] += F::from_f32(v) * *w.get_unchecked(j * k + at[c]);
            }
        }
    }
    out.copy_from_slice(&sums);
}

/// `w[j·k + outputs[i]] += xⱼ g[i]`: [`add_outer`] of some of `k` outputs.
///
/// # Panics
/// If the row has a column that `w` has not, or `k` outputs are too few.
pub fn add_outer_on<F: Scalar>(x: Row<'_>, outputs: &[u32], g: &[F], k: usize, w: &mut [F]) {
    assert!(outputs.iter().all(|&c| (c as usize) < k), "an output beyond the last");
    if let Row::Sparse(x) = x {
        check(x, k, w.len());
        for (&j, &v) in x.idx().iter().zip(x.val()) {
            let (at, v) = (j as usize * k, F::from_f32(v));
            for (&c, &g) in outputs.iter().zip(g) {
                // SAFETY: `check` saw that every column of the row is inside `w`, and the outputs are below `k`.
                unsafe { *w.get_unchecked_mut(at + c as usize) += v * g };
            }
        }
        return;
    }
    x.for_each(|j, v| {
        for (&c, &g) in outputs.iter().zip(g) {
            w[j * k + c as usize] += F::from_f32(v) * g;
        }
    });
}

/// `out[c] = Σⱼ w[j·k + c]²` in f64 for each of the `k = out.len()` outputs.
pub fn squares<F: Scalar>(w: &[F], out: &mut [f64]) {
    F::kernel_squares(w, out);
}

/// [`squares_tiles`] in the build of the machine.
pub(crate) fn squares_generic<F: Scalar>(w: &[F], out: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || squares_tiles(w, out),
    );
}

#[inline(always)]
fn squares_tiles<F: Scalar>(w: &[F], out: &mut [f64]) {
    for_tiles!(out.len(), at, T, {
        let mut sums = [0.0f64; T];
        for w in w.chunks_exact(out.len()) {
            let w = &w[at..at + T];
            for c in 0..T {
                sums[c] += w[c].to_f64() * w[c].to_f64();
            }
        }
        out[at..at + T].copy_from_slice(&sums);
    });
}

/// Asks for the cache line of an element to be brought near.
#[inline(always)]
pub fn prefetch_at<T>(slice: &[T], at: usize) {
    prefetch(slice.as_ptr().wrapping_add(at));
}

/// Asks for the cache line at an address to be brought near. A hint: any address will do, nothing is read.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, whatever the address, and SSE is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Vectors that are shorter gain nothing from a build of their own.
const LONG: usize = 32;

/// ⟨a, b⟩ in f64, in a fixed order.
pub fn dot64<F: Scalar>(a: &[F], b: &[F]) -> f64 {
    if a.len() < LONG {
        return dot64_inline(a, b);
    }
    vectorised(
        #[inline(always)]
        || dot64_inline(a, b),
    )
}

/// [`dot64`] in the build of its caller.
#[inline(always)]
pub(crate) fn dot64_inline<F: Scalar>(a: &[F], b: &[F]) -> f64 {
    assert_eq!(a.len(), b.len());
    let mut acc = [0.0f64; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 =
        a8.remainder().iter().zip(b8.remainder()).map(|(&a, &b)| a.to_f64() * b.to_f64()).sum();
    for (a, b) in a8.zip(b8) {
        for l in 0..8 {
            acc[l] += a[l].to_f64() * b[l].to_f64();
        }
    }
    acc.iter().sum::<f64>() + tail
}

/// `y += a·x`.
pub fn axpy<F: Scalar>(a: F, x: &[F], y: &mut [F]) {
    assert_eq!(x.len(), y.len());
    if x.len() < LONG {
        return axpy_inline(a, x, y);
    }
    vectorised(
        #[inline(always)]
        || axpy_inline(a, x, y),
    );
}

#[inline(always)]
fn axpy_inline<F: Scalar>(a: F, x: &[F], y: &mut [F]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// One compare a row buys unchecked access to all of its columns: their indices rise.
#[inline(always)]
fn check(x: SparseRow<'_>, k: usize, len: usize) {
    let n_cols = x.idx().last().map_or(0, |&j| j as usize + 1);
    // Saturating, so that no product wraps around to a number that fits.
    assert!(
        n_cols.saturating_mul(k) <= len,
        "a row with column {n_cols} for {len} weights of {k} outputs"
    );
}

/// # Safety
/// Every column of `x` is an index into `w`.
#[inline(always)]
unsafe fn dot_sparse<F: Scalar>(x: SparseRow<'_>, w: &[F]) -> F {
    let (idx, val) = (x.idx().chunks_exact(4), x.val().chunks_exact(4));
    let (idx_tail, val_tail) = (idx.remainder(), val.remainder());
    let mut acc = [F::ZERO; 4];
    for (j, v) in idx.zip(val) {
        for l in 0..4 {
            // SAFETY: the caller's promise.
            acc[l] += F::from_f32(v[l]) * unsafe { *w.get_unchecked(j[l] as usize) };
        }
    }
    for (l, (&j, &v)) in idx_tail.iter().zip(val_tail).enumerate() {
        // SAFETY: the caller's promise.
        acc[l] += F::from_f32(v) * unsafe { *w.get_unchecked(j as usize) };
    }
    (acc[0] + acc[1]) + (acc[2] + acc[3])
}

/// # Safety
/// Every column of `x` is an index into `w`.
#[inline(always)]
unsafe fn axpy_sparse<F: Scalar>(x: SparseRow<'_>, g: F, w: &mut [F]) {
    for (&j, &v) in x.idx().iter().zip(x.val()) {
        // SAFETY: the caller's promise.
        unsafe { *w.get_unchecked_mut(j as usize) += F::from_f32(v) * g };
    }
}

#[inline(always)]
fn dot_dense<F: Scalar>(x: &[f32], w: &[F]) -> F {
    assert!(x.len() <= w.len(), "a dense row with more columns than weights");
    const LANES: usize = 16;
    let mut acc = [F::ZERO; LANES];
    let (x16, w16) = (x.chunks_exact(LANES), w[..x.len()].chunks_exact(LANES));
    let tail = x16.remainder().iter().zip(w16.remainder());
    for (lane, (&v, &w)) in tail.enumerate() {
        acc[lane] += F::from_f32(v) * w;
    }
    for (v, w) in x16.zip(w16) {
        for l in 0..LANES {
            acc[l] += F::from_f32(v[l]) * w[l];
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for l in 0..width {
            acc[l] += acc[l + width];
        }
        width /= 2;
    }
    acc[0]
}

/// How many entries ahead the runs of weights are asked for. Together with the prefetch of rows it took a third off a run with 20 outputs over 56,000
/// features (4.5 MB of weights); other distances were not tried.
const AHEAD: usize = 12;

/// The entries of a row, by position.
trait Entries: Copy {
    fn len(self) -> usize;
    /// # Safety
    /// `p < len()`.
    unsafe fn entry(self, p: usize) -> (usize, f32);
}

#[derive(Clone, Copy)]
struct Sparse<'a>(SparseRow<'a>);

impl Entries for Sparse<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.0.idx().len()
    }
    #[inline(always)]
    unsafe fn entry(self, p: usize) -> (usize, f32) {
        // SAFETY: p < len by contract, and there are as many values as indices.
        unsafe { (*self.0.idx().get_unchecked(p) as usize, *self.0.val().get_unchecked(p)) }
    }
}

#[derive(Clone, Copy)]
struct AllColumns<'a>(&'a [f32]);

impl Entries for AllColumns<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }
    #[inline(always)]
    unsafe fn entry(self, p: usize) -> (usize, f32) {
        // SAFETY: p < len by contract.
        (p, unsafe { *self.0.get_unchecked(p) })
    }
}

/// What products with weights of type `F` are added up in: the same type, or f64.
pub(crate) trait SumOf<F>: Scalar {
    fn of(w: F) -> Self;
}

impl SumOf<f32> for f32 {
    #[inline(always)]
    fn of(w: f32) -> f32 {
        w
    }
}

impl<F: Scalar> SumOf<F> for f64 {
    #[inline(always)]
    fn of(w: F) -> f64 {
        w.to_f64()
    }
}

/// # Safety
/// `(column + 1) · out.len() ≤ w.len()` for every entry of `x`.
#[inline(always)]
unsafe fn scores_tiles<F: Scalar, G: SumOf<F>>(x: impl Entries, w: &[F], out: &mut [G]) {
    let k = out.len();
    // An empty row may come with fewer than `at` weights, so that the pointer is not known to be inside before an entry is there.
    // SAFETY: each tile reads w[j·k + at ..][..T] with at + T ≤ k, inside by the caller's promise.
    for_tiles!(k, at, T, unsafe {
        scores_tile::<F, G, T>(x, w.as_ptr().wrapping_add(at), k, &mut out[at..at + T])
    });
}

/// # Safety
/// `w.add(j·k .. j·k + T)` is readable for each column `j` of `x`.
#[inline(always)]
unsafe fn scores_tile<F: Scalar, G: SumOf<F>, const T: usize>(
    x: impl Entries,
    w: *const F,
    k: usize,
    out: &mut [G],
) {
    let n = x.len();
    // Sums side by side hide the latency of an addition: four of up to 8 outputs, two of more.
    if T < 16 {
        let mut sums = [[G::ZERO; T]; 4];
        let mut p = 0;
        while p + 3 < n {
            for (l, sum) in sums.iter_mut().enumerate() {
                // SAFETY: p + l < n, and the caller's promise for the run.
                unsafe {
                    let (j, v) = x.entry(p + l);
                    fma_run(sum, G::from_f32(v), w.add(j * k));
                }
            }
            p += 4;
        }
        while p < n {
            // SAFETY: p < n, and the caller's promise for the run.
            unsafe {
                let (j, v) = x.entry(p);
                fma_run(&mut sums[0], G::from_f32(v), w.add(j * k));
            }
            p += 1;
        }
        for c in 0..T {
            out[c] = (sums[0][c] + sums[1][c]) + (sums[2][c] + sums[3][c]);
        }
        return;
    }
    let mut even = [G::ZERO; T];
    let mut odd = [G::ZERO; T];
    let mut p = 0;
    while p + 1 < n {
        if p + AHEAD < n {
            // SAFETY: p + AHEAD < n.
            let (j, _) = unsafe { x.entry(p + AHEAD) };
            prefetch(w.wrapping_add(j * k));
            prefetch(w.wrapping_add(j * k + T - 1));
        }
        // SAFETY: p + 1 < n, and the caller's promise for the two runs.
        unsafe {
            let ((j0, v0), (j1, v1)) = (x.entry(p), x.entry(p + 1));
            fma_run(&mut even, G::from_f32(v0), w.add(j0 * k));
            fma_run(&mut odd, G::from_f32(v1), w.add(j1 * k));
        }
        p += 2;
    }
    if p < n {
        // SAFETY: p < n, and the caller's promise for the run.
        unsafe {
            let (j, v) = x.entry(p);
            fma_run(&mut even, G::from_f32(v), w.add(j * k));
        }
    }
    for c in 0..T {
        out[c] = even[c] + odd[c];
    }
}

/// # Safety
/// `w.add(0..T)` is readable.
#[inline(always)]
unsafe fn fma_run<F: Scalar, G: SumOf<F>, const T: usize>(acc: &mut [G; T], v: G, w: *const F) {
    // SAFETY: the caller's promise.
    let w = unsafe { &*w.cast::<[F; T]>() };
    for c in 0..T {
        acc[c] += v * G::of(w[c]);
    }
}

/// # Safety
/// `(column + 1) · g.len() ≤ w.len()` for every entry of `x`.
#[inline(always)]
unsafe fn add_tiles<F: Scalar>(x: impl Entries, g: &[F], w: &mut [F]) {
    let k = g.len();
    // SAFETY: each tile writes w[j·k + at ..][..T] with at + T ≤ k, inside by the caller's promise.
    for_tiles!(k, at, T, unsafe {
        add_tile::<F, T>(x, &g[at..at + T], k, w.as_mut_ptr().wrapping_add(at))
    });
}

/// # Safety
/// `w.add(j·k .. j·k + T)` is writable for each column `j` of `x`.
#[inline(always)]
unsafe fn add_tile<F: Scalar, const T: usize>(x: impl Entries, g: &[F], k: usize, w: *mut F) {
    let mut tile = [F::ZERO; T];
    tile.copy_from_slice(g);
    if tile.iter().all(|&g| g == F::ZERO) {
        return;
    }
    for p in 0..x.len() {
        // SAFETY: p < len, and the caller's promise for the run.
        unsafe {
            let (j, v) = x.entry(p);
            let v = F::from_f32(v);
            let w = &mut *w.add(j * k).cast::<[F; T]>();
            for c in 0..T {
                w[c] += v * tile[c];
            }
        }
    }
}

/// Outputs whose slope is not 0, where they are few: after some passes of a dual over many classes a row moves two or three of them.
struct Few<F> {
    of: [(u32, F); MOST_FEW],
    n: usize,
}

/// The most outputs that are few.
const MOST_FEW: usize = 16;
/// One of so many outputs alone costs as much as all of them side by side: a scalar takes as many instructions as a vector of eight, and the list has to be made.
const OF_MANY: usize = 20;
/// How many outputs are looked at together.
const SIDE_BY_SIDE: usize = 8;

impl<F: Scalar> Few<F> {
    #[inline(always)]
    fn new() -> Self {
        Self { of: [(0, F::ZERO); MOST_FEW], n: 0 }
    }

    /// Whether it pays to walk over these alone.
    #[inline]
    fn are(&mut self, g: &[F]) -> bool {
        let most = (g.len() / OF_MANY).min(MOST_FEW);
        for (at, g) in (0u32..).step_by(SIDE_BY_SIDE).zip(g.chunks(SIDE_BY_SIDE)) {
            let mut any = false;
            for &g in g {
                any |= g != F::ZERO;
            }
            if !any {
                continue;
            }
            for (c, &g) in (at..).zip(g) {
                if g != F::ZERO {
                    if self.n == most {
                        return false;
                    }
                    self.of[self.n] = (c, g);
                    self.n += 1;
                }
            }
        }
        true
    }

    #[inline(always)]
    fn all(&self) -> &[(u32, F)] {
        &self.of[..self.n]
    }
}

/// # Safety
/// `(column + 1) · k ≤ w.len()` for every entry of `x`, and every output of `g` is below `k`.
#[inline]
unsafe fn add_few<F: Scalar>(x: SparseRow<'_>, g: &[(u32, F)], k: usize, w: &mut [F]) {
    for (&j, &v) in x.idx().iter().zip(x.val()) {
        let (at, v) = (j as usize * k, F::from_f32(v));
        for &(c, g) in g {
            // SAFETY: the caller's promise.
            unsafe { *w.get_unchecked_mut(at + c as usize) += v * g };
        }
    }
}

/// [`scores_tiles`] in the build of the machine.
///
/// # Safety
/// As [`scores_tiles`].
#[inline]
unsafe fn scores_fast<F: Scalar, G: SumOf<F>>(x: impl Entries, w: &[F], out: &mut [G]) {
    vectorised(
        #[inline(always)]
        // SAFETY: the caller's promise.
        || unsafe { scores_tiles(x, w, out) },
    );
}

/// [`add_tiles`] in the build of the machine.
///
/// # Safety
/// As [`add_tiles`].
#[inline]
unsafe fn add_fast<F: Scalar>(x: impl Entries, g: &[F], w: &mut [F]) {
    vectorised(
        #[inline(always)]
        // SAFETY: the caller's promise.
        || unsafe { add_tiles(x, g, w) },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive_scores<F: Scalar>(x: Row<'_>, w: &[F], k: usize) -> Vec<f64> {
        let mut out = vec![0.0; k];
        x.for_each(|j, v| {
            for c in 0..k {
                out[c] += f64::from(v) * w[j * k + c].to_f64();
            }
        });
        out
    }

    fn agrees<F: SumOf<F>>(x: Row<'_>, n_cols: usize, k: usize) {
        let w: Vec<F> = (0..n_cols * k)
            .map(|i| F::from_f64(((i * 37 + 11) % 101) as f64 / 50.0 - 1.0))
            .collect();
        let naive = naive_scores(x, &w, k);
        let mut out = vec![F::ZERO; k];
        scores(x, &w, &mut out);
        for (a, b) in out.iter().zip(&naive) {
            assert!((a.to_f64() - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
        }
        let mut wide = vec![0.0; k];
        scores64(x, &w, &mut wide);
        assert!(wide.iter().zip(&naive).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs())));
        let mut wide_portable = vec![0.0; k];
        match x {
            // SAFETY: the row's columns are below n_cols by construction.
            Row::Sparse(x) => unsafe { scores_tiles(Sparse(x), &w, &mut wide_portable) },
            // SAFETY: as above.
            Row::Dense(x) => unsafe { scores_tiles(AllColumns(x), &w, &mut wide_portable) },
        }
        assert!(wide == wide_portable, "the two builds of sums in f64 differ");
        let mut norms = vec![0.0; k];
        squares(&w, &mut norms);
        let mut norms_portable = vec![0.0; k];
        squares_tiles(&w, &mut norms_portable);
        assert!(norms == norms_portable, "the two builds of squares differ");
        for (c, norm) in norms.iter().enumerate() {
            let naive: f64 = w.chunks(k).map(|w| w[c].to_f64().powi(2)).sum();
            assert!((norm - naive).abs() < 1e-12 * (1.0 + naive));
        }
        if k > 1 {
            let mut portable = vec![F::ZERO; k];
            match x {
                // SAFETY: the row's columns are below n_cols by construction.
                Row::Sparse(x) => unsafe { scores_tiles(Sparse(x), &w, &mut portable) },
                // SAFETY: as above.
                Row::Dense(x) => unsafe { scores_tiles(AllColumns(x), &w, &mut portable) },
            }
            assert!(out == portable, "the two builds differ");
        }

        let some: Vec<u32> = (0..k as u32).filter(|c| c % 5 == 2 || c % 7 == 0).collect();
        let mut of_some = vec![F::ZERO; some.len()];
        scores_of(x, &w, k, &some, &mut of_some);
        for (got, &c) in of_some.iter().zip(&some) {
            let want = naive[c as usize];
            assert!((got.to_f64() - want).abs() < 1e-4 * (1.0 + want.abs()), "{got} {want}");
        }
        let (mut grown, mut all) = (w.clone(), vec![F::ZERO; k]);
        some.iter().zip(&of_some).for_each(|(&c, &g)| all[c as usize] = g);
        add_outer_on(x, &some, &of_some, k, &mut grown);
        let mut want = w.clone();
        add_outer(x, &all, &mut want);
        assert!(grown == want);

        let few = (0..k).map(|c| if c % 29 == 3 { out[c] } else { F::ZERO }).collect();
        for slopes in [out, few] {
            let mut grown = w.clone();
            add_outer(x, &slopes, &mut grown);
            x.for_each(|j, v| {
                for c in 0..k {
                    let want = w[j * k + c] + F::from_f32(v) * slopes[c];
                    assert!(grown[j * k + c] == want);
                }
            });
        }
    }

    proptest! {
        #[test]
        fn kernels_agree_with_plain_loops(
            entries in prop::collection::btree_map(0u32..60, -2.0f32..2.0, 0..40),
            k in 1usize..70,
        ) {
            let (idx, val): (Vec<u32>, Vec<f32>) = entries.into_iter().unzip();
            let x = Row::sparse(&idx, &val).unwrap();
            agrees::<f32>(x, 60, k);
            agrees::<f64>(x, 60, k);
            agrees::<f32>(Row::Dense(&val), 60, k);
            agrees::<f64>(Row::Dense(&val), 60, k);
        }
    }

    #[test]
    #[should_panic(expected = "a row with column 4")]
    fn a_row_beyond_the_weights_is_refused() {
        dot(Row::sparse(&[0, 3], &[1.0, 1.0]).unwrap(), &[0.0f32; 3]);
    }
}
