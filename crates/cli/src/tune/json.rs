//! What `tune --json` prints.

use std::fmt::Display;

use lineal::Trial;
use serde_json::{Value, json};

use super::Found;
use crate::args::TuneArgs;

/// One object: the circumstances, one row per trial, what was chosen and what came of it.
pub fn object<L: Display + PartialEq>(found: &Found<L>, args: &TuneArgs) -> Value {
    let trial = |t: &Trial<L>| row(t, found);
    let left_out =
        |(learner, reason): &(L, String)| json!({"loss": learner.to_string(), "reason": reason});
    let trained = match &found.trained {
        None => Value::Null,
        Some(trained) => {
            let report = &trained.report;
            json!({
                "objective": report.objective,
                "gap": report.gap,
                "converged": report.converged,
                "solver": report.solver,
                "passes": report.passes,
                "model_bytes": trained.bytes,
                "test": trained.test,
            })
        }
    };
    let mut object = json!({
        "data": args.data,
        "task": found.task,
        "examples": found.n_examples,
        "classes": found.n_classes,
        "folds": args.folds,
        "shuffled": !args.no_shuffle,
        "seed": args.seed,
        "metric": found.metric,
        "trials": found.table.trials.iter().map(trial).collect::<Vec<_>>(),
        "left_out": found.table.left_out,
        "best": found.table.best().map(trial),
        "one_se": found.table.one_standard_error().map(trial),
        "chosen": trial(&found.chosen),
        "trained": trained,
        "seconds": {"search": found.search_seconds, "total": found.total_seconds},
    });
    if args.task.is_structured() {
        object["refused"] = found.refused.iter().map(left_out).collect();
    }
    object
}

fn row<L: Display>(trial: &Trial<L>, found: &Found<L>) -> Value {
    let sign = found.sign();
    let features = Some(&trial.features).filter(|f| !f.is_empty());
    json!({
        "features": features,
        "loss": trial.loss.to_string(),
        "C": trial.c,
        "mean": sign * trial.mean,
        "se": trial.standard_error,
        "folds": trial.scores.iter().map(|s| sign * s).collect::<Vec<_>>(),
        "passes": trial.passes,
        "converged": trial.converged,
        "interrupted": trial.interrupted,
        "seconds": trial.seconds,
    })
}
