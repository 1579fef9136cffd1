//! From a spec and graded documents to a certified ranking.

use super::model::RankModel;
use super::spec::{Outputs, RankKind, RankSpec};
use crate::features::{FeatureSpec, Features, read_features};
use crate::predict::layout::Layout;
use crate::predict::model::{Body, Model, Provenance};
use crate::request::spec::{LossKind, ScheduleKind, Task, TrainSpec};
use crate::structured::{Counts, Examples, Learning, Metric, fit, train_and_held_out};
use crate::train::prepare::scaling;
use crate::train::report::{Report, StructuredReport};
use crate::train::weights::Weights;
use crate::train::{Trainable, Training, summary};
use crate::{Error, ReadOptions};
use lineal_data::{Dataset, Queries as Names, Source, Standardizer, TargetKind, Targets};
use lineal_erm::structured::{Loss, Solver, Update, learn, learn_max};
use lineal_linalg::{Matrix, kernels};
use lineal_metrics::{RankedQueries, RankingOptions, ranking};
use lineal_model::Bias;
use lineal_model::structure::Structure;
use lineal_ranking::{Queries, Ranking};
use lineal_solver::Schedule;
use std::borrow::Cow;

/// Documents by query, and the features that were made of their text.
#[derive(Clone, Debug)]
pub struct RankedRows {
    /// The documents: grades are numbers, and queries are known.
    pub data: Dataset,
    /// For a model to keep; none for data that a model reads.
    pub features: Features,
}

/// How ranking data is read: LETOR, SVMrank, or tables with a column of queries.
pub fn rank_options() -> ReadOptions {
    ReadOptions { target: TargetKind::Grades, ..ReadOptions::default() }
}

/// Reads documents and learns their schema; options begin as [`rank_options`].
pub fn read_ranking(
    source: impl Into<Source>,
    options: &ReadOptions,
    features: &FeatureSpec,
) -> Result<RankedRows, Error> {
    let (data, features) = read_features(source, options, features)?;
    Ok(RankedRows { data, features })
}

impl Examples for RankedRows {
    fn n_examples(&self) -> usize {
        self.data.queries.as_ref().map_or(0, Names::len)
    }

    fn source(&self) -> &str {
        &self.data.source
    }

    fn select(&self, which: &[usize]) -> Self {
        Self { data: self.data.select_queries(which), features: self.features.clone() }
    }

    fn n_parts(&self, example: usize) -> usize {
        self.data.queries.as_ref().map_or(0, |queries| queries.rows(example).len())
    }
}

impl RankedRows {
    /// The queries and the grade of each document.
    pub(super) fn graded(&self) -> Result<(&Names, &[f64]), Error> {
        let Targets::Real(grades) = &self.data.y else {
            return Err(Error::request(format!(
                "{}: the documents have no grades to compare with (see options.label)",
                self.data.source
            )));
        };
        Ok((self.queries()?, grades))
    }

    pub(super) fn queries(&self) -> Result<&Names, Error> {
        let none = || Error::request(format!("{}: the rows are not of queries", self.data.source));
        self.data.queries.as_ref().ok_or_else(none)
    }
}

impl From<RankSpec> for TrainSpec {
    /// Ranking with these choices and the defaults of everything else.
    fn from(rank: RankSpec) -> Self {
        Self { penalty: rank.penalty(), rank, ..Self::for_task(Task::Rank) }
    }
}

impl Trainable for RankedRows {
    type Model = RankModel;

    fn is_for(task: Task) -> bool {
        task == Task::Rank
    }

    fn train(run: Training<'_, Self>) -> Result<(RankModel, Report), Error> {
        let Training { data, spec, held_out, start, on_pass, .. } = run;
        let spec = &check(spec)?;
        if data.features.n_computed() != data.data.schema.n_computed {
            return Err(Error::request(format!(
                "{}: documents have {} features made of text, but the features given make {}; train on what read_ranking returned",
                data.data.source,
                data.data.schema.n_computed,
                data.features.n_computed()
            )));
        }
        let (rows, held_out) = train_and_held_out(data, held_out, spec)?;
        let (names, grades) = rows.graded()?;
        let grades: Vec<f32> = grades.iter().map(|&grade| grade as f32).collect();
        let dense = rows.data.x.densified(usize::MAX);
        let mut x = dense.map_or(Cow::Borrowed(&rows.data.x), Cow::Owned);
        let scaling = scaling(&x, &rows.data.schema, None, spec).map(|mut scaling| {
            // A constant in every document changes no order.
            scaling.mean = None;
            scaling.apply(x.to_mut());
            scaling
        });
        let ends = &names.start()[1..];
        let weights = rows.data.query_weights();
        let mut queries = Queries::new(&x, ends, &grades)?;
        if let Some(weights) = &weights {
            queries = queries.with_weights(weights)?;
        }
        let start = start.map(|old| old.start(&rows.data, scaling.as_ref())).transpose()?;
        let metric = held_out.as_deref().map(|held| held.metric(scaling.as_ref())).transpose()?;
        let squared = spec.loss == Some(LossKind::SquaredHinge);
        let (learning, mut run, pairs) = match spec.rank.outputs(squared) {
            Outputs::Decisions(decisions) => {
                let problem = Ranking::new(queries, decisions, spec.rank.normalise());
                let n = problem.n_decisions();
                let learning = learning(spec, problem.total_weight(), &rows)?
                    .with_steps_of(|| Structure::<f32>::size(&problem, 0));
                if let Some(why) = decisions.refuses_argmax().filter(|_| learning.needs_argmax()) {
                    return Err(Error::request(why));
                }
                let run = fit(spec, on_pass, metric, |see| {
                    Ok(learn(&problem, &learning.request, start.as_deref(), see)?)
                })?;
                (learning, run, n)
            }
            Outputs::Orders(orders) => {
                let problem = Ranking::new(queries, orders, spec.rank.normalise());
                let n = problem.n_decisions();
                let learning = learning(spec, problem.total_weight(), &rows)?
                    .with_steps_of(|| Structure::<f32>::size(&problem, 0));
                let run = fit(spec, on_pass, metric, |see| {
                    Ok(learn_max(&problem, &learning.request, start.as_deref(), see)?)
                })?;
                (learning, run, n)
            }
        };

        let mut weights = Weights::F32(std::mem::take(&mut run.w));
        if let Some(scaling) = &scaling {
            weights = summary::unscale(weights, scaling, 1);
        }
        let structured = StructuredReport {
            tokens: rows.data.n_rows(),
            weights: rows.data.x.n_cols(),
            decisions: pairs as u64,
            ..StructuredReport::default()
        };
        let counts = Counts { examples: names.len(), features: rows.data.x.n_cols(), classes: 0 };
        let report = run.report(spec, &learning, counts, structured);
        let body = Body { weights, layout: Layout::Joint, tree: None };
        let model = Model::new(
            body,
            spec.clone(),
            rows.data.schema.clone(),
            data.features.clone(),
            &report,
            Provenance::of(&rows.data.source),
        )?;
        Ok((RankModel::new(model), report))
    }
}

/// The request to the learners; a penalty in the form of C counts decisions, as a linear SVM over explicit pairs would.
fn learning(spec: &TrainSpec, total_weight: f64, rows: &RankedRows) -> Result<Learning, Error> {
    if total_weight <= 0.0 {
        return Err(Error::request(format!(
            "{}: no query has documents of different grades, so that there is nothing to learn",
            rows.data.source
        )));
    }
    match spec.loss {
        // A smooth loss, learnt as the logistic one is.
        Some(LossKind::SquaredHinge) => {
            let logistic = TrainSpec { loss: Some(LossKind::Logistic), ..spec.clone() };
            Ok(Learning { loss: LossKind::SquaredHinge, ..logistic.learning(total_weight)? })
        }
        _ => spec.learning(total_weight),
    }
}

impl Learning {
    /// Stochastic steps of the hinge by a rate that falls, unless a schedule is asked for: those of Pegasos, 1/(l2·t), take thousands of passes to come back where l2 is as small as for many pairs.
    fn with_steps_of(mut self, size: impl FnOnce() -> usize) -> Self {
        let request = &mut self.request;
        let steps = request.solver == Solver::Sgd && request.update == Update::Gradient;
        if steps && request.loss == Loss::Hinge && request.schedule.is_none() {
            request.schedule = Some(Schedule::Inverse);
            request.rate.get_or_insert_with(|| (10.0 / size().max(1) as f64).min(0.1));
        }
        self
    }
}

/// Sees that the choices fit each other, and makes those that were left open.
fn check(spec: &TrainSpec) -> Result<TrainSpec, Error> {
    let kind = spec.rank.kind;
    let is_order = matches!(kind, RankKind::Ndcg | RankKind::Map);
    let loss = spec.loss.unwrap_or(match kind {
        RankKind::Pairs => LossKind::SquaredHinge,
        RankKind::Softmax | RankKind::PlackettLuce => LossKind::Logistic,
        RankKind::Ndcg | RankKind::Map => LossKind::Hinge,
    });
    let refuse = |why: String| Err(Error::Request(why));
    match loss {
        LossKind::SquaredHinge if kind != RankKind::Pairs => {
            return refuse(format!(
                "spec.loss = squared-hinge is for pairs: leave out spec.rank.kind = {kind}, or choose spec.loss = hinge"
            ));
        }
        LossKind::Logistic if is_order => {
            return refuse(format!(
                "spec.rank.kind = {kind} has no sum over all orders, and so no logistic loss: choose spec.loss = hinge, or spec.rank.kind = pairs, softmax or plackett-luce"
            ));
        }
        LossKind::Squared | LossKind::Huber | LossKind::Epsilon => {
            return refuse(format!(
                "spec.loss = {loss} is for numbers; spec.task = rank has hinge, squared-hinge, logistic and perceptron"
            ));
        }
        _ => {}
    }
    let pegasos = spec.sgd.schedule == Some(ScheduleKind::Pegasos);
    if pegasos && loss == LossKind::SquaredHinge {
        return refuse(
            "spec.sgd.schedule = pegasos takes steps of 1/(l2·t), too long for spec.loss = squared-hinge, whose slope is not bounded: choose spec.sgd.schedule = inverse, or spec.loss = hinge"
                .into(),
        );
    }
    if spec.cost.is_some() {
        return refuse("spec.cost is between classes, and a ranking has none: leave it out".into());
    }
    if spec.rank.at == Some(0) {
        return refuse("spec.rank.at counts ranks: give 1 or more".into());
    }
    if spec.rank.at.is_some() && kind != RankKind::Ndcg {
        return refuse(
            "spec.rank.at is of spec.rank.kind = ndcg: add that, or leave it out".into(),
        );
    }
    Ok(TrainSpec { loss: Some(loss), bias: Bias::None, ..spec.clone() })
}

impl RankedRows {
    /// NDCG@10 over queries with a relevant document.
    fn metric(&self, scaling: Option<&Standardizer>) -> Result<Metric<'_>, Error> {
        let (queries, grades) = self.graded()?;
        let mut x = Cow::Borrowed(&self.data.x);
        if let Some(scaling) = scaling {
            scaling.apply(x.to_mut());
        }
        if !grades.iter().any(|grade| *grade > 0.0) {
            return Err(Error::request(format!(
                "{}: none of the {} held-out queries has a relevant document (a grade above 0); hold out more",
                self.data.source,
                queries.len()
            )));
        }
        let options = RankingOptions { cutoffs: vec![10], ..RankingOptions::default() };
        Ok(Box::new(move |w| {
            let scores = scores(&x, w);
            let ranked = RankedQueries { start: queries.start(), grades, scores: &scores };
            let found = ranking(&ranked, &options)?;
            Ok(found.with_relevant.map_or(0.0, |means| means.ndcg_at[&10]))
        }))
    }
}

fn scores(x: &Matrix, w: &[f32]) -> Vec<f64> {
    (0..x.n_rows()).map(|i| f64::from(kernels::dot(x.row(i), w))).collect()
}
