//! Trees of sentences: block by block, so that a stream of any length needs the memory of a block.

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::bail;
use lineal::{DependencyModel, ParseAsk, Treebank};

use super::train::read_options;
use super::write::Writer;
use crate::args::{Output, PredictArgs};
use crate::exit::usage;
use crate::talk::{Talk, count};

/// Writes the tree of each sentence: block by block, or all of them by how sure they are.
pub fn predict(
    model: &DependencyModel,
    args: &PredictArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let ask = ParseAsk {
        known: args.tag.known.is_some(),
        proba: args.proba || args.tag.review_below.is_some(),
        n_best: args.tag.n_best.or(args.top).unwrap_or(0),
        by_arc: args.min_cost,
    };
    match args.tag.review_below {
        Some(p) => review(args, model, &ask, p, out),
        None => stream(args, model, &ask, out),
    }
}

/// What a parser has no answer to.
pub fn check(model: &DependencyModel, args: &PredictArgs) -> anyhow::Result<()> {
    if args.scores {
        return usage("--scores are for classes; a parser has --proba and --n-best");
    }
    if args.cost.is_some() {
        return usage("--cost is for classes; for trees --min-cost counts wrong heads");
    }
    if args.sample {
        return usage("--sample is for classes and sequences; a parser has --n-best");
    }
    let column = args.tag.known.as_deref().is_some_and(|column| !column.is_empty());
    if column || args.tag.unlabelled.is_some() {
        return usage(
            "--known of a parser keeps the columns HEAD and DEPREL, where `_` is not known: leave out the column and --unlabelled",
        );
    }
    let ranked = args.tag.n_best.or(args.top).is_some();
    if ranked && args.output == Output::Csv {
        return usage(
            "several trees of a sentence have no place in a CSV file: say --output jsonl, or leave it out for CoNLL-U",
        );
    }
    if ranked && args.proba && args.output == Output::Text {
        return usage("--proba and --n-best together need --output jsonl");
    }
    if args.top.is_some() && args.tag.n_best.is_some() {
        return usage("--top and --n-best mean the same for trees: give one");
    }
    let wants_proba = args.proba || args.tag.review_below.is_some() || args.min_cost;
    if wants_proba && !model.has_proba() {
        bail!(
            "{} was trained with the {} loss and has no probabilities; train with --loss logistic",
            args.model.display(),
            model.report().loss
        );
    }
    Ok(())
}

fn stream(
    args: &PredictArgs,
    model: &DependencyModel,
    ask: &ParseAsk,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut failed: Option<anyhow::Error> = None;
    let mut first = 0;
    let mut writer = Writer::new(model, args);
    let options = read_options(&args.file);
    lineal::data::stream_treebank(&args.data, &options, model.schema(), &mut |block| match parse(
        model,
        block,
        ask,
        first,
        &mut writer,
        out,
    ) {
        Ok(()) => {
            first += block.len();
            ControlFlow::Continue(())
        }
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    failed.map_or(Ok(()), Err)
}

fn parse(
    model: &DependencyModel,
    block: &Treebank,
    ask: &ParseAsk,
    first: usize,
    writer: &mut Writer<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let parsed = model.parse_with(block, ask)?;
    for (sentence, parsed) in block.iter().zip(&parsed) {
        writer.write(out, sentence, first + sentence.index(), parsed)?;
    }
    // Whoever waits at the end of the pipe gets each block when it is done.
    out.flush()?;
    Ok(())
}

/// The least probable trees first. All are needed for that.
fn review(
    args: &PredictArgs,
    model: &DependencyModel,
    ask: &ParseAsk,
    below: f64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let data = model.read(&args.data, &read_options(&args.file))?;
    let parsed = model.parse_with(&data, ask)?;
    let p = |i: &usize| parsed[*i].probability.unwrap_or(1.0);
    let (order, n_doubtful) = crate::predict::doubtful_first(parsed.len(), below, p);
    let mut writer = Writer::new(model, args);
    order.iter().try_for_each(|&i| writer.write(out, data.get(i), i, &parsed[i]))?;
    Talk::new(args.run.quiet).say(format_args!(
        "{} of {} less probable than {below}: they come first",
        crate::talk::thousands(n_doubtful),
        count(parsed.len(), "sentence")
    ));
    Ok(())
}
