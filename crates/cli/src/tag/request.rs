//! From flags to a training run on sequences: what they mean together, checked once.

use std::path::{Path, PathBuf};

use anyhow::Context;
use lineal::{Bias, Format, LossKind, SequenceOptions, SolverKind, TagFeatures, TagSpec};

use crate::args::{FileArgs, Held, TextArgs, TrainArgs};
use crate::exit::usage;
use crate::files;

/// A training run that makes sense as far as flags can tell.
pub struct Request {
    pub spec: TagSpec,
    /// How the training data is read.
    pub options: SequenceOptions,
    /// The file with the sequences to watch.
    pub held_out: Option<PathBuf>,
}

impl Request {
    /// Checks the flags against one another, and reads the template.
    pub fn new(args: &TrainArgs) -> anyhow::Result<Self> {
        check_flags(args)?;
        let (held_out, validation) = match &args.validation {
            None => (None, 0.0),
            Some(Held::Fraction(fraction)) => (None, *fraction),
            Some(Held::File(path)) => (Some(path.clone()), 0.0),
        };
        let defaults = TagSpec::default();
        let loss = args.loss.unwrap_or(defaults.loss);
        let spec = TagSpec {
            features: features(args)?,
            hash_bits: args.text.hash.map(u32::from),
            min_count: args.tag.min_count.map_or(1, |n| n.min(u32::MAX as usize) as u32),
            order: args.tag.order.unwrap_or(defaults.order),
            ends: !args.tag.no_ends,
            bias: bias(args)?,
            weights: args.tag.label_weights.unwrap_or(defaults.weights),
            scheme: args.tag.scheme,
            forbidden: match &args.tag.forbid {
                Some(path) => lineal::read_forbidden(path)?,
                None => Vec::new(),
            },
            legal_rivals: args.tag.legal_rivals,
            loss,
            cost: None,
            solver: solver(args)?,
            passive_aggressive: args.tag.passive_aggressive,
            penalty: args.penalty.of(Some(loss)),
            l1: args.l1.unwrap_or(defaults.l1),
            tol: args.stop.tol.unwrap_or(defaults.tol),
            passes: args.epochs.or(args.stop.max_passes),
            rate: args.rate,
            schedule: args.schedule,
            average: args.average.then_some(true),
            validation,
            patience: args.patience,
            seed: args.seed,
        };
        check_files(args, held_out.as_deref())?;
        let options =
            SequenceOptions { unlabelled: args.tag.unlabelled.clone(), ..read_options(&args.file) };
        Ok(Self { spec, options, held_out })
    }

    /// How another file than the training data is read.
    pub fn options_for(&self, path: &Path, data: &Path) -> SequenceOptions {
        let told = |path: &Path| Format::from_name(&path.to_string_lossy());
        let format = match told(path) {
            other if other == told(data) => self.options.format,
            other => other.or(self.options.format),
        };
        SequenceOptions { format, ..self.options.clone() }
    }
}

/// How a file of sequences is read.
pub fn read_options(file: &FileArgs) -> SequenceOptions {
    SequenceOptions { format: file.format, label: file.label.clone(), unlabelled: None }
}

fn features(args: &TrainArgs) -> anyhow::Result<TagFeatures> {
    Ok(match (&args.tag.template, &args.tag.features) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the template {}", path.display()))?;
            // Mistakes in it are told with its name, before any data is read.
            if let Err(error) = lineal::sequence::Templates::parse(&text) {
                anyhow::bail!("{}: {error}", path.display());
            }
            TagFeatures::Templates(text)
        }
        (None, Some(list)) => {
            lineal::sequence::expand(list)?;
            TagFeatures::List(list.clone())
        }
        (None, None) => TagFeatures::Default,
    })
}

/// Whether every token has an attribute for how frequent a label is.
fn bias(args: &TrainArgs) -> anyhow::Result<Option<bool>> {
    match args.model.bias.map(|bias| bias.0) {
        None => Ok(None),
        Some(Bias::None) => Ok(Some(false)),
        Some(Bias::Penalised) => Ok(Some(true)),
        Some(Bias::Free) => usage(
            "the bias of sequences is an attribute like others: say --bias penalised, or none",
        ),
    }
}

/// `auto` with a flag of sgd is sgd.
fn solver(args: &TrainArgs) -> anyhow::Result<SolverKind> {
    let given = [
        ("--epochs", args.epochs.is_some()),
        ("--rate", args.rate.is_some()),
        ("--schedule", args.schedule.is_some()),
        ("--average", args.average),
    ];
    match (args.solver, given.iter().find(|(_, given)| *given)) {
        (SolverKind::Auto, Some(_)) => Ok(SolverKind::Sgd),
        (SolverKind::Sgd, _) | (_, None) => Ok(args.solver),
        (other, Some((flag, _))) => usage(format!(
            "{flag} is a choice of the sgd solver and the solver is {other}; leave it out, or say --solver sgd"
        )),
    }
}

/// Flags that have no meaning for sequences.
fn check_flags(args: &TrainArgs) -> anyhow::Result<()> {
    let loss = |l: LossKind| args.loss == Some(l);
    let given = [
        ("--sum", args.sum),
        ("--class-weight", args.model.class_weight.is_some()),
        ("--standardize", args.model.standardize),
        ("--hard-margin", args.hard_margin),
        ("--strategy", args.strategy.is_some()),
        ("--calibrate", args.proba.calibrate.is_some()),
        ("--threshold", args.proba.threshold.is_some()),
        ("--batch-size", args.batch_size.is_some()),
        ("--no-shuffle", args.no_shuffle),
        ("--with-replacement", args.with_replacement),
        ("--label-separator", args.file.label_separator.is_some()),
        ("--weight", args.file.weight.is_some()),
        ("--numeric", !args.columns.numeric.is_empty()),
        ("--categorical", !args.columns.categorical.is_empty()),
        ("--ignore", !args.columns.ignore.is_empty()),
        ("--delta", args.delta.is_some()),
        ("--epsilon", args.epsilon.is_some()),
        ("--text", !args.text.text.is_empty()),
        ("--map", args.maps.map.is_some()),
        ("--interact", !args.maps.interact.is_empty()),
        ("--templates (--template is that of tag)", args.templates.templates.is_some()),
        ("--stream", args.stream.stream),
    ];
    // Of the flags about text, --hash is about the attributes of tokens as well.
    let text = TextArgs { hash: None, ..args.text.clone() };
    let of_text = text.first().or(args.stream.given()).map(|flag| (flag, true));
    let given: Vec<(&str, bool)> = given.into_iter().chain(of_text).collect();
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return usage(format!("{flag} has no meaning for sequences: leave it out with --task tag"));
    }
    if loss(LossKind::Squared)
        || loss(LossKind::SquaredHinge)
        || loss(LossKind::Huber)
        || loss(LossKind::Epsilon)
    {
        return usage("--task tag has the losses perceptron, hinge and logistic");
    }
    if !matches!(
        args.solver,
        SolverKind::Auto | SolverKind::Sgd | SolverKind::Lbfgs | SolverKind::Dual
    ) {
        return usage("--task tag has the solvers auto, sgd, lbfgs and dual");
    }
    Ok(())
}

fn check_files(args: &TrainArgs, held_out: Option<&Path>) -> anyhow::Result<()> {
    let mut inputs: Vec<&Path> = vec![&args.data];
    inputs.extend(held_out);
    inputs.extend(
        args.test
            .iter()
            .chain(&args.model.cost)
            .chain(args.tag.files())
            .chain(&args.stream.resume)
            .map(PathBuf::as_path),
    );
    if inputs.iter().filter(|path| **path == Path::new("-")).count() > 1 {
        return usage("standard input can only be read once: give - for one file");
    }
    if let Some(report) = &args.report {
        files::check_output(report, &inputs)?;
    }
    match args.out == Path::new("-") {
        true if args.json => usage("-o - and --json would both write to standard output"),
        true => Ok(()),
        false => files::check_output(&args.out, &inputs),
    }
}
