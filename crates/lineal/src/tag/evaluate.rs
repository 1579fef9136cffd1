//! Metrics of a tagger on labelled sequences, spans counted as `conlleval` counts them.

use super::model::TagModel;
use super::tagger::Tagged;
use crate::Error;
use crate::structured::StructuredModel;

use lineal_data::{Sequences, UNLABELLED};
use lineal_metrics::{SpanCounts, SpanEvaluation, TagSet};
use serde::Serialize;
use std::collections::BTreeMap;

/// Metrics with the names of `eval --json`. Those of spans are null where no label begins or continues a span.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TagMetrics {
    /// The share of tokens with the right label.
    pub token_accuracy: f64,
    /// The share of sequences with all labels right.
    pub sentence_accuracy: f64,
    /// The share of the found spans that are right.
    pub span_precision: Option<f64>,
    /// The share of the gold spans that were found.
    pub span_recall: Option<f64>,
    /// Their harmonic mean.
    pub span_f1: Option<f64>,
    /// Sequences.
    pub sentences: u64,
    /// Tokens with a label.
    pub tokens: u64,
    /// Tokens whose label training did not see: counted as wrong.
    pub unseen: u64,
    /// Tokens without a label: not counted. Their sequences count for tokens only.
    pub unlabelled: u64,
    /// Predicted neighbours that the scheme of spans does not allow; null without a scheme.
    pub illegal: Option<u64>,
    /// By type of span.
    pub types: BTreeMap<String, TypeMetrics>,
}

/// The spans of one type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TypeMetrics {
    /// The share of the found that are right.
    pub precision: f64,
    /// The share of the gold that was found.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
    /// In the gold labels.
    pub gold: u64,
    /// In the predicted labels.
    pub found: u64,
    /// In both.
    pub correct: u64,
}

impl From<&SpanCounts> for TypeMetrics {
    fn from(counts: &SpanCounts) -> Self {
        let SpanCounts { gold, found, correct } = *counts;
        let (precision, recall, f1) = (counts.precision(), counts.recall(), counts.f1());
        Self { precision, recall, f1, gold, found, correct }
    }
}

impl TagMetrics {
    /// The one number to watch: F1 of spans, or the accuracy of tokens where there are none.
    pub fn main(&self) -> f64 {
        self.span_f1.unwrap_or(self.token_accuracy)
    }

    /// Its name.
    pub fn main_name(&self) -> &'static str {
        if self.span_f1.is_some() { "span F1" } else { "token accuracy" }
    }
}

/// Compares labels at hand with those of the data.
pub(super) fn measure(
    model: &TagModel,
    data: &Sequences,
    tagged: &[Tagged],
) -> Result<TagMetrics, Error> {
    let predicted: Vec<&[u32]> = tagged.iter().map(|tagged| &tagged.labels[..]).collect();
    let mut metrics = compare(data, model.labels().len(), &predicted)?;
    metrics.illegal = model.spec().tag.scheme.is_some().then(|| {
        let neighbours = predicted.iter().flat_map(|labels| labels.windows(2));
        let pairs = neighbours.filter(|pair| !model.permits(pair[0], pair[1])).count();
        let edge = |t: Option<&u32>, permits: &dyn Fn(usize) -> bool| {
            t.is_some_and(|&label| !permits(label as usize))
        };
        let starts =
            predicted.iter().filter(|l| edge(l.first(), &|l| model.grammar.permits_start(l)));
        let ends = predicted.iter().filter(|l| edge(l.last(), &|l| model.grammar.permits_end(l)));
        (pairs + starts.count() + ends.count()) as u64
    });
    Ok(metrics)
}

/// Metrics of labels of which `n_known` were seen in training.
pub(super) fn compare(
    data: &Sequences,
    n_known: usize,
    predicted: &[&[u32]],
) -> Result<TagMetrics, Error> {
    let tags = TagSet::new(&data.labels);
    let mut spans = SpanEvaluation::new();
    let (mut extra, mut right) = (0, 0);
    let (mut unseen, mut unlabelled) = (0, 0);
    for (sequence, labels) in data.iter().zip(predicted) {
        let gold = sequence.gold();
        unseen += gold.iter().filter(|&&g| g != UNLABELLED && g as usize >= n_known).count();
        let missing = gold.iter().filter(|&&g| g == UNLABELLED).count();
        if missing == 0 {
            spans.add(&tags, gold, labels);
        } else {
            unlabelled += missing;
            extra += gold.len() - missing;
            right += gold.iter().zip(*labels).filter(|(gold, label)| gold == label).count();
        }
    }
    let tokens = spans.tokens[0] + extra as u64;
    if tokens == 0 {
        return Err(Error::request(format!(
            "{}: no labels to compare with (see options.label)",
            data.source
        )));
    }
    let has_spans = spans.all != SpanCounts::default();
    Ok(TagMetrics {
        token_accuracy: (spans.tokens[1] + right as u64) as f64 / tokens as f64,
        sentence_accuracy: match spans.sequences {
            [0, _] => 0.0,
            [all, right] => right as f64 / all as f64,
        },
        span_precision: has_spans.then(|| spans.all.precision()),
        span_recall: has_spans.then(|| spans.all.recall()),
        span_f1: has_spans.then(|| spans.all.f1()),
        sentences: predicted.len() as u64,
        tokens,
        unseen: unseen as u64,
        unlabelled: unlabelled as u64,
        illegal: None,
        types: spans.by_type.iter().map(|(name, counts)| (name.clone(), counts.into())).collect(),
    })
}
