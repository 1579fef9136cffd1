//! Weights that must not be negative ([`Structure::nonnegative`](lineal_model::structure::Structure::nonnegative)): their projection, and the dual's steps with them.
//!
//! The constraint w ≥ 0 on some weights has a multiplier of its own in the dual. Maximised over it, the dual of the structured SVM is
//!
//! ```text
//! D(α) = Σᵢ pᵢ Σ_y αᵢ(y) Δ(yᵢ, y) − (l2/2)‖w(α)‖²,        w(α) = u(α), and [u(α)]₊ where it must not be negative,
//! ```
//!
//! with u(α) = (1/l2) Σᵢ pᵢ (Ψ(xᵢ, yᵢ) − Σ_y αᵢ(y) Ψ(xᵢ, y)). It is concave and once differentiable, its gradient has w in place of u, and so have the gaps of blocks: Σ of the gaps = P(w) − D(α), because ⟨w, u⟩ = ‖w‖².
//! Along a step D is quadratic between the points at which a constrained weight leaves or reaches 0.

use lineal_linalg::Scalar;
use std::ops::Range;

/// Sets to 0 what is negative and must not be.
pub(crate) fn project<F: Scalar>(w: &mut [F], range: &Range<usize>) {
    for w in &mut w[range.clone()] {
        // A number that is not one fails the comparison and stays, to be seen.
        if *w < F::ZERO {
            *w = F::ZERO;
        }
    }
}

/// The step from one output of a block to another: how D changes along it.
///
/// With γ of α moved, w changes by γ·by·d, by = p/l2, but for the constrained weights, which are [u + γ·by·d]₊.
pub(crate) struct Line<'a, F> {
    /// pᵢ.
    pub(crate) share: f64,
    pub(crate) l2: f64,
    /// score + cost of the output to move to, less that of the one to move from, at w.
    pub(crate) lead: f64,
    /// Σ of d² over the free weights.
    pub(crate) free: f64,
    /// Of the constrained weights: u before the projection, and d.
    pub(crate) u: &'a [F],
    pub(crate) d: &'a [F],
}

impl<F: Scalar> Line<'_, F> {
    fn constrained(&self) -> impl Iterator<Item = (f64, f64)> {
        let by = self.share / self.l2;
        self.u
            .iter()
            .zip(self.d)
            .map(move |(u, d)| (u.to_f64(), by * d.to_f64()))
            .filter(|(_, d)| *d != 0.0)
    }

    /// D′(γ), divided by pᵢ.
    fn slope(&self, gamma: f64) -> f64 {
        let by = self.share / self.l2;
        let bent: f64 =
            self.constrained().map(|(u, d)| ((u + gamma * d).max(0.0) - u.max(0.0)) * d / by).sum();
        self.lead - gamma * by * self.free - bent
    }

    /// D(γ) − D(0).
    pub(crate) fn gain(&self, gamma: f64) -> f64 {
        let by = self.share / self.l2;
        let square = |u: f64, d: f64| {
            let (before, after) = (u.max(0.0), (u + gamma * d).max(0.0));
            after * after - before * before - 2.0 * gamma * before * d
        };
        let bent: f64 = self.constrained().map(|(u, d)| square(u, d)).sum();
        let moved = gamma * gamma * by * by * self.free + bent;
        self.share * gamma * self.lead - 0.5 * self.l2 * moved
    }

    /// The γ ≥ 0 that is best, at most `room`. D′ falls and is linear between the bends.
    pub(crate) fn best(&self, room: f64) -> f64 {
        let mut bends: Vec<f64> =
            self.constrained().map(|(u, d)| -u / d).filter(|&at| at > 0.0 && at < room).collect();
        bends.push(room);
        bends.sort_by(f64::total_cmp);
        let (mut low, mut slope) = (0.0, self.lead);
        for high in bends {
            let next = self.slope(high);
            if next <= 0.0 {
                // Linear from low to high.
                let part = slope / (slope - next);
                return if part.is_finite() {
                    (low + part * (high - low)).clamp(low, high)
                } else {
                    high
                };
            }
            (low, slope) = (high, next);
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::Rng;

    #[test]
    fn the_best_step_is_that_of_a_fine_search() {
        let mut rng = Rng::new(11);
        for _ in 0..300 {
            let mut numbers =
                |n: usize| (0..n).map(|_| 2.0 * rng.unit() - 1.0).collect::<Vec<f64>>();
            let (u, d, free) = (numbers(4), numbers(4), numbers(3));
            let [share, l2, lead] = [0.3, 0.7, 0.4 + 0.3 * numbers(1)[0]];
            let norm = free.iter().map(|d| 0.2 * d * d).sum();
            let line = Line { share, l2, lead, free: norm, u: &u, d: &d };
            for room in [0.1, 1.0, 20.0] {
                let best = line.best(room);
                let tried = (0..=4000)
                    .map(|step| line.gain(room * f64::from(step) / 4000.0))
                    .fold(0.0, f64::max);
                assert!(
                    (0.0..=room).contains(&best) && line.gain(best) >= tried - 1e-12,
                    "{best} {tried}"
                );
                let by = |gamma: f64| (line.gain(gamma + 1e-6) - line.gain(gamma - 1e-6)) / 2e-6;
                assert!((by(0.3 * room) - share * line.slope(0.3 * room)).abs() < 1e-6);
            }
        }
    }
}
