//! Tables with columns of numbers, words and text, as the program reads them.

use crate::errors::refused;
use crate::model::{Model, array};
use crate::run::{brief, long};
use lineal::{
    CurvePoint, FeatureSpec, Format, Predicted, ReadOptions, Source, Task, TrainSpec, Training,
    read_features,
};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyList;
use std::path::PathBuf;

/// A table: the path of a CSV file, or its bytes.
#[derive(FromPyObject)]
pub(crate) enum Csv {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

fn source(csv: &Csv) -> Source {
    match csv {
        Csv::Bytes(bytes) => Source::Memory { name: "table".into(), bytes: bytes.to_vec() },
        Csv::Path(path) => Source::Path(path.clone()),
    }
}

/// Trains on a table in CSV, one of whose columns is the label. `spec` is a `TrainSpec` in JSON; columns that are not named as text or categories are what they look like.
#[pyfunction]
#[pyo3(signature = (csv, label, spec, text, categorical, weight=None, n_threads=0, on_pass=None))]
pub(crate) fn fit_table(
    py: Python<'_>,
    csv: Csv,
    label: String,
    spec: &str,
    text: Vec<String>,
    categorical: Vec<String>,
    weight: Option<String>,
    n_threads: usize,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
    let options = ReadOptions {
        format: Some(Format::Csv),
        target: spec.task.target(),
        label: Some(label),
        weight,
        guess_text: text.is_empty(),
        text,
        categorical,
        ..ReadOptions::default()
    };
    let (data, features) =
        brief(py, n_threads, || read_features(source(&csv), &options, &FeatureSpec::default()))?;
    let (model, report) = long(py, n_threads, |stop| {
        let mut monitor = |point: &CurvePoint| stop.after_pass(on_pass.as_ref(), point);
        Training::new(&data, &spec).features(&features).monitor(&mut monitor).run()
    })?;
    Model::new(model, &report)
}

fn options(model: &lineal::Model) -> ReadOptions {
    ReadOptions {
        format: Some(Format::Csv),
        target: model.schema().target,
        ..ReadOptions::default()
    }
}

/// The number of the class of each row of a table in CSV.
#[pyfunction]
#[pyo3(signature = (model, csv, n_threads=0))]
pub(crate) fn table_classes<'py>(
    py: Python<'py>,
    model: &Model,
    csv: Csv,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let model = &model.model;
    let found =
        brief(py, n_threads, || model.predict(&model.read(source(&csv), &options(model))?))?;
    match found {
        Predicted::Classes(ids) => Ok(ids.into_pyarray(py)),
        _ => Err(refused("the model predicts no classes")),
    }
}

/// Why each row of a table in CSV got its answer.
#[pyfunction]
#[pyo3(signature = (model, csv, top=None, n_threads=0))]
pub(crate) fn explain_table<'py>(
    py: Python<'py>,
    model: &Model,
    csv: Csv,
    top: Option<usize>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let rows = &model.model;
    let data = brief(py, n_threads, || rows.read(source(&csv), &options(rows)))?;
    model.explained(py, &data, top, n_threads)
}

/// The probability of each class, or the score where `proba` is false, of each row of a table in CSV.
#[pyfunction]
#[pyo3(signature = (model, csv, proba, n_threads=0))]
pub(crate) fn table_scores<'py>(
    py: Python<'py>,
    model: &Model,
    csv: Csv,
    proba: bool,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let model = &model.model;
    let proba = proba && model.task() != Task::Regress;
    let table = brief(py, n_threads, || {
        let data = model.read(source(&csv), &options(model))?;
        if proba { model.proba(&data) } else { model.scores(&data) }
    })?;
    array(py, table)
}
