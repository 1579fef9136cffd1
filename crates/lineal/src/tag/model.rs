//! A trained tagger: what it knows of itself.

use super::file::About;
use super::notable::Notable;
use super::vectorize::Vectorizer;
use crate::predict::model::Provenance;
use crate::request::spec::{LossKind, Task, TrainSpec};
use crate::train::report::Report;
use crate::{Error, SequenceOptions};
use lineal_chain::{Grammar, PrunedModel};
use lineal_data::{SequenceSchema, Sequences, Source};
use lineal_metrics::TagSet;

/// A model that gives a label to each position of a sequence.
#[derive(Clone, Debug)]
pub struct TagModel {
    pub(super) vectorizer: Vectorizer,
    pub(super) weights: PrunedModel,
    pub(super) grammar: Grammar,
    pub(super) about: About,
}

impl TagModel {
    /// How training went (without its curve).
    pub fn report(&self) -> &Report {
        &self.about.report
    }

    /// What was asked for.
    pub fn spec(&self) -> &TrainSpec {
        &self.about.spec
    }

    /// What columns and labels mean.
    pub fn schema(&self) -> &SequenceSchema {
        &self.about.schema
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.about.provenance
    }

    /// Always `tag`.
    pub fn task(&self) -> Task {
        Task::Tag
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

    /// Whether its scores are logarithms of probabilities: trained with the logistic loss.
    pub fn has_proba(&self) -> bool {
        self.about.report.loss == LossKind::Logistic
    }

    /// Attributes of labels and of transitions that have weights.
    pub fn n_attributes(&self) -> usize {
        self.vectorizer.n_unary() + self.vectorizer.n_pairs()
    }

    /// How many weights are stored.
    pub fn n_weights(&self) -> usize {
        self.weights.n_weights()
    }

    /// The templates that make attributes of columns; none where attributes come with names.
    pub fn templates(&self) -> Option<&str> {
        self.vectorizer.templates().map(|templates| templates.text())
    }

    /// The attributes that weigh most, for each label.
    pub fn notable(&self) -> &[Notable] {
        &self.about.notable
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

    /// Reads data as this model's training data was read.
    pub fn read(
        &self,
        source: impl Into<Source>,
        options: &SequenceOptions,
    ) -> Result<Sequences, Error> {
        Ok(lineal_data::read_sequences_with(source, options, self.schema())?)
    }
}
