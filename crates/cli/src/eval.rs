//! `lineal eval`: metrics of a model on labelled data.

use anyhow::bail;
use lineal::{Metrics, Model, Targets, Task};

use serde_json::Value;

use crate::args::EvalArgs;
use crate::by_label::ByLabel;
use crate::talk::{Talk, rough};
use crate::{confusion, files, html, table, tag};

/// Runs the command.
pub fn run(args: &EvalArgs) -> anyhow::Result<()> {
    if lineal::is_tag_model(&args.model)? {
        return tag::eval(args);
    }
    if let Some(report) = &args.report {
        files::check_output(report, &[&args.model, &args.data])?;
    }
    let (model, metrics, labels) = lineal::with_threads(args.run.threads, || measure(args))?;
    if let Some(path) = &args.report {
        let data = args.data.display().to_string();
        let page = html::eval_page(&model, &metrics, labels.as_ref(), &data);
        files::write_output(Some(path), |out| out.write_all(page.as_bytes()))?;
        Talk::new(args.run.quiet).say(format_args!("wrote {}", path.display()));
    }
    if args.json {
        let mut object = json(&metrics)?;
        if let (Some(object), Some(labels)) = (object.as_object_mut(), &labels) {
            object.insert("reliability".to_owned(), serde_json::to_value(&labels.bins)?);
        }
        return files::json_to_stdout(&object);
    }
    let lines = in_full(&metrics, model.classes());
    files::to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

fn measure(args: &EvalArgs) -> anyhow::Result<(Model, Metrics, Option<ByLabel>)> {
    let talk = Talk::new(args.run.quiet);
    let model = Model::load(&args.model)?;
    if args.cost.is_some() && model.task() != Task::Classify {
        bail!(
            "{} is a model of the task {}, which has no costs; leave --cost out",
            args.model.display(),
            model.task()
        );
    }
    let data = model.read(&args.data, &args.file.options())?;
    data.warnings.iter().for_each(|warning| talk.warn(warning));
    if matches!(data.y, Targets::None) {
        bail!(
            "{}: the rows have no labels to compare with; add the label column, or name it with --label",
            data.source
        );
    }
    let metrics = match &args.cost {
        None => model.evaluate(&data)?,
        Some(path) => {
            model.evaluate_with(&data, Some(&lineal::read_cost(path, model.classes())?))?
        }
    };
    let labels = match &data.y {
        Targets::Labels(gold) if args.json || args.report.is_some() => {
            Some(ByLabel::new(&model, &data, gold)?)
        }
        _ => None,
    };
    Ok((model, metrics, labels))
}

/// Metrics as `eval --json` names them.
pub fn json(metrics: &Metrics) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(metrics)?;
    // The bins are the reliability diagram, and called so.
    if let Some(object) = value.as_object_mut()
        && let Some(bins) = object.remove("bins")
    {
        object.insert("reliability".to_owned(), bins);
    }
    Ok(value)
}

/// The one or two numbers to say in a sentence.
pub fn in_short(metrics: &Metrics) -> String {
    match metrics {
        Metrics::Classify(m) => format!("accuracy {:.4}, macro F1 {:.4}", m.accuracy, m.macro_f1),
        Metrics::Multilabel(m) => {
            format!("micro F1 {:.4}, macro F1 {:.4}, p@1 {:.4}", m.micro_f1, m.macro_f1, m.p_at_1)
        }
        Metrics::Regress(m) => {
            let r2 = m.r2.map(|r2| format!(", r2 {r2:.4}")).unwrap_or_default();
            format!("rmse {}, mae {}{r2}", rough(m.rmse), rough(m.mae))
        }
    }
}

/// All metrics as name and value.
pub fn rows(metrics: &Metrics) -> Vec<(&'static str, String)> {
    let maybe = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.4}"));
    match metrics {
        Metrics::Classify(m) => {
            let mut rows = vec![
                ("examples", crate::talk::thousands(m.examples as usize)),
                ("accuracy", format!("{:.4}", m.accuracy)),
                ("macro_f1", format!("{:.4}", m.macro_f1)),
                ("micro_f1", format!("{:.4}", m.micro_f1)),
                ("log_loss", maybe(m.log_loss)),
                ("brier", maybe(m.brier)),
                ("ece", maybe(m.ece)),
                ("mean_cost", format!("{:.4}", m.mean_cost)),
            ];
            if m.auc.is_some() {
                rows.push(("auc", maybe(m.auc)));
            }
            if m.unseen > 0 {
                rows.push(("unseen labels", crate::talk::thousands(m.unseen as usize)));
            }
            rows
        }
        Metrics::Multilabel(m) => {
            let mut rows = vec![
                ("examples", crate::talk::thousands(m.examples as usize)),
                ("micro_f1", format!("{:.4}", m.micro_f1)),
                ("macro_f1", format!("{:.4}", m.macro_f1)),
                ("hamming_loss", format!("{:.4}", m.hamming_loss)),
                ("subset_accuracy", format!("{:.4}", m.subset_accuracy)),
                ("p@1", format!("{:.4}", m.p_at_1)),
                ("p@3", format!("{:.4}", m.p_at_3)),
                ("p@5", format!("{:.4}", m.p_at_5)),
                ("ndcg@5", maybe(m.ndcg_at_5)),
            ];
            if m.unseen > 0 {
                rows.push(("unseen labels", crate::talk::thousands(m.unseen as usize)));
            }
            rows
        }
        Metrics::Regress(m) => vec![
            ("examples", crate::talk::thousands(m.examples as usize)),
            ("rmse", rough(m.rmse)),
            ("mae", rough(m.mae)),
            ("r2", maybe(m.r2)),
        ],
    }
}

/// A table of the metrics, then where the mistakes are.
pub fn in_full(metrics: &Metrics, classes: &[String]) -> Vec<String> {
    let mut lines = table::pairs(&rows(metrics), 0);
    if let Metrics::Classify(m) = metrics {
        lines.push(String::new());
        lines.extend(confusion::lines(m, classes));
    }
    lines
}
