//! From flags to a training run: what they mean together, checked once.

use std::path::{Path, PathBuf};

use lineal::{
    ClassWeight, Format, LossKind, Penalty, ReadOptions, SgdSpec, SolverKind, TargetKind, Task,
    TrainSpec,
};

use crate::args::{Held, TrainArgs};
use crate::exit::usage;
use crate::files;

/// A training run that makes sense as far as flags can tell.
pub struct Request {
    pub spec: TrainSpec,
    /// How the training data is read.
    pub options: ReadOptions,
    /// The file with the rows to watch.
    pub held_out: Option<PathBuf>,
    data: PathBuf,
    inputs: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
}

impl Request {
    /// Checks the flags against one another.
    pub fn new(args: &TrainArgs) -> anyhow::Result<Self> {
        let solver = solver(args)?;
        let (held_out, validation) = match &args.validation {
            None => (None, 0.0),
            Some(Held::Fraction(fraction)) => (None, *fraction),
            Some(Held::File(path)) => (Some(path.clone()), 0.0),
        };
        let defaults = TrainSpec::default();
        let spec = TrainSpec {
            task: args.task,
            loss: args.loss,
            sum: args.sum,
            strategy: args.strategy,
            solver,
            penalty: penalty(args),
            l1: args.l1.unwrap_or(defaults.l1),
            bias: args.bias.0,
            tol: args.tol.unwrap_or(defaults.tol),
            max_passes: args.max_passes,
            sgd: sgd(args),
            gd_step: args.rate.filter(|_| solver == SolverKind::Gd),
            cost: None,
            class_weight: args.class_weight.clone().unwrap_or(ClassWeight::Equal),
            standardize: args.standardize,
            hard_margin: args.hard_margin,
            validation,
            patience: args.patience,
            curve: args.curve || args.report.is_some(),
            delta: args.delta.unwrap_or(defaults.delta),
            epsilon: args.epsilon.unwrap_or(defaults.epsilon),
            precision: args.precision,
            seed: args.seed,
        };
        let target = match args.task {
            Task::Classify => TargetKind::Classes,
            Task::Regress => TargetKind::Real,
        };
        check_task(args)?;
        let mut inputs = vec![args.data.clone()];
        inputs.extend(
            held_out.iter().chain(&args.test).chain(&args.cost).chain(&args.file.labels).cloned(),
        );
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
        let options = args.file.learning(&args.columns, target);
        Ok(Self { spec, options, held_out, data: args.data.clone(), inputs, outputs })
    }

    /// Looks at what will be written before any work is done.
    pub fn check_outputs(&self) -> anyhow::Result<()> {
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        self.outputs.iter().try_for_each(|output| files::check_output(output, &inputs))
    }

    /// How another file than the training data is read: --format is of the training data, and of others whose name
    /// tells no better.
    pub fn options_for(&self, path: &Path) -> ReadOptions {
        let told = |path: &Path| Format::from_name(&path.to_string_lossy());
        let format = match told(path) {
            other if other == told(&self.data) => self.options.format,
            other => other.or(self.options.format),
        };
        ReadOptions { format, labels_file: None, ..self.options.clone() }
    }

    /// The number of passes, where it is known beforehand.
    pub fn n_epochs(&self) -> Option<usize> {
        let sgd = match self.spec.solver {
            SolverKind::Auto => self.spec.loss == Some(LossKind::Perceptron),
            solver => solver == SolverKind::Sgd,
        };
        sgd.then_some(self.spec.sgd.epochs)
    }
}

/// The perceptron has no penalty unless asked for.
fn penalty(args: &TrainArgs) -> Penalty {
    match (args.c, args.l2) {
        (Some(c), _) => Penalty::C(c),
        (None, Some(l2)) => Penalty::L2(l2),
        (None, None) if args.loss == Some(LossKind::Perceptron) => Penalty::L2(0.0),
        (None, None) => Penalty::C(1.0),
    }
}

fn sgd(args: &TrainArgs) -> SgdSpec {
    let defaults = SgdSpec::default();
    SgdSpec {
        epochs: args.epochs.or(args.max_passes).unwrap_or(defaults.epochs),
        batch_size: args.batch_size.unwrap_or(defaults.batch_size),
        rate: args.rate,
        schedule: args.schedule,
        average: args.average,
        shuffle: !args.no_shuffle,
        with_replacement: args.with_replacement,
    }
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
            "{flag} is a choice of the sgd solver and the solver is {other}; leave it out, or say --solver sgd"
        )),
    }
}

/// Flags of one task with the other.
fn check_task(args: &TrainArgs) -> anyhow::Result<()> {
    let for_numbers = matches!(args.loss, Some(LossKind::Huber | LossKind::Epsilon));
    if args.task == Task::Classify && for_numbers {
        let loss = args.loss.map_or("", LossKind::as_str);
        return usage(format!("--loss {loss} is for numbers: add --task regress"));
    }
    if args.task == Task::Regress {
        let given = [
            ("--sum", args.sum),
            ("--cost", args.cost.is_some()),
            ("--class-weight", args.class_weight.is_some()),
            ("--hard-margin", args.hard_margin),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return usage(format!("{flag} is about classes: leave it out with --task regress"));
        }
    }
    if args.delta.is_some() && args.loss != Some(LossKind::Huber) {
        return usage("--delta is of the huber loss: add --loss huber --task regress");
    }
    if args.epsilon.is_some() && args.loss != Some(LossKind::Epsilon) {
        return usage("--epsilon is of the epsilon loss: add --loss epsilon --task regress");
    }
    Ok(())
}
