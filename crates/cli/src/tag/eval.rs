//! Metrics of taggers.

use anyhow::bail;
use lineal::metrics::{Classified, ClassifyMetrics, UNSEEN, classify};
use lineal::{Sequences, TagMetrics, TagModel, Tagged, UNLABELLED};

use super::program::Measured;
use super::train::{read_options, warn_unseen};
use crate::args::EvalArgs;
use crate::table::{self, Align};
use crate::talk::{Talk, thousands};

/// Reads labelled sequences and compares.
pub fn measure(model: &TagModel, args: &EvalArgs, talk: Talk) -> anyhow::Result<Measured> {
    if args.cost.is_some() {
        bail!(
            "{} is a model of the task tag, which has no --cost; leave it out",
            args.model.display()
        );
    }
    let data = model.read(&args.data, &read_options(&args.file))?;
    if !data.has_labels() {
        bail!(
            "{}: the tokens have no labels to compare with; add the label column, or name it with --label",
            data.source
        );
    }
    warn_unseen(&data, model.labels().len(), talk);
    let tagged = model.tag(&data)?;
    let metrics = model.compare(&data, &tagged)?;
    let wants_tokens = args.report.is_some();
    let tokens =
        wants_tokens.then(|| by_token(&data, model.labels().len(), &tagged)).transpose()?;
    Ok(Measured { metrics, tokens })
}

/// Tokens as rows of a classifier, for the matrix of who is taken for whom.
fn by_token(
    data: &Sequences,
    n_labels: usize,
    tagged: &[Tagged],
) -> anyhow::Result<ClassifyMetrics> {
    let predicted = tagged.iter().flat_map(|tagged| &tagged.labels);
    let (gold, predicted): (Vec<u32>, Vec<u32>) = data
        .gold()
        .iter()
        .zip(predicted)
        .filter(|(gold, _)| **gold != UNLABELLED)
        .map(|(&gold, &label)| (if (gold as usize) < n_labels { gold } else { UNSEEN }, label))
        .unzip();
    Ok(classify(&Classified::new(n_labels, &gold, &predicted))?)
}

/// The few numbers to say in a sentence.
pub fn in_short(metrics: &TagMetrics) -> String {
    let spans = metrics.span_f1.map(|f1| format!("span F1 {f1:.4}, ")).unwrap_or_default();
    format!(
        "{spans}token accuracy {:.4}, sentence accuracy {:.4}",
        metrics.token_accuracy, metrics.sentence_accuracy
    )
}

/// A table of the metrics, then one of the types of spans.
pub fn in_full(metrics: &TagMetrics) -> Vec<String> {
    let mut lines = table::pairs(&metric_rows(metrics), 0);
    let rows = type_rows(metrics);
    if !rows.is_empty() {
        lines.push(String::new());
        lines.extend(table::lines(&rows, &[Align::Left, Align::Right], 0));
    }
    lines
}

/// The metrics by name.
pub fn metric_rows(metrics: &TagMetrics) -> Vec<(&'static str, String)> {
    let maybe = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.4}"));
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

/// Heads, and a row a type of span; nothing where there are no spans.
pub fn type_rows(metrics: &TagMetrics) -> Vec<Vec<String>> {
    if metrics.types.is_empty() {
        return Vec::new();
    }
    let header = ["type", "precision", "recall", "F1", "gold", "found", "right"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(metrics.types.iter().map(|(name, t)| {
        let name = if name.is_empty() { "–" } else { name };
        let shares = [t.precision, t.recall, t.f1].map(|x| format!("{x:.4}"));
        let counts = [t.gold, t.found, t.correct].map(|n| thousands(n as usize));
        [name.to_owned()].into_iter().chain(shares).chain(counts).collect()
    }));
    rows
}
