//! From flags to a training run: what they mean together, checked once.

use std::path::{Path, PathBuf};

use lineal::{
    ClassWeight, CodeKind, FeatureSpec, Features, Format, LossKind, ReadOptions, SgdSpec,
    SolverKind, Strategy, TargetKind, Task, TrainSpec,
};

use crate::args::{CodeArg, Held, ProbaArgs, ReductionArgs, TrainArgs};
use crate::exit::usage;
use crate::{classes, files, text};

/// A training run that makes sense as far as flags can tell.
pub struct Request {
    pub spec: TrainSpec,
    /// How the training data is read.
    pub options: ReadOptions,
    /// What is made of its text.
    pub features: FeatureSpec,
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
        let mut spec = TrainSpec {
            task: args.task,
            loss: args.loss,
            sum: args.sum,
            strategy: strategy(args.strategy, args.task),
            reduction: classes::typed(&args.reduction),
            calibrate: args.proba.calibrate,
            threshold: args.proba.threshold.unwrap_or(defaults.threshold),
            folds: args.proba.folds.unwrap_or(defaults.folds),
            solver,
            penalty: args.penalty.of(args.loss),
            l1: args.l1.unwrap_or(defaults.l1),
            bias: args.model.bias(),
            tol: args.stop.tol.unwrap_or(defaults.tol),
            max_passes: args.stop.max_passes,
            sgd: sgd(args),
            gd_step: args.rate.filter(|_| solver == SolverKind::Gd),
            cost: None,
            class_weight: args.model.class_weight.clone().unwrap_or(ClassWeight::Equal),
            standardize: args.model.standardize,
            hard_margin: args.hard_margin,
            validation,
            patience: args.patience,
            curve: args.curve || args.report.is_some(),
            delta: args.delta.unwrap_or(defaults.delta),
            epsilon: args.epsilon.unwrap_or(defaults.epsilon),
            precision: args.precision,
            seed: args.seed,
        };
        check_task(args)?;
        check_reduction(&args.reduction, |strategy| spec.strategy == strategy)?;
        check_proba(&args.proba, args.task)?;
        let mut inputs = vec![args.data.clone()];
        inputs.extend(
            held_out
                .iter()
                .chain(&args.test)
                .chain(&args.model.cost)
                .chain(&args.file.labels)
                .cloned(),
        );
        inputs.extend(args.reduction.files().cloned());
        inputs.extend(args.text.file());
        inputs.extend(args.templates.templates.clone());
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
        let options = args.file.learning(&args.columns, &args.text, target(args.task));
        let mut features = args.maps.add_to(text::features(&args.text)?, args.seed);
        spec.standardize = args.maps.standardize_first(&mut features, args.model.standardize);
        let (features, options) = args.templates.add_to(features, options)?;
        Ok(Self { spec, options, features, held_out, data: args.data.clone(), inputs, outputs })
    }

    /// Reads the files that name the data's classes: costs, a code, a tree.
    ///
    /// Text has a loss and a strategy of its own, unless the flags say one of them or need another.
    pub fn meet(
        &mut self,
        args: &TrainArgs,
        classes: &[String],
        features: &Features,
    ) -> anyhow::Result<()> {
        let said = args.loss.is_some()
            || args.strategy.is_some()
            || args.sum
            || args.hard_margin
            || args.model.cost.is_some()
            || args.task != Task::Classify;
        if features.text().is_some() && !said {
            let TrainSpec { loss, strategy, .. } = TrainSpec::for_text(classes.len());
            (self.spec.loss, self.spec.strategy) = (loss, strategy);
        }
        self.spec.reduction = classes::with_files(&args.reduction, classes)?;
        if let Some(path) = &args.model.cost {
            self.spec.cost = Some(lineal::read_cost(path, classes)?);
        }
        Ok(())
    }

    /// Looks at what will be written before any work is done.
    pub fn check_outputs(&self) -> anyhow::Result<()> {
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        self.outputs.iter().try_for_each(|output| files::check_output(output, &inputs))
    }

    /// How another file than the training data is read.
    pub fn options_for(&self, path: &Path) -> ReadOptions {
        options_for(path, &self.data, &self.options)
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

/// How another file than the training data is read: --format is of the training data, and of others whose name tells no
/// better.
pub fn options_for(path: &Path, data: &Path, options: &ReadOptions) -> ReadOptions {
    let told = |path: &Path| Format::from_name(&path.to_string_lossy());
    let format = match told(path) {
        other if other == told(data) => options.format,
        other => other.or(options.format),
    };
    ReadOptions { format, labels_file: None, ..options.clone() }
}

/// How labels are read for a task.
pub fn target(task: Task) -> TargetKind {
    match task {
        Task::Classify | Task::Tag => TargetKind::Classes,
        Task::Multilabel => TargetKind::Labels,
        Task::Regress => TargetKind::Real,
    }
}

/// Labels are asked for one by one, unless said otherwise.
fn strategy(given: Option<Strategy>, task: Task) -> Strategy {
    match task {
        Task::Multilabel => given.unwrap_or(Strategy::Ova),
        Task::Classify | Task::Regress | Task::Tag => given.unwrap_or(Strategy::Joint),
    }
}

fn sgd(args: &TrainArgs) -> SgdSpec {
    let defaults = SgdSpec::default();
    SgdSpec {
        epochs: args.epochs.or(args.stop.max_passes).unwrap_or(defaults.epochs),
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

/// Flags of one task with another.
fn check_task(args: &TrainArgs) -> anyhow::Result<()> {
    let for_numbers = matches!(args.loss, Some(LossKind::Huber | LossKind::Epsilon));
    if args.task != Task::Regress && for_numbers {
        let loss = args.loss.map_or("", LossKind::as_str);
        return usage(format!("--loss {loss} is for numbers: add --task regress"));
    }
    if args.task == Task::Regress {
        let given = [
            ("--sum", args.sum),
            ("--cost", args.model.cost.is_some()),
            ("--class-weight", args.model.class_weight.is_some()),
            ("--hard-margin", args.hard_margin),
            ("--strategy", args.strategy.is_some()),
            ("--calibrate", args.proba.calibrate.is_some()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return usage(format!("{flag} is about classes: leave it out with --task regress"));
        }
    }
    if args.task == Task::Multilabel {
        check_multilabel(args.strategy, args.model.cost.is_some())?;
    } else if args.file.label_separator.is_some() {
        return usage("--label-separator is between the labels of a row: add --task multilabel");
    }
    if args.delta.is_some() && args.loss != Some(LossKind::Huber) {
        return usage("--delta is of the huber loss: add --loss huber --task regress");
    }
    if args.epsilon.is_some() && args.loss != Some(LossKind::Epsilon) {
        return usage("--epsilon is of the epsilon loss: add --loss epsilon --task regress");
    }
    Ok(())
}

/// Each label is a question of its own: no class against another.
pub fn check_multilabel(strategy: Option<Strategy>, has_cost: bool) -> anyhow::Result<()> {
    if let Some(strategy @ (Strategy::Joint | Strategy::Ovo | Strategy::Ecoc)) = strategy {
        return usage(format!(
            "--strategy {strategy} is for one class a row; --task multilabel asks each label alone (ova) or in a label \
             tree (tree)"
        ));
    }
    if has_cost {
        return usage(
            "--cost is between classes; with --task multilabel say --threshold cost:FP,FN",
        );
    }
    Ok(())
}

/// Flags of one strategy where another, or none, was asked for.
pub fn check_reduction(
    args: &ReductionArgs,
    runs: impl Fn(Strategy) -> bool,
) -> anyhow::Result<()> {
    let given = [
        ("--pairs", args.pairs.is_some(), Strategy::Ovo),
        ("--code", args.code.is_some(), Strategy::Ecoc),
        ("--code-length", args.code_length.is_some(), Strategy::Ecoc),
        ("--decoding", args.decoding.is_some(), Strategy::Ecoc),
        ("--tree", args.tree.is_some(), Strategy::Tree),
        ("--leaf-size", args.leaf_size.is_some(), Strategy::Tree),
        ("--beam", args.beam.is_some(), Strategy::Tree),
    ];
    if let Some((flag, _, of)) = given.iter().find(|(_, given, of)| *given && !runs(*of)) {
        return usage(format!("{flag} is a choice of --strategy {of}: add that, or leave it out"));
    }
    let fixed = match &args.code {
        None => None,
        Some(CodeArg::File(path)) => Some(path.display().to_string()),
        Some(CodeArg::Made(kind)) => {
            use CodeKind::{Bch, Dense, Greedy, Sparse};
            (!matches!(kind, Dense | Sparse | Bch | Greedy)).then(|| kind.to_string())
        }
    };
    match (fixed, args.code_length) {
        (Some(code), Some(_)) => usage(format!(
            "--code-length is for the codes dense, sparse, bch and greedy; {code} has its own length"
        )),
        _ => Ok(()),
    }
}

/// Thresholds are of labels, and folds of what is fitted to held-out rows.
pub fn check_proba(args: &ProbaArgs, task: Task) -> anyhow::Result<()> {
    if args.threshold.is_some() && task != Task::Multilabel {
        return usage(format!(
            "--threshold says when a label is predicted: add --task multilabel ({task} takes none)"
        ));
    }
    if args.folds.is_some() && !args.cross_fits() {
        return usage(
            "--folds is for --calibrate, or for a --threshold of f1, micro-f1 or cost:FP,FN",
        );
    }
    Ok(())
}
