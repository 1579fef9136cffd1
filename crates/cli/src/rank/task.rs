//! What rankings bring to the commands.

use std::io::{self, Write};

use anyhow::bail;
use lineal::{
    Ask, RankExplanation, RankKind, RankMetrics, RankModel, RankSpec, RankedQuery, RankedRows,
    ReadOptions, Source, StructuredModel, Targets, TrainSpec,
};
use serde_json::{Value, json};

use super::write::Writer;
use crate::args::{ExplainArgs, FileArgs, PredictArgs, TrainArgs};
use crate::rows::request::RowOptions;
use crate::rows::{inspect, summary};
use crate::structured::{MetricTable, Pairs, Reason, StructuredTask, maybe};
use crate::talk::{count, rough, thousands};
use crate::text;
use crate::train::request::{self, Request};

/// Queries that `eval` lists: the worst ones.
const WORST: usize = 10;

impl StructuredTask for RankModel {
    const EXAMPLE: &'static str = "query";
    const PART: &'static str = "document";
    const PARTS: &'static str = "documents";
    const CLASS: &'static str = "grade";
    const NOUNS: [&'static str; 3] = ["queries", "features", "classes"];
    const CLASSES: &'static str = "classes";
    const CARDS: &'static [&'static str] = &["ndcg@10", "map", "mrr", "pairwise_accuracy"];
    const HAS: &'static str = "scores already, and --top K for the best documents";
    type Request = RowOptions;
    type Explanation = RankExplanation;
    type Writer<'m> = Writer;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<RowOptions>> {
        let defaults = RankSpec::default();
        let rank = RankSpec {
            kind: args.rank.rank.unwrap_or(defaults.kind),
            at: args.rank.ndcg_at,
            per_query: args.rank.per_query,
        };
        let mut features = args.maps.add_to(text::features(&args.text)?, args.seed);
        features.standardize = args.model.standardized();
        let standardize = args.maps.standardize_left(features.standardize);
        let common = request::spec(args)?;
        let penalty = match args.penalty.c.is_some() || args.penalty.l2.is_some() {
            true => common.penalty,
            false => rank.penalty(),
        };
        let spec = TrainSpec { rank, standardize, penalty, loss: args.loss, ..common };
        let read = ReadOptions {
            query: args.rank.query.clone(),
            ..args.file.learning(&args.columns, &args.text, args.task.target())
        };
        Request::new(args, spec, RowOptions { read, features }, args.text.file())
    }

    fn read_training(
        source: Source,
        args: &TrainArgs,
        request: &mut Request<RowOptions>,
    ) -> anyhow::Result<RankedRows> {
        let RowOptions { read, features } = &request.options;
        let rows = lineal::read_ranking(source, read, features)?;
        text::check(&args.text, &rows.data, &rows.features)?;
        Ok(rows)
    }

    fn size(rows: &RankedRows) -> Vec<String> {
        let data = &rows.data;
        vec![count(data.n_rows(), "document"), count(data.n_features(), "feature")]
    }

    fn details(rows: &RankedRows) -> Vec<String> {
        summary::details(&rows.data, &rows.features)
    }

    fn read_like(
        source: Source,
        request: &Request<RowOptions>,
        rows: &RankedRows,
    ) -> anyhow::Result<RankedRows> {
        let read = &request.options.read;
        let format = request.format_of(&source.name(), read.format);
        let options = ReadOptions { format, ..read.clone() };
        let data = rows.features.read(source, &options, &rows.data.schema)?;
        Ok(RankedRows { data, features: Default::default() })
    }

    fn cannot_compare(rows: &RankedRows) -> Option<&'static str> {
        let why = "the documents have no grades to compare with; add the label column, or name it with --label";
        matches!(rows.data.y, Targets::None).then_some(why)
    }

    fn unseen(_: &RankedRows) -> Option<(String, String)> {
        None
    }

    fn options(file: &FileArgs) -> ReadOptions {
        file.options()
    }

    fn ask(_: &PredictArgs) -> Ask {
        Ask::default()
    }

    fn has_no_answer(args: &PredictArgs) -> Option<&'static str> {
        let asked = args.proba || args.sample || args.min_cost || args.tag.first().is_some();
        asked.then_some(
            "a ranking gives scores and orders: leave out --proba, --sample, --min-cost and flags about sequences",
        )
    }

    fn writer(&self, args: &PredictArgs) -> Writer {
        Writer::new(args)
    }

    fn write(
        writer: &mut Writer,
        out: &mut dyn Write,
        _: &RankedRows,
        _: usize,
        _: usize,
        found: &RankedQuery,
    ) -> io::Result<()> {
        writer.write(out, found)
    }

    fn main_metric(metrics: &RankMetrics) -> (&'static str, f64) {
        ("NDCG@10", metrics.ndcg_at_10.unwrap_or(0.0))
    }

    fn one_line(metrics: &RankMetrics) -> String {
        let ndcg = maybe(metrics.ndcg_at_10);
        format!("NDCG@10 {ndcg}, MAP {:.4}, MRR {:.4}", metrics.map, metrics.mrr)
    }

    fn metric_rows(metrics: &RankMetrics) -> Pairs {
        vec![
            ("queries", thousands(metrics.queries as usize)),
            ("with a relevant document", thousands(metrics.queries_with_relevant as usize)),
            ("documents", thousands(metrics.documents as usize)),
            ("ndcg@1", maybe(metrics.ndcg_at_1)),
            ("ndcg@5", maybe(metrics.ndcg_at_5)),
            ("ndcg@10", maybe(metrics.ndcg_at_10)),
            ("ndcg", maybe(metrics.ndcg)),
            ("map", format!("{:.4}", metrics.map)),
            ("mrr", format!("{:.4}", metrics.mrr)),
            ("pairwise_accuracy", maybe(metrics.pairwise_accuracy)),
        ]
    }

    fn metric_tables(metrics: &RankMetrics) -> Vec<MetricTable> {
        let mut means = vec![
            ["over", "ndcg@1", "ndcg@5", "ndcg@10", "ndcg", "map", "mrr"]
                .map(str::to_owned)
                .to_vec(),
        ];
        let both = [
            ("all queries", Some(&metrics.all)),
            ("those with a relevant document", metrics.with_relevant.as_ref()),
        ];
        for (name, found) in both {
            let Some(found) = found else { continue };
            let at = |k: usize| found.ndcg_at.get(&k).copied();
            let cells = [at(1), at(5), at(10), Some(found.ndcg), Some(found.map), Some(found.mrr)];
            means.push([name.to_owned()].into_iter().chain(cells.map(maybe)).collect());
        }
        let mut worst: Vec<_> =
            metrics.by_query.iter().filter(|query| query.scores.ndcg.is_some()).collect();
        worst.sort_by(|a, b| {
            let ndcg = |q: &lineal::RankedQueryScores| q.scores.ndcg.unwrap_or(0.0);
            ndcg(a).total_cmp(&ndcg(b))
        });
        let header = ["query", "ndcg", "precision", "first at", "documents", "relevant"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(worst.into_iter().take(WORST).map(|query| {
            let s = &query.scores;
            let first = s.reciprocal_rank.map_or("–".to_owned(), |r| format!("{:.0}", 1.0 / r));
            vec![
                query.query.clone(),
                maybe(s.ndcg),
                maybe(s.average_precision),
                first,
                thousands(s.documents as usize),
                thousands(s.relevant as usize),
            ]
        }));
        vec![
            MetricTable {
                title: "Means",
                note: "Over all queries, one without a relevant document counts 0.",
                rows: means,
            },
            MetricTable {
                title: "The worst queries",
                note: "By NDCG of the whole list; precision is the average precision, and `first at` the rank of the first relevant document.",
                rows,
            },
        ]
    }

    fn about(&self) -> [Vec<String>; 2] {
        let decisions = self.report().structured.as_ref().map_or(0, |s| s.decisions);
        let what = match self.spec().rank.kind {
            RankKind::Pairs => "pair",
            RankKind::Softmax | RankKind::PlackettLuce => "choice",
            RankKind::Ndcg | RankKind::Map => "order",
        };
        [vec![format!("{} to learn from", count(decisions as usize, what))], Vec::new()]
    }

    fn train_json(&self) -> Vec<(&'static str, Value)> {
        vec![("rank", json!(self.spec().rank)), ("nonzeros", json!(self.n_weights()))]
    }

    fn classes(&self) -> &[String] {
        &[]
    }

    fn facts(&self) -> Pairs {
        let spec = &self.spec().rank;
        let at = spec.at.map(|k| format!("@{k}")).unwrap_or_default();
        let each = if spec.per_query { "each query" } else { "each decision" };
        let weights = count(self.n_weights(), "weight");
        let features = count(self.rows().n_features(), "feature");
        vec![
            ("ranking", format!("{}{at}; {each} counts the same", spec.kind)),
            ("features", format!("{features}, {weights} that are not zero")),
        ]
    }

    fn weight_lines(&self, top: Option<usize>) -> Vec<String> {
        inspect::weight_lines(self.rows(), top)
    }

    fn inspect_json(&self, top: Option<usize>) -> Value {
        let features = self.rows().top_features(0, top.unwrap_or(usize::MAX));
        json!({ "rank": self.spec().rank, "top_features": features })
    }

    fn explain(
        &self,
        rows: &RankedRows,
        i: usize,
        args: &ExplainArgs,
    ) -> anyhow::Result<Vec<RankExplanation>> {
        let against = match args.class.as_deref().map(str::parse::<usize>) {
            None => None,
            Some(Ok(n)) if n > 0 => Some(n - 1),
            Some(_) => bail!("--class: say the number of a document of the query, from 1"),
        };
        Ok(RankModel::explain(self, rows, i, args.token.map(|token| token - 1), against)?)
    }

    fn headline(&self, _: &RankedRows, _: usize, found: &RankExplanation) -> String {
        let verdict = match (found.other, found.other_rank) {
            (Some(other), Some(rank)) => {
                let place = if rank > found.rank { "above" } else { "below" };
                format!(
                    "{place} document {} (rank {rank}) by {}",
                    other + 1,
                    rough(found.lead.abs())
                )
            }
            _ => "the last one".to_owned(),
        };
        format!(
            "query {}, document {} (rank {}, score {}): {verdict}",
            found.query,
            found.document + 1,
            found.rank,
            rough(found.score)
        )
    }

    fn reasons(found: &RankExplanation) -> Vec<Reason> {
        let reason = |reason: &lineal::RankReason| Reason {
            amount: reason.lead,
            what: reason.feature.clone(),
            place: format!("{} against {}", rough(reason.value), rough(reason.other)),
            more: None,
            json: json!(reason),
        };
        found.reasons.iter().map(reason).collect()
    }

    fn explanation_json(&self, _: usize, found: &RankExplanation) -> Value {
        json!({
            "query": found.query,
            "document": found.document + 1,
            "rank": found.rank,
            "score": found.score,
            "against": found.other.map(|other| other + 1),
            "against_rank": found.other_rank,
            "lead": found.lead,
        })
    }
}
