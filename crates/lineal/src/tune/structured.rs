//! The search for models with structured outputs: folds of whole examples, the same walk along C.
//!
//! What is minimised starts, along C, from the weights of the run before on the same fold; updates that minimise nothing (passive–aggressive) start anew, as where they end depends on
//! where they began. A learner that the structure has no oracle for, or that what else is asked for excludes, is left out with the reason.

use super::check_cs;
use super::folds::{Shuffle, plain_folds};
use super::path::{Measured, OnTrial, Walk, stop_at};
use super::table::TuneTable;
use crate::Error;
use crate::request::spec::TrainSpec;
use crate::structured::{Examples, Learner, StructuredModel};
use crate::train::Training;
use crate::train::report::Report;
use lineal_solver::Interrupt;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Everything about a search over learners of structures except the data.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredTuneSpec {
    /// Everything that is not searched.
    pub base: TrainSpec,
    /// The values of C, in the order of the path; empty for those around each learner's usual one.
    pub cs: Vec<f64>,
    /// The learners; empty for the usual ones of the task.
    pub learners: Vec<Learner>,
    /// How many folds.
    pub folds: usize,
    /// Whether examples are dealt to folds in a random order, or as they come.
    pub shuffle: Shuffle,
    /// What counts, one of the model's [`METRICS`](StructuredModel::METRICS): by default the first that every fold has.
    pub metric: Option<String>,
}

impl StructuredTuneSpec {
    /// The usual search around a spec.
    pub fn new(base: TrainSpec) -> Self {
        let shuffle = Shuffle::Seeded(base.seed);
        Self { base, cs: Vec::new(), learners: Vec::new(), folds: 5, shuffle, metric: None }
    }

    /// The learners with their values of C.
    pub fn paths(&self) -> Vec<(Learner, Vec<f64>)> {
        let learners = match self.learners.as_slice() {
            [] => Learner::usual(&self.base),
            named => named.to_vec(),
        };
        let path = |learner: Learner| match self.cs.is_empty() {
            true => learner.path(&self.base),
            false => self.cs.clone(),
        };
        learners.into_iter().map(|learner| (learner, path(learner))).collect()
    }
}

/// What a search over learners of structures found.
#[derive(Clone, Debug)]
pub struct StructuredTuned {
    /// What was measured.
    pub table: TuneTable<Learner>,
    /// By which metric.
    pub metric: &'static str,
    /// Learners that were left out, and why.
    pub refused: Vec<(Learner, String)>,
}

/// A model of some data.
type ModelOf<D> = <D as crate::train::Trainable>::Model;
/// How a model is trained: on data, as the spec says, from an earlier model, until some time (see [`stop_at`](crate::stop_at)).
type Train<'a, D> = dyn Fn(&D, &TrainSpec, Option<&ModelOf<D>>, Option<Instant>) -> Result<(ModelOf<D>, Report), Error>
    + Sync
    + 'a;

/// A search over one set of examples that is about to start.
///
/// ```
/// use lineal::{FeatureSpec, RankSpec, Source, StructuredTuneSpec, StructuredTuning, TrainSpec};
///
/// let lines = |q| format!("1 qid:{q} 1:1 2:0.5\n0 qid:{q} 1:0.2 2:0.4\n");
/// let text: String = (1..=20).map(lines).collect();
/// let source = Source::Memory { name: "a.letor".into(), bytes: text.into() };
/// let data = lineal::read_ranking(source, &lineal::rank_options(), &FeatureSpec::default())?;
/// let spec = StructuredTuneSpec::new(TrainSpec::from(RankSpec::default()));
/// let found = StructuredTuning::new(&data, &spec).run()?;
/// assert_eq!(found.metric, "ndcg@10");
/// assert_eq!(found.table.best().map(|trial| trial.mean), Some(1.0));
/// # Ok::<(), lineal::Error>(())
/// ```
pub struct StructuredTuning<'a, D: Examples> {
    data: &'a D,
    spec: &'a StructuredTuneSpec,
    budget: Option<Duration>,
    on_trial: Option<&'a mut OnTrial<'a, Learner>>,
}

impl<'a, D> StructuredTuning<'a, D>
where
    D: Examples,
    D::Model: StructuredModel<Data = D>,
{
    /// This data, this spec.
    pub fn new(data: &'a D, spec: &'a StructuredTuneSpec) -> Self {
        Self { data, spec, budget: None, on_trial: None }
    }

    /// No step begins that would, by the length of the one before it, end after so much time, and one that runs longer is stopped after the
    /// pass that it is in. The first always runs.
    pub fn budget(mut self, budget: Option<Duration>) -> Self {
        self.budget = budget;
        self
    }

    /// Be called after every step.
    pub fn monitor(mut self, on_trial: &'a mut OnTrial<'a, Learner>) -> Self {
        self.on_trial = Some(on_trial);
        self
    }

    /// Searches.
    pub fn run(self) -> Result<StructuredTuned, Error> {
        self.run_with(&|data, spec, start, deadline| {
            let mut stop = stop_at(deadline);
            let mut training = Training::new(data, spec).monitor(&mut stop);
            if let Some(start) = start {
                training = training.start_from(start);
            }
            training.run()
        })
    }

    /// Searches with training runs that need more than data and spec.
    pub fn run_with(self, train: &Train<'_, D>) -> Result<StructuredTuned, Error> {
        let Self { data, spec, budget, on_trial } = self;
        let names = <D::Model as StructuredModel>::METRICS;
        let mut metric = spec.metric.as_deref().map(place::<D::Model>).transpose()?;
        let paths = spec.paths();
        check(&paths)?;
        let assigned = plain_folds(data.n_examples(), spec.folds, spec.shuffle)?;
        let part = |fold: usize| {
            let (held, kept): (Vec<usize>, Vec<usize>) =
                (0..data.n_examples()).partition(|&i| assigned[i] as usize == fold);
            (data.select(&kept), data.select(&held))
        };
        let parts: Vec<(D, D)> = (0..spec.folds).map(part).collect();
        let mut before: Vec<Vec<Option<D::Model>>> =
            paths.iter().map(|_| parts.iter().map(|_| None).collect()).collect();
        let mut refused: Vec<(Learner, String)> = Vec::new();
        let mut table = TuneTable::default();
        let base = TrainSpec { validation: 0.0, patience: None, curve: false, ..spec.base.clone() };
        let walk = Walk { features: String::new(), paths, budget, on_trial };
        // The end of the budget is told by the table.
        let _ = walk.run(&mut table, &mut |at, learner, c, deadline| {
            let run = learner.spec(&base, Some(c));
            let interrupt = Interrupt::current();
            let folds = parts.par_iter().zip(&mut before[at]).map(|((kept, held), before)| {
                let trained = interrupt.scope(|| train(kept, &run, before.as_ref(), deadline));
                let (model, report) = trained?;
                let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                let values = D::Model::metric_values(&model.evaluate(held)?)?;
                *before = run.n_epochs().is_none().then_some(model);
                Ok((values, report, is_late))
            });
            let found: Vec<(Vec<Option<f64>>, Report, bool)> = match folds.collect::<Result<_, _>>()
            {
                Ok(found) => found,
                Err(Error::Request(why)) => {
                    refused.push((learner, why));
                    return Ok(None);
                }
                Err(other) => return Err(other),
            };
            let is_known = |m: &usize| found.iter().all(|(values, ..)| values[*m].is_some());
            let m = *metric.get_or_insert_with(|| (0..names.len()).find(is_known).unwrap_or(0));
            let measured = |(values, report, is_late): (Vec<Option<f64>>, Report, bool)| Measured {
                score: values[m].unwrap_or(f64::NAN),
                passes: report.passes,
                converged: report.converged,
                interrupted: is_late && !report.converged,
            };
            Ok(Some(found.into_iter().map(measured).collect()))
        })?;
        match (table.trials.is_empty(), refused.first()) {
            (true, Some((_, why))) => Err(Error::Request(why.clone())),
            _ => Ok(StructuredTuned { table, metric: names[metric.unwrap_or(0)], refused }),
        }
    }
}

/// The place of a metric among those of a model.
fn place<M: StructuredModel>(name: &str) -> Result<usize, Error> {
    let found = M::METRICS.iter().position(|metric| *metric == name);
    found.ok_or_else(|| {
        let names = M::METRICS.join(", ");
        Error::request(format!(
            "spec.metric = {name} is not available for this task: choose one of {names}"
        ))
    })
}

fn check(paths: &[(Learner, Vec<f64>)]) -> Result<(), Error> {
    if paths.iter().any(|(learner, _)| *learner == Learner::Perceptron) {
        return Err(Error::request(
            "the perceptron has no C to search; leave it out of spec.losses, or use `lineal compare`",
        ));
    }
    paths.iter().try_for_each(|(_, cs)| check_cs(cs))
}
