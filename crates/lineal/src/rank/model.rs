//! A trained ranking: a model of rows whose scores order the documents of each query.

use super::metrics::RankMetrics;
use super::train::RankedRows;
use crate::features::Features;
use crate::predict::evaluation::Evaluation;
use crate::predict::model::Model;
use crate::request::spec::Task;
use crate::structured::{self, Ask, Examples, Header, StructuredModel};
use crate::{Error, ReadOptions};
use lineal_data::{Dataset, Source, Standardizer};
use lineal_metrics::{RankedQueries, RankingOptions, ranking};
use lineal_model::file::ModelFile;
use lineal_ranking::{Reason, order};
use serde::Serialize;
use std::ops::ControlFlow;

/// Documents that are answered together, and those of the last query among them.
const DOCUMENTS: usize = 4096;

/// A model that orders the documents of a query.
#[derive(Debug)]
pub struct RankModel {
    rows: Model,
    header: Header,
}

/// A query with the scores of its documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedQuery {
    /// The name of the query.
    pub query: String,
    /// The score of each document, in the order of the data.
    pub scores: Vec<f64>,
    /// The documents, counted from 0, best first; equal scores stay in the order of the data.
    pub order: Vec<u32>,
}

impl RankedQuery {
    /// The rank of each document, from 1.
    pub fn ranks(&self) -> Vec<usize> {
        let mut ranks = vec![0; self.order.len()];
        self.order.iter().enumerate().for_each(|(at, &d)| ranks[d as usize] = at + 1);
        ranks
    }
}

/// Why one document of a query stands above another. The lead is the sum of the reasons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankExplanation {
    /// The name of the query.
    pub query: String,
    /// The document, from 0.
    pub document: usize,
    /// Its rank, from 1.
    pub rank: usize,
    /// Its score.
    pub score: f64,
    /// The document that it is compared with: the next one below, unless another was asked for; none for the last.
    pub other: Option<usize>,
    /// The rank of that one.
    pub other_rank: Option<usize>,
    /// By how much its score is above that of the other; negative if it stands below.
    pub lead: f64,
    /// Features in which the two differ, largest part of the lead first.
    pub reasons: Vec<RankReason>,
}

/// What a feature adds to the lead.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankReason {
    /// Its name.
    pub feature: String,
    /// Its value in the document.
    pub value: f64,
    /// Its value in the other.
    pub other: f64,
    /// Its weight times the difference.
    pub lead: f64,
}

impl RankModel {
    pub(super) fn new(rows: Model) -> Self {
        let header = Header {
            task: Task::Rank,
            spec: rows.spec().clone(),
            report: rows.report().clone(),
            provenance: rows.provenance().clone(),
            evaluation: rows.evaluation().cloned(),
        };
        Self { rows, header }
    }

    /// The model of rows that gives the scores: its weights, names of features, schema.
    pub fn rows(&self) -> &Model {
        &self.rows
    }

    /// The order of each query: [`answer`](StructuredModel::answer) to a plain question.
    pub fn rank(&self, data: &RankedRows) -> Result<Vec<RankedQuery>, Error> {
        self.answer(data, &Ask::default())
    }

    /// Explains the documents of a query, or one of them, best first: each against the next one below, or against a document of choice.
    pub fn explain(
        &self,
        data: &RankedRows,
        query: usize,
        document: Option<usize>,
        against: Option<usize>,
    ) -> Result<Vec<RankExplanation>, Error> {
        let one = data.select(&[query]);
        let ranked = self.rank(&one)?.remove(0);
        let n = ranked.order.len();
        for asked in document.into_iter().chain(against) {
            if asked >= n {
                return Err(Error::request(format!(
                    "query {} has {n} documents; there is no document {}",
                    ranked.query,
                    asked + 1
                )));
            }
        }
        let w = self.weights();
        let ranks = ranked.ranks();
        let mut explanations = Vec::new();
        for &d in &ranked.order {
            let d = d as usize;
            if document.is_some_and(|asked| asked != d) || against == Some(d) {
                continue;
            }
            let next = ranked.order.get(ranks[d]).map(|&next| next as usize);
            let other = against.or(next);
            let reasons = other.map_or(Vec::new(), |other| {
                Reason::list(one.data.x.row(d), one.data.x.row(other), &w)
            });
            explanations.push(RankExplanation {
                query: ranked.query.clone(),
                document: d,
                rank: ranks[d],
                score: ranked.scores[d],
                other,
                other_rank: other.map(|other| ranks[other]),
                lead: other.map_or(0.0, |other| ranked.scores[d] - ranked.scores[other]),
                reasons: reasons
                    .into_iter()
                    .map(|reason| {
                        let feature = reason.feature as usize;
                        RankReason {
                            feature: self.rows.feature_name(feature),
                            value: self.rows.raw_value(feature, reason.values.0),
                            other: self.rows.raw_value(feature, reason.values.1),
                            lead: reason.lead,
                        }
                    })
                    .collect(),
            });
        }
        Ok(explanations)
    }

    fn weights(&self) -> Vec<f64> {
        (0..self.rows.n_features()).map(|j| self.rows.weight(j, 0)).collect()
    }

    /// The weights to start from, if they are of the same features.
    pub(super) fn start(
        &self,
        data: &Dataset,
        scaling: Option<&Standardizer>,
    ) -> Result<Vec<f32>, Error> {
        if *self.rows.schema() != data.schema {
            return Err(Error::request(
                "the model to start from has other features; give data with the same columns",
            ));
        }
        let unscaled = |(j, w): (usize, f64)| match scaling.map(|s| s.scale[j]) {
            Some(scale) if scale != 0.0 => (w / f64::from(scale)) as f32,
            _ => w as f32,
        };
        Ok(self.weights().into_iter().enumerate().map(unscaled).collect())
    }
}

impl StructuredModel for RankModel {
    type Data = RankedRows;
    type Options = ReadOptions;
    type Answer = RankedQuery;
    type Metrics = RankMetrics;
    const METRICS: &'static [&'static str] =
        &["ndcg@10", "ndcg@1", "ndcg@5", "ndcg", "map", "mrr", "pairwise_accuracy"];

    fn header(&self) -> &Header {
        &self.header
    }

    fn keep_evaluation(&mut self, evaluation: Evaluation) {
        self.rows.keep_evaluation(evaluation.clone());
        self.header.evaluation = Some(evaluation);
    }

    fn from_file(file: ModelFile) -> Result<Self, Error> {
        let task = file.model()["spec"]["task"].as_str().unwrap_or_default();
        if task != Task::Rank.as_str() {
            let why = format!("it is a model of the task {task}, not of rank");
            return Err(structured::unfit(&file, why));
        }
        Ok(Self::new(Model::from_file(file)?))
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.rows.to_bytes()
    }

    fn n_weights(&self) -> usize {
        self.rows.nonzeros()
    }

    fn read(&self, source: impl Into<Source>, options: &ReadOptions) -> Result<RankedRows, Error> {
        let data = self.rows.read(source, options)?;
        Ok(RankedRows { data, features: Features::default() })
    }

    /// Queries are not cut: memory is that of a block, or of the largest query if that is more, and of the names of all queries.
    fn stream(
        &self,
        source: impl Into<Source>,
        options: &ReadOptions,
        on_block: &mut dyn FnMut(&RankedRows) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let (schema, features) = (self.rows.schema(), self.rows.features());
        let mut failed = None;
        let walked =
            lineal_data::stream(source, options, schema, DOCUMENTS, &mut |mut data, text| {
                match features.encode(&mut data, text) {
                    Ok(()) => Ok(on_block(&RankedRows { data, features: Features::default() })),
                    Err(error) => {
                        failed = Some(error);
                        Ok(ControlFlow::Break(()))
                    }
                }
            });
        match failed {
            Some(error) => Err(error),
            None => Ok(walked.map(|_| ())?),
        }
    }

    fn answer(&self, data: &RankedRows, ask: &Ask) -> Result<Vec<RankedQuery>, Error> {
        if ask.needs_proba() || ask.n_best > 0 || ask.known {
            return Err(Error::request("a ranking gives scores and orders only"));
        }
        let scores = self.rows.scores(&data.data)?.values;
        let ranked = data.queries()?.iter().map(|(name, rows)| {
            let scores = scores[rows].to_vec();
            RankedQuery { query: name.to_owned(), order: order(&scores), scores }
        });
        Ok(ranked.collect())
    }

    fn probability(_: &RankedQuery) -> Option<f64> {
        None
    }

    fn compare(&self, data: &RankedRows, ranked: &[RankedQuery]) -> Result<RankMetrics, Error> {
        let (queries, grades) = data.graded()?;
        let scores: Vec<f64> = ranked.iter().flat_map(|query| &query.scores).copied().collect();
        let ranked = RankedQueries { start: queries.start(), grades, scores: &scores };
        Ok(RankMetrics::new(ranking(&ranked, &RankingOptions::default())?, queries.names()))
    }

    /// There are no probabilities of orders.
    fn has_proba(&self) -> bool {
        false
    }
}
