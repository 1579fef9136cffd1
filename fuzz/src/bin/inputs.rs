//! Runs mutated inputs through all targets: `cargo run --profile fuzz -p lineal-fuzz --bin inputs -- --minutes 60`. See `fuzz/README.md`.

use anyhow::{Context, Result, bail};
use cap::Cap;
use lineal_fuzz::inputs::drive::{self, Counts, Drive, Work};
use lineal_fuzz::inputs::{TARGETS, find, guard};
use std::alloc::System;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, guard::MEMORY);

const USAGE: &str = "\
usage: inputs [TARGET …] [--seconds S] [--minutes M] [--jobs N] [--seed S] [--folder FOLDER] [--samples FOLDER]
       inputs --replay TARGET FILE …
       inputs --list

Without --minutes each target runs once, for --seconds (10). With it, rounds follow each other until the time is over.";

struct Args {
    targets: Vec<String>,
    time: Duration,
    total: Option<Duration>,
    jobs: usize,
    seed: u64,
    folder: PathBuf,
    samples: Option<PathBuf>,
    worker: Option<String>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("--help" | "-h") => {
            println!("{USAGE}");
            Ok(true)
        }
        Some("--list") => {
            TARGETS.iter().for_each(|target| println!("{}", target.name));
            Ok(true)
        }
        Some("--replay") => replay(&args[1..]),
        _ => parse(args).and_then(|args| run(&args)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("inputs: {why:#}");
            ExitCode::from(2)
        }
    }
}

fn parse(words: Vec<String>) -> Result<Args> {
    let mut args = Args {
        targets: Vec::new(),
        time: Duration::from_secs(10),
        total: None,
        jobs: 1,
        seed: 1,
        folder: "target/soak/inputs".into(),
        samples: None,
        worker: None,
    };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            args.targets.push(word);
            continue;
        }
        let value = words.next().with_context(|| format!("{word} needs a value\n{USAGE}"))?;
        let time = |unit: f64| -> Result<Duration> {
            let number: f64 = value.parse().with_context(|| format!("{word} {value}"))?;
            Duration::try_from_secs_f64(number * unit).with_context(|| format!("{word} {value}"))
        };
        match word.as_str() {
            "--seconds" => args.time = time(1.0)?,
            "--minutes" => args.total = Some(time(60.0)?),
            "--jobs" => args.jobs = value.parse().context("--jobs")?,
            "--seed" => args.seed = value.parse().context("--seed")?,
            "--folder" => args.folder = value.into(),
            "--samples" => args.samples = Some(value.into()),
            "--worker" => args.worker = Some(value),
            _ => bail!("unknown flag {word}\n{USAGE}"),
        }
    }
    Ok(args)
}

/// Whether nothing was found.
fn run(args: &Args) -> Result<bool> {
    if let Some(name) = &args.worker {
        let target = find(name).with_context(|| format!("there is no target {name}"))?;
        guard::hear_panics();
        guard::watch(target.seconds);
        let (folder, samples) = (args.folder.as_path(), args.samples.as_deref());
        Work { target, folder, time: args.time, seed: args.seed, samples }.run()?;
        return Ok(true);
    }
    let targets = drive::select(&args.targets).map_err(anyhow::Error::msg)?;
    let started = Instant::now();
    let mut all = vec![Counts::default(); targets.len()];
    for round in 0.. {
        let drive = Drive {
            targets: &targets,
            folder: &args.folder,
            time: args.time,
            seed: args.seed.wrapping_add(round),
            jobs: args.jobs,
            samples: args.samples.as_deref(),
        };
        drive::sum(&mut all, &drive.round()?);
        if args.total.is_none_or(|total| started.elapsed() >= total) {
            break;
        }
        eprintln!("after {} s:\n{}", started.elapsed().as_secs(), drive::table(&targets, &all));
    }
    print!("{}", drive::table(&targets, &all));
    let found: u64 = all.iter().map(Counts::found).sum();
    if found > 0 {
        println!(
            "{found} findings in {}; add what was mended to fuzz/corpus/TARGET",
            args.folder.join("findings").display()
        );
    }
    Ok(found == 0)
}

/// Runs inputs as they are, with what they do in plain sight.
fn replay(words: &[String]) -> Result<bool> {
    let (name, files) = words.split_first().context(USAGE)?;
    let target = find(name).with_context(|| format!("there is no target {name}"))?;
    guard::watch(target.seconds);
    for file in files {
        let input = std::fs::read(file).with_context(|| file.clone())?;
        let started = Instant::now();
        let done = guard::run(target, &input);
        println!(
            "{file}: {} in {:.2} s",
            if done.is_ok() { "passes" } else { "panics" },
            started.elapsed().as_secs_f64()
        );
        if done.is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}
