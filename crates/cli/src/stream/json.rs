//! What `train --stream --json` prints.

use lineal::{Model, Progressive, Task};
use serde_json::{Map, Value, json};

use super::Outcome;
use crate::fields::in_json;
use crate::rows::eval;

/// The keys of `train --json`, then what only streams have.
pub fn object(model: &Model, outcome: &Outcome) -> anyhow::Result<Value> {
    let (report, stream) = (model.report(), &outcome.report);
    let spec = model.stream_spec();
    let seen = |p: &Progressive| progressive(p, report.task);
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("task", json!(report.task));
    put("examples", json!(report.examples));
    put("features", json!(report.features));
    put("classes", json!(report.classes));
    put("loss", json!(report.loss));
    put("strategy", json!(report.strategy));
    put("solver", json!(report.solver));
    put("l2", json!(report.l2));
    for unknown in ["objective", "gap", "grad_norm"] {
        put(unknown, Value::Null);
    }
    put("converged", json!(report.converged));
    put("passes", json!(report.passes));
    put(
        "seconds",
        json!({"read": 0.0, "train": outcome.train_seconds, "total": outcome.total_seconds}),
    );
    put("model_bytes", json!(outcome.model_bytes));
    if let Some(test) = &outcome.test {
        put("test", eval::json(test)?);
    }
    put("stream", json!(true));
    put("update", json!(spec.map(|s| s.update)));
    put("rate", json!(spec.and_then(|s| s.rate)));
    put("average", json!(spec.map(|s| s.average)));
    put("rows", json!(stream.rows));
    put("updates", json!(report.updates));
    put("progressive", stream.passes.first().map(seen).unwrap_or_default());
    put("by_pass", stream.passes.iter().map(seen).collect());
    put("new_classes", json!(stream.new_classes));
    put("warnings", in_json(&stream.warnings));
    Ok(object.into())
}

fn progressive(seen: &Progressive, task: Task) -> Value {
    let (name, metric) = match task {
        Task::Regress => ("rmse", -seen.metric),
        _ => ("accuracy", seen.metric),
    };
    json!({"pass": seen.pass, "rows": seen.rows, "loss": seen.loss, name: metric})
}
