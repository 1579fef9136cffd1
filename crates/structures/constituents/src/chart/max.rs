//! The best derivation: CYK over spans and pairs.
//!
//! ```text
//! inside(i, j, A)     = own(i, j, A) + max over k of left(i, k, A) + right(k, j, A)
//! left(i, k, A)       = side(i, k, left, A) + max over B of inside(i, k, B) + pair(A, left, B)         right alike
//! ```
//!
//! O(n³·P + n²·pairs) time, O(n²·P) numbers. Only scores are stored: on the way back each maximum is found again by comparing the sum that made it, which costs nothing beside the way up.
//! The loop over A in `inside` is over adjacent numbers.

use super::Scored;
use crate::derivation::{Derivation, Node};
use crate::grammar::{LEFT, RIGHT};
use lineal_linalg::Scalar;

/// Buffers of the best derivation. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub struct MaxChart<F> {
    /// P for each span.
    pub(super) inside: Vec<F>,
    /// For each side P for each span.
    pub(super) sides: [Vec<F>; 2],
    best: Vec<F>,
    stack: Vec<(usize, usize)>,
}

impl<F: Scalar> MaxChart<F> {
    /// The score of the best derivation, −∞ if there is none. There must be a word.
    pub(crate) fn fill(&mut self, scored: &Scored<'_, F>) -> F {
        let (p, spans) = (scored.n_parents(), scored.spans);
        let len = spans.len() * p;
        self.inside.resize(len.max(self.inside.len()), F::ZERO);
        self.sides.iter_mut().for_each(|side| side.resize(len.max(side.len()), F::ZERO));
        self.best.resize(p, F::ZERO);
        let last = spans.len() - 1;
        for span in 0..spans.len() {
            let (i, j) = spans.words(span);
            if j - i == 1 {
                self.inside[span * p..(span + 1) * p].copy_from_slice(scored.own(span));
            } else {
                self.split(scored, span);
            }
            if span != last {
                self.project(scored, span, LEFT);
                self.project(scored, span, RIGHT);
            }
        }
        self.root(scored).1
    }

    /// The best symbol of the last span, with its score.
    fn root(&self, scored: &Scored<'_, F>) -> (usize, F) {
        let (p, last) = (scored.n_parents(), scored.spans.len() - 1);
        let mut best = scored.word(last).unwrap_or((0, -F::INFINITY));
        for (symbol, &score) in self.inside[last * p..(last + 1) * p].iter().enumerate() {
            if score > best.1 {
                best = (symbol, score);
            }
        }
        best
    }

    fn split(&mut self, scored: &Scored<'_, F>, span: usize) {
        let p = scored.n_parents();
        let best = &mut self.best[..p];
        best.fill(-F::INFINITY);
        for (a, b) in scored.spans.splits(span) {
            let left = &self.sides[LEFT][a * p..(a + 1) * p];
            let right = &self.sides[RIGHT][b * p..(b + 1) * p];
            for ((best, &left), &right) in best.iter_mut().zip(left).zip(right) {
                let sum = left + right;
                *best = if sum > *best { sum } else { *best };
            }
        }
        let inside = &mut self.inside[span * p..(span + 1) * p];
        for ((inside, &own), &best) in inside.iter_mut().zip(scored.own(span)).zip(&*best) {
            *inside = own + best;
        }
    }

    /// The symbols of a span with their scores, those that it cannot have left out.
    pub(super) fn symbols<'c>(
        &'c self,
        scored: &Scored<'_, F>,
        span: usize,
    ) -> impl Iterator<Item = (usize, F)> + 'c {
        let p = scored.n_parents();
        let inside = self.inside[span * p..(span + 1) * p].iter().copied().enumerate();
        inside.chain(scored.word(span)).filter(|&(_, score)| score > -F::INFINITY)
    }

    fn project(&mut self, scored: &Scored<'_, F>, span: usize, side: usize) {
        let (p, grammar) = (scored.n_parents(), scored.grammar);
        let mut best = std::mem::take(&mut self.best);
        best.fill(-F::INFINITY);
        for (child, score) in self.symbols(scored, span) {
            let (parents, numbers) = grammar.pairs().of_child(side, child);
            for (&parent, &pair) in parents.iter().zip(&scored.pairs[numbers]) {
                let sum = score + pair;
                let best = &mut best[parent as usize];
                *best = if sum > *best { sum } else { *best };
            }
            if let Some(floor) = scored.floor {
                let sum = score + floor;
                for (parent, best) in best.iter_mut().enumerate() {
                    let is_new = || parents.binary_search(&(parent as u32)).is_err();
                    if sum > *best && scored.is_free(parent, child) && is_new() {
                        *best = sum;
                    }
                }
            }
        }
        let row = scored.side(span, side);
        let out = &mut self.sides[side][span * p..(span + 1) * p];
        for ((out, &best), &category) in out.iter_mut().zip(&best).zip(grammar.categories()) {
            *out = row[category as usize] + best;
        }
        self.best = best;
    }

    /// The best derivation, left in `y`. Only after [`fill`](Self::fill), and only if there is one.
    pub(crate) fn read(&mut self, scored: &Scored<'_, F>, y: &mut Derivation) {
        y.nodes.clear();
        let p = scored.n_parents();
        let last = scored.spans.len() - 1;
        self.stack.clear();
        self.stack.push((last, self.root(scored).0));
        while let Some((span, symbol)) = self.stack.pop() {
            let (i, j) = scored.spans.words(span);
            y.nodes.push(Node { start: i as u32, end: j as u32, symbol: symbol as u32 });
            if j - i == 1 {
                continue;
            }
            let (own, whole) = (scored.own(span)[symbol], self.inside[span * p + symbol]);
            let is_it = |&(a, b): &(usize, usize)| {
                own + (self.sides[LEFT][a * p + symbol] + self.sides[RIGHT][b * p + symbol])
                    == whole
            };
            // One of them made the score: there is no other case.
            let Some((a, b)) = scored.spans.splits(span).find(is_it) else { return };
            for (side, span) in [(RIGHT, b), (LEFT, a)] {
                let whole = self.sides[side][span * p + symbol];
                let row = scored.side(span, side)[scored.grammar.categories()[symbol] as usize];
                let is_it = |&(child, score): &(usize, F)| {
                    row + (score + scored.pair(side, symbol, child)) == whole
                };
                let Some((child, _)) = self.symbols(scored, span).find(is_it) else { return };
                self.stack.push((span, child));
            }
        }
    }
}
