//! What a run measured, and how it is printed.

use lineal::Report;

use super::Trainable;
use crate::args::TrainArgs;
use crate::talk::{bytes, count, seconds, thousands};

/// What a run measured, for the screen, the JSON and the page.
pub struct Outcome<M: Trainable> {
    pub report: Report,
    pub test: Option<M::Metrics>,
    pub seconds: Seconds,
    pub model_bytes: u64,
    pub shrunk: Option<Shrunk>,
    /// The last pass that the progress showed.
    pub last_pass: Option<usize>,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Seconds {
    pub read: f64,
    pub train: f64,
    pub total: f64,
}

/// What `--max-size` did.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Shrunk {
    pub bytes_before: u64,
    pub weights_before: usize,
    pub weights: usize,
    /// The data on which the metric was measured.
    pub measured_on: String,
    pub metric: &'static str,
    pub before: f64,
    pub after: f64,
}

/// A model of at most so many bytes, measured before and after.
pub fn shrink<M: Trainable>(
    model: M,
    max_bytes: u64,
    data: &M::Data,
) -> anyhow::Result<(M, Option<Shrunk>)> {
    let bytes_before = model.write_to(&mut std::io::sink())?;
    if bytes_before <= max_bytes {
        return Ok((model, None));
    }
    let Some(small) = model.shrink(max_bytes)? else { return Ok((model, None)) };
    let [before, after] = [&model, &small].map(|model| model.evaluate(data));
    let (metric, before) = M::main_metric(&before?);
    let shrunk = Shrunk {
        bytes_before,
        weights_before: model.n_weights(),
        weights: small.n_weights(),
        measured_on: M::source(data).to_owned(),
        metric,
        before,
        after: M::main_metric(&after?).1,
    };
    Ok((small, Some(shrunk)))
}

/// The certificate, what to know of it, and what the test said.
pub fn lines<M: Trainable>(model: &M, outcome: &Outcome<M>, args: &TrainArgs) -> Vec<String> {
    let report = &outcome.report;
    let mut lines = vec![method(report, outcome.last_pass)];
    let [before, after] = model.lines_about(report);
    lines.extend(before);
    lines.push(report.certificate());
    lines.extend(after);
    if let Some(best) = report.best_pass {
        let examples = M::nouns()[0];
        lines.push(format!("kept the weights of pass {best}, the best on the held-out {examples}"));
    }
    lines.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    if args.validation.is_some() && report.curve.iter().all(|point| point.held_out_metric.is_none())
    {
        lines.push(format!(
            "warning: the held-out rows were not measured during training: {} problems are trained block by block; to watch them add \
             --solver sgd or lbfgs, to measure them at the end --test",
            report.strategy
        ));
    }
    lines.extend(outcome.shrunk.as_ref().map(|shrunk| {
        format!(
            "made smaller: {} to {}, {} to {} weights; {} on {} from {:.4} to {:.4}",
            bytes(shrunk.bytes_before),
            bytes(outcome.model_bytes),
            thousands(shrunk.weights_before),
            thousands(shrunk.weights),
            shrunk.metric,
            shrunk.measured_on,
            shrunk.before,
            shrunk.after
        )
    }));
    if let (Some(test), Some(path)) = (&outcome.test, &args.test) {
        lines.push(format!("{}: {}", path.display(), M::one_line(test)));
        lines.extend(model.warning(test).map(|doubt| format!("warning: {doubt}")));
    }
    lines.push(format!(
        "wrote {} ({}) in {}",
        args.out.display(),
        bytes(outcome.model_bytes),
        seconds(outcome.seconds.total)
    ));
    lines.extend(args.report.iter().map(|path| format!("wrote {}", path.display())));
    lines
}

/// `logistic loss by newton: converged after 4 passes (as much work as 9 over all the data)`: a pass of newton has steps inside, one of the dual leaves rows out.
fn method(report: &Report, last_pass: Option<usize>) -> String {
    let sum = if report.sum { ", sum form" } else { "" };
    let updates =
        report.updates.map(|n| format!(", {}", count(n as usize, "update"))).unwrap_or_default();
    let state = if report.converged { "converged" } else { "stopped" };
    let passes = match last_pass.filter(|last| *last != report.passes) {
        Some(last) => {
            let work = thousands(report.passes);
            format!("{} (as much work as {work} over all the data)", count(last, "pass"))
        }
        None => count(report.passes, "pass"),
    };
    format!("{} loss{sum} by {}: {state} after {passes}{updates}", report.loss, report.solver)
}
