//! From flags to a training run: what all tasks share.

use std::path::{Path, PathBuf};

use lineal::{Format, SgdSpec, SolverKind, TrainSpec};

use crate::args::{Held, TrainArgs};
use crate::exit::usage;
use crate::files;

/// A training run that makes sense as far as flags can tell. `O` is how the task's data is read.
pub struct Request<O> {
    pub spec: TrainSpec,
    /// How the training data is read.
    pub options: O,
    /// The file with the examples to watch.
    pub held_out: Option<PathBuf>,
    /// The model to start from.
    pub start: Option<PathBuf>,
    data: PathBuf,
    inputs: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
}

impl<O> Request<O> {
    /// What flags say for every task; the task's own choices are in `spec`, which begins as [`spec`], and its own files in `inputs`.
    pub fn new(
        args: &TrainArgs,
        spec: TrainSpec,
        options: O,
        inputs: impl IntoIterator<Item = PathBuf>,
    ) -> anyhow::Result<Self> {
        let held_out = match &args.validation {
            Some(Held::File(path)) => Some(path.clone()),
            _ => None,
        };
        let start = args.stream.resume.clone();
        let named =
            [&held_out, &args.test, &args.model.cost, &start].into_iter().flatten().cloned();
        let inputs: Vec<PathBuf> =
            [args.data.clone()].into_iter().chain(named).chain(inputs).collect();
        if inputs.iter().filter(|path| *path == Path::new("-")).count() > 1 {
            return usage("standard input can only be read once: give - for one file");
        }
        let mut outputs: Vec<PathBuf> = args.report.iter().cloned().collect();
        match args.out == Path::new("-") {
            true if args.json => {
                return usage("-o - and --json would both write to standard output");
            }
            true => {}
            false => outputs.push(args.out.clone()),
        }
        Ok(Self { spec, options, held_out, start, data: args.data.clone(), inputs, outputs })
    }

    /// Looks at what will be written before any work is done.
    pub fn check_outputs(&self) -> anyhow::Result<()> {
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        let outputs: Vec<&Path> = self.outputs.iter().map(PathBuf::as_path).collect();
        files::check_outputs(&outputs, &inputs)
    }

    /// The format of another file than the training data.
    pub fn format_of(&self, name: &str, given: Option<Format>) -> Option<Format> {
        format_of(Path::new(name), &self.data, given)
    }
}

/// The format of another file than the training data: --format is of the training data, and of others whose name tells no better.
pub fn format_of(path: &Path, data: &Path, given: Option<Format>) -> Option<Format> {
    let told = |path: &Path| Format::from_name(&path.to_string_lossy());
    match told(path) {
        other if other == told(data) => given,
        other => other.or(given),
    }
}

/// The choices that all tasks have.
pub fn spec(args: &TrainArgs) -> anyhow::Result<TrainSpec> {
    let solver = solver(args)?;
    let defaults = TrainSpec::for_task(args.task);
    let loss = args.loss.or(defaults.loss);
    let validation = match &args.validation {
        Some(Held::Fraction(fraction)) => *fraction,
        _ => 0.0,
    };
    Ok(TrainSpec {
        loss,
        solver,
        penalty: args.penalty.of(loss),
        l1: args.l1.unwrap_or(defaults.l1),
        tol: args.stop.tol.unwrap_or(defaults.tol),
        max_passes: args.stop.max_passes,
        sgd: SgdSpec {
            epochs: args.epochs.or(args.stop.max_passes).unwrap_or(defaults.sgd.epochs),
            batch_size: args.batch_size.unwrap_or(defaults.sgd.batch_size),
            rate: args.rate,
            schedule: args.schedule,
            average: args.average.then_some(true),
            shuffle: !args.no_shuffle,
            with_replacement: args.with_replacement,
            passive_aggressive: passive_aggressive(args, &defaults),
        },
        validation,
        patience: args.patience,
        curve: args.curve || args.report.is_some(),
        precision: args.precision,
        seed: args.seed,
        ..defaults
    })
}

/// Updates that are just large enough, where they are asked for, or the task's default and no other learner is.
fn passive_aggressive(args: &TrainArgs, defaults: &TrainSpec) -> Option<f64> {
    let another = args.loss.is_some()
        || args.solver != SolverKind::Auto
        || args.penalty.c.is_some()
        || args.penalty.l2.is_some()
        || args.rate.is_some()
        || args.schedule.is_some();
    args.tag.passive_aggressive.or(defaults.sgd.passive_aggressive.filter(|_| !another))
}

/// `auto` with a flag of sgd is sgd; another solver with one is a mistake.
fn solver(args: &TrainArgs) -> anyhow::Result<SolverKind> {
    let given = [
        ("--epochs", args.epochs.is_some()),
        ("--batch-size", args.batch_size.is_some()),
        ("--rate", args.rate.is_some() && args.solver != SolverKind::Gd),
        ("--schedule", args.schedule.is_some()),
        ("--average", args.average),
        ("--no-shuffle", args.no_shuffle),
        ("--with-replacement", args.with_replacement),
    ];
    match (args.solver, given.iter().find(|(_, given)| *given)) {
        (SolverKind::Auto, Some(_)) if !args.hard_margin => Ok(SolverKind::Sgd),
        (SolverKind::Sgd, _) | (_, None) => Ok(args.solver),
        (other, Some((flag, _))) => usage(format!(
            "{flag} is for the sgd solver, but the solver is {other}; leave it out, or add --solver sgd"
        )),
    }
}
