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

mod any;
mod constituency;
mod declare;
mod dependency;
mod error;
mod explain;
mod features;
mod predict;
mod rank;
mod request;
mod segment;
mod stream;
mod structured;
mod tag;
mod train;
mod tune;

pub use lineal_calibrate as calibrate;
pub use lineal_chain as chain;
pub use lineal_constituents as constituents;
pub use lineal_constituents::parser::{ParsedTree, PhraseExplanation, RankedPhrases};
pub use lineal_data as data;
pub use lineal_data::{
    ArcEnd, BracketReadOptions, BracketSchema, BracketTreebank, Dataset, Format, GuessedTarget,
    Labels, ReadOptions, Schema, Sequence, SequenceOptions, SequenceSchema, Sequences, Source,
    TargetKind, Targets, Treebank, TreebankOptions, TreebankSchema, UNLABELLED, UNSEEN,
    guess_target, parse_forbidden_arcs, read_forbidden_arcs,
};
pub use lineal_declared as declared;
pub use lineal_dependencies as dependencies;
pub use lineal_dependencies::parser::{ArcExplanation, Parsed, RankedParse};
pub use lineal_erm as erm;
pub use lineal_features::map;
pub use lineal_features::sequence;
pub use lineal_features::templates;
pub use lineal_features::text;
pub use lineal_graph as graph;
pub use lineal_linalg as linalg;
pub use lineal_linalg::{Buffer, Csr, Dense, Matrix, Order, lend};
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
pub use lineal_ranking as ranking;
pub use lineal_reduce as reduce;
pub use lineal_solver as solver;
pub use lineal_solver::Interrupt;

pub use any::AnyModel;
pub use constituency::{ConstituencyModel, ConstituencySpec, constituency_options};
pub use declare::{
    DeclaredAnswer, DeclaredData, DeclaredExplanation, DeclaredMetrics, DeclaredModel,
    DeclaredOptions, DeclaredSpec, RankedLabels, declaration,
};
pub use dependency::{DecoderKind, DependencyModel, DependencySpec, LabellerKind};
pub use error::Error;
pub use explain::highlight::Lit;
pub use explain::{Contribution, Decision, ExplainSpec, Explanation};
pub use features::{FeatureSpec, Features, read_features, read_features_of};
pub use predict::arrays::Answer;
pub use predict::evaluate::Metrics;
pub use predict::model::{Model, Predicted, Provenance, Sampler, Table};
pub use predict::scoring::highest;
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
pub use segment::{
    Scene, SceneGraph, SceneKind, SceneOptions, SceneSchema, SceneScores, Scenes,
    SegmentExplanation, SegmentMetrics, SegmentModel, SegmentReason, SegmentSpec, Segmented,
};
pub use stream::{
    OnCheckpoint, OnChunk, Progressive, StreamPoint, StreamReport, StreamSpec, Streaming,
};
pub use structured::{Ask, Examples, Header, Learner, StructuredModel, TagsKind};
pub use tag::{
    Border, Notable, Ranking, Reason, SchemeKind, TagExplanation, TagFeatures, TagMetrics,
    TagModel, TagSpec, TagWeight, Tagged, TaggedSpan, Tagger, TypeMetrics, WeightsKind, WordList,
    check_rules, least_model_bytes, parse_forbidden, read_forbidden, read_word_clusters,
    read_word_list,
};
pub use train::crossfit::{OnFold, folds_to_fit};
pub use train::learner::{LinearLearner, LinearScorer};
pub use train::report::{
    CodeReport, CurvePoint, Margins, Report, StageReport, StructuredReport, TreeReport,
};
pub use train::shards::{partial, train_distributed};
pub use train::watch::OnPass;
pub use train::{Trainable, Training, train};
pub use tune::{
    Choice, OnTrial, Shuffle, StructuredTuneSpec, StructuredTuned, StructuredTuning, Trial,
    TuneMetric, TuneSpec, TuneTable, Tuning, folds, stop_at,
};

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
    match rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build() {
        Ok(pool) => pool.install(f),
        // No more threads to be had: the caller's will do.
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
