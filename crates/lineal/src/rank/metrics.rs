//! Metrics of rankings with the names of `eval --json`.

use lineal_metrics::{QueryScores, RankingMeans, RankingMetrics};
use serde::Serialize;

/// How well queries are ranked. NDCG is the mean over queries with a relevant document, for which alone it is defined; `map` and `mrr` are over all queries, of which those without one
/// count 0. `all` and `with_relevant` have every mean both ways.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankMetrics {
    /// NDCG of the first document.
    #[serde(rename = "ndcg@1")]
    pub ndcg_at_1: Option<f64>,
    /// NDCG of the first 5.
    #[serde(rename = "ndcg@5")]
    pub ndcg_at_5: Option<f64>,
    /// NDCG of the first 10.
    #[serde(rename = "ndcg@10")]
    pub ndcg_at_10: Option<f64>,
    /// NDCG of whole lists.
    pub ndcg: Option<f64>,
    /// Mean average precision.
    pub map: f64,
    /// Mean reciprocal rank of the first relevant document.
    pub mrr: f64,
    /// The share of pairs of different grades in the right order, ties half: the mean over queries.
    pub pairwise_accuracy: Option<f64>,
    /// Queries.
    pub queries: u64,
    /// Those with a relevant document: of a grade above 0.
    pub queries_with_relevant: u64,
    /// Documents.
    pub documents: u64,
    /// Means over all queries; one without a relevant document counts 0.
    pub all: RankingMeans,
    /// Means over queries with a relevant document.
    pub with_relevant: Option<RankingMeans>,
    /// Each query.
    pub by_query: Vec<RankedQueryScores>,
}

/// A query and how well it is ranked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedQueryScores {
    /// Its name.
    pub query: String,
    /// Its scores.
    #[serde(flatten)]
    pub scores: QueryScores,
}

impl RankMetrics {
    pub(super) fn new(found: RankingMetrics, names: &[String]) -> Self {
        let relevant = found.with_relevant.as_ref();
        let at = |k: usize| relevant.and_then(|means| means.ndcg_at.get(&k).copied());
        Self {
            ndcg_at_1: at(1),
            ndcg_at_5: at(5),
            ndcg_at_10: at(10),
            ndcg: relevant.map(|means| means.ndcg),
            map: found.all.map,
            mrr: found.all.mrr,
            pairwise_accuracy: found.pairwise_accuracy,
            queries: found.queries,
            queries_with_relevant: found.queries_with_relevant,
            documents: found.documents,
            by_query: names
                .iter()
                .zip(found.by_query)
                .map(|(name, scores)| RankedQueryScores { query: name.clone(), scores })
                .collect(),
            all: found.all,
            with_relevant: found.with_relevant,
        }
    }
}
