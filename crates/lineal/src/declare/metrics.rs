//! How many labels of declared variables are right, by kind and by label.

use super::data::DeclaredData;
use super::model::DeclaredAnswer;
use crate::Error;
use lineal_metrics::{LabelEvaluation, LabelMetrics};
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
    /// Variables whose label is not in the declaration: they count as wrong.
    pub unseen: usize,
    /// Examples whose best output is not proved to be the best: a limit struck.
    pub unproved: usize,
    /// By kind of variables.
    pub kinds: BTreeMap<String, LabelMetrics>,
}

impl DeclaredMetrics {
    /// Compares answers at hand with the labels of the data.
    pub(super) fn new(data: &DeclaredData, answers: &[DeclaredAnswer]) -> Result<Self, Error> {
        let kinds = data.declaration().variables();
        let mut by_kind: Vec<LabelEvaluation> =
            kinds.iter().map(|kind| LabelEvaluation::new(kind.labels.len())).collect();
        let (mut metrics, mut n_right, mut n_exact) = (Self::default(), 0, 0);
        for (ground, answer) in data.iter().zip(answers) {
            let (mut known, mut right) = (ground.unknown.len(), 0);
            for ((&kind, gold), &found) in ground.kinds.iter().zip(&ground.gold).zip(&answer.labels)
            {
                let Some(gold) = *gold else { continue };
                known += 1;
                right += usize::from(by_kind[kind as usize].add(gold, found));
            }
            for (v, label) in &ground.unknown {
                let v = *v as usize;
                by_kind[ground.kinds[v] as usize].add_unseen(label, answer.labels[v]);
            }
            if known > 0 {
                metrics.examples += 1;
                metrics.variables += known;
                metrics.unseen += ground.unknown.len();
                metrics.unproved += usize::from(answer.slack > 0.0);
                n_right += right;
                n_exact += usize::from(right == known);
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
        for (kind, counted) in kinds.iter().zip(&by_kind) {
            // Of pairs the first label says that there is nothing.
            let found = counted.metrics(&kind.labels, usize::from(kind.all_pairs));
            metrics.kinds.extend(found.map(|found| (kind.name.clone(), found)));
        }
        Ok(metrics)
    }
}
