//! Which C and which loss? By cross-validation, along a path of C on which every run starts where the last one ended.
//!
//! A fold is a view: the rows that it holds out have weight 0 in training, where they cost nothing and are not copied; only the rows to measure are, once
//! for each fold. The folds of one C run side by side; nothing depends on how many threads do so. A time budget ends the search: the fits that run when it ends are stopped, and what
//! they reached is not chosen unless there is nothing else.
//!
//! Features of text are made once, of all rows: a held-out row has its say in how rare a word is, but its label in nothing.

mod fold;
mod folds;
mod metric;
mod path;
#[cfg(feature = "structured")]
mod structured;
mod table;

use crate::Error;
use crate::request::spec::{LossKind, Penalty, TrainSpec};
use fold::Fold;
use lineal_data::{Dataset, Targets};
use lineal_solver::Interrupt;
use path::Walk;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::time::Duration;

pub use folds::{Shuffle, folds};
pub use metric::TuneMetric;
pub use path::{OnTrial, stop_at};
#[cfg(feature = "structured")]
pub use structured::{StructuredTuneSpec, StructuredTuned, StructuredTuning};
pub use table::{Choice, Trial, TuneTable};

/// Everything about a search except the data.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneSpec {
    /// Everything that is not searched.
    pub base: TrainSpec,
    /// The values of C, in the order in which they are tried; ascending order is fastest.
    pub cs: Vec<f64>,
    /// The losses.
    pub losses: Vec<LossKind>,
    /// How many folds.
    pub folds: usize,
    /// Whether rows are assigned to folds in a random order, or in the order of the file.
    pub shuffle: Shuffle,
    /// The metric to optimise.
    pub metric: TuneMetric,
}

impl Default for TuneSpec {
    fn default() -> Self {
        Self {
            base: TrainSpec::default(),
            cs: vec![0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0],
            losses: vec![LossKind::Logistic, LossKind::SquaredHinge],
            folds: 5,
            shuffle: Shuffle::Seeded(0),
            metric: TuneMetric::Usual,
        }
    }
}

/// A search over one set of features that is about to start.
///
/// ```
/// use lineal::{ReadOptions, Source, TuneSpec, TuneTable, Tuning, read};
///
/// let text = "1 1:1 3:0.1\n2 2:1 3:0.2\n".repeat(30);
/// let data = read(Source::Memory { name: "a.svm".into(), bytes: text.into() }, &ReadOptions::default())?;
/// let spec = TuneSpec { cs: vec![0.1, 1.0, 10.0], ..TuneSpec::default() };
/// let mut table = TuneTable::default();
/// Tuning::new(&data, &spec).run(&mut table)?;
/// assert_eq!(table.trials.len(), 6);
/// assert_eq!(table.best().map(|t| t.mean), Some(1.0));
/// # Ok::<(), lineal::Error>(())
/// ```
pub struct Tuning<'a> {
    data: &'a Dataset,
    spec: &'a TuneSpec,
    features: String,
    budget: Option<Duration>,
    on_trial: Option<&'a mut OnTrial<'a>>,
}

impl<'a> Tuning<'a> {
    /// A search on this data with this spec.
    pub fn new(data: &'a Dataset, spec: &'a TuneSpec) -> Self {
        Self { data, spec, features: String::new(), budget: None, on_trial: None }
    }

    /// The name of the features in the table.
    pub fn features(mut self, name: impl Into<String>) -> Self {
        self.features = name.into();
        self
    }

    /// Limits the time of the search. A step is not started if, judging by the step before it, it would end too late. A step that takes longer is stopped after its
    /// current pass. The first step always runs.
    pub fn budget(mut self, budget: Option<Duration>) -> Self {
        self.budget = budget;
        self
    }

    /// Call this function after every step.
    pub fn monitor(mut self, on_trial: &'a mut OnTrial<'a>) -> Self {
        self.on_trial = Some(on_trial);
        self
    }

    /// Searches, and adds each trial to the table. Returns `Break` if the budget or the monitor ended the search.
    pub fn run(self, table: &mut TuneTable) -> Result<ControlFlow<()>, Error> {
        let Self { data, spec, features, budget, on_trial } = self;
        check(data, spec)?;
        let assigned = folds(&data.y, data.n_rows(), spec.folds, spec.shuffle)?;
        let x = fold::scaled(data, &spec.base);
        let of = |f: usize| Fold::new(data, &x, &assigned, f, &spec.base);
        let of_loss = |_: &LossKind| (0..spec.folds).map(of).collect::<Result<Vec<_>, _>>();
        let mut all = spec.losses.iter().map(of_loss).collect::<Result<Vec<_>, _>>()?;
        let paths = spec.losses.iter().map(|&loss| (loss, spec.cs.clone())).collect();
        let walk = Walk { features, paths, budget, on_trial };
        walk.run(table, &mut |at, loss, c, deadline| {
            let run = TrainSpec {
                loss: Some(loss),
                penalty: Penalty::C(c),
                calibrate: None,
                validation: 0.0,
                patience: None,
                curve: false,
                ..spec.base.clone()
            };
            let interrupt = Interrupt::current();
            let folds = all[at].par_iter_mut();
            Ok(Some(
                folds
                    .map(|fold| interrupt.scope(|| fold.measure(&run, spec.metric, deadline)))
                    .collect::<Result<_, _>>()?,
            ))
        })
    }
}

/// Refuses values of C that are not positive numbers.
fn check_cs(cs: &[f64]) -> Result<(), Error> {
    match cs.iter().find(|c| !(c.is_finite() && **c > 0.0)) {
        Some(c) => Err(Error::request(format!("spec.cs must be numbers above 0, not {c}"))),
        None => Ok(()),
    }
}

fn check(data: &Dataset, spec: &TuneSpec) -> Result<(), Error> {
    if spec.cs.is_empty() || spec.losses.is_empty() {
        return Err(Error::request("there is nothing to search: give values of C and losses"));
    }
    check_cs(&spec.cs)?;
    spec.metric.check(spec.base.task, data.schema.classes.len())?;
    if spec.metric.needs_proba()
        && let Some(loss) = spec.losses.iter().find(|l| **l != LossKind::Logistic)
    {
        return Err(Error::request(format!(
            "spec.metric = {} needs probabilities, which the {loss} loss does not have; leave it out of spec.losses",
            spec.metric.name(spec.base.task)
        )));
    }
    if spec.base.hard_margin || spec.base.l1 > 0.0 {
        return Err(Error::request("the path is over C: leave out spec.hard_margin and spec.l1"));
    }
    match &data.y {
        Targets::None => Err(Error::request(format!(
            "{}: no labels to learn from (see options.label)",
            data.source
        ))),
        _ => Ok(()),
    }
}
