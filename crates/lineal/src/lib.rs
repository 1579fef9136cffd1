//! Linear models whose prediction is an argmax, ŷ = argmax_y ⟨w, Ψ(x, y)⟩: regression, binary and multiclass classification
//! with any loss and solver that fit, each run ending with a proof of how close to the optimum it is.
//!
//! ```
//! use lineal::{Predicted, ReadOptions, Source, TrainSpec, read, train};
//!
//! let csv = b"height,width,label\n1,5,flat\n2,6,flat\n7,2,tall\n8,1,tall\n3,7,flat\n9,3,tall\n";
//! let source = Source::Memory { name: "shapes.csv".into(), bytes: csv.to_vec() };
//! let data = read(source, &ReadOptions::default())?;
//!
//! let (model, report) = train(&data, &TrainSpec::default())?;
//! println!("{}", report.certificate()); // objective 0.09…, within 0.0… % of the optimum
//!
//! assert_eq!(model.predict(&data)?, Predicted::Classes(vec![0, 0, 1, 1, 0, 1]));
//! # Ok::<(), lineal::Error>(())
//! ```
//!
//! [`TrainSpec`] holds every choice with its default; [`Training`] adds a held-out set and a monitor; [`Model`] predicts,
//! explains its weights, and saves itself. The steps behind it are crates of their own: [`model`](lineal_model),
//! [`loss`], [`solver`] and where they meet, [`erm`]. [`solver`] also minimises
//! functions of your own: see its example. [`reduce`] makes multiclass models from any binary learner, linear or not.
//!
//! Nothing here reads a flag, prints, or opens a socket.
//!
//! # Features
//!
//! All are on by default. A small app builds what it uses: `default-features = false` and, of these,
//!
//! | feature | brings |
//! |---|---|
//! | none of them | models of rows (classes, labels, numbers; of tables and text): load, predict, explain |
//! | `train` | [`train`](fn@train), [`Tuning`], [`Streaming`]: learning from rows |
//! | `tag` | sequences of labels |
//! | `dependency`, `constituency` | trees over sentences |
//! | `rank` | orders of documents |
//! | `segment` | images and graphs |
//! | `declared` | structures that a user declares |
//!
//! The tasks with structured outputs bring `train` along. [`TrainSpec`] has a field for each task that was built, so write `..TrainSpec::default()`.

// Code that only some features use lies idle in a build of the others; the build of all of them is the one that is searched for dead code.
#![cfg_attr(
    not(all(
        feature = "train",
        feature = "tag",
        feature = "dependency",
        feature = "constituency",
        feature = "rank",
        feature = "segment",
        feature = "declared"
    )),
    allow(dead_code, unused_imports, rustdoc::broken_intra_doc_links)
)]

mod any;
#[cfg(feature = "constituency")]
mod constituency;
#[cfg(feature = "declared")]
mod declare;
#[cfg(feature = "dependency")]
mod dependency;
mod error;
mod exchange;
mod explain;
mod features;
mod listener;
mod predict;
#[cfg(feature = "rank")]
mod rank;
mod request;
#[cfg(feature = "segment")]
mod segment;
mod stream;
#[cfg(feature = "structured")]
mod structured;
#[cfg(feature = "tag")]
mod tag;
mod train;
#[cfg(feature = "train")]
mod tune;

pub use lineal_calibrate as calibrate;
#[cfg(feature = "tag")]
pub use lineal_chain as chain;
#[cfg(feature = "constituency")]
pub use lineal_constituents as constituents;
#[cfg(feature = "constituency")]
pub use lineal_constituents::parser::{ParsedTree, PhraseExplanation, RankedPhrases};
pub use lineal_data as data;
pub use lineal_data::{
    ArcEnd, BracketReadOptions, BracketSchema, BracketTreebank, Dataset, Format, GuessedTarget,
    Labels, ReadOptions, Schema, Sequence, SequenceOptions, SequenceSchema, Sequences, Source,
    TargetKind, Targets, Treebank, TreebankOptions, TreebankSchema, UNLABELLED, UNSEEN,
    guess_target, parse_forbidden_arcs, read_forbidden_arcs,
};
#[cfg(feature = "declared")]
pub use lineal_declared as declared;
#[cfg(feature = "dependency")]
pub use lineal_dependencies as dependencies;
#[cfg(feature = "dependency")]
pub use lineal_dependencies::parser::{ArcExplanation, Parsed, RankedParse};
#[cfg(feature = "train")]
pub use lineal_erm as erm;
pub use lineal_features::map;
pub use lineal_features::sequence;
pub use lineal_features::templates;
pub use lineal_features::text;
#[cfg(feature = "segment")]
pub use lineal_graph as graph;
pub use lineal_linalg as linalg;
pub use lineal_linalg::{Buffer, Csr, Dense, Matrix, Order, lend};
#[cfg(feature = "train")]
pub use lineal_loss as loss;
pub use lineal_metrics as metrics;
pub use lineal_model::Bias;
pub use lineal_model::cost as costs;
pub use lineal_model::cost::CostMatrix;
pub use lineal_model::explain::PartReason;
pub use lineal_model::file::{
    Disk, SystemDisk, remove_temporaries, write_atomically, write_atomically_on,
};
pub use lineal_model::space;
#[cfg(feature = "rank")]
pub use lineal_ranking as ranking;
pub use lineal_reduce as reduce;
#[cfg(feature = "train")]
pub use lineal_solver as solver;
#[cfg(feature = "train")]
pub use lineal_solver::Interrupt;

pub use any::AnyModel;
#[cfg(feature = "constituency")]
pub use constituency::{ConstituencyModel, ConstituencySpec, constituency_options};
#[cfg(feature = "declared")]
pub use declare::{
    DeclaredAnswer, DeclaredData, DeclaredExplanation, DeclaredMetrics, DeclaredModel,
    DeclaredOptions, DeclaredSpec, RankedLabels, declaration,
};
#[cfg(feature = "dependency")]
pub use dependency::{DecoderKind, DependencyModel, DependencySpec, LabellerKind};
pub use error::Error;
pub use exchange::{Exported, ModelFormat};
pub use explain::highlight::Lit;
pub use explain::{Contribution, Decision, ExplainSpec, Explanation};
pub use features::{FeatureSpec, Features, read_features, read_features_of};
pub use predict::arrays::Answer;
pub use predict::evaluate::Metrics;
pub use predict::evaluation::{ClassEvaluation, Evaluation, ThresholdCurve, confused};
pub use predict::model::{Model, Predicted, Provenance, Sampler, Table};
pub use predict::scoring::highest;
#[cfg(feature = "rank")]
pub use rank::{
    RankExplanation, RankKind, RankMetrics, RankModel, RankReason, RankSpec, RankedQuery,
    RankedQueryScores, RankedRows, rank_options, read_ranking,
};
pub use request::cost::{NamedCost, read_cost, read_named_cost};
pub use request::spec::{
    CalibrateKind, ClassWeight, CodeKind, DecodingKind, LossKind, PairKind, Penalty, Precision,
    ReductionSpec, ScheduleKind, SgdSpec, SolverKind, Standardize, Strategy, Task, Threshold,
    TrainSpec, TreeKind, UpdateKind,
};
#[cfg(feature = "segment")]
pub use segment::{
    Scene, SceneGraph, SceneKind, SceneOptions, SceneSchema, SceneScores, Scenes,
    SegmentExplanation, SegmentMetrics, SegmentModel, SegmentReason, SegmentSpec, Segmented,
};
#[cfg(feature = "train")]
pub use stream::{OnCheckpoint, OnChunk, StreamPoint, StreamReport, Streaming};
pub use stream::{Progressive, StreamSpec};
#[cfg(feature = "tag")]
pub use structured::TagsKind;
#[cfg(feature = "structured")]
pub use structured::{Ask, Examples, Header, Learner, StructuredModel};
#[cfg(feature = "tag")]
pub use tag::{
    AttributeCounts, Border, DistributedTagging, NameAttributes, Notable, Ranking, Reason,
    SchemeKind, TagExplanation, TagFeatures, TagMetrics, TagModel, TagPlan, TagPlanParts, TagShard,
    TagSpec, TagSurvey, TagWeight, Tagged, TaggedSpan, Tagger, TypeMetrics, WeightsKind, WordList,
    check_rules, least_model_bytes, parse_forbidden, read_forbidden, read_word_clusters,
    read_word_list,
};
#[cfg(feature = "train")]
pub use train::crossfit::{OnFold, folds_to_fit};
#[cfg(feature = "train")]
pub use train::learner::{LinearLearner, LinearScorer};
pub use train::report::{
    CodeReport, CurvePoint, Margins, Report, StageReport, StructuredReport, TreeReport,
};
#[cfg(feature = "train")]
pub use train::shards::{DistributedTraining, RowFacts, partial, train_distributed};
#[cfg(feature = "train")]
pub use train::watch::OnPass;
#[cfg(feature = "train")]
pub use train::{Trainable, Training, train};
#[cfg(feature = "train")]
pub use tune::{
    Choice, OnTrial, Shuffle, Trial, TuneMetric, TuneSpec, TuneTable, Tuning, folds, stop_at,
};
#[cfg(feature = "structured")]
pub use tune::{StructuredTuneSpec, StructuredTuned, StructuredTuning};

/// Reads a file and learns its schema. For files with running text see [`read_features`].
pub fn read(source: impl Into<Source>, options: &ReadOptions) -> Result<Dataset, Error> {
    Ok(lineal_data::read(source, options)?)
}

/// Reads sequences and learns their schema.
pub fn read_sequences(
    source: impl Into<Source>,
    options: &SequenceOptions,
) -> Result<Sequences, Error> {
    Ok(lineal_data::read_sequences(source, options)?)
}

/// Reads a treebank and learns its relations.
pub fn read_treebank(
    source: impl Into<Source>,
    options: &TreebankOptions,
) -> Result<Treebank, Error> {
    Ok(lineal_data::read_treebank(source, options)?)
}

/// Reads bracketed trees, or plain sentences, and learns their labels.
pub fn read_brackets(
    source: impl Into<Source>,
    options: &BracketReadOptions,
) -> Result<BracketTreebank, Error> {
    Ok(lineal_data::read_brackets(source, options)?)
}

/// Runs `f` on a pool of that many threads (all cores for `None`). Results do not depend on the number.
pub fn with_threads<R: Send>(threads: Option<usize>, f: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    // No more threads to be had: the caller's will do, in a pool of its own, as the global one would panic.
    let own = || rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    match pool.or_else(|_| own()) {
        Ok(pool) => pool.install(f),
        Err(_) => f(),
    }
}

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So do those of the tutorial about sequences.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tagging.md")]
struct Tagging;

/// And about dependency trees.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/parsing.md")]
struct Parsing;

/// And about bracketed trees.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/constituency.md")]
struct Constituency;

/// And about rankings.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/ranking.md")]
struct RankingDocs;

/// And about the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryDocs;
