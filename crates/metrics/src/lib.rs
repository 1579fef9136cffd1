//! What Lineal reports about predictions: one function and one result a task.
//!
//! A metric is a pure function of gold outputs, predicted outputs and, where they exist, probabilities. Its result
//! serialises to the names that `lineal eval --json` prints. There is no NaN in any of them: what cannot be computed
//! is `None` (`null` in JSON), and input without an answer is an [`Error`].
//!
//! This crate must not know how a prediction was made: no weights, features, losses or solvers. It does not print, and
//! it reads no file. A further task gets a file of its own beside [`classify`](ClassifyMetrics),
//! [`multilabel`](MultilabelMetrics), [`regress`](RegressMetrics), [`ranking`](RankingMetrics), [`dependencies`](DependencyMetrics),
//! [brackets](BracketEvaluation), [segmentation](SegmentationEvaluation), [spans](SpanEvaluation) and [labels of variables](LabelEvaluation).
//!
//! ```
//! use lineal_metrics::{Classified, classify};
//!
//! let metrics = classify(&Classified {
//!     proba: Some(&[0.9, 0.1, 0.2, 0.8, 0.6, 0.4]),
//!     ..Classified::new(2, &[0, 1, 1], &[0, 1, 0])
//! })?;
//! assert_eq!(metrics.accuracy, 2.0 / 3.0);
//! assert_eq!(metrics.confusion, [[1, 0], [1, 1]]);
//! assert_eq!(metrics.auc, Some(1.0));
//! # Ok::<(), lineal_metrics::Error>(())
//! ```

mod auc;
mod brackets;
mod calibration;
mod classify;
mod dependencies;
mod error;
mod labels;
mod multilabel;
mod ranking;
mod regress;
mod segmentation;
mod spans;
mod tagging;

pub use auc::{auc, average_precision};
pub use brackets::{
    Bracket, BracketEvaluation, BracketLabelScores, BracketMetrics, BracketOptions, BracketScores,
    BracketTree, SentenceBrackets, SentenceStatus,
};
pub use calibration::{Calibration, N_BINS, ReliabilityBin, calibration};
pub use classify::{ClassScores, Classified, ClassifyMetrics, MAX_CONFUSION, UNSEEN, classify};
pub use dependencies::{
    DependencyMetrics, LengthScores, NOT_ANNOTATED, ParsedTrees, RelationScores,
    SentenceLengthScores, dependencies,
};
pub use error::Error;
pub use labels::{LabelEvaluation, LabelMetrics, LabelScores};
pub use multilabel::{LabelLists, MultilabelMetrics, MultilabelRows, Ranking, multilabel};
pub use ranking::{
    MAX_GRADE, QueryScores, RankedQueries, RankingMeans, RankingMetrics, RankingOptions, ScoreTies,
    ranking,
};
pub use regress::{RegressMetrics, regress};
pub use segmentation::{AreaScores, ImageScores, SegmentationEvaluation, SegmentationMetrics};
pub use spans::{Span, SpanCounts, SpanEvaluation, TagSet};
pub use tagging::{TagMetrics, TypeMetrics};
