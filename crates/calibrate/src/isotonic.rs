//! Isotonic regression: the nondecreasing map of scores to frequencies with the least squared error.
//!
//! Minimise Σ w (y − f(s))² over nondecreasing f, y being 1 for yes and 0 for no, by pooling adjacent violators (Ayer et al.,
//! 1955): sort by score, pool rows of equal score, then pool neighbours while the left mean is not below the right one.
//! One sort, then linear. Zadrozny and Elkan, *Transforming classifier scores into accurate multiclass probability
//! estimates*, KDD 2002. Between the ends of two pools f is a straight line, beyond the first and last it is constant, as
//! scikit-learn's `IsotonicRegression(out_of_bounds="clip")` has it.
//!
//! It may say 0 and 1: where the lowest or the highest scores have one answer only.

use crate::{Answers, Error};
use serde::{Deserialize, Serialize};

/// A nondecreasing piecewise linear map, by its knots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Knots")]
pub struct Isotonic {
    /// Scores, rising.
    x: Vec<f64>,
    /// Probabilities, not falling.
    y: Vec<f64>,
}

/// What a file says, before it is believed.
#[derive(Deserialize)]
struct Knots {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Isotonic {
    /// The map of least squared error.
    pub fn fit(answers: &Answers<'_>) -> Self {
        let mut rows: Vec<(f64, bool, f64)> = answers.iter().collect();
        // By answer and weight as well: equal rows are then the same whichever comes first, and so are the sums.
        rows.sort_unstable_by(|a, b| {
            // −0 and 0 are one score: adding 0 turns one into the other.
            (a.0 + 0.0).total_cmp(&(b.0 + 0.0)).then(a.1.cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        let mut pools: Vec<Pool> = Vec::new();
        for tie in rows.chunk_by(|a, b| a.0 == b.0) {
            let mut pool = Pool { lo: tie[0].0, hi: tie[0].0, yes: 0.0, total: 0.0 };
            for &(_, yes, weight) in tie {
                pool.yes += if yes { weight } else { 0.0 };
                pool.total += weight;
            }
            while let Some(left) = pools.pop_if(|left| left.mean() >= pool.mean()) {
                let (yes, total) = (left.yes + pool.yes, left.total + pool.total);
                pool = Pool { lo: left.lo, hi: pool.hi, yes, total };
            }
            pools.push(pool);
        }
        // Without rows nothing is known.
        let mut map = Self { x: Vec::new(), y: Vec::new() };
        for pool in &pools {
            map.x.push(pool.lo);
            map.y.push(pool.mean());
            if pool.hi > pool.lo {
                map.x.push(pool.hi);
                map.y.push(pool.mean());
            }
        }
        if map.x.is_empty() {
            map = Self { x: vec![0.0], y: vec![0.5] };
        }
        map
    }

    /// P(yes) at a score. Infinite scores are legal, and NaN is taken for 0.
    pub fn proba(&self, score: f64) -> f64 {
        let score = if score.is_nan() { 0.0 } else { score };
        let right = self.x.partition_point(|&x| x <= score);
        if right == 0 {
            return self.y[0];
        }
        if right == self.x.len() {
            return self.y[right - 1];
        }
        let (x0, x1) = (self.x[right - 1], self.x[right]);
        let (y0, y1) = (self.y[right - 1], self.y[right]);
        // Halved, because the distance between finite scores may be infinite. Each operation is monotone, so f is.
        let share = (score / 2.0 - x0 / 2.0) / (x1 / 2.0 - x0 / 2.0);
        // Halves of the tiniest numbers may coincide.
        let share = if share.is_nan() { 0.0 } else { share.min(1.0) };
        (y0 + share * (y1 - y0)).min(y1)
    }

    /// Scores and probabilities of the knots, which stand only where the slope changes.
    pub fn knots(&self) -> (&[f64], &[f64]) {
        (&self.x, &self.y)
    }
}

impl TryFrom<Knots> for Isotonic {
    type Error = Error;

    fn try_from(Knots { x, y }: Knots) -> Result<Self, Error> {
        Error::unless_len("probabilities of an isotonic map", x.len(), y.len())?;
        let rises = x.windows(2).all(|p| p[0] < p[1]) && y.windows(2).all(|p| p[0] <= p[1]);
        let bounded = x.iter().all(|x| x.is_finite()) && y.iter().all(|y| (0.0..=1.0).contains(y));
        if x.is_empty() || !rises || !bounded {
            return Err(Error::Shape("an isotonic map has rising scores and probabilities"));
        }
        Ok(Self { x, y })
    }
}

/// Rows with scores from `lo` to `hi` that get the same probability.
struct Pool {
    lo: f64,
    hi: f64,
    yes: f64,
    total: f64,
}

impl Pool {
    /// In [0, 1] also after rounding: `yes` is a sum of some terms of `total`, in the same order, and rounding is monotone.
    fn mean(&self) -> f64 {
        self.yes / self.total
    }
}
