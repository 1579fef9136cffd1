//! Which flag belongs to which task: checked here, once, for all of them.

use lineal::{LossKind, Precision, SolverKind, Task};

use crate::args::{TextArgs, TrainArgs};
use crate::exit::usage;

/// Classes, labels or numbers for rows.
const ROWS: &[Task] = &[Task::Classify, Task::Multilabel, Task::Regress];
/// Everything that is read from tables of rows.
const TABLES: &[Task] = &[Task::Classify, Task::Multilabel, Task::Regress, Task::Rank];
/// Everything with a column to predict.
const LABELLED: &[Task] = &[Task::Classify, Task::Multilabel, Task::Regress, Task::Rank, Task::Tag];
/// Everything with costs of labels.
const COSTS: &[Task] = &[Task::Classify, Task::Multilabel, Task::Regress, Task::Tag];
/// Everything that the learners of structures learn.
const STRUCTURES: &[Task] =
    &[Task::Tag, Task::Dependency, Task::Constituency, Task::Rank, Task::Segment, Task::Declared];
/// Everything whose classes can weigh differently.
const WEIGHED: &[Task] =
    &[Task::Classify, Task::Multilabel, Task::Regress, Task::Segment, Task::Tag];
/// Sequences and trees.
const SENTENCES: &[Task] = &[Task::Tag, Task::Dependency, Task::Constituency];
/// What has features that can be hashed.
const HASHED: &[Task] = &[
    Task::Classify,
    Task::Multilabel,
    Task::Regress,
    Task::Rank,
    Task::Tag,
    Task::Dependency,
    Task::Constituency,
];
/// What has tables of weights that can be made smaller.
const TABLED: &[Task] = &[Task::Tag, Task::Dependency, Task::Constituency, Task::Declared];
/// Trees.
const TREES: &[Task] = &[Task::Dependency, Task::Constituency];
/// What has an order of its parts.
const ORDERS: &[Task] = &[Task::Tag, Task::Dependency];

/// Refuses a flag that the task has no use for.
pub fn check(args: &TrainArgs) -> anyhow::Result<()> {
    let task = args.task;
    let foreign =
        table(args).into_iter().find(|(_, given, tasks)| *given && !tasks.contains(&task));
    match foreign {
        Some((flag, _, tasks)) if task.is_structured() || tasks.contains(&Task::Classify) => {
            usage(format!("{flag} has no meaning for --task {task}: leave it out"))
        }
        Some((flag, _, tasks)) => {
            let names: Vec<&str> = tasks.iter().map(|task| task.as_str()).collect();
            usage(format!("{flag} is for --task {}: add that, or leave it out", names.join(" or ")))
        }
        None if task.is_structured() => check_learner(args),
        None => Ok(()),
    }
}

/// Flags with the tasks that they are for; those of every task are not here.
fn table(args: &TrainArgs) -> Vec<(&'static str, bool, &'static [Task])> {
    // Of the flags about text, --hash is about the features of sequences and trees as well.
    let text = TextArgs { hash: None, ..args.text.clone() };
    let tag = &args.tag;
    let mut table = vec![
        ("--sum", args.sum, ROWS),
        ("--class-weight", args.model.class_weight.is_some(), WEIGHED),
        ("--standardize", args.model.standardize, TABLES),
        ("--no-standardize", args.model.no_standardize, TABLES),
        ("--hard-margin", args.hard_margin, ROWS),
        ("--strategy", args.strategy.is_some(), ROWS),
        ("--calibrate", args.proba.calibrate.is_some(), ROWS),
        ("--threshold", args.proba.threshold.is_some(), ROWS),
        ("--precision", args.precision != Precision::Auto, ROWS),
        ("--batch-size", args.batch_size.is_some(), ROWS),
        ("--no-shuffle", args.no_shuffle, ROWS),
        ("--with-replacement", args.with_replacement, ROWS),
        ("--label-separator", args.file.label_separator.is_some(), ROWS),
        ("--weight", args.file.weight.is_some(), LABELLED),
        ("--numeric", !args.columns.numeric.is_empty(), TABLES),
        ("--categorical", !args.columns.categorical.is_empty(), TABLES),
        ("--ignore", !args.columns.ignore.is_empty(), TABLES),
        ("--delta", args.delta.is_some(), ROWS),
        ("--epsilon", args.epsilon.is_some(), ROWS),
        ("--map", args.maps.map.is_some(), TABLES),
        ("--interact", !args.maps.interact.is_empty(), TABLES),
        (
            "--templates (--template is that of sequences and trees)",
            args.templates.templates.is_some(),
            ROWS,
        ),
        ("--stream", args.stream.stream, ROWS),
        ("--text", !args.text.text.is_empty(), TABLES),
        ("--no-header", args.file.no_header, TABLES),
        ("--header", args.file.header, TABLES),
        ("--delimiter", args.file.delimiter.is_some(), TABLES),
        ("--encoding", args.file.encoding.is_some(), TABLES),
        ("--labels", args.file.labels.is_some(), ROWS),
        ("--folds", args.proba.folds.is_some(), ROWS),
        ("--pairs", args.reduction.pairs.is_some(), ROWS),
        ("--code", args.reduction.code.is_some(), ROWS),
        ("--code-length", args.reduction.code_length.is_some(), ROWS),
        ("--decoding", args.reduction.decoding.is_some(), ROWS),
        ("--tree", args.reduction.tree.is_some(), ROWS),
        ("--leaf-size", args.reduction.leaf_size.is_some(), ROWS),
        ("--beam", args.reduction.beam.is_some(), ROWS),
        ("--cost", args.model.cost.is_some(), COSTS),
        ("--bias", args.model.bias.is_some(), COSTS),
        ("--label", args.file.label.is_some(), LABELLED),
        ("--features", tag.features.is_some(), &[Task::Tag]),
        ("--list", !tag.lists.is_empty(), &[Task::Tag]),
        ("--clusters", tag.clusters.is_some(), &[Task::Tag]),
        ("--hash", args.text.hash.is_some(), HASHED),
        ("--min-count", tag.min_count.is_some(), &[Task::Tag, Task::Declared]),
        ("--scheme", tag.scheme.is_some(), &[Task::Tag]),
        ("--rules", tag.rules.is_some(), &[Task::Tag]),
        ("--legal-rivals", tag.legal_rivals, &[Task::Tag]),
        ("--label-weights", tag.label_weights.is_some(), &[Task::Tag]),
        ("--no-ends", tag.no_ends, &[Task::Tag]),
        ("--unlabelled", tag.unlabelled.is_some(), &[Task::Tag]),
        ("--template", tag.template.is_some(), SENTENCES),
        ("--order", tag.order.is_some(), ORDERS),
        ("--forbid", tag.forbid.is_some(), ORDERS),
        ("--max-size", tag.max_size.is_some(), TABLED),
        ("--passive-aggressive", tag.passive_aggressive.is_some(), STRUCTURES),
        ("--decoder", args.dependency.decoder.is_some(), &[Task::Dependency]),
        ("--candidates", args.dependency.candidates.is_some(), TREES),
        ("--labeller", args.dependency.labeller.is_some(), &[Task::Dependency]),
        ("--tags", args.dependency.tags.is_some(), TREES),
        ("--many-roots", args.dependency.many_roots, &[Task::Dependency]),
        ("--horizontal", args.constituency.horizontal.is_some(), &[Task::Constituency]),
        ("--vertical", args.constituency.vertical.is_some(), &[Task::Constituency]),
        ("--functions", args.constituency.functions, &[Task::Constituency]),
        ("--query", args.rank.query.is_some(), &[Task::Rank]),
        ("--rank", args.rank.rank.is_some(), &[Task::Rank]),
        ("--ndcg-at", args.rank.ndcg_at.is_some(), &[Task::Rank]),
        ("--per-query", args.rank.per_query, &[Task::Rank]),
        ("--declaration", args.declared.declaration.is_some(), &[Task::Declared]),
        ("--local", args.declared.local, &[Task::Declared]),
        ("--compare-local", args.declared.compare_local, &[Task::Declared]),
        ("--max-nodes", args.declared.limits.max_nodes.is_some(), &[Task::Declared]),
        ("--time-limit", args.declared.limits.time_limit.is_some(), &[Task::Declared]),
        ("--superpixels", args.segment.superpixels.is_some(), &[Task::Segment]),
        ("--no-edges", args.segment.no_edges, &[Task::Segment]),
        ("--neighbours", args.segment.neighbours.is_some(), &[Task::Segment]),
        ("--mask-labels", !args.segment.mask_labels.is_empty(), &[Task::Segment]),
        ("--mask-threshold", args.segment.mask_threshold.is_some(), &[Task::Segment]),
        ("--mask-void", !args.segment.mask_void.is_empty(), &[Task::Segment]),
    ];
    table.extend(text.first().map(|flag| (flag, true, TABLES)));
    table.extend(args.stream.given().map(|flag| (flag, true, ROWS)));
    table
}

/// The losses and solvers of structures.
fn check_learner(args: &TrainArgs) -> anyhow::Result<()> {
    let task = args.task;
    // Without sums over outputs there is neither the logistic loss nor a solver for it; the library says so.
    if matches!(task, Task::Segment | Task::Declared) {
        return Ok(());
    }
    let of_all = [LossKind::Perceptron, LossKind::Hinge, LossKind::Logistic];
    let squared = task == Task::Rank && args.loss == Some(LossKind::SquaredHinge);
    if args.loss.is_some_and(|loss| !of_all.contains(&loss) && !squared) {
        let more = if task == Task::Rank { ", squared-hinge" } else { "" };
        return usage(format!("--task {task} has the losses perceptron, hinge{more} and logistic"));
    }
    let newton = task == Task::Rank && args.solver == SolverKind::Newton;
    let of_all = [SolverKind::Auto, SolverKind::Sgd, SolverKind::Lbfgs, SolverKind::Dual];
    if !of_all.contains(&args.solver) && !newton {
        let more = if task == Task::Rank { ", newton" } else { "" };
        return usage(format!("--task {task} has the solvers auto, sgd, lbfgs{more} and dual"));
    }
    Ok(())
}
