//! What `compare --json` prints.

use lineal::Metrics;
use serde_json::{Value, json};

use super::{Comparison, Row};
use crate::args::CompareArgs;
use crate::rows::eval;

/// One object: the circumstances, and a row a run.
pub fn object(found: &Comparison, args: &CompareArgs) -> anyhow::Result<Value> {
    let rows = found.rows.iter().map(row).collect::<anyhow::Result<Vec<Value>>>()?;
    Ok(json!({
        "data": found.data,
        "task": found.task,
        "examples": found.n_rows[0],
        "test_examples": found.n_rows[1],
        "features": found.n_features,
        "classes": found.n_classes,
        "test": args.test,
        "holdout": args.test.is_none().then(|| args.holdout.unwrap_or(0.2)),
        "seed": args.seed,
        "rows": rows,
        "left_out": found.left_out,
        "seconds": found.seconds,
    }))
}

fn row(row: &Row) -> anyhow::Result<Value> {
    let ran = row.outcome.as_ref().ok();
    let report = ran.map(|m| &m.report);
    let metric = |of: fn(&Metrics) -> Option<f64>| ran.and_then(|m| of(&m.metrics));
    Ok(json!({
        "strategy": row.strategy,
        "loss": row.loss,
        "problems": report.map(|r| r.problems),
        "rows_touched": report.map(|r| r.rows_touched),
        "train_seconds": ran.map(|m| m.train_seconds),
        "predict_seconds_per_row": ran.map(|m| m.predict_seconds_per_row),
        "accuracy": metric(|m| if let Metrics::Classify(m) = m { Some(m.accuracy) } else { None }),
        "macro_f1": metric(|m| match m {
            Metrics::Classify(m) => Some(m.macro_f1),
            Metrics::Multilabel(m) => Some(m.macro_f1),
            Metrics::Regress(_) => None,
        }),
        "objective": report.map(|r| r.objective),
        "gap": report.and_then(|r| r.gap),
        "converged": report.map(|r| r.converged),
        "solver": report.map(|r| r.solver),
        "passes": report.map(|r| r.passes),
        "model_bytes": ran.map(|m| m.model_bytes),
        "metrics": ran.map(|m| slim(&m.metrics)).transpose()?,
        "error": row.outcome.as_ref().err(),
    }))
}

/// The numbers of `eval --json` without its lists, which would be many times the table.
fn slim(metrics: &Metrics) -> anyhow::Result<Value> {
    let mut value = eval::json(metrics)?;
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, value| !value.is_array());
    }
    Ok(value)
}
