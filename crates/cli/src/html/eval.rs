//! The page of an evaluation.

#[cfg(feature = "serve")]
use lineal::Evaluation;
use lineal::metrics::{ClassScores, ReliabilityBin};
use lineal::{Metrics, Model, Task, confused};

use super::chart::{Chart, Dot, Line, Mark};
use super::explain::draw;
use super::page::{Page, escape, numbers, pairs, section};
use super::scale::Scale;
use super::threshold::thresholds;
use crate::rows::ByLabel;
use crate::rows::details::{Details, Mistake};
use crate::rows::eval::Measured;
use crate::rows::inspect::{fitted, shape};
use crate::table::cut;
use crate::talk::{rough, thousands};

/// With more classes than this the heat map gives way to the worst pairs.
const HEAT: usize = 50;
/// Characters of a name over a column that lies.
const HEAD: usize = 9;
/// From here on the cells are small.
const MANY: usize = 16;
/// Confusions that are listed in place of it.
const PAIRS: usize = 40;
/// Rows of the tables by class.
const CLASSES: usize = 200;

/// Metrics, thresholds, confusion matrix or table of labels, reliability diagram, errors of numbers, what weighs most, the worst mistakes.
pub fn eval_page(model: &Model, found: &Measured, data: &str) -> Page {
    let Measured { metrics, labels, details } = found;
    let labels = labels.as_ref();
    let report = model.report();
    let mut lead = vec![format!("{} loss", report.loss)];
    if model.task() != Task::Regress {
        let about = shape(report).into_iter().chain(fitted(model));
        lead.extend(about.map(|(name, value)| format!("{name}: {value}")));
    }
    lead.push(format!("trained on {}", model.provenance().source));
    let lead = lead.join("; ");
    let mut page = Page::new("Evaluation on", data, &lead);
    let rows = crate::rows::eval::rows(metrics);
    // With one class per row micro F1 is the accuracy once more.
    let again = if model.task() == Task::Classify { "micro_f1" } else { "" };
    let is_card = |row: &&(&str, String)| row.0 != again && row.1 != "–";
    let cards: Vec<_> = rows.iter().filter(is_card).take(4).cloned().collect();
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
        blocks.extend((!m.bins.is_empty()).then(|| reliability_of_classes(&m.bins)));
        let mut tables = vec![
            by_class(&m.per_class, model.classes(), ["class", "rows"]),
            confusion(&m.confusion, model.classes()),
        ];
        tables.retain(|table| !table.is_empty());
        // Something stands beside the metrics: without probabilities, the classes.
        let lists_all = model.classes().len() < MANY;
        if blocks.len() == 1 && lists_all {
            blocks.push(tables.remove(0));
        }
        page.grid(&blocks);
        page.section(
            &details
                .as_ref()
                .map_or(String::new(), |d| thresholds(&d.curves, d.is_proba, model.classes())),
        );
        if lists_all && tables.len() > 1 {
            page.grid(&tables);
        } else {
            tables.iter().for_each(|table| page.section(table));
        }
    } else {
        blocks.extend(details.iter().flat_map(errors));
        page.grid(&blocks);
    }
    if let Some(details) = details {
        page.section(&importance(&details.importance, model.classes()));
        page.section(&mistakes(details, model.task()));
        page.section(&border(details));
    }
    page
}

/// Predicted against actual numbers, and what is left between them.
fn errors(details: &Details) -> Vec<String> {
    if details.pairs.is_empty() {
        return Vec::new();
    }
    let dots = |at: fn(&(f64, f64)) -> (f64, f64)| {
        let dot = |pair| Dot { at: at(pair), colour: 0, mark: Mark::Speck, title: String::new() };
        details.pairs.iter().map(dot).collect::<Vec<_>>()
    };
    // Both axes alike, so that the diagonal is where they agree.
    let all = || details.pairs.iter().flat_map(|&(y, y_hat)| [y, y_hat]);
    let range = Scale::around(all(), false, 0.0, 1.0).range();
    let scatter = Chart {
        x_label: "actual",
        y_label: "predicted",
        x_range: Some(range),
        y_range: Some(range),
        dots: dots(|&pair| pair),
        diagonal: true,
        ..Chart::default()
    };
    let residuals = Chart {
        x_label: "predicted",
        y_label: "predicted − actual",
        dots: dots(|&(y, y_hat)| (y_hat, y_hat - y)),
        level: Some(0.0),
        ..Chart::default()
    };
    vec![
        section("Predicted against actual", &scatter.html(), "Right on the dashed line."),
        section(
            "Residuals",
            &residuals.html(),
            "A bend or a funnel says that a linear model of these columns misses something.",
        ),
        section("Distribution of residuals", &histogram(&details.residuals).html(), ""),
    ]
}

/// How many residuals there are of each size.
fn histogram(residuals: &[f64]) -> Chart<'static> {
    const BINS: usize = 30;
    let (lo, hi) = Scale::around(residuals.iter().copied(), false, 0.0, 1.0).range();
    let width = (hi - lo) / BINS as f64;
    let mut counts = [0usize; BINS];
    for &r in residuals {
        let at = ((r - lo) / width) as usize;
        counts[at.min(BINS - 1)] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(1).max(1);
    let bar = |(i, &n): (usize, &usize)| {
        let left = lo + i as f64 * width;
        (left, left + width, n as f64)
    };
    Chart {
        x_label: "predicted − actual",
        y_label: "rows",
        x_range: Some((lo, hi)),
        y_range: Some((0.0, most as f64 * 1.05)),
        bars: counts.iter().enumerate().map(bar).collect(),
        rules: vec![(0.0, "")],
        ..Chart::default()
    }
}

/// The features that weigh most.
pub fn importance(features: &[(f64, String)], classes: &[String]) -> String {
    if features.is_empty() {
        return String::new();
    }
    let note = match classes {
        [] => "Weight × standard deviation of the feature: what a usual difference of it adds to the number.".to_owned(),
        [no, yes] => format!("Weight × standard deviation of the feature: to the right it speaks for {yes}, to the left for {no}."),
        _ => "Weight × standard deviation of the feature, for the class where it is largest: to the right it speaks for that class, to the left against it.".to_owned(),
    };
    section("Features that weigh most", &draw(features), &note)
}

/// The rows with the worst answers.
fn mistakes(details: &Details, task: Task) -> String {
    if details.mistakes.is_empty() {
        return String::new();
    }
    let (measure, note) = match (task, details.is_proba) {
        (Task::Regress, _) => ("off by", "The rows whose numbers are farthest off."),
        (_, true) => (
            "probability",
            "The wrong answers that the model was most sure of: often labels that are wrong themselves.",
        ),
        (_, false) => (
            "margin",
            "The wrong answers with the largest lead over the right class: often labels that are wrong themselves.",
        ),
    };
    let html = row_table(&details.mistakes, measure, details.is_proba);
    section("Worst mistakes", &html, note)
}

/// The rows whose first two classes are nearest to each other.
fn border(details: &Details) -> String {
    if details.border.is_empty() {
        return String::new();
    }
    let (measure, note) = match details.is_proba {
        true => (
            "lead",
            "How much more probable the predicted class is than the next: the rows that a small change would turn.",
        ),
        false => (
            "lead",
            "How far the predicted class leads the next: the rows that a small change of the weights would turn.",
        ),
    };
    section("Closest to the border", &row_table(&details.border, measure, details.is_proba), note)
}

/// Rows with what they should be, what they are taken for, and what stands in them.
fn row_table(rows: &[Mistake], measure: &str, is_proba: bool) -> String {
    /// Characters of a cell, and of one that stands beside others.
    const LONGEST: usize = 400;
    const SHORT: usize = 30;
    let mut html = String::from(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"sort mistakes\"><thead><tr>",
    );
    let heads = [("row", true), ("actual", false), ("predicted", false), (measure, true)];
    for (head, number) in heads {
        let class = if number { " class=\"n\"" } else { "" };
        html.push_str(&format!("<th{class}>{head}</th>"));
    }
    html.push_str("<th>values of the row</th></tr></thead><tbody>");
    for mistake in rows {
        // Long texts have a line of their own, the rest stands side by side.
        let (long, short): (Vec<_>, Vec<_>) = mistake
            .cells
            .iter()
            .filter(|(_, value)| !value.trim().is_empty())
            .partition(|(_, value)| value.chars().count() > SHORT);
        let show = |tag: &str, (name, value): &(String, String)| {
            let (name, value) = (escape(name), escape(&cut(value, LONGEST)));
            format!("<{tag}><i>{name}</i> {value}</{tag}> ")
        };
        let cells = long
            .iter()
            .map(|cell| show("p", cell))
            .chain(short.iter().map(|cell| show("span", cell)))
            .collect::<String>();
        let amount = match is_proba {
            true => format!("{:.3}", mistake.amount),
            false => rough(mistake.amount),
        };
        html.push_str(&format!(
            "<tr><td class=\"n\">{}</td><td>{}</td><td>{}</td><td class=\"n\">{amount}</td><td class=\"row\">{}</td></tr>",
            mistake.row + 1,
            escape(&mistake.gold),
            escape(&mistake.predicted),
            cells
        ));
    }
    html.push_str("</tbody></table></div>");
    html
}

fn reliability_of_classes(bins: &[ReliabilityBin]) -> String {
    let note = "How often the likeliest class is right, by its probability: true probabilities lie on the diagonal. \
                Bars are the share of rows.";
    reliability(bins, ["probability of the likeliest class", "share that is right"], note)
}

/// The blocks of a page of evaluation that a model file keeps enough for.
#[cfg(feature = "serve")]
pub fn kept_evaluation(kept: &Evaluation, classes: &[String]) -> String {
    let mut page = Page::new("Evaluation on", &kept.source, "");
    let rows: Vec<(&str, String)> = (kept.metrics.iter())
        .map(|(name, value)| {
            let is_count = value.fract() == 0.0 && value.abs() >= 2.0 && value.abs() < 1e15;
            let is_share = value.abs() < 2.0;
            let shown = match (is_count, is_share) {
                (true, _) => thousands(value.abs() as usize),
                (_, true) => format!("{value:.4}"),
                _ => rough(*value),
            };
            (name.as_str(), shown)
        })
        .collect();
    let mut blocks = vec![section("Metrics", &pairs(&rows), "")];
    let Some(of) = &kept.classes else {
        page.grid(&blocks);
        return page.blocks();
    };
    let bins = of.bins();
    blocks.extend((!bins.is_empty()).then(|| reliability_of_classes(&bins)));
    page.grid(&blocks);
    page.section(&thresholds(&of.curves, of.is_proba, classes));
    let mut tables = vec![
        by_class(&of.scores(), classes, ["class", "rows"]),
        confusion(&of.confusion, classes),
        most_confused(&of.confused, classes),
    ];
    tables.retain(|table| !table.is_empty());
    match classes.len() < MANY {
        true => page.grid(&tables),
        false => tables.iter().for_each(|table| page.section(table)),
    }
    page.blocks()
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

/// Who is taken for whom: rows by true and by predicted class.
pub fn confusion(table: &[Vec<u64>], classes: &[String]) -> String {
    if table.is_empty() {
        return String::new();
    }
    if classes.len() > HEAT {
        return most_confused(&confused(table, PAIRS), classes);
    }
    // Long names over the columns stand upright, so that columns are alike and all of them can be seen.
    let tall = classes.iter().any(|name| name.chars().count() > HEAD);
    let kind = match (classes.len() >= MANY, tall) {
        (true, _) => " many",
        (false, true) => " tall",
        (false, false) => "",
    };
    let mut html = format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"heat{kind}\"><thead><tr><th></th>"
    );
    for name in classes {
        let name = escape(name);
        html.push_str(&format!("<th title=\"{name}\">{name}</th>"));
    }
    html.push_str("</tr></thead>");
    for (y, counts) in table.iter().enumerate() {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        let name = escape(&classes[y]);
        html.push_str(&format!("<tr><th title=\"{name}\">{name}</th>"));
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

/// The pairs of classes with most mistakes: rows, true class, predicted class.
fn most_confused(pairs: &[(u64, usize, usize)], classes: &[String]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let row = |&(n, y, y_hat): &(u64, usize, usize)| {
        vec![format!("{} taken for {}", classes[y], classes[y_hat]), thousands(n as usize)]
    };
    let rows: Vec<Vec<String>> = pairs.iter().map(row).collect();
    section("Most frequent confusions", &numbers(&["classes", "rows"], &rows), "")
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

/// One row per class; `nouns` are what a class and the rows are called.
pub fn by_class(scores: &[ClassScores], classes: &[String], nouns: [&str; 2]) -> String {
    let rows: Vec<Vec<String>> = scores
        .iter()
        .take(CLASSES)
        .map(|s| {
            let name = classes.get(s.class).cloned().unwrap_or_default();
            let scores = [s.precision, s.recall, s.f1].map(|x| format!("{x:.3}"));
            [name].into_iter().chain(scores).chain([thousands(s.support as usize)]).collect()
        })
        .collect();
    let [class, unit] = nouns;
    let heads = [class, "precision", "recall", "F1", unit];
    let note = if classes.len() > CLASSES { "The first 200." } else { "" };
    section(&format!("By {class}"), &numbers(&heads, &rows), note)
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
