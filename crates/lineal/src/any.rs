//! A model of any task, opened once.

use crate::Error;
#[cfg(feature = "constituency")]
use crate::constituency::ConstituencyModel;
#[cfg(feature = "declared")]
use crate::declare::DeclaredModel;
#[cfg(feature = "dependency")]
use crate::dependency::DependencyModel;
use crate::predict::evaluation::Evaluation;
use crate::predict::model::{Model, Provenance};
#[cfg(feature = "rank")]
use crate::rank::RankModel;
use crate::request::spec::{Task, TrainSpec};
#[cfg(feature = "segment")]
use crate::segment::SegmentModel;
#[cfg(feature = "structured")]
use crate::structured::StructuredModel;
#[cfg(feature = "tag")]
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
    #[cfg(feature = "tag")]
    Tag(Box<TagModel>),
    /// A head and a relation for each word of a sentence.
    #[cfg(feature = "dependency")]
    Dependency(Box<DependencyModel>),
    /// A bracketed tree over the words of a sentence.
    #[cfg(feature = "constituency")]
    Constituency(Box<ConstituencyModel>),
    /// The order of the documents of a query.
    #[cfg(feature = "rank")]
    Rank(Box<RankModel>),
    /// A label for each pixel of an image, or each node of a graph.
    #[cfg(feature = "segment")]
    Segment(Box<SegmentModel>),
    /// Labels of variables that the user declares.
    #[cfg(feature = "declared")]
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
        let (own, of_rows) = (&file.model()["task"], &file.model()["spec"]["task"]);
        Ok(match own.as_str().or(of_rows.as_str()).unwrap_or_default() {
            #[cfg(feature = "tag")]
            "tag" => Self::Tag(Box::new(TagModel::from_file(file)?)),
            #[cfg(feature = "dependency")]
            "dependency" => Self::Dependency(Box::new(DependencyModel::from_file(file)?)),
            #[cfg(feature = "constituency")]
            "constituency" => Self::Constituency(Box::new(ConstituencyModel::from_file(file)?)),
            #[cfg(feature = "declared")]
            "declared" => Self::Declared(Box::new(DeclaredModel::from_file(file)?)),
            #[cfg(feature = "segment")]
            "segment" => Self::Segment(Box::new(SegmentModel::from_file(file)?)),
            #[cfg(feature = "rank")]
            "rank" => Self::Rank(Box::new(RankModel::from_file(file)?)),
            task if Task::named(task).is_some_and(Task::is_structured) => {
                return Err(Error::request(format!(
                    "the model is of the task {task}, and this program was built without it: enable the feature `{task}` of the crate lineal"
                )));
            }
            _ => Self::Rows(Box::new(Model::from_file(file)?)),
        })
    }

    /// How training went (without its curve).
    pub fn report(&self) -> &Report {
        match self {
            Self::Rows(model) => model.report(),
            #[cfg(feature = "tag")]
            Self::Tag(model) => model.report(),
            #[cfg(feature = "dependency")]
            Self::Dependency(model) => model.report(),
            #[cfg(feature = "constituency")]
            Self::Constituency(model) => model.report(),
            #[cfg(feature = "rank")]
            Self::Rank(model) => model.report(),
            #[cfg(feature = "segment")]
            Self::Segment(model) => model.report(),
            #[cfg(feature = "declared")]
            Self::Declared(model) => model.report(),
        }
    }

    /// How the model did on labelled data when it was made, if that is known.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        match self {
            Self::Rows(model) => model.evaluation(),
            #[cfg(feature = "tag")]
            Self::Tag(model) => model.evaluation(),
            #[cfg(feature = "dependency")]
            Self::Dependency(model) => model.evaluation(),
            #[cfg(feature = "constituency")]
            Self::Constituency(model) => model.evaluation(),
            #[cfg(feature = "rank")]
            Self::Rank(model) => model.evaluation(),
            #[cfg(feature = "segment")]
            Self::Segment(model) => model.evaluation(),
            #[cfg(feature = "declared")]
            Self::Declared(model) => model.evaluation(),
        }
    }

    /// What was asked for.
    pub fn spec(&self) -> &TrainSpec {
        match self {
            Self::Rows(model) => model.spec(),
            #[cfg(feature = "tag")]
            Self::Tag(model) => model.spec(),
            #[cfg(feature = "dependency")]
            Self::Dependency(model) => model.spec(),
            #[cfg(feature = "constituency")]
            Self::Constituency(model) => model.spec(),
            #[cfg(feature = "rank")]
            Self::Rank(model) => model.spec(),
            #[cfg(feature = "segment")]
            Self::Segment(model) => model.spec(),
            #[cfg(feature = "declared")]
            Self::Declared(model) => model.spec(),
        }
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        match self {
            Self::Rows(model) => model.provenance(),
            #[cfg(feature = "tag")]
            Self::Tag(model) => model.provenance(),
            #[cfg(feature = "dependency")]
            Self::Dependency(model) => model.provenance(),
            #[cfg(feature = "constituency")]
            Self::Constituency(model) => model.provenance(),
            #[cfg(feature = "rank")]
            Self::Rank(model) => model.provenance(),
            #[cfg(feature = "segment")]
            Self::Segment(model) => model.provenance(),
            #[cfg(feature = "declared")]
            Self::Declared(model) => model.provenance(),
        }
    }

    /// What it predicts.
    pub fn task(&self) -> Task {
        self.spec().task
    }
}
