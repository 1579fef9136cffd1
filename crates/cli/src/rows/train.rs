//! Training on rows.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::bail;
use lineal::{
    CalibrateKind, ClassEvaluation, Dataset, Evaluation, Features, Metrics, Model, Report, Source,
    Strategy, Targets, Task, Threshold, TrainSpec, Training,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::details::importance;
use super::request::{self, RowOptions};
use super::{advice, eval, guess, inspect, summary};
use crate::args::TrainArgs;
use crate::talk::Talk;
use crate::text;
use crate::train::request::Request;
use crate::train::{SharedProgress, Trainable};
use std::ops::ControlFlow;

/// Rows, and how their text was read.
pub struct Rows {
    pub data: Dataset,
    pub features: Features,
}

impl Trainable for Model {
    type Data = Rows;
    type Options = RowOptions;
    type Metrics = Metrics;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<RowOptions>> {
        request::request(args)
    }

    fn read(
        source: Source,
        args: &TrainArgs,
        request: &mut Request<RowOptions>,
        talk: &mut dyn FnMut(Vec<String>),
    ) -> anyhow::Result<Rows> {
        let start = Instant::now();
        let (source, guessed) = guess_task(source, args, request)?;
        if let Some(args) = &guessed {
            *request = request::request(args)?;
        }
        let args = guessed.as_ref().unwrap_or(args);
        let options = &request.options;
        let (data, features) = lineal::read_features(source, &options.read, &options.features)?;
        talk(summary::data(&data, &features, start.elapsed().as_secs_f64()));
        if args.task == Task::Classify {
            talk(advice::lines(&data));
        }
        text::check(&args.text, &data, &features)?;
        request::complete(request, args, &data.schema.classes, &features)?;
        let has_folds = data.n_rows() / 2 >= request.spec.folds;
        let is_asked = request.spec.enough_held_out.is_none();
        if request::cross_fits(&request.spec) && (has_folds || is_asked) {
            talk(vec![cross_fitting(&request.spec, data.n_rows())]);
        }
        Ok(Rows { data, features })
    }

    fn labelled(
        source: Source,
        request: &Request<RowOptions>,
        rows: &Rows,
        talk: Talk,
    ) -> anyhow::Result<Rows> {
        let read = &request.options.read;
        let format = request.format_of(&source.name(), read.format);
        let options =
            lineal::ReadOptions { format, labels_file: None, only_labelled: true, ..read.clone() };
        let data = rows.features.read(source, &options, &rows.data.schema)?;
        if matches!(data.y, Targets::None) {
            bail!("{}: the rows have no labels to compare with; add the label column", data.source);
        }
        data.warnings.iter().for_each(|warning| talk.warn(warning));
        Ok(Rows { data, features: Features::default() })
    }

    fn fit(
        request: &Request<RowOptions>,
        rows: &Rows,
        held_out: Option<&Rows>,
        shown: &SharedProgress,
    ) -> anyhow::Result<(Self, Report)> {
        let mut watch = |point: &lineal::CurvePoint| shown.pass(point);
        let mut see_fold = |fold: usize, all: usize| {
            shown.fold(fold, all);
            ControlFlow::Continue(())
        };
        let mut training = Training::new(&rows.data, &request.spec)
            .features(&rows.features)
            .monitor(&mut watch)
            .on_fold(&mut see_fold);
        if let Some(held_out) = held_out {
            training = training.held_out(&held_out.data);
        }
        Ok(training.run()?)
    }

    fn evaluate(&self, rows: &Rows) -> anyhow::Result<Metrics> {
        Ok(Model::evaluate(self, &rows.data)?)
    }

    fn evaluation(&self, rows: &Rows, metrics: &Metrics) -> anyhow::Result<Evaluation> {
        let mut kept = Evaluation::new(&rows.data.source, &eval::json(metrics)?);
        if let Metrics::Classify(metrics) = metrics {
            let curves = self.threshold_curves(&rows.data)?;
            kept.classes = Some(ClassEvaluation::new(metrics, self.has_proba(), curves));
        }
        Ok(kept)
    }

    fn keep_evaluation(&mut self, evaluation: Evaluation) {
        Model::keep_evaluation(self, evaluation);
    }

    fn page_sections(&self) -> Vec<String> {
        vec![crate::html::importance(&importance(self), self.classes())]
    }

    fn source(rows: &Rows) -> &str {
        &rows.data.source
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<u64> {
        Model::write_to(self, out)
    }

    fn n_weights(&self) -> usize {
        self.nonzeros()
    }

    fn main_metric(metrics: &Metrics) -> (&'static str, f64) {
        match metrics {
            Metrics::Classify(m) => ("accuracy", m.accuracy),
            Metrics::Multilabel(m) => ("micro F1", m.micro_f1),
            Metrics::Regress(m) => ("rmse", m.rmse),
        }
    }

    fn one_line(metrics: &Metrics) -> String {
        eval::one_line(metrics)
    }

    fn warning(&self, metrics: &Metrics) -> Option<String> {
        eval::never_predicted(metrics, self.classes())
    }

    fn metric_rows(metrics: &Metrics) -> Vec<(&'static str, String)> {
        eval::rows(metrics)
    }

    fn metrics_json(metrics: &Metrics) -> anyhow::Result<Value> {
        eval::json(metrics)
    }

    fn lines_about(&self, report: &Report) -> [Vec<String>; 2] {
        let told = |facts: Vec<(&str, String)>| {
            facts.into_iter().map(|(name, value)| format!("{name}: {value}")).collect()
        };
        let shape =
            if report.strategy == Strategy::Joint { Vec::new() } else { inspect::shape(report) };
        [told(shape), told(inspect::fitted(self))]
    }

    fn more_json(&self) -> Vec<(&'static str, Value)> {
        let mut more = vec![("calibration", json!(CalibrationJson::of(self)))];
        if self.task() == Task::Multilabel || self.spec().threshold != Threshold::Half {
            more.push(("threshold", json!(self.spec().threshold.of_task(self.task()))));
        }
        more
    }

    fn nouns() -> [&'static str; 3] {
        ["rows", "features", "classes"]
    }
}

/// What is fitted to held-out rows, and what that takes.
fn cross_fitting(spec: &TrainSpec, n_rows: usize) -> String {
    let n_fits = lineal::folds_to_fit(spec, n_rows);
    let folds = spec.folds;
    let what = match (spec.calibrate, spec.threshold.is_tuned()) {
        (Some(_), true) => "probabilities and thresholds",
        (Some(_), false) => "probabilities",
        (None, _) => "thresholds",
    };
    let without = match n_fits {
        1 => format!("once more, without one of {folds} folds"),
        _ => format!("{n_fits} more times, each time without one of {folds} folds"),
    };
    format!("training {without}, to fit {what} to held-out rows")
}

/// If no flag names the task and the labels look like numbers, the flags for `--task regress`; what comes once is kept
/// for another look.
fn guess_task(
    source: Source,
    args: &TrainArgs,
    request: &Request<RowOptions>,
) -> anyhow::Result<(Source, Option<TrainArgs>)> {
    if !guess::is_open(args) {
        return Ok((source, None));
    }
    let source = source.kept()?;
    let task = guess::task(&source, &request.options.read, Talk::new(args.run.quiet));
    Ok((source, task.map(|task| TrainArgs { task, ..args.clone() })))
}

/// The map from scores to probabilities.
#[derive(Serialize)]
pub struct CalibrationJson {
    kind: CalibrateKind,
    folds: usize,
}

impl CalibrationJson {
    pub fn of(model: &Model) -> Option<Self> {
        let spec = model.spec();
        spec.calibrate.map(|kind| Self { kind, folds: spec.folds })
    }
}
