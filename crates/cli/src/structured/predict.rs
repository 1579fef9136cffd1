//! Answers for examples: block by block, so that a stream of any length needs the memory of a block.

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::bail;
use lineal::data::LeftOut;
use lineal::{Ask, Examples, Task};

use super::StructuredTask;
use crate::args::PredictArgs;
use crate::exit::usage;
use crate::predict::doubtful_first;
use crate::talk::{Talk, count, thousands};

/// The most outputs of one example, as of --n-best.
const N_BEST: usize = 10_000;

/// Refuses flags that the model has no answer to.
pub fn check<M: StructuredTask>(model: &M, args: &PredictArgs) -> anyhow::Result<()> {
    args.limits.check(model.task())?;
    let of_classes = [("--scores", args.scores), ("--cost", args.cost.is_some())];
    if let Some((flag, _)) = of_classes.into_iter().find(|(_, given)| *given) {
        let task = model.task();
        return usage(format!("{flag} is for classes; a model of the task {task} has {}", M::HAS));
    }
    if args.top.is_some() && args.tag.n_best.is_some() {
        return usage("--top and --n-best mean the same here: give one");
    }
    if M::ask(args).n_best > N_BEST {
        return usage(format!(
            "--top {} is too much: the best {N_BEST} at most",
            M::ask(args).n_best
        ));
    }
    if args.sample && args.min_cost {
        return usage("ask for one of --sample and --min-cost");
    }
    if args.draw && model.task() != Task::Constituency {
        return usage("--draw is for bracketed trees; leave it out");
    }
    if let Some(why) = M::has_no_answer(args) {
        return usage(why);
    }
    if M::ask(args).needs_proba() && !model.has_proba() {
        bail!(
            "{} was trained with the {} loss and has no probabilities; train with --loss logistic",
            args.model.display(),
            model.report().loss
        );
    }
    Ok(())
}

/// Writes the answer for each example: block by block, or all of them by how sure they are.
pub fn predict<M: StructuredTask>(
    model: &M,
    args: &PredictArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    match args.tag.review_below {
        Some(below) => review(model, args, below, out),
        None => stream(model, args, out),
    }
}

fn stream<M: StructuredTask>(
    model: &M,
    args: &PredictArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut ask = Ask { first: args.first, ..M::ask(args) };
    let mut writer = model.writer(args);
    let mut failed: Option<anyhow::Error> = None;
    let mut left_out = LeftOut::default();
    let talk = Talk::new(args.run.quiet);
    let mut write = |block: &M::Data| -> anyhow::Result<()> {
        // Of the first block, before its answers: at the end of a long file it would come too late.
        if ask.first == args.first {
            warn_of_lacking(model, block, talk);
        }
        left_out.merge(&M::left_out(block));
        for (i, answer) in model.answer(block, &ask)?.iter().enumerate() {
            M::write(&mut writer, out, block, i, ask.first as usize + i, answer)?;
        }
        ask.first += block.n_examples() as u64;
        // Whoever waits at the end of the pipe gets each block when it is done.
        Ok(out.flush()?)
    };
    model.stream(args.source(), &M::predict_options(args), &mut |block| match write(block) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    if let Some(said) = left_out.in_words() {
        talk.warn(format_args!("{}: {said}", args.data.display()));
    }
    failed.map_or(Ok(()), Err)
}

/// Says what features miss in the data.
pub fn warn_of_lacking<M: StructuredTask>(model: &M, data: &M::Data, talk: Talk) {
    if let Some(said) = model.lacking(data) {
        talk.warn(format_args!("{}: {said}", data.source()));
    }
}

/// The least probable outputs first. All are needed for that.
fn review<M: StructuredTask>(
    model: &M,
    args: &PredictArgs,
    below: f64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let data = model.read(args.source(), &M::predict_options(args))?;
    warn_of_lacking(model, &data, Talk::new(args.run.quiet));
    let answers = model.answer(&data, &M::ask(args))?;
    // What has no probability is sure of nothing.
    let p = |i: &usize| M::probability(&answers[*i]).unwrap_or(0.0);
    let (order, n_doubtful) = doubtful_first(answers.len(), below, p);
    let mut writer = model.writer(args);
    order.iter().try_for_each(|&i| M::write(&mut writer, out, &data, i, i, &answers[i]))?;
    Talk::new(args.run.quiet).say(format_args!(
        "{} of {} less probable than {below}: they come first",
        thousands(n_doubtful),
        count(answers.len(), M::EXAMPLE)
    ));
    Ok(())
}
