//! Pairwise coupling: from r_ab ≈ P(a | a or b) of all pairs to P(a).
//!
//! Wu, Lin and Weng, *Probability estimates for multi-class classification by pairwise coupling*, JMLR 5, 2004, their second
//! method: minimise Σ over pairs of (r_ba p_a − r_ab p_b)² with Σ p = 1, which is pᵀQp with
//!
//! ```text
//! Q_aa = Σ_b r_ba²,    Q_ab = −r_ba r_ab.
//! ```
//!
//! If there are p with r_ab = p_a/(p_a + p_b), the minimum is 0, at those p. Algorithm 2: go through the coordinates, give each
//! the value p_a + (pᵀQp − (Qp)_a)/Q_aa, and bring p to a sum of one. Different from it: within a sweep p is kept without that
//! sum, s = Σ p, in whose terms the step is (pᵀQp/s − (Qp)_a)/Q_aa; the paper rescales after each.
//!
//! Answers are kept 1e-7 away from 0 and 1, as LIBSVM does: no class is then impossible, and the solution is unique.

use super::{Scratch, cleared, tame};

/// How near to certainty a duel may be.
pub(super) const MARGIN: f64 = 1e-7;

/// Sweeps over all classes; 5 to 25 were seen with 3 to 100 classes.
const MAX_SWEEPS: usize = 1000;

/// Probabilities of K classes (K = `out.len()`) from all K(K−1)/2 duels in the order (0,1), (0,2), …, (1,2), …: `r` has
/// P(a | a or b), a < b. Memory and a sweep are K².
pub fn pairwise(r: &[f64], out: &mut [f64], scratch: &mut Scratch) {
    let k = out.len();
    debug_assert_eq!(r.len(), k * k.saturating_sub(1) / 2);
    let q = cleared(&mut scratch.matrix, k * k);
    let mut duels = r.iter();
    for a in 0..k {
        for (b, &r) in (a + 1..k).zip(&mut duels) {
            let r = tame(r, MARGIN);
            q[a * k + b] = -r * (1.0 - r);
            q[b * k + a] = -r * (1.0 - r);
            q[a * k + a] += (1.0 - r) * (1.0 - r);
            q[b * k + b] += r * r;
        }
    }
    out.fill(1.0 / k.max(1) as f64);
    if k < 2 {
        return;
    }
    let row = |a: usize| &q[a * k..(a + 1) * k];
    for _ in 0..MAX_SWEEPS {
        // Anew in each sweep: in the long run roundings would add up.
        let product = cleared(&mut scratch.product, k);
        for a in 0..k {
            product[a] = row(a).iter().zip(&*out).map(|(q, p)| q * p).sum();
        }
        let mut energy: f64 = out.iter().zip(&*product).map(|(p, q)| p * q).sum();
        let (mut sum, mut largest) = (1.0, 0.0f64);
        for a in 0..k {
            let q_aa = q[a * k + a];
            let step = (energy / sum - product[a]) / q_aa;
            energy += step * (step * q_aa + 2.0 * product[a]);
            out[a] += step;
            sum += step;
            product.iter_mut().zip(row(a)).for_each(|(sum, q)| *sum += step * q);
            largest = largest.max(step.abs());
        }
        // Never negative but for a rounding: a step leads to (pᵀQp/s + Σ r_ab r_ba p_b)/Q_aa.
        out.iter_mut().for_each(|p| *p = p.max(0.0));
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= sum);
        if largest < 1e-12 {
            break;
        }
    }
}
