//! One run of a comparison: train, predict against the clock, evaluate.

use std::ops::ControlFlow;
use std::time::Instant;

use lineal::{
    CurvePoint, Dataset, Features, LossKind, Metrics, Report, Strategy, TrainSpec, Training,
};

use crate::progress::Series;

/// Predictions are repeated for this long, and at most so often: the fastest counts.
const SECONDS: f64 = 0.1;
const TIMES: usize = 20;

/// A strategy with a loss, and what came of it.
pub struct Row {
    pub strategy: Strategy,
    pub loss: LossKind,
    /// Or why it failed.
    pub outcome: Result<Measured, String>,
}

/// What a run takes and gives.
pub struct Measured {
    pub report: Report,
    pub train_seconds: f64,
    pub predict_seconds_per_row: f64,
    pub metrics: Metrics,
    pub model_bytes: u64,
}

impl Row {
    /// Runs it.
    pub fn measure(
        spec: &TrainSpec,
        train: (&Dataset, &Features),
        test: &Dataset,
        series: &mut Series,
    ) -> Self {
        let loss = spec.loss.unwrap_or(LossKind::Logistic);
        let mut row = Self { strategy: spec.strategy, loss, outcome: Err(String::new()) };
        let name = row.name();
        series.begin(&name);
        row.outcome = measured(spec, train, test, |point| series.pass(&name, point, spec.task))
            .map_err(|error| error.to_string());
        row
    }

    /// `ova hinge`.
    pub fn name(&self) -> String {
        format!("{} {}", self.strategy, self.loss)
    }
}

fn measured(
    spec: &TrainSpec,
    (train, features): (&Dataset, &Features),
    test: &Dataset,
    show: impl Fn(&CurvePoint) + Sync,
) -> Result<Measured, lineal::Error> {
    let begun = Instant::now();
    let mut watch = |point: &CurvePoint| {
        show(point);
        ControlFlow::Continue(())
    };
    let (model, report) =
        Training::new(train, spec).features(features).monitor(&mut watch).run()?;
    let train_seconds = begun.elapsed().as_secs_f64();

    let begun = Instant::now();
    let mut fastest = f64::INFINITY;
    for _ in 0..TIMES {
        let one = Instant::now();
        std::hint::black_box(model.predict(test));
        fastest = fastest.min(one.elapsed().as_secs_f64());
        if begun.elapsed().as_secs_f64() > SECONDS {
            break;
        }
    }
    Ok(Measured {
        report,
        train_seconds,
        predict_seconds_per_row: fastest / test.n_rows().max(1) as f64,
        metrics: model.evaluate(test)?,
        model_bytes: model.to_bytes()?.len() as u64,
    })
}
