//! The table of a search.

use std::fmt::Display;

use lineal::Trial;

use super::Found;
use crate::table::{self, Align};
use crate::talk::{number, rough};

/// `words 1-2, logistic, C 0.3`.
pub fn name<L: Display>(trial: &Trial<L>) -> String {
    let features =
        if trial.features.is_empty() { String::new() } else { format!("{}, ", trial.features) };
    format!("{features}{}, C {}", trial.loss, number(trial.c))
}

/// `accuracy 0.8492 ± 0.0019`.
pub fn measured<L>(trial: &Trial<L>, metric: &str, is_loss: bool) -> String {
    let stopped = match (trial.converged, trial.interrupted) {
        (_, true) => " (stopped by the budget)",
        (false, _) => " (stopped before the tolerance)",
        (true, _) => "",
    };
    let mean = if is_loss { -trial.mean } else { trial.mean };
    format!("{metric} {} ± {}{stopped}", shown(mean, is_loss), shown(trial.standard_error, is_loss))
}

fn shown(x: f64, is_loss: bool) -> String {
    if is_loss { rough(x) } else { format!("{x:.4}") }
}

/// One line per trial, by features and loss, C rising.
pub fn lines<L: Display + PartialEq>(found: &Found<L>) -> Vec<String> {
    let (sign, is_loss) = (found.sign(), found.is_loss);
    let mut trials: Vec<&Trial<L>> = found.table.trials.iter().collect();
    trials.sort_by(|a, b| {
        let key = |t: &Trial<L>| (found.order(t), t.loss.to_string());
        key(a).cmp(&key(b)).then(a.c.total_cmp(&b.c))
    });
    let has_features = trials.iter().any(|t| !t.features.is_empty());
    let mut head = vec!["loss", "C", &found.metric, "± se", "passes", "seconds", ""];
    let mut align = vec![Align::Left, Align::Right];
    if has_features {
        head.insert(0, "features");
        align.insert(0, Align::Left);
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let (best, one_se) = (found.table.best(), found.table.one_standard_error());
    for trial in trials {
        let marks = [
            (best == Some(trial), "*"),
            (one_se == Some(trial), "1se"),
            (trial.interrupted, "stopped by the budget"),
            (!trial.converged && !trial.interrupted && !found.task.is_structured(), "unconverged"),
        ];
        let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
        let mut row = vec![
            trial.loss.to_string(),
            number(trial.c),
            shown(sign * trial.mean, is_loss),
            shown(trial.standard_error, is_loss),
            trial.passes.to_string(),
            format!("{:.2}", trial.seconds),
            marks.join(" "),
        ];
        if has_features {
            row.insert(0, trial.features.clone());
        }
        rows.push(row);
    }
    let mut lines = table::lines(&rows, &align, 0);
    lines.push(String::new());
    let left_out = |(loss, why): &(L, String)| format!("left out: {loss}: {why}");
    lines.extend(found.refused.iter().map(left_out));
    lines.push(format!("chosen: {}", name(&found.chosen)));
    lines
}

impl<L> Found<L> {
    /// Features come in the order in which they were tried.
    fn order(&self, trial: &Trial<L>) -> usize {
        self.table.trials.iter().position(|t| t.features == trial.features).unwrap_or(0)
    }
}
