//! The emissions and transitions that decided a position against its runner-up.

use std::io::{self, Write};

use anyhow::bail;
use lineal::{Reason, Sequence, TagExplanation, TagModel};
use serde_json::json;

use super::program::Explained;
use super::train::read_options;
use crate::args::ExplainArgs;
use crate::table::{self, Align, cut};
use crate::talk::{Talk, count, rough};

/// Sequences on a page unless others are asked for.
const PAGE_SEQUENCES: usize = 20;

/// Explains the sequences that the flags name.
pub fn explain(model: &TagModel, args: &ExplainArgs, talk: Talk) -> anyhow::Result<Explained> {
    let against = match &args.class {
        None => None,
        Some(name) => match model.labels().iter().position(|label| label == name) {
            Some(at) => Some(at as u32),
            None => bail!(
                "--class: `{name}` is not a label; the labels are {}",
                model.labels().iter().take(20).cloned().collect::<Vec<_>>().join(", ")
            ),
        },
    };
    let data = model.read(&args.data, &read_options(&args.file))?;
    let sequences = match &args.rows {
        None if args.html.is_some() && data.len() > PAGE_SEQUENCES => {
            talk.say(format_args!(
                "the page has the first {PAGE_SEQUENCES} of {}; --rows asks for others",
                count(data.len(), "sequence")
            ));
            (0..PAGE_SEQUENCES).collect()
        }
        None => (0..data.len()).collect(),
        Some(list) => match list.below(data.len()) {
            Ok(rows) => rows,
            Err(row) => bail!(
                "{}: there is no sequence {row}, only {}",
                data.source,
                count(data.len(), "sequence")
            ),
        },
    };
    let mut found = Vec::new();
    for sequence in sequences {
        let token = args.token.map(|token| token - 1);
        found.push((sequence, model.explain(data.get(sequence), token, against)?));
    }
    Ok(Explained { data, found })
}

/// What was decided, between what.
pub fn headline(sequence: Sequence<'_>, found: &TagExplanation) -> String {
    let schema = &sequence.data().schema;
    let word = match schema.has_attributes() {
        true => String::new(),
        false => format!(" `{}`", cut(sequence.cell(found.position, schema.words()), 40)),
    };
    let sure = |p: Option<f64>| p.map(|p| format!(" ({p:.4})")).unwrap_or_default();
    let verdict = match &found.other {
        None => "no other label is possible".to_owned(),
        Some(other) => {
            format!("over {other}{} by {}", sure(found.other_probability), rough(found.lead))
        }
    };
    format!(
        "sequence {}, token {}{word}: {}{} {verdict}",
        sequence.index() + 1,
        found.position + 1,
        found.label,
        sure(found.probability)
    )
}

/// The kind of a reason, and whose it is if not the explained token's own.
pub fn reason_place(found: &TagExplanation, reason: &Reason) -> String {
    match reason.position == found.position {
        true => reason.kind.to_owned(),
        false => format!("{} of token {}", reason.kind, reason.position + 1),
    }
}

pub fn write_text(
    out: &mut dyn Write,
    sequence: Sequence<'_>,
    found: &TagExplanation,
    top: usize,
) -> io::Result<()> {
    writeln!(out, "{}", headline(sequence, found))?;
    let rows: Vec<Vec<String>> = found
        .reasons
        .iter()
        .take(top)
        .map(|reason| {
            vec![
                format!("{:+.3}", reason.difference()),
                cut(&reason.what, 60),
                reason_place(found, reason),
                format!("{:+.3} against {:+.3}", reason.for_label, reason.for_other),
            ]
        })
        .collect();
    for line in table::lines(&rows, &[Align::Right, Align::Left], 2) {
        writeln!(out, "{line}")?;
    }
    let rest: f64 = found.reasons.iter().skip(top).map(|reason| reason.difference()).sum();
    if found.reasons.len() > top {
        writeln!(out, "  {rest:+.3}  {}", count(found.reasons.len() - top, "other weight"))?;
    }
    Ok(())
}

pub fn write_json(
    out: &mut dyn Write,
    sequence: usize,
    found: &TagExplanation,
    top: usize,
) -> io::Result<()> {
    let rest: f64 = found.reasons.iter().skip(top).map(|reason| reason.difference()).sum();
    let object = json!({
        "sequence": sequence + 1,
        "token": found.position + 1,
        "label": found.label,
        "against": found.other,
        "lead": if found.lead.is_finite() { json!(found.lead) } else { json!(null) },
        "proba": found.probability,
        "against_proba": found.other_probability,
        "reasons": found.reasons.iter().take(top).map(|reason| json!({
            "token": reason.position + 1,
            "kind": reason.kind,
            "what": reason.what,
            "for_label": reason.for_label,
            "for_against": reason.for_other,
        })).collect::<Vec<_>>(),
        "rest": rest,
    });
    serde_json::to_writer(&mut *out, &object)?;
    writeln!(out)
}
