//! A trained tagger: what it knows of itself.

use super::file::About;
use super::notable::Notable;
use super::vectorize;
use crate::predict::evaluation::Evaluation;
use crate::structured::{Ask, Header, StructuredModel};
use crate::{Error, SequenceOptions, TagMetrics, Tagged};
use lineal_chain::{Grammar, PrunedModel};
use lineal_data::{Sequence, SequenceSchema, Sequences, Source};
use lineal_declared::automaton::Automaton;
use lineal_features::sequence::{AttributeIndex, AttributeRows, ExtractScratch, Names, Vectorizer};
use lineal_metrics::TagSet;
use lineal_model::file::ModelFile;
use std::ops::ControlFlow;

/// A model that gives a label to each position of a sequence.
#[derive(Clone, Debug)]
pub struct TagModel {
    pub(super) vectorizer: Vectorizer,
    pub(super) weights: PrunedModel,
    pub(super) grammar: Grammar,
    pub(super) rules: Option<Automaton>,
    pub(super) about: About,
}

/// One weight of a tagger.
#[derive(Clone, Debug, PartialEq)]
pub struct TagWeight {
    /// `emission`, `transition`, `start`, `end` or `triple`.
    pub kind: &'static str,
    /// The attribute; empty where there is none.
    pub name: String,
    /// The label; of transitions from one to the next.
    pub labels: Vec<String>,
    /// Not 0.
    pub weight: f32,
}

impl TagModel {
    /// What columns and labels mean.
    pub fn schema(&self) -> &SequenceSchema {
        &self.about.schema
    }

    /// The labels by number.
    pub fn labels(&self) -> &[String] {
        &self.about.schema.labels
    }

    /// The name of a label.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn label(&self, label: u32) -> &str {
        &self.labels()[label as usize]
    }

    /// What the labels mean as spans.
    pub fn tags(&self) -> TagSet {
        TagSet::new(self.labels())
    }

    /// Attributes of labels and of transitions that have weights.
    pub fn n_attributes(&self) -> usize {
        self.vectorizer.n_unary() + self.vectorizer.n_pairs()
    }

    /// The templates that make attributes of columns; none where attributes come with names.
    pub fn templates(&self) -> Option<&str> {
        self.vectorizer.templates().map(|templates| templates.text())
    }

    /// The attributes that weigh most, for each label.
    pub fn notable(&self) -> &[Notable] {
        &self.about.notable
    }

    /// The attributes of each token of a sequence that have weights, by name, with their values.
    pub fn attributes(&self, sequence: Sequence<'_>) -> Result<Vec<Vec<(String, f32)>>, Error> {
        let (rows, names) = self.named_rows(sequence)?;
        let row = |t: usize| {
            let mut row = Vec::new();
            rows.unary.row(t).for_each(|id, value| row.push((names.unary[id].clone(), value)));
            row
        };
        Ok((0..sequence.len()).map(row).collect())
    }

    /// The attributes of a sequence that have weights, and their names.
    pub(super) fn named_rows(
        &self,
        sequence: Sequence<'_>,
    ) -> Result<(AttributeRows, Names), Error> {
        let (mut rows, mut names) = (AttributeRows::default(), Names::default());
        vectorize::extract(&self.vectorizer, sequence, &mut ExtractScratch::default(), &mut rows)?;
        vectorize::name(&self.vectorizer, sequence, &mut names)?;
        Ok((rows, names))
    }

    /// All weights, as `crfsuite dump` shows them. Attributes are stored as hashes: they have the names that they have in `data`, which should be the training data, and
    /// those that do not occur there are written as `#` and their hash.
    pub fn weights(&self, data: Option<&Sequences>) -> Result<Vec<TagWeight>, Error> {
        let mut names = Names::default();
        for sequence in data.into_iter().flat_map(|data| data.iter()) {
            vectorize::name(&self.vectorizer, sequence, &mut names)?;
        }
        let named = |names: &[String], index: Option<&AttributeIndex>, id: usize| match names
            .get(id)
            .filter(|name| !name.is_empty())
        {
            Some(name) => name.clone(),
            None => match index.and_then(|index| index.hashes()) {
                Some(hashes) => format!("#{:016x}", hashes[id]),
                None => format!("#{id}"),
            },
        };
        let (shape, k) = (self.weights.model(), self.labels().len());
        let label = |at: usize| self.labels()[at].clone();
        let mut all = Vec::new();
        for id in 0..shape.n_unary {
            let name = named(&names.unary, Some(self.vectorizer.unary_index()), id);
            for &(to, weight) in self.weights.unary(id) {
                let labels = vec![label(to as usize)];
                all.push(TagWeight { kind: "emission", name: name.clone(), labels, weight });
            }
        }
        for id in 0..shape.n_pairs {
            let name = named(&names.pairs, self.vectorizer.pair_index(), id);
            for &(pair, weight) in self.weights.pair(id) {
                let labels = vec![label(pair as usize / k), label(pair as usize % k)];
                all.push(TagWeight { kind: "transition", name: name.clone(), labels, weight });
            }
        }
        let from = shape.transition_range().start;
        let kinds = ["transition", "start", "end", "triple"];
        for (kind, (range, n_labels)) in kinds.into_iter().zip(shape.shared()) {
            for (at, place) in range.enumerate() {
                let weight = self.weights.shared()[place - from];
                if weight != 0.0 {
                    let digits = (0..n_labels).rev().map(|digit| label(at / k.pow(digit) % k));
                    let labels = digits.collect();
                    all.push(TagWeight { kind, name: String::new(), labels, weight });
                }
            }
        }
        Ok(all)
    }

    /// Whether one label may follow another.
    pub fn permits(&self, from: u32, to: u32) -> bool {
        self.grammar.permits(from as usize, to as usize)
    }

    /// How many of the K² transitions are forbidden.
    pub fn n_forbidden(&self) -> usize {
        let k = self.labels().len();
        let pairs = (0..k).flat_map(|from| (0..k).map(move |to| (from, to)));
        pairs.filter(|&(from, to)| !self.grammar.permits(from, to)).count()
    }

    /// The weight of a transition between labels; 0 if the model has none.
    pub fn transition(&self, from: u32, to: u32) -> f64 {
        let model = self.weights.model();
        let at = from as usize * model.n_labels + to as usize;
        if model.transitions { f64::from(self.weights.shared()[at]) } else { 0.0 }
    }
}

impl StructuredModel for TagModel {
    type Data = Sequences;
    type Options = SequenceOptions;
    type Answer = Tagged;
    type Metrics = TagMetrics;
    const METRICS: &'static [&'static str] =
        &["span_f1", "token_accuracy", "sentence_accuracy", "span_precision", "span_recall"];

    fn header(&self) -> &Header {
        &self.about.header
    }

    fn keep_evaluation(&mut self, evaluation: Evaluation) {
        self.about.header.evaluation = Some(evaluation);
    }

    fn from_file(file: ModelFile) -> Result<Self, Error> {
        super::file::read(&file)
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        super::file::to_bytes(self)
    }

    fn shrink(&self, max_bytes: u64) -> Result<Self, Error> {
        super::shrink::shrink(self, max_bytes)
    }

    fn n_weights(&self) -> usize {
        self.weights.n_weights()
    }

    fn read(
        &self,
        source: impl Into<Source>,
        options: &SequenceOptions,
    ) -> Result<Sequences, Error> {
        Ok(lineal_data::read_sequences_with(source, options, self.schema())?)
    }

    fn stream(
        &self,
        source: impl Into<Source>,
        options: &SequenceOptions,
        on_block: &mut dyn FnMut(&Sequences) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        Ok(lineal_data::stream_sequences(source, options, self.schema(), on_block)?)
    }

    fn answer(&self, data: &Sequences, ask: &Ask) -> Result<Vec<Tagged>, Error> {
        super::tagger::tag(self, data, ask)
    }

    fn probability(answer: &Tagged) -> Option<f64> {
        answer.probability
    }

    fn compare(&self, data: &Sequences, tagged: &[Tagged]) -> Result<TagMetrics, Error> {
        super::evaluate::measure(self, data, tagged)
    }
}
