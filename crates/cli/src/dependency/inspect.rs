//! What a parser is.

use lineal::dependencies::features::Section;
use lineal::dependencies::problem::TreeKind;
use lineal::{DependencyModel, TagsKind};
use serde_json::{Value, json};

use crate::talk::{count, rough, thousands};

/// Relations that are listed.
const RELATIONS: usize = 60;

/// Which trees the model chooses from.
pub fn kind(model: &DependencyModel) -> &'static str {
    match model.trees().kind {
        TreeKind::Projective => "projective, scores of arcs",
        TreeKind::SecondOrder => "projective, scores of arcs, siblings and grandparents",
        TreeKind::NonProjective => "nonprojective, scores of arcs",
    }
}

/// 1 or 2.
pub fn order(model: &DependencyModel) -> u32 {
    if model.trees().kind == TreeKind::SecondOrder { 2 } else { 1 }
}

/// How many heads a word can have.
pub fn choice(model: &DependencyModel) -> String {
    match model.candidates() {
        Some(most) => format!("{most} heads per word to choose from"),
        None => "all words to choose from".to_owned(),
    }
}

/// What the model is, how it was trained and what is proven of it.
pub fn facts(model: &DependencyModel) -> Vec<(&'static str, String)> {
    let (report, spec) = (model.report(), &model.spec().dependency);
    let structured = report.structured.clone().unwrap_or_default();
    let converged = if report.converged { "converged" } else { "did not converge" };
    let best = report.best_pass.map(|p| format!("; weights of pass {p} kept")).unwrap_or_default();
    let root = if spec.single_root { "one root" } else { "any number of roots" };
    let mut facts = vec![
        ("task", report.task.to_string()),
        ("trees", format!("{}; {root}; {}", kind(model), choice(model))),
        ("loss", report.loss.to_string()),
        ("penalty", format!("l2 {}", rough(report.l2))),
        ("solver", report.solver.to_string()),
        ("certificate", report.certificate()),
        ("passes", format!("{}, {converged}{best}", thousands(report.passes))),
        (
            "examples",
            format!("{}, {}", count(report.examples, "sentence"), count(structured.tokens, "word")),
        ),
    ];
    for stage in &structured.stages {
        let figure = stage.figure.as_ref().map(|(name, value)| format!(", {name} {value:.4}"));
        let name = if stage.stage == "pruner" { "pruner" } else { "labeller" };
        let passes = count(stage.passes, "pass");
        let told = format!(
            "{} loss by {}, {passes}{}",
            stage.loss,
            stage.solver,
            figure.unwrap_or_default()
        );
        facts.push((name, told));
    }
    let templates = Section::ALL
        .map(|section| format!("{} of {}", model.templates().n_templates(section), section.name()));
    let columns: Vec<&str> = model.columns().iter().map(|column| column.name()).collect();
    facts.push(("templates", format!("{} over {}", templates.join(", "), columns.join(", "))));
    facts.push((
        "features",
        format!(
            "{}, trees in a table of 2^{}",
            count(model.n_weights(), "weight"),
            model.trees().bits
        ),
    ));
    let relations = model.relations();
    let shown = relations.iter().take(RELATIONS).cloned().collect::<Vec<_>>().join(", ");
    let more = if relations.len() > RELATIONS { ", …" } else { "" };
    facts.push(("relations", format!("{}: {shown}{more}", relations.len())));
    if spec.tags != TagsKind::Gold {
        facts.push(("tags", "predicted by the tagger that the model brings".to_owned()));
    }
    if !spec.forbidden.is_empty() {
        facts.push(("constraints", count(spec.forbidden.len(), "forbidden kind of arc")));
    }
    facts.push(("trained on", model.provenance().source.clone()));
    facts.push(("by", format!("lineal {}", model.provenance().lineal)));
    facts.extend(report.warnings.iter().map(|warning| ("warning", warning.clone())));
    facts
}

/// Hashed features have no names of their own.
pub fn weight_lines() -> Vec<String> {
    vec!["weights are hashed: `lineal explain` names those that decided a sentence".to_owned()]
}

/// What `inspect --json` prints.
pub fn as_json(model: &DependencyModel) -> Value {
    let report = model.report();
    let mut value = serde_json::to_value(report).unwrap_or_default();
    let columns: Vec<&str> = model.columns().iter().map(|column| column.name()).collect();
    let more = json!({
        "certificate": report.certificate(),
        "class_names": model.relations(),
        "nonzeros": model.n_weights(),
        "trees": kind(model),
        "order": order(model),
        "candidates": model.candidates(),
        "single_root": model.spec().dependency.single_root,
        "columns": columns,
        "templates": model.templates().text(),
        "tagger": model.tagger().is_some(),
        "provenance": model.provenance(),
    });
    if let (Some(object), Value::Object(more)) = (value.as_object_mut(), more) {
        object.remove("curve");
        object.extend(more);
    }
    value
}
