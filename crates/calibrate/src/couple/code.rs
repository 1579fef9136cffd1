//! Output codes: from r_l ≈ P(class is in the + set | it is in the + or − set of column l) to P(class).
//!
//! Generalised Bradley–Terry model: Huang, Weng and Lin, *Generalized Bradley-Terry models and multi-class probability
//! estimates*, JMLR 7, 2006. With q_l⁺, q_l⁻ the sums of p over the two sets and q_l = q_l⁺ + q_l⁻, maximise
//!
//! ```text
//! Σ_l ( r_l ln (q_l⁺/q_l) + (1 − r_l) ln (q_l⁻/q_l) ) + μ Σ_k ln p_k
//! ```
//!
//! by their algorithm 1: multiply each p_k by [Σ_{l: k in +} r_l/q_l⁺ + Σ_{l: k in −} (1 − r_l)/q_l⁻] / Σ_{l: k in either} 1/q_l, with μ added to
//! what is divided and Kμ to what divides, and normalise. A class takes no part in a column where the code has a 0, and the
//! column says nothing of it. The small μ (1e-3) keeps p off 0, where answers that contradict each other would put classes.
//! Different from it: after two steps θ₀, θ₁, θ₂ in θ = ln p, a leap to θ₀ + 2αr + α²v, r = θ₁ − θ₀, v = θ₂ − 2θ₁ + θ₀, α = ‖r‖/‖v‖, taken
//! back where it is worse than θ₁ (Varadhan and Roland, *Scand. J. Statistics* 35, 2008, SqS3). With 10 to 100 classes it ends after
//! 45 to 105 steps; without leaps, after 160 to 730.
//!
//! *Rejected:* the product of the probabilities of a codeword's bits, normalised. It takes columns for independent although
//! they ask of the same classes, counts evidence many times, and is far too sure. Simulated: 10 Gaussian classes in 8 dimensions,
//! 33 random columns, 2,000 points, where the truth has a log loss of 0.39. From exact answers 0.39 against 2.30; from answers
//! with noise of 1 in log-odds 0.41 against 2.29; from logistic regressions learnt on 2,000 other points 0.89 against 1.51. Error rates
//! are the same to 0.001. `tests/simulated.rs` has a case of its own.

use super::{Scratch, cleared, tame};
use crate::Error;

/// How near to certainty a column may be.
const MARGIN: f64 = 1e-9;
const MU: f64 = 1e-3;
/// Rounds of two steps and a leap.
const MAX_ROUNDS: usize = 200;

/// The + and − sets of the columns of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeColumns {
    n_classes: usize,
    /// Column l has + classes `classes[start[2l]..start[2l + 1]]`, and − ones up to `start[2l + 2]`.
    classes: Vec<u32>,
    start: Vec<usize>,
}

impl CodeColumns {
    /// Takes a row-major K × L code of −1, 0 and 1.
    pub fn new(n_classes: usize, n_columns: usize, code: &[i8]) -> Result<Self, Error> {
        Error::unless_len("entries of the code", n_classes.saturating_mul(n_columns), code.len())?;
        if code.iter().any(|entry| !(-1..=1).contains(entry)) {
            return Err(Error::Shape("a code has entries of -1, 0 and 1"));
        }
        let (mut classes, mut start) = (Vec::new(), vec![0]);
        for l in 0..n_columns {
            for sign in [1, -1] {
                let with_sign = (0..n_classes).filter(|k| code[k * n_columns + l] == sign);
                classes.extend(with_sign.map(|k| k as u32));
                start.push(classes.len());
            }
        }
        Ok(Self { n_classes, classes, start })
    }

    /// Number of columns, L.
    pub fn n_columns(&self) -> usize {
        self.start.len() / 2
    }

    /// Probabilities of the K classes, into `out`, from `r[l]`, the probability of + in column l.
    ///
    /// Columns with an empty side are passed over. Classes in no other get no say and share what μ leaves them.
    pub fn couple(&self, r: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        debug_assert_eq!((r.len(), out.len()), (self.n_columns(), self.n_classes));
        let Scratch { matrix, product, ratio } = scratch;
        let [first, second] = [product, ratio].map(|buffer| cleared(buffer, self.n_classes));
        let down = cleared(matrix, self.n_classes);
        out.fill(1.0 / self.n_classes.max(1) as f64);
        for _ in 0..MAX_ROUNDS {
            self.step(r, out, first, down);
            let value = self.step(r, first, second, down);
            let moved = first.iter().zip(&*second).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
            if moved < 1e-6 {
                out.copy_from_slice(second);
                break;
            }
            leap(out, first, second);
            if self.step(r, out, first, down) < value {
                out.copy_from_slice(second);
            } else {
                out.copy_from_slice(first);
            }
        }
    }

    /// A step of the algorithm from p to `new`; returns the objective at p.
    fn step(&self, r: &[f64], p: &[f64], new: &mut [f64], down: &mut [f64]) -> f64 {
        let k = self.n_classes as f64;
        let mut value = MU * p.iter().map(|p| p.ln()).sum::<f64>();
        new.fill(0.0);
        down.fill(0.0);
        for (l, &r) in r.iter().enumerate() {
            let (plus, minus) = self.sides(l);
            if plus.is_empty() || minus.is_empty() {
                continue;
            }
            let r = tame(r, MARGIN);
            let mass = |side: &[u32]| side.iter().map(|&k| p[k as usize]).sum::<f64>();
            let (q_plus, q_minus) = (mass(plus), mass(minus));
            let both = 1.0 / (q_plus + q_minus);
            value += r * (q_plus * both).ln() + (1.0 - r) * (q_minus * both).ln();
            for (side, gain) in [(plus, r / q_plus), (minus, (1.0 - r) / q_minus)] {
                for &k in side {
                    new[k as usize] += gain;
                    down[k as usize] += both;
                }
            }
        }
        let mut sum = 0.0;
        for ((new, p), down) in new.iter_mut().zip(p).zip(&*down) {
            *new = (p * *new + MU) / (down + k * MU);
            sum += *new;
        }
        new.iter_mut().for_each(|new| *new /= sum);
        value
    }

    fn sides(&self, column: usize) -> (&[u32], &[u32]) {
        let [lo, mid, hi] = [0, 1, 2].map(|i| self.start[2 * column + i]);
        (&self.classes[lo..mid], &self.classes[mid..hi])
    }
}

/// Replaces p by the leap that the two steps after it suggest, with a sum of one.
fn leap(p: &mut [f64], first: &[f64], second: &[f64]) {
    let change = |p: f64, p1: f64, p2: f64| {
        let r = (p1 / p).ln();
        (r, (p2 / p1).ln() - r)
    };
    let (mut r_norm, mut v_norm) = (0.0, 0.0);
    for ((&p, &p1), &p2) in p.iter().zip(first).zip(second) {
        let (r, v) = change(p, p1, p2);
        r_norm += r * r;
        v_norm += v * v;
    }
    // From 1, which is no leap but the second step, to where it was never seen to be worth while.
    let alpha = (r_norm / v_norm).sqrt().clamp(1.0, 50.0);
    let alpha = if alpha.is_nan() { 1.0 } else { alpha };
    let mut sum = 0.0;
    for ((p, &p1), &p2) in p.iter_mut().zip(first).zip(second) {
        let (r, v) = change(*p, p1, p2);
        // As far from 0 as no step would go.
        *p = (p.ln() + 2.0 * alpha * r + alpha * alpha * v).clamp(-30.0, 10.0).exp();
        sum += *p;
    }
    p.iter_mut().for_each(|p| *p /= sum);
}
