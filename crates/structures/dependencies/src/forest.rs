//! All projective trees of a sentence, packed: sums, marginals, samples.
//!
//! A *packed forest* (a hypergraph in which every edge has two tails) has items in an order in which the smaller spans come first, and for each item its edges, the ways to make it of
//! two smaller items. Item 0 is an empty span. An item may have a *part*, whose score it adds to those of its tails. Each derivation of the last item is one tree, and
//! each tree has one derivation. Items without a derivation are not stored, so that −∞ never occurs.
//!
//! ```text
//! inside(v)  = θ(part of v) + log Σ over edges (l, r) of v of exp(inside(l) + inside(r))
//! share(e)   = the fraction of that sum that edge e brings
//! outside(v) = Σ over edges e with the tail v of outside(head of e) · share(e),   outside(last) = 1
//! ```
//!
//! outside is the probability of an item, and so of its part. All numbers of the second pass are probabilities, so that nothing overflows for any finite scores
//! (Goodman 1999 has the semirings, Huang and Chiang 2005 the hypergraphs). Sums are taken in f64. Memory is 16 bytes for each edge.

use lineal_linalg::{Rng, special};

/// The trees of one sentence, and buffers. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forest {
    /// End of the edges of each item.
    ends: Vec<u32>,
    /// The part of each item, or `NONE`.
    parts: Vec<u32>,
    /// The tails of each edge.
    pub(crate) tails: Vec<[u32; 2]>,
    inside: Vec<f64>,
    shares: Vec<f64>,
    outside: Vec<f64>,
    stack: Vec<u32>,
}

/// No item, or an item without a part.
pub(crate) const NONE: u32 = u32::MAX;
/// The empty span.
pub(crate) const EMPTY: u32 = 0;

impl Forest {
    /// Forgets everything but the empty span.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
        self.parts.clear();
        self.tails.clear();
        self.ends.push(0);
        self.parts.push(NONE);
    }

    /// Adds an edge to the item that [`close`](Self::close) will make, unless a tail has no derivation.
    #[inline]
    pub(crate) fn edge(&mut self, left: u32, right: u32) {
        if left != NONE && right != NONE {
            self.tails.push([left, right]);
        }
    }

    /// Makes an item of the edges since the last one; `NONE` if there are none.
    #[inline]
    pub(crate) fn close(&mut self, part: u32) -> u32 {
        let end = self.tails.len() as u32;
        if self.ends.last() == Some(&end) {
            return NONE;
        }
        self.ends.push(end);
        self.parts.push(part);
        self.ends.len() as u32 - 1
    }

    pub(crate) fn n_items(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn edges(&self, item: usize) -> std::ops::Range<usize> {
        let start = if item == 0 { 0 } else { self.ends[item - 1] };
        start as usize..self.ends[item] as usize
    }

    /// The score of an item's part.
    #[inline]
    pub(crate) fn own(&self, item: usize, scores: &[f64]) -> f64 {
        let part = self.parts[item];
        if part == NONE { 0.0 } else { scores[part as usize] }
    }

    /// The part of an item.
    pub(crate) fn part(&self, item: usize) -> Option<usize> {
        let part = self.parts[item];
        (part != NONE).then_some(part as usize)
    }

    /// log Σ exp score over all trees. `scores` has one number for each part.
    pub(crate) fn log_partition(&mut self, scores: &[f64]) -> f64 {
        let log_partition = self.ratios(scores);
        if log_partition.is_finite() { log_partition } else { self.logarithms(scores) }
    }

    /// Sums relative to the best derivation of each item: inside(v) = best(v) + ln ratio(v). The exponentials of all edges are then independent of each
    /// other and taken at once, and there are no logarithms. Ratios are at most the numbers of derivations, about 6.75ⁿ: beyond 350 words they may leave
    /// the range of f64, and then the result is not finite.
    fn ratios(&mut self, scores: &[f64]) -> f64 {
        let n = self.n_items();
        let best = &mut self.inside;
        best.clear();
        self.shares.clear();
        for item in 0..n {
            let start = self.shares.len();
            let mut top = f64::NEG_INFINITY;
            for &[left, right] in &self.tails[start..self.ends[item] as usize] {
                let sum = best[left as usize] + best[right as usize];
                self.shares.push(sum);
                top = if sum > top { sum } else { top };
            }
            top = if self.shares.len() == start { 0.0 } else { top };
            self.shares[start..].iter_mut().for_each(|share| *share -= top);
            let part = self.parts[item];
            best.push(if part == NONE { top } else { top + scores[part as usize] });
        }
        special::exp_slice(&mut self.shares);
        let ratios = &mut self.outside;
        ratios.clear();
        let mut start = 0;
        for item in 0..n {
            let end = self.ends[item] as usize;
            let shares = &mut self.shares[start..end];
            let mut sum = 0.0;
            for (share, &[left, right]) in shares.iter_mut().zip(&self.tails[start..end]) {
                *share *= ratios[left as usize] * ratios[right as usize];
                sum += *share;
            }
            if start == end {
                ratios.push(1.0);
            } else {
                let scale = 1.0 / sum;
                shares.iter_mut().for_each(|share| *share *= scale);
                ratios.push(sum);
            }
            start = end;
        }
        best[n - 1] + ratios[n - 1].ln()
    }

    /// The same item by item, for any number of trees.
    fn logarithms(&mut self, scores: &[f64]) -> f64 {
        self.inside.clear();
        self.shares.clear();
        for item in 0..self.n_items() {
            let edges = self.edges(item);
            let start = edges.start;
            let own = self.own(item, scores);
            let sum = match edges.len() {
                0 => 0.0,
                1 => {
                    let [left, right] = self.tails[start];
                    self.shares.push(1.0);
                    self.inside[left as usize] + self.inside[right as usize]
                }
                _ => {
                    for &[left, right] in &self.tails[edges] {
                        self.shares.push(self.inside[left as usize] + self.inside[right as usize]);
                    }
                    normalise(&mut self.shares[start..])
                }
            };
            self.inside.push(own + sum);
        }
        self.inside.last().copied().unwrap_or(0.0)
    }

    /// log Σ exp score over all trees; the probability of each part is added to `mu`.
    pub(crate) fn expect(&mut self, scores: &[f64], mu: &mut [f64]) -> f64 {
        let log_partition = self.log_partition(scores);
        let n = self.n_items();
        self.outside.clear();
        self.outside.resize(n, 0.0);
        self.outside[n - 1] = 1.0;
        for item in (1..n).rev() {
            let outside = self.outside[item];
            if outside == 0.0 {
                continue;
            }
            if self.parts[item] != NONE {
                mu[self.parts[item] as usize] += outside;
            }
            for edge in self.edges(item) {
                let amount = outside * self.shares[edge];
                let [left, right] = self.tails[edge];
                self.outside[left as usize] += amount;
                self.outside[right as usize] += amount;
            }
        }
        log_partition
    }

    /// Calls `f` with the parts of one tree, drawn with its probability. Only after [`log_partition`](Self::log_partition).
    pub(crate) fn sample(&mut self, rng: &mut Rng, mut f: impl FnMut(usize)) {
        self.stack.clear();
        self.stack.push(self.n_items() as u32 - 1);
        while let Some(item) = self.stack.pop() {
            if let Some(part) = self.part(item as usize) {
                f(part);
            }
            let edges = self.edges(item as usize);
            let mut left = rng.unit();
            // Rounding may leave a rest: the last edge that has a share takes it.
            let mut chosen = None;
            for edge in edges {
                if self.shares[edge] > 0.0 {
                    chosen = Some(edge);
                    left -= self.shares[edge];
                    if left < 0.0 {
                        break;
                    }
                }
            }
            if let Some(edge) = chosen {
                self.stack.extend(self.tails[edge]);
            }
        }
    }
}

/// ln Σ exp xᵢ; each xᵢ becomes its share of the sum.
fn normalise(x: &mut [f64]) -> f64 {
    let top = x.iter().fold(f64::NEG_INFINITY, |top, &x| if x > top { x } else { top });
    x.iter_mut().for_each(|x| *x -= top);
    special::exp_slice(x);
    let sum: f64 = x.iter().sum();
    let scale = 1.0 / sum;
    x.iter_mut().for_each(|x| *x *= scale);
    top + sum.ln()
}
