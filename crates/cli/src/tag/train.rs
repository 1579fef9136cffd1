//! `lineal train --task tag`: read, train, measure, write, in that order.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use lineal::{
    CurvePoint, SequenceOptions, Sequences, TagMetrics, TagModel, TagReport, TagTraining, Task,
};

use super::eval;
use super::json::TrainJson;
use super::request::Request;
use crate::args::TrainArgs;
use crate::exit::NotConverged;
use crate::progress::Progress;
use crate::talk::{Talk, bytes, count, seconds};
use crate::train::Seconds;
use crate::{files, html};

/// What a run measured.
pub struct Outcome {
    pub report: TagReport,
    pub test: Option<TagMetrics>,
    pub seconds: Seconds,
    pub model_bytes: u64,
    pub shrunk: Option<Shrunk>,
}

/// What `--max-size` did.
pub struct Shrunk {
    pub bytes_before: u64,
    pub weights_before: usize,
    pub weights: usize,
    /// On what the metric was measured.
    pub on: String,
    pub before: TagMetrics,
    pub after: TagMetrics,
}

/// Runs the command.
pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    let mut request = Request::new(args)?;
    lineal::with_threads(args.run.threads, || train(args, &mut request))
}

fn train(args: &TrainArgs, request: &mut Request) -> anyhow::Result<()> {
    let start = Instant::now();
    let talk = Talk::new(args.run.quiet);
    let old = args.stream.resume.as_deref().map(TagModel::load).transpose()?;
    let data = lineal::read_sequences(&args.data, &request.options)?;
    let read = start.elapsed().as_secs_f64();
    talk.say_all(&data_lines(&data, read));
    if let Some(path) = &args.model.cost {
        request.spec.cost = Some(lineal::read_cost(path, &data.schema.labels)?);
    }
    let other = |path: &Path| labelled(path, &request.options_for(path, &args.data), &data, talk);
    let held_out = request.held_out.as_deref().map(other).transpose()?;
    let test = args.test.as_deref().map(other).transpose()?;

    let begun = Instant::now();
    let (model, report) = fit(request, &data, held_out.as_ref(), old.as_ref(), talk)?;
    let train = begun.elapsed().as_secs_f64();

    let (model, shrunk) = match args.tag.max_size {
        Some(size) => shrink(model, size.0, [test.as_ref(), held_out.as_ref(), Some(&data)])?,
        None => (model, None),
    };
    let test = test.map(|data| model.evaluate(&data)).transpose()?;
    let file = model.to_bytes()?;
    files::write_output(Some(&args.out), |out| out.write_all(&file))?;
    let seconds = Seconds { read, train, total: start.elapsed().as_secs_f64() };
    let outcome = Outcome { report, test, seconds, model_bytes: file.len() as u64, shrunk };
    if let Some(path) = &args.report {
        let page = html::tag_train_page(&model, &outcome);
        files::write_output(Some(path), |out| out.write_all(page.as_bytes()))?;
    }
    talk.say_all(&outcome_lines(&model, &outcome, args));
    if args.json {
        files::json_to_stdout(&TrainJson::new(&model, &outcome))?;
    }
    if args.require_convergence && !outcome.report.converged {
        return Err(NotConverged(format!(
            "did not converge: {} after {} passes; raise --max-passes (or --tol), or choose another --solver. The model was written to {} all the same",
            outcome.report.certificate(),
            outcome.report.passes,
            args.out.display()
        ))
        .into());
    }
    Ok(())
}

/// A file with the training data's columns, and labels.
fn labelled(
    path: &Path,
    options: &SequenceOptions,
    data: &Sequences,
    talk: Talk,
) -> anyhow::Result<Sequences> {
    let other = lineal::data::read_sequences_with(path, options, &data.schema)?;
    if !other.has_labels() {
        bail!("{}: the tokens have no labels to compare with; add the label column", other.source);
    }
    warn_unseen(&other, data.schema.labels.len(), talk);
    Ok(other)
}

/// Says which labels training did not see.
pub fn warn_unseen(data: &Sequences, n_known: usize, talk: Talk) {
    let new = &data.labels[n_known.min(data.labels.len())..];
    if !new.is_empty() {
        let n = data.gold().iter().filter(|&&g| g != lineal::UNLABELLED && g as usize >= n_known);
        talk.warn(format_args!(
            "{}: {} with a label that training did not see, such as `{}`: counted as wrong",
            data.source,
            count(n.count(), "token"),
            new[0]
        ));
    }
}

fn fit(
    request: &Request,
    data: &Sequences,
    held_out: Option<&Sequences>,
    old: Option<&TagModel>,
    talk: Talk,
) -> anyhow::Result<(TagModel, TagReport)> {
    let spec = &request.spec;
    let n_epochs = spec.is_stochastic().then(|| spec.n_passes());
    let mut progress = Progress::new(talk, n_epochs, Task::Tag);
    let mut watch = |point: &CurvePoint| {
        progress.pass(point);
        ControlFlow::Continue(())
    };
    let mut training = TagTraining::new(data, spec).monitor(&mut watch);
    if let Some(held_out) = held_out {
        training = training.held_out(held_out);
    }
    if let Some(old) = old {
        training = training.start_from(old);
    }
    let trained = training.run();
    progress.finish();
    Ok(trained?)
}

/// A smaller model, measured before and after on the first data that there is.
fn shrink(
    model: TagModel,
    max_bytes: u64,
    data: [Option<&Sequences>; 3],
) -> anyhow::Result<(TagModel, Option<Shrunk>)> {
    let bytes_before = model.to_bytes()?.len() as u64;
    if bytes_before <= max_bytes {
        return Ok((model, None));
    }
    let small = model.shrink(max_bytes)?;
    let Some(data) = data.into_iter().flatten().next() else { return Ok((small, None)) };
    let shrunk = Shrunk {
        bytes_before,
        weights_before: model.n_weights(),
        weights: small.n_weights(),
        on: data.source.clone(),
        before: model.evaluate(data)?,
        after: small.evaluate(data)?,
    };
    Ok((small, Some(shrunk)))
}

/// The data as it was understood.
pub fn data_lines(data: &Sequences, read_seconds: f64) -> Vec<String> {
    let time =
        if read_seconds < 0.1 { String::new() } else { format!(" ({})", seconds(read_seconds)) };
    let columns = match data.schema.has_attributes() {
        true => "named attributes".to_owned(),
        false => format!(
            "{}, label in column {}",
            count(data.schema.columns.len(), "column"),
            data.schema.columns[data.schema.label]
        ),
    };
    vec![format!(
        "{}: {}, {}, {}, {columns}{time}",
        data.source,
        count(data.len(), "sequence"),
        count(data.n_tokens(), "token"),
        count(data.schema.labels.len(), "label")
    )]
}

/// The certificate, what to know of it, and what the test said.
pub fn outcome_lines(model: &TagModel, outcome: &Outcome, args: &TrainArgs) -> Vec<String> {
    let report = &outcome.report;
    let mut lines = vec![method(report), report.certificate()];
    lines.push(format!(
        "{} with {}",
        count(model.n_attributes(), "attribute"),
        count(model.n_weights(), "weight")
    ));
    if report.unlabelled > 0 {
        lines.push(format!("{} without a label", count(report.unlabelled, "token")));
    }
    if let Some(best) = report.best_pass {
        lines.push(format!("kept the weights of pass {best}, the best on the held-out sequences"));
    }
    lines.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    if let Some(shrunk) = &outcome.shrunk {
        lines.push(format!(
            "made smaller: {} to {}, {} to {} weights; {} on {} from {:.4} to {:.4}",
            bytes(shrunk.bytes_before),
            bytes(outcome.model_bytes),
            crate::talk::thousands(shrunk.weights_before),
            crate::talk::thousands(shrunk.weights),
            shrunk.before.main_name(),
            shrunk.on,
            shrunk.before.main(),
            shrunk.after.main()
        ));
    }
    if let (Some(test), Some(path)) = (&outcome.test, &args.test) {
        lines.push(format!("{}: {}", path.display(), eval::in_short(test)));
    }
    lines.push(format!(
        "wrote {} ({}) in {}",
        args.out.display(),
        bytes(outcome.model_bytes),
        seconds(outcome.seconds.total)
    ));
    lines
}

/// `logistic loss by lbfgs: converged after 70 passes`.
fn method(report: &TagReport) -> String {
    let updates =
        report.updates.map(|n| format!(", {}", count(n as usize, "update"))).unwrap_or_default();
    let state = if report.converged { "converged" } else { "stopped" };
    let passes = count(report.passes, "pass");
    format!("{} loss by {}: {state} after {passes}{updates}", report.loss, report.solver)
}
