//! log(1 + exp x) and its derivative between two cells, as polynomials.
//!
//! Cells are intervals of length 1 between whole numbers. For a target at c + (u + 1)/2 and a source at c′ + (v + 1)/2 with u, v in [−1, 1] and Δ = c − c′,
//!
//! ```text
//! f(Δ + (u − v)/2) = Σ over p, q < P of C[p][q] T_p(u) T_q(v) + error
//! ```
//!
//! with C from the values at the P × P Chebyshev points. **Error.** log(1 + eˣ) and σ are analytic for |Im x| < π, so as functions of u for real v for |Im u| < 2π. The ellipse
//! with foci ±1 and half-axes (ρ ± 1/ρ)/2 for ρ = 10 stays within |Im u| ≤ 4.95 and |Re u| ≤ 5.05, that is |Im x| ≤ 2.48, Re x ≤ Δ + 3.03, where cos Im x ≥ −0.79
//! keeps |1 + eˣ| ≥ 0.61. Interpolation in P points errs by at most 4M ρ^(1−P)/(ρ − 1) where M bounds |f| on the ellipse (Trefethen, *Approximation Theory and Approximation Practice*,
//! theorem 8.2), for P = 16 by 4.5e-16 M. Interpolation in v after that in u adds as much times the Lebesgue constant, which is below 2.8. For Δ ≥ −1, M ≤ Δ + 7 and
//! f is at least log(1 + e⁻²) = 0.13; for Δ = −4 … −2, |f| ≤ 1.7·e^(Re x), so that M ≤ 1.7·e^(Δ + 3.03) against f ≥ 0.8·e^(Δ − 1): at most some 120 times as large. Hence the error
//! relative to f is below 3.8 · 4.5e-16 · 120 = 2.1e-13, and in truth, rounding included, below 1e-14: the bound takes the worst of every factor.

use lineal_linalg::special::{log1p_exp, sigmoid};
use std::sync::LazyLock;

/// How many polynomials.
pub(super) const P: usize = 16;
/// Cells up to this far apart (Δ = −NEAR … NEAR) are near.
pub(super) const NEAR: usize = 4;

/// `[p][q]`
pub(super) type Coefficients = [[f64; P]; P];

/// For each Δ + NEAR.
pub(super) struct Kernels {
    pub(super) value: [Coefficients; 2 * NEAR + 1],
    pub(super) derivative: [Coefficients; 2 * NEAR + 1],
}

pub(super) static KERNELS: LazyLock<Kernels> = LazyLock::new(|| Kernels {
    value: std::array::from_fn(|at| coefficients(log1p_exp, at as f64 - NEAR as f64)),
    derivative: std::array::from_fn(|at| coefficients(sigmoid, at as f64 - NEAR as f64)),
});

fn coefficients(f: fn(f64) -> f64, delta: f64) -> Coefficients {
    let angle = |a: usize| std::f64::consts::PI * (a as f64 + 0.5) / P as f64;
    // [p][a]: T_p at the a-th point, which is cos(p · angle), times what makes a mean of it.
    let basis: Coefficients = std::array::from_fn(|p| {
        let weight = if p == 0 { 1.0 } else { 2.0 } / P as f64;
        std::array::from_fn(|a| weight * (p as f64 * angle(a)).cos())
    });
    let dot = |a: &[f64; P], b: &[f64; P]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // First along u, for each point of v; then along v.
    let by_point: Coefficients = std::array::from_fn(|b| {
        let v = angle(b).cos();
        let values = std::array::from_fn(|a| f(delta + 0.5 * (angle(a).cos() - v)));
        std::array::from_fn(|p| dot(&basis[p], &values))
    });
    std::array::from_fn(|p| {
        let values = std::array::from_fn(|b| by_point[b][p]);
        std::array::from_fn(|q| dot(&basis[q], &values))
    })
}

/// How many numbers are taken together.
pub(super) const LANES: usize = 8;

/// Adds Σ T_p(2t − 1) over t in [0, 1] to `moments`.
pub(super) fn add_moments(t: impl Iterator<Item = f64>, moments: &mut [f64; P]) {
    let mut t = t;
    loop {
        let (mut u, mut n) = ([0.0; LANES], 0);
        for t in t.by_ref().take(LANES) {
            u[n] = 2.0 * t - 1.0;
            n += 1;
        }
        if n == 0 {
            return;
        }
        // Lanes beyond the end count 0.
        let mut before: [f64; LANES] = std::array::from_fn(|l| if l < n { 1.0 } else { 0.0 });
        let mut last: [f64; LANES] = std::array::from_fn(|l| before[l] * u[l]);
        moments[0] += before.iter().sum::<f64>();
        moments[1] += last.iter().sum::<f64>();
        for moment in &mut moments[2..] {
            let next: [f64; LANES] = std::array::from_fn(|l| 2.0 * u[l] * last[l] - before[l]);
            (before, last) = (last, next);
            *moment += next.iter().sum::<f64>();
        }
    }
}

/// Σ c_p T_p(2t − 1) by Clenshaw's rule.
pub(super) fn evaluate(c: &[f64; P], t: &[f64; LANES]) -> [f64; LANES] {
    let u: [f64; LANES] = std::array::from_fn(|l| 2.0 * t[l] - 1.0);
    let (mut b1, mut b2) = ([0.0; LANES], [0.0; LANES]);
    for &c in c[1..].iter().rev() {
        let next: [f64; LANES] = std::array::from_fn(|l| 2.0 * u[l] * b1[l] - b2[l] + c);
        (b2, b1) = (b1, next);
    }
    std::array::from_fn(|l| u[l] * b1[l] - b2[l] + c[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_the_functions() {
        for (kernels, f) in
            [(&KERNELS.value, log1p_exp as fn(f64) -> f64), (&KERNELS.derivative, sigmoid)]
        {
            for (at, c) in kernels.iter().enumerate() {
                let delta = at as f64 - NEAR as f64;
                for step in 0..50 {
                    let s = [f64::from(step) / 49.0; 1];
                    let mut moments = [0.0; P];
                    add_moments(s.into_iter(), &mut moments);
                    let local: [f64; P] = std::array::from_fn(|p| {
                        c[p].iter().zip(&moments).map(|(c, m)| c * m).sum()
                    });
                    let t: [f64; LANES] = std::array::from_fn(|l| l as f64 / 7.0);
                    for (t, got) in t.iter().zip(evaluate(&local, &t)) {
                        let expected = f(delta + t - s[0]);
                        assert!(
                            (got - expected).abs() < 2e-14 * expected,
                            "{delta} {t} {got} {expected}"
                        );
                    }
                }
            }
        }
    }
}
