//! Metrics of models of rows.

use anyhow::bail;
use lineal::metrics::ClassScores;
use lineal::{Metrics, Model, ReadOptions, Targets, Task};

use serde_json::Value;

use super::by_label::ByLabel;
use super::confusion;
use super::details::Details;
use crate::args::EvalArgs;
use crate::table;
use crate::talk::{Talk, count, rough};

/// What is measured: the metrics, and for labels a table of them.
pub struct Measured {
    pub metrics: Metrics,
    pub labels: Option<ByLabel>,
    /// What only a page shows.
    pub details: Option<Details>,
}

/// Reads labelled rows and compares.
pub fn measure(model: &Model, args: &EvalArgs, talk: Talk) -> anyhow::Result<Measured> {
    if args.cost.is_some() && model.task() != Task::Classify {
        bail!(
            "{} is a model of the task {}, which has no costs; leave --cost out",
            args.model.display(),
            model.task()
        );
    }
    if args.evalb {
        bail!("--evalb is for bracketed trees; leave it out");
    }
    let options = ReadOptions { only_labelled: true, ..args.file.options() };
    let data = model.read(args.source(), &options)?;
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
    never_predicted(&metrics, model.classes()).iter().for_each(|warning| talk.warn(warning));
    let labels = match &data.y {
        Targets::Labels(gold) if args.json || args.report.is_some() => {
            Some(ByLabel::new(model, &data, gold)?)
        }
        _ => None,
    };
    let details = match args.report.is_some() {
        true => Some(Details::new(model, &data, args.source(), &args.file.options())?),
        false => None,
    };
    Ok(Measured { metrics, labels, details })
}

/// What `eval --json` prints.
pub fn measured_json(found: &Measured) -> anyhow::Result<Value> {
    let mut object = json(&found.metrics)?;
    if let (Some(object), Some(labels)) = (object.as_object_mut(), &found.labels) {
        object.insert("reliability".to_owned(), serde_json::to_value(&labels.bins)?);
    }
    Ok(object)
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
pub fn one_line(metrics: &Metrics) -> String {
    match metrics {
        Metrics::Classify(m) => format!(
            "accuracy {:.4} ({:.4} by the most frequent class alone), macro F1 {:.4}",
            m.accuracy, m.baseline, m.macro_f1
        ),
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
                ("baseline", format!("{:.4}", m.baseline)),
                ("mcc", format!("{:.4}", m.mcc)),
            ];
            if m.auc.is_some() {
                rows.push(("auc", maybe(m.auc)));
                rows.push(("pr_auc", maybe(m.pr_auc)));
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

/// What to say of classes that rows have and no row gets, though they are not rare by chance alone.
pub fn never_predicted(metrics: &Metrics, classes: &[String]) -> Option<String> {
    const FEW_ROWS: u64 = 5;
    let Metrics::Classify(m) = metrics else { return None };
    let is_missed = |s: &&ClassScores| s.support >= FEW_ROWS && s.predicted == 0;
    let missed: Vec<&ClassScores> = m.per_class.iter().filter(is_missed).collect();
    let first = missed.first()?;
    let name = classes.get(first.class).map_or("?", String::as_str);
    let rows = count(first.support as usize, "row");
    let what = match missed.len() {
        1 => format!("class {name:?} ({rows}) is never predicted"),
        n => format!("{n} classes are never predicted, such as {name:?} ({rows})"),
    };
    Some(format!("{what}; training with --class-weight balanced gives rare classes more weight"))
}

/// A table of the metrics, then where the mistakes are.
pub fn in_full(metrics: &Metrics, classes: &[String]) -> Vec<String> {
    let mut rows = rows(metrics);
    // The area under the ROC curve is the same for both classes, this one is not.
    if let ([_, second], Some(row)) = (classes, rows.iter_mut().find(|row| row.0 == "pr_auc")) {
        row.1 += &format!(" (class {second})");
    }
    let mut lines = table::pairs(&rows, 0);
    if let Metrics::Classify(m) = metrics {
        lines.push(String::new());
        lines.extend(confusion::lines(m, classes));
    }
    lines
}
