//! What `train` says to people.

use lineal::{Dataset, Report, TargetKind};

use super::Outcome;
use crate::args::TrainArgs;
use crate::eval;
use crate::talk::{bytes, count, seconds};

/// The columns that are shown of a wide table.
const COLUMNS: usize = 40;

/// The data as it was understood.
pub fn data(data: &Dataset, read_seconds: f64) -> Vec<String> {
    let classes = match data.schema.target {
        TargetKind::Classes => format!(", {}", count(data.schema.classes.len(), "class")),
        TargetKind::Real => String::new(),
    };
    let time =
        if read_seconds < 0.1 { String::new() } else { format!(" ({})", seconds(read_seconds)) };
    let (n_rows, n_features) = (count(data.n_rows(), "row"), count(data.n_features(), "feature"));
    let mut lines = vec![format!("{}: {n_rows}, {n_features}{classes}{time}", data.source)];
    let columns = data.schema.describe();
    lines.extend(columns.iter().take(COLUMNS).map(|column| format!("  {column}")));
    if columns.len() > COLUMNS {
        lines.push(format!("  … and {}", count(columns.len() - COLUMNS, "more column")));
    }
    lines.extend(data.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines
}

/// The certificate, what to know of it, and what the test said.
pub fn outcome(outcome: &Outcome, args: &TrainArgs) -> Vec<String> {
    let report = &outcome.report;
    let mut lines = vec![method(report), report.certificate()];
    if let Some(best) = report.best_pass {
        lines.push(format!("kept the weights of pass {best}, the best on the held-out rows"));
    }
    lines.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    if let (Some(test), Some(path)) = (&outcome.test, &args.test) {
        lines.push(format!("{}: {}", path.display(), eval::in_short(test)));
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

/// `logistic loss by newton: converged after 7 passes`.
fn method(report: &Report) -> String {
    let sum = if report.sum { ", sum form" } else { "" };
    let updates =
        report.updates.map(|n| format!(", {}", count(n as usize, "update"))).unwrap_or_default();
    let state = if report.converged { "converged" } else { "stopped" };
    let passes = count(report.passes, "pass");
    format!("{} loss{sum} by {}: {state} after {passes}{updates}", report.loss, report.solver)
}
