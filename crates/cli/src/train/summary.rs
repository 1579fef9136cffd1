//! What `train` says to people.

use lineal::{Dataset, Features, Model, Report, Strategy, TargetKind, Targets};

use super::Outcome;
use crate::args::TrainArgs;
use crate::talk::{bytes, count, rough, seconds};
use crate::{eval, inspect, maps, text};

/// The columns that are shown of a wide table.
const COLUMNS: usize = 40;

/// The data as it was understood.
pub fn data(data: &Dataset, features: &Features, read_seconds: f64) -> Vec<String> {
    let n_classes = data.schema.classes.len();
    let classes = match (data.schema.target, &data.y) {
        (TargetKind::Classes, _) => format!(", {}", count(n_classes, "class")),
        (TargetKind::Labels, Targets::Labels(y)) => {
            let mean = y.n_labels_total() as f64 / y.n_rows().max(1) as f64;
            format!(", {} ({} a row)", count(n_classes, "label"), rough(mean))
        }
        _ => String::new(),
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
    lines.extend(features.text().map(|encoder| format!("  {}", text::in_short(encoder))));
    let templates = features.templates().map(|(templates, _)| maps::templates_in_short(templates));
    lines.extend(templates.map(|told| format!("  {told}")));
    let name = |j| features.feature_name(&data.schema, j);
    lines.extend(features.map().map(|map| format!("  {}", maps::in_short(map, name))));
    lines.extend(data.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines
}

/// The certificate, what to know of it, and what the test said.
pub fn outcome(model: &Model, outcome: &Outcome, args: &TrainArgs) -> Vec<String> {
    let report = &outcome.report;
    let mut lines = vec![method(report)];
    if report.strategy != Strategy::Joint {
        let shape = inspect::shape(report);
        lines.extend(shape.into_iter().map(|(name, value)| format!("{name}: {value}")));
    }
    lines.push(report.certificate());
    let fitted = inspect::fitted(model);
    lines.extend(fitted.into_iter().map(|(name, value)| format!("{name}: {value}")));
    if let Some(best) = report.best_pass {
        lines.push(format!("kept the weights of pass {best}, the best on the held-out rows"));
    }
    lines.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    if args.validation.is_some() && report.curve.iter().all(|point| point.held_out_metric.is_none())
    {
        lines.push(format!(
            "warning: nobody looked at the held-out rows: {} problems are trained block by block; to watch them add \
             --solver sgd or lbfgs, to measure them at the end --test",
            report.strategy
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
