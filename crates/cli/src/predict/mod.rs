//! `lineal predict`: a class or a number for each row.

mod rows;
mod stream;
mod write;

use std::path::Path;

use anyhow::bail;
use lineal::{Dataset, Format, Model, ReadOptions, Sampler, Task};

use crate::args::{Output, PredictArgs};
use crate::exit::usage;
use crate::talk::Talk;
use crate::{files, tag};

pub use rows::{Answers, Rows, Top};
pub use write::write as write_rows;

/// Runs the command.
pub fn run(args: &PredictArgs) -> anyhow::Result<()> {
    check_flags(args)?;
    if lineal::is_tag_model(&args.model)? {
        return tag::predict(args);
    }
    if let Some(flag) = args.tag.first() {
        bail!(
            "{flag} is about sequences, and {} is a model of rows; leave it out",
            args.model.display()
        );
    }
    if let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) {
        files::check_output(out, &[&args.model, &args.data])?;
    }
    let model = Model::load(&args.model)?;
    check_model(&model, args)?;
    let mut options = ReadOptions { blank_rows: true, ..args.file.options() };
    // Of a model of one text and nothing else, a line is a text.
    let told = Format::from_name(&args.data.to_string_lossy());
    if told.or(options.format).is_none() && model.is_of_one_text() {
        options.format = Some(Format::FastText);
    }
    if args.data == Path::new("-") && told_format(&model, &options) {
        return lineal::with_threads(args.run.threads, || stream::run(&model, args, &options));
    }
    let rows = lineal::with_threads(args.run.threads, || answer(&model, args, &options))?;
    files::write_output(args.out.as_deref(), |out| write::write(out, &rows, args.output))
}

/// Whether what comes on standard input can be read row by row.
fn told_format(model: &Model, options: &ReadOptions) -> bool {
    options.format.unwrap_or(model.schema().format) != Format::Idx
}

/// Text and CSV rows have one list of numbers; JSON objects have room for all.
fn check_flags(args: &PredictArgs) -> anyhow::Result<()> {
    let n_lists =
        usize::from(args.proba) + usize::from(args.scores) + usize::from(args.top.is_some());
    if n_lists > 1 && args.output != Output::Jsonl {
        return usage(
            "ask for one of --proba, --scores and --top, or add --output jsonl, which gives all",
        );
    }
    Ok(())
}

fn answer(model: &Model, args: &PredictArgs, options: &ReadOptions) -> anyhow::Result<Rows> {
    let data = model.read(&args.data, options)?;
    warn(&data.warnings, Talk::new(args.run.quiet));
    answer_rows(model, args, &data, &mut Sampler::new(args.seed))
}

/// The labels of rows to predict are not looked at.
fn warn(warnings: &[String], talk: Talk) {
    let about_labels = |warning: &&String| warning.contains("a label that training did not see");
    warnings.iter().filter(|w| !about_labels(w)).for_each(|warning| talk.warn(warning));
}

fn answer_rows(
    model: &Model,
    args: &PredictArgs,
    data: &Dataset,
    sampler: &mut Sampler,
) -> anyhow::Result<Rows> {
    let wants_proba = args.proba || args.sample || args.min_cost;
    let proba = if wants_proba { Some(model.proba(data)?) } else { None };
    let answers = match (&proba, &args.cost) {
        (Some(proba), _) if args.sample => Answers::Classes(sampler.draw(proba)),
        (Some(proba), Some(path)) if args.min_cost => {
            let cost = lineal::read_cost(path, model.classes())?;
            Answers::Classes(model.least_cost_with(proba, &cost))
        }
        (Some(proba), None) if args.min_cost => Answers::Classes(model.least_cost(proba)?),
        _ => model.predict(data).into(),
    };
    let top = match args.top {
        Some(k) => Some(Top { k, best: model.top(data, k)? }),
        None => None,
    };
    Ok(Rows {
        classes: model.classes().to_vec(),
        answers,
        proba: proba.filter(|_| args.proba),
        scores: args.scores.then(|| model.scores(data)),
        top,
        separator: args.file.separator(),
    })
}

/// A model of numbers has no classes to ask about, and one of labels no single class to choose.
fn check_model(model: &Model, args: &PredictArgs) -> anyhow::Result<()> {
    let of_classes = [("--sample", args.sample), ("--min-cost", args.min_cost)];
    let of_any =
        [("--proba", args.proba), ("--scores", args.scores), ("--top", args.top.is_some())];
    let given =
        |flags: &[(&'static str, bool)]| flags.iter().find(|(_, given)| *given).map(|f| f.0);
    let (refused, why) = match model.task() {
        Task::Classify => return Ok(()),
        Task::Multilabel => (
            given(&of_classes),
            "multilabel: it answers yes or no for each label, and has no one class for",
        ),
        Task::Regress | Task::Tag => (
            given(&of_any).or(given(&of_classes)),
            "regress: it predicts numbers and has no classes for",
        ),
    };
    match refused {
        None => Ok(()),
        Some(flag) => bail!(
            "{} is a model of the task {why} {flag}; leave the flag out, or give a model of the task classify",
            args.model.display()
        ),
    }
}
