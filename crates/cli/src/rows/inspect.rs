//! What a model of rows is.

use lineal::calibrate::Calibration;
use lineal::{Margins, Model, Report, Strategy, Task, Threshold};
use serde_json::{Value, json};

use super::train::CalibrationJson;
use crate::fields::{as_flags, in_json};
use crate::table::{self, Align, cut};
use crate::talk::{count, rough, thousands};
use crate::{maps, text};

/// Features per class, and classes, unless asked for more.
const TOP: usize = 10;
const CLASSES: usize = 20;

/// Margins, and the features that weigh most.
pub fn weight_lines(model: &Model, top: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(margins) = &model.report().margins {
        lines.extend(margin_lines(margins, top));
        lines.push(String::new());
    }
    lines.extend(feature_lines(model, top));
    lines
}

/// What the model is, how it was trained and what is proven of it.
pub fn facts(model: &Model) -> Vec<(&'static str, String)> {
    let report = model.report();
    let sum = if report.sum { " (sum form)" } else { "" };
    let l1 = if report.l1 > 0.0 { format!(", l1 {}", rough(report.l1)) } else { String::new() };
    let converged = if report.converged { "converged" } else { "did not converge" };
    let best = report.best_pass.map(|p| format!("; weights of pass {p} kept")).unwrap_or_default();
    let mut facts =
        vec![("task", report.task.to_string()), ("loss", format!("{}{sum}", report.loss))];
    if report.task != Task::Regress {
        facts.extend(shape(report));
    }
    facts.extend([
        ("penalty", format!("l2 {}{l1}", rough(report.l2))),
        ("solver", format!("{}, {}", report.solver, report.precision)),
        ("certificate", report.certificate()),
        ("passes", format!("{} over all the data, {converged}{best}", thousands(report.passes))),
        ("examples", thousands(report.examples)),
        (
            "features",
            format!(
                "{}, {}",
                thousands(model.n_features()),
                count(model.nonzeros(), "nonzero weight")
            ),
        ),
    ]);
    facts.extend(model.features().text().map(|encoder| ("text", text::one_line(encoder))));
    let templates = model.features().templates();
    facts.extend(templates.map(|(t, _)| ("templates", maps::templates_in_one_line(t))));
    let name = |j| model.feature_name(j);
    facts.extend(model.features().map().map(|map| ("map", maps::one_line(map, name))));
    match report.task {
        Task::Classify => facts.push(("classes", class_names(model.classes()))),
        Task::Multilabel => facts.push(("labels", class_names(model.classes()))),
        _ => {}
    }
    facts.extend(fitted(model));
    facts.push(("trained on", model.provenance().source.clone()));
    facts.extend(model.evaluation().map(|kept| ("tested on", kept.source.clone())));
    facts.push(("by", format!("lineal {}", model.provenance().lineal)));
    facts.extend(report.warnings.iter().map(|warning| ("warning", as_flags(warning).into_owned())));
    facts
}

/// How several classes became problems: their number, what a code corrects, how deep a tree is.
pub fn shape(report: &Report) -> Vec<(&'static str, String)> {
    let problems = match report.strategy {
        Strategy::Joint => "joint".to_owned(),
        strategy => format!(
            "{strategy}, {} of {} in all",
            count(report.problems, "binary problem"),
            count(report.rows_touched as usize, "row")
        ),
    };
    let mut rows = vec![("strategy", problems)];
    rows.extend(report.code.map(|code| {
        let (d, corrects) = (code.min_distance, count(code.corrects, "wrong answer"));
        ("code", format!("minimum distance {d}, corrects {corrects}"))
    }));
    rows.extend(
        report
            .tree
            .map(|tree| ("tree", format!("{}, depth {}", count(tree.nodes, "node"), tree.depth))),
    );
    rows
}

/// What was fitted to rows that training did not see: probabilities and thresholds.
pub fn fitted(model: &Model) -> Vec<(&'static str, String)> {
    let spec = model.spec();
    let n_fits = lineal::folds_to_fit(spec, model.report().examples);
    let folds = match n_fits == spec.folds {
        true => count(spec.folds, "fold"),
        false => format!("{n_fits} of {}", count(spec.folds, "fold")),
    };
    let map = model.calibration().map(|maps| match maps {
        Calibration::Temperature(t) => format!("temperature {}, fitted in {folds}", rough(t.t)),
        maps => {
            let n_maps = count(maps.n_columns().unwrap_or(1), "map");
            format!("{}, {n_maps} fitted in {folds}", maps.kind())
        }
    });
    let mut rows: Vec<_> = map.into_iter().map(|map| ("calibration", map)).collect();
    let of_labels = model.task() == Task::Multilabel;
    let second = model.classes().get(1).map_or("", String::as_str);
    let aim = match spec.threshold.of_task(model.task()) {
        Threshold::Half => None,
        Threshold::Fixed(p) => Some(format!("a probability above {p}")),
        Threshold::F1 if of_labels => Some("the best F1 of each label".to_owned()),
        Threshold::F1 => Some("the best F1".to_owned()),
        Threshold::MacroF1 | Threshold::Auto => Some("the best macro F1".to_owned()),
        Threshold::MicroF1 => Some("the best micro F1".to_owned()),
        Threshold::Cost { false_positive, false_negative } => Some(format!(
            "the least cost of false positives at {false_positive} and false negatives at {false_negative}"
        )),
    };
    let second = cut(second, 30);
    let said = aim.map(|aim| match (spec.threshold, model.thresholds()) {
        (Threshold::Fixed(_), _) if of_labels => aim,
        (Threshold::Fixed(_), _) => format!("{second} at {aim}"),
        (_, Some([score])) if !of_labels => {
            format!("{second} if its score is at least {}, for {aim} in {folds}", rough(*score))
        }
        (_, Some(scores)) => format!("{}, for {aim} in {folds}", score_range(scores)),
        (_, None) => format!("for {aim}"),
    });
    rows.extend(said.map(|said| ("threshold", said)));
    rows
}

fn score_range(scores: &[f64]) -> String {
    let lo = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match lo == hi {
        true => format!("a score of {}", rough(lo)),
        false => format!("scores from {} to {}", rough(lo), rough(hi)),
    }
}

fn class_names(classes: &[String]) -> String {
    let shown: Vec<String> = classes.iter().take(CLASSES).map(|name| cut(name, 30)).collect();
    let more = if classes.len() > CLASSES { ", …" } else { "" };
    format!("{}: {}{more}", classes.len(), shown.join(", "))
}

fn margin_lines(margins: &Margins, top: Option<usize>) -> Vec<String> {
    let mut heads = vec!["min".to_owned()];
    let mut values = vec![rough(margins.min)];
    for &(q, value) in &margins.quantiles {
        heads.push(format!("{} %", rough_percent(q)));
        values.push(rough(value));
    }
    heads.push("max".to_owned());
    values.push(rough(margins.max));
    let mut lines = vec!["margins of the training rows (quantiles)".to_owned()];
    lines.extend(table::lines(&[heads, values], &[Align::Right], 2));
    if margins.per_class.is_empty() {
        return lines;
    }
    let n = shown_classes(margins.per_class.len(), top);
    let mut rows = vec![["class", "smallest", "median"].map(str::to_owned).to_vec()];
    for (name, min, median) in margins.per_class.iter().take(n) {
        rows.push(vec![cut(name, 30), rough(*min), rough(*median)]);
    }
    lines.extend(table::lines(&rows, &[Align::Left, Align::Right], 2));
    lines
}

/// Quantiles are given as fractions.
pub fn rough_percent(q: f64) -> String {
    format!("{}", (q * 1000.0).round() / 10.0)
}

/// The weight vectors of a model: which class to ask for, and its name. Two classes share one.
pub fn weight_vectors(model: &Model) -> Vec<(usize, String)> {
    match (model.task(), model.classes()) {
        (Task::Classify, [first, second]) => {
            vec![(1, format!("{} against {}", cut(second, 30), cut(first, 30)))]
        }
        (Task::Classify | Task::Multilabel, classes) => {
            classes.iter().enumerate().map(|(class, name)| (class, cut(name, 60))).collect()
        }
        _ => vec![(0, "weights".to_owned())],
    }
}

/// The largest weights of each class.
pub fn feature_lines(model: &Model, top: Option<usize>) -> Vec<String> {
    let all = weight_vectors(model);
    let shown = shown_classes(all.len(), top);
    // One per weight vector; those of duels, columns of codes and nodes belong to no class.
    let bias = Some(model.bias()).filter(|bias| bias.len() == all.len()).unwrap_or_default();
    let thresholds = model.thresholds().unwrap_or_default();
    let mut lines = vec!["features that weigh most".to_owned()];
    for (at, (class, name)) in all.iter().take(shown).enumerate() {
        let bias = bias.get(at).map(|b| format!("bias {}", rough(*b)));
        let threshold = thresholds.get(at).map(|t| format!("threshold {}", rough(*t)));
        let with: Vec<String> = bias.into_iter().chain(threshold).collect();
        let with = if with.is_empty() { String::new() } else { format!(" ({})", with.join(", ")) };
        lines.push(format!("  {name}{with}"));
        let rows: Vec<Vec<String>> = model
            .top_features(*class, top.unwrap_or(TOP))
            .into_iter()
            .map(|(name, weight)| vec![signed(weight), cut(&name, 60)])
            .collect();
        lines.extend(table::lines(&rows, &[Align::Right, Align::Left], 4));
    }
    if shown < all.len() {
        lines.push(format!(
            "  … and {} (--top N shows all)",
            count(
                all.len() - shown,
                if model.task() == Task::Multilabel { "more label" } else { "more class" }
            )
        ));
    }
    lines
}

fn shown_classes(n: usize, top: Option<usize>) -> usize {
    if top.is_some() { n } else { n.min(CLASSES) }
}

fn signed(weight: f64) -> String {
    if weight > 0.0 { format!("+{}", rough(weight)) } else { rough(weight) }
}

/// What `inspect --json` prints.
pub fn as_json(model: &Model, top: Option<usize>) -> Value {
    let report = model.report();
    let all = weight_vectors(model);
    let shown = shown_classes(all.len(), top);
    let of_class = |class: usize| -> Value {
        let best = model.top_effects(class, top.unwrap_or(TOP));
        let features: Vec<Value> =
            best.iter().map(|(name, weight, _)| json!([name, weight])).collect();
        let effects: Vec<f64> = best.iter().map(|(.., effect)| *effect).collect();
        json!({"class": model.classes().get(class), "features": features, "effects": effects})
    };
    let top_features: Vec<Value> =
        all.iter().take(shown).map(|(class, _)| of_class(*class)).collect();
    // The report's own keys first: what `train --json` printed.
    let mut object = json!(report);
    if let Some(object) = object.as_object_mut() {
        object.insert("certificate".to_owned(), json!(report.certificate()));
        object.insert("warnings".to_owned(), in_json(&report.warnings));
        object.insert("class_names".to_owned(), json!(model.classes()));
        object.insert("nonzeros".to_owned(), json!(model.nonzeros()));
        object.insert("bias".to_owned(), json!(model.bias()));
        object.insert("calibration".to_owned(), json!(CalibrationJson::of(model)));
        object.insert("thresholds".to_owned(), json!(model.thresholds()));
        object.insert("top_features".to_owned(), json!(top_features));
        object.insert("columns".to_owned(), in_json(&model.schema().describe()));
        object.insert("spec".to_owned(), json!(model.spec()));
        let templates = model.features().templates().map(|(templates, _)| templates.text());
        object.insert("templates".to_owned(), json!(templates));
        object.insert("map".to_owned(), json!(model.features().map().map(maps::as_json)));
        object.insert("text".to_owned(), json!(model.features().text().map(text::as_json)));
        object.insert("provenance".to_owned(), json!(model.provenance()));
        object.insert("evaluation".to_owned(), json!(model.evaluation()));
    }
    object
}
