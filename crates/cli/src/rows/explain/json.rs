//! Explanations for programs: one object per row.

use std::io::{self, Write};

use lineal::{Contribution, Decision, Explanation, Task};
use serde_json::{Map, Value, json};

use super::Explained;
use super::text::name_of;

/// One object per row.
pub fn write(out: &mut dyn Write, found: &Explained<'_>) -> io::Result<()> {
    found.explanations.iter().try_for_each(|explanation| {
        serde_json::to_writer(&mut *out, &object(explanation, found))?;
        writeln!(out)
    })
}

fn object(explanation: &Explanation, found: &Explained<'_>) -> Value {
    let model = found.model;
    let name = |class: Option<u32>| class.map(|class| name_of(model, class));
    let feature = |c: &Contribution| {
        json!({
            "name": model.feature_name(c.feature),
            "value": c.value,
            "weight": c.weight,
            "contribution": c.amount(),
        })
    };
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("row", json!(explanation.row + 1));
    match model.task() {
        Task::Classify => {
            put("label", json!(name(explanation.winner)));
            put("against", json!(name(explanation.runner_up)));
            if explanation.threshold != 0.0 {
                put("threshold", json!(explanation.threshold));
            }
        }
        Task::Multilabel => {
            put("label", json!(name(explanation.winner)));
            put("predicted", json!(explanation.predicted));
            put("threshold", json!(explanation.threshold));
        }
        _ => {}
    }
    put("lead", json!(explanation.lead));
    put("decided_by", json!(decided_by(explanation.decision)));
    if let Decision::Columns { differ, agree } = explanation.decision {
        put("columns", json!({"differ": differ, "agree": agree}));
    }
    put("bias", json!(explanation.bias));
    put("features", explanation.contributions.iter().map(feature).collect());
    put("rest", json!({"features": explanation.n_rest, "contribution": explanation.rest}));
    if let Some([winner, runner_up]) = explanation.proba {
        let pairs = [(explanation.winner, winner), (explanation.runner_up, runner_up)];
        let by_name = |(class, p): (Option<u32>, f64)| Some((name(class)?.to_owned(), json!(p)));
        put("proba", pairs.into_iter().filter_map(by_name).collect::<Map<_, _>>().into());
    }
    object.into()
}

fn decided_by(decision: Decision) -> &'static str {
    match decision {
        Decision::Scores => "scores",
        Decision::Duel => "duel",
        Decision::Columns { .. } => "columns",
        Decision::Node => "node",
        Decision::Label => "threshold",
        Decision::Number => "number",
    }
}
