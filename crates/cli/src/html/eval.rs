//! The page of an evaluation.

use lineal::metrics::{ClassifyMetrics, ReliabilityBin};
use lineal::{Metrics, Model, Task};

use super::chart::{Chart, Line};
use super::page::{Page, escape, numbers, pairs, section};
use crate::rows::ByLabel;
use crate::rows::confusion::worst;
use crate::rows::inspect::{fitted, shape};
use crate::talk::thousands;

/// With more classes than this the heat map gives way to the worst pairs.
const HEAT: usize = 50;
/// From here on the cells are small.
const MANY: usize = 16;
/// Rows of the tables by class.
const CLASSES: usize = 200;

/// Metrics, confusion matrix or table of labels, reliability diagram.
pub fn eval_page(model: &Model, metrics: &Metrics, labels: Option<&ByLabel>, data: &str) -> String {
    let report = model.report();
    let mut lead = vec![format!("{} loss", report.loss)];
    if model.task() != Task::Regress {
        let about = shape(report).into_iter().chain(fitted(model));
        lead.extend(about.map(|(name, value)| format!("{name}: {value}")));
    }
    lead.push(format!("trained on {}", model.provenance().source));
    let lead = lead.join("; ");
    let mut page = Page::new(&format!("Evaluation on {data}"), &lead);
    let rows = crate::rows::eval::rows(metrics);
    // With one class per row micro F1 is the accuracy once more.
    let again = if model.task() == Task::Classify { "micro_f1" } else { "" };
    let cards: Vec<_> = rows.iter().filter(|row| row.0 != again).take(4).cloned().collect();
    page.facts(&cards);
    let mut blocks = vec![section("Metrics", &pairs(&rows), "")];
    if let (Metrics::Multilabel(m), Some(labels)) = (metrics, labels) {
        if m.unseen > 0 {
            page.warning(&format!(
                "{} that training did not see: each counts as missed",
                crate::talk::count(m.unseen as usize, "label")
            ));
        }
        let note = "How often a label is there, by its probability: true probabilities lie on the diagonal. Bars are the \
                    share of all rows and labels.";
        blocks.extend((!labels.bins.is_empty()).then(|| {
            reliability(&labels.bins, ["probability of a label", "share that has it"], note)
        }));
        page.grid(&blocks);
        page.section(&label_table(labels, model.classes()));
    } else if let Metrics::Classify(m) = metrics {
        if m.unseen > 0 {
            page.warning(&format!(
                "{} with a label that training did not see: each counts as wrong and is not in the confusion matrix",
                crate::talk::count(m.unseen as usize, "row")
            ));
        }
        let note = "How often the likeliest class is right, by its probability: true probabilities lie on the diagonal. \
                    Bars are the share of rows.";
        blocks.extend((!m.bins.is_empty()).then(|| {
            reliability(
                &m.bins,
                ["probability of the likeliest class", "share that is right"],
                note,
            )
        }));
        page.grid(&blocks);
        let tables = [confusion(m, model.classes()), by_class(m, model.classes())];
        if model.classes().len() < MANY {
            page.grid(&tables);
        } else {
            tables.iter().for_each(|table| page.section(table));
        }
    } else {
        page.grid(&blocks);
    }
    page.finish()
}

/// Confidence against accuracy, with the share of rows behind.
fn reliability(bins: &[ReliabilityBin], [x_label, y_label]: [&str; 2], note: &str) -> String {
    let n = bins.iter().map(|bin| bin.count).sum::<u64>().max(1) as f64;
    let n_bins = lineal::metrics::N_BINS as f64;
    let bar = |bin: &ReliabilityBin| {
        let at = ((bin.confidence * n_bins).ceil() - 1.0).max(0.0);
        (at / n_bins, (at + 1.0) / n_bins, bin.count as f64 / n)
    };
    let chart = Chart {
        x_label,
        y_label,
        x_range: Some((0.0, 1.0)),
        y_range: Some((0.0, 1.0)),
        lines: vec![Line {
            name: "confidence",
            points: bins.iter().map(|bin| (bin.confidence, bin.accuracy)).collect(),
        }],
        bars: bins.iter().map(bar).collect(),
        diagonal: true,
        ..Chart::default()
    };
    section("Reliability", &chart.html(), note)
}

/// Who is taken for whom.
pub fn confusion(m: &ClassifyMetrics, classes: &[String]) -> String {
    if m.confusion.is_empty() {
        return String::new();
    }
    if classes.len() > HEAT {
        let row = |&(n, y, y_hat): &(u64, usize, usize)| {
            vec![format!("{} taken for {}", classes[y], classes[y_hat]), thousands(n as usize)]
        };
        let rows: Vec<Vec<String>> = worst(m, 40).iter().map(row).collect();
        return section("Most frequent confusions", &numbers(&["classes", "rows"], &rows), "");
    }
    let many = if classes.len() >= MANY { " many" } else { "" };
    let mut html =
        format!("<div class=\"scroll\"><table class=\"heat{many}\"><thead><tr><th></th>");
    for name in classes {
        html.push_str(&format!("<th>{}</th>", escape(name)));
    }
    html.push_str("</tr></thead>");
    for (y, counts) in m.confusion.iter().enumerate() {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        html.push_str(&format!("<tr><th>{}</th>", escape(&classes[y])));
        for (y_hat, &n) in counts.iter().enumerate() {
            html.push_str(&cell(n, n as f64 / total, y == y_hat));
        }
        html.push_str("</tr>");
    }
    html.push_str("</table></div>");
    let note =
        "True classes in rows, predicted ones in columns; the colour is the share of the row.";
    section("Confusion matrix", &html, note)
}

fn cell(n: u64, share: f64, diagonal: bool) -> String {
    let class = if diagonal { " class=\"diagonal\"" } else { "" };
    if n == 0 {
        return format!("<td{class}></td>");
    }
    // The root keeps rare mistakes visible; below 0.6 the ink stays readable on it.
    let ink = 0.06 + 0.54 * share.sqrt();
    format!("<td{class} style=\"background:rgba(var(--heat),{ink:.2})\">{n}</td>")
}

/// A row a class.
pub fn by_class(m: &ClassifyMetrics, classes: &[String]) -> String {
    let rows: Vec<Vec<String>> = m
        .per_class
        .iter()
        .take(CLASSES)
        .map(|s| {
            let name = classes.get(s.class).cloned().unwrap_or_default();
            let scores = [s.precision, s.recall, s.f1].map(|x| format!("{x:.3}"));
            [name].into_iter().chain(scores).chain([thousands(s.support as usize)]).collect()
        })
        .collect();
    let heads = ["class", "precision", "recall", "F1", "rows"];
    section(
        "By class",
        &numbers(&heads, &rows),
        if m.per_class.len() > CLASSES { "The first 200 classes." } else { "" },
    )
}

fn label_table(labels: &ByLabel, names: &[String]) -> String {
    let rows: Vec<Vec<String>> = labels
        .labels
        .iter()
        .zip(names)
        .take(CLASSES)
        .map(|(counts, name)| {
            let scores = counts.scores().map(|x| format!("{x:.3}"));
            let rows = [counts.gold, counts.predicted].map(|n| thousands(n as usize));
            [name.clone()].into_iter().chain(scores).chain(rows).collect()
        })
        .collect();
    let heads = ["label", "precision", "recall", "F1", "rows", "predicted"];
    let note = if names.len() > CLASSES { "The first 200 labels." } else { "" };
    section("By label", &numbers(&heads, &rows), note)
}
