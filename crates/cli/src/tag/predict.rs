//! Labels of sequences: block by block, so that a stream of any length needs the memory of a block.

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::bail;
use lineal::{Ask, SequenceOptions, Sequences, TagModel};

use super::train::read_options;
use super::write::Writer;
use crate::args::PredictArgs;
use crate::exit::usage;
use crate::talk::{Talk, count};

/// Writes the labels of each sequence: block by block, or all of them by how sure they are.
pub fn predict(model: &TagModel, args: &PredictArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let ask = Ask {
        known: args.tag.known.is_some(),
        proba: args.proba || args.tag.review_below.is_some(),
        n_best: args.tag.n_best.or(args.top).unwrap_or(0),
        by_position: args.min_cost,
        sample: args.sample.then_some(args.seed),
        first: 0,
    };
    match args.tag.review_below {
        Some(p) => review(args, model, &ask, p, out),
        None => stream(args, model, ask, out),
    }
}

/// What a tagger has no answer to.
pub fn check(model: &TagModel, args: &PredictArgs) -> anyhow::Result<()> {
    if args.scores {
        return usage("--scores are of classes; a model of sequences has --proba and --n-best");
    }
    if args.cost.is_some() {
        return usage("--cost is of classes; for sequences --min-cost counts wrong labels");
    }
    if args.top.is_some() && args.tag.n_best.is_some() {
        return usage("--top and --n-best mean the same for sequences: give one");
    }
    if args.sample && args.min_cost {
        return usage("ask for one of --sample and --min-cost");
    }
    let wants_proba = args.proba || args.tag.review_below.is_some() || args.min_cost || args.sample;
    if wants_proba && !model.has_proba() {
        bail!(
            "{} was trained with the {} loss and has no probabilities; train with --loss logistic",
            args.model.display(),
            model.report().loss
        );
    }
    Ok(())
}

fn options(args: &PredictArgs) -> SequenceOptions {
    let file = read_options(&args.file);
    match &args.tag.known {
        None => file,
        Some(column) => SequenceOptions {
            label: if column.is_empty() { file.label } else { Some(column.clone()) },
            unlabelled: Some(args.tag.unlabelled.clone().unwrap_or_else(|| "_".to_owned())),
            ..file
        },
    }
}

fn stream(
    args: &PredictArgs,
    model: &TagModel,
    mut ask: Ask,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut failed: Option<anyhow::Error> = None;
    let mut writer = Writer::new(model, args.output, args.proba, ask.n_best);
    lineal::data::stream_sequences(&args.data, &options(args), model.schema(), &mut |block| {
        match tag(model, block, &ask, &mut writer, out) {
            Ok(()) => {
                ask.first += block.len() as u64;
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    failed.map_or(Ok(()), Err)
}

fn tag(
    model: &TagModel,
    block: &Sequences,
    ask: &Ask,
    writer: &mut Writer<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let tagged = model.tag_with(block, ask)?;
    for (sequence, tagged) in block.iter().zip(&tagged) {
        writer.write(out, sequence, ask.first as usize + sequence.index(), tagged)?;
    }
    // Whoever waits at the end of the pipe gets each block when it is done.
    out.flush()?;
    Ok(())
}

/// The least probable sequences first. All are needed for that.
fn review(
    args: &PredictArgs,
    model: &TagModel,
    ask: &Ask,
    below: f64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let data = model.read(&args.data, &options(args))?;
    let tagged = model.tag_with(&data, ask)?;
    let p = |i: &usize| tagged[*i].probability.unwrap_or(1.0);
    let (order, n_doubtful) = crate::predict::doubtful_first(tagged.len(), below, p);
    let mut writer = Writer::new(model, args.output, args.proba, ask.n_best);
    order.iter().try_for_each(|&i| writer.write(out, data.get(i), i, &tagged[i]))?;
    Talk::new(args.run.quiet).say(format_args!(
        "{} of {} less probable than {below}: they come first",
        crate::talk::thousands(n_doubtful),
        count(tagged.len(), "sequence")
    ));
    Ok(())
}
