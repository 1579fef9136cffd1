//! One run of a comparison: train, predict against the clock, evaluate.

use std::ops::ControlFlow;
use std::time::Instant;

use lineal::{
    CurvePoint, Dataset, Features, LossKind, Report, Strategy, Task, TrainSpec, Training,
};
use serde_json::Value;

use crate::fields::as_flags;
use crate::progress::Series;
use crate::rows::eval;

/// Predictions are repeated for this long, and at most so often: the fastest counts.
const SECONDS: f64 = 0.1;
const TIMES: usize = 20;

/// A loss, by a strategy where it is of classes, and what came of it.
pub struct Row {
    pub strategy: Option<Strategy>,
    pub loss: String,
    /// Or why it failed.
    pub outcome: Result<Measured, String>,
}

/// What a run takes and gives.
pub struct Measured {
    pub report: Report,
    pub train_seconds: f64,
    /// For each row, or example of a structure.
    pub predict_seconds: f64,
    /// The numbers of `eval --json` without its lists, which would be many times the table.
    pub metrics: Value,
    /// The few of them to say in a sentence.
    pub one_line: String,
    pub model_bytes: u64,
}

impl Measured {
    /// A metric by its name; not a number where there is none.
    pub fn metric(&self, name: &str) -> f64 {
        self.metrics[name].as_f64().unwrap_or(f64::NAN)
    }
}

impl Row {
    /// Runs a strategy with a loss.
    pub fn measure(
        spec: &TrainSpec,
        train: (&Dataset, &Features),
        test: &Dataset,
        series: &mut Series,
    ) -> Self {
        let loss = spec.loss.unwrap_or(LossKind::Logistic).to_string();
        let strategy = Some(spec.strategy).filter(|_| spec.task != Task::Regress);
        let mut row = Self { strategy, loss, outcome: Err(String::new()) };
        let name = row.name();
        series.begin(&name);
        row.outcome = measured(spec, train, test, |point| series.pass(&name, point, spec.task))
            .map_err(|error| as_flags(&error.to_string()).into_owned());
        row
    }

    /// `ova hinge`.
    pub fn name(&self) -> String {
        self.names().join(" ")
    }

    /// The cells that name it: the strategy, where there are some, and the loss.
    pub fn names(&self) -> Vec<String> {
        let strategy = self.strategy.map(|strategy| strategy.to_string());
        strategy.into_iter().chain([self.loss.clone()]).collect()
    }
}

fn measured(
    spec: &TrainSpec,
    (train, features): (&Dataset, &Features),
    test: &Dataset,
    show: impl Fn(&CurvePoint) + Sync,
) -> anyhow::Result<Measured> {
    let begun = Instant::now();
    let mut watch = |point: &CurvePoint| {
        show(point);
        ControlFlow::Continue(())
    };
    let (model, report) =
        Training::new(train, spec).features(features).monitor(&mut watch).run()?;
    let train_seconds = begun.elapsed().as_secs_f64();

    let fastest = fastest(|| {
        let _ = std::hint::black_box(model.predict(test));
    });
    let metrics = model.evaluate(test)?;
    Ok(Measured {
        report,
        train_seconds,
        predict_seconds: fastest / test.n_rows().max(1) as f64,
        one_line: eval::one_line(&metrics),
        metrics: without_lists(eval::json(&metrics)?),
        model_bytes: model.to_bytes()?.len() as u64,
    })
}

/// The seconds of the fastest of several times.
pub fn fastest(mut run: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let mut fastest = f64::INFINITY;
    for _ in 0..TIMES {
        let one = Instant::now();
        run();
        fastest = fastest.min(one.elapsed().as_secs_f64());
        if begun.elapsed().as_secs_f64() > SECONDS {
            break;
        }
    }
    fastest
}

/// Without lists and tables.
pub fn without_lists(mut metrics: Value) -> Value {
    if let Some(object) = metrics.as_object_mut() {
        object.retain(|_, value| !value.is_array());
    }
    metrics
}
