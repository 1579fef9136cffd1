//! A sentence for each thing in a file of sequences that often is not what was meant.

use lineal::{Sequences, UNLABELLED};

use crate::talk::{count, thousands};

/// From this share of the tokens on, a label `_` is asked about.
const PLACEHOLDERS: f64 = 0.05;
/// From so many labels on, their number is.
const LABELS: usize = 500;

/// What to say of training data.
pub fn lines(data: &Sequences) -> Vec<String> {
    [placeholders(data), document_marks(data), many_labels(data), left_spans(data)]
        .into_iter()
        .flatten()
        .collect()
}

fn placeholders(data: &Sequences) -> Option<String> {
    let mark = data.labels.iter().position(|label| label == "_")? as u32;
    let n = data.gold().iter().filter(|&&label| label == mark).count();
    let all = data.gold().iter().filter(|&&label| label != UNLABELLED).count();
    let share = n as f64 / all.max(1) as f64;
    (share >= PLACEHOLDERS).then(|| {
        format!(
            "note: {} of {} tokens ({:.0} %) have the label `_`, which is learnt like any other; if it stands where the label is not known, say --unlabelled _",
            thousands(n),
            thousands(all),
            100.0 * share
        )
    })
}

fn document_marks(data: &Sequences) -> Option<String> {
    if data.schema.has_attributes() {
        return None;
    }
    let words = data.schema.words();
    let n = data.iter().filter(|s| s.cell(0, words) == "-DOCSTART-").count();
    (n > 0).then(|| {
        let begin = if n == 1 { "begins" } else { "begin" };
        format!(
            "note: {} {begin} with -DOCSTART-, which CoNLL-2003 has between documents: learnt and counted like any other; others leave such lines out before they count tokens",
            count(n, "sequence")
        )
    })
}

fn many_labels(data: &Sequences) -> Option<String> {
    let (n, schema) = (data.schema.labels.len(), &data.schema);
    (n >= LABELS).then(|| {
        format!(
            "note: {} labels have {} transitions, and time and memory grow with these; if column {} is not the label, name another with --label",
            thousands(n),
            thousands(n * n),
            schema.columns[schema.label]
        )
    })
}

fn left_spans(data: &Sequences) -> Option<String> {
    let left = data.left_spans();
    let told = [
        (
            left.widened,
            "began or ended inside a word and was widened to it",
            "began or ended inside words and were widened to them",
        ),
        (
            left.overlapping,
            "overlapped a longer one and was left out",
            "overlapped longer ones and were left out",
        ),
        (
            left.empty,
            "had no word in it and was left out",
            "had no words in them and were left out",
        ),
    ];
    let mut told: Vec<String> = told
        .iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, many)| format!("{} {}", count(*n, "span"), if *n == 1 { one } else { many }))
        .collect();
    if left.refused > 0 {
        let were = if left.refused == 1 { "was" } else { "were" };
        told.push(format!(
            "{} whose answer is reject or ignore {were} left out",
            count(left.refused, "text")
        ));
    }
    (!told.is_empty()).then(|| format!("note: {}", told.join("; ")))
}
