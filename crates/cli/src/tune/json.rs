//! What `tune --json` prints.

use lineal::{Task, Trial, TuneMetric};
use serde_json::{Value, json};

use super::Found;
use crate::args::TuneArgs;
use crate::rows::eval;

/// One object: the circumstances, a row a trial, what was chosen and what came of it.
pub fn object(found: &Found, args: &TuneArgs) -> anyhow::Result<Value> {
    let (metric, task) = (args.metric.0, args.task);
    let trial = |t: &Trial| row(t, metric, task);
    let trained = match &found.trained {
        None => Value::Null,
        Some(trained) => {
            let report = trained.model.report();
            json!({
                "objective": report.objective,
                "gap": report.gap,
                "converged": report.converged,
                "solver": report.solver,
                "passes": report.passes,
                "model_bytes": trained.bytes,
                "test": trained.test.as_ref().map(eval::json).transpose()?,
            })
        }
    };
    Ok(json!({
        "data": args.data,
        "task": task,
        "examples": found.n_rows,
        "classes": found.n_classes,
        "folds": args.folds,
        "shuffled": !args.no_shuffle,
        "seed": args.seed,
        "metric": metric.name(task),
        "trials": found.table.trials.iter().map(trial).collect::<Vec<_>>(),
        "left_out": found.table.left_out,
        "best": found.table.best().map(trial),
        "one_se": found.table.one_standard_error().map(trial),
        "chosen": trial(&found.chosen),
        "trained": trained,
        "seconds": {"search": found.search_seconds, "total": found.total_seconds},
    }))
}

fn row(trial: &Trial, metric: TuneMetric, task: Task) -> Value {
    let sign = if metric.is_loss(task) { -1.0 } else { 1.0 };
    let features = Some(&trial.features).filter(|f| !f.is_empty());
    json!({
        "features": features,
        "loss": trial.loss,
        "C": trial.c,
        "mean": sign * trial.mean,
        "se": trial.standard_error,
        "folds": trial.scores.iter().map(|s| sign * s).collect::<Vec<_>>(),
        "passes": trial.passes,
        "converged": trial.converged,
        "seconds": trial.seconds,
    })
}
