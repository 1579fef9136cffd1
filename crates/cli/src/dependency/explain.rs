//! Why a word has this head and not the runner-up.

use std::io::{self, Write};

use anyhow::bail;
use lineal::data::Sentence;
use lineal::{ArcExplanation, DependencyModel};
use serde_json::json;

use super::program::Explained;
use super::train::read_options;
use crate::args::ExplainArgs;
use crate::table::{self, Align, cut};
use crate::talk::{Talk, count, rough};

/// Sentences on a page unless others are asked for.
const PAGE_SENTENCES: usize = 10;

/// Explains the sentences that the flags name.
pub fn explain(
    model: &DependencyModel,
    args: &ExplainArgs,
    talk: Talk,
) -> anyhow::Result<Explained> {
    if args.class.is_some() {
        bail!(
            "--class is for labels; a word is explained against its second best head: leave it out"
        );
    }
    let data = model.read(&args.data, &read_options(&args.file))?;
    let sentences = match &args.rows {
        None if args.html.is_some() && data.len() > PAGE_SENTENCES => {
            talk.say(format_args!(
                "the page has the first {PAGE_SENTENCES} of {}; --rows asks for others",
                count(data.len(), "sentence")
            ));
            (0..PAGE_SENTENCES).collect()
        }
        None => (0..data.len()).collect(),
        Some(list) => match list.below(data.len()) {
            Ok(rows) => rows,
            Err(row) => bail!(
                "{}: there is no sentence {row}, only {}",
                data.source,
                count(data.len(), "sentence")
            ),
        },
    };
    let word = args.token.map(|token| token - 1);
    let explain = |i: usize| Ok((i, model.explain(&data, i, word)?));
    let found = sentences.into_iter().map(explain).collect::<Result<_, lineal::Error>>()?;
    Ok(Explained { data, found })
}

/// The form of a word, or the root.
fn name(sentence: Sentence<'_>, head: u32) -> String {
    match head {
        0 => "the root".to_owned(),
        head => format!("`{}` ({head})", cut(sentence.form(head as usize - 1), 30)),
    }
}

/// What was decided, between what.
pub fn headline(sentence: Sentence<'_>, found: &ArcExplanation) -> String {
    let sure = |p: Option<f64>| p.map(|p| format!(" ({p:.4})")).unwrap_or_default();
    let verdict = match found.other {
        None => "no other head is possible".to_owned(),
        Some(other) => format!(
            "not {}{}, by {}",
            name(sentence, other),
            sure(found.other_probability),
            rough(found.lead)
        ),
    };
    format!(
        "sentence {}, word {} `{}`: {} of {}{}, {verdict}",
        sentence.index() + 1,
        found.word + 1,
        cut(sentence.form(found.word), 30),
        found.relation,
        name(sentence, found.head),
        sure(found.probability)
    )
}

pub fn write_text(
    out: &mut dyn Write,
    sentence: Sentence<'_>,
    found: &ArcExplanation,
    top: usize,
) -> io::Result<()> {
    writeln!(out, "{}", headline(sentence, found))?;
    let rows: Vec<Vec<String>> = found
        .reasons
        .iter()
        .take(top)
        .map(|reason| {
            vec![format!("{:+.3}", reason.amount), cut(&reason.feature, 70), reason.part.clone()]
        })
        .collect();
    for line in table::lines(&rows, &[Align::Right, Align::Left], 2) {
        writeln!(out, "{line}")?;
    }
    if found.reasons.len() > top {
        let rest: f64 = found.reasons.iter().skip(top).map(|reason| reason.amount).sum();
        writeln!(out, "  {rest:+.3}  {}", count(found.reasons.len() - top, "other feature"))?;
    }
    Ok(())
}

pub fn write_json(
    out: &mut dyn Write,
    sentence: usize,
    found: &ArcExplanation,
    top: usize,
) -> io::Result<()> {
    let rest: f64 = found.reasons.iter().skip(top).map(|reason| reason.amount).sum();
    let object = json!({
        "sentence": sentence + 1,
        "word": found.word + 1,
        "head": found.head,
        "relation": found.relation,
        "against": found.other,
        "lead": if found.lead.is_finite() { json!(found.lead) } else { json!(null) },
        "proba": found.probability,
        "against_proba": found.other_probability,
        "reasons": found.reasons.iter().take(top).map(|reason| json!({
            "feature": reason.feature,
            "part": reason.part,
            "amount": reason.amount,
        })).collect::<Vec<_>>(),
        "rest": rest,
    });
    serde_json::to_writer(&mut *out, &object)?;
    writeln!(out)
}
