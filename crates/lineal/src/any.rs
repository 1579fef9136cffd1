//! A model of any task, opened once.

use crate::Error;
use crate::constituency::ConstituencyModel;
use crate::declare::DeclaredModel;
use crate::dependency::DependencyModel;
use crate::predict::model::{Model, Provenance};
use crate::rank::RankModel;
use crate::request::spec::{Task, TrainSpec};
use crate::segment::SegmentModel;
use crate::structured::StructuredModel;
use crate::tag::TagModel;
use crate::train::report::Report;
use lineal_model::file::ModelFile;
use std::path::Path;

/// A model file, mapped and checked, as what its task makes of it.
///
/// ```no_run
/// use lineal::AnyModel;
/// match AnyModel::open("m.lineal")? {
///     AnyModel::Rows(model) => println!("{} features", model.n_features()),
///     AnyModel::Tag(model) => println!("{} labels", model.labels().len()),
///     AnyModel::Dependency(model) => println!("{} relations", model.relations().len()),
///     AnyModel::Constituency(model) => println!("{} labels", model.labels().len()),
///     AnyModel::Rank(model) => println!("{} features", model.rows().n_features()),
///     AnyModel::Segment(model) => println!("{} labels", model.labels().len()),
///     AnyModel::Declared(model) => println!("{} rules", model.declaration().rules().len()),
/// }
/// # Ok::<(), lineal::Error>(())
/// ```
#[derive(Debug)]
pub enum AnyModel {
    /// Classes, labels or a number for each row.
    Rows(Box<Model>),
    /// A label for each position of a sequence.
    Tag(Box<TagModel>),
    /// A head and a relation for each word of a sentence.
    Dependency(Box<DependencyModel>),
    /// A bracketed tree over the words of a sentence.
    Constituency(Box<ConstituencyModel>),
    /// The order of the documents of a query.
    Rank(Box<RankModel>),
    /// A label for each pixel of an image, or each node of a graph.
    Segment(Box<SegmentModel>),
    /// Labels of variables that the user declares.
    Declared(Box<DeclaredModel>),
}

impl AnyModel {
    /// Maps a model file. Nothing in it is believed before it is checked.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_file(ModelFile::open(path.as_ref())?)
    }

    /// A model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_file(ModelFile::from_bytes(bytes)?)
    }

    fn from_file(file: ModelFile) -> Result<Self, Error> {
        Ok(match file.model()["task"].as_str() {
            Some("tag") => Self::Tag(Box::new(TagModel::from_file(file)?)),
            Some("dependency") => Self::Dependency(Box::new(DependencyModel::from_file(file)?)),
            Some("constituency") => {
                Self::Constituency(Box::new(ConstituencyModel::from_file(file)?))
            }
            Some("declared") => Self::Declared(Box::new(DeclaredModel::from_file(file)?)),
            Some("segment") => Self::Segment(Box::new(SegmentModel::from_file(file)?)),
            _ if file.model()["spec"]["task"] == "rank" => {
                Self::Rank(Box::new(RankModel::from_file(file)?))
            }
            _ => Self::Rows(Box::new(Model::from_file(file)?)),
        })
    }

    /// How training went (without its curve).
    pub fn report(&self) -> &Report {
        match self {
            Self::Rows(model) => model.report(),
            Self::Tag(model) => model.report(),
            Self::Dependency(model) => model.report(),
            Self::Constituency(model) => model.report(),
            Self::Rank(model) => model.report(),
            Self::Segment(model) => model.report(),
            Self::Declared(model) => model.report(),
        }
    }

    /// What was asked for.
    pub fn spec(&self) -> &TrainSpec {
        match self {
            Self::Rows(model) => model.spec(),
            Self::Tag(model) => model.spec(),
            Self::Dependency(model) => model.spec(),
            Self::Constituency(model) => model.spec(),
            Self::Rank(model) => model.spec(),
            Self::Segment(model) => model.spec(),
            Self::Declared(model) => model.spec(),
        }
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        match self {
            Self::Rows(model) => model.provenance(),
            Self::Tag(model) => model.provenance(),
            Self::Dependency(model) => model.provenance(),
            Self::Constituency(model) => model.provenance(),
            Self::Rank(model) => model.provenance(),
            Self::Segment(model) => model.provenance(),
            Self::Declared(model) => model.provenance(),
        }
    }

    /// What it predicts.
    pub fn task(&self) -> Task {
        self.spec().task
    }
}
