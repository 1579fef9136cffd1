//! Which flag belongs to which task: checked here, once, for all of them.

use lineal::{LossKind, SolverKind, Task};

use crate::args::{TextArgs, TrainArgs};
use crate::exit::usage;

/// The tasks that a flag is for.
#[derive(Clone, Copy, PartialEq)]
enum For {
    /// Models of rows.
    Rows,
    /// Sequences alone.
    Tag,
    /// Dependency trees alone.
    Dependency,
    /// Everything with structured outputs.
    Structures,
    /// Everything with labels of its own: rows and sequences.
    Labels,
}

/// Refuses a flag that the task has no use for.
pub fn check(args: &TrainArgs) -> anyhow::Result<()> {
    let task = args.task;
    let foreign = |of: For| match of {
        For::Rows => task.is_structured(),
        For::Tag => task != Task::Tag,
        For::Dependency => task != Task::Dependency,
        For::Structures => !task.is_structured(),
        For::Labels => task == Task::Dependency,
    };
    let given = table(args).into_iter().find(|(_, given, of)| *given && foreign(*of));
    match given {
        Some((flag, _, For::Rows | For::Labels)) => {
            usage(format!("{flag} has no meaning for --task {task}: leave it out"))
        }
        Some((flag, _, For::Tag)) if task.is_structured() => {
            usage(format!("{flag} has no meaning for --task {task}: leave it out"))
        }
        Some((flag, _, For::Tag)) => usage(format!("{flag} is about sequences: add --task tag")),
        Some((flag, _, For::Dependency)) => {
            usage(format!("{flag} is about dependency trees: add --task dependency"))
        }
        Some((flag, _, For::Structures)) => {
            usage(format!("{flag} is about sequences or trees: add --task tag or dependency"))
        }
        None if task.is_structured() => check_learner(args),
        None => Ok(()),
    }
}

/// Flags by whom they are for; those of every task are not here.
fn table(args: &TrainArgs) -> Vec<(&'static str, bool, For)> {
    // Of the flags about text, --hash is about the attributes of tokens as well.
    let text = TextArgs { hash: None, ..args.text.clone() };
    let tag = &args.tag;
    let mut table = vec![
        ("--sum", args.sum, For::Rows),
        ("--class-weight", args.model.class_weight.is_some(), For::Rows),
        ("--standardize", args.model.standardize, For::Rows),
        ("--hard-margin", args.hard_margin, For::Rows),
        ("--strategy", args.strategy.is_some(), For::Rows),
        ("--calibrate", args.proba.calibrate.is_some(), For::Rows),
        ("--threshold", args.proba.threshold.is_some(), For::Rows),
        ("--batch-size", args.batch_size.is_some(), For::Rows),
        ("--no-shuffle", args.no_shuffle, For::Rows),
        ("--with-replacement", args.with_replacement, For::Rows),
        ("--label-separator", args.file.label_separator.is_some(), For::Rows),
        ("--weight", args.file.weight.is_some(), For::Rows),
        ("--numeric", !args.columns.numeric.is_empty(), For::Rows),
        ("--categorical", !args.columns.categorical.is_empty(), For::Rows),
        ("--ignore", !args.columns.ignore.is_empty(), For::Rows),
        ("--delta", args.delta.is_some(), For::Rows),
        ("--epsilon", args.epsilon.is_some(), For::Rows),
        ("--map", args.maps.map.is_some(), For::Rows),
        ("--interact", !args.maps.interact.is_empty(), For::Rows),
        ("--templates (--template is that of tag)", args.templates.templates.is_some(), For::Rows),
        ("--stream", args.stream.stream, For::Rows),
        ("--text", !args.text.text.is_empty(), For::Rows),
        ("--no-header", args.file.no_header, For::Rows),
        ("--labels", args.file.labels.is_some(), For::Rows),
        ("--folds", args.proba.folds.is_some(), For::Rows),
        ("--pairs", args.reduction.pairs.is_some(), For::Rows),
        ("--code", args.reduction.code.is_some(), For::Rows),
        ("--code-length", args.reduction.code_length.is_some(), For::Rows),
        ("--decoding", args.reduction.decoding.is_some(), For::Rows),
        ("--tree", args.reduction.tree.is_some(), For::Rows),
        ("--leaf-size", args.reduction.leaf_size.is_some(), For::Rows),
        ("--beam", args.reduction.beam.is_some(), For::Rows),
        ("--cost", args.model.cost.is_some(), For::Labels),
        ("--bias", args.model.bias.is_some(), For::Labels),
        ("--label", args.file.label.is_some(), For::Labels),
        ("--features", tag.features.is_some(), For::Tag),
        ("--min-count", tag.min_count.is_some(), For::Tag),
        ("--scheme", tag.scheme.is_some(), For::Tag),
        ("--legal-rivals", tag.legal_rivals, For::Tag),
        ("--label-weights", tag.label_weights.is_some(), For::Tag),
        ("--no-ends", tag.no_ends, For::Tag),
        ("--unlabelled", tag.unlabelled.is_some(), For::Tag),
        ("--template", tag.template.is_some(), For::Structures),
        ("--order", tag.order.is_some(), For::Structures),
        ("--passive-aggressive", tag.passive_aggressive.is_some(), For::Structures),
        ("--max-size", tag.max_size.is_some(), For::Structures),
        ("--forbid", tag.forbid.is_some(), For::Structures),
        ("--decoder", args.dependency.decoder.is_some(), For::Dependency),
        ("--candidates", args.dependency.candidates.is_some(), For::Dependency),
        ("--labeller", args.dependency.labeller.is_some(), For::Dependency),
        ("--tags", args.dependency.tags.is_some(), For::Dependency),
        ("--many-roots", args.dependency.many_roots, For::Dependency),
    ];
    let of_rows = text.first().or(args.stream.given());
    table.extend(of_rows.map(|flag| (flag, true, For::Rows)));
    table
}

/// The losses and solvers of structures.
fn check_learner(args: &TrainArgs) -> anyhow::Result<()> {
    let task = args.task;
    if !matches!(
        args.loss,
        None | Some(LossKind::Perceptron | LossKind::Hinge | LossKind::Logistic)
    ) {
        return usage(format!("--task {task} has the losses perceptron, hinge and logistic"));
    }
    if !matches!(
        args.solver,
        SolverKind::Auto | SolverKind::Sgd | SolverKind::Lbfgs | SolverKind::Dual
    ) {
        return usage(format!("--task {task} has the solvers auto, sgd, lbfgs and dual"));
    }
    Ok(())
}
