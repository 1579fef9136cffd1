//! Training on rows.

use crate::arrays::Features;
use crate::errors::{exception, refused};
use crate::model::Model;
use crate::run::long;
use lineal::data::Labels;
use lineal::linalg::Matrix;
use lineal::{CurvePoint, Dataset, Schema, TargetKind, Targets, TrainSpec, Training};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// What is to be predicted.
#[derive(FromPyObject)]
pub(crate) enum Outputs<'py> {
    /// Of classes: the number of each row's.
    Classes(PyReadonlyArray1<'py, u32>),
    /// Numbers.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Of labels: row pointers, and the labels of one row after the other.
    Labels(PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>),
}

/// Rows, what is to be predicted of them, and their weights, as the library has them.
pub(crate) fn dataset(
    x: Matrix,
    y: &Outputs<'_>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    names: Option<Vec<String>>,
) -> PyResult<Dataset> {
    let bad = |why: lineal::data::Error| exception(why.into());
    let mut data = match y {
        // All numbers are looked at, which other threads need not wait for.
        Outputs::Classes(y) => {
            let ids = y.as_slice().map_err(refused)?.to_vec();
            y.py().detach(|| Dataset::of_class_numbers(x, ids, classes)).map_err(bad)?
        }
        Outputs::Numbers(y) => {
            let numbers = y.as_slice().map_err(refused)?.to_vec();
            y.py().detach(|| Dataset::of_numbers(x, numbers)).map_err(bad)?
        }
        Outputs::Labels(start, ids) => {
            let py = ids.py();
            let (start, ids) =
                (start.as_slice().map_err(refused)?, ids.as_slice().map_err(refused)?);
            let labels = Labels::new(start.to_vec(), ids.to_vec()).map_err(refused)?;
            let schema = Schema::of_arrays(x.n_cols(), TargetKind::Labels, classes);
            let data = py.detach(|| Dataset::unlabelled(x, schema)).map_err(bad)?;
            Dataset { y: Targets::Labels(labels), ..data }
        }
    };
    if let Some(weights) = weights {
        let weights = weights.as_slice().map_err(refused)?.iter().map(|&w| w as f32).collect();
        data = data.with_weights(weights).map_err(bad)?;
    }
    if let Some(names) = names {
        data = data.with_names(names).map_err(bad)?;
    }
    Ok(data)
}

/// Trains a model. `spec` is a `TrainSpec` in JSON. `on_pass(pass, objective, gap)` is called after every pass.
#[pyfunction]
#[pyo3(signature = (x, y, classes, spec, weights=None, names=None, n_threads=0, on_pass=None))]
pub(crate) fn fit(
    py: Python<'_>,
    x: Features<'_>,
    y: Outputs<'_>,
    classes: Vec<String>,
    spec: &str,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    names: Option<Vec<String>>,
    n_threads: usize,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
    x.with(|x| {
        let data = dataset(x, &y, classes, weights, names)?;
        let (model, report) = long(py, n_threads, |stop| {
            let mut monitor = |point: &CurvePoint| stop.after_pass(on_pass.as_ref(), point);
            Training::new(&data, &spec).monitor(&mut monitor).run()
        })?;
        Model::new(model, &report)
    })
}
