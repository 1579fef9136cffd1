//! `lineal explain` of a tagger: the emissions and transitions that decided a position against its runner-up.

use std::io::{self, Write};

use anyhow::bail;
use lineal::{Sequence, Sequences, TagExplanation, TagModel};
use serde_json::json;

use super::request::read_options;
use crate::args::{ExplainArgs, ExplainOutput};
use crate::exit::usage;
use crate::files;
use crate::table::{self, Align, cut};
use crate::talk::{count, rough};

/// Runs the command.
pub fn run(args: &ExplainArgs) -> anyhow::Result<()> {
    if args.html.is_some() {
        return usage(
            "--html is not there for models of sequences; --output jsonl gives all numbers",
        );
    }
    if let Some(out) = args.out.as_deref().filter(|out| out.as_os_str() != "-") {
        files::check_output(out, &[&args.model, &args.data])?;
    }
    let (data, found) = lineal::with_threads(args.run.threads, || explain(args))?;
    let as_json = args.json || args.output == ExplainOutput::Jsonl;
    files::write_output(args.out.as_deref(), |out| {
        for (sequence, explanations) in &found {
            for explanation in explanations {
                match as_json {
                    true => write_json(out, *sequence, explanation, args.top)?,
                    false => write_text(out, data.get(*sequence), explanation, args.top)?,
                }
            }
        }
        Ok(())
    })
}

type Found = Vec<(usize, Vec<TagExplanation>)>;

fn explain(args: &ExplainArgs) -> anyhow::Result<(Sequences, Found)> {
    let model = TagModel::load(&args.model)?;
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
    Ok((data, found))
}

pub fn write_text(
    out: &mut dyn Write,
    sequence: Sequence<'_>,
    found: &TagExplanation,
    top: usize,
) -> io::Result<()> {
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
    writeln!(
        out,
        "sequence {}, token {}{word}: {}{} {verdict}",
        sequence.index() + 1,
        found.position + 1,
        found.label,
        sure(found.probability)
    )?;
    let rows: Vec<Vec<String>> = found
        .reasons
        .iter()
        .take(top)
        .map(|reason| {
            let place = match reason.position == found.position {
                true => reason.kind.to_owned(),
                false => format!("{} of token {}", reason.kind, reason.position + 1),
            };
            vec![
                format!("{:+.3}", reason.difference()),
                cut(&reason.what, 60),
                place,
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

fn write_json(
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
