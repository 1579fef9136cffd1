//! Sums over all projective trees and the probabilities of arcs (inside–outside; Baker 1979, Paskin 2001).
//!
//! The tables of [Eisner's algorithm](super::eisner) with log Σ exp in the place of the maximum, in f64. Each entry v is then log Σ exp xₑ over the ways e to make it of two
//! smaller ones. Backwards, from the whole sentence with probability 1, an entry hands its probability down to the two of each way, in the shares exp(xₑ − v).
//! The probability of an open span is that of its arc. Nothing overflows for any finite scores.
//!
//! The probabilities of complete spans arrive in two tables, `[head, end]` and `[end, head]`, as they were read, so that all rows are contiguous; an entry's is their sum.

use super::eisner::Chart;
use crate::Arcs;
use lineal_linalg::{Scalar, special};

/// Tables of one thread. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    inside: Chart<f64>,
    scores: Vec<f64>,
    right: Vec<f64>,
    left: Vec<f64>,
    right_to: Vec<f64>,
    left_to: Vec<f64>,
    open_right: Vec<f64>,
    open_left: Vec<f64>,
    terms: Terms,
}

impl Sums {
    /// log Σ exp score over all trees, or `None` if there are none.
    pub(crate) fn log_partition<F: Scalar>(&mut self, arcs: &Arcs, theta: &[F]) -> Option<f64> {
        let n = arcs.n_words();
        if n == 0 {
            return Some(0.0);
        }
        self.scores.clear();
        self.scores.extend(theta.iter().map(|theta| theta.to_f64()));
        self.inside.load(arcs, &self.scores);
        let terms = &mut self.terms;
        self.inside.fill(n, arcs.single_root(), |a, b| terms.log_sum_exp(a, b));
        // What was taken from the scores of each word.
        let taken = (1..=n).map(|word| {
            let own = &self.scores[arcs.range(word)];
            own.iter().fold(f64::NEG_INFINITY, |top, &score| top.max(score))
        });
        let inside = self.inside.right[n];
        (inside > f64::NEG_INFINITY).then(|| inside + taken.sum::<f64>())
    }

    /// The probability of each arc. Only after [`log_partition`](Self::log_partition).
    pub(crate) fn marginals<F: Scalar>(&mut self, arcs: &Arcs, mu: &mut [F]) {
        let n = arcs.n_words();
        if n == 0 {
            return;
        }
        self.outside(n, arcs.single_root());
        for (arc, mu) in mu.iter_mut().enumerate() {
            let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
            let table = if head < modifier { &self.open_right } else { &self.open_left };
            *mu = F::from_f64(table[head * (n + 1) + modifier]);
        }
    }

    fn outside(&mut self, n: usize, single_root: bool) {
        let s = n + 1;
        for table in [
            &mut self.right,
            &mut self.left,
            &mut self.right_to,
            &mut self.left_to,
            &mut self.open_right,
            &mut self.open_left,
        ] {
            table.clear();
            table.resize(s * s, 0.0);
        }
        let inside = &self.inside;
        let terms = &mut self.terms;
        self.right[n] = 1.0;
        // The order in which the tables were filled, backwards.
        for j in (1..=n).rev() {
            // As in `Chart::fill`, where the root with one word has but its last span.
            if !single_root || j == n {
                let range = 1..=j;
                let to = j * s + 1..=j * s + j;
                terms.spread(
                    self.right[j],
                    [&inside.open_right[range.clone()], &inside.right_to[to.clone()]],
                    [&mut self.open_right[range], &mut self.right_to[to]],
                );
            }
            let splits = if single_root { 1 } else { j };
            let (range, other) = (0..splits, j * s + 1..=j * s + splits);
            terms.spread(
                self.open_right[j],
                [&inside.right[range.clone()], &inside.left[other.clone()]],
                [&mut self.right[range], &mut self.left[other]],
            );
            for i in 1..j {
                let (range, to) = (i * s + i + 1..=i * s + j, j * s + i + 1..=j * s + j);
                terms.spread(
                    self.right[i * s + j] + self.right_to[j * s + i],
                    [&inside.open_right[range.clone()], &inside.right_to[to.clone()]],
                    [&mut self.open_right[range], &mut self.right_to[to]],
                );
                let (range, to) = (j * s + i..j * s + j, i * s + i..i * s + j);
                terms.spread(
                    self.left[j * s + i] + self.left_to[i * s + j],
                    [&inside.open_left[range.clone()], &inside.left_to[to.clone()]],
                    [&mut self.open_left[range], &mut self.left_to[to]],
                );
                let (range, other) = (i * s + i..i * s + j, j * s + i + 1..=j * s + j);
                terms.spread(
                    self.open_right[i * s + j] + self.open_left[j * s + i],
                    [&inside.right[range.clone()], &inside.left[other.clone()]],
                    [&mut self.right[range], &mut self.left[other]],
                );
            }
        }
    }
}

/// Exponentials are taken so many at a time.
const LANES: usize = 4;

/// One sum, worked out: which of its terms are not 0, and exp(term − the largest) of those.
#[derive(Clone, Debug, Default)]
struct Terms {
    len: usize,
    at: Vec<u32>,
    exp: Vec<f64>,
}

impl Terms {
    /// The terms a[i] + b[i]; gives the largest, −∞ for none, and Σ exp(term − the largest).
    #[inline]
    fn load(&mut self, a: &[f64], b: &[f64]) -> (f64, f64) {
        if self.at.len() < a.len() + LANES {
            self.at.resize(a.len() + LANES, 0);
            self.exp.resize(a.len() + LANES, 0.0);
        }
        // Among pruned arcs most terms are −∞: those need no exponential.
        let (mut len, mut top) = (0, f64::NEG_INFINITY);
        for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
            let term = a + b;
            (self.at[len], self.exp[len]) = (i as u32, term);
            len += usize::from(term > f64::NEG_INFINITY);
            top = if term > top { term } else { top };
        }
        self.len = len;
        if len <= 1 {
            self.exp[..len].fill(1.0);
            return (top, len as f64);
        }
        // Whole vectors: terms of −∞ at the end add nothing, and no exponential is taken alone.
        self.exp[len..len.next_multiple_of(LANES)].fill(f64::NEG_INFINITY);
        let exp = &mut self.exp[..len.next_multiple_of(LANES)];
        exp.iter_mut().for_each(|term| *term -= top);
        special::exp_slice(exp);
        (top, exp.iter().sum())
    }

    fn log_sum_exp(&mut self, a: &[f64], b: &[f64]) -> f64 {
        let (top, sum) = self.load(a, b);
        if self.len <= 1 { top } else { top + sum.ln() }
    }

    /// Adds to both tails of each way their share of a probability.
    fn spread(&mut self, probability: f64, inside: [&[f64]; 2], outside: [&mut [f64]; 2]) {
        if probability <= 0.0 {
            return;
        }
        let (_, sum) = self.load(inside[0], inside[1]);
        let scale = probability / sum;
        let [left, right] = outside;
        for (&at, &exp) in self.at[..self.len].iter().zip(&self.exp) {
            let amount = exp * scale;
            left[at as usize] += amount;
            right[at as usize] += amount;
        }
    }
}
