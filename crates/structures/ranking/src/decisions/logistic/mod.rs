//! Σ over pairs of log(1 + exp(−(scoreᵢ − scoreⱼ))) and its gradient in O(n log n), to rounding.
//!
//! [`Sorted`](crate::sorted::Sorted) makes products of better and worse documents out of all pairs. Few pairs are added up one by one ([`direct`]), many by [`cells`]: what a document
//! gets from documents nearby through polynomials, from those far away through exponentials.

mod cells;
mod chebyshev;
mod direct;

use crate::oracle::{Buffers, Scored};
use crate::sorted::{Entry, Product};
use cells::Cells;

/// Working memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogisticBuffers {
    cells: Cells,
    /// Scores of the better and of the worse documents, rising.
    better: Vec<f64>,
    worse: Vec<f64>,
    /// Their gradients.
    of_better: Vec<f64>,
    of_worse: Vec<f64>,
}

pub(super) fn value_grad(at: &Scored<'_>, s: &mut Buffers, amounts: &mut [f64]) -> f64 {
    let Buffers { sorted, logistic, .. } = s;
    let mut sums = Sums { amounts, value: 0.0, buffers: logistic };
    sorted.each_product(&at.query, at.scores, &mut sums);
    sums.value
}

struct Sums<'b> {
    amounts: &'b mut [f64],
    value: f64,
    buffers: &'b mut LogisticBuffers,
}

/// Few pairs for each document are taken one by one; in cells a document costs about a hundred nanoseconds, and the tables of a cell some microseconds.
fn is_small(better: usize, worse: usize) -> bool {
    better as f64 * worse as f64 <= 32.0 * (better + worse) as f64 + 2048.0
}

impl Product for Sums<'_> {
    fn add(&mut self, better: &[Entry], worse: &[Entry]) {
        let LogisticBuffers { cells, better: high, worse: low, of_better, of_worse } = self.buffers;
        fill(high, better, |entry| entry.score);
        fill(low, worse, |entry| entry.score);
        fill(of_better, better, |_| 0.0);
        fill(of_worse, worse, |_| 0.0);
        self.value += match is_small(better.len(), worse.len()) {
            true => direct::add(high, low, of_better, of_worse),
            false => cells.add(high, low, of_better, of_worse),
        };
        for (entry, sum) in better.iter().zip(of_better) {
            self.amounts[entry.document as usize] -= *sum;
        }
        for (entry, sum) in worse.iter().zip(of_worse) {
            self.amounts[entry.document as usize] += *sum;
        }
    }
}

fn fill(to: &mut Vec<f64>, from: &[Entry], f: impl Fn(&Entry) -> f64) {
    to.clear();
    to.extend(from.iter().map(f));
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::Rng;
    use lineal_linalg::special::{log1p_exp, sigmoid};

    /// Every pair by the functions of `special`.
    fn plainly(high: &[f64], low: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        // Row by row: a sum of 10⁵ equal terms one by one is itself off by 1e-12.
        let row = |&i: &f64| low.iter().map(|&j| log1p_exp(j - i)).sum::<f64>();
        let value = high.iter().map(row).sum();
        let of = |list: &[f64], f: &dyn Fn(f64) -> f64| list.iter().map(|&x| f(x)).collect();
        let of_high = of(high, &|i| low.iter().map(|&j| sigmoid(j - i)).sum());
        let of_low = of(low, &|j| high.iter().map(|&i| sigmoid(j - i)).sum());
        (value, of_high, of_low)
    }

    fn near(a: f64, b: f64, tol: f64) -> bool {
        (a - b).abs() <= tol * b.abs() + 1e-300
    }

    fn check(high: &mut [f64], low: &mut [f64]) {
        high.sort_unstable_by(f64::total_cmp);
        low.sort_unstable_by(f64::total_cmp);
        let expected = plainly(high, low);
        let mut cells = Cells::default();
        for by_cells in [false, true] {
            let (mut of_high, mut of_low) = (vec![0.0; high.len()], vec![0.0; low.len()]);
            let value = match by_cells {
                true => cells.add(high, low, &mut of_high, &mut of_low),
                false => direct::add(high, low, &mut of_high, &mut of_low),
            };
            assert!(near(value, expected.0, 1e-12), "{by_cells} {value} {}", expected.0);
            for (a, b) in of_high.iter().zip(&expected.1).chain(of_low.iter().zip(&expected.2)) {
                assert!(near(*a, *b, 1e-12), "{by_cells} {a} {b}");
            }
        }
    }

    #[test]
    fn sums_are_those_of_all_pairs() {
        let mut rng = Rng::new(3);
        for (n, m) in [(1, 1), (3, 50), (200, 1), (300, 400), (1, 900)] {
            for spread in [0.0, 1e-9, 0.3, 2.0, 9.0, 40.0, 300.0, 3000.0] {
                for apart in [-30.0, 0.0, 3.0, 500.0] {
                    let mut draw = |n: usize, by: f64| -> Vec<f64> {
                        (0..n).map(|_| spread * (rng.unit() - 0.5) + by).collect()
                    };
                    check(&mut draw(n, apart), &mut draw(m, 0.0));
                }
            }
        }
    }

    #[test]
    fn cells_may_be_dense_or_hold_one_document() {
        let mut rng = Rng::new(5);
        let mut mixed = |n: usize| -> Vec<f64> {
            let one = |i: usize| match i % 3 {
                0 => 1e3 * rng.unit(),
                1 => 7.0 + 0.01 * rng.unit(),
                _ => 12.0 * rng.unit(),
            };
            (0..n).map(one).collect()
        };
        check(&mut mixed(500), &mut mixed(700));
    }

    #[test]
    fn far_scores_saturate() {
        let mut high = [-1e30, -2.0, 0.0, 1e30];
        let mut low = [-1e30, -1.0, 5.0, 1e30, 1e30];
        check(&mut high, &mut low);
        let (mut many_high, mut many_low) = (high.repeat(60), low.repeat(60));
        check(&mut many_high, &mut many_low);
    }
}
