//! What a tagger is.

use lineal::{StructuredModel, TagFeatures, TagModel};
use serde_json::{Value, json};

use crate::structured::Pairs;
use crate::table::{self, Align, cut};
use crate::talk::count;

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

/// Features, constraints and templates.
pub fn facts(model: &TagModel) -> Pairs {
    let spec = &model.spec().tag;
    let mut facts = vec![
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
    if spec.scheme.is_some() || !spec.forbidden.is_empty() {
        let scheme = spec.scheme.map_or("no scheme".to_owned(), |scheme| scheme.to_string());
        facts.push((
            "constraints",
            format!("{scheme}, {} forbidden", count(model.n_forbidden(), "transition")),
        ));
    }
    facts.extend(
        spec.rules.iter().flat_map(|text| text.lines()).map(|rule| ("rule", rule.to_owned())),
    );
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

/// What `inspect --json` prints of it.
pub fn as_json(model: &TagModel, top: Option<usize>) -> Value {
    let n = top.unwrap_or(TOP);
    let features = model.notable().iter().map(|notable| {
        let shown: Vec<_> = notable.attributes.iter().take(n).collect();
        json!({"class": notable.label, "features": shown})
    });
    let moves = transitions(model)
        .into_iter()
        .map(|(from, to, weight)| json!([model.label(from), model.label(to), weight]));
    json!({
        "attributes": model.n_attributes(),
        "order": model.spec().tag.order,
        "scheme": model.spec().tag.scheme,
        "forbidden_transitions": model.n_forbidden(),
        "templates": model.templates(),
        "columns": model.schema().columns,
        "label_column": model.schema().columns[model.schema().label],
        "transitions": moves.collect::<Vec<Value>>(),
        "top_features": features.collect::<Vec<Value>>(),
    })
}
