//! Dual blocks that respect a free bias.
//!
//! A weight that no penalty covers demands Σᵢ shareᵢ gᵢ = 0 of the dual: without it the dual bound is −∞. Blocks on the
//! way there miss it by a little, so the certificate uses nearby blocks that meet it *exactly*, found according to the
//! shape of the conjugate's domain. Scaling a block down never leaves the domain, so every bound is rigorous.

use crate::rows::{Examples, Output};
use lineal_linalg::Scalar;
use lineal_loss::Domain;
use lineal_model::Model;

/// How to change blocks so that their weighted sum is zero.
pub(crate) enum Balance {
    /// Nothing to do.
    Keep,
    /// Subtract the mean.
    Centre(Vec<f64>),
    /// For each part, a factor for its positive and one for its negative entries.
    Sides(Vec<[f64; 2]>),
    /// Flows between classes: the factor of the flow from gold q to r is `factor[q·K + r]`.
    Flows { n: usize, factor: Vec<f64> },
}

impl Balance {
    /// For blocks of equal width.
    pub(crate) fn of<F: Scalar, M: Model<F>>(
        domain: Domain,
        data: &impl Examples<F, M>,
        width: usize,
        blocks: &[F],
    ) -> Self
    where
        Output<F, M>: Copy,
    {
        let blocks = blocks.chunks_exact(width).enumerate();
        match domain {
            Domain::Free => {
                let mut mean = vec![0.0; width];
                for (i, g) in blocks {
                    let share = data.share(i);
                    mean.iter_mut().zip(g).for_each(|(m, g)| *m += share * g.to_f64());
                }
                Self::Centre(mean)
            }
            Domain::Flows if width > 1 => {
                let mut flow = vec![0.0; width * width];
                for (i, g) in blocks {
                    let Some(gold) = gold_of(g) else { continue };
                    let share = data.share(i);
                    for (f, g) in flow[gold * width..].iter_mut().zip(g) {
                        *f += share * g.to_f64().max(0.0);
                    }
                }
                Self::Flows { n: width, factor: circulation(width, &mut flow) }
            }
            _ => {
                let mut sums = vec![[0.0; 2]; width];
                for (i, g) in blocks {
                    let share = data.share(i);
                    for (sum, g) in sums.iter_mut().zip(g) {
                        let g = share * g.to_f64();
                        sum[0] += g.max(0.0);
                        sum[1] += (-g).max(0.0);
                    }
                }
                Self::Sides(sums.into_iter().map(even).collect())
            }
        }
    }

    /// The changed block.
    #[inline]
    pub(crate) fn apply<F: Scalar>(&self, g: &[F], out: &mut [F]) {
        match self {
            Self::Keep => out.copy_from_slice(g),
            Self::Centre(mean) => {
                for (o, (&g, &m)) in out.iter_mut().zip(g.iter().zip(mean)) {
                    *o = g - F::from_f64(m);
                }
            }
            Self::Sides(factors) => {
                for (o, (&g, by)) in out.iter_mut().zip(g.iter().zip(factors)) {
                    *o = g * F::from_f64(by[usize::from(g <= F::ZERO)]);
                }
            }
            Self::Flows { n, factor } => {
                out.fill(F::ZERO);
                let Some(gold) = gold_of(g) else { return };
                let mut total = F::ZERO;
                for r in 0..*n {
                    if r != gold {
                        out[r] = g[r] * F::from_f64(factor[gold * n + r]);
                        total += out[r];
                    }
                }
                out[gold] = -total;
            }
        }
    }
}

/// Factors in [0, 1] that make two sums equal by taking from the larger.
pub(crate) fn even([up, down]: [f64; 2]) -> [f64; 2] {
    let or_zero = |v: f64| if v.is_finite() { v } else { 0.0 };
    if up > down { [or_zero(down / up), 1.0] } else { [1.0, or_zero(up / down)] }
}

/// The gold class of a block of flows: its one negative entry.
fn gold_of<F: Scalar>(g: &[F]) -> Option<usize> {
    g.iter().position(|&g| g < F::ZERO)
}

/// Factors in [0, 1] that turn flows between `n` classes into a circulation (as much into each class as out of it):
/// t_qr = d_q/d_r by Osborne's balancing (1960), divided by the largest. A class without inflow can have no outflow and the other way
/// round, so such classes are cut off first.
fn circulation(n: usize, flow: &mut [f64]) -> Vec<f64> {
    let mut cut = true;
    while cut {
        cut = false;
        for q in 0..n {
            let out: f64 = (0..n).map(|r| flow[q * n + r]).sum();
            let into: f64 = (0..n).map(|r| flow[r * n + q]).sum();
            if (out == 0.0) != (into == 0.0) {
                (0..n).for_each(|r| (flow[q * n + r], flow[r * n + q]) = (0.0, 0.0));
                cut = true;
            }
        }
    }
    let mut d = vec![1.0f64; n];
    for _ in 0..10_000 {
        let mut off = 0.0f64;
        for q in 0..n {
            let out: f64 = (0..n).map(|r| flow[q * n + r] / d[r]).sum::<f64>() * d[q];
            let into: f64 = (0..n).map(|r| flow[r * n + q] * d[r]).sum::<f64>() / d[q];
            if out > 0.0 && into > 0.0 {
                off = off.max((out / into - 1.0).abs());
                d[q] *= (into / out).sqrt();
            }
        }
        if off < 1e-13 {
            break;
        }
    }
    let mut largest = 0.0f64;
    for q in 0..n {
        for r in 0..n {
            if flow[q * n + r] > 0.0 {
                largest = largest.max(d[q] / d[r]);
            }
        }
    }
    let mut factor = vec![0.0; n * n];
    for q in 0..n {
        for r in 0..n {
            if flow[q * n + r] > 0.0 {
                factor[q * n + r] = d[q] / d[r] / largest;
            }
        }
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circulation_balances_every_class() {
        let flow = [0.0, 3.0, 1.0, /**/ 2.0, 0.0, 4.0, /**/ 5.0, 0.5, 0.0];
        let factor = circulation(3, &mut flow.clone());
        for q in 0..3 {
            let out: f64 = (0..3).map(|r| flow[q * 3 + r] * factor[q * 3 + r]).sum();
            let into: f64 = (0..3).map(|r| flow[r * 3 + q] * factor[r * 3 + q]).sum();
            assert!(out > 0.0 && (out - into).abs() < 1e-12 * out);
        }
        assert!(factor.iter().all(|&f| (0.0..=1.0).contains(&f)));
    }

    #[test]
    fn a_class_that_only_receives_is_cut_off() {
        let mut flow = [0.0, 1.0, 1.0, /**/ 1.0, 0.0, 0.0, /**/ 0.0, 0.0, 0.0];
        let factor = circulation(3, &mut flow);
        assert_eq!(factor, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
