//! What was measured, and which of it to take.

use super::path::Measured;
use crate::request::spec::LossKind;
use std::cmp::Ordering;

/// One loss, or learner of structures, at one C on all folds.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial<L = LossKind> {
    /// Which features.
    pub features: String,
    /// The loss.
    pub loss: L,
    /// C.
    pub c: f64,
    /// The metric on each fold's held-out examples; larger is better.
    pub scores: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
    /// Passes over the data, of all folds.
    pub passes: usize,
    /// Whether every fold met the tolerance.
    pub converged: bool,
    /// Whether the end of the budget stopped a fold before it did.
    pub interrupted: bool,
    /// Seconds that the folds took, side by side.
    pub seconds: f64,
}

impl<L> Trial<L> {
    pub(super) fn new(
        features: &str,
        loss: L,
        c: f64,
        measured: Vec<Measured>,
        seconds: f64,
    ) -> Self {
        let scores: Vec<f64> = measured.iter().map(|m| m.score).collect();
        let n = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / n;
        let spread: f64 = scores.iter().map(|s| (s - mean) * (s - mean)).sum();
        Self {
            features: features.to_owned(),
            loss,
            c,
            scores,
            mean,
            standard_error: (spread / (n - 1.0) / n).sqrt(),
            passes: measured.iter().map(|m| m.passes).sum(),
            converged: measured.iter().all(|m| m.converged),
            interrupted: measured.iter().any(|m| m.interrupted),
            seconds,
        }
    }
}

/// Which trial to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The best mean.
    #[default]
    Best,
    /// Of the same features and loss, the smallest C whose mean is within one standard error of the best: simpler, and as good as far as can be told.
    OneStandardError,
}

/// All trials of a search, in the order in which they ran.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneTable<L = LossKind> {
    /// What was measured.
    pub trials: Vec<Trial<L>>,
    /// What the budget did not allow.
    pub left_out: usize,
}

impl<L> Default for TuneTable<L> {
    fn default() -> Self {
        Self { trials: Vec::new(), left_out: 0 }
    }
}

impl<L: PartialEq> TuneTable<L> {
    /// The best mean; among equals one that converged, then the smaller C, then what ran first. What the budget interrupted is taken only if
    /// there is nothing else.
    pub fn best(&self) -> Option<&Trial<L>> {
        let all_interrupted = self.trials.iter().all(|t| t.interrupted || t.mean.is_nan());
        let known = self.trials.iter().filter(|t| !t.mean.is_nan());
        known.filter(|t| all_interrupted || !t.interrupted).reduce(|best, t| {
            let better = match t.mean.total_cmp(&best.mean) {
                Ordering::Equal if t.converged == best.converged => t.c < best.c,
                Ordering::Equal => t.converged,
                other => other.is_gt(),
            };
            if better { t } else { best }
        })
    }

    /// The smallest C of the best one's features and loss whose mean is within one standard error of the best.
    pub fn one_standard_error(&self) -> Option<&Trial<L>> {
        let best = self.best()?;
        let enough = best.mean - best.standard_error;
        let same = |t: &&Trial<L>| {
            t.features == best.features && t.loss == best.loss && t.interrupted == best.interrupted
        };
        let good = self.trials.iter().filter(same).filter(|t| t.mean >= enough);
        good.min_by(|a, b| a.c.total_cmp(&b.c))
    }

    /// The trial that a choice means.
    pub fn chosen(&self, choice: Choice) -> Option<&Trial<L>> {
        match choice {
            Choice::Best => self.best(),
            Choice::OneStandardError => self.one_standard_error(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(c: f64, scores: &[f64]) -> Trial {
        let of = |&score: &f64| Measured { score, passes: 1, converged: true, interrupted: false };
        Trial::new("", LossKind::Hinge, c, scores.iter().map(of).collect(), 0.0)
    }

    #[test]
    fn the_best_and_the_simplest_that_is_as_good() {
        let trials = vec![
            trial(0.1, &[0.70, 0.70, 0.70]),
            trial(1.0, &[0.80, 0.82, 0.84]),
            trial(10.0, &[0.81, 0.83, 0.85]),
            trial(100.0, &[0.81, 0.83, 0.85]),
        ];
        // mean ± √(Σ(s − mean)²/(n − 1)/n): 0.02/√3.
        assert!((trials[2].standard_error - 0.02 / 3f64.sqrt()).abs() < 1e-12);
        let table = TuneTable { trials, left_out: 0 };
        assert_eq!(table.best().map(|t| t.c), Some(10.0));
        assert_eq!(table.chosen(Choice::OneStandardError).map(|t| t.c), Some(1.0));
        assert!(TuneTable::<LossKind>::default().best().is_none());
    }

    #[test]
    fn what_was_interrupted_or_did_not_converge_comes_last_among_equals() {
        let mut trials = vec![trial(1.0, &[0.8, 0.8]), trial(10.0, &[0.8, 0.8])];
        trials[0].converged = false;
        let mut table = TuneTable { trials, left_out: 0 };
        assert_eq!(table.best().map(|t| t.c), Some(10.0));
        table.trials.push(Trial { interrupted: true, ..trial(100.0, &[0.9, 0.9]) });
        assert_eq!(table.best().map(|t| t.c), Some(10.0));
        table.trials.drain(..2);
        assert_eq!(table.chosen(Choice::OneStandardError).map(|t| t.c), Some(100.0));
    }
}
