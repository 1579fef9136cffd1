//! Metrics of taggers in words and rows.

use lineal::TagMetrics;

use crate::structured::{MetricTable, Pairs, maybe, shares, shares_header};
use crate::talk::thousands;

/// The few numbers to say in a sentence.
pub fn one_line(metrics: &TagMetrics) -> String {
    let spans = metrics.span_f1.map(|f1| format!("span F1 {f1:.4}, ")).unwrap_or_default();
    format!(
        "{spans}token accuracy {:.4}, sentence accuracy {:.4}",
        metrics.token_accuracy, metrics.sentence_accuracy
    )
}

/// The metrics by name.
pub fn rows(metrics: &TagMetrics) -> Pairs {
    let mut rows = vec![
        ("sentences", thousands(metrics.sentences as usize)),
        ("tokens", thousands(metrics.tokens as usize)),
        ("token_accuracy", format!("{:.4}", metrics.token_accuracy)),
        ("sentence_accuracy", format!("{:.4}", metrics.sentence_accuracy)),
        ("span_precision", maybe(metrics.span_precision)),
        ("span_recall", maybe(metrics.span_recall)),
        ("span_f1", maybe(metrics.span_f1)),
    ];
    rows.extend(metrics.illegal.map(|n| ("illegal", thousands(n as usize))));
    for (name, n) in [("unseen labels", metrics.unseen), ("unlabelled", metrics.unlabelled)] {
        if n > 0 {
            rows.push((name, thousands(n as usize)));
        }
    }
    rows
}

/// The types of spans; none where there are no spans.
pub fn by_type(metrics: &TagMetrics) -> Option<MetricTable> {
    let rows = metrics.types.iter().map(|(name, t)| {
        let name = if name.is_empty() { "–" } else { name };
        shares(name, [t.precision, t.recall, t.f1], [t.gold, t.found, t.correct])
    });
    let rows = [shares_header("type")].into_iter().chain(rows).collect();
    let note = "As conlleval counts them.";
    (!metrics.types.is_empty()).then_some(MetricTable { title: "Spans by type", note, rows })
}
