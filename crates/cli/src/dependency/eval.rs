//! Metrics of parsers.

use anyhow::bail;
use lineal::DependencyModel;
use lineal::metrics::DependencyMetrics;

use super::train::{read_options, warn_unseen};
use crate::args::EvalArgs;
use crate::table::{self, Align};
use crate::talk::{Talk, thousands};

/// Reads annotated sentences and compares.
pub fn measure(
    model: &DependencyModel,
    args: &EvalArgs,
    talk: Talk,
) -> anyhow::Result<DependencyMetrics> {
    if args.cost.is_some() {
        bail!(
            "{} is a model of the task dependency, which has no --cost; leave it out",
            args.model.display()
        );
    }
    let data = model.read(&args.data, &read_options(&args.file))?;
    if data.n_heads() == 0 {
        bail!("{}: the words have no heads to compare with; fill the HEAD column", data.source);
    }
    warn_unseen(&data, talk);
    Ok(model.evaluate(&data)?)
}

/// The main metrics in one line.
pub fn in_short(metrics: &DependencyMetrics) -> String {
    let las = metrics.las.map(|las| format!(", LAS {las:.4}")).unwrap_or_default();
    let exact = metrics.exact.map(|e| format!(", whole trees {e:.4}")).unwrap_or_default();
    format!("UAS {:.4}{las}{exact}", metrics.uas)
}

/// Tables of the metrics, of relations, and of lengths.
pub fn in_full(metrics: &DependencyMetrics) -> Vec<String> {
    let mut lines = table::pairs(&metric_rows(metrics), 0);
    for rows in [relation_rows(metrics), length_rows(metrics), sentence_rows(metrics)] {
        if rows.len() > 1 {
            lines.push(String::new());
            lines.extend(table::lines(&rows, &[Align::Left, Align::Right], 0));
        }
    }
    lines
}

/// The metrics by name.
pub fn metric_rows(metrics: &DependencyMetrics) -> Vec<(&'static str, String)> {
    let maybe = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.4}"));
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

/// A header, then one row for each relation, the most frequent first.
pub fn relation_rows(metrics: &DependencyMetrics) -> Vec<Vec<String>> {
    let header = ["relation", "precision", "recall", "F1", "gold", "found", "right"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let mut relations: Vec<_> = metrics.by_relation.iter().collect();
    relations.sort_by_key(|(_, r)| std::cmp::Reverse(r.gold));
    rows.extend(relations.into_iter().map(|(name, r)| {
        let shares = [r.precision, r.recall, r.f1].map(|x| format!("{x:.4}"));
        let counts = [r.gold, r.found, r.right].map(|n| thousands(n as usize));
        [name.clone()].into_iter().chain(shares).chain(counts).collect()
    }));
    rows
}

/// A header, then one row for each length of arcs.
pub fn length_rows(metrics: &DependencyMetrics) -> Vec<Vec<String>> {
    let maybe = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.4}"));
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
pub fn sentence_rows(metrics: &DependencyMetrics) -> Vec<Vec<String>> {
    let header = ["sentences of", "uas", "las", "sentences", "words"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(metrics.by_sentence_length.iter().map(|bin| {
        let las = bin.las.map_or("–".to_owned(), |las| format!("{las:.4}"));
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
