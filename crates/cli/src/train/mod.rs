//! `lineal train`: read, train, measure, write, in that order, so that wrong data writes nothing.

pub mod json;
pub mod request;
pub mod summary;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::bail;
use lineal::{CurvePoint, Dataset, Features, Metrics, Model, Report, Targets, Task, Training};

use crate::args::TrainArgs;
use crate::exit::{NotConverged, usage};
use crate::progress::Progress;
use crate::talk::Talk;
use crate::{files, html, tag, text};
use request::Request;

/// What a run measured, for the screen, the JSON and the page.
pub struct Outcome {
    pub report: Report,
    pub test: Option<Metrics>,
    pub seconds: Seconds,
    pub model_bytes: u64,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Seconds {
    pub read: f64,
    pub train: f64,
    pub total: f64,
}

/// Runs the command.
pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    if args.task == Task::Tag {
        return tag::train(args);
    }
    if let Some(flag) = args.tag.first() {
        return usage(format!("{flag} is about sequences: add --task tag"));
    }
    if args.stream.is_on() {
        return crate::stream::run(args);
    }
    let mut request = Request::new(args)?;
    request.check_outputs()?;
    lineal::with_threads(args.run.threads, || train(args, &mut request))
}

fn train(args: &TrainArgs, request: &mut Request) -> anyhow::Result<()> {
    let start = Instant::now();
    let talk = Talk::new(args.run.quiet);
    let (data, features) = lineal::read_features(&args.data, &request.options, &request.features)?;
    let read = start.elapsed().as_secs_f64();
    talk.say_all(&summary::data(&data, &features, read));
    text::check(&args.text, &data, &features)?;
    request.meet(args, &data.schema.classes, &features)?;
    let read_labelled = |path: &Path| labelled(path, request, (&data, &features), talk);
    let held_out = request.held_out.as_deref().map(read_labelled).transpose()?;
    let test = args.test.as_deref().map(read_labelled).transpose()?;

    if args.proba.cross_fits() {
        let folds = request.spec.folds;
        talk.say(format_args!(
            "and {folds} more trainings, each without one of {folds} folds, to fit to held-out rows"
        ));
    }
    // What reading left behind.
    lineal::linalg::return_free_pieces();
    let begun = Instant::now();
    let (model, report) = fit(request, (&data, &features), held_out.as_ref(), talk)?;
    let train = begun.elapsed().as_secs_f64();

    let test = test.map(|data| model.evaluate(&data)).transpose()?;
    let model_bytes = write_model(&model, &args.out)?;
    let total = start.elapsed().as_secs_f64();
    let outcome = Outcome { report, test, seconds: Seconds { read, train, total }, model_bytes };
    if let Some(path) = &args.report {
        let page = html::train_page(&model, &outcome);
        files::write_output(Some(path), |out| out.write_all(page.as_bytes()))?;
    }
    talk.say_all(&summary::outcome(&model, &outcome, args));
    if args.json {
        files::json_to_stdout(&json::TrainJson::new(&model, &outcome)?)?;
    }
    if args.require_convergence && !outcome.report.converged {
        return Err(not_converged(&outcome.report, &args.out).into());
    }
    Ok(())
}

/// A file with the training data's columns and classes, and labels.
fn labelled(
    path: &Path,
    request: &Request,
    (data, features): (&Dataset, &Features),
    talk: Talk,
) -> anyhow::Result<Dataset> {
    let other = features.read(path, &request.options_for(path), &data.schema)?;
    if matches!(other.y, Targets::None) {
        bail!("{}: the rows have no labels to compare with; add the label column", other.source);
    }
    other.warnings.iter().for_each(|warning| talk.warn(warning));
    Ok(other)
}

fn fit(
    request: &Request,
    (data, features): (&Dataset, &Features),
    held_out: Option<&Dataset>,
    talk: Talk,
) -> anyhow::Result<(Model, Report)> {
    let progress = Mutex::new(Progress::new(talk, request.n_epochs(), request.spec.task));
    let shown = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let mut watch = |point: &CurvePoint| {
        shown().pass(point);
        ControlFlow::Continue(())
    };
    let mut see_fold = |fold: usize, all: usize| shown().fold(fold, all);
    let mut training = Training::new(data, &request.spec)
        .features(features)
        .monitor(&mut watch)
        .on_fold(&mut see_fold);
    if let Some(held_out) = held_out {
        training = training.held_out(held_out);
    }
    let trained = training.run();
    shown().finish();
    Ok(trained?)
}

/// Writes the model and gives its size; `-` is stdout.
pub fn write_model(model: &Model, path: &Path) -> anyhow::Result<u64> {
    let mut size = 0;
    files::write_output(Some(path), |out| {
        size = model.write_to(out)?;
        Ok(())
    })?;
    Ok(size)
}

fn not_converged(report: &Report, out: &Path) -> NotConverged {
    NotConverged(format!(
        "did not converge: {} after {} passes, and the tolerance was not met; raise --max-passes (or --tol), \
         or choose another --solver. The model was written to {} all the same",
        report.certificate(),
        report.passes,
        out.display()
    ))
}
