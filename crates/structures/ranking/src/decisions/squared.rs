//! Σ over pairs of max(0, 1 − (scoreᵢ − scoreⱼ))² and its gradient, by two walks along sorted scores.
//!
//! Walking up the worse documents j, those better ones with scoreᵢ < t = scoreⱼ + 1 have a part in
//!
//! ```text
//! A₀ = Σ 1,   A₁ = Σ (t − scoreᵢ),   A₂ = Σ (t − scoreᵢ)²,
//! ```
//!
//! and when t rises by δ: A₂ ← A₂ + 2δA₁ + δ²A₀, A₁ ← A₁ + δA₀. The value is the sum of all A₂, the derivative by scoreⱼ is 2A₁; a walk down the better documents gives
//! theirs. Chapelle and Keerthi, *Efficient algorithms for ranking with SVMs* (2010), take sums of scores and of their squares and subtract; here every term is ≥ 0, so that nothing
//! cancels, however far from 0 or apart the scores are. Few pairs are added up one by one.

use crate::listed::is_short;
use crate::oracle::{Buffers, Scored};
use crate::sorted::{Entry, Product};

struct Squares<'b> {
    amounts: &'b mut [f64],
    value: f64,
}

pub(super) fn value_grad(at: &Scored<'_>, s: &mut Buffers, amounts: &mut [f64]) -> f64 {
    if is_short(&at.query) {
        return s.listed.sum(at, amounts, |lead| {
            let violation = (1.0 - lead).max(0.0);
            (violation * violation, 2.0 * violation)
        });
    }
    let mut squares = Squares { amounts, value: 0.0 };
    s.sorted.each_product(&at.query, at.scores, &mut squares);
    squares.value
}

/// The sums A₀, A₁, A₂ of those documents that are within the margin of a moving document.
#[derive(Default)]
struct Within {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Within {
    fn advance(&mut self, by: f64) {
        // Nothing is within: an infinite step must not make 0 · ∞.
        if self.count > 0.0 {
            self.squares += by * (2.0 * self.sum + by * self.count);
            self.sum += by * self.count;
        }
    }

    fn push(&mut self, violation: f64) {
        self.count += 1.0;
        self.sum += violation;
        self.squares += violation * violation;
    }
}

impl Product for Squares<'_> {
    fn add(&mut self, better: &[Entry], worse: &[Entry]) {
        let violation = |high: &Entry, low: &Entry| 1.0 - (high.score - low.score);
        let (mut within, mut next, mut last) = (Within::default(), 0, None);
        for low in worse {
            within.advance(last.map_or(0.0, |last| low.score - last));
            last = Some(low.score);
            while next < better.len() && violation(&better[next], low) > 0.0 {
                within.push(violation(&better[next], low));
                next += 1;
            }
            self.value += within.squares;
            self.amounts[low.document as usize] += 2.0 * within.sum;
        }
        let (mut within, mut rest, mut last) = (Within::default(), worse.len(), None);
        for high in better.iter().rev() {
            within.advance(last.map_or(0.0, |last| last - high.score));
            last = Some(high.score);
            while rest > 0 && violation(high, &worse[rest - 1]) > 0.0 {
                within.push(violation(high, &worse[rest - 1]));
                rest -= 1;
            }
            self.amounts[high.document as usize] -= 2.0 * within.sum;
        }
    }
}
