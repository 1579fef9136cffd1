//! Cross-validation along C.

use crate::arrays::Features;
use crate::errors::refused;
use crate::fit::{Outputs, dataset};
use crate::run::long;
use lineal::{Shuffle, TrainSpec, TuneSpec, TuneTable, Tuning};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::ops::ControlFlow;

/// A loss, a C, the score of each fold, passes, seconds.
type Row = (String, f64, Vec<f64>, usize, f64);

/// Measures every loss at every C. `spec` is a `TrainSpec` in JSON.
#[pyfunction]
#[pyo3(signature = (x, y, classes, spec, cs, losses, folds, weights=None, n_threads=0))]
pub(crate) fn tune(
    py: Python<'_>,
    x: Features<'_>,
    y: Outputs<'_>,
    classes: Vec<String>,
    spec: &str,
    cs: Vec<f64>,
    losses: Vec<String>,
    folds: usize,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_threads: usize,
) -> PyResult<Vec<Row>> {
    let base: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
    let losses =
        losses.iter().map(|loss| loss.parse()).collect::<Result<_, _>>().map_err(refused)?;
    let shuffle = Shuffle::Seeded(base.seed);
    let spec = TuneSpec { base, cs, losses, folds, shuffle, ..TuneSpec::default() };
    x.with(|x| {
        let data = dataset(x, &y, classes, weights, None)?;
        let table = long(py, n_threads, |stop| {
            let mut table = TuneTable::default();
            let mut monitor = |_: &lineal::Trial| match stop.is_set() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            Tuning::new(&data, &spec).monitor(&mut monitor).run(&mut table).map(|_| table)
        })?;
        let row = |t: lineal::Trial| (t.loss.to_string(), t.c, t.scores, t.passes, t.seconds);
        Ok(table.trials.into_iter().map(row).collect())
    })
}
