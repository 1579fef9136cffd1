//! What parsers of both kinds share, and reasons by parts.

use anyhow::bail;
use lineal::PartReason;
use serde_json::json;

use super::Reason;
use crate::args::{Output, PredictArgs, TrainArgs};
use crate::files::read_text;

/// The text of the template file. Mistakes in it are reported with its name, before any data is read.
pub fn template_file<T, E: std::fmt::Display>(
    args: &TrainArgs,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> anyhow::Result<Option<String>> {
    let Some(path) = &args.tag.template else { return Ok(None) };
    let text = read_text(path, "template")?;
    if let Err(error) = parse(&text) {
        bail!("{}: {error}", path.display());
    }
    Ok(Some(text))
}

/// Why a parser has no answer to these flags of `predict`; `known` says what its `--known` keeps.
pub fn no_tree_answer(args: &PredictArgs, known: &'static str) -> Option<&'static str> {
    let column = args.tag.known.as_deref().is_some_and(|column| !column.is_empty());
    let ranked = args.tag.n_best.or(args.top).is_some();
    if args.sample {
        Some("--sample is for classes and sequences; a parser has --n-best")
    } else if column || args.tag.unlabelled.is_some() {
        Some(known)
    } else if ranked && args.output == Output::Csv {
        Some(
            "several trees of a sentence have no place in a CSV file: say --output jsonl, or leave it out",
        )
    } else {
        None
    }
}

/// Reasons for the screen and for JSON lines.
pub fn part_reasons(reasons: &[PartReason]) -> Vec<Reason> {
    let reason = |reason: &PartReason| Reason {
        amount: reason.amount,
        what: match reason.feature.is_empty() {
            true => "the pair itself".to_owned(),
            false => reason.feature.clone(),
        },
        place: reason.part.clone(),
        more: None,
        json: json!({"feature": reason.feature, "part": reason.part, "amount": reason.amount}),
    };
    reasons.iter().map(reason).collect()
}
