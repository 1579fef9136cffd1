//! The table of a comparison, with the best of each column marked.

use lineal::{Metrics, Task};

use super::{Comparison, LeftOut, Measured, Row};
use crate::table::{self, Align};
use crate::talk::{count, seconds, thousands};

/// A column: its head, its value in a row, whether small is good, how it looks.
pub struct Column {
    pub head: &'static str,
    value: fn(&Measured) -> f64,
    best: Best,
    show: fn(f64) -> String,
}

#[derive(Clone, Copy, PartialEq)]
enum Best {
    Least,
    Most,
    /// A fact, neither good nor bad.
    None,
}

/// One row as text.
pub enum Cells {
    /// A value and whether it is the best, for each column.
    Values(Vec<(String, bool)>),
    /// Why there are none.
    Failed(String),
}

/// Accuracy, or micro F1 for labels.
pub fn first_metric(metrics: &Metrics) -> f64 {
    match metrics {
        Metrics::Classify(m) => m.accuracy,
        Metrics::Multilabel(m) => m.micro_f1,
        Metrics::Regress(m) => -m.rmse,
    }
}

fn macro_f1(metrics: &Metrics) -> f64 {
    match metrics {
        Metrics::Classify(m) => m.macro_f1,
        Metrics::Multilabel(m) => m.macro_f1,
        Metrics::Regress(_) => f64::NAN,
    }
}

fn p_at_1(metrics: &Metrics) -> f64 {
    if let Metrics::Multilabel(m) = metrics { m.p_at_1 } else { f64::NAN }
}

/// The columns of a task, after strategy and loss.
pub fn columns(task: Task) -> Vec<Column> {
    let column = |head, value, best, show| Column { head, value, best, show };
    let whole = |n: f64| thousands(n as usize);
    let fraction = |x: f64| format!("{x:.4}");
    let first = if task == Task::Multilabel { "micro F1" } else { "accuracy" };
    let mut columns = vec![
        column("problems", |m| m.report.problems as f64, Best::None, whole),
        column("rows touched", |m| m.report.rows_touched as f64, Best::None, whole),
        column("train s", |m| m.train_seconds, Best::Least, |s| format!("{s:.3}")),
        column(
            "predict µs/row",
            |m| 1e6 * m.predict_seconds_per_row,
            Best::Least,
            |us| format!("{us:.2}"),
        ),
        column(first, |m| first_metric(&m.metrics), Best::Most, fraction),
        column("macro F1", |m| macro_f1(&m.metrics), Best::Most, fraction),
    ];
    if task == Task::Multilabel {
        columns.push(column("p@1", |m| p_at_1(&m.metrics), Best::Most, fraction));
    }
    columns
}

/// The rows as text, in their order.
pub fn cells(found: &Comparison, columns: &[Column]) -> Vec<Cells> {
    let best = |column: &Column| {
        let values =
            found.rows.iter().filter_map(|row| row.outcome.as_ref().ok()).map(column.value);
        match column.best {
            Best::Least => values.reduce(f64::min),
            Best::Most => values.reduce(f64::max),
            Best::None => None,
        }
    };
    let best: Vec<Option<f64>> = columns.iter().map(best).collect();
    let of_row = |row: &Row| match &row.outcome {
        Err(why) => Cells::Failed(why.clone()),
        Ok(measured) => Cells::Values(
            columns
                .iter()
                .zip(&best)
                .map(|(column, best)| {
                    let value = (column.value)(measured);
                    ((column.show)(value), *best == Some(value))
                })
                .collect(),
        ),
    };
    found.rows.iter().map(of_row).collect()
}

/// Runs that ended before they met the tolerance, by name.
pub fn unconverged(found: &Comparison) -> Vec<String> {
    let stopped = |row: &&Row| row.outcome.as_ref().is_ok_and(|m| !m.report.converged);
    found.rows.iter().filter(stopped).map(Row::name).collect()
}

/// For the screen.
pub fn lines(found: &Comparison) -> Vec<String> {
    let columns = columns(found.task);
    let mut rows = vec![vec!["strategy".to_owned(), "loss".to_owned()]];
    rows[0].extend(columns.iter().map(|column| format!("{} ", column.head)));
    let mut failed = Vec::new();
    for (row, cells) in found.rows.iter().zip(cells(found, &columns)) {
        let mut line = vec![row.strategy.to_string(), row.loss.to_string()];
        match cells {
            Cells::Values(values) => line.extend(
                values
                    .into_iter()
                    .map(|(text, best)| format!("{text}{}", if best { '*' } else { ' ' })),
            ),
            Cells::Failed(why) => failed.push((rows.len(), why)),
        }
        rows.push(line);
    }
    let mut lines = table::lines(&rows, &[Align::Left, Align::Left, Align::Right], 0);
    let names = rows.iter().map(|row| row[1].chars().count()).max().unwrap_or(0);
    for (at, why) in failed {
        let (strategy, loss) = (&rows[at][0], &rows[at][1]);
        lines[at] = format!("{strategy:8}  {loss:names$}  {why}");
    }
    lines.push(String::new());
    lines.push(format!(
        "* the best of its column; {} in {}",
        count(found.rows.len(), "run"),
        seconds(found.seconds)
    ));
    let stopped = unconverged(found);
    if !stopped.is_empty() {
        lines.push(format!("stopped before they met --tol: {}", stopped.join(", ")));
    }
    lines.extend(found.left_out.iter().map(left_out));
    lines
}

/// `left out: ovo: 1,016 classes are …`.
pub fn left_out(left: &LeftOut) -> String {
    let loss = left.loss.map(|loss| format!(" {loss}")).unwrap_or_default();
    format!("left out: {}{loss}: {}", left.strategy, left.reason)
}
