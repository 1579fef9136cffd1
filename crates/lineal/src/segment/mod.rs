//! Segmentation: a label for each pixel of an image, or for each node of a graph.
//!
//! [`SegmentSpec`] holds what only this task can choose, [`Training`](crate::Training) runs it, [`SegmentModel`] labels, measures, explains and saves itself. [`Scenes`] are
//! images with masks, or graphs from JSON lines.
//!
//! ```
//! use lineal::{Penalty, Scenes, SceneOptions, SegmentSpec, Source, TrainSpec, train};
//!
//! // Two nodes that look the same have the same label; a third one is different.
//! let text = r#"{"nodes": [[1, 0], [0.9, 0.2], [0, 1]], "edges": [[0, 1, [1]], [1, 2, [0.1]]], "labels": ["sky", "sky", "sea"]}"#;
//! let source = Source::Memory { name: "train.jsonl".into(), bytes: text.into() };
//! let data = Scenes::read(source, &SceneOptions::default())?;
//!
//! let spec = TrainSpec { penalty: Penalty::C(10.0), ..SegmentSpec::default().into() };
//! let (model, report) = train(&data, &spec)?;
//! assert!(report.gap.is_some());
//! let found = &model.label(&data)?[0];
//! assert_eq!(found.labels, [0, 0, 1]);
//! assert_eq!(model.labels()[1], "sea");
//! # Ok::<(), lineal::Error>(())
//! ```

mod inputs;
mod metrics;
mod model;
mod scenes;
mod spec;
mod train;

pub use metrics::{SceneScores, SegmentMetrics};
pub use model::{SegmentExplanation, SegmentModel, SegmentReason, Segmented};
pub use scenes::{Scene, SceneGraph, SceneKind, SceneOptions, SceneSchema, Scenes};
pub use spec::SegmentSpec;
