//! A trained parser: what it knows of itself.

use super::file::About;
use crate::predict::model::Provenance;
use crate::request::spec::{LossKind, Task, TrainSpec};
use crate::tag::TagModel;
use crate::train::report::Report;
use crate::{Error, TreebankOptions};
use lineal_data::{ConlluColumn, Source, Treebank, TreebankSchema};
use lineal_dependencies::features::Templates;
use lineal_dependencies::problem::TreeSpec;

/// A model that gives a head and a relation to each word of a sentence.
#[derive(Clone, Debug)]
pub struct DependencyModel {
    pub(super) templates: Templates,
    pub(super) tables: Tables,
    /// Tags sentences before they are parsed, where training was on predicted tags.
    pub(super) tagger: Option<Box<TagModel>>,
    pub(super) about: About,
}

/// The weights of the stages.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// None where all heads are candidates.
    pub(super) pruner: Option<Vec<f32>>,
    pub(super) trees: Vec<f32>,
    /// None where relations are found together with the heads.
    pub(super) relations: Option<Vec<f32>>,
}

impl DependencyModel {
    /// How training went (without its curve).
    pub fn report(&self) -> &Report {
        &self.about.report
    }

    /// What was asked for.
    pub fn spec(&self) -> &TrainSpec {
        &self.about.spec
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.about.provenance
    }

    /// Always `dependency`.
    pub fn task(&self) -> Task {
        Task::Dependency
    }

    /// The relations by number.
    pub fn relations(&self) -> &[String] {
        &self.about.schema.relations
    }

    /// The name of a relation.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn relation(&self, relation: u32) -> &str {
        &self.relations()[relation as usize]
    }

    /// What it knows of its treebank.
    pub fn schema(&self) -> &TreebankSchema {
        &self.about.schema
    }

    /// The columns that its features read.
    pub fn columns(&self) -> &[ConlluColumn] {
        &self.about.columns
    }

    /// Which trees it chooses from.
    pub fn trees(&self) -> TreeSpec {
        self.about.trees()
    }

    /// The most heads of a word that are left to choose from; none if all are.
    pub fn candidates(&self) -> Option<usize> {
        self.tables.pruner.as_ref().map(|_| self.about.candidates)
    }

    /// The templates of its features.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The tagger that it brings, where it was trained on predicted tags.
    pub fn tagger(&self) -> Option<&TagModel> {
        self.tagger.as_deref()
    }

    /// Whether its scores are logarithms of probabilities: trained with the logistic loss.
    pub fn has_proba(&self) -> bool {
        self.about.report.loss == LossKind::Logistic
    }

    /// How many weights are not zero.
    pub fn n_weights(&self) -> usize {
        self.tables().into_iter().flatten().flatten().filter(|w| **w != 0.0).count()
    }

    /// Reads data for this model.
    pub fn read(
        &self,
        source: impl Into<Source>,
        options: &TreebankOptions,
    ) -> Result<Treebank, Error> {
        Ok(lineal_data::read_treebank_with(source, options, self.schema())?)
    }
}
