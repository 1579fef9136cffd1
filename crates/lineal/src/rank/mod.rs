//! Learning to rank: documents of a query in the order of their scores.
//!
//! [`RankSpec`] holds what only rankings can choose, [`Training`](crate::Training) runs it, [`RankModel`] scores, orders, measures, explains and saves itself. Documents are rows, so
//! that everything that makes features of rows works here too: categories, text, maps.
//!
//! ```
//! use lineal::{FeatureSpec, RankSpec, Source, StructuredModel, rank_options, read_ranking, train};
//!
//! let letor = b"2 qid:1 1:0.9 2:0.1\n0 qid:1 1:0.2 2:0.3\n1 qid:2 1:0.8 2:0.9\n0 qid:2 1:0.1 2:0.8\n";
//! let source = Source::Memory { name: "train.letor".into(), bytes: letor.to_vec() };
//! let data = read_ranking(source, &rank_options(), &FeatureSpec::default())?;
//!
//! let (model, report) = train(&data, &RankSpec::default().into())?;
//! println!("{}", report.certificate());
//! assert_eq!(model.rank(&data)?[0].order, [0, 1]);
//! assert_eq!(model.evaluate(&data)?.ndcg_at_10, Some(1.0));
//! # Ok::<(), lineal::Error>(())
//! ```

mod metrics;
mod model;
mod spec;
mod train;

pub use metrics::{RankMetrics, RankedQueryScores};
pub use model::{RankExplanation, RankModel, RankReason, RankedQuery};
pub use spec::{RankKind, RankSpec};
pub use train::{RankedRows, rank_options, read_ranking};
