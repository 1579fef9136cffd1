//! `lineal train`: read, train, measure, write, in that order, so that wrong data writes nothing. One path for every task.

pub mod flags;
mod json;
mod outcome;
pub mod request;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use lineal::{CurvePoint, Evaluation, Model, Report, Source};
use serde_json::Value;

use crate::args::TrainArgs;
use crate::exit::NotConverged;
use crate::program::Program;
use crate::program::with_task;
use crate::progress::Progress;
use crate::talk::Talk;
use crate::{files, html, interrupt, stream};

pub use outcome::{Outcome, Seconds, lines as outcome_lines};
pub use request::Request;

/// A model that `train` can make: what its task brings to the command.
pub trait Trainable: Program {
    /// What is read.
    type Data;
    /// How it is read.
    type Options;
    /// What is measured.
    type Metrics;

    /// What the flags ask for, checked against one another.
    fn request(args: &TrainArgs) -> anyhow::Result<Request<Self::Options>>;

    /// Reads the training data, says how it was understood, and completes the request with what depends on the data.
    fn read(
        source: Source,
        args: &TrainArgs,
        request: &mut Request<Self::Options>,
        talk: &mut dyn FnMut(Vec<String>),
    ) -> anyhow::Result<Self::Data>;

    /// Reads a file with the training data's columns and classes, and labels.
    fn labelled(
        source: Source,
        request: &Request<Self::Options>,
        data: &Self::Data,
        talk: Talk,
    ) -> anyhow::Result<Self::Data>;

    /// Trains.
    fn fit(
        request: &Request<Self::Options>,
        data: &Self::Data,
        held_out: Option<&Self::Data>,
        progress: &SharedProgress,
    ) -> anyhow::Result<(Self, Report)>;

    /// Compares with the labels of the data.
    fn evaluate(&self, data: &Self::Data) -> anyhow::Result<Self::Metrics>;

    /// More for the page of a training run, as HTML.
    fn page_sections(&self) -> Vec<String> {
        Vec::new()
    }

    /// The name of the data, for messages.
    fn source(data: &Self::Data) -> &str;

    /// Writes the bytes of the model's file, and gives their number.
    fn write_to(&self, out: &mut dyn Write) -> io::Result<u64>;

    /// A model in at most so many bytes, and how many weights it has; none for tasks without `--max-size`.
    fn shrink(&self, max_bytes: u64) -> anyhow::Result<Option<Self>> {
        let _ = max_bytes;
        Ok(None)
    }

    /// How many weights are stored.
    fn n_weights(&self) -> usize;

    /// The one number to watch, with its name.
    fn main_metric(metrics: &Self::Metrics) -> (&'static str, f64);
    /// The few numbers to say in a sentence.
    fn one_line(metrics: &Self::Metrics) -> String;
    /// What the metrics give reason to doubt, in a sentence.
    fn warning(&self, metrics: &Self::Metrics) -> Option<String> {
        let _ = metrics;
        None
    }
    /// All metrics as name and value.
    fn metric_rows(metrics: &Self::Metrics) -> Vec<(&'static str, String)>;
    /// How the model does on data that has these metrics, as its file keeps it.
    fn evaluation(&self, data: &Self::Data, metrics: &Self::Metrics) -> anyhow::Result<Evaluation> {
        Ok(Evaluation::new(Self::source(data), &Self::metrics_json(metrics)?))
    }
    /// From now on its file says so.
    fn keep_evaluation(&mut self, evaluation: Evaluation);
    /// The metrics as `eval --json` names them.
    fn metrics_json(metrics: &Self::Metrics) -> anyhow::Result<Value>;

    /// What to say of the model before the certificate, and after it.
    fn lines_about(&self, report: &Report) -> [Vec<String>; 2];
    /// What `train --json` has besides the keys of every task.
    fn more_json(&self) -> Vec<(&'static str, Value)>;
    /// What is shown beside the new model: runs of the same request another way. `others` are the examples to watch and those to test with.
    fn alternatives(
        &self,
        args: &TrainArgs,
        data: &Self::Data,
        others: [Option<&Self::Data>; 2],
        train_seconds: f64,
    ) -> anyhow::Result<Option<Alternatives>> {
        let _ = (args, data, others, train_seconds);
        Ok(None)
    }
    /// What the parts of an example are called on the report's page.
    fn parts() -> &'static str {
        "rows"
    }
    /// The large numbers of the report's page: what the examples, features and classes of the task are called.
    fn nouns() -> [&'static str; 3];
}

/// What is shown beside a new model, as lines and as a member of `train --json`.
pub struct Alternatives {
    pub lines: Vec<String>,
    pub name: &'static str,
    pub json: Value,
}

/// The progress of a run, from any thread.
pub struct SharedProgress(Mutex<Progress>);

impl SharedProgress {
    pub fn new(progress: Progress) -> Self {
        Self(Mutex::new(progress))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the last pass, where all were of one run.
    pub fn last_pass(&self) -> Option<usize> {
        self.lock().last_pass()
    }

    /// After a pass.
    pub fn pass(&self, point: &CurvePoint) -> ControlFlow<()> {
        self.lock().pass(point);
        ControlFlow::Continue(())
    }

    /// Before a fold.
    pub fn fold(&self, fold: usize, all: usize) {
        self.lock().fold(fold, all);
    }
}

/// Runs the command.
pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    flags::check(args)?;
    with_task!(args.task, M => learn::<M>(args), rows => match args.stream.is_on() {
        true => stream::run(args),
        false => learn::<Model>(args),
    })
}

fn learn<M: Trainable>(args: &TrainArgs) -> anyhow::Result<()>
where
    M::Options: Send,
{
    let mut request = M::request(args)?;
    request.check_outputs()?;
    lineal::with_threads(args.run.threads, || train::<M>(args, &mut request))
}

fn train<M: Trainable>(args: &TrainArgs, request: &mut Request<M::Options>) -> anyhow::Result<()> {
    let start = Instant::now();
    let talk = Talk::new(args.run.quiet);
    let source = Source::from(&args.data);
    let data = M::read(source, args, request, &mut |lines| talk.say_all(&lines))?;
    let read = start.elapsed().as_secs_f64();
    let other = |path: &Path| M::labelled(Source::from(path), request, &data, talk);
    let held_out = request.held_out.as_deref().map(other).transpose()?;
    let test = args.test.as_deref().map(other).transpose()?;

    // What reading left behind.
    lineal::linalg::return_free_pieces();
    let begun = Instant::now();
    let bound = request.spec.n_epochs().or(request.spec.max_passes);
    let shown = SharedProgress::new(Progress::new(talk, bound, request.spec.task));
    let trained = M::fit(request, &data, held_out.as_ref(), &shown);
    shown.lock().finish();
    let last_pass = shown.last_pass();
    let (model, report) = trained?;
    let train = begun.elapsed().as_secs_f64();

    let (mut model, shrunk) = match args.tag.max_size {
        Some(size) => {
            let measured = test.as_ref().or(held_out.as_ref()).unwrap_or(&data);
            outcome::shrink(model, size.0, measured)?
        }
        None => (model, None),
    };
    let beside = model.alternatives(args, &data, [held_out.as_ref(), test.as_ref()], train)?;
    let measure = |data: M::Data| {
        let metrics = model.evaluate(&data)?;
        let kept = model.evaluation(&data, &metrics)?;
        anyhow::Ok((metrics, kept))
    };
    let (test, kept) = test.map(measure).transpose()?.unzip();
    // A file that must be small has no room for it.
    if let (Some(kept), None) = (kept, args.tag.max_size) {
        model.keep_evaluation(kept);
    }
    let model_bytes = write_model(&model, &args.out)?;
    let seconds = Seconds { read, train, total: start.elapsed().as_secs_f64() };
    let outcome = Outcome { report, test, seconds, model_bytes, shrunk, last_pass };
    if let Some(path) = &args.report {
        let page = html::train_page(&model, &outcome);
        files::write_output(Some(path), |out| out.write_all(page.as_bytes()))?;
    }
    talk.say_all(&outcome::lines(&model, &outcome, args));
    if let Some(beside) = &beside {
        talk.say_all(&beside.lines);
    }
    if args.json {
        let mut object = json::object(&model, &outcome)?;
        if let Some(beside) = beside {
            object[beside.name] = beside.json;
        }
        files::json_to_stdout(&object)?;
    }
    if args.require_convergence && !outcome.report.converged {
        return Err(not_converged(&outcome.report, &args.out).into());
    }
    Ok(())
}

/// Writes the model and gives its size; `-` is stdout.
pub fn write_model<M: Trainable>(model: &M, path: &Path) -> anyhow::Result<u64> {
    let mut size = 0;
    interrupt::hold(|| {
        files::write_output(Some(path), |out| {
            size = model.write_to(out)?;
            Ok(())
        })
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
