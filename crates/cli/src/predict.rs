//! `lineal predict`: the answers of a model of any task.

use std::io::{self, Write};
use std::path::Path;

use crate::args::{Output, PredictArgs};
use crate::exit::usage;
use crate::files;
use crate::program::{Program, with_model};

/// Runs the command.
pub fn run(args: &PredictArgs) -> anyhow::Result<()> {
    check_flags(&args.clone().settle(true))?;
    with_model!(&args.model, model => {
        let mut model = model;
        let args = &args.clone().settle(model.names_tell_output());
        check_flags(args)?;
        if !args.keep.is_empty() && !model.names_tell_output() {
            return usage("--keep is for rows with columns; leave it out");
        }
        if let Some(p) = args.threshold {
            model.set_threshold(p)?;
        }
        model.check_ask(args)?;
        let lines = match model.prepare_output(args)? {
            true => None,
            false => args.out.as_deref(),
        };
        if let Some(out) = lines.filter(|out| *out != Path::new("-")) {
            files::check_output(out, &[&args.model, &args.data])?;
        }
        lineal::with_threads(args.run.threads, || write(lines, |out| model.answer(args, out)))
    })
}

/// Text and CSV rows have one list of numbers; JSON objects have room for all.
fn check_flags(args: &PredictArgs) -> anyhow::Result<()> {
    let n_lists =
        usize::from(args.proba) + usize::from(args.scores) + usize::from(args.top.is_some());
    if n_lists > 1 && args.output != Output::Jsonl {
        return usage(
            "ask for one of --proba, --scores and --top, or add --output jsonl, which gives all",
        );
    }
    Ok(())
}

/// Writes answers one after the other. An error ends the writing and is returned; an output file is then not written.
fn write(
    path: Option<&Path>,
    answer: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut failed = None;
    let written = files::write_output(path, |out| {
        answer(out).map_err(|error| {
            // What the place itself says is told by who knows its name; a closed pipe is not a failure, and must stay recognisable as one.
            let is_bare = error.chain().len() == 1;
            match error.downcast_ref::<io::Error>().map(io::Error::kind) {
                Some(_) if is_bare => error.downcast().unwrap_or_else(io::Error::other),
                kind => {
                    failed = Some(error);
                    io::Error::new(kind.unwrap_or(io::ErrorKind::Other), "not written")
                }
            }
        })
    });
    match failed {
        Some(error) => Err(error),
        None => written,
    }
}

/// Examples less probable than `below` first, the least sure one at the top, then the others in their order; and how many of the first there are.
pub fn doubtful_first(
    n: usize,
    below: f64,
    probability: impl Fn(&usize) -> f64,
) -> (Vec<usize>, usize) {
    let (mut doubtful, sure): (Vec<usize>, Vec<usize>) =
        (0..n).partition(|i| probability(i) < below);
    doubtful.sort_by(|a, b| probability(a).total_cmp(&probability(b)));
    let n_doubtful = doubtful.len();
    doubtful.extend(sure);
    (doubtful, n_doubtful)
}
