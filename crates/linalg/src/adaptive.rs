//! The inner loop of learners that have a rate for each weight.

use crate::{Row, kernels};

/// How many entries ahead the runs of weights are asked for.
const AHEAD: usize = 8;

/// A step of AdaGrad: of the gradient ∂ = xⱼ·g[c] of each weight the square is added to `squares[j·k + c]`, and `w[j·k + c]` moves by factor·∂ / (units[j]·√square), for
/// each of the `k = g.len()` outputs. Without `units` they are 1.
///
/// Compiled portably and for AVX2, chosen at run time; both give the same bits.
///
/// # Panics
/// If the row has a column that a table has not.
pub fn adapt(
    x: Row<'_>,
    g: &[f32],
    factor: f32,
    units: Option<&[f32]>,
    w: &mut [f32],
    squares: &mut [f32],
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2(
            x: Row<'_>,
            g: &[f32],
            factor: f32,
            units: Option<&[f32]>,
            w: &mut [f32],
            squares: &mut [f32],
        ) {
            adapt_row(x, g, factor, units, w, squares);
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was detected.
            return unsafe { avx2(x, g, factor, units, w, squares) };
        }
    }
    adapt_row(x, g, factor, units, w, squares);
}

#[inline(always)]
fn adapt_row(
    x: Row<'_>,
    g: &[f32],
    factor: f32,
    units: Option<&[f32]>,
    w: &mut [f32],
    squares: &mut [f32],
) {
    let k = g.len();
    let ahead = match x {
        Row::Dense(_) => &[],
        Row::Sparse(x) => x.idx().get(AHEAD..).unwrap_or_default(),
    };
    let mut ahead = ahead.iter();
    x.for_each(|j, value| {
        if let Some(&soon) = ahead.next() {
            let at = soon as usize * k;
            kernels::prefetch_at(squares, at);
            kernels::prefetch_at(squares, at + k - 1);
            kernels::prefetch_at(w, at);
            kernels::prefetch_at(w, at + k - 1);
        }
        if value != 0.0 {
            let factor = units.map_or(factor, |units| factor / units[j].max(f32::MIN_POSITIVE));
            let run = j * k..(j + 1) * k;
            adapt_run(value, g, factor, &mut w[run.clone()], &mut squares[run]);
        }
    });
}

/// One entry of a row: runs of 8, of 4, and the rest one by one.
#[inline(always)]
fn adapt_run(value: f32, g: &[f32], factor: f32, w: &mut [f32], squares: &mut [f32]) {
    let (w8, w) = w.as_chunks_mut::<8>();
    let (squares8, squares) = squares.as_chunks_mut::<8>();
    let (g8, g) = g.as_chunks::<8>();
    for ((w, square), g) in w8.iter_mut().zip(squares8).zip(g8) {
        adapt_lanes(value, g, factor, w, square);
    }
    let (w4, w) = w.as_chunks_mut::<4>();
    let (squares4, squares) = squares.as_chunks_mut::<4>();
    let (g4, g) = g.as_chunks::<4>();
    for ((w, square), g) in w4.iter_mut().zip(squares4).zip(g4) {
        adapt_lanes(value, g, factor, w, square);
    }
    for ((w, square), g) in w.iter_mut().zip(squares).zip(g) {
        adapt_lanes(value, &[*g], factor, std::array::from_mut(w), std::array::from_mut(square));
    }
}

#[inline(always)]
fn adapt_lanes<const N: usize>(
    value: f32,
    g: &[f32; N],
    factor: f32,
    w: &mut [f32; N],
    squares: &mut [f32; N],
) {
    for c in 0..N {
        let gradient = value * g[c];
        squares[c] += gradient * gradient;
        // No gradient yet: 0 / √tiny is 0.
        w[c] += factor * gradient / squares[c].max(f32::MIN_POSITIVE).sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_weight_moves_by_the_rule(
            x in prop::collection::vec(prop_oneof![Just(0.0f32), -3.0f32..3.0], 5),
            g in prop::collection::vec(-2.0f32..2.0, 1..30),
            with_units: bool,
        ) {
            let (k, factor) = (g.len(), -0.5f32);
            let units: Vec<f32> = (1..=5).map(|j| j as f32).collect();
            let units = with_units.then_some(&units[..]);
            let start: Vec<f32> = (0..5 * k).map(|at| (at % 7) as f32 * 0.25).collect();
            let (mut w, mut squares) = (start.clone(), start.clone());
            adapt(Row::Dense(&x), &g, factor, units, &mut w, &mut squares);
            for at in 0..5 * k {
                let (j, gradient) = (at / k, x[at / k] * g[at % k]);
                let square = start[at] + gradient * gradient;
                prop_assert_eq!(squares[at], square);
                let unit = units.map_or(1.0, |units| units[j]);
                let step = factor / unit * gradient / square.max(f32::MIN_POSITIVE).sqrt();
                prop_assert!((w[at] - start[at] - step).abs() < 1e-5);
            }
            // The same in its sparse form, and without AVX2.
            let idx: Vec<u32> = (0..5).collect();
            let row = Row::sparse(&idx, &x).unwrap();
            let (mut w2, mut squares2) = (start.clone(), start);
            adapt_row(row, &g, factor, units, &mut w2, &mut squares2);
            prop_assert_eq!((w2, squares2), (w, squares));
        }
    }
}
