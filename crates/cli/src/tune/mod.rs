//! `lineal tune`: a cross-validated search, and the training of what it found.

mod json;
mod search;
mod table;

use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use lineal::{
    Dataset, FeatureSpec, Features, Metrics, Model, Penalty, ReadOptions, Targets, TrainSpec,
    Training, Trial, TuneTable,
};

use crate::args::TuneArgs;
use crate::files;
use crate::rows::eval;
use crate::rows::request::options_for;
use crate::talk::{Talk, bytes, count, seconds};
use crate::train::write_model;
use search::Search;

/// What a search found, and what came of it.
pub struct Found {
    pub table: TuneTable,
    pub chosen: Trial,
    pub n_rows: usize,
    pub n_classes: usize,
    pub trained: Option<Trained>,
    pub search_seconds: f64,
    pub total_seconds: f64,
}

/// The chosen one on all rows.
pub struct Trained {
    pub model: Model,
    pub bytes: u64,
    pub test: Option<Metrics>,
}

/// Runs the command.
pub fn run(args: &TuneArgs) -> anyhow::Result<()> {
    search::check(args)?;
    let found = lineal::with_threads(args.run.threads, || tune(args))?;
    if args.json {
        return files::json_to_stdout(&json::object(&found, args)?);
    }
    let lines = table::lines(&found, args);
    files::to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

fn tune(args: &TuneArgs) -> anyhow::Result<Found> {
    let start = Instant::now();
    let talk = Talk::new(args.run.quiet);
    let mut search = Search::new(args)?;
    let table = search.run(talk)?;
    let Some(chosen) = table.chosen(args.choose.0).cloned() else {
        bail!("nothing was measured: every mean is undefined; is the data labelled?");
    };
    let search_seconds = start.elapsed().as_secs_f64();
    if table.left_out > 0 {
        talk.warn(format_args!(
            "the budget left out {}; what was measured was measured on all folds",
            count(table.left_out, "setting")
        ));
    }
    talk.say(format_args!("took {}", table::name(&chosen)));
    let (n_rows, n_classes) = search.size();
    let trained = match &args.out {
        Some(out) => Some(train(args, &mut search, &chosen, out, talk)?),
        None => None,
    };
    let total_seconds = start.elapsed().as_secs_f64();
    if let (Some(trained), Some(out)) = (&trained, &args.out) {
        if let (Some(test), Some(path)) = (&trained.test, &args.test) {
            talk.say(format_args!("{}: {}", path.display(), eval::in_short(test)));
        }
        talk.say(format_args!(
            "wrote {} ({}) in {}",
            out.display(),
            bytes(trained.bytes),
            seconds(total_seconds)
        ));
    }
    Ok(Found { table, chosen, n_rows, n_classes, trained, search_seconds, total_seconds })
}

fn train(
    args: &TuneArgs,
    search: &mut Search<'_>,
    chosen: &Trial,
    out: &Path,
    talk: Talk,
) -> anyhow::Result<Trained> {
    let (data, features) = search.features_of(&chosen.features)?;
    let spec =
        TrainSpec { loss: Some(chosen.loss), penalty: Penalty::C(chosen.c), ..search.base(&data)? };
    let (model, report) = Training::new(&data, &spec).features(&features).run()?;
    talk.say(report.certificate());
    report.warnings.iter().for_each(|warning| talk.warn(warning));
    let test = match &args.test {
        Some(path) => Some(measure(path, args, search.options(), &model, talk)?),
        None => None,
    };
    let bytes = write_model(&model, out)?;
    Ok(Trained { model, bytes, test })
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
type Made = (Dataset, Features);
/// A name and a way.
type Setting = (String, FeatureSpec);
