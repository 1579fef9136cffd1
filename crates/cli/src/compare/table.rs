//! The table of a comparison, with the best of each column marked.

use lineal::{Report, Task};

use super::{Comparison, LeftOut, Measured, Row};
use crate::table::{self, Align};
use crate::talk::{count, rough, seconds, thousands};

/// A column: its head, its value in a row, whether small is good, how it looks.
pub struct Column {
    pub head: String,
    value: Value,
    best: Best,
    show: fn(f64) -> String,
}

/// What a column takes from a run.
enum Value {
    Of(fn(&Measured) -> f64),
    Metric(&'static str),
}

impl Value {
    fn of(&self, measured: &Measured) -> f64 {
        match self {
            Self::Of(value) => value(measured),
            Self::Metric(name) => measured.metric(name),
        }
    }
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

/// The columns after strategy and loss.
pub fn columns(found: &Comparison) -> Vec<Column> {
    let column =
        |head: &str, value, best, show| Column { head: head.to_owned(), value, best, show };
    let whole = |n: f64| thousands(n as usize);
    let fraction = |x: f64| if x.is_nan() { "–".to_owned() } else { format!("{x:.4}") };
    let structured = found.task.is_structured();
    let mut columns = Vec::new();
    if !structured && found.task != Task::Regress {
        let problems = Value::Of(|m| m.report.problems as f64);
        columns.push(column("problems", problems, Best::None, whole));
        let touched = Value::Of(|m| m.report.rows_touched as f64);
        columns.push(column("rows touched", touched, Best::None, whole));
    }
    let train = Value::Of(|m| m.train_seconds);
    columns.push(column("train s", train, Best::Least, |s| format!("{s:.3}")));
    let predict = Value::Of(|m| 1e6 * m.predict_seconds);
    let head = format!("predict µs/{}", found.example);
    columns.push(column(&head, predict, Best::Least, |us| format!("{us:.2}")));
    for metric in &found.metrics {
        let head = match *metric {
            "micro_f1" => "micro F1",
            "macro_f1" => "macro F1",
            name => name,
        };
        let (best, show) = match *metric {
            "rmse" | "mae" => (Best::Least, rough as fn(f64) -> String),
            _ => (Best::Most, fraction as fn(f64) -> String),
        };
        columns.push(column(head, Value::Metric(metric), best, show));
    }
    if structured {
        let gap = Value::Of(|m| {
            let relative = |gap: f64| gap / m.report.objective.max(f64::MIN_POSITIVE);
            m.report.gap.map_or(f64::NAN, relative)
        });
        let show = |gap: f64| if gap.is_nan() { "–".to_owned() } else { format!("{gap:.1e}") };
        columns.push(column("relative gap", gap, Best::None, show));
    }
    columns
}

/// The rows as text, in their order.
pub fn cells(found: &Comparison, columns: &[Column]) -> Vec<Cells> {
    let best = |column: &Column| {
        let values = found
            .rows
            .iter()
            .filter_map(|row| row.outcome.as_ref().ok())
            .map(|m| column.value.of(m));
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
                    let value = column.value.of(measured);
                    ((column.show)(value), *best == Some(value))
                })
                .collect(),
        ),
    };
    found.rows.iter().map(of_row).collect()
}

/// Runs that ended before they met the tolerance, by name. What minimises no objective has none to meet.
pub fn unconverged(found: &Comparison) -> Vec<String> {
    let is_stopped = |report: &Report| !report.converged && !report.objective.is_nan();
    let stopped = |row: &&Row| row.outcome.as_ref().is_ok_and(|m| is_stopped(&m.report));
    found.rows.iter().filter(stopped).map(Row::name).collect()
}

/// For the screen.
pub fn lines(found: &Comparison) -> Vec<String> {
    let columns = columns(found);
    let heads = found.heads();
    let mut rows = vec![heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>()];
    rows[0].extend(columns.iter().map(|column| format!("{} ", column.head)));
    let mut failed = Vec::new();
    for (row, cells) in found.rows.iter().zip(cells(found, &columns)) {
        let mut line = row.names();
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
    let align =
        vec![Align::Left; heads.len()].into_iter().chain([Align::Right]).collect::<Vec<_>>();
    let mut lines = table::lines(&rows, &align, 0);
    let names: Vec<Vec<String>> = rows.iter().map(|row| row[..heads.len()].to_vec()).collect();
    let width = table::lines(&names, &align, 0).iter().map(|name| name.chars().count()).max();
    for (at, why) in failed {
        lines[at] = format!("{:w$}  {why}", lines[at], w = width.unwrap_or(0));
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
    let strategy = left.strategy.map(|strategy| strategy.to_string());
    let names: Vec<String> = strategy.into_iter().chain(left.loss.clone()).collect();
    format!("left out: {}: {}", names.join(" "), left.reason)
}
