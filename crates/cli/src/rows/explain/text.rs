//! Explanations for people.

use std::io::{self, Write};

use lineal::{Contribution, Decision, Explanation, Model, Targets, UNSEEN};

use super::Explained;
use crate::table::{self, Align, cut};
use crate::talk::{count, rough};

/// A few lines per row.
pub fn write(out: &mut dyn Write, found: &Explained<'_>) -> io::Result<()> {
    for explanation in &found.explanations {
        writeln!(out, "row {}: {}", explanation.row + 1, headline(explanation, found))?;
        for line in table::lines(&rows(explanation, found.model), &[Align::Right, Align::Left], 2) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

fn rows(explanation: &Explanation, model: &Model) -> Vec<Vec<String>> {
    let feature = |c: &Contribution| vec![amount(c.amount()), value_of(c, model)];
    let mut rows: Vec<Vec<String>> = explanation.contributions.iter().map(feature).collect();
    let mut others = |value: f64, name: String| {
        if value != 0.0 {
            rows.push(vec![amount(value), name]);
        }
    };
    let top = if explanation.contributions.is_empty() { "" } else { "other " };
    others(explanation.rest, format!("the {top}{}", count(explanation.n_rest, "feature")));
    others(explanation.bias, "bias".to_owned());
    others(-explanation.threshold, "threshold".to_owned());
    rows
}

/// The answer, what it is compared with, and by how much it leads.
pub fn headline(explanation: &Explanation, found: &Explained<'_>) -> String {
    let name = |class: u32| cut(name_of(found.model, class), 60);
    let lead = rough(explanation.lead);
    let proba = |at: usize| explanation.proba.map(|p| rough(p[at])).unwrap_or_default();
    let said = match (explanation.winner, explanation.runner_up) {
        (None, _) => lead,
        (Some(label), None) => {
            let negation = if explanation.predicted { "" } else { "not " };
            let p = explanation.proba.map(|_| format!(" (probability {})", proba(0)));
            let what = match explanation.decision {
                Decision::Node => "the least sure answer on the way to it is",
                _ => "above its threshold by",
            };
            format!("{negation}{}, {what} {lead}{}", name(label), p.unwrap_or_default())
        }
        (Some(winner), Some(runner_up)) => {
            let p = format!(" (probability {} against {})", proba(0), proba(1));
            let p = explanation.proba.map(|_| p).unwrap_or_default();
            let how = match explanation.decision {
                Decision::Duel => " in their duel".to_owned(),
                Decision::Columns { differ, agree } => {
                    format!(" in {} that tell them apart, {agree} for it", count(differ, "column"))
                }
                Decision::Node => " in the node where their ways part".to_owned(),
                _ => String::new(),
            };
            format!("{}, not {}, by {lead}{how}{p}", name(winner), name(runner_up))
        }
    };
    match gold(explanation, found) {
        Some(gold) => format!("{said}; the data says {}", cut(&gold, 60)),
        None => said,
    }
}

/// What the data says, where that is something else.
pub fn gold(explanation: &Explanation, found: &Explained<'_>) -> Option<String> {
    let name = |&class: &u32| match class {
        UNSEEN => "a label that training did not see".to_owned(),
        class => name_of(found.model, class).to_owned(),
    };
    match (&found.data.y, explanation.winner) {
        (Targets::Classes(y), Some(winner)) => {
            y.get(explanation.row).filter(|&&gold| gold != winner).map(name)
        }
        (Targets::Labels(y), Some(label)) => {
            let has = y.row(explanation.row).contains(&label);
            let otherwise = if has { "that it has the label" } else { "that it has not" };
            (has != explanation.predicted).then(|| otherwise.to_owned())
        }
        (Targets::Real(y), None) => y.get(explanation.row).map(|y| rough(*y)),
        _ => None,
    }
}

/// The name of a class.
pub fn name_of(model: &Model, class: u32) -> &str {
    model.classes().get(class as usize).map_or("", String::as_str)
}

/// A feature's name, and its value unless it is a category, a word or an indicator that is there.
pub fn value_of(contribution: &Contribution, model: &Model) -> String {
    let &Contribution { feature, value, .. } = contribution;
    let name = cut(&model.feature_name(feature), 60);
    let schema = model.schema();
    let is_category = || schema.category_features().iter().any(|span| span.contains(&feature));
    if value == 0.0 && is_category() {
        // The row has no value that training saw: the column's first one stands for it.
        let column = name.rsplit_once(['=', '.']).map_or(&*name, |(column, _)| column);
        return format!("{column}: a new value");
    }
    let is_number = || schema.columns.is_some() && schema.number_features().contains(&feature);
    match value {
        1.0 if !is_number() => name,
        value => format!("{name} = {}", rough(value)),
    }
}

/// With its sign.
pub fn amount(x: f64) -> String {
    if x > 0.0 { format!("+{}", rough(x)) } else { rough(x).replacen('-', "−", 1) }
}
