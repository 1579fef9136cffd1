//! `lineal predict` of a tagger: block by block, so that a stream of any length needs the memory of a block.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use lineal::{Ask, SequenceOptions, Sequences, TagModel, Tagged};

use super::request::read_options;
use super::write::Writer;
use crate::args::PredictArgs;
use crate::exit::usage;
use crate::files;
use crate::talk::{Talk, count};

/// Runs the command.
pub fn run(args: &PredictArgs) -> anyhow::Result<()> {
    if let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) {
        files::check_output(out, &[&args.model, &args.data])?;
    }
    check_flags(args)?;
    let model = TagModel::load(&args.model)?;
    let ask = Ask {
        known: args.tag.known.is_some(),
        proba: args.proba || args.tag.review_below.is_some(),
        n_best: args.tag.n_best.or(args.top).unwrap_or(0),
        by_position: args.min_cost,
        sample: args.sample.then_some(args.seed),
        first: 0,
    };
    if (ask.proba || ask.by_position || ask.sample.is_some()) && !model.has_proba() {
        bail!(
            "{} was trained with the {} loss and has no probabilities; train with --loss logistic",
            args.model.display(),
            model.report().loss
        );
    }
    lineal::with_threads(args.run.threads, || match args.tag.review_below {
        Some(p) => review(args, &model, &ask, p),
        None => stream(args, &model, &ask),
    })
}

fn check_flags(args: &PredictArgs) -> anyhow::Result<()> {
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

fn stream(args: &PredictArgs, model: &TagModel, ask: &Ask) -> anyhow::Result<()> {
    let mut ask = *ask;
    // What goes wrong in a block ends the walk and is told after it; the output file is then not written.
    let mut failed: Option<anyhow::Error> = None;
    let written = files::write_output(args.out.as_deref(), |out| {
        let mut writer = Writer::new(model, args.output, args.proba, ask.n_best);
        let walk = lineal::data::stream_sequences(
            &args.data,
            &options(args),
            model.schema(),
            &mut |block| match tag(model, block, &ask, &mut writer, out) {
                Ok(()) => {
                    ask.first += block.len() as u64;
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            },
        );
        if let Err(error) = walk {
            failed = Some(error.into());
        }
        if failed.is_some() { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    });
    match failed {
        Some(error) => Err(error),
        None => written,
    }
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
fn review(args: &PredictArgs, model: &TagModel, ask: &Ask, below: f64) -> anyhow::Result<()> {
    let data = model.read(&args.data, &options(args))?;
    let tagged = model.tag_with(&data, ask)?;
    let p = |tagged: &Tagged| tagged.probability.unwrap_or(1.0);
    let mut order: Vec<usize> = (0..tagged.len()).collect();
    let key = |&i: &usize| if p(&tagged[i]) < below { p(&tagged[i]) } else { f64::INFINITY };
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let n_doubtful = tagged.iter().filter(|tagged| p(tagged) < below).count();
    files::write_output(args.out.as_deref(), |out| {
        let mut writer = Writer::new(model, args.output, args.proba, ask.n_best);
        order.iter().try_for_each(|&i| writer.write(out, data.get(i), i, &tagged[i]))
    })?;
    Talk::new(args.run.quiet).say(format_args!(
        "{} of {} less probable than {below}: they come first",
        crate::talk::thousands(n_doubtful),
        count(tagged.len(), "sequence")
    ));
    Ok(())
}
