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
    row: Vec<f64>,
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
        let row = &mut self.row;
        self.inside.fill(n, arcs.single_root(), |a, b| log_sum_exp(a, b, row));
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
        let row = &mut self.row;
        self.right[n] = 1.0;
        // The order in which the tables were filled, backwards.
        for j in (1..=n).rev() {
            // As in `Chart::fill`, where the root with one word has but its last span.
            if !single_root || j == n {
                let range = 1..=j;
                let to = j * s + 1..=j * s + j;
                spread(
                    self.right[j],
                    [&inside.open_right[range.clone()], &inside.right_to[to.clone()]],
                    [&mut self.open_right[range], &mut self.right_to[to]],
                    row,
                );
            }
            let splits = if single_root { 1 } else { j };
            let (range, other) = (0..splits, j * s + 1..=j * s + splits);
            spread(
                self.open_right[j],
                [&inside.right[range.clone()], &inside.left[other.clone()]],
                [&mut self.right[range], &mut self.left[other]],
                row,
            );
            for i in 1..j {
                let (range, to) = (i * s + i + 1..=i * s + j, j * s + i + 1..=j * s + j);
                spread(
                    self.right[i * s + j] + self.right_to[j * s + i],
                    [&inside.open_right[range.clone()], &inside.right_to[to.clone()]],
                    [&mut self.open_right[range], &mut self.right_to[to]],
                    row,
                );
                let (range, to) = (j * s + i..j * s + j, i * s + i..i * s + j);
                spread(
                    self.left[j * s + i] + self.left_to[i * s + j],
                    [&inside.open_left[range.clone()], &inside.left_to[to.clone()]],
                    [&mut self.open_left[range], &mut self.left_to[to]],
                    row,
                );
                let (range, other) = (i * s + i..i * s + j, j * s + i + 1..=j * s + j);
                spread(
                    self.open_right[i * s + j] + self.open_left[j * s + i],
                    [&inside.right[range.clone()], &inside.left[other.clone()]],
                    [&mut self.right[range], &mut self.left[other]],
                    row,
                );
            }
        }
    }
}

/// `row` becomes exp(a[i] + b[i] − max); the maximum and the sum.
#[inline]
fn exponentials(a: &[f64], b: &[f64], row: &mut Vec<f64>) -> (f64, f64) {
    row.clear();
    row.extend(a.iter().zip(b).map(|(&a, &b)| a + b));
    let top = row.iter().fold(f64::NEG_INFINITY, |top, &x| if x > top { x } else { top });
    if top == f64::NEG_INFINITY {
        return (top, 0.0);
    }
    row.iter_mut().for_each(|x| *x -= top);
    special::exp_slice(row);
    (top, row.iter().sum())
}

fn log_sum_exp(a: &[f64], b: &[f64], row: &mut Vec<f64>) -> f64 {
    if let ([a], [b]) = (a, b) {
        return a + b;
    }
    let (top, sum) = exponentials(a, b, row);
    top + sum.ln()
}

/// Adds to both tails of each way their share of a probability.
fn spread(probability: f64, inside: [&[f64]; 2], outside: [&mut [f64]; 2], row: &mut Vec<f64>) {
    if probability <= 0.0 {
        return;
    }
    let (_, sum) = exponentials(inside[0], inside[1], row);
    let scale = probability / sum;
    let [left, right] = outside;
    for ((left, right), share) in left.iter_mut().zip(right).zip(row) {
        let amount = *share * scale;
        *left += amount;
        *right += amount;
    }
}
