//! The pages of models of sequences.

use lineal::metrics::ClassifyMetrics;
use lineal::{Reason, Sequences, TagExplanation, TagMetrics, TagModel};

use super::eval::{by_class, confusion};
use super::explain::{BARS, draw};
use super::page::{Page, numbers, pairs, section};
use crate::tag::{headline, metric_rows, reason_place, type_rows};
use crate::talk::{count, thousands};

/// Metrics, types of spans, and which labels are taken for which.
pub fn tag_eval_page(
    model: &TagModel,
    metrics: &TagMetrics,
    tokens: Option<&ClassifyMetrics>,
    data: &str,
) -> String {
    let lead = format!("{} loss; trained on {}", model.report().loss, model.provenance().source);
    let mut page = Page::new(&format!("Evaluation on {data}"), &lead);
    let rows = metric_rows(metrics);
    let main = ["token_accuracy", "sentence_accuracy", "span_f1", "illegal"];
    let cards: Vec<_> = rows.iter().filter(|row| main.contains(&row.0)).cloned().collect();
    page.facts(&cards);
    if metrics.unseen > 0 {
        let tokens = count(metrics.unseen as usize, "token");
        page.warning(&format!(
            "{tokens} with a label that training did not see: each counts as wrong and is not in the confusion matrix"
        ));
    }
    let mut blocks = vec![section("Metrics", &pairs(&rows), "")];
    if let Some((heads, rows)) = type_rows(metrics).split_first() {
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        blocks.push(section("Spans by type", &numbers(&heads, rows), "As conlleval counts them."));
    }
    page.grid(&blocks);
    if let Some(tokens) = tokens {
        page.section(&confusion(tokens, model.labels()));
        page.section(&by_class(tokens, model.labels()));
    }
    page.finish()
}

/// A block a token.
pub fn tag_explain_page(
    model: &TagModel,
    data: &Sequences,
    found: &[(usize, Vec<TagExplanation>)],
    top: usize,
) -> String {
    let n: usize = found.iter().map(|(_, tokens)| tokens.len()).sum();
    let lead = format!(
        "{} in {} of {}; {} loss, trained on {}",
        count(n, "explanation"),
        count(found.len(), "sequence"),
        thousands(data.len()),
        model.report().loss,
        model.provenance().source
    );
    let mut page = Page::new(&format!("Why, for {}", data.source), &lead);
    page.section(BARS);
    for (sequence, tokens) in found {
        for token in tokens {
            let title = headline(data.get(*sequence), token);
            page.section(&section(&title, &bars(token, top), ""));
        }
    }
    page.finish()
}

fn bars(token: &TagExplanation, top: usize) -> String {
    let (shown, others) = token.reasons.split_at(top.min(token.reasons.len()));
    let name = |reason: &Reason| format!("{} ({})", reason.what, reason_place(token, reason));
    let mut rows: Vec<(f64, String)> =
        shown.iter().map(|reason| (reason.difference(), name(reason))).collect();
    let rest = others.iter().map(Reason::difference).sum();
    rows.push((rest, count(others.len(), "other weight")));
    rows.retain(|row| row.0 != 0.0);
    draw(&rows)
}
