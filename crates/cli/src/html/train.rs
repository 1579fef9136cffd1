//! The page of a training run.

use lineal::{CurvePoint, Margins, Report, Task};

use super::chart::{Chart, Line};
use super::page::{Page, numbers, pairs, section};
use crate::talk::{rough, seconds, thousands};
use crate::train::{Outcome, Trainable};

/// Classes that the table of margins shows.
const CLASSES: usize = 50;

/// Curves, margins and certificate of a run.
pub fn train_page<M: Trainable>(model: &M, outcome: &Outcome<M>) -> String {
    let report = &outcome.report;
    let facts = model.facts();
    let source = facts.iter().find(|fact| fact.0 == "trained on").map_or("", |fact| &fact.1);
    let mut page = Page::new("Training on", source, &report.certificate());
    page.facts(&cards(outcome));
    report.warnings.iter().for_each(|warning| page.warning(warning));
    page.grid(&pictures(report));
    let mut rows = facts.clone();
    // As many as the curves have, and what they cost.
    let passes = |last: &usize| *last != report.passes;
    if let Some(last) = outcome.last_pass.filter(passes)
        && let Some(row) = rows.iter_mut().find(|row| row.0 == "passes")
    {
        let state = row.1.split_once(", ").map_or("", |(_, state)| state);
        let work = thousands(report.passes);
        row.1 = format!("{}, {state}; the work of {work} over all the data", thousands(last));
    }
    let time = outcome.seconds;
    let spent = [("read", time.read), ("train", time.train), ("all", time.total)];
    rows.push(("time", spent.map(|(name, time)| format!("{name} {}", seconds(time))).join(", ")));
    let mut tables = vec![section("Model and certificate", &pairs(&rows), "")];
    tables.extend(outcome.test.as_ref().map(|test| {
        let note = "`lineal eval --report` shows more of this.";
        section("Test", &pairs(&M::metric_rows(test)), note)
    }));
    tables.extend(report.margins.as_ref().filter(|m| !m.per_class.is_empty()).map(margin_table));
    page.grid(&tables);
    model.page_sections().iter().for_each(|section| page.section(section));
    page.finish()
}

/// The blocks of a page of training that a model file keeps enough for: curves and margins.
#[cfg(feature = "serve")]
pub fn training(report: &Report) -> String {
    let mut page = Page::new("Training", "", "");
    page.grid(&pictures(report));
    let table = report.margins.as_ref().filter(|m| !m.per_class.is_empty()).map(margin_table);
    page.section(&table.unwrap_or_default());
    page.blocks()
}

fn pictures(report: &Report) -> Vec<String> {
    let mut blocks = curves(report.task, &report.curve, report.best_pass);
    blocks.extend(report.margins.as_ref().map(margin_curve));
    blocks
}

fn cards<M: Trainable>(outcome: &Outcome<M>) -> Vec<(&'static str, String)> {
    let report = &outcome.report;
    let [examples, features, classes] = M::nouns();
    let mut cards =
        vec![(examples, thousands(report.examples)), (features, thousands(report.features))];
    cards.extend(report.structured.as_ref().map(|s| (M::parts(), thousands(s.tokens))));
    match report.task {
        Task::Regress | Task::Rank => {}
        Task::Multilabel => cards.push(("labels", thousands(report.classes))),
        _ => cards.push((classes, thousands(report.classes))),
    }
    if report.problems > 1 {
        cards.push(("binary problems", thousands(report.problems)));
    }
    cards.push(("loss", report.loss.to_string()));
    cards.push(("solver", report.solver.to_string()));
    // As many as the curves have.
    cards.push(("passes", thousands(outcome.last_pass.unwrap_or(report.passes))));
    cards.push(("converged", if report.converged { "yes" } else { "no" }.to_owned()));
    cards.push(("training time", seconds(outcome.seconds.train)));
    cards.extend(outcome.test.as_ref().map(|test| {
        let (name, value) = M::main_metric(test);
        (name_of_test(name), rough(value))
    }));
    cards
}

fn name_of_test(metric: &'static str) -> &'static str {
    match metric {
        "accuracy" => "test accuracy",
        "micro F1" => "test micro F1",
        "rmse" => "test rmse",
        "span F1" => "test span F1",
        "token accuracy" => "test token accuracy",
        "las" => "test LAS",
        "uas" => "test UAS",
        "F1" => "test F1",
        "NDCG@10" => "test NDCG@10",
        "IoU" => "test IoU",
        _ => "test",
    }
}

/// What a run saw after each pass.
pub(super) fn curves(task: Task, curve: &[CurvePoint], best_pass: Option<usize>) -> Vec<String> {
    let kept = best_pass.map(|pass| (pass as f64, "kept"));
    let line = |name, value: fn(&CurvePoint) -> Option<f64>| Line {
        name,
        points: curve.iter().filter_map(|p| Some((p.pass as f64, value(p)?))).collect(),
    };
    let by_pass = |y_label, lines: Vec<Line<'static>>, log_y| Chart {
        x_label: "pass",
        whole_x: true,
        y_label,
        log_y,
        rules: kept.into_iter().collect(),
        lines: lines.into_iter().filter(|line| !line.points.is_empty()).collect(),
        ..Chart::default()
    };
    let held_out = match task {
        Task::Classify => ("Held-out accuracy", line("held-out accuracy", |p| p.held_out_metric)),
        Task::Tag
        | Task::Dependency
        | Task::Constituency
        | Task::Rank
        | Task::Segment
        | Task::Declared => ("Held-out metric", line("held-out metric", |p| p.held_out_metric)),
        Task::Multilabel => (
            "Held-out share of right answers",
            line("held-out share of right answers", |p| p.held_out_metric),
        ),
        Task::Regress => {
            ("Held-out RMSE", line("held-out RMSE", |p| p.held_out_metric.map(|m| -m)))
        }
    };
    let mut losses = vec![
        line("objective", |p| p.objective),
        line("training loss", |p| p.train_loss),
        line("held-out loss", |p| p.held_out_loss),
    ];
    losses.retain(|line| !line.points.is_empty());
    let loss_note = match losses.iter().any(|line| line.name == "held-out loss") {
        true => "Training loss falling while held-out loss rises is overfitting.",
        false => "What was left to minimise after each pass.",
    };
    let loss_name = if let [line] = &losses[..] { line.name } else { "loss" };
    // A gap that is measured once or twice is in the certificate; a curve of it is worth its place where it falls.
    let gap = match curve.iter().filter(|point| point.gap.is_some_and(|gap| gap > 0.0)).count() > 2
    {
        true => (
            "Duality gap",
            by_pass("gap", vec![line("gap", |p| p.gap)], true),
            "A proven bound on the distance from the optimum.",
        ),
        false => (
            "Duality gap, estimated",
            by_pass("gap", vec![line("gap", |p| p.gap_estimate)], true),
            "What is left to gain by the solver's own count; the certificate proves what it came to.",
        ),
    };
    let all = [
        ("Objective and losses", by_pass(loss_name, losses, false), loss_note),
        (
            held_out.0,
            by_pass(held_out.0, vec![held_out.1], false),
            "On rows that training does not see.",
        ),
        gap,
    ];
    all.into_iter()
        .filter(|(title, chart, _)| {
            !chart.is_empty() && (!title.starts_with("Duality") || chart.falls())
        })
        .map(|(title, chart, note)| section(title, &chart.html(), note))
        .collect()
}

fn margin_curve(margins: &Margins) -> String {
    let mut points = vec![(margins.min, 0.0)];
    points.extend(margins.quantiles.iter().map(|&(q, value)| (value, q)));
    points.push((margins.max, 1.0));
    let chart = Chart {
        x_label: "margin",
        y_label: "share of rows below",
        y_range: Some((0.0, 1.0)),
        lines: vec![Line { name: "margin", points }],
        rules: vec![(0.0, "0: misclassified below")],
        ..Chart::default()
    };
    let note = "Score of the true class minus the best other one: the share of training rows below each margin, \
                from the quantiles.";
    section("Margins of the training rows", &chart.html(), note)
}

fn margin_table(margins: &Margins) -> String {
    let row =
        |(name, min, median): &(String, f64, f64)| vec![name.clone(), rough(*min), rough(*median)];
    let rows: Vec<Vec<String>> = margins.per_class.iter().take(CLASSES).map(row).collect();
    let note = if margins.per_class.len() > CLASSES { "The first 50 classes." } else { "" };
    section("Margins by class", &numbers(&["class", "smallest", "median"], &rows), note)
}
