//! `train --compare-local`: the same examples learnt with rules in training and without, side by side.

use std::time::Instant;

use anyhow::bail;
use lineal::{DeclaredData, DeclaredMetrics, DeclaredModel, StructuredModel, TrainSpec, Training};
use serde_json::{Map, Value, json};

use crate::structured::Alternatives;
use crate::table::{self, Align};
use crate::talk::{seconds, thousands};

/// One of the two.
struct Row {
    name: &'static str,
    metrics: DeclaredMetrics,
    /// Broken rules, each where it applies, and examples with any, if every variable took its best label with its factors only.
    violations: usize,
    illegal: usize,
    train: f64,
    predict: f64,
}

/// Trains the other way, and compares both on the test examples.
pub fn compare(
    model: &DeclaredModel,
    data: &DeclaredData,
    held_out: Option<&DeclaredData>,
    test: Option<&DeclaredData>,
    train: f64,
) -> anyhow::Result<Alternatives> {
    let Some(test) = test else { bail!("--compare-local needs --test DATA to compare on") };
    let spec = model.spec();
    let is_local = spec.declared.local;
    let mut declared = spec.declared.clone();
    declared.local = !is_local;
    let other = TrainSpec { declared, ..spec.clone() };
    let begun = Instant::now();
    let mut training = Training::new(data, &other);
    if let Some(held_out) = held_out {
        training = training.held_out(held_out);
    }
    let (other, _) = training.run()?;
    let other = row(&other, test, begun.elapsed().as_secs_f64())?;
    let own = row(model, test, train)?;
    let rows = if is_local { [other, own] } else { [own, other] };
    Ok(Alternatives { lines: lines(&rows), name: "compare_local", json: object(&rows)? })
}

fn row(model: &DeclaredModel, test: &DeclaredData, train: f64) -> anyhow::Result<Row> {
    let begun = Instant::now();
    let metrics = model.evaluate(test)?;
    let predict = begun.elapsed().as_secs_f64();
    let broken = model.violations(test)?;
    Ok(Row {
        name: if model.spec().declared.local { "local" } else { "rules" },
        metrics,
        violations: broken.iter().sum(),
        illegal: broken.iter().filter(|n| **n > 0).count(),
        train,
        predict,
    })
}

fn lines(rows: &[Row]) -> Vec<String> {
    let mut table = vec![["", "accuracy", "exact"].map(str::to_owned).to_vec()];
    let kinds = rows[0].metrics.kinds.keys();
    table[0].extend(kinds.map(|kind| format!("{kind} F1")));
    table[0].extend(["broken rules", "train", "predict"].map(str::to_owned));
    for row in rows {
        let name = match row.name {
            "local" => "rules in predictions only (--local)",
            _ => "rules in training, too",
        };
        let metrics = &row.metrics;
        let shares = [metrics.accuracy, metrics.exact].into_iter();
        let shares = shares.chain(metrics.kinds.values().map(|kind| kind.micro_f1));
        let mut cells = vec![name.to_owned()];
        cells.extend(shares.map(|share| format!("{share:.4}")));
        cells.push(thousands(row.violations));
        cells.extend([row.train, row.predict].map(seconds));
        table.push(cells);
    }
    let mut lines = table::lines(&table, &[Align::Left, Align::Right], 0);
    lines.push(
        "broken rules: by the best labels before rules are kept; no prediction breaks any"
            .to_owned(),
    );
    lines
}

fn object(rows: &[Row]) -> anyhow::Result<Value> {
    let mut object = Map::new();
    for row in rows {
        let mut one = match serde_json::to_value(&row.metrics)? {
            Value::Object(one) => one,
            _ => Map::new(),
        };
        one.insert("violations".to_owned(), json!(row.violations));
        one.insert("illegal_examples".to_owned(), json!(row.illegal));
        one.insert("seconds".to_owned(), json!({"train": row.train, "predict": row.predict}));
        object.insert(row.name.to_owned(), one.into());
    }
    Ok(object.into())
}
