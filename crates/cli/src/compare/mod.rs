//! `lineal compare`: every strategy × loss, or every learner of a structure, on the same split.

mod json;
mod measure;
mod plan;
mod split;
mod structured;
pub mod table;

use std::path::Path;

use anyhow::bail;
use lineal::{Dataset, Features, LossKind, ReadOptions, Source, Targets, Task, TrainSpec};

use crate::args::{CompareArgs, LossName};
use crate::exit::usage;
use crate::program::with_task;
use crate::progress::Series;
use crate::rows::request::{check_multilabel, check_proba, check_reduction, options_for};
use crate::rows::{guess, summary};
use crate::talk::{Talk, count, seconds};
use crate::train::flags;
use crate::{classes, convert, files, html, text};

use split::Split;

pub use measure::{Measured, Row};
pub use plan::LeftOut;

/// What a comparison found.
pub struct Comparison {
    pub data: String,
    pub task: Task,
    /// What an example is called.
    pub example: &'static str,
    /// Examples trained on and measured on.
    pub n_examples: [usize; 2],
    pub n_features: usize,
    pub n_classes: usize,
    /// The metrics to show, by their names in `eval --json`, the one to watch first.
    pub metrics: Vec<&'static str>,
    pub rows: Vec<Row>,
    pub left_out: Vec<LeftOut>,
    pub seconds: f64,
}

impl Comparison {
    /// What names a row.
    pub fn heads(&self) -> &'static [&'static str] {
        match self.task {
            task if task.is_structured() => &["learner"],
            Task::Regress => &["loss"],
            _ => &["strategy", "loss"],
        }
    }

    /// The metric to watch.
    pub fn metric(&self) -> &'static str {
        self.metrics.first().copied().unwrap_or("accuracy")
    }
}

/// Runs the command.
pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    check(args)?;
    let found = lineal::with_threads(
        args.run.threads,
        || with_task!(args.task, M => structured::compare::<M>(args), rows => compare(args)),
    )?;
    let talk = Talk::new(args.run.quiet);
    if let Some(path) = &args.report {
        let page = html::compare_page(&found);
        files::write_output(Some(path), |out| out.write_all(page.as_bytes()))?;
        talk.say(format_args!("wrote {}", path.display()));
    }
    if args.json {
        return files::json_to_stdout(&json::object(&found, args));
    }
    let lines = table::lines(&found);
    files::to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

fn check(args: &CompareArgs) -> anyhow::Result<()> {
    flags::check(&args.train()?)?;
    let named = &args.strategies;
    if args.task == Task::Regress && !named.is_empty() {
        return usage("--strategies are of classes: leave them out with --task regress");
    }
    if args.task == Task::Multilabel {
        let has_cost = args.model.cost.is_some();
        check_multilabel(None, has_cost)?;
        named.iter().try_for_each(|&strategy| check_multilabel(Some(strategy), has_cost))?;
    } else if args.file.label_separator.is_some() {
        return usage("--label-separator is between the labels of a row: add --task multilabel");
    }
    check_reduction(&args.reduction, |strategy| {
        plan::usual(args.task).contains(&strategy)
            && (named.is_empty() || named.contains(&strategy))
    })?;
    let mut spec = TrainSpec::for_task(args.task);
    args.proba.add_to(&mut spec);
    check_proba(&args.proba, &spec)?;
    let mut inputs = vec![args.data.as_path()];
    let others = args.test.iter().chain(&args.model.cost).chain(&args.file.labels);
    inputs.extend(others.chain(args.reduction.files()).map(|path| path.as_path()));
    let stop_words = args.text.file();
    inputs.extend(stop_words.as_deref());
    if inputs.iter().filter(|path| **path == Path::new("-")).count() > 1 {
        return usage("standard input can only be read once: give - for one file");
    }
    args.report.iter().try_for_each(|report| files::check_output(report, &inputs))
}

fn compare(args: &CompareArgs) -> anyhow::Result<Comparison> {
    let start = std::time::Instant::now();
    let talk = Talk::new(args.run.quiet);
    let source = convert::source(&args.data)?;
    let guessed = guessed(args, &source, talk)?;
    let args = guessed.as_ref().unwrap_or(args);
    let options = args.file.learning(&args.columns, &args.text, args.task.target());
    let mut spec = args.maps.add_to(text::features(&args.text)?, args.seed);
    spec.standardize = args.model.standardized();
    let Split { train, test, features } = match &args.test {
        None => split::by_share(&source, args, &options, &spec)?,
        Some(path) => {
            let (train, features) = lineal::read_features(&source, &options, &spec)?;
            check_data(&train, args.task)?;
            let test = read_test(path, args, &options, (&train, &features))?;
            test.warnings.iter().for_each(|warning| talk.warn(warning));
            Split { train, test, features }
        }
    };
    talk.say_all(&summary::data(&train, &features, start.elapsed().as_secs_f64()));
    text::check(&args.text, &train, &features)?;
    check_data(&train, args.task)?;
    let n_classes = train.schema.classes.len();
    if args.proba.threshold.is_some() && args.task == Task::Classify && n_classes != 2 {
        bail!(
            "--threshold is for two classes, or for --task multilabel, and the data has {n_classes} classes; leave it out"
        );
    }
    let spec = base(args, &train)?;
    talk.say(format_args!(
        "trained on {}, measured on {}",
        count(train.n_rows(), "row"),
        count(test.n_rows(), "row")
    ));

    let losses = match (args.losses.as_slice(), args.task) {
        ([], Task::Regress) => vec![LossKind::Squared, LossKind::Huber, LossKind::Epsilon],
        ([], _) => {
            vec![LossKind::Perceptron, LossKind::Hinge, LossKind::SquaredHinge, LossKind::Logistic]
        }
        (named, _) => LossName::losses(named)?,
    };
    let plan = plan::Plan::new(args, &losses, &train);
    if plan.runs.is_empty() {
        let why = plan.left_out.first().map_or("", |left| left.reason.as_str());
        bail!("nothing is left to run: {why}; see --strategies and --losses");
    }
    let mut series = Series::new(talk, plan.runs.len());
    let mut rows = Vec::new();
    for &(strategy, loss) in &plan.runs {
        let penalty = args.penalty.of(Some(loss));
        let spec = TrainSpec { strategy, loss: Some(loss), penalty, ..spec.clone() };
        let row = Row::measure(&spec, (&train, &features), &test, &mut series);
        series.end(&row.name(), &outcome_of(&row));
        rows.push(row);
    }
    series.finish();
    Ok(Comparison {
        data: train.source.clone(),
        task: args.task,
        example: "row",
        n_examples: [train.n_rows(), test.n_rows()],
        n_features: train.n_features(),
        n_classes: train.schema.classes.len(),
        metrics: match args.task {
            Task::Multilabel => vec!["micro_f1", "macro_f1", "p@1"],
            Task::Regress => vec!["r2", "rmse", "mae"],
            _ => vec!["accuracy", "macro_f1"],
        },
        rows,
        left_out: plan.left_out,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn outcome_of(row: &Row) -> String {
    match &row.outcome {
        Ok(m) => format!("{}, {}", seconds(m.train_seconds), m.one_line),
        Err(why) => format!("failed: {why}"),
    }
}

/// An error that would fail every run alike is reported once.
fn check_data(data: &Dataset, task: Task) -> anyhow::Result<()> {
    if matches!(data.y, Targets::None) {
        bail!("{}: no labels to learn from (see --label)", data.source);
    }
    let least = match task {
        Task::Classify => 2,
        Task::Regress => 0,
        _ => 1,
    };
    let n_classes = data.schema.classes.len();
    if n_classes < least {
        bail!(
            "{}: {} only; is the label column right? (see --label)",
            data.source,
            count(n_classes, if task == Task::Classify { "class" } else { "label" })
        );
    }
    Ok(())
}

/// The flags for regression, if no flag names the task and the labels look like numbers.
fn guessed(args: &CompareArgs, source: &Source, talk: Talk) -> anyhow::Result<Option<CompareArgs>> {
    let losses = LossName::losses(&args.losses)?;
    let task = guess::task_of_losses(&args.train()?, &losses, source, talk);
    Ok(task.map(|task| CompareArgs { task, ..args.clone() }))
}

/// What all runs share.
fn base(args: &CompareArgs, data: &Dataset) -> anyhow::Result<TrainSpec> {
    let mut defaults = TrainSpec::for_task(args.task);
    args.proba.add_to(&mut defaults);
    let classes = &data.schema.classes;
    let cost =
        args.model.cost.as_deref().map(|path| lineal::read_cost(path, classes)).transpose()?;
    Ok(TrainSpec {
        task: args.task,
        reduction: classes::with_files(&args.reduction, classes)?,
        bias: args.model.bias(),
        class_weight: args.model.class_weight.clone().unwrap_or_default(),
        cost,
        standardize: args.maps.standardize_left(args.model.standardized()),
        tol: args.stop.tol.unwrap_or(defaults.tol),
        max_passes: args.stop.max_passes,
        seed: args.seed,
        ..defaults
    })
}

/// The test file, with the training data's columns and classes.
fn read_test(
    path: &Path,
    args: &CompareArgs,
    options: &ReadOptions,
    (data, features): (&Dataset, &Features),
) -> anyhow::Result<Dataset> {
    let options = options_for(path, &args.data, options);
    let test = features.read(path, &options, &data.schema)?;
    if matches!(test.y, Targets::None) {
        bail!("{}: the rows have no labels to compare with; add the label column", test.source);
    }
    Ok(test)
}
