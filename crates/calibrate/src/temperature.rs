//! Temperature: softmax(s/T) of a vector of scores, or σ(s/T) of one; a single number for the whole model.
//!
//! T minimises the log loss Σ w (ln Σ_k e^(β s_k) − β s_y), β = 1/T, which is convex in β with derivatives Σ w (E s − s_y) and
//! Σ w Var s under softmax(β s). Order and argmax stay as they are. Guo et al., *On calibration of modern neural networks*,
//! ICML 2017. Newton's method for the zero of the derivative in ln β, in a bracket that shrinks with every step; a step that
//! leaves the bracket, or a curvature that is not positive, is replaced by halving it.
//!
//! Scores that put every row's class first have their least loss, 0, at T = 0, and scores that are no better than chance at
//! T = ∞. T ends at e^±10 times the median spread of a row's scores; and no mean loss below ln((n + 2)/(n + 1)) is believed of
//! n rows, which is that of Laplace's rule of succession after n of n were right: T is then the one that has that loss.

use crate::held::{Held, Truth};
use crate::{Answers, Error};
use lineal_linalg::special::{exp_slice, log1p_exp, sigmoid};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Divides scores by T > 0 before they become probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Temperature {
    /// T; above 1 it makes probabilities softer.
    pub t: f64,
}

/// What a file says, before it is believed.
#[derive(Deserialize)]
struct Parts {
    t: f64,
}

/// How far ln(spread/T) may go either way.
const BRACKET: f64 = 10.0;

/// Rows that one thread sums; fixed, for sums that are the same at any number of threads.
const CHUNK: usize = 1024;

impl Temperature {
    /// T for one class per row: [`softmax`](Self::softmax) if `held` has classes and more than one column, else
    /// [`sigmoid`](Self::sigmoid) over all columns and the rows that they ask.
    pub fn fit(held: &Held<'_>) -> Self {
        match held.truth() {
            Truth::Classes(y) if held.n_columns() > 1 => {
                let spreads = (0..held.n_rows()).filter(|&i| held.weight(i) > 0.0).map(|i| {
                    let (lo, hi) = held
                        .row(i)
                        .iter()
                        .fold((f64::MAX, f64::MIN), |(lo, hi), &s| (lo.min(s), hi.max(s)));
                    hi - lo
                });
                let Some(scale) = median(spreads.collect()) else { return Self { t: 1.0 } };
                let total = (0..held.n_rows()).map(|i| held.weight(i)).sum();
                Self { t: scale / best_beta(total, |beta| softmax_loss(held, y, scale, beta)) }
            }
            _ => {
                let columns: Vec<_> = (0..held.n_columns()).map(|l| held.column(l)).collect();
                let columns: Vec<Answers<'_>> = columns.iter().map(|c| c.answers()).collect();
                let sizes = columns.iter().flat_map(|c| c.iter().map(|(score, ..)| score.abs()));
                let Some(scale) = median(sizes.collect()) else { return Self { t: 1.0 } };
                let total = columns.iter().flat_map(|c| c.iter().map(|row| row.2)).sum();
                Self { t: scale / best_beta(total, |beta| sigmoid_loss(&columns, scale, beta)) }
            }
        }
    }

    /// Probabilities that sum to one. Infinite scores are legal, and NaN is taken for 0.
    pub fn softmax(&self, scores: &[f64], out: &mut [f64]) {
        let max = scores.iter().fold(f64::MIN, |max, &s| max.max(tame(s)));
        for (p, &s) in out.iter_mut().zip(scores) {
            *p = (tame(s) - max) / self.t;
        }
        exp_slice(out);
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= sum);
    }

    /// P(yes) of a single score. Infinite scores are legal, and NaN is taken for 0.
    #[inline]
    pub fn sigmoid(&self, score: f64) -> f64 {
        sigmoid(tame(score) / self.t)
    }
}

impl TryFrom<Parts> for Temperature {
    type Error = Error;

    fn try_from(Parts { t }: Parts) -> Result<Self, Error> {
        if t.is_finite() && t > 0.0 {
            return Ok(Self { t });
        }
        Err(Error::Setting { what: "temperature", value: t, wanted: "finite and above 0" })
    }
}

/// Finite, so that differences are numbers or −∞.
fn tame(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score.clamp(f64::MIN, f64::MAX) }
}

/// The middle one of those above 0, if there is any.
fn median(mut sizes: Vec<f64>) -> Option<f64> {
    // A spread may be infinite, and a tiny one would make T vanish.
    sizes.retain_mut(|size| {
        *size = size.min(f64::MAX / 1e10);
        *size > 1e-290
    });
    let middle = sizes.len() / 2;
    (!sizes.is_empty()).then(|| *sizes.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// A loss summed over rows, and its first and second derivative in β.
type Loss = [f64; 3];

fn sum_of(losses: &[Loss]) -> Loss {
    losses.iter().fold([0.0; 3], |sum, loss| [0, 1, 2].map(|i| sum[i] + loss[i]))
}

/// β of the least loss over rows of weight `total`, for scores divided by their scale.
fn best_beta(total: f64, loss: impl Fn(f64) -> Loss) -> f64 {
    let (mut lo, mut hi) = (-BRACKET, BRACKET);
    let mut u = 0.0;
    for _ in 0..100 {
        let beta = f64::exp(u);
        let [_, first, second] = loss(beta);
        // Of the loss in u = ln β: β f' and β f' + β² f''.
        let (slope, curvature) = (beta * first, beta * first + beta * beta * second);
        if slope == 0.0 {
            break;
        }
        *(if slope < 0.0 { &mut lo } else { &mut hi }) = u;
        let newton = u - slope / curvature;
        let inside = curvature > 0.0 && lo < newton && newton < hi;
        let next = if inside { newton } else { (lo + hi) / 2.0 };
        let moved = (next - u).abs();
        u = next;
        if moved < 1e-13 {
            break;
        }
    }

    let least = total * (1.0 / (total + 1.0)).ln_1p();
    if loss(u.exp())[0] >= least {
        return u.exp();
    }
    // The loss falls from β = 0 to the best one.
    let (mut lo, mut hi) = (-BRACKET, u);
    while hi - lo > 1e-9 {
        let middle = (lo + hi) / 2.0;
        *(if loss(middle.exp())[0] >= least { &mut lo } else { &mut hi }) = middle;
    }
    lo.exp()
}

fn softmax_loss(held: &Held<'_>, y: &[u32], scale: f64, beta: f64) -> Loss {
    let chunks: Vec<Loss> = (0..held.n_rows().div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut sum = [0.0; 3];
            let mut shares = vec![0.0; held.n_columns()];
            for row in chunk * CHUNK..held.n_rows().min((chunk + 1) * CHUNK) {
                let (scores, weight) = (held.row(row), held.weight(row));
                let max = scores.iter().fold(f64::MIN, |max, &s| max.max(s));
                // Below the highest score. Bounded: an infinite distance times a share of 0 is NaN.
                let distance = |s: f64| ((s - max) / scale).max(-1e100);
                for (share, &s) in shares.iter_mut().zip(scores) {
                    *share = beta * distance(s);
                }
                exp_slice(&mut shares);
                let total: f64 = shares.iter().sum();
                let classes = || scores.iter().map(|&s| distance(s)).zip(&shares);
                let mean = classes().fold(0.0, |sum, (d, p)| sum + d * p) / total;
                let variance =
                    classes().fold(0.0, |sum, (d, p)| sum + (d - mean) * (d - mean) * p) / total;
                let own = distance(scores[y[row] as usize]);
                sum[0] += weight * (total.ln() - beta * own);
                sum[1] += weight * (mean - own);
                sum[2] += weight * variance;
            }
            sum
        })
        .collect();
    sum_of(&chunks)
}

fn sigmoid_loss(columns: &[Answers<'_>], scale: f64, beta: f64) -> Loss {
    let columns: Vec<Loss> = columns
        .par_iter()
        .map(|column| {
            let mut sum = [0.0; 3];
            for (score, yes, weight) in column.iter() {
                let s = (score / scale).clamp(-1e100, 1e100);
                let margin = if yes { s } else { -s };
                let wrong = sigmoid(-beta * margin);
                sum[0] += weight * log1p_exp(-beta * margin);
                sum[1] -= weight * margin * wrong;
                sum[2] += weight * s * s * (wrong * sigmoid(beta * margin));
            }
            sum
        })
        .collect();
    sum_of(&columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_differences_of_the_loss() {
        let scores = [1.0, -0.5, 2.0, 0.3, 0.2, -1.0, 4.0, 1.0, 1.5];
        let (y, weights) = ([2, 1, 1], [1.0, 0.5, 2.0]);
        let held = Held::new(3, &scores, Truth::Classes(&y)).unwrap();
        let held = held.with_weights(&weights).unwrap();
        let columns: Vec<_> = (0..3).map(|l| held.column(l)).collect();
        let columns: Vec<_> = columns.iter().map(|c| c.answers()).collect();
        let check = |loss: &dyn Fn(f64) -> Loss, at_zero: f64| {
            assert!((loss(0.0)[0] - at_zero).abs() < 1e-12);
            let h = 1e-4;
            for beta in [0.1, 1.0, 3.0] {
                let [value, first, second] = loss(beta);
                let (up, down) = (loss(beta + h)[0], loss(beta - h)[0]);
                assert!((first - (up - down) / (2.0 * h)).abs() < 1e-6);
                assert!((second - (up - 2.0 * value + down) / (h * h)).abs() < 1e-5);
            }
        };
        check(&|beta| softmax_loss(&held, &y, 1.0, beta), 3.5 * 3f64.ln());
        check(&|beta| sigmoid_loss(&columns, 1.0, beta), 3.0 * 3.5 * 2f64.ln());
    }
}
