//! `lineal train --stream`: rows are judged and learnt from as they go by.

mod json;
mod progress;
mod request;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use lineal::{Metrics, Model, Source, StreamPoint, StreamReport, Streaming, Targets, Task};

use crate::args::TrainArgs;
use crate::exit::Interrupted;
use crate::rows::{eval, guess};
use crate::talk::{Talk, bytes, count, seconds};
use crate::train::write_model;
use crate::{files, interrupt};
use progress::Progress;
use request::Request;

/// What a run over a stream found.
pub struct Outcome {
    pub report: StreamReport,
    pub test: Option<Metrics>,
    pub train_seconds: f64,
    pub total_seconds: f64,
    pub model_bytes: u64,
}

/// Runs the command.
pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    let source = Source::from(&args.data).kept()?;
    let guessed = guessed(args, &source);
    let args = guessed.as_ref().unwrap_or(args);
    let request = Request::new(args)?;
    interrupt::defer();
    lineal::with_threads(args.run.threads, || learn(args, source, &request))
}

/// The flags for regression, if no flag names the task and the labels look like numbers.
fn guessed(args: &TrainArgs, source: &Source) -> Option<TrainArgs> {
    if !guess::is_open(args) || args.stream.resume.is_some() {
        return None;
    }
    let options = args.file.learning(&args.columns, &args.text, args.task.target());
    let task = guess::task(source, &options, Talk::new(args.run.quiet));
    task.map(|task| TrainArgs { task, ..args.clone() })
}

fn learn(args: &TrainArgs, source: Source, request: &Request) -> anyhow::Result<()> {
    let begun = Instant::now();
    let talk = Talk::new(args.run.quiet);
    let resumed = args.stream.resume.as_deref().map(Model::load).transpose()?;
    if let Some(model) = &resumed {
        request.check_resumed(model)?;
    }
    let task = resumed.as_ref().map_or(args.task, Model::task);
    let mut progress = Progress::new(talk, task);
    let mut see = |point: &StreamPoint| {
        progress.chunk(point);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut save = |model: &Model| match args.out.as_os_str() == "-" {
        true => Ok(()),
        false => model.save(&args.out).map(|_| ()),
    };
    let every = Duration::from_secs_f64(args.stream.checkpoint.unwrap_or(60.0).min(1e9));
    let streaming = match resumed {
        Some(model) => Streaming::resume(model, source, &request.options),
        None => Streaming::new(source, &request.options, &request.spec),
    };
    let streaming = streaming
        .features(&request.features)
        .passes(args.epochs.unwrap_or(1))
        .checkpoint(every, &mut save)
        .monitor(&mut see);
    let done = streaming.run();
    progress.finish();
    let (model, report) = done?;
    let train_seconds = begun.elapsed().as_secs_f64();
    report.warnings.iter().for_each(|warning| talk.warn(warning));
    talk.say_all(&summary(&model, &report));
    let model_bytes = write_model(&model, &args.out)?;
    if report.interrupted {
        return Err(interrupted(args, &report).into());
    }
    let test = test(args, request, &model, talk)?;
    let total_seconds = begun.elapsed().as_secs_f64();
    let outcome = Outcome { report, test, train_seconds, total_seconds, model_bytes };
    if let (Some(test), Some(path)) = (&outcome.test, &args.test) {
        talk.say(format_args!("{}: {}", path.display(), eval::one_line(test)));
    }
    talk.say(format_args!(
        "wrote {} ({}) in {}",
        args.out.display(),
        bytes(model_bytes),
        seconds(total_seconds)
    ));
    if args.json {
        files::json_to_stdout(&json::object(&model, &outcome)?)?;
    }
    Ok(())
}

fn interrupted(args: &TrainArgs, report: &StreamReport) -> Interrupted {
    let out = args.out.display();
    Interrupted(format!(
        "interrupted after {}: what was learnt is in {out}; `lineal train {} -o {out} --resume {out}` goes on",
        count(report.rows as usize, "row"),
        args.data.display()
    ))
}

fn test(
    args: &TrainArgs,
    request: &Request,
    model: &Model,
    talk: Talk,
) -> anyhow::Result<Option<Metrics>> {
    let Some(path) = &args.test else { return Ok(None) };
    let data = model.read(path, &request.options_for(path))?;
    data.warnings.iter().for_each(|warning| talk.warn(warning));
    if matches!(data.y, Targets::None) {
        anyhow::bail!(
            "{}: the rows have no labels to compare with; add the label column",
            data.source
        );
    }
    Ok(Some(model.evaluate(&data)?))
}

fn summary(model: &Model, report: &StreamReport) -> Vec<String> {
    let stream = model.stream_spec();
    let update = stream.and_then(|spec| spec.update).map_or("", |update| update.as_str());
    let classes = match model.task() {
        Task::Classify => format!(", {}", count(model.classes().len(), "class")),
        Task::Multilabel => format!(", {}", count(model.classes().len(), "label")),
        _ => String::new(),
    };
    let mut lines = vec![format!(
        "{} loss by {update} updates: {}, {}{classes}, {}",
        model.report().loss,
        count(report.rows as usize, "row"),
        count(model.n_features(), "feature"),
        count(report.passes.len(), "pass"),
    )];
    if let Some(first) = report.passes.first() {
        lines.push(format!(
            "on rows it had not learnt from: {}",
            progress::measured(first, model.task())
        ));
    }
    if !report.new_classes.is_empty() {
        let shown: Vec<&str> = report.new_classes.iter().take(10).map(String::as_str).collect();
        let more = if report.new_classes.len() > shown.len() { ", …" } else { "" };
        lines.push(format!("new on the way: {}{more}", shown.join(", ")));
    }
    lines
}
