//! What `compare --json` prints.

use lineal::Task;
use serde_json::{Map, Value, json};

use super::{Comparison, Row};
use crate::args::CompareArgs;

/// One object: the circumstances, and one row per run.
pub fn object(found: &Comparison, args: &CompareArgs) -> Value {
    let rows: Vec<Value> = found.rows.iter().map(|one| row(one, found.task)).collect();
    json!({
        "data": found.data,
        "task": found.task,
        "examples": found.n_examples[0],
        "test_examples": found.n_examples[1],
        "features": found.n_features,
        "classes": found.n_classes,
        "test": args.test,
        "holdout": args.test.is_none().then(|| args.holdout.unwrap_or(0.2)),
        "seed": args.seed,
        "rows": rows,
        "left_out": found.left_out,
        "seconds": found.seconds,
    })
}

fn row(row: &Row, task: Task) -> Value {
    let of_rows = !task.is_structured();
    let ran = row.outcome.as_ref().ok();
    let report = ran.map(|m| &m.report);
    let metric = |name: &str| ran.map_or(Value::Null, |m| m.metrics[name].clone());
    let mut object = Map::new();
    let mut add = |key: &str, value: Value| object.insert(key.to_owned(), value);
    if let Some(strategy) = row.strategy {
        add("strategy", json!(strategy));
    }
    add("loss", json!(row.loss));
    if of_rows {
        add("problems", json!(report.map(|r| r.problems)));
        add("rows_touched", json!(report.map(|r| r.rows_touched)));
    }
    add("train_seconds", json!(ran.map(|m| m.train_seconds)));
    let predict = if of_rows { "row" } else { "example" };
    add(&format!("predict_seconds_per_{predict}"), json!(ran.map(|m| m.predict_seconds)));
    if row.strategy.is_some() {
        add("accuracy", metric("accuracy"));
        add("macro_f1", metric("macro_f1"));
    }
    add("objective", json!(report.map(|r| r.objective)));
    add("gap", json!(report.and_then(|r| r.gap)));
    add("converged", json!(report.map(|r| r.converged)));
    add("solver", json!(report.map(|r| r.solver)));
    add("passes", json!(report.map(|r| r.passes)));
    add("model_bytes", json!(ran.map(|m| m.model_bytes)));
    add("metrics", json!(ran.map(|m| &m.metrics)));
    add("error", json!(row.outcome.as_ref().err()));
    object.into()
}
