//! Random Fourier features.
//!
//! With directions ω drawn from N(0, 2γ·I), the mean of cos(ω·(x − y)) is exp(−γ‖x − y‖²). A cosine and a sine for each direction
//! make cos(ω·(x − y)) an inner product: z(x) = √(2/D)·(cos ω₁·x, sin ω₁·x, cos ω₂·x, …). The pair has less variance than
//! one cosine with a random phase (Sutherland and Schneider 2015).

use lineal_linalg::Matrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::ops::Range;

/// Directions for so many numbers.
#[derive(Clone, Debug)]
pub(crate) struct Fourier {
    /// Number by number, the entries of all directions.
    directions: Vec<f32>,
    n_directions: usize,
}

impl Fourier {
    pub(crate) fn new(n_numbers: usize, n_features: usize, gamma: f64, seed: u64) -> Self {
        let n_directions = n_features / 2;
        let mut random = Pcg64Mcg::seed_from_u64(seed ^ 0xf0_0d1e);
        let deviation = (2.0 * gamma).sqrt();
        let mut directions = Vec::with_capacity(n_numbers * n_directions + 1);
        while directions.len() < n_numbers * n_directions {
            // Marsaglia's polar method: two at a time.
            let [u, v] = [(); 2].map(|()| 2.0 * random.random::<f64>() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let by = deviation * (-2.0 * s.ln() / s).sqrt();
                directions.extend([(u * by) as f32, (v * by) as f32]);
            }
        }
        directions.truncate(n_numbers * n_directions);
        Self { directions, n_directions }
    }

    /// The features of one row's numbers, each with its position.
    pub(crate) fn fill(&self, numbers: &[(u32, f32)], angles: &mut Vec<f64>, out: &mut [f32]) {
        let n = self.n_directions;
        angles.clear();
        angles.resize(n, 0.0);
        for &(at, value) in numbers {
            let directions = &self.directions[at as usize * n..][..n];
            for (angle, &direction) in angles.iter_mut().zip(directions) {
                *angle += f64::from(value) * f64::from(direction);
            }
        }
        let scale = (1.0 / n as f64).sqrt();
        for (angle, pair) in angles.iter().zip(out.chunks_exact_mut(2)) {
            let (sin, cos) = angle.sin_cos();
            pair.copy_from_slice(&[(scale * cos) as f32, (scale * sin) as f32]);
        }
    }
}

/// 1 / (columns · variance of all their values), absent ones as 0: what scikit-learn calls `scale`.
pub(crate) fn scale_gamma(x: &Matrix, numbers: &[Range<u32>]) -> f64 {
    let n_numbers: usize = numbers.iter().map(|span| span.len()).sum();
    let (mut sum, mut squares) = (0.0, 0.0);
    for i in 0..x.n_rows() {
        x.row(i).for_each(|j, v| {
            if numbers.iter().any(|span| span.contains(&(j as u32))) {
                sum += f64::from(v);
                squares += f64::from(v) * f64::from(v);
            }
        });
    }
    let n = (n_numbers * x.n_rows()) as f64;
    let variance = squares / n - (sum / n) * (sum / n);
    if variance > 0.0 { 1.0 / (n_numbers as f64 * variance) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn inner_products_come_near_the_kernel(
            x in prop::collection::vec(-2.0f32..2.0, 3),
            y in prop::collection::vec(-2.0f32..2.0, 3),
            gamma in 0.05f64..2.0,
            seed in 0u64..1000,
        ) {
            const D: usize = 4000;
            let map = Fourier::new(3, D, gamma, seed);
            let features = |x: &[f32]| {
                let numbers: Vec<(u32, f32)> = (0..).zip(x.iter().copied()).collect();
                let mut out = vec![0.0; D];
                map.fill(&numbers, &mut Vec::new(), &mut out);
                out
            };
            let (zx, zy) = (features(&x), features(&y));
            let product: f64 = zx.iter().zip(&zy).map(|(a, b)| f64::from(a * b)).sum();
            let distance: f64 = x.iter().zip(&y).map(|(a, b)| f64::from((a - b) * (a - b))).sum();
            let kernel = (-gamma * distance).exp();
            // Five standard deviations of the mean of 2,000 cosines, each of variance ½ at most.
            prop_assert!((product - kernel).abs() < 5.0 * (0.5f64 / 2000.0).sqrt(), "{product} for {kernel}");
            let norm: f64 = zx.iter().map(|v| f64::from(v * v)).sum();
            prop_assert!((norm - 1.0).abs() < 1e-5);
        }
    }
}
