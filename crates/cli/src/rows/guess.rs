//! Guesses the task from the labels if no flag names it: a class, or a number.

use lineal::{LossKind, ReadOptions, Source, TargetKind, Task};

use crate::args::TrainArgs;
use crate::talk::Talk;

/// The task that the labels suggest, for when no flag names it: `None` for classes. The guess is printed. A source that can be read only once must be
/// [kept](Source::kept).
pub fn task(source: &Source, options: &ReadOptions, talk: Talk) -> Option<Task> {
    let guessed = lineal::guess_target(source, options);
    if guessed.target != TargetKind::Real {
        return None;
    }
    talk.say(format_args!(
        "{}, so the task is regression (--task regress); if each number names a class, say --task classify",
        guessed.why
    ));
    Some(Task::Regress)
}

/// The same for a command that tries several losses: if one of them is of classes, so are the labels.
pub fn task_of_losses(
    args: &TrainArgs,
    losses: &[LossKind],
    source: &Source,
    talk: Talk,
) -> Option<Task> {
    if !is_open(args) || losses.iter().any(|&loss| is_of_classes(loss)) {
        return None;
    }
    task(source, &args.file.learning(&args.columns, &args.text, args.task.target()), talk)
}

/// Whether the flags leave open what is predicted.
pub fn is_open(args: &TrainArgs) -> bool {
    args.task_flag.is_none() && args.task == Task::Classify && !speaks_of_classes(args)
}

/// Flags that only classes have.
fn speaks_of_classes(args: &TrainArgs) -> bool {
    args.sum
        || args.hard_margin
        || args.strategy.is_some()
        || args.model.cost.is_some()
        || args.model.class_weight.is_some()
        || args.proba.calibrate.is_some()
        || args.proba.threshold.is_some()
        || args.templates.templates.is_some()
        || args.loss.is_some_and(is_of_classes)
}

/// Whether a loss is of classes and nothing else.
pub fn is_of_classes(loss: LossKind) -> bool {
    !matches!(loss, LossKind::Squared | LossKind::Huber | LossKind::Epsilon)
}
