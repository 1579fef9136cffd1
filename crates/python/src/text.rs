//! Text to sparse rows.

use crate::errors::refused;
use crate::model::Model;
use crate::run::{Stop, long_owned};
use lineal::linalg::{Csr, Matrix};
use lineal::text::{self, TextParts, TextSpec};
use lineal::{
    CurvePoint, FeatureSpec, Format, ReadOptions, Source, TrainSpec, Training, read_features,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// `(n_features, row pointers, columns, values)`.
type Parts<'py> =
    (usize, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f32>>);

/// A vocabulary, or a hash, and how words weigh.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct TextEncoder {
    encoder: Arc<text::TextEncoder>,
    /// The column of each feature, where columns are in the order of names; none for hashes.
    columns: Option<Arc<[u32]>>,
}

/// The parts before they are Python's.
type Arrays = (usize, Vec<i64>, Vec<i32>, Vec<f32>);

/// Rows with their columns in the order of names.
fn arrays(rows: Csr, order: Option<&[u32]>) -> Arrays {
    let n_rows = rows.n_rows();
    let mut start = Vec::with_capacity(n_rows + 1);
    start.push(0i64);
    let nnz = Matrix::Sparse(rows.clone()).nnz();
    let (mut columns, mut values) = (Vec::with_capacity(nnz), Vec::with_capacity(nnz));
    let mut row: Vec<(u32, f32)> = Vec::new();
    for i in 0..n_rows {
        row.clear();
        rows.row(i).for_each(|j, v| row.push((order.map_or(j as u32, |order| order[j]), v)));
        if order.is_some() {
            row.sort_unstable_by_key(|&(j, _)| j);
        }
        columns.extend(row.iter().map(|&(j, _)| j as i32));
        values.extend(row.iter().map(|&(_, v)| v));
        start.push(columns.len() as i64);
    }
    (rows.n_cols(), start, columns, values)
}

fn parts(py: Python<'_>, (n_cols, start, columns, values): Arrays) -> Parts<'_> {
    (n_cols, start.into_pyarray(py), columns.into_pyarray(py), values.into_pyarray(py))
}

impl TextEncoder {
    fn new(encoder: text::TextEncoder) -> Self {
        let columns = encoder.spec().hash_bits.is_none().then(|| {
            let by_name = by_name(&encoder);
            let mut columns = vec![0; by_name.len()];
            by_name.iter().enumerate().for_each(|(at, &j)| columns[j] = at as u32);
            columns.into()
        });
        Self { encoder: Arc::new(encoder), columns }
    }
}

/// Features in the order of their names.
fn by_name(encoder: &text::TextEncoder) -> Vec<usize> {
    let mut order: Vec<usize> = (0..encoder.n_features()).collect();
    order.sort_by_cached_key(|&j| encoder.feature_name(j).into_owned());
    order
}

#[pymethods]
impl TextEncoder {
    /// Learns the vocabulary of documents, and encodes them, if their rows are asked for. `spec` is a `TextSpec` in JSON.
    #[staticmethod]
    #[pyo3(signature = (texts, spec, n_threads=0, rows=true))]
    fn fit<'py>(
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        spec: &str,
        n_threads: usize,
        rows: bool,
    ) -> PyResult<(Self, Option<Parts<'py>>)> {
        let spec: TextSpec = serde_json::from_str(spec).map_err(refused)?;
        let done = long_owned(py, n_threads, move |stop| {
            let fitted = fit_parts(spec, &texts, rows, stop);
            Ok(fitted.map(|done| {
                done.map(|(encoder, rows)| {
                    let encoder = Self::new(encoder);
                    let rows = rows.map(|rows| arrays(rows, encoder.columns.as_deref()));
                    (encoder, rows)
                })
            }))
        })?;
        let (encoder, rows) = done.map_err(refused)?.ok_or_else(|| refused("interrupted"))?;
        Ok((encoder, rows.map(|rows| parts(py, rows))))
    }

    /// One that hashes, and so has nothing to learn.
    #[staticmethod]
    fn untrained(spec: &str) -> PyResult<Self> {
        let spec: TextSpec = serde_json::from_str(spec).map_err(refused)?;
        text::TextEncoder::untrained(spec).map(Self::new).map_err(refused)
    }

    /// Encodes documents, with columns in the order of names or of the library.
    #[pyo3(signature = (texts, n_threads=0, by_name=true))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        n_threads: usize,
        by_name: bool,
    ) -> PyResult<Parts<'py>> {
        let encoder = Arc::clone(&self.encoder);
        let columns = self.columns.clone().filter(|_| by_name);
        let rows = long_owned(py, n_threads, move |_| {
            let rows = encoder.encode(&texts[..]);
            Ok(rows.map(|rows| arrays(rows, columns.as_deref())))
        })?;
        Ok(parts(py, rows.map_err(refused)?))
    }

    /// How rare each feature is; empty without tf–idf.
    fn idf(&self) -> Vec<f32> {
        let idf = self.encoder.parts().idf;
        match idf.is_empty() {
            true => Vec::new(),
            false => by_name(&self.encoder).into_iter().map(|j| idf[j]).collect(),
        }
    }

    /// What a pickle holds: names, where each ends, idf.
    fn to_parts<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Vec<u32>, Vec<f32>) {
        let parts = self.encoder.parts();
        (PyBytes::new(py, &parts.bytes), parts.ends.into_owned(), parts.idf.into_owned())
    }

    /// A vocabulary from what `to_parts` gave.
    #[staticmethod]
    fn from_parts(spec: &str, bytes: &[u8], ends: Vec<u32>, idf: Vec<f32>) -> PyResult<Self> {
        let spec: TextSpec = serde_json::from_str(spec).map_err(refused)?;
        let parts = TextParts {
            bytes: bytes.into(),
            ends: ends.into(),
            idf: idf.into(),
            ..TextParts::default()
        };
        text::TextEncoder::from_parts(spec, parts).map(Self::new).map_err(refused)
    }

    /// Names of the features, in the order of the columns.
    fn names(&self) -> Vec<String> {
        let name = |j: usize| self.encoder.feature_name(j).into_owned();
        match &self.columns {
            Some(_) => by_name(&self.encoder).into_iter().map(name).collect(),
            None => (0..self.encoder.n_features()).map(name).collect(),
        }
    }
}

/// Texts that are taken in between two looks for signals.
const PART: usize = 1024;

/// An encoder, and the rows that it was learnt from if they are asked for.
type Fitted = (text::TextEncoder, Option<Csr>);

/// As [`text::TextEncoder::fit`]; nothing if it was stopped.
fn fit_parts(
    spec: TextSpec,
    texts: &[PyBackedStr],
    rows: bool,
    stop: &Stop,
) -> Result<Option<Fitted>, String> {
    let said = |why: &dyn std::fmt::Display| why.to_string();
    let mut fit = text::TextFit::new(spec).map_err(|e| said(&e))?;
    for part in texts.chunks(PART) {
        if stop.is_set() {
            return Ok(None);
        }
        fit.push(part).map_err(|e| said(&e))?;
    }
    let fitted = match rows {
        true => fit.finish().map(|(encoder, rows)| (encoder, Some(rows))),
        false => fit.finish_without_rows().map(|encoder| (encoder, None)),
    };
    fitted.map(Some).map_err(|e| said(&e))
}

/// Trains a classifier of raw text as the program does. `spec` is a part of a `TrainSpec` in JSON, over what suits text.
#[pyfunction]
#[pyo3(signature = (texts, y, classes, spec, weights=None, n_threads=0, on_pass=None))]
pub(crate) fn fit_text(
    py: Python<'_>,
    texts: Vec<PyBackedStr>,
    y: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    spec: &str,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_threads: usize,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let suits = serde_json::to_value(TrainSpec::for_text(classes.len())).map_err(refused)?;
    let mut spec: serde_json::Value = serde_json::from_str(spec).map_err(refused)?;
    if let (Some(all), Some(own)) = (suits.as_object(), spec.as_object_mut()) {
        all.iter().for_each(|(key, value)| {
            own.entry(key.clone()).or_insert_with(|| value.clone());
        });
    }
    let spec: TrainSpec = serde_json::from_value(spec).map_err(refused)?;
    let y = y.as_slice().map_err(refused)?;
    let mut bytes = Vec::new();
    for (at, (text, &id)) in texts.iter().zip(y).enumerate() {
        if at % PART == 0 {
            py.check_signals()?;
        }
        let class = classes.get(id as usize).ok_or_else(|| refused("a class has no name"))?;
        let line = serde_json::json!({ "text": &**text, "label": class });
        serde_json::to_writer(&mut bytes, &line).map_err(refused)?;
        bytes.push(b'\n');
    }
    let options = ReadOptions {
        format: Some(Format::Jsonl),
        label: Some("label".into()),
        text: vec!["text".into()],
        ..ReadOptions::default()
    };
    let source = Source::Memory { name: "texts".into(), bytes };
    let weights = match &weights {
        Some(weights) => {
            Some(weights.as_slice().map_err(refused)?.iter().map(|&w| w as f32).collect())
        }
        None => None,
    };
    let (model, report) = long_owned(py, n_threads, move |stop| {
        let (mut data, features) = read_features(source, &options, &FeatureSpec::default())?;
        if let Some(weights) = weights {
            data = data.with_weights(weights)?;
        }
        let mut monitor = |point: &CurvePoint| stop.after_pass(on_pass.as_ref(), point);
        Training::new(&data, &spec).features(&features).monitor(&mut monitor).run()
    })?;
    Model::new(model, &report)
}
