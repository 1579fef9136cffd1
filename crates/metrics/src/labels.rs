//! Labels of variables of one kind: how many are right, and F1 by label, over all labels together and on average.
//!
//! ```
//! use lineal_metrics::LabelEvaluation;
//!
//! let names = ["none".to_owned(), "Kill".to_owned()];
//! let mut evaluation = LabelEvaluation::new(2);
//! evaluation.add(1, 1);
//! evaluation.add(0, 1);
//! evaluation.add_unseen("Love", 0);
//! let metrics = evaluation.metrics(&names, 1).unwrap();
//! assert_eq!((metrics.accuracy, metrics.micro_f1, metrics.macro_f1), (1.0 / 3.0, 0.5, 1.0 / 3.0));
//! ```

use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of variables of one kind.
#[derive(Clone, Debug, Default)]
pub struct LabelEvaluation {
    /// Gold, found and right, by label.
    counts: Vec<[usize; 3]>,
    /// Gold labels that no model knows, by name.
    unseen: BTreeMap<String, usize>,
}

/// Figures of the variables of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LabelMetrics {
    /// The share of variables with the right label.
    pub accuracy: f64,
    /// Over all labels together; of pairs without the first label, which says that there is nothing.
    pub micro_f1: f64,
    /// The mean over these labels, as far as there are any of them.
    pub macro_f1: f64,
    /// Variables that count.
    pub variables: usize,
    /// By label.
    pub labels: BTreeMap<String, LabelScores>,
}

/// Figures of one label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LabelScores {
    /// Of the variables that were given it, the share that is right.
    pub precision: f64,
    /// Of the variables that have it, the share that was found.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
    /// Variables that have it.
    pub gold: usize,
    /// Variables that were given it.
    pub found: usize,
    /// Variables that are both.
    pub right: usize,
}

impl LabelScores {
    fn new([gold, found, right]: [usize; 3]) -> Self {
        let share = |of: usize| if of == 0 { 0.0 } else { right as f64 / of as f64 };
        let f1 = if gold + found == 0 { 0.0 } else { 2.0 * right as f64 / (gold + found) as f64 };
        Self { precision: share(found), recall: share(gold), f1, gold, found, right }
    }
}

impl LabelEvaluation {
    /// Nothing is counted yet.
    pub fn new(n_labels: usize) -> Self {
        Self { counts: vec![[0; 3]; n_labels], unseen: BTreeMap::new() }
    }

    /// Counts a variable; whether its label is right.
    ///
    /// # Panics
    /// If there is no such label.
    pub fn add(&mut self, gold: u32, found: u32) -> bool {
        self.counts[gold as usize][0] += 1;
        self.counts[found as usize][1] += 1;
        self.counts[gold as usize][2] += usize::from(gold == found);
        gold == found
    }

    /// Counts a variable whose gold label no model knows: it is wrong, and its label one more of those that were not found.
    ///
    /// # Panics
    /// If there is no label `found`.
    pub fn add_unseen(&mut self, gold: &str, found: u32) {
        *self.unseen.entry(gold.to_owned()).or_default() += 1;
        self.counts[found as usize][1] += 1;
    }

    /// The figures, with the names of the labels; the first `n_skipped` labels say that there is nothing, and F1 is without them. `None` if nothing was counted.
    pub fn metrics(&self, names: &[String], n_skipped: usize) -> Option<LabelMetrics> {
        let of_unseen = || self.unseen.iter().map(|(name, &n)| (name.clone(), [n, 0, 0]));
        let known = names.iter().cloned().zip(self.counts.iter().copied());
        let sum = |all: &[[usize; 3]]| -> [usize; 3] {
            all.iter().fold([0; 3], |sum, one| std::array::from_fn(|at| sum[at] + one[at]))
        };
        let all: Vec<[usize; 3]> =
            self.counts.iter().copied().chain(of_unseen().map(|(_, counts)| counts)).collect();
        let [variables, _, right] = sum(&all);
        if variables == 0 {
            return None;
        }
        let told = &all[n_skipped.min(all.len())..];
        let met: Vec<f64> = told
            .iter()
            .filter(|[gold, found, _]| gold + found > 0)
            .map(|&counts| LabelScores::new(counts).f1)
            .collect();
        Some(LabelMetrics {
            accuracy: right as f64 / variables as f64,
            micro_f1: LabelScores::new(sum(told)).f1,
            macro_f1: met.iter().sum::<f64>() / met.len().max(1) as f64,
            variables,
            labels: known
                .chain(of_unseen())
                .map(|(name, counts)| (name, LabelScores::new(counts)))
                .collect(),
        })
    }
}
