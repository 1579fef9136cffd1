//! `lineal convert`: data in another format, models for other programs.

mod models;
mod rows;

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use lineal::{Dataset, Features, Format, Model, Source, Standardize, Targets};

use crate::args::ConvertArgs;
use crate::exit::usage;
use crate::tag::convert as sequences;
use crate::talk::{Talk, count};
use crate::{files, text};

/// Runs the command.
pub fn run(args: &ConvertArgs) -> anyhow::Result<()> {
    if let Some(to) = models::format(args) {
        if args.out != Path::new("-") {
            files::check_output(&args.out, &[&args.data])?;
        }
        return models::run(args, to);
    }
    let told = || Format::from_name(&args.out.to_string_lossy());
    let Some(to) = args.to.and_then(|to| to.data()).or_else(told) else {
        return usage(format!(
            "{}: the name does not tell a format; say one with --to",
            args.out.display()
        ));
    };
    if to == Format::Idx {
        return usage("IDX is read, not written; give --to or another name");
    }
    let mut inputs = vec![args.data.as_path()];
    inputs.extend(args.model.as_deref());
    let on_disk = [Some(args.out.as_path()), args.names.as_deref()];
    for output in on_disk.into_iter().flatten().filter(|path| *path != Path::new("-")) {
        files::check_output(output, &inputs)?;
    }
    lineal::with_threads(args.run.threads, || convert(args, to))
}

fn convert(args: &ConvertArgs, to: Format) -> anyhow::Result<()> {
    let talk = Talk::new(args.run.quiet);
    let source = source(&args.data)?;
    if sequences::is_meant(args, to) {
        return sequences::run(args, source, to);
    }
    let options = args.file.learning(&args.columns, &args.text, args.task.target());
    if args.model.is_none() && args.names.is_none() && args.maps.is_empty() {
        let mut done = Ok(None);
        files::write_output(Some(&args.out), |out| {
            done = lineal::data::convert(&source, &options, to, out);
            match &done {
                Ok(Some(_)) => Ok(()),
                // Nothing is left behind; what happened is told below.
                _ => Err(std::io::Error::other("not written")),
            }
        })
        .or_else(|error| if matches!(done, Ok(Some(_))) { Err(error) } else { Ok(()) })?;
        if let Some(done) = done? {
            done.warnings.iter().for_each(|warning| talk.warn(warning));
            talk.say(format_args!("wrote {} to {}", count(done.n_rows, "row"), args.out.display()));
            return Ok(());
        }
    }
    if !matches!(to, Format::Svmlight | Format::Vw | Format::Jsonl | Format::Csv) {
        bail!("{to} has no place for features; write libsvm, vw, jsonl or csv");
    }
    let (data, features) = read(args, source)?;
    data.warnings.iter().for_each(|warning| talk.warn(warning));
    let rows = rows::Rows::new(&data, &features);
    if let Some(classes) = rows.numbered().filter(|_| to == Format::Svmlight) {
        talk.say(format_args!("labels are written as numbers: {classes}"));
    }
    files::write_output(Some(&args.out), |out| rows.write(to, out))?;
    if let Some(path) = &args.names {
        files::write_output(Some(path), |out| {
            (0..data.n_features()).try_for_each(|j| writeln!(out, "{}", rows.name(j)))
        })?;
    }
    let (n_rows, n_features) = (count(data.n_rows(), "row"), count(data.n_features(), "feature"));
    talk.say(format_args!("wrote {n_rows} of {n_features} to {}", args.out.display()));
    Ok(())
}

/// Standard input may be looked at twice, so it is kept.
pub fn source(path: &Path) -> anyhow::Result<Source> {
    if path != Path::new("-") {
        return Ok(path.into());
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(Source::Memory { name: "<stdin>".to_owned(), bytes })
}

fn read(args: &ConvertArgs, source: Source) -> anyhow::Result<(Dataset, Features)> {
    if let Some(path) = &args.model {
        if let Some(flag) = args.text.first().or(args.maps.first()) {
            return usage(format!(
                "{flag} is about learning features, and --model has some; leave one out"
            ));
        }
        let model = Model::load(path)?;
        let data = model.read(source, &args.file.options())?;
        return Ok((data, model.features().clone()));
    }
    let options = args.file.learning(&args.columns, &args.text, args.task.target());
    let mut spec = args.maps.add_to(text::features(&args.text)?, args.seed);
    // What is written is in the units of the file.
    spec.standardize = Standardize::Never;
    let (data, features) = lineal::read_features(source, &options, &spec)?;
    text::check(&args.text, &data, &features)?;
    if matches!(data.y, Targets::None) {
        bail!("{}: no labels (see --label)", data.source);
    }
    Ok((data, features))
}
