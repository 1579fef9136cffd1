//! The page of a comparison.

use lineal::{Learner, LossKind, Strategy, Task};

use super::chart::{Chart, Dot, Mark};
use super::page::{Page, escape, section};
use crate::compare::table::{Cells, cells, columns, left_out, unconverged};
use crate::compare::{Comparison, Measured, Row};
use crate::talk::{count, rough, seconds, thousands};

/// The table, accuracy against training time, accuracy against prediction time.
pub fn compare_page(found: &Comparison) -> String {
    let structured = found.task.is_structured();
    let classes = match found.task == Task::Multilabel || structured {
        true => "label",
        false => "class",
    };
    let mut sizes: Vec<String> = Vec::new();
    if found.n_classes > 0 {
        sizes.push(count(found.n_classes, classes));
    }
    if !structured {
        sizes.push(count(found.n_features, "feature"));
    }
    sizes.push(format!(
        "trained on {} and measured on {}",
        count(found.n_examples[0], found.example),
        count(found.n_examples[1], found.example)
    ));
    let what = if structured { "Learners" } else { "Strategies and losses" };
    let mut page = Page::new(&format!("{what} on"), &found.data, &sizes.join(", "));
    page.facts(&cards(found));
    let stopped = unconverged(found);
    if !stopped.is_empty() {
        page.warning(&format!("Stopped before they met the tolerance: {}", stopped.join(", ")));
    }
    found.left_out.iter().for_each(|left| page.warning(&left_out(left)));
    page.section(&section("All runs", &table(found), "The best of each column stands out."));
    let charts = [
        (
            "training time",
            "seconds of training".to_owned(),
            (|m| m.train_seconds) as fn(&Measured) -> f64,
        ),
        ("prediction time", format!("microseconds per {}", found.example), |m| {
            1e6 * m.predict_seconds
        }),
    ];
    let metric = metric_name(found);
    let charts = charts.map(|(name, x_label, value)| {
        let note = match structured {
            true => "Up and to the left is better.",
            false => "Up and to the left is better. Colours are strategies, marks are losses.",
        };
        let title = format!("{metric} against {name}");
        section(&title, &chart(found, &x_label, value).html(), note)
    });
    page.grid(&charts);
    page.finish()
}

fn metric_name(found: &Comparison) -> &'static str {
    match found.metric() {
        "micro_f1" => "Micro F1",
        "accuracy" => "Accuracy",
        name => name,
    }
}

fn cards(found: &Comparison) -> Vec<(&'static str, String)> {
    let ran = || found.rows.iter().filter_map(|row| Some((row, row.outcome.as_ref().ok()?)));
    let watched = |m: &Measured| m.metric(found.metric());
    let known = ran().filter(|(_, m)| !watched(m).is_nan());
    let best = known.max_by(|a, b| watched(a.1).total_cmp(&watched(b.1)));
    let fastest = ran().min_by(|a, b| a.1.train_seconds.total_cmp(&b.1.train_seconds));
    let mut cards = vec![("runs", thousands(found.rows.len()))];
    cards.extend(best.map(|(_, m)| {
        let name = match found.metric() {
            "micro_f1" => "best micro F1",
            "accuracy" => "best accuracy",
            name => name,
        };
        (name, format!("{:.4}", watched(m)))
    }));
    cards.extend(best.map(|(row, _)| ("by", row.name())));
    cards.extend(fastest.map(|(row, _)| ("fastest to train", row.name())));
    cards.push(("all in", seconds(found.seconds)));
    cards
}

fn table(found: &Comparison) -> String {
    let columns = columns(found);
    let mut html =
        String::from("<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\"><thead><tr>");
    found.heads().iter().for_each(|head| html.push_str(&format!("<th>{head}</th>")));
    for column in &columns {
        html.push_str(&format!("<th class=\"n\">{}</th>", escape(&column.head)));
    }
    html.push_str("</tr></thead><tbody>");
    for (row, cells) in found.rows.iter().zip(cells(found, &columns)) {
        html.push_str("<tr>");
        row.names().iter().for_each(|name| html.push_str(&format!("<td>{name}</td>")));
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
    html.push_str("</tbody></table></div>");
    html
}

fn chart<'a>(found: &Comparison, x_label: &'a str, value: fn(&Measured) -> f64) -> Chart<'a> {
    let place = |of: usize| of % 5;
    let colour = |row: &Row| {
        let at = match row.strategy {
            Some(strategy) => Strategy::ALL.iter().position(|s| *s == strategy),
            None => Learner::ALL.iter().position(|l| l.as_str() == row.loss),
        };
        place(at.unwrap_or(0))
    };
    let mark = |row: &Row| match row.strategy {
        Some(_) => {
            let at = LossKind::ALL.iter().position(|l| l.as_str() == row.loss);
            Mark::ALL[place(at.unwrap_or(0))]
        }
        None => Mark::Circle,
    };
    let dots = found.rows.iter().filter_map(|row| {
        let measured = row.outcome.as_ref().ok()?;
        let (x, y) = (value(measured), measured.metric(found.metric()));
        let title = format!("{}: {} {x_label}, {y:.4}", row.name(), rough(x));
        Some(Dot { at: (x, y), colour: colour(row), mark: mark(row), title })
    });
    let dots = dots.filter(|dot| !dot.at.1.is_nan());
    let mut legend: Vec<(usize, Mark, String)> = Vec::new();
    let mut add = |colour: usize, mark: Mark, name: String| {
        if !legend.iter().any(|key| key.2 == name) {
            legend.push((colour, mark, name));
        }
    };
    for row in &found.rows {
        match row.strategy {
            Some(strategy) => add(colour(row), Mark::Circle, strategy.to_string()),
            None => add(colour(row), Mark::Circle, row.loss.clone()),
        }
    }
    for row in found.rows.iter().filter(|row| row.strategy.is_some()) {
        add(NEUTRAL, mark(row), row.loss.clone());
    }
    let y_label = metric_name(found);
    Chart { x_label, y_label, log_x: true, dots: dots.collect(), legend, ..Chart::default() }
}

/// The colour of a mark that stands for a loss by any strategy.
const NEUTRAL: usize = 5;
