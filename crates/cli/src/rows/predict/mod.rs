//! Predictions of models of rows: a class, labels or a number for each.

mod answers;
mod stream;
mod write;

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use lineal::{CostMatrix, Dataset, Format, Model, ReadOptions, Sampler, Source, Targets, Task};

use crate::args::{Output, PredictArgs};
use crate::convert;
use crate::talk::Talk;

/// Rows that are answered together.
const ROWS: usize = 4096;

pub use answers::{Answers, Kept, Rows, Top};
pub use write::write as write_rows;

/// Writes an answer for each row, as soon as the row arrives where that is possible.
pub fn predict(model: &Model, args: &PredictArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut options = ReadOptions { blank_rows: true, without_labels: true, ..args.file.options() };
    // Cells and features are two walks.
    let mut source = match args.keep.is_empty() {
        true => args.source(),
        false => convert::source(&args.data)?,
    };
    // For a model of one text and nothing else, a line is a text, unless the first bytes are those of a table with that column.
    let told = Format::from_name(&args.data.to_string_lossy());
    if told.or(options.format).is_none() && model.is_of_one_text() {
        source = source.kept()?;
        let column = model.schema().text_columns().next().unwrap_or_default();
        let table = lineal::data::table_with_column(&source, column)?;
        options.format = table.or(Some(Format::FastText));
        source.seal();
    }
    if args.data == Path::new("-") && args.keep.is_empty() && told_format(model, &options) {
        return stream::answer_all(model, source, args, &options, out);
    }
    answer(model, source, args, &options, out)
}

/// Whether standard input can be read row by row.
fn told_format(model: &Model, options: &ReadOptions) -> bool {
    options.format.or(model.schema().format) != Some(Format::Idx)
}

/// Reads all rows, so that nothing is said about any if one is wrong, and answers some at a time: their scores are more than they are.
fn answer(
    model: &Model,
    source: Source,
    args: &PredictArgs,
    options: &ReadOptions,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut kept = match args.keep.is_empty() {
        true => None,
        false => Some(keep(model, &source, options, &args.keep)?),
    };
    let Dataset { x, schema, warnings, source, .. } = model.read(source, options)?;
    warn(&warnings, Talk::new(args.run.quiet));
    let n_rows = x.n_rows();
    let (y, weights, queries, warnings) = (Targets::None, None, None, Vec::new());
    let mut part = Dataset { x, y, weights, queries, schema, warnings, source };
    let mut ask = Asked::new(model, args)?;
    if n_rows <= ROWS {
        let rows = Rows { kept, ..ask.answer(&part)? };
        return Ok(write::write(out, &rows, args.output)?);
    }
    let no_rows = part.x.select(&[]);
    let all = std::mem::replace(&mut part.x, no_rows);
    for start in (0..n_rows).step_by(ROWS) {
        let rows: Vec<usize> = (start..n_rows.min(start + ROWS)).collect();
        part.x = all.select(&rows);
        let mut rows = ask.answer(&part)?;
        rows.kept = kept.as_mut().map(|kept| Kept {
            names: kept.names.clone(),
            rows: kept.rows.drain(..rows.answers.len().min(kept.rows.len())).collect(),
        });
        if start == 0 && args.output == Output::Csv {
            write::csv_header(out, &rows)?;
        }
        write::write_rows(out, &rows, args.output)?;
    }
    Ok(())
}

/// The cells of these columns, or of all.
fn keep(
    model: &Model,
    source: &Source,
    options: &ReadOptions,
    names: &[String],
) -> anyhow::Result<Kept> {
    let all = names == ["all"];
    let wanted = if all { &[] } else { names };
    let cells = lineal::data::read_cells(source, options, model.schema(), wanted)?;
    let lineal::data::Cells { names, rows } = cells;
    Ok(Kept { names, rows })
}

/// The labels of rows to predict are not looked at.
fn warn(warnings: &[String], talk: Talk) {
    let about_labels = |warning: &&String| warning.contains("a label that training did not see");
    warnings.iter().filter(|w| !about_labels(w)).for_each(|warning| talk.warn(warning));
}

/// What is asked of the rows, part by part.
struct Asked<'a> {
    model: &'a Model,
    args: &'a PredictArgs,
    cost: Option<CostMatrix>,
    sampler: Sampler,
}

impl<'a> Asked<'a> {
    fn new(model: &'a Model, args: &'a PredictArgs) -> anyhow::Result<Self> {
        let cost = args.cost.as_ref().filter(|_| args.min_cost);
        let cost = cost.map(|path| lineal::read_cost(path, model.classes())).transpose()?;
        Ok(Self { model, args, cost, sampler: Sampler::new(args.seed) })
    }

    fn answer(&mut self, data: &Dataset) -> anyhow::Result<Rows> {
        let Self { model, args, cost, sampler } = self;
        let wants_proba = args.proba || args.sample || args.min_cost;
        let proba = if wants_proba { Some(model.proba(data)?) } else { None };
        let answers = match (&proba, cost) {
            (Some(proba), _) if args.sample => Answers::Classes(sampler.draw(proba)),
            (Some(proba), Some(cost)) => Answers::Classes(model.least_cost_with(proba, cost)),
            (Some(proba), None) if args.min_cost => Answers::Classes(model.least_cost(proba)?),
            _ => model.predict(data)?.into(),
        };
        let top = match args.top {
            Some(k) => Some(Top { k, best: model.top(data, k)? }),
            None => None,
        };
        Ok(Rows {
            classes: model.classes().to_vec(),
            answers,
            proba: proba.filter(|_| args.proba),
            scores: args.scores.then(|| model.scores(data)).transpose()?,
            top,
            separator: args.file.separator(),
            kept: None,
        })
    }
}

/// A model of numbers has no classes to ask about, and one of labels no single class to choose.
pub fn check(model: &Model, args: &PredictArgs) -> anyhow::Result<()> {
    args.limits.check(model.task())?;
    if let Some(flag) = args.tag.first().or(args.draw.then_some("--draw")) {
        bail!(
            "{flag} is for sequences or trees, and {} is a model of rows; leave it out",
            args.model.display()
        );
    }
    let of_classes = [("--sample", args.sample), ("--min-cost", args.min_cost)];
    let of_any =
        [("--proba", args.proba), ("--scores", args.scores), ("--top", args.top.is_some())];
    let given =
        |flags: &[(&'static str, bool)]| flags.iter().find(|(_, given)| *given).map(|f| f.0);
    let (refused, why) = match model.task() {
        Task::Classify => return Ok(()),
        Task::Multilabel => (
            given(&of_classes),
            "multilabel: it answers yes or no for each label, so there is no single class for",
        ),
        _ => (
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
