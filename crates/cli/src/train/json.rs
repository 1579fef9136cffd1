//! What `train --json` prints: first the keys that SPEC fixes, then what the task has, then the rest of the report.

use serde_json::{Map, Value, json};

use super::{Outcome, Trainable};
use crate::fields::in_json;

/// The keys that every task has, in their order.
const KEYS: [&str; 13] = [
    "task",
    "examples",
    "features",
    "classes",
    "loss",
    "strategy",
    "solver",
    "l2",
    "objective",
    "gap",
    "grad_norm",
    "converged",
    "passes",
];

/// What several binary problems have.
const PROBLEMS: [&str; 4] = ["problems", "rows_touched", "code", "tree"];

/// What comes last: the longest.
const LAST: [&str; 3] = ["margins", "warnings", "curve"];

pub fn object<M: Trainable>(model: &M, outcome: &Outcome<M>) -> anyhow::Result<Value> {
    let Value::Object(mut report) = serde_json::to_value(&outcome.report)? else {
        return Ok(Value::Null);
    };
    let mut object = Map::new();
    let mut take = |object: &mut Map<String, Value>, keys: &[&str]| {
        for key in keys {
            object.insert((*key).to_owned(), report.shift_remove(*key).unwrap_or_default());
        }
    };
    take(&mut object, &KEYS);
    object.insert("seconds".into(), json!(outcome.seconds));
    object.insert("model_bytes".into(), json!(outcome.model_bytes));
    if let Some(test) = &outcome.test {
        object.insert("test".into(), M::metrics_json(test)?);
    }
    if outcome.report.structured.is_none() {
        take(&mut object, &PROBLEMS);
    }
    let mut last = Map::new();
    take(&mut last, &LAST);
    last.insert("warnings".into(), in_json(&outcome.report.warnings));
    let more = model.more_json().into_iter().map(|(key, value)| (key.to_owned(), value));
    // What the model says of itself goes before what the report says by the same name.
    for (key, value) in more.chain(report) {
        object.entry(key).or_insert(value);
    }
    object.insert("certificate".into(), json!(outcome.report.certificate()));
    if let Some(shrunk) = &outcome.shrunk {
        object.insert("shrunk".into(), json!(shrunk));
    }
    object.append(&mut last);
    Ok(object.into())
}
