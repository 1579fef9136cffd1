//! `lineal demo`: a whole run on a built-in set, with the commands that a user would type.

mod picture;
mod regions;
mod sets;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Parser;
use lineal::{Dataset, Model, ReadOptions, Source, Task, Training};

use crate::args::{Cli, Command, DemoArgs, Output, TrainArgs};
use crate::predict::{Rows, Top, write_rows};
use crate::talk::{count, seconds};
use crate::train::request::Request;
use crate::train::{Outcome, Seconds, summary};
use crate::{eval, files, inspect, tag, talk};
use sets::{SETS, Set};

/// Predictions that are shown.
const SHOWN: usize = 5;

/// Runs the command.
pub fn run(args: &DemoArgs) -> anyhow::Result<()> {
    if args.list {
        return files::to_stdout(|out| {
            SETS.iter().try_for_each(|set| writeln!(out, "{:12}  {}", set.name, set.about))
        });
    }
    let name = args.name.as_deref().unwrap_or(SETS[0].name);
    let Some(set) = Set::find(name) else {
        let names: Vec<&str> = SETS.iter().map(|set| set.name).collect();
        bail!("there is no built-in set `{name}`; the sets are {}", names.join(", "));
    };
    match (&args.write, &args.picture) {
        (Some(folder), _) => write_files(set, folder),
        (None, Some(path)) => draw(set, path),
        (None, None) => {
            let lines = show(set)?;
            files::to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
        }
    }
}

fn write_files(set: &Set, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut paths = Vec::new();
    for (name, text) in set.files() {
        let path = folder.join(name);
        files::write_output(Some(&path), |out| out.write_all(text.as_bytes()))?;
        paths.push(path.display().to_string());
    }
    let model = folder.join(format!("{}.lineal", set.name));
    let command = command(set, &paths[0], &model.display().to_string(), &paths[1]).join(" ");
    files::to_stdout(|out| {
        paths.iter().try_for_each(|path| writeln!(out, "wrote {path}"))?;
        writeln!(out, "now try: {command}")
    })
}

/// Draws the regions of three strategies or maps.
fn draw(set: &Set, path: &Path) -> anyhow::Result<()> {
    if !set.in_plane {
        let names: Vec<&str> = SETS.iter().filter(|set| set.in_plane).map(|set| set.name).collect();
        bail!(
            "a picture needs points of the plane, and {} has others: try {}",
            set.name,
            names.join(", ")
        );
    }
    if path != Path::new("-") {
        files::check_output(path, &[])?;
    }
    let [train, test] = set.files();
    let args = parse(&command(set, &train.0, "m.lineal", &test.0))?;
    let request = Request::new(&args)?;
    let source = memory(train);
    let data = lineal::read(source.clone(), &request.options)?;
    let tries = picture::tries(&source, &request)?;
    let svg = picture::svg(&tries, &data)?;
    files::write_output(Some(path), |out| out.write_all(svg.as_bytes()))?;
    tries.iter().for_each(|one| talk::line(one.title()));
    if path != Path::new("-") {
        talk::line(format_args!("wrote {}", path.display()));
    }
    Ok(())
}

/// The words of the training command.
fn command(set: &Set, train: &str, model: &str, test: &str) -> Vec<String> {
    let mut words = ["lineal", "train", train].map(str::to_owned).to_vec();
    words.extend(set.flags.iter().map(|&flag| flag.to_owned()));
    words.extend(["-o", model, "--test", test].map(str::to_owned));
    words
}

/// Trains and tells. The command that is shown is parsed for the run, so it cannot lie.
fn show(set: &Set) -> anyhow::Result<Vec<String>> {
    let start = Instant::now();
    let [train, test] = set.files();
    let (train_name, test_name) = (train.0.clone(), test.0.clone());
    let model_name = format!("{}.lineal", set.name);
    let words = command(set, &train_name, &model_name, &test_name);
    let args = parse(&words)?;
    if args.task == Task::Tag {
        let mut lines = vec![format!("{}: {}", set.name, set.about)];
        lines.extend(tag::demo::show(&words, &args, [train, test])?);
        return Ok(lines);
    }

    let mut request = Request::new(&args)?;
    let source = memory(train);
    let (data, features) =
        lineal::read_features(source.clone(), &request.options, &request.features)?;
    let read = start.elapsed().as_secs_f64();
    request.meet(&args, &data.schema.classes, &features)?;
    let test = features.read(memory(test), &ReadOptions::default(), &data.schema)?;
    let begun = Instant::now();
    let (model, report) = Training::new(&data, &request.spec).features(&features).run()?;
    let train = begun.elapsed().as_secs_f64();
    let metrics = model.evaluate(&test)?;

    let mut lines = vec![format!("{}: {}", set.name, set.about)];
    lines.push(format!(
        "{} to train on and {} to test, made by formula",
        count(data.n_rows(), "row"),
        test.n_rows()
    ));
    let total = start.elapsed().as_secs_f64();
    let seconds_of = Seconds { read, train, total };
    let model_bytes = model.to_bytes()?.len() as u64;
    let full = eval::in_full(&metrics, model.classes());
    let outcome = Outcome { report, test: Some(metrics), seconds: seconds_of, model_bytes };
    let mut told = summary::data(&data, &features, read);
    told.extend(
        summary::outcome(&model, &outcome, &args)
            .into_iter()
            .filter(|line| !line.starts_with("wrote")),
    );
    section(&mut lines, &words.join(" "), told);
    section(&mut lines, &format!("lineal eval {model_name} {test_name}"), full);
    section(
        &mut lines,
        &format!("lineal inspect {model_name} --top 4"),
        inspect::feature_lines(&model, Some(4)),
    );
    let flag = match (model.classes().is_empty(), model.has_proba()) {
        (true, _) => "",
        (false, true) => " --proba",
        (false, false) => " --top 2",
    };
    let told = predictions(&model, &test)?;
    section(
        &mut lines,
        &format!("lineal predict {model_name} {test_name}{flag} | head -{SHOWN}   # rounded here"),
        told,
    );
    if set.in_plane {
        lines.push(String::new());
        lines.push(picture::heading(&request).to_owned());
        let tries = picture::tries(&source, &request)?;
        lines.extend(tries.iter().map(|one| format!("  {}", one.title())));
        lines.push(format!("`lineal demo {} --picture FILE.svg` draws them.", set.name));
    }
    lines.push(String::new());
    lines.push(format!(
        "All in {}. `lineal demo {} --write .` writes the files, to go on by hand.",
        seconds(start.elapsed().as_secs_f64()),
        set.name
    ));
    Ok(lines)
}

fn parse(words: &[String]) -> anyhow::Result<TrainArgs> {
    match Cli::try_parse_from(words)?.command {
        Command::Train(args) => Ok(*args),
        _ => bail!("not a training command: {}", words.join(" ")),
    }
}

fn memory((name, text): (String, String)) -> Source {
    Source::Memory { name, bytes: text.into_bytes() }
}

pub fn section(lines: &mut Vec<String>, command: &str, told: Vec<String>) {
    lines.push(String::new());
    lines.push(format!("$ {command}"));
    lines.extend(
        told.into_iter().map(|line| if line.is_empty() { line } else { format!("  {line}") }),
    );
}

fn predictions(model: &Model, test: &Dataset) -> anyhow::Result<Vec<String>> {
    let rows: Vec<usize> = (0..SHOWN.min(test.n_rows())).collect();
    let data = test.select(&rows);
    let round = |mut table: lineal::Table| {
        table.values.iter_mut().for_each(|v| *v = (*v * 1e4).round() / 1e4);
        table
    };
    let wants_top = !model.classes().is_empty() && !model.has_proba();
    let top = wants_top.then(|| model.top(&data, 2)).transpose()?.map(|mut best| {
        best.iter_mut().flatten().for_each(|(_, value)| *value = (*value * 1e4).round() / 1e4);
        Top { k: 2, best }
    });
    let rows = Rows {
        classes: model.classes().to_vec(),
        answers: model.predict(&data).into(),
        proba: if model.has_proba() { Some(round(model.proba(&data)?)) } else { None },
        scores: None,
        top,
        separator: ',',
    };
    let mut text = Vec::new();
    write_rows(&mut text, &rows, Output::Text)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}
