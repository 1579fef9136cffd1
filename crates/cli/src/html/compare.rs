//! The page of a comparison.

use lineal::{LossKind, Strategy, Task};

use super::chart::{Chart, Dot, Mark};
use super::page::{Page, escape, section};
use crate::compare::table::{Cells, cells, columns, first_metric, left_out, unconverged};
use crate::compare::{Comparison, Measured};
use crate::talk::{count, rough, seconds, thousands};

/// The table, accuracy against training time, accuracy against prediction time.
pub fn compare_page(found: &Comparison) -> String {
    let classes = if found.task == Task::Multilabel { "label" } else { "class" };
    let lead = format!(
        "{} and {}, trained on {} and measured on {}",
        count(found.n_classes, classes),
        count(found.n_features, "feature"),
        count(found.n_rows[0], "row"),
        count(found.n_rows[1], "row")
    );
    let mut page = Page::new(&format!("Strategies and losses on {}", found.data), &lead);
    page.facts(&cards(found));
    let stopped = unconverged(found);
    if !stopped.is_empty() {
        page.warning(&format!("Stopped before they met the tolerance: {}", stopped.join(", ")));
    }
    found.left_out.iter().for_each(|left| page.warning(&left_out(left)));
    page.section(&section("All runs", &table(found), "The best of each column stands out."));
    let charts = [
        ("training time", "seconds of training", (|m| m.train_seconds) as fn(&Measured) -> f64),
        ("prediction time", "microseconds per row", |m| 1e6 * m.predict_seconds_per_row),
    ];
    let metric = metric_name(found.task);
    let charts = charts.map(|(name, x_label, value)| {
        let note = "Up and to the left is better. Colours are strategies, marks are losses.";
        let title = format!("{metric} against {name}");
        section(&title, &chart(found, x_label, value).html(), note)
    });
    page.grid(&charts);
    page.finish()
}

fn metric_name(task: Task) -> &'static str {
    if task == Task::Multilabel { "Micro F1" } else { "Accuracy" }
}

fn cards(found: &Comparison) -> Vec<(&'static str, String)> {
    let ran = || found.rows.iter().filter_map(|row| Some((row, row.outcome.as_ref().ok()?)));
    let best =
        ran().max_by(|a, b| first_metric(&a.1.metrics).total_cmp(&first_metric(&b.1.metrics)));
    let fastest = ran().min_by(|a, b| a.1.train_seconds.total_cmp(&b.1.train_seconds));
    let mut cards = vec![("runs", thousands(found.rows.len()))];
    cards.extend(best.map(|(_, m)| {
        let name = if found.task == Task::Multilabel { "best micro F1" } else { "best accuracy" };
        (name, format!("{:.4}", first_metric(&m.metrics)))
    }));
    cards.extend(best.map(|(row, _)| ("by", row.name())));
    cards.extend(fastest.map(|(row, _)| ("fastest to train", row.name())));
    cards.push(("all in", seconds(found.seconds)));
    cards
}

fn table(found: &Comparison) -> String {
    let columns = columns(found.task);
    let mut html = String::from("<div class=\"scroll\"><table><tr><th>strategy</th><th>loss</th>");
    for column in &columns {
        html.push_str(&format!("<th class=\"n\">{}</th>", escape(column.head)));
    }
    html.push_str("</tr>");
    for (row, cells) in found.rows.iter().zip(cells(found, &columns)) {
        html.push_str(&format!("<tr><td>{}</td><td>{}</td>", row.strategy, row.loss));
        match cells {
            Cells::Failed(why) => html.push_str(&format!(
                "<td class=\"failed\" colspan=\"{}\">{}</td>",
                columns.len(),
                escape(&why)
            )),
            Cells::Values(values) => values.iter().for_each(|(text, best)| {
                let class = if *best { "n best" } else { "n" };
                html.push_str(&format!("<td class=\"{class}\">{}</td>", escape(text)));
            }),
        }
        html.push_str("</tr>");
    }
    html.push_str("</table></div>");
    html
}

fn chart<'a>(found: &Comparison, x_label: &'a str, value: fn(&Measured) -> f64) -> Chart<'a> {
    let place = |of: usize| of % 5;
    let colour =
        |strategy: Strategy| place(Strategy::ALL.iter().position(|s| *s == strategy).unwrap_or(0));
    let mark = |loss: LossKind| {
        Mark::ALL[place(LossKind::ALL.iter().position(|l| *l == loss).unwrap_or(0))]
    };
    let dots = found.rows.iter().filter_map(|row| {
        let measured = row.outcome.as_ref().ok()?;
        let (x, y) = (value(measured), first_metric(&measured.metrics));
        let title = format!("{}: {} {x_label}, {y:.4}", row.name(), rough(x));
        Some(Dot { at: (x, y), colour: colour(row.strategy), mark: mark(row.loss), title })
    });
    let mut legend: Vec<(usize, Mark, String)> = Vec::new();
    for row in &found.rows {
        let strategy = row.strategy.to_string();
        if !legend.iter().any(|key| key.2 == strategy) {
            legend.push((colour(row.strategy), Mark::Circle, strategy));
        }
    }
    for row in &found.rows {
        let loss = row.loss.to_string();
        if !legend.iter().any(|key| key.2 == loss) {
            legend.push((NEUTRAL, mark(row.loss), loss));
        }
    }
    let y_label = metric_name(found.task);
    Chart { x_label, y_label, log_x: true, dots: dots.collect(), legend, ..Chart::default() }
}

/// The colour of a mark that stands for a loss by any strategy.
const NEUTRAL: usize = 5;
