//! `lineal demo`: a whole run on a built-in set, with the commands that a user would type.

mod addresses;
mod picture;
pub mod regions;
mod sets;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Parser;
use lineal::{Dataset, Model, Source, TagModel, Task};

use crate::args::{Cli, Command, DemoArgs, Output, TrainArgs};
use crate::progress::Progress;
use crate::rows::predict::{Rows as Answered, Top, write_rows};
use crate::rows::{Rows, eval, inspect};
use crate::talk::{Talk, seconds};
use crate::train::{Outcome, Seconds, SharedProgress, Trainable, outcome_lines};
use crate::{files, tag, talk};
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
    let request = Model::request(&args)?;
    let source = memory(train);
    let data = lineal::read(source.clone(), &request.options.read)?;
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

/// Trains and prints. The command that is shown is parsed for the run, so it cannot lie.
fn show(set: &Set) -> anyhow::Result<Vec<String>> {
    let [train, test] = set.files();
    let words = command(set, &train.0, &format!("{}.lineal", set.name), &test.0);
    let args = parse(&words)?;
    match args.task {
        Task::Tag => run_and_tell::<TagModel>(set, &words, &args, tag::demo::more),
        _ => run_and_tell::<Model>(set, &words, &args, |model, test, names| {
            more_of_rows(set, &args, model, test, names)
        }),
    }
}

/// Commands with what they print.
pub type Sections = Vec<(String, Vec<String>)>;

/// The run itself, `eval`, `inspect`, and `more` commands: given the model, the test data, and the names of the files of both.
fn run_and_tell<M: Trainable>(
    set: &Set,
    words: &[String],
    args: &TrainArgs,
    more: impl FnOnce(&M, &M::Data, [&str; 2]) -> anyhow::Result<Sections>,
) -> anyhow::Result<Vec<String>> {
    let start = Instant::now();
    let [train, test] = set.files();
    let (model_name, test_name) = (args.out.display().to_string(), test.0.clone());
    let mut request = M::request(args)?;
    let mut told = Vec::new();
    let data = M::read(memory(train), args, &mut request, &mut |lines| told.extend(lines))?;
    let read = start.elapsed().as_secs_f64();
    let talk = Talk::new(true);
    let test = M::labelled(memory(test), &request, &data, talk)?;
    let begun = Instant::now();
    let shown = SharedProgress::new(Progress::new(talk, None, request.spec.task));
    let (model, report) = M::fit(&request, &data, None, &shown)?;
    let train = begun.elapsed().as_secs_f64();
    let measured = M::evaluate(&model, &test)?;
    let outcome = Outcome {
        report,
        test: Some(measured),
        seconds: Seconds { read, train, total: start.elapsed().as_secs_f64() },
        model_bytes: model.write_to(&mut std::io::sink())?,
        last_pass: shown.last_pass(),
        shrunk: None,
    };
    let all = outcome_lines(&model, &outcome, args);
    told.extend(all.into_iter().filter(|line| !line.starts_with("wrote")));

    let mut lines = vec![format!("{}: {}", set.name, set.about)];
    section(&mut lines, &words.join(" "), told);
    for (command, told) in more(&model, &test, [&model_name, &test_name])? {
        section(&mut lines, &command, told);
    }
    lines.push(String::new());
    lines.push(format!(
        "All in {}. `lineal demo {} --write .` writes the files, to go on by hand.",
        seconds(start.elapsed().as_secs_f64()),
        set.name
    ));
    Ok(lines)
}

fn more_of_rows(
    set: &Set,
    args: &TrainArgs,
    model: &Model,
    test: &Rows,
    [model_name, test_name]: [&str; 2],
) -> anyhow::Result<Sections> {
    let full = eval::in_full(&model.evaluate(&test.data)?, model.classes());
    let flag = match (model.classes().is_empty(), model.has_proba()) {
        (true, _) => "",
        (false, true) => " --proba",
        (false, false) => " --top 2",
    };
    let head = format!("{flag} | head -{SHOWN}   # rounded here");
    let mut sections = vec![
        (format!("lineal eval {model_name} {test_name}"), full),
        (format!("lineal inspect {model_name} --top 4"), inspect::feature_lines(model, Some(4))),
        (format!("lineal predict {model_name} {test_name}{head}"), predictions(model, &test.data)?),
    ];
    if set.in_plane {
        let request = Model::request(args)?;
        let tries = picture::tries(&memory(set.files()[0].clone()), &request)?;
        let mut told = vec![picture::heading(&request).to_owned()];
        told.extend(tries.iter().map(|one| one.title().to_string()));
        sections.push((format!("lineal demo {} --picture {}.svg", set.name, set.name), told));
    }
    Ok(sections)
}

pub fn parse(words: &[String]) -> anyhow::Result<TrainArgs> {
    match Cli::try_parse_from(words)?.command {
        Command::Train(args) => Ok(args.settle()),
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
    let rows = Answered {
        classes: model.classes().to_vec(),
        answers: model.predict(&data)?.into(),
        proba: if model.has_proba() { Some(round(model.proba(&data)?)) } else { None },
        scores: None,
        top,
        separator: ',',
        kept: None,
    };
    let mut text = Vec::new();
    write_rows(&mut text, &rows, Output::Text)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}
