//! `lineal eval` of a tagger.

use anyhow::bail;
use lineal::{TagMetrics, TagModel};

use super::request::read_options;
use super::train::warn_unseen;
use crate::args::EvalArgs;
use crate::files;
use crate::table::{self, Align};
use crate::talk::{Talk, thousands};

/// Runs the command.
pub fn run(args: &EvalArgs) -> anyhow::Result<()> {
    for (flag, given) in [("--cost", args.cost.is_some()), ("--report", args.report.is_some())] {
        if given {
            bail!(
                "{} is a model of the task tag, which has no {flag}; leave it out",
                args.model.display()
            );
        }
    }
    let metrics = lineal::with_threads(args.run.threads, || measure(args))?;
    if args.json {
        return files::json_to_stdout(&metrics);
    }
    let lines = in_full(&metrics);
    files::to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

fn measure(args: &EvalArgs) -> anyhow::Result<TagMetrics> {
    let model = TagModel::load(&args.model)?;
    let data = model.read(&args.data, &read_options(&args.file))?;
    if !data.has_labels() {
        bail!(
            "{}: the tokens have no labels to compare with; add the label column, or name it with --label",
            data.source
        );
    }
    warn_unseen(&data, model.labels().len(), Talk::new(args.run.quiet));
    Ok(model.evaluate(&data)?)
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
    let mut lines = table::pairs(&rows, 0);
    if !metrics.types.is_empty() {
        lines.push(String::new());
        let header = ["type", "precision", "recall", "F1", "gold", "found", "right"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(metrics.types.iter().map(|(name, t)| {
            let share = |x: f64| format!("{x:.4}");
            let n = |n: u64| thousands(n as usize);
            let name = if name.is_empty() { "–".to_owned() } else { name.clone() };
            vec![
                name,
                share(t.precision),
                share(t.recall),
                share(t.f1),
                n(t.gold),
                n(t.found),
                n(t.correct),
            ]
        }));
        lines.extend(table::lines(&rows, &[Align::Left, Align::Right], 0));
    }
    lines
}
