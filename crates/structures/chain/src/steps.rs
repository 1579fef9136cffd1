//! The inner loops: from the labels of one position to those of the next.
//!
//! Vectors over labels are padded to a multiple of [`LANES`], so that loops have no tail, and run over the *next* label,
//! which is contiguous. With 22 labels in f32 a step of sums takes about 30 ns and a step of maxima about 50 ns. The sums of `f32` go through the kernels of `linalg`, which know AVX2.

use lineal_linalg::{Row, Scalar, kernels};

/// What vectors over labels are padded to a multiple of.
pub(crate) const LANES: usize = 8;

/// Runs `$body` over tiles of 16 and 8 of `0..$n`, a multiple of 8: 16 sums of f64 fill half of the registers of SSE2.
macro_rules! for_tiles {
    ($n:expr, $at:ident, $T:ident, $body:expr) => {{
        let (n, mut $at) = ($n, 0);
        while n - $at >= 16 {
            const $T: usize = 16;
            $body;
            $at += 16;
        }
        if n - $at >= 8 {
            const $T: usize = 8;
            $body;
        }
    }};
}

/// `out[c] = Σ a[r] w[r·stride + c]` with `stride = out.len()`.
pub(crate) fn sum_step<F: Scalar>(a: &[F], w: &[F], out: &mut [F], narrow: &mut Vec<f32>) {
    if size_of::<F>() == size_of::<f32>() {
        kernels::scores(Row::Dense(narrowed(a, narrow)), w, out);
    } else {
        let stride = out.len();
        for_tiles!(stride, at, T, sum_tile::<F, T>(a, w, stride, at, &mut out[at..at + T]));
    }
}

#[inline(always)]
fn sum_tile<F: Scalar, const T: usize>(a: &[F], w: &[F], stride: usize, at: usize, out: &mut [F]) {
    let mut acc = [F::ZERO; T];
    for (&a, row) in a.iter().zip(w.chunks_exact(stride)) {
        let row = &row[at..at + T];
        for c in 0..T {
            acc[c] += a * row[c];
        }
    }
    out.copy_from_slice(&acc);
}

/// `out[c] = max a[r] + w[r·stride + c]` with `stride = out.len()`.
pub(crate) fn max_step<F: Scalar>(a: &[F], w: &[F], out: &mut [F]) {
    let stride = out.len();
    for_tiles!(stride, at, T, max_tile::<F, T>(a, w, stride, at, &mut out[at..at + T]));
}

#[inline(always)]
fn max_tile<F: Scalar, const T: usize>(a: &[F], w: &[F], stride: usize, at: usize, out: &mut [F]) {
    let mut acc = [-F::INFINITY; T];
    for (&a, row) in a.iter().zip(w.chunks_exact(stride)) {
        let row = &row[at..at + T];
        for c in 0..T {
            acc[c] = larger(a + row[c], acc[c]);
        }
    }
    out.copy_from_slice(&acc);
}

/// `acc[r·stride + c] += a[r] v[c]` with `stride = v.len()`.
pub(crate) fn add_outer<F: Scalar>(a: &[F], v: &[F], acc: &mut [F], narrow: &mut Vec<f32>) {
    if size_of::<F>() == size_of::<f32>() {
        kernels::add_outer(Row::Dense(narrowed(a, narrow)), v, acc);
    } else {
        for (&a, row) in a.iter().zip(acc.chunks_exact_mut(v.len())) {
            for (acc, &v) in row.iter_mut().zip(v) {
                *acc += a * v;
            }
        }
    }
}

/// The f32 numbers that the type system cannot see.
#[inline(always)]
fn narrowed<'a, F: Scalar>(a: &[F], narrow: &'a mut Vec<f32>) -> &'a [f32] {
    if narrow.len() < a.len() {
        narrow.resize(a.len(), 0.0);
    }
    let narrow = &mut narrow[..a.len()];
    for (narrow, a) in narrow.iter_mut().zip(a) {
        *narrow = a.to_f32();
    }
    narrow
}

/// The maximum instruction of the machine: unlike `Scalar::max` it does not care for NaN.
#[inline(always)]
pub(crate) fn larger<F: Scalar>(a: F, b: F) -> F {
    if a > b { a } else { b }
}

/// Σ x, in a fixed order.
#[inline(always)]
pub(crate) fn sum<F: Scalar>(x: &[F]) -> F {
    let mut acc = [F::ZERO; LANES];
    let x = x.chunks_exact(LANES);
    for (acc, &x) in acc.iter_mut().zip(x.remainder()) {
        *acc += x;
    }
    for x in x {
        for l in 0..LANES {
            acc[l] += x[l];
        }
    }
    ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7]))
}

/// The largest of x.
#[inline(always)]
pub(crate) fn max<F: Scalar>(x: &[F]) -> F {
    let mut acc = [-F::INFINITY; LANES];
    let x = x.chunks_exact(LANES);
    for (acc, &x) in acc.iter_mut().zip(x.remainder()) {
        *acc = larger(x, *acc);
    }
    for x in x {
        for l in 0..LANES {
            acc[l] = larger(x[l], acc[l]);
        }
    }
    acc.into_iter().fold(-F::INFINITY, larger)
}

/// Empties a vector and fills it anew with `n` times `value`.
pub(crate) fn refill<T: Copy>(v: &mut Vec<T>, n: usize, value: T) {
    v.clear();
    v.resize(n, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree<F: Scalar>() {
        for n_labels in [1, 3, 8, 22, 50, 66] {
            let stride = usize::next_multiple_of(n_labels, LANES);
            let a: Vec<F> = (0..n_labels).map(|i| F::from_f64((i * 7 % 11) as f64 / 4.0)).collect();
            let w: Vec<F> =
                (0..n_labels * stride).map(|i| F::from_f64((i * 5 % 13) as f64 / 4.0)).collect();
            let (mut sums, mut maxima) = (vec![F::ZERO; stride], vec![F::ZERO; stride]);
            sum_step(&a, &w, &mut sums, &mut Vec::new());
            max_step(&a, &w, &mut maxima);
            for c in 0..stride {
                let (mut s, mut m) = (0.0, f64::NEG_INFINITY);
                for r in 0..n_labels {
                    let (a, w) = (a[r].to_f64(), w[r * stride + c].to_f64());
                    s += a * w;
                    m = m.max(a + w);
                }
                assert_eq!((sums[c].to_f64(), maxima[c].to_f64()), (s, m));
            }
            let mut acc = w.clone();
            add_outer(&a, &sums, &mut acc, &mut Vec::new());
            for r in 0..n_labels {
                for c in 0..stride {
                    assert!(acc[r * stride + c] == w[r * stride + c] + a[r] * sums[c]);
                }
            }
            assert_eq!(sum(&sums).to_f64(), sums.iter().map(|s| s.to_f64()).sum::<f64>());
            assert_eq!(max(&sums), sums.iter().fold(F::ZERO, |a, &b| a.max(b)));
        }
    }

    #[test]
    fn steps_agree_with_plain_loops() {
        agree::<f32>();
        agree::<f64>();
    }
}
