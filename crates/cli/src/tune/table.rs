//! The table of a search.

use lineal::{Task, Trial, TuneMetric};

use super::Found;
use crate::args::TuneArgs;
use crate::table::{self, Align};
use crate::talk::{number, rough};

/// `words 1-2, logistic, C 0.3`.
pub fn name(trial: &Trial) -> String {
    let features =
        if trial.features.is_empty() { String::new() } else { format!("{}, ", trial.features) };
    format!("{features}{}, C {}", trial.loss, number(trial.c))
}

/// `accuracy 0.8492 ± 0.0019`.
pub fn measured(trial: &Trial, metric: TuneMetric, task: Task) -> String {
    let sign = if metric.is_loss(task) { -1.0 } else { 1.0 };
    let stopped = if trial.converged { "" } else { " (stopped before the tolerance)" };
    format!(
        "{} {} ± {}{stopped}",
        metric.name(task),
        shown(sign * trial.mean, metric, task),
        shown(trial.standard_error, metric, task)
    )
}

fn shown(x: f64, metric: TuneMetric, task: Task) -> String {
    if metric.is_loss(task) { rough(x) } else { format!("{x:.4}") }
}

/// A line a trial, by features and loss, C rising.
pub fn lines(found: &Found, args: &TuneArgs) -> Vec<String> {
    let (metric, task) = (args.metric.0, args.task);
    let sign = if metric.is_loss(task) { -1.0 } else { 1.0 };
    let mut trials: Vec<&Trial> = found.table.trials.iter().collect();
    trials.sort_by(|a, b| {
        let key = |t: &Trial| (found.order(t), t.loss.as_str());
        key(a).cmp(&key(b)).then(a.c.total_cmp(&b.c))
    });
    let has_features = trials.iter().any(|t| !t.features.is_empty());
    let mut head = vec!["loss", "C", metric.name(task), "± se", "passes", "seconds", ""];
    let mut align = vec![Align::Left, Align::Right];
    if has_features {
        head.insert(0, "features");
        align.insert(0, Align::Left);
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let (best, one_se) = (found.table.best(), found.table.one_standard_error());
    for trial in trials {
        let mark = match (best == Some(trial), one_se == Some(trial)) {
            (true, true) => "* 1se",
            (true, false) => "*",
            (false, true) => "1se",
            (false, false) => "",
        };
        let mut row = vec![
            trial.loss.to_string(),
            number(trial.c),
            shown(sign * trial.mean, metric, task),
            shown(trial.standard_error, metric, task),
            trial.passes.to_string(),
            format!("{:.2}", trial.seconds),
            mark.to_owned(),
        ];
        if has_features {
            row.insert(0, trial.features.clone());
        }
        rows.push(row);
    }
    let mut lines = table::lines(&rows, &align, 0);
    lines.push(String::new());
    lines.push(format!("chosen: {}", name(&found.chosen)));
    lines
}

impl Found {
    /// Features come in the order in which they were tried.
    fn order(&self, trial: &Trial) -> usize {
        self.table.trials.iter().position(|t| t.features == trial.features).unwrap_or(0)
    }
}
