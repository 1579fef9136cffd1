//! Functions of one or many scores that are easy to get wrong near the ends.

use crate::Scalar;

/// 1 / (1 + e⁻ˣ), without overflow.
#[inline]
pub fn sigmoid<F: Scalar>(x: F) -> F {
    let e = (-x.abs()).exp();
    let s = F::ONE / (F::ONE + e);
    if x >= F::ZERO { s } else { e * s }
}

/// ln(1 + eˣ), without overflow.
#[inline]
pub fn log1p_exp<F: Scalar>(x: F) -> F {
    let x = x.to_f64();
    F::from_f64(x.max(0.0) + (-x.abs()).exp().ln_1p())
}

/// [`sigmoid`] and [`log1p_exp`] of the same number, with one exponential.
#[inline]
pub fn sigmoid_log1p_exp<F: Scalar>(x: F) -> (F, F) {
    let e = (-x.abs()).exp();
    let s = F::ONE / (F::ONE + e);
    let sigmoid = if x >= F::ZERO { s } else { e * s };
    (sigmoid, x.max(F::ZERO) + F::from_f64(e.to_f64().ln_1p()))
}

/// ln Σ exp xᵢ with the maximum taken out, and the shares exp xᵢ / Σ left in `out`.
///
/// An empty slice gives −∞.
pub fn softmax<F: Scalar>(x: &[F], out: &mut [F]) -> F {
    let max = x.iter().fold(-F::INFINITY, |m, &v| m.max(v));
    for (o, &v) in out.iter_mut().zip(x) {
        *o = v - max;
    }
    exp_slice(out);
    let mut sum = F::ZERO;
    for &o in out.iter() {
        sum += o;
    }
    let scale = F::ONE / sum;
    for o in out.iter_mut() {
        *o *= scale;
    }
    max + sum.ln()
}

/// Replaces each x by eˣ.
///
/// eˣ = 2ᵏ·eʳ with k = round(x / ln 2) and a polynomial in |r| ≤ (ln 2)/2: no branch, so it vectorises. Below the smallest
/// normal number it gives 0, above the largest the largest power; relative error < 2e-7 (f32) and < 4e-16 (f64).
pub fn exp_slice<F: Scalar>(x: &mut [F]) {
    F::exp_in_place(x);
}

/// x ln x, with 0 ln 0 = 0 and tiny negative rounding taken for 0.
#[inline]
pub fn x_ln_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    // mpmath, 40 digits: mp.log1p(mp.exp(x)), 1/(1+mp.exp(-x))
    #[allow(clippy::excessive_precision, clippy::approx_constant)]
    const TABLE: [(f64, f64, f64); 5] = [
        (-40.0, 4.248354255291589e-18, 4.248354255291589e-18),
        (-1.0, 0.31326168751822283, 0.26894142136999512),
        (0.0, 0.69314718055994531, 0.5),
        (2.5, 2.5788897342925496, 0.92414181997875645),
        (800.0, 800.0, 1.0),
    ];

    #[test]
    fn agree_with_high_precision() {
        for (x, log1p_exp_x, sigmoid_x) in TABLE {
            assert!((log1p_exp(x) - log1p_exp_x).abs() <= 4e-16 * log1p_exp_x.abs(), "{x}");
            assert!((sigmoid(x) - sigmoid_x).abs() <= 4e-16 * sigmoid_x, "{x}");
            assert_eq!(sigmoid_log1p_exp(x), (sigmoid(x), log1p_exp(x)), "{x}");
        }
    }

    #[test]
    fn exp_slice_agrees_with_the_standard_library() {
        let xs: Vec<f64> = (-2000..2000).map(|i| f64::from(i) * 0.04321).collect();
        let mut got = xs.clone();
        exp_slice(&mut got);
        let mut got32: Vec<f32> = xs.iter().map(|&x| x as f32).collect();
        exp_slice(&mut got32);
        for ((&x, got), got32) in xs.iter().zip(got).zip(got32) {
            assert!((got / x.exp() - 1.0).abs() < 4e-16, "{x}");
            let (x, want) = (x as f32, f64::from(x as f32).exp());
            assert!((f64::from(got32) / want - 1.0).abs() < 2e-7, "{x}");
        }
        let mut ends = [-1e4f32, f32::NEG_INFINITY, 0.0];
        exp_slice(&mut ends);
        assert_eq!(ends, [0.0, 0.0, 1.0]);
        let mut ends = [-1e4f64, f64::NEG_INFINITY, 0.0];
        exp_slice(&mut ends);
        assert_eq!(ends, [0.0, 0.0, 1.0]);
    }

    #[test]
    fn softmax_of_huge_scores_is_finite() {
        let mut p = [0.0f32; 3];
        let lse = softmax(&[1e4, -1e4, 1e4], &mut p);
        assert_eq!(p, [0.5, 0.0, 0.5]);
        assert!((lse - (1e4 + 2f32.ln())).abs() < 1e-3);
    }
}
