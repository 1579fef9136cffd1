//! The pages of parsers.

use lineal::DependencyModel;
use lineal::metrics::DependencyMetrics;

use super::explain::{BARS, draw};
use super::page::{Page, numbers, pairs, section};
use crate::dependency::{
    Explained, headline, length_rows, metric_rows, relation_rows, sentence_rows,
};
use crate::talk::{count, thousands};

/// Metrics, relations and lengths.
pub fn dependency_eval_page(
    model: &DependencyModel,
    metrics: &DependencyMetrics,
    data: &str,
) -> String {
    let lead = format!("{} loss; trained on {}", model.report().loss, model.provenance().source);
    let mut page = Page::new(&format!("Evaluation on {data}"), &lead);
    let rows = metric_rows(metrics);
    let main = ["uas", "las", "exact", "root_accuracy"];
    let cards: Vec<_> = rows.iter().filter(|row| main.contains(&row.0)).cloned().collect();
    page.facts(&cards);
    if metrics.unseen > 0 {
        let words = count(metrics.unseen as usize, "word");
        page.warning(&format!(
            "{words} with a relation that training did not see: each counts as wrong"
        ));
    }
    let mut blocks = vec![section("Metrics", &pairs(&rows), "")];
    for (title, note, rows) in [
        (
            "Arcs by length",
            "Words between a word and its head, the head counted.",
            length_rows(metrics),
        ),
        ("Sentences by length", "", sentence_rows(metrics)),
        ("Relations", "Arcs with their relation.", relation_rows(metrics)),
    ] {
        if let Some((heads, rows)) = rows.split_first() {
            let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
            blocks.push(section(title, &numbers(&heads, rows), note));
        }
    }
    page.grid(&blocks);
    page.finish()
}

/// One block for each word.
pub fn dependency_explain_page(
    model: &DependencyModel,
    explained: &Explained,
    top: usize,
) -> String {
    let Explained { data, found } = explained;
    let n: usize = found.iter().map(|(_, words)| words.len()).sum();
    let lead = format!(
        "{} in {} of {}; {} loss, trained on {}",
        count(n, "explanation"),
        count(found.len(), "sentence"),
        thousands(data.len()),
        model.report().loss,
        model.provenance().source
    );
    let mut page = Page::new(&format!("Why, for {}", data.source), &lead);
    page.section(BARS);
    for (sentence, words) in found {
        for word in words {
            let (shown, others) = word.reasons.split_at(top.min(word.reasons.len()));
            let mut rows: Vec<(f64, String)> = shown
                .iter()
                .map(|reason| (reason.amount, format!("{} ({})", reason.feature, reason.part)))
                .collect();
            let rest = others.iter().map(|reason| reason.amount).sum();
            rows.push((rest, count(others.len(), "other feature")));
            rows.retain(|row| row.0 != 0.0);
            page.section(&section(&headline(data.get(*sentence), word), &draw(&rows), ""));
        }
    }
    page.finish()
}
