//! Pairwise coupling where only some pairs met: the problem of `pairwise.rs`, with Q as sparse as the pairs.
//!
//! Where few pairs hold all classes together, the sweeps of the paper take tens of thousands to carry what one end knows to
//! the other (seen with 7 classes in a chain), and conjugate gradients lose their footing. Here the minimum is solved for:
//! p ∝ (Q + δD)⁻¹𝟏, D the diagonal of Q and δ = 1e-14, which also serves where Q is singular, that is, where all answers agree.
//! Off its diagonal Q is nowhere positive, so that its inverse is nowhere negative, and neither are p; elimination adds
//! numbers of one sign but on the diagonal, which makes it accurate. K² numbers, K³/6 operations.

use super::pairwise::MARGIN;
use super::{Scratch, cleared, one_vs_all, tame};
use crate::Error;

/// Of the diagonal, what is added to it.
const DELTA: f64 = 1e-14;

/// Some pairs of K classes, for strategies that do not let all of them meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    n_pairs: usize,
    /// Duels of class a: `duels[start[a]..start[a + 1]]`.
    duels: Vec<Duel>,
    start: Vec<usize>,
}

/// A pair as one of its classes sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Duel {
    other: u32,
    pair: u32,
    /// Whether the answer is for this class, or for the other one.
    is_first: bool,
}

impl Pairs {
    /// Takes pairs of different classes below `n_classes`; a pair may stand there more than once, either way round.
    pub fn new(n_classes: usize, pairs: &[(u32, u32)]) -> Result<Self, Error> {
        if u32::try_from(pairs.len()).is_err() {
            return Err(Error::Shape("there are more pairs than 4294967295"));
        }
        let mut start = vec![0; n_classes + 1];
        for (row, &(a, b)) in pairs.iter().enumerate() {
            if a.max(b) as usize >= n_classes {
                return Err(Error::Id { row, what: "class", id: a.max(b), n: n_classes });
            }
            if a == b {
                return Err(Error::Shape("a class cannot be paired with itself"));
            }
            start[a as usize + 1] += 1;
            start[b as usize + 1] += 1;
        }
        for a in 0..n_classes {
            start[a + 1] += start[a];
        }
        let mut next = start.clone();
        let mut duels = vec![Duel::default(); 2 * pairs.len()];
        for (pair, &(a, b)) in (0u32..).zip(pairs) {
            for (own, other) in [(a, b), (b, a)] {
                duels[next[own as usize]] = Duel { other, pair, is_first: own == a };
                next[own as usize] += 1;
            }
        }
        Ok(Self { n_pairs: pairs.len(), duels, start })
    }

    /// Probabilities of the K classes, into `out`, from `r[i]`, P(a | a or b) of the i-th pair (a, b).
    ///
    /// A class without pairs gets 0, unless there is no pair at all: then all are equal. Where pairs do not connect all
    /// classes, answers do not say how the unconnected groups compare; each still gets a share.
    pub fn couple(&self, r: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        debug_assert_eq!((r.len(), out.len() + 1), (self.n_pairs, self.start.len()));
        let k = self.start.len() - 1;
        let q = cleared(&mut scratch.matrix, k * k);
        for a in 0..k {
            for duel in &self.duels[self.start[a]..self.start[a + 1]] {
                let wins = tame(r[duel.pair as usize], MARGIN);
                let loses = if duel.is_first { 1.0 - wins } else { wins };
                q[a * k + a] += loses * loses * (1.0 + DELTA);
                q[a * k + duel.other as usize] -= wins * (1.0 - wins);
            }
        }
        // A class without pairs has a row of zeros, which elimination passes over.
        for a in 0..k {
            out[a] = if q[a * k + a] > 0.0 { 1.0 } else { 0.0 };
        }
        solve(q, out);
        // Large where answers agree: δ is then all that there is on the diagonal.
        let most = out.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        out.iter_mut().for_each(|p| *p /= most);
        one_vs_all(out);
    }
}

/// Solves Qx = b in place, for a symmetric K × K matrix that is positive definite, but for zero rows, by Cholesky's LDLᵀ. Only
/// the triangle from the diagonal to the right is used, and U = DLᵀ left there.
fn solve(q: &mut [f64], x: &mut [f64]) {
    let k = x.len();
    for a in 0..k {
        let pivot = q[a * k + a];
        if pivot == 0.0 {
            continue;
        }
        for b in a + 1..k {
            let factor = q[a * k + b] / pivot;
            if factor == 0.0 {
                continue;
            }
            let (upper, lower) = q.split_at_mut(b * k);
            let before = lower[b];
            for (below, above) in lower[b..k].iter_mut().zip(&upper[a * k + b..(a + 1) * k]) {
                *below -= factor * above;
            }
            // Rounding may take more than is there.
            lower[b] = lower[b].max(DELTA * before);
            x[b] -= factor * x[a];
        }
    }
    for a in (0..k).rev() {
        let known: f64 = (a + 1..k).map(|b| q[a * k + b] * x[b]).sum();
        let pivot = q[a * k + a];
        x[a] = if pivot > 0.0 { (x[a] - known) / pivot } else { 0.0 };
    }
}
