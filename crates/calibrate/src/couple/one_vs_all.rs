//! One-vs-all: p_k = r_k / Σ r, and 1/K where all are 0 (Zadrozny and Elkan, KDD 2002).

use super::tame;

/// Brings probabilities to a sum of one, in place. All 0 become equal.
pub fn one_vs_all(p: &mut [f64]) {
    let mut sum = 0.0;
    for p in p.iter_mut() {
        *p = tame(*p, 0.0);
        sum += *p;
    }
    // A sum so small that a quotient overflows says no more than 0.
    if sum < f64::MIN_POSITIVE {
        let equal = 1.0 / p.len() as f64;
        p.fill(equal);
    } else {
        p.iter_mut().for_each(|p| *p /= sum);
    }
}
