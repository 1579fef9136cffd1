//! Sums over all derivations: inside and outside, in f64.
//!
//! ```text
//! inside(i, j, A)     = own(i, j, A) + log Σ over k of exp(left(i, k, A) + right(k, j, A))
//! left(i, k, A)       = side(i, k, left, A) + log Σ over B of exp(inside(i, k, B) + pair(A, left, B))  right alike
//! ```
//!
//! Pairs are summed without exponentials of their own: with m the largest inside of a span, Σ over B of exp(inside(B) − m)·exp(pair(A, B) − t), t the largest pair. Where that leaves
//! the range of f64, the sum is taken again with the maximum of its own terms. Going down, all numbers are probabilities,
//!
//! ```text
//! p(i, j, A)          probability of a node;            a split at k has the share exp(left + right − log Σ)
//! q(i, k, left, A)    probability that (i, k) is the left child of an A: the sum of these over j
//! ```
//!
//! and q is shared out among the symbols B in the same way. Nothing overflows for any finite scores.

use super::Scored;
use crate::grammar::{LEFT, RIGHT};
use lineal_linalg::Scalar;
use lineal_linalg::special::exp_slice;

/// Buffers of sums. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub struct SumChart {
    /// P for each span.
    inside: Vec<f64>,
    /// inside − own, P for each span.
    splits: Vec<f64>,
    /// For each side P for each span.
    sides: [Vec<f64>; 2],
    /// Probabilities of nodes, and of being a child of a symbol.
    p: Vec<f64>,
    q: [Vec<f64>; 2],
    /// Probabilities of words without a phrase.
    word_p: Vec<f64>,
    /// exp(pair − t).
    pairs: Vec<f64>,
    top_pair: f64,
    best: Vec<f64>,
    total: Vec<f64>,
    terms: Vec<f64>,
    children: Vec<(usize, f64)>,
    active: Vec<usize>,
}

/// What the probabilities are added to.
pub(crate) struct Expected<'a, F> {
    pub(crate) pairs: &'a mut [F],
    /// As [`Scored::rows`]; own scores are by columns.
    pub(crate) rows: &'a mut [F],
}

/// Probabilities below this are taken for 0: they change no sum of others.
const NOTHING: f64 = 1e-30;

fn log_sum_exp(terms: &mut [f64]) -> f64 {
    let top = terms.iter().fold(f64::NEG_INFINITY, |top, &x| if x > top { x } else { top });
    if top == f64::NEG_INFINITY {
        return top;
    }
    terms.iter_mut().for_each(|x| *x -= top);
    exp_slice(terms);
    top + terms.iter().sum::<f64>().ln()
}

impl SumChart {
    /// log Σ exp score over all derivations, −∞ if there is none. There must be a word. The floor of unknown pairs is not read.
    pub(crate) fn fill<F: Scalar>(&mut self, scored: &Scored<'_, F>) -> f64 {
        let (p, spans) = (scored.n_parents(), scored.spans);
        let len = spans.len() * p;
        for buffer in [&mut self.inside, &mut self.splits].into_iter().chain(&mut self.sides) {
            buffer.resize(len.max(buffer.len()), 0.0);
        }
        self.best.resize(p, 0.0);
        self.total.resize(p, 0.0);
        let pairs = scored.pairs.iter().map(|pair| pair.to_f64());
        self.top_pair = pairs.clone().fold(f64::NEG_INFINITY, f64::max);
        self.pairs.clear();
        self.pairs.extend(pairs.map(|pair| pair - self.top_pair));
        exp_slice(&mut self.pairs);
        let last = spans.len() - 1;
        for span in 0..spans.len() {
            let (i, j) = spans.words(span);
            if j - i == 1 {
                let own = scored.own(span).iter().map(|own| own.to_f64());
                self.inside[span * p..].iter_mut().zip(own).for_each(|(inside, own)| *inside = own);
            } else {
                self.split(scored, span);
            }
            if span != last {
                self.project(scored, span, LEFT);
                self.project(scored, span, RIGHT);
            }
        }
        self.load_children(scored, last);
        self.terms.clear();
        self.terms.extend(self.children.iter().map(|child| child.1));
        log_sum_exp(&mut self.terms)
    }

    fn split<F: Scalar>(&mut self, scored: &Scored<'_, F>, span: usize) {
        let p = scored.n_parents();
        let Self { best, total, terms, sides, .. } = self;
        best.fill(f64::NEG_INFINITY);
        for (a, b) in scored.spans.splits(span) {
            let (left, right) =
                (&sides[LEFT][a * p..(a + 1) * p], &sides[RIGHT][b * p..(b + 1) * p]);
            for ((best, &left), &right) in best.iter_mut().zip(left).zip(right) {
                let sum = left + right;
                *best = if sum > *best { sum } else { *best };
            }
        }
        // −∞ − −∞ is not a number; exp(−∞) is 0, whatever is taken away.
        best.iter_mut()
            .for_each(|best| *best = if *best > f64::NEG_INFINITY { *best } else { 0.0 });
        total.fill(0.0);
        for (a, b) in scored.spans.splits(span) {
            let (left, right) =
                (&sides[LEFT][a * p..(a + 1) * p], &sides[RIGHT][b * p..(b + 1) * p]);
            terms.clear();
            terms.extend(best.iter().zip(left).zip(right).map(|((best, l), r)| l + r - best));
            exp_slice(terms);
            total.iter_mut().zip(&*terms).for_each(|(total, term)| *total += term);
        }
        let own = scored.own(span);
        for symbol in 0..p {
            let splits = if total[symbol] > 0.0 {
                best[symbol] + total[symbol].ln()
            } else {
                f64::NEG_INFINITY
            };
            self.splits[span * p + symbol] = splits;
            self.inside[span * p + symbol] = own[symbol].to_f64() + splits;
        }
    }

    /// The symbols that a span can have, with their inside scores.
    fn load_children<F: Scalar>(&mut self, scored: &Scored<'_, F>, span: usize) {
        let p = scored.n_parents();
        let word = scored.word(span).map(|(symbol, score)| (symbol, score.to_f64()));
        let inside = self.inside[span * p..(span + 1) * p].iter().copied().enumerate();
        self.children.clear();
        self.children.extend(inside.chain(word).filter(|&(_, score)| score > f64::NEG_INFINITY));
    }

    /// The exponentials of the children's scores, less the largest, in `terms`; the largest.
    fn load_terms(&mut self) -> f64 {
        let scores = self.children.iter().map(|child| child.1);
        let top = scores.clone().fold(f64::NEG_INFINITY, f64::max);
        self.terms.clear();
        self.terms.extend(scores.map(|score| score - top));
        exp_slice(&mut self.terms);
        top
    }

    fn project<F: Scalar>(&mut self, scored: &Scored<'_, F>, span: usize, side: usize) {
        let (p, grammar) = (scored.n_parents(), scored.grammar);
        if side == LEFT {
            self.load_children(scored, span);
        }
        let top = self.load_terms() + self.top_pair;
        let Self { total, terms, children, pairs, best, .. } = self;
        total.fill(0.0);
        best.fill(f64::NEG_INFINITY);
        for (&(child, score), &term) in children.iter().zip(&*terms) {
            let (parents, numbers) = grammar.pairs().of_child(side, child);
            let own = parents.iter().zip(&pairs[numbers.clone()]).zip(&scored.pairs[numbers]);
            for ((&parent, &exp_pair), &pair) in own {
                total[parent as usize] += term * exp_pair;
                let sum = score + pair.to_f64();
                let best = &mut best[parent as usize];
                *best = if sum > *best { sum } else { *best };
            }
        }
        for symbol in 0..p {
            total[symbol] = match best[symbol] {
                f64::NEG_INFINITY => f64::NEG_INFINITY,
                best if best - top < -600.0 => {
                    let sum = |(child, score): &(usize, f64)| {
                        (score + scored.pair(side, symbol, *child).to_f64() - best).exp()
                    };
                    best + children.iter().map(sum).sum::<f64>().ln()
                }
                _ => top + total[symbol].ln(),
            };
        }
        let row = scored.side(span, side);
        let out = &mut self.sides[side][span * p..(span + 1) * p];
        for ((out, &total), &category) in out.iter_mut().zip(&*total).zip(grammar.categories()) {
            *out = row[category as usize].to_f64() + total;
        }
    }

    /// The probabilities of all parts, added to `expected`. Only after [`fill`](Self::fill) with the same scores, which gave `log_partition`.
    pub(crate) fn expect<F: Scalar>(
        &mut self,
        scored: &Scored<'_, F>,
        log_partition: f64,
        expected: &mut Expected<'_, F>,
    ) {
        let (p, spans) = (scored.n_parents(), scored.spans);
        let len = spans.len() * p;
        for buffer in [&mut self.p].into_iter().chain(&mut self.q) {
            buffer.clear();
            buffer.resize(len, 0.0);
        }
        self.word_p.clear();
        self.word_p.resize(spans.n_words(), 0.0);
        let last = spans.len() - 1;
        self.load_children(scored, last);
        for at in 0..self.children.len() {
            let (child, score) = self.children[at];
            self.add_node(scored, last, child, (score - log_partition).exp());
        }
        for span in (0..spans.len()).rev() {
            if span != last {
                self.share_sides(scored, span, expected);
            }
            self.share_splits(scored, span);
            let rows = &mut expected.rows[span * scored.stride..];
            let columns = scored.grammar.columns();
            for (&probability, &column) in self.p[span * p..(span + 1) * p].iter().zip(columns) {
                rows[column as usize] += F::from_f64(probability);
            }
            let (i, j) = spans.words(span);
            if j - i == 1 {
                rows[0] += F::from_f64(self.word_p[i]);
            }
        }
    }

    #[inline]
    fn add_node<F: Scalar>(&mut self, scored: &Scored<'_, F>, span: usize, symbol: usize, by: f64) {
        let p = scored.n_parents();
        match symbol < p {
            true => self.p[span * p + symbol] += by,
            false => self.word_p[scored.spans.words(span).0] += by,
        }
    }

    /// From being a child to the symbols of the child.
    fn share_sides<F: Scalar>(
        &mut self,
        scored: &Scored<'_, F>,
        span: usize,
        expected: &mut Expected<'_, F>,
    ) {
        let (p, grammar) = (scored.n_parents(), scored.grammar);
        self.load_children(scored, span);
        let top = self.load_terms() + self.top_pair;
        for side in [LEFT, RIGHT] {
            let row = scored.side(span, side);
            let sums = &mut expected.rows[span * scored.stride + scored.sides[side]..];
            // q divided by the sum that made the side's score; those beyond the range of f64 apart.
            let Self { total, q, sides, active, children, terms, pairs, p: nodes, word_p, .. } =
                self;
            let first_word = scored.spans.words(span).0;
            let mut add = |child: usize, by: f64| match child < p {
                true => nodes[span * p + child] += by,
                false => word_p[first_word] += by,
            };
            active.clear();
            let mut any = false;
            for symbol in 0..p {
                let by = q[side][span * p + symbol];
                total[symbol] = 0.0;
                if by < NOTHING {
                    continue;
                }
                let category = grammar.categories()[symbol] as usize;
                sums[category] += F::from_f64(by);
                let log = sides[side][span * p + symbol] - row[category].to_f64() - top;
                if log < -600.0 {
                    active.push(symbol);
                } else {
                    total[symbol] = by * (-log).exp();
                    any = true;
                }
            }
            for (&(child, _), &term) in children.iter().zip(&*terms).filter(|_| any) {
                let (parents, numbers) = grammar.pairs().of_child(side, child);
                let mut sum = 0.0;
                for (&parent, number) in parents.iter().zip(numbers) {
                    let by = total[parent as usize] * (term * pairs[number]);
                    sum += by;
                    expected.pairs[number] += F::from_f64(by);
                }
                add(child, sum);
            }
            for &symbol in &*active {
                let category = grammar.categories()[symbol] as usize;
                let whole = sides[side][span * p + symbol] - row[category].to_f64();
                let by = q[side][span * p + symbol];
                for &(child, score) in &*children {
                    let number = grammar.pairs().number(side, symbol as u32, child as u32);
                    if let Some(number) = number {
                        let by = by * (score + scored.pairs[number].to_f64() - whole).exp();
                        expected.pairs[number] += F::from_f64(by);
                        add(child, by);
                    }
                }
            }
        }
    }

    /// From nodes to their children.
    fn share_splits<F: Scalar>(&mut self, scored: &Scored<'_, F>, span: usize) {
        let p = scored.n_parents();
        let Self { active, p: nodes, q, sides, splits, terms, .. } = self;
        active.clear();
        active.extend((0..p).filter(|symbol| nodes[span * p + symbol] > NOTHING));
        if active.is_empty() {
            return;
        }
        for (a, b) in scored.spans.splits(span) {
            terms.clear();
            terms.extend(active.iter().map(|symbol| {
                sides[LEFT][a * p + symbol] + sides[RIGHT][b * p + symbol]
                    - splits[span * p + symbol]
            }));
            exp_slice(terms);
            for (&symbol, &share) in active.iter().zip(&*terms) {
                let by = nodes[span * p + symbol] * share;
                q[LEFT][a * p + symbol] += by;
                q[RIGHT][b * p + symbol] += by;
            }
        }
    }

    /// The probability of each symbol of a span. Only after [`expect`](Self::expect).
    pub(crate) fn probabilities(&self, n_parents: usize, span: usize) -> &[f64] {
        &self.p[span * n_parents..(span + 1) * n_parents]
    }
}
