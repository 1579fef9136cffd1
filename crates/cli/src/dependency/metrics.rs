//! Metrics of parsers in rows.

use lineal::metrics::DependencyMetrics;

use crate::structured::{MetricTable, Pairs, maybe, shares, shares_header};
use crate::talk::thousands;

/// The metrics by name.
pub fn rows(metrics: &DependencyMetrics) -> Pairs {
    let mut rows = vec![
        ("sentences", thousands(metrics.sentences as usize)),
        ("tokens", thousands(metrics.tokens as usize)),
        ("uas", format!("{:.4}", metrics.uas)),
        ("las", maybe(metrics.las)),
        ("label_accuracy", maybe(metrics.label_accuracy)),
        ("uas_no_punct", maybe(metrics.uas_no_punct)),
        ("las_no_punct", maybe(metrics.las_no_punct)),
        ("exact", maybe(metrics.exact)),
        ("root_accuracy", maybe(metrics.root_accuracy)),
    ];
    if metrics.unseen > 0 {
        rows.push(("unseen relations", thousands(metrics.unseen as usize)));
    }
    rows
}

/// Relations, the most frequent first, and lengths.
pub fn tables(metrics: &DependencyMetrics) -> Vec<MetricTable> {
    let mut relations: Vec<_> = metrics.by_relation.iter().collect();
    relations.sort_by_key(|(_, r)| std::cmp::Reverse(r.gold));
    let relations = relations
        .into_iter()
        .map(|(name, r)| shares(name, [r.precision, r.recall, r.f1], [r.gold, r.found, r.right]));
    let relations = [shares_header("relation")].into_iter().chain(relations).collect();
    let between = "Words between a word and its head, the head counted.";
    let tables = [
        ("Relations", "Arcs with their relation.", relations),
        ("Arcs by length", between, length_rows(metrics)),
        ("Sentences by length", "", sentence_rows(metrics)),
    ];
    let table = |(title, note, rows)| MetricTable { title, note, rows };
    tables.map(table).into_iter().filter(|table| table.rows.len() > 1).collect()
}

/// A header, then one row for each length of arcs.
fn length_rows(metrics: &DependencyMetrics) -> Vec<Vec<String>> {
    let header = ["arcs of length", "precision", "recall", "gold", "found", "right"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(metrics.by_length.iter().map(|bin| {
        let counts = [bin.gold, bin.found, bin.right].map(|n| thousands(n as usize));
        let shares = [maybe(bin.precision), maybe(bin.recall)];
        [range(bin.from, bin.to)].into_iter().chain(shares).chain(counts).collect()
    }));
    rows
}

/// A header, then one row for each length of sentences.
fn sentence_rows(metrics: &DependencyMetrics) -> Vec<Vec<String>> {
    let header = ["sentences of", "uas", "las", "sentences", "words"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(metrics.by_sentence_length.iter().map(|bin| {
        let las = maybe(bin.las);
        let counts = [bin.sentences, bin.tokens].map(|n| thousands(n as usize));
        let shares = [range(bin.from, bin.to), format!("{:.4}", bin.uas), las];
        shares.into_iter().chain(counts).collect()
    }));
    rows
}

fn range(from: u32, to: Option<u32>) -> String {
    match to {
        Some(to) if to == from => from.to_string(),
        Some(to) => format!("{from}–{to}"),
        None => format!("{from}–"),
    }
}
