//! `lineal predict`: a class or a number for each row.

mod rows;
mod write;

use std::path::Path;

use anyhow::bail;
use lineal::{Model, Task};

use crate::args::{Output, PredictArgs};
use crate::exit::usage;
use crate::files;
use crate::talk::Talk;

pub use rows::{Answers, Rows};
pub use write::write as write_rows;

/// Runs the command.
pub fn run(args: &PredictArgs) -> anyhow::Result<()> {
    check_flags(args)?;
    if let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) {
        files::check_output(out, &[&args.model, &args.data])?;
    }
    let rows = lineal::with_threads(args.threads, || answer(args))?;
    files::write_output(args.out.as_deref(), |out| write::write(out, &rows, args.output))
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

fn answer(args: &PredictArgs) -> anyhow::Result<Rows> {
    let model = Model::load(&args.model)?;
    check_model(&model, args)?;
    let data = model.read(&args.data, &args.file.options())?;
    let talk = Talk::new(args.quiet);
    // The labels of rows to predict are not looked at.
    let about_labels = |warning: &&String| warning.contains("a label that training did not see");
    data.warnings.iter().filter(|w| !about_labels(w)).for_each(|warning| talk.warn(warning));

    let wants_proba =
        args.proba || args.sample || args.min_cost || (args.top.is_some() && model.has_proba());
    let proba = if wants_proba { Some(model.proba(&data)?) } else { None };
    let wants_scores = args.scores || (args.top.is_some() && proba.is_none());
    let scores = wants_scores.then(|| model.scores(&data));
    let answers = match (&proba, &args.cost) {
        (Some(proba), _) if args.sample => Answers::Classes(model.sample(proba, args.seed)),
        (Some(proba), Some(path)) if args.min_cost => {
            let cost = lineal::read_cost(path, model.classes())?;
            Answers::Classes(model.least_cost_with(proba, &cost))
        }
        (Some(proba), None) if args.min_cost => Answers::Classes(model.least_cost(proba)?),
        _ => model.predict(&data).into(),
    };
    let classes = model.classes().to_vec();
    Ok(Rows {
        classes,
        answers,
        proba,
        scores,
        shows_proba: args.proba,
        shows_scores: args.scores,
        top: args.top,
    })
}

/// A model of numbers has no classes to ask about.
fn check_model(model: &Model, args: &PredictArgs) -> anyhow::Result<()> {
    if model.task() == Task::Classify {
        return Ok(());
    }
    let given = [
        ("--proba", args.proba),
        ("--scores", args.scores),
        ("--top", args.top.is_some()),
        ("--sample", args.sample),
        ("--min-cost", args.min_cost),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        bail!(
            "{} is a model of the task regress: it predicts numbers and has no classes for {flag}; leave the flag \
             out, or give a model of the task classify",
            args.model.display()
        );
    }
    Ok(())
}
