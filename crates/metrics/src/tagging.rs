//! Labels of sequences: tokens and sentences that are right, and spans counted as `conlleval` counts them.

use crate::{Error, NOT_ANNOTATED, SpanCounts, SpanEvaluation, TagSet};
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
    /// Compares labels of sequences, gold and predicted, of which training saw the first `n_known`. Tokens without a gold label have [`NOT_ANNOTATED`].
    ///
    /// ```
    /// use lineal_metrics::{TagMetrics, TagSet};
    /// let tags = TagSet::new(&["O", "B-X", "I-X"]);
    /// let pairs: [(&[u32], &[u32]); 2] = [(&[0, 1, 2], &[0, 1, 2]), (&[1, 0], &[0, 0])];
    /// let metrics = TagMetrics::compare(&tags, 3, pairs.into_iter())?;
    /// assert_eq!((metrics.token_accuracy, metrics.sentence_accuracy), (0.8, 0.5));
    /// assert_eq!((metrics.span_precision, metrics.span_recall), (Some(1.0), Some(0.5)));
    /// # Ok::<(), lineal_metrics::Error>(())
    /// ```
    ///
    /// # Panics
    /// If two label sequences are not as long, or have labels that are not in the set.
    pub fn compare<'a>(
        tags: &TagSet,
        n_known: usize,
        pairs: impl Iterator<Item = (&'a [u32], &'a [u32])>,
    ) -> Result<Self, Error> {
        let mut spans = SpanEvaluation::new();
        let (mut sentences, mut extra, mut right) = (0, 0, 0);
        let (mut unseen, mut unlabelled) = (0, 0);
        for (gold, labels) in pairs {
            sentences += 1;
            unseen += gold.iter().filter(|&&g| g != NOT_ANNOTATED && g as usize >= n_known).count();
            let missing = gold.iter().filter(|&&g| g == NOT_ANNOTATED).count();
            if missing == 0 {
                spans.add(tags, gold, labels);
            } else {
                unlabelled += missing;
                extra += gold.len() - missing;
                right += gold.iter().zip(labels).filter(|(gold, label)| gold == label).count();
            }
        }
        let tokens = spans.tokens[0] + extra as u64;
        if tokens == 0 {
            return Err(Error::Empty);
        }
        let has_spans = spans.all != SpanCounts::default();
        let types = spans.by_type.iter().map(|(name, counts)| (name.clone(), counts.into()));
        Ok(Self {
            token_accuracy: (spans.tokens[1] + right as u64) as f64 / tokens as f64,
            sentence_accuracy: spans.sequence_accuracy(),
            span_precision: has_spans.then(|| spans.all.precision()),
            span_recall: has_spans.then(|| spans.all.recall()),
            span_f1: has_spans.then(|| spans.all.f1()),
            sentences,
            tokens,
            unseen: unseen as u64,
            unlabelled: unlabelled as u64,
            illegal: None,
            types: types.collect(),
        })
    }

    /// The one number to watch: F1 of spans, or the accuracy of tokens where there are none.
    pub fn main(&self) -> f64 {
        self.span_f1.unwrap_or(self.token_accuracy)
    }

    /// Its name.
    pub fn main_name(&self) -> &'static str {
        if self.span_f1.is_some() { "span F1" } else { "token accuracy" }
    }
}
