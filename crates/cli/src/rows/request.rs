//! From flags to a training run on rows: what they mean together, checked once.

use std::path::{Path, PathBuf};

use lineal::{
    ClassWeight, CodeKind, FeatureSpec, Features, LossKind, ReadOptions, SolverKind, Strategy,
    Task, TrainSpec,
};

use crate::args::{CodeArg, ProbaArgs, ReductionArgs, TrainArgs};
use crate::exit::usage;
use crate::train::request::{self, Request};
use crate::{classes, text};

/// How rows are read, and what is made of their text.
pub struct RowOptions {
    pub read: ReadOptions,
    pub features: FeatureSpec,
}

/// What the flags ask for.
pub fn request(args: &TrainArgs) -> anyhow::Result<Request<RowOptions>> {
    let common = request::spec(args)?;
    let mut spec = TrainSpec {
        // The perceptron and its like have defaults of their own; those of classes are found when the data is known.
        loss: args.loss,
        penalty: args.penalty.of(args.loss),
        sum: args.sum,
        strategy: strategy(args.strategy, args.task),
        reduction: classes::typed(&args.reduction),
        bias: args.model.bias(),
        gd_step: args.rate.filter(|_| common.solver == SolverKind::Gd),
        class_weight: args.model.class_weight.clone().unwrap_or(ClassWeight::Equal),
        hard_margin: args.hard_margin,
        delta: args.delta.unwrap_or(common.delta),
        epsilon: args.epsilon.unwrap_or(common.epsilon),
        ..common
    };
    args.proba.add_to(&mut spec);
    check_task(args)?;
    check_reduction(&args.reduction, |strategy| spec.strategy == strategy)?;
    check_proba(&args.proba, &spec)?;
    let inputs = args.file.labels.iter().cloned();
    let inputs = inputs.chain(args.reduction.files().cloned()).chain(args.text.file());
    let inputs: Vec<PathBuf> = inputs.chain(args.templates.templates.clone()).collect();
    let options = args.file.learning(&args.columns, &args.text, args.task.target());
    let mut features = args.maps.add_to(text::features(&args.text)?, args.seed);
    features.standardize = args.model.standardized();
    spec.standardize = args.maps.standardize_left(features.standardize);
    let (features, read) = args.templates.add_to(features, options)?;
    Request::new(args, spec, RowOptions { read, features }, inputs)
}

/// Completes the request with what depends on the classes of the data: costs, a code, a tree.
///
/// Text has a loss and a strategy of its own, unless the flags say one of them or need another.
pub fn complete(
    request: &mut Request<RowOptions>,
    args: &TrainArgs,
    classes: &[String],
    features: &Features,
) -> anyhow::Result<()> {
    let is_given = args.loss.is_some()
        || args.strategy.is_some()
        || args.sum
        || args.hard_margin
        || args.model.cost.is_some();
    let spec = &mut request.spec;
    if features.text().is_some() && !is_given {
        let usual = TrainSpec::for_text(classes.len());
        match args.task {
            Task::Classify => (spec.loss, spec.strategy) = (usual.loss, usual.strategy),
            Task::Multilabel => spec.loss = usual.loss,
            _ => {}
        }
    }
    if features.text().is_some() && args.proba.calibrate.is_none() {
        calibrate_margins(spec, classes.len());
    }
    spec.reduction = classes::with_files(&args.reduction, classes)?;
    if let Some(path) = &args.model.cost {
        spec.cost = Some(lineal::read_cost(path, classes)?);
    }
    Ok(())
}

/// Gives models of margins probabilities, if these need one fitted number and change no prediction.
pub fn calibrate_margins(spec: &mut TrainSpec, n_classes: usize) {
    let has_margins = matches!(spec.loss, Some(LossKind::Hinge | LossKind::SquaredHinge));
    // Labels are independent of each other, so that their number does not matter.
    let usual = match spec.task {
        Task::Classify => TrainSpec::for_text(n_classes),
        Task::Multilabel => TrainSpec::for_text(2),
        _ => return,
    };
    let is_direct = n_classes == 2 || matches!(spec.strategy, Strategy::Joint | Strategy::Ova);
    if has_margins && is_direct && !spec.hard_margin {
        spec.calibrate = usual.calibrate;
        // A threshold that was asked for has all folds.
        if !spec.threshold.is_tuned() {
            spec.enough_held_out = usual.enough_held_out;
        }
    }
}

/// How another file than the training data is read, to be compared with the answers of a model.
pub fn options_for(path: &Path, data: &Path, options: &ReadOptions) -> ReadOptions {
    let format = request::format_of(path, data, options.format);
    ReadOptions { format, labels_file: None, only_labelled: true, ..options.clone() }
}

/// Labels are asked for one by one, unless said otherwise.
fn strategy(given: Option<Strategy>, task: Task) -> Strategy {
    match task {
        Task::Multilabel => given.unwrap_or(Strategy::Ova),
        _ => given.unwrap_or(Strategy::Joint),
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
            return usage(format!("{flag} is for classes: leave it out with --task regress"));
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
            "--strategy {strategy} is for one class per row; --task multilabel asks each label alone (ova) or in a label \
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

/// Thresholds are of labels and classes, and folds of what is fitted to held-out rows.
pub fn check_proba(args: &ProbaArgs, spec: &TrainSpec) -> anyhow::Result<()> {
    if args.threshold.is_some() && spec.task == Task::Regress {
        return usage("--threshold is for classes and labels: leave it out with --task regress");
    }
    if args.folds.is_some() && !cross_fits(spec) {
        return usage(
            "--folds is for --calibrate, or for a --threshold of auto, f1, macro-f1, micro-f1 or cost:FP,FN",
        );
    }
    Ok(())
}

/// Whether models are trained beside the one that is asked for.
pub fn cross_fits(spec: &TrainSpec) -> bool {
    spec.calibrate.is_some() || spec.threshold.is_tuned()
}
