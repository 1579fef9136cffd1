//! The page of an evaluation.

use lineal::metrics::ClassifyMetrics;
use lineal::{Metrics, Model};

use super::chart::{Chart, Line};
use super::page::{Page, escape, numbers, pairs, section};
use crate::confusion::worst;
use crate::talk::thousands;

/// With more classes than this the heat map gives way to the worst pairs.
const HEAT: usize = 50;
/// From here on the cells are small.
const MANY: usize = 16;
/// Rows of the tables by class.
const CLASSES: usize = 200;

/// Metrics, confusion matrix, reliability diagram.
pub fn eval_page(model: &Model, metrics: &Metrics, data: &str) -> String {
    let report = model.report();
    let lead = format!("A model of {} loss, trained on {}", report.loss, model.provenance().source);
    let mut page = Page::new(&format!("Evaluation on {data}"), &lead);
    let rows = crate::eval::rows(metrics);
    // With one class a row micro F1 is the accuracy once more.
    let cards: Vec<_> = rows.iter().filter(|row| row.0 != "micro_f1").take(4).cloned().collect();
    page.facts(&cards);
    let mut blocks = vec![section("Metrics", &pairs(&rows), "")];
    if let Metrics::Classify(m) = metrics {
        if m.unseen > 0 {
            page.warning(&format!(
                "{} with a label that training did not see: each counts as wrong and is not in the confusion matrix",
                crate::talk::count(m.unseen as usize, "row")
            ));
        }
        blocks.extend((!m.bins.is_empty()).then(|| reliability(m)));
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
fn reliability(m: &ClassifyMetrics) -> String {
    let n = m.bins.iter().map(|bin| bin.count).sum::<u64>().max(1) as f64;
    let n_bins = lineal::metrics::N_BINS as f64;
    let bar = |bin: &lineal::metrics::ReliabilityBin| {
        let at = ((bin.confidence * n_bins).ceil() - 1.0).max(0.0);
        (at / n_bins, (at + 1.0) / n_bins, bin.count as f64 / n)
    };
    let chart = Chart {
        x_label: "probability of the likeliest class",
        y_label: "share that is right",
        x_range: Some((0.0, 1.0)),
        y_range: Some((0.0, 1.0)),
        lines: vec![Line {
            name: "confidence",
            points: m.bins.iter().map(|bin| (bin.confidence, bin.accuracy)).collect(),
        }],
        bars: m.bins.iter().map(bar).collect(),
        diagonal: true,
        ..Chart::default()
    };
    let note = "How often the likeliest class is right, by its probability: true probabilities lie on the diagonal. Bars \
                are the share of rows.";
    section("Reliability", &chart.html(), note)
}

fn confusion(m: &ClassifyMetrics, classes: &[String]) -> String {
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
    let note = "A row a true class, a column a predicted one; the colour is the share of the row.";
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

fn by_class(m: &ClassifyMetrics, classes: &[String]) -> String {
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
