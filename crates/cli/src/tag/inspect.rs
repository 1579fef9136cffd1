//! What a tagger is.

use lineal::{TagFeatures, TagModel};
use serde_json::{Value, json};

use crate::table::{self, Align, cut};
use crate::talk::{count, rough, thousands};

/// Attributes a label, labels and transitions, unless asked for more.
const TOP: usize = 5;
const LABELS: usize = 30;

/// Transitions and attributes.
pub fn weight_lines(model: &TagModel, top: Option<usize>) -> Vec<String> {
    let mut lines = transition_lines(model, top);
    lines.push(String::new());
    lines.extend(attribute_lines(model, top));
    lines
}

/// What the model is, how it was trained and what is proven of it.
pub fn facts(model: &TagModel) -> Vec<(&'static str, String)> {
    let (report, spec) = (model.report(), &model.spec().tag);
    let n_tokens = report.structured.as_ref().map_or(0, |s| s.tokens);
    let l1 = if report.l1 > 0.0 { format!(", l1 {}", rough(report.l1)) } else { String::new() };
    let converged = if report.converged { "converged" } else { "did not converge" };
    let best = report.best_pass.map(|p| format!("; weights of pass {p} kept")).unwrap_or_default();
    let mut facts = vec![
        ("task", report.task.to_string()),
        ("loss", report.loss.to_string()),
        ("penalty", format!("l2 {}{l1}", rough(report.l2))),
        ("solver", report.solver.to_string()),
        ("certificate", report.certificate()),
        ("passes", format!("{}, {converged}{best}", thousands(report.passes))),
        (
            "examples",
            format!("{}, {}", count(report.examples, "sequence"), count(n_tokens, "token")),
        ),
        (
            "features",
            format!(
                "{}, {}",
                count(model.n_attributes(), "attribute"),
                count(model.n_weights(), "weight")
            ),
        ),
        ("order", spec.order.to_string()),
    ];
    let labels = model.labels();
    let shown = labels.iter().take(LABELS).cloned().collect::<Vec<_>>().join(", ");
    let more = if labels.len() > LABELS { ", …" } else { "" };
    facts.push(("labels", format!("{}: {shown}{more}", labels.len())));
    if spec.scheme.is_some() || !spec.forbidden.is_empty() {
        let scheme = spec.scheme.map_or("no scheme".to_owned(), |scheme| scheme.to_string());
        facts.push((
            "constraints",
            format!("{scheme}, {} forbidden", count(model.n_forbidden(), "transition")),
        ));
    }
    if let Some(bits) = spec.hash_bits {
        facts.push(("hashing", format!("{bits} bits")));
    }
    let schema = model.schema();
    if let TagFeatures::Templates(text) = &spec.features {
        let n = text.lines().filter(|line| line.starts_with(['U', 'B'])).count();
        let columns = match schema.columns.iter().enumerate().all(|(i, c)| *c == i.to_string()) {
            true => count(schema.columns.len(), "column"),
            false => format!("columns {}", schema.columns.join(", ")),
        };
        facts.push((
            "templates",
            format!("{n} over {columns}, label in {}", schema.columns[schema.label]),
        ));
    }
    facts.push(("trained on", model.provenance().source.clone()));
    facts.push(("by", format!("lineal {}", model.provenance().lineal)));
    facts.extend(report.warnings.iter().map(|warning| ("warning", warning.clone())));
    facts
}

/// Transitions by falling weight, then the forbidden ones by number only.
fn transitions(model: &TagModel) -> Vec<(u32, u32, f64)> {
    let k = model.labels().len() as u32;
    let mut all: Vec<(u32, u32, f64)> = (0..k)
        .flat_map(|from| (0..k).map(move |to| (from, to)))
        .filter(|&(from, to)| model.permits(from, to))
        .map(|(from, to)| (from, to, model.transition(from, to)))
        .filter(|(_, _, weight)| *weight != 0.0)
        .collect();
    all.sort_by(|a, b| b.2.total_cmp(&a.2));
    all
}

fn transition_lines(model: &TagModel, top: Option<usize>) -> Vec<String> {
    let all = transitions(model);
    let n = top.unwrap_or(TOP);
    let mut lines = vec!["transitions that weigh most, and least".to_owned()];
    let row = |&(from, to, weight): &(u32, u32, f64)| {
        vec![format!("{weight:+.3}"), format!("{} → {}", model.label(from), model.label(to))]
    };
    let mut rows: Vec<Vec<String>> = all.iter().take(n).map(row).collect();
    rows.extend(all.iter().skip(n.max(all.len().saturating_sub(n))).map(row));
    lines.extend(table::lines(&rows, &[Align::Right, Align::Left], 2));
    lines
}

/// The attributes that weigh most, for each label.
pub fn attribute_lines(model: &TagModel, top: Option<usize>) -> Vec<String> {
    let n = top.unwrap_or(TOP);
    let mut lines = vec!["attributes that weigh most".to_owned()];
    for notable in model.notable().iter().take(if top.is_some() { usize::MAX } else { LABELS }) {
        lines.push(format!("  {}", cut(&notable.label, 40)));
        let rows: Vec<Vec<String>> = notable
            .attributes
            .iter()
            .take(n)
            .map(|(name, weight)| vec![format!("{weight:+.3}"), cut(name, 60)])
            .collect();
        lines.extend(table::lines(&rows, &[Align::Right, Align::Left], 4));
    }
    lines
}

/// What `inspect --json` prints.
pub fn as_json(model: &TagModel, top: Option<usize>) -> Value {
    let report = model.report();
    let n = top.unwrap_or(TOP);
    let features: Vec<Value> = model
        .notable()
        .iter()
        .map(|notable| {
            let shown: Vec<_> = notable.attributes.iter().take(n).collect();
            json!({"class": notable.label, "features": shown})
        })
        .collect();
    let moves: Vec<Value> = transitions(model)
        .into_iter()
        .map(|(from, to, weight)| json!([model.label(from), model.label(to), weight]))
        .collect();
    let mut value = serde_json::to_value(report).unwrap_or_default();
    let more = json!({
        "certificate": report.certificate(),
        "class_names": model.labels(),
        "attributes": model.n_attributes(),
        "nonzeros": model.n_weights(),
        "order": model.spec().tag.order,
        "scheme": model.spec().tag.scheme,
        "forbidden_transitions": model.n_forbidden(),
        "templates": model.templates(),
        "columns": model.schema().columns,
        "label_column": model.schema().columns[model.schema().label],
        "transitions": moves,
        "top_features": features,
        "provenance": model.provenance(),
    });
    if let (Some(object), Value::Object(more)) = (value.as_object_mut(), more) {
        object.remove("curve");
        object.extend(more);
    }
    value
}
