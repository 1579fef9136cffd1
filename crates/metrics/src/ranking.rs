//! Documents of queries in order: how near the best ones are to the top.
//!
//! A query has documents with grades gᵢ ≥ 0 and scores; rank 1 is the highest score. A document is relevant if its grade is above a threshold, 0 unless said.
//!
//! ```text
//! DCG@k  = Σ over ranks r ≤ k of (2^g(r) − 1) / log₂(1 + r)          NDCG@k = DCG@k / DCG@k of the order by grade
//! AP     = mean over relevant documents of the fraction of relevant ones among those up to its rank; MAP is its mean over queries
//! RR     = 1 / rank of the first relevant document; MRR is its mean over queries
//! pairwise accuracy = fraction of the pairs of different grades that are in the right order; a pair of equal scores counts half
//! ```
//!
//! A query without a relevant document has no NDCG, AP or RR. Programs differ in what they make of it, so there are two means: over all queries,
//! where it counts 0 (as by the tools of LETOR), and over the queries where the metric is defined. Pairwise accuracy is always a mean over queries that have a pair.
//!
//! Documents of equal scores stand in the order of the input, or each metric is averaged over all orders of them, in closed form: McSherry and Najork
//! (2008), "Computing information retrieval performance measures efficiently in the presence of tied scores". scikit-learn's `ndcg_score` averages, too, but its gain is
//! the grade itself; its `average_precision_score` does neither: it gives all documents of a tie the precision at the tie's end.
//!
//! Time is n log n for n documents of a query.

mod pairs;
mod query;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Error;
use query::{Buffers, evaluate};

/// The highest grade. Above it the gains 2^g − 1 of a query could add up to infinity.
pub const MAX_GRADE: f64 = 512.0;

/// Documents of queries, one query after the other, with what is known and what was predicted.
#[derive(Clone, Copy, Debug)]
pub struct RankedQueries<'a> {
    /// Where each query starts, and where the last one ends: n + 1 numbers, rising from 0.
    pub start: &'a [usize],
    /// The grade of each document: from 0 to [`MAX_GRADE`].
    pub grades: &'a [f64],
    /// The predicted score of each document, finite.
    pub scores: &'a [f64],
}

/// What to count, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingOptions {
    /// Ranks at which NDCG is cut, each at least 1. By default 1, 3, 5 and 10.
    pub cutoffs: Vec<usize>,
    /// How documents of equal scores are ranked. By default in the order of the input.
    pub ties: ScoreTies,
    /// Documents with a grade above this one are relevant. By default 0.
    pub relevance_threshold: f64,
}

impl Default for RankingOptions {
    fn default() -> Self {
        Self { cutoffs: vec![1, 3, 5, 10], ties: ScoreTies::InputOrder, relevance_threshold: 0.0 }
    }
}

/// How documents of equal scores are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoreTies {
    /// The first of the input comes first.
    #[default]
    InputOrder,
    /// All orders of them are equally likely, and the metric is its mean.
    Average,
}

/// Metrics of rankings. Queries count alike, however many documents they have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankingMetrics {
    /// Means over all queries; one without a relevant document counts 0.
    pub all: RankingMeans,
    /// Means over the queries for which the metric is defined; `None` where there is no such query.
    pub with_relevant: Option<RankingMeans>,
    /// Mean over queries of the fraction of pairs in the right order; `None` where no query has documents of different grades.
    pub pairwise_accuracy: Option<f64>,
    /// The fraction of right pairs among those of all queries together.
    pub pooled_pairwise_accuracy: Option<f64>,
    /// Number of pairs of different grades.
    pub pairs: u64,
    /// Number of queries.
    pub queries: u64,
    /// Number of queries with a relevant document.
    pub queries_with_relevant: u64,
    /// Number of documents.
    pub documents: u64,
    /// The scores of each query, in the order of the input.
    pub by_query: Vec<QueryScores>,
}

/// Means over queries.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankingMeans {
    /// NDCG of whole lists.
    pub ndcg: f64,
    /// NDCG at each cutoff. A list that is shorter is taken as a whole.
    pub ndcg_at: BTreeMap<usize, f64>,
    /// Mean average precision.
    pub map: f64,
    /// Mean reciprocal rank of the first relevant document.
    pub mrr: f64,
}

/// How well the documents of one query are ranked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryScores {
    /// Number of documents.
    pub documents: u64,
    /// How many of them are relevant.
    pub relevant: u64,
    /// NDCG of the whole list; `None` where all grades are 0.
    pub ndcg: Option<f64>,
    /// NDCG at each of the cutoffs, in their order.
    pub ndcg_at: Option<Vec<f64>>,
    /// Average precision; `None` without a relevant document.
    pub average_precision: Option<f64>,
    /// One over the rank of the first relevant document.
    pub reciprocal_rank: Option<f64>,
    /// Fraction of pairs in the right order; `None` where all grades are equal.
    pub pairwise_accuracy: Option<f64>,
    /// Number of pairs of different grades.
    pub pairs: u64,
}

/// Computes the metrics, after checking that the parts fit together.
pub fn ranking(
    queries: &RankedQueries<'_>,
    options: &RankingOptions,
) -> Result<RankingMetrics, Error> {
    check(queries, options)?;
    let mut buffers = Buffers::default();
    let mut right_pairs = 0.0;
    let mut by_query = Vec::with_capacity(queries.start.len() - 1);
    for bounds in queries.start.windows(2) {
        let documents = bounds[0]..bounds[1];
        let (scores, right) = evaluate(
            &queries.grades[documents.clone()],
            &queries.scores[documents],
            options,
            &mut buffers,
        );
        right_pairs += right;
        by_query.push(scores);
    }
    let pairs: u64 = by_query.iter().map(|query| query.pairs).sum();
    let in_order = by_query.iter().filter_map(|query| query.pairwise_accuracy);
    let pairwise_accuracy = mean(in_order.clone().sum(), in_order.count());
    Ok(RankingMetrics {
        all: means(&by_query, options, |_, n_queries| n_queries).ok_or(Error::Empty)?,
        with_relevant: means(&by_query, options, |n_defined, _| n_defined),
        pairwise_accuracy,
        pooled_pairwise_accuracy: mean(right_pairs, pairs as usize),
        pairs,
        queries: by_query.len() as u64,
        queries_with_relevant: by_query.iter().filter(|query| query.relevant > 0).count() as u64,
        documents: queries.grades.len() as u64,
        by_query,
    })
}

/// The means of sums that are divided as `share(number of queries where it is defined, number of queries)` says; `None` if that is 0 for all of them.
fn means(
    by_query: &[QueryScores],
    options: &RankingOptions,
    share: fn(usize, usize) -> usize,
) -> Option<RankingMeans> {
    let over = |value: &dyn Fn(&QueryScores) -> Option<f64>| {
        let defined = by_query.iter().filter_map(value);
        let n = share(defined.clone().count(), by_query.len());
        mean(defined.sum(), n)
    };
    let ndcg = over(&|query| query.ndcg);
    let map = over(&|query| query.average_precision);
    if ndcg.is_none() && map.is_none() {
        return None;
    }
    let at = |c: usize| over(&|query| query.ndcg_at.as_ref().map(|at| at[c])).unwrap_or(0.0);
    Some(RankingMeans {
        ndcg: ndcg.unwrap_or(0.0),
        ndcg_at: options.cutoffs.iter().enumerate().map(|(c, &k)| (k, at(c))).collect(),
        map: map.unwrap_or(0.0),
        mrr: over(&|query| query.reciprocal_rank).unwrap_or(0.0),
    })
}

fn mean(sum: f64, n: usize) -> Option<f64> {
    // The sum of no numbers is −0.
    (n > 0).then(|| sum / n as f64 + 0.0)
}

fn check(queries: &RankedQueries<'_>, options: &RankingOptions) -> Result<(), Error> {
    let n = queries.grades.len();
    Error::unless_len("scores", n, queries.scores.len())?;
    if n == 0 {
        return Err(Error::Empty);
    }
    // A query has a document at least.
    let rises = queries.start.windows(2).all(|pair| pair[0] < pair[1]);
    if !rises || queries.start.first() != Some(&0) || queries.start.last() != Some(&n) {
        return Err(Error::Lists { what: "query" });
    }
    Error::unless_finite("score", queries.scores)?;
    let is_grade = |g: &f64| (0.0..=MAX_GRADE).contains(g);
    if let Some(i) = queries.grades.iter().position(|g| !is_grade(g)) {
        return Err(Error::Value { row: i + 1, what: "grade", value: queries.grades[i] });
    }
    if let Some(c) = options.cutoffs.iter().position(|&k| k == 0) {
        return Err(Error::Value { row: c + 1, what: "cutoff of NDCG", value: 0.0 });
    }
    let threshold = options.relevance_threshold;
    if threshold.is_nan() || threshold < 0.0 {
        return Err(Error::Value { row: 1, what: "threshold of relevance", value: threshold });
    }
    Ok(())
}
