//! How many labels of declared variables are right, by kind and by label.

use super::data::DeclaredData;
use super::model::DeclaredAnswer;
use crate::Error;
use serde::Serialize;
use std::collections::BTreeMap;

/// Figures of declared structures. Variables whose gold label is not known are not counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DeclaredMetrics {
    /// The share of variables with the right label.
    pub accuracy: f64,
    /// The share of examples without a mistake.
    pub exact: f64,
    /// Examples that count.
    pub examples: usize,
    /// Variables that count.
    pub variables: usize,
    /// Examples whose best output is not proved to be the best: a limit struck.
    pub unproved: usize,
    /// By kind of variables.
    pub kinds: BTreeMap<String, KindMetrics>,
}

/// Figures of the variables of one kind.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KindMetrics {
    /// The share of variables with the right label.
    pub accuracy: f64,
    /// Over all labels together; of pairs without the first label, which says that there is nothing.
    pub micro_f1: f64,
    /// The mean over these labels.
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
    fn new(gold: usize, found: usize, right: usize) -> Self {
        let share = |of: usize| if of == 0 { 0.0 } else { right as f64 / of as f64 };
        let f1 = if gold + found == 0 { 0.0 } else { 2.0 * right as f64 / (gold + found) as f64 };
        Self { precision: share(found), recall: share(gold), f1, gold, found, right }
    }
}

impl DeclaredMetrics {
    /// Compares answers at hand with the labels of the data.
    pub(super) fn new(data: &DeclaredData, answers: &[DeclaredAnswer]) -> Result<Self, Error> {
        let kinds = data.declaration().variables();
        // Gold, found and right, by kind and label.
        let mut counts: Vec<Vec<[usize; 3]>> =
            kinds.iter().map(|kind| vec![[0; 3]; kind.labels.len()]).collect();
        let (mut metrics, mut n_right, mut n_exact) = (Self::default(), 0, 0);
        for (ground, answer) in data.iter().zip(answers) {
            let (mut known, mut wrong) = (0, 0);
            for ((&kind, gold), &found) in ground.kinds.iter().zip(&ground.gold).zip(&answer.labels)
            {
                let Some(gold) = *gold else { continue };
                let counts = &mut counts[kind as usize];
                counts[gold as usize][0] += 1;
                counts[found as usize][1] += 1;
                counts[gold as usize][2] += usize::from(gold == found);
                known += 1;
                wrong += usize::from(gold != found);
            }
            if known > 0 {
                metrics.examples += 1;
                metrics.variables += known;
                metrics.unproved += usize::from(answer.slack > 0.0);
                n_right += known - wrong;
                n_exact += usize::from(wrong == 0);
            }
        }
        if metrics.variables == 0 {
            return Err(Error::request(format!(
                "{}: there are no labels to compare with",
                data.source
            )));
        }
        metrics.accuracy = n_right as f64 / metrics.variables as f64;
        metrics.exact = n_exact as f64 / metrics.examples as f64;
        for (kind, counts) in kinds.iter().zip(&counts) {
            let variables: usize = counts.iter().map(|c| c[0]).sum();
            if variables == 0 {
                continue;
            }
            let right: usize = counts.iter().map(|c| c[2]).sum();
            let skipped = usize::from(kind.all_pairs);
            let told = &counts[skipped..];
            let sum = |at: usize| told.iter().map(|c| c[at]).sum::<usize>();
            let scores = |c: &[usize; 3]| LabelScores::new(c[0], c[1], c[2]);
            let met: Vec<LabelScores> =
                told.iter().filter(|c| c[0] + c[1] > 0).map(scores).collect();
            let labels = kind.labels.iter().cloned().zip(counts.iter().map(scores)).collect();
            let of_kind = KindMetrics {
                accuracy: right as f64 / variables as f64,
                micro_f1: LabelScores::new(sum(0), sum(1), sum(2)).f1,
                macro_f1: met.iter().map(|s| s.f1).sum::<f64>() / met.len().max(1) as f64,
                variables,
                labels,
            };
            metrics.kinds.insert(kind.name.clone(), of_kind);
        }
        Ok(metrics)
    }
}
