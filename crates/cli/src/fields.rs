//! The library names fields; here they become the program's flags.

use serde_json::Value;
use std::borrow::Cow;

/// What the library's messages name, and the flag that sets it. The longest name that fits is taken.
const FLAGS: &[(&str, &str)] = &[
    ("Streaming::passes", "--epochs"),
    ("ask.confidence", "--review-below"),
    ("ask.known", "--known"),
    ("ask.min_risk", "--min-cost"),
    ("ask.proba", "--proba"),
    ("ask.sample", "--sample"),
    ("lineal::Streaming", "--stream"),
    ("options.categorical", "--categorical"),
    ("options.encoding", "--encoding"),
    ("options.format", "--format"),
    ("options.hash_categories", "--hash"),
    ("options.header = false", "--no-header"),
    ("options.header = true", "--header"),
    ("options.ignore", "--ignore"),
    ("options.label", "--label"),
    ("options.labels", "--mask-labels"),
    ("options.labels_file", "--labels"),
    ("options.max_pixels", "--max-pixels"),
    ("options.numeric", "--numeric"),
    ("options.query", "--query"),
    ("options.strict", "--strict"),
    ("options.target = labels", "--task multilabel"),
    ("options.text", "--text"),
    ("options.threshold", "--mask-threshold"),
    ("options.unlabelled", "--unlabelled"),
    ("options.void", "--mask-void"),
    ("options.weight", "--weight"),
    ("read_brackets", "--task constituency"),
    ("read_ranking", "--task rank"),
    ("read_sequences", "--task tag"),
    ("read_treebank", "--task dependency"),
    ("spec.calibrate", "--calibrate"),
    ("spec.class_weight", "--class-weight"),
    ("spec.constituency.candidates", "--candidates"),
    ("spec.constituency.hash_bits", "--hash"),
    ("spec.constituency.horizontal", "--horizontal"),
    ("spec.constituency.tags", "--tags"),
    ("spec.constituency.templates", "--template"),
    ("spec.constituency.vertical", "--vertical"),
    ("spec.cost", "--cost"),
    ("spec.cs", "-C"),
    ("spec.delta", "--delta"),
    ("spec.dependency.candidates", "--candidates"),
    ("spec.dependency.decoder", "--decoder"),
    ("spec.dependency.forbidden", "--forbid"),
    ("spec.dependency.hash_bits", "--hash"),
    ("spec.dependency.labeller", "--labeller"),
    ("spec.dependency.order", "--order"),
    ("spec.dependency.single_root = false", "--many-roots"),
    ("spec.dependency.tags", "--tags"),
    ("spec.dependency.templates", "--template"),
    ("spec.epsilon", "--epsilon"),
    ("spec.folds", "--folds"),
    ("spec.hard_margin", "--hard-margin"),
    ("spec.interact", "--interact"),
    ("spec.l1", "--l1"),
    ("spec.l2", "--l2"),
    ("spec.loss", "--loss"),
    ("spec.losses", "--losses"),
    ("spec.map", "--map"),
    ("spec.max_passes", "--max-passes"),
    ("spec.metric", "--metric"),
    ("spec.patience", "--patience"),
    ("spec.penalty.c", "-C"),
    ("spec.penalty.l2", "--l2"),
    ("spec.rank.at", "--ndcg-at"),
    ("spec.rank.kind", "--rank"),
    ("spec.rate", "--rate"),
    ("spec.reduction.beam", "--beam"),
    ("spec.reduction.code", "--code"),
    ("spec.reduction.code_text", "--code FILE"),
    ("spec.reduction.leaf_size", "--leaf-size"),
    ("spec.reduction.tree", "--tree"),
    ("spec.rows_per_chunk", "--chunk"),
    ("spec.segment.superpixels", "--superpixels"),
    ("spec.sgd.epochs", "--epochs"),
    ("spec.sgd.rate", "--rate"),
    ("spec.sgd.schedule", "--schedule"),
    ("spec.solver", "--solver"),
    ("spec.standardize", "--standardize"),
    ("spec.standardize = never", "--no-standardize"),
    ("spec.strategy", "--strategy"),
    ("spec.sum", "--sum"),
    ("spec.tag.clusters", "--clusters"),
    ("spec.tag.features", "--features or --template"),
    ("spec.tag.hash_bits", "--hash"),
    ("spec.tag.lists", "--list"),
    ("spec.tag.order", "--order"),
    ("spec.tag.scheme", "--scheme"),
    ("spec.task", "--task"),
    ("spec.templates", "--templates"),
    ("spec.text.hash_bits", "--hash"),
    ("spec.text.max_df", "--max-df"),
    ("spec.text.max_features", "--max-features"),
    ("spec.text.min_df", "--min-df"),
    ("spec.text.ngrams", "--ngrams"),
    ("spec.text.stop_words", "--stop-words"),
    ("spec.threshold", "--threshold"),
    ("spec.tol", "--tol"),
    ("spec.validation", "--validation"),
];

/// A message of the library in the words of the program: `spec.task = regress` is `--task regress`, `options.label` is `--label`.
pub fn as_flags(message: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = message;
    let mut inside_name = false;
    while let Some(c) = rest.chars().next() {
        match FLAGS.iter().rfind(|(name, _)| !inside_name && starts_with(rest, name)) {
            Some((name, flag)) => {
                out.push_str(flag);
                rest = &rest[name.len()..];
                if let Some(value) = rest.strip_prefix(" = ") {
                    out.push(' ');
                    rest = value;
                }
                inside_name = false;
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
                inside_name = is_part_of_name(c) || c == '.' || c == ':';
            }
        }
    }
    if out == message { message.into() } else { out.into() }
}

/// A list of messages for JSON.
pub fn in_json(messages: &[String]) -> Value {
    messages.iter().map(|message| as_flags(message)).collect()
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text starts with a name that ends there.
fn starts_with(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|after| !after.starts_with(is_part_of_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_flags() {
        let cases = [
            ("spec.tol must be a number above 0", "--tol must be a number above 0"),
            ("add spec.task = multilabel, or", "add --task multilabel, or"),
            ("leave out spec.standardize = never", "leave out --no-standardize"),
            ("(see options.label)", "(see --label)"),
            ("see options.labels and spec.losses.", "see --mask-labels and --losses."),
            ("give spec.penalty.c or spec.penalty.l2", "give -C or --l2"),
            (
                "myspec.tol and spec.tolerance and a.spec.tol stay",
                "myspec.tol and spec.tolerance and a.spec.tol stay",
            ),
            ("use read_sequences or read_treebank", "use --task tag or --task dependency"),
            ("nichts für ungut", "nichts für ungut"),
        ];
        for (message, expected) in cases {
            assert_eq!(as_flags(message), expected);
        }
    }

    /// Of two names of which one begins the other, the longer one must come later.
    #[test]
    fn names_are_sorted() {
        assert!(FLAGS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
