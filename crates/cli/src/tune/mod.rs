//! `lineal tune`: a cross-validated search, and the training of what it found.

mod json;
mod search;
mod structured;
mod table;

use std::fmt::Display;
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use lineal::{
    Dataset, FeatureSpec, Features, LossKind, Metrics, Model, Penalty, ReadOptions, Report, Source,
    Targets, Task, TrainSpec, Training, Trial, TuneTable,
};
use serde_json::Value;

use crate::args::{LossName, TuneArgs};
use crate::files;
use crate::program::with_task;
use crate::rows::request::{calibrate_margins, options_for};
use crate::rows::{eval, guess};
use crate::talk::{Talk, bytes, count, seconds};
use crate::train::write_model;
use search::Search;

/// What a search found, and what came of it.
pub struct Found<L> {
    pub task: Task,
    pub table: TuneTable<L>,
    /// Learners that the structure does not allow, and why.
    pub refused: Vec<(L, String)>,
    pub chosen: Trial<L>,
    /// What counts, as `eval --json` names it.
    pub metric: String,
    /// Whether it should be small: its values are kept with a minus.
    pub is_loss: bool,
    pub n_examples: usize,
    /// Where it is known without training.
    pub n_classes: Option<usize>,
    pub trained: Option<Trained>,
    pub search_seconds: f64,
    pub total_seconds: f64,
}

impl<L> Found<L> {
    /// What gives values back their sign.
    fn sign(&self) -> f64 {
        if self.is_loss { -1.0 } else { 1.0 }
    }
}

/// The chosen one on all examples.
pub struct Trained {
    pub report: Report,
    pub bytes: u64,
    /// The metrics of `--test` as `eval --json` has them, and in short.
    pub test: Option<Value>,
    pub test_in_one_line: Option<String>,
}

/// Runs the command.
pub fn run(args: &TuneArgs) -> anyhow::Result<()> {
    search::check(args)?;
    with_task!(args.task, M => {
        let found = lineal::with_threads(args.run.threads, || structured::tune::<M>(args))?;
        show(&found, args)
    }, rows => {
        let found = lineal::with_threads(args.run.threads, || tune(args))?;
        show(&found, args)
    })
}

fn show<L: Display + PartialEq>(found: &Found<L>, args: &TuneArgs) -> anyhow::Result<()> {
    if args.json {
        return files::json_to_stdout(&json::object(found, args));
    }
    let lines = table::lines(found);
    files::to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

/// The legend of the table, printed when the search has ended.
fn choose<L: Display + PartialEq + Clone>(
    table: &TuneTable<L>,
    args: &TuneArgs,
    talk: Talk,
) -> anyhow::Result<Trial<L>> {
    let Some(chosen) = table.chosen(args.choose.0).cloned() else {
        bail!("nothing was measured: every mean is undefined; is the data labelled?");
    };
    if table.left_out > 0 {
        talk.warn(format_args!(
            "the budget left out {}; more --budget tries them all",
            count(table.left_out, "setting")
        ));
    }
    if chosen.interrupted {
        talk.warn("the budget ended before any setting was finished, so an unfinished one was chosen: raise --budget");
    } else if !chosen.converged && !args.task.is_structured() {
        talk.warn(format_args!(
            "{} was best but did not converge in every fold, so that another solver or more passes may find another best: raise \
             --max-passes or --tol, or add --standardize",
            table::name(&chosen)
        ));
    }
    talk.say(format_args!("chose {}", table::name(&chosen)));
    if let Some(edge) = at_the_edge(table, &chosen) {
        let (which, others) = match edge {
            Edge::Largest => ("largest", "larger"),
            Edge::Smallest => ("smallest", "smaller"),
        };
        talk.say(format_args!(
            "the best C, {}, is the {which} that was tried; {others} values may be better (-C)",
            chosen.c
        ));
    }
    Ok(chosen)
}

/// Where a range of C ends.
enum Edge {
    Largest,
    Smallest,
}

/// Whether the chosen C is better than all others of its learner and the last one on its side.
fn at_the_edge<L: PartialEq>(table: &TuneTable<L>, chosen: &Trial<L>) -> Option<Edge> {
    let is_other = |trial: &&Trial<L>| {
        trial.features == chosen.features && trial.loss == chosen.loss && trial.c != chosen.c
    };
    let others: Vec<&Trial<L>> = table.trials.iter().filter(is_other).collect();
    if others.is_empty() || others.iter().any(|trial| trial.mean >= chosen.mean) {
        return None;
    }
    if others.iter().all(|trial| trial.c < chosen.c) {
        return Some(Edge::Largest);
    }
    others.iter().all(|trial| trial.c > chosen.c).then_some(Edge::Smallest)
}

/// The line about the written model, printed at the end.
fn say_trained(trained: &Trained, args: &TuneArgs, total_seconds: f64, talk: Talk) {
    if let (Some(test), Some(path)) = (&trained.test_in_one_line, &args.test) {
        talk.say(format_args!("{}: {test}", path.display()));
    }
    if let Some(out) = &args.out {
        talk.say(format_args!(
            "wrote {} ({}) in {}",
            out.display(),
            bytes(trained.bytes),
            seconds(total_seconds)
        ));
    }
}

fn tune(args: &TuneArgs) -> anyhow::Result<Found<LossKind>> {
    let start = Instant::now();
    let talk = Talk::new(args.run.quiet);
    let metric = args.metric.of_rows()?;
    let source = Source::from(&args.data).kept()?;
    let guessed = guessed(args, &source, talk)?;
    let args = guessed.as_ref().unwrap_or(args);
    let mut search = Search::new(args, source)?;
    let table = search.run(talk)?;
    let search_seconds = start.elapsed().as_secs_f64();
    let chosen = choose(&table, args, talk)?;
    let (n_examples, n_classes) = search.size();
    let trained = match &args.out {
        Some(out) => Some(train(args, &mut search, &chosen, out, talk)?),
        None => None,
    };
    let total_seconds = start.elapsed().as_secs_f64();
    if let Some(trained) = &trained {
        say_trained(trained, args, total_seconds, talk);
    }
    Ok(Found {
        task: args.task,
        table,
        refused: Vec::new(),
        chosen,
        metric: metric.name(args.task).to_owned(),
        is_loss: metric.is_loss(args.task),
        n_examples,
        n_classes: Some(n_classes),
        trained,
        search_seconds,
        total_seconds,
    })
}

/// The flags for regression, if no flag names the task and the labels look like numbers.
fn guessed(args: &TuneArgs, source: &Source, talk: Talk) -> anyhow::Result<Option<TuneArgs>> {
    let losses = LossName::losses(&args.losses)?;
    let task = guess::task_of_losses(&args.train()?, &losses, source, talk);
    Ok(task.map(|task| TuneArgs { task, ..args.clone() }))
}

fn train(
    args: &TuneArgs,
    search: &mut Search<'_>,
    chosen: &Trial,
    out: &Path,
    talk: Talk,
) -> anyhow::Result<Trained> {
    let (data, features) = search.features_of(&chosen.features)?;
    let mut spec =
        TrainSpec { loss: Some(chosen.loss), penalty: Penalty::C(chosen.c), ..search.base(&data)? };
    // Whether the model has probabilities should not depend on which loss was best.
    if args.calibrate.is_none() {
        calibrate_margins(&mut spec, data.schema.classes.len());
    }
    // The folds of a calibration take as long as the fit, each.
    let calibrated = spec.calibrate.is_some() || spec.threshold.is_tuned();
    let fits = 1 + if calibrated { lineal::folds_to_fit(&spec, data.n_rows()) } else { 0 };
    let mut stop = lineal::stop_at(args.budget.divided_by(fits).deadline());
    let training = Training::new(&data, &spec).features(&features).monitor(&mut stop);
    let (model, report) = training.run()?;
    talk.say(report.certificate());
    report.warnings.iter().for_each(|warning| talk.warn(warning));
    let test = match &args.test {
        Some(path) => Some(measure(path, args, search.options(), &model, talk)?),
        None => None,
    };
    let bytes = write_model(&model, out)?;
    Ok(Trained {
        report,
        bytes,
        test_in_one_line: test.as_ref().map(eval::one_line),
        test: test.as_ref().map(eval::json).transpose()?,
    })
}

fn measure(
    path: &Path,
    args: &TuneArgs,
    options: &ReadOptions,
    model: &Model,
    talk: Talk,
) -> anyhow::Result<Metrics> {
    let data = model.read(path, &options_for(path, &args.data, options))?;
    data.warnings.iter().for_each(|warning| talk.warn(warning));
    if matches!(data.y, Targets::None) {
        bail!("{}: the rows have no labels to compare with; add the label column", data.source);
    }
    Ok(model.evaluate(&data)?)
}

/// A way to make features, and what was made.
type Prepared = (Dataset, Features);
/// A name and a way.
type Setting = (String, FeatureSpec);
