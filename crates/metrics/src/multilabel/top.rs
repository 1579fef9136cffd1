//! The first few labels of a row: precision at k, and discounted gain.
//!
//! P@k and nDCG@k as in extreme classification (Prabhu and Varma, *FastXML*, KDD 2014): gains are 0 or 1.

use super::{MultilabelRows, Ranking};
use crate::Error;

/// No rank beyond this is looked at.
const DEPTH: usize = 5;

/// Sums over rows of what stands at the first ranks.
pub(super) struct Ranked<'a> {
    ranking: Ranking<'a>,
    n_labels: usize,
    n_rows: usize,
    /// Rows with a gold label at rank i + 1.
    hits: [u64; DEPTH],
    gain: f64,
    /// Rows with gold labels.
    n_with_gold: u64,
    best: Vec<u32>,
}

impl<'a> Ranked<'a> {
    pub(super) fn new(rows: &MultilabelRows<'a>, n_rows: usize) -> Result<Self, Error> {
        let n_labels = rows.n_labels;
        match rows.ranked {
            Ranking::Top { width, ids } => {
                if width < n_labels.min(DEPTH) {
                    let (what, expected) = ("ranked labels a row", n_labels.min(DEPTH));
                    return Err(Error::Length { what, expected, found: width });
                }
                Error::unless_len("ranked labels", n_rows.saturating_mul(width), ids.len())?;
                let known = |id: u32| (id as usize) < n_labels || id == crate::UNSEEN;
                if let Some(i) = ids.iter().position(|&id| !known(id)) {
                    let (row, what) = (i / width + 1, "ranked");
                    return Err(Error::Label { row, what, label: ids[i], n_labels });
                }
            }
            Ranking::Scores(scores) => {
                Error::unless_len("scores", n_rows.saturating_mul(n_labels), scores.len())?;
                if let Some(i) = scores.iter().position(|s| s.is_nan()) {
                    let row = i / n_labels + 1;
                    return Err(Error::Value { row, what: "score", value: scores[i] });
                }
            }
        }
        Ok(Self {
            ranking: rows.ranked,
            n_labels,
            n_rows,
            hits: [0; DEPTH],
            gain: 0.0,
            n_with_gold: 0,
            best: Vec::with_capacity(DEPTH + 1),
        })
    }

    pub(super) fn add_row(&mut self, row: usize, n_gold: usize, is_gold: impl Fn(u32) -> bool) {
        let best = match self.ranking {
            Ranking::Top { width, ids } => &ids[row * width..][..width.min(DEPTH)],
            Ranking::Scores(scores) => {
                let scores = &scores[row * self.n_labels..(row + 1) * self.n_labels];
                first_labels(scores, &mut self.best);
                &self.best[..]
            }
        };
        let mut gain = 0.0;
        for (rank, &label) in best.iter().enumerate() {
            // A label that a list repeats is found once.
            if is_gold(label) && !best[..rank].contains(&label) {
                self.hits[rank] += 1;
                gain += discount(rank);
            }
        }
        if n_gold > 0 {
            let ideal: f64 = (0..n_gold.min(DEPTH)).map(discount).sum();
            self.gain += gain / ideal;
            self.n_with_gold += 1;
        }
    }

    pub(super) fn precision(&self, k: usize) -> f64 {
        self.hits[..k].iter().sum::<u64>() as f64 / (k * self.n_rows) as f64
    }

    pub(super) fn ndcg(&self) -> Option<f64> {
        (self.n_with_gold > 0).then(|| self.gain / self.n_with_gold as f64)
    }
}

/// 1/log₂(rank + 1), ranks counting from 1; here from 0.
fn discount(rank: usize) -> f64 {
    1.0 / ((rank + 2) as f64).log2()
}

/// The [`DEPTH`] highest scores, the lowest label first among equals, in one pass.
fn first_labels(scores: &[f64], best: &mut Vec<u32>) {
    best.clear();
    for (label, &score) in (0u32..).zip(scores) {
        if best.len() == DEPTH {
            if score <= scores[best[DEPTH - 1] as usize] {
                continue;
            }
            best.pop();
        }
        let at = best.partition_point(|&other| scores[other as usize] >= score);
        best.insert(at, label);
    }
}
