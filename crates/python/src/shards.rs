//! Rows that several processes hold: what a shard answers, the driver that asks, and vocabularies in parts.

use crate::arrays::Features;
use crate::errors::{exception, refused};
use crate::fit::{Outputs, dataset};
use crate::model::Model;
use crate::run::{brief, instant};
use lineal::data::{Column, ColumnKind};
use lineal::erm::partial::{Question, Round, Whole};
use lineal::text::{TextEncoder, TextParts, TextSpec};
use lineal::{
    CurvePoint, DistributedTraining, Error, FeatureSpec, Format, ReadOptions, RowFacts, Schema,
    Source, TargetKind, TrainSpec, partial, read_features,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// A value and a vector.
pub(crate) type Sum<'py> = (f64, Bound<'py, PyArray1<f64>>);

/// A question by its name: `gradient`, `product` (with `v`), `diagonal`, or `steps` (with l2, the curvature of the loss and the number of the round as `v`).
pub(crate) fn question<'w>(
    name: &str,
    w: &'w [f64],
    v: Option<&'w [f64]>,
) -> PyResult<Question<'w>> {
    Ok(match (name, v) {
        ("gradient", None) => Question::Gradient { w },
        ("product", Some(v)) => Question::Product { w, v },
        ("diagonal", None) => Question::Diagonal { w },
        ("steps", Some(&[l2, curvature, round])) => {
            Question::Steps { w, how: Round { l2, curvature, round: round as usize } }
        }
        _ => return Err(refused(format!("{name} is not a question"))),
    })
}

/// What the rows of a shard add to the mean loss over rows that weigh `total_weight` in all; for what may be asked see [`question`]. The sum is a tree over `n_leaves` parts.
#[pyfunction]
#[pyo3(signature = (x, y, n_classes, spec, weights, total_weight, n_leaves, question, w, v=None, n_threads=1))]
pub(crate) fn shard_answer<'py>(
    py: Python<'py>,
    x: Features<'py>,
    y: Outputs<'py>,
    n_classes: usize,
    spec: &str,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    total_weight: f64,
    n_leaves: usize,
    question: &str,
    w: PyReadonlyArray1<'py, f64>,
    v: Option<PyReadonlyArray1<'py, f64>>,
    n_threads: usize,
) -> PyResult<Sum<'py>> {
    let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
    let w = w.as_slice().map_err(refused)?;
    let v = v.as_ref().map(|v| v.as_slice().map_err(refused)).transpose()?;
    let question = self::question(question, w, v)?;
    x.with(|x| {
        let classes = (0..n_classes).map(|c| c.to_string()).collect();
        let data = dataset(x, &y, classes, weights, None)?;
        let n_rows = data.n_rows();
        let rows_per_shard = n_rows.div_ceil(n_leaves.max(1)).max(1);
        let whole = Whole { n_rows, rows_per_shard, total_weight };
        let answer = brief(py, n_threads, || {
            let part = partial(&data, &spec, whole, 0)?;
            let mut out = vec![0.0; part.dim()];
            let value = part.answer(part.shards(), question, &mut out).map_err(Error::Request)?;
            Ok((value, out))
        });
        let (value, out) = answer?;
        Ok((value, out.into_pyarray(py)))
    })
}

/// The schema of what a model reads: features by number or name, or one column of text.
fn schema(
    n_features: usize,
    target: &str,
    classes: Vec<String>,
    names: Option<Vec<String>>,
    text: Option<TextEncoder>,
) -> Result<(Schema, lineal::Features), Error> {
    let Some(encoder) = text else {
        let kind = match target {
            "classes" => TargetKind::Classes,
            "labels" => TargetKind::Labels,
            _ => TargetKind::Real,
        };
        let mut schema = Schema::of_arrays(n_features, kind, classes);
        let column = |(at, name)| Column { name, kind: ColumnKind::Numeric { at, mean: 0.0 } };
        schema.columns = names.map(|names| names.into_iter().enumerate().map(column).collect());
        return Ok((schema, lineal::Features::default()));
    };
    // Two texts are read as the texts of training would have been, so that the model knows its columns.
    let bytes =
        b"{\"text\": \"a\", \"label\": \"a\"}\n{\"text\": \"b\", \"label\": \"b\"}\n".to_vec();
    let options = ReadOptions {
        format: Some(Format::Jsonl),
        label: Some("label".into()),
        text: vec!["text".into()],
        ..ReadOptions::default()
    };
    let source = Source::Memory { name: "texts".into(), bytes };
    let (data, _) = read_features(source, &options, &FeatureSpec::default())?;
    let mut schema = data.schema;
    schema.classes = classes;
    schema.n_features -= schema.n_computed;
    schema.n_computed = 0;
    let features = lineal::Features::of_text(encoder, &mut schema);
    Ok((schema, features))
}

/// What the driver knows of all rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Rows {
    n_rows: usize,
    total_weight: f64,
    n_features: usize,
    /// `classes`, `labels` or `numbers`.
    target: String,
    classes: Vec<String>,
    names: Option<Vec<String>>,
    /// The longest row and the least share of a class.
    facts: Option<(f64, f64)>,
    /// A `TextSpec` in JSON, names, where each ends, idf.
    text: Option<TextFound>,
    /// Rounds of stochastic steps before L-BFGS.
    rounds: usize,
}

type TextFound = (String, Vec<u8>, Vec<u32>, Vec<f32>);

/// Trains on rows that are somewhere else. `ask(question, w, v)` returns the sum of what all shards answer.
#[pyfunction]
#[pyo3(signature = (rows, spec, ask, on_pass=None))]
pub(crate) fn train_distributed(
    py: Python<'_>,
    rows: Rows,
    spec: &str,
    ask: Py<PyAny>,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
    let text = match rows.text {
        Some((spec, bytes, ends, idf)) => {
            let spec: TextSpec = serde_json::from_str(&spec).map_err(refused)?;
            let parts = TextParts {
                bytes: bytes.into(),
                ends: ends.into(),
                idf: idf.into(),
                ..TextParts::default()
            };
            Some(TextEncoder::from_parts(spec, parts).map_err(refused)?)
        }
        None => None,
    };
    let (schema, features) =
        schema(rows.n_features, &rows.target, rows.classes, rows.names, text).map_err(exception)?;
    let (n_rows, total_weight) = (rows.n_rows, rows.total_weight);
    let whole = Whole { n_rows, rows_per_shard: n_rows.max(1), total_weight };
    let raised = Raised::default();
    let done = py.detach(|| {
        instant(|| {
            let mut asked = |question: Question<'_>, out: &mut [f64]| {
                raised.unless(|py| answered(py, &ask, question, out))
            };
            let mut see = |point: &CurvePoint| raised.after_pass(on_pass.as_ref(), point);
            let mut run = DistributedTraining::new(&schema, &spec, whole)
                .features(&features)
                .rounds(rows.rounds)
                .monitor(&mut see);
            if let Some((longest_row, least_share)) = rows.facts {
                run = run.facts(RowFacts { longest_row, least_share });
            }
            run.run(&mut asked)
        })
    });
    raised.first()?;
    let (model, report) = done?;
    Model::new(model, &report)
}

/// The first exception of what a driver calls: it ends the run.
#[derive(Default)]
pub(crate) struct Raised(Mutex<Option<PyErr>>);

impl Raised {
    fn put(&self, why: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    fn is_any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The value of a call, or an error that ends the run; once something was raised, nothing is called any more.
    pub(crate) fn unless<T>(
        &self,
        call: impl for<'py> FnOnce(Python<'py>) -> PyResult<T>,
    ) -> Result<T, Error> {
        if self.is_any() {
            return Err(Error::Interrupted);
        }
        Python::attach(call).map_err(|why| {
            self.put(why);
            Error::Interrupted
        })
    }

    /// Calls `on_pass(pass, objective, gap, loss)`. In rounds of stochastic steps the objective is not known.
    pub(crate) fn after_pass(
        &self,
        on_pass: Option<&Py<PyAny>>,
        point: &CurvePoint,
    ) -> ControlFlow<()> {
        let Some(on_pass) = on_pass else { return ControlFlow::Continue(()) };
        let seen = (point.pass, point.objective, point.gap, point.train_loss);
        match self.unless(|py| on_pass.call1(py, seen)) {
            Ok(_) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Raises it, if there is one.
    pub(crate) fn first(self) -> PyResult<()> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Asks Python.
pub(crate) fn answered(
    py: Python<'_>,
    ask: &Py<PyAny>,
    question: Question<'_>,
    out: &mut [f64],
) -> PyResult<f64> {
    let numbers;
    let (kind, w, v) = match question {
        Question::Gradient { w } => ("gradient", w, None),
        Question::Product { w, v } => ("product", w, Some(v)),
        Question::Diagonal { w } => ("diagonal", w, None),
        Question::Steps { w, how: Round { l2, curvature, round } } => {
            numbers = [l2, curvature, round as f64];
            ("steps", w, Some(&numbers[..]))
        }
    };
    let v = v.map(|v| PyArray1::from_slice(py, v));
    let answer = ask.call1(py, (kind, PyArray1::from_slice(py, w), v))?;
    let (value, vector): (f64, PyReadonlyArray1<'_, f64>) = answer.extract(py)?;
    let vector = vector.as_slice().map_err(refused)?;
    if vector.len() != out.len() {
        return Err(refused(format!("{} weights, and a sum of {}", out.len(), vector.len())));
    }
    out.copy_from_slice(vector);
    Ok(value)
}

/// What some texts say about the vocabulary of all.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct TextCounts(lineal::text::TextCounts);

/// Names, where each ends, idf.
type Vocabulary<'py> = (Bound<'py, PyBytes>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>);

/// Documents, names, where each ends, documents with each and occurrences of each.
type CountParts<'py> = (
    u64,
    Bound<'py, PyBytes>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
);

#[pymethods]
impl TextCounts {
    /// Counts the features of texts. `spec` is a `TextSpec` in JSON.
    #[new]
    #[pyo3(signature = (texts, spec, n_threads=1))]
    fn new(
        py: Python<'_>,
        texts: Vec<PyBackedStr>,
        spec: &str,
        n_threads: usize,
    ) -> PyResult<Self> {
        let spec: TextSpec = serde_json::from_str(spec).map_err(refused)?;
        let counts = brief(py, n_threads, || Ok(lineal::text::TextCounts::new(&spec, &texts[..])))?;
        counts.map(Self).map_err(refused)
    }

    /// The counts of both.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let merged = brief(py, 1, || Ok(self.0.clone().merge(other.0.clone())))?;
        merged.map(Self).map_err(refused)
    }

    /// The vocabulary: names, where each ends, idf.
    fn finish<'py>(&self, py: Python<'py>, spec: &str) -> PyResult<Vocabulary<'py>> {
        let spec: TextSpec = serde_json::from_str(spec).map_err(refused)?;
        let encoder = brief(py, 1, || Ok(self.0.clone().finish(spec)))?.map_err(refused)?;
        let parts = encoder.parts();
        let (ends, idf) = (parts.ends.into_owned(), parts.idf.into_owned());
        Ok((PyBytes::new(py, &parts.bytes), ends.into_pyarray(py), idf.into_pyarray(py)))
    }

    /// How many features were seen.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// What a pickle holds.
    fn to_parts<'py>(&self, py: Python<'py>) -> CountParts<'py> {
        let lineal::text::TextCounts { n_docs, bytes, ends, df, totals } = self.0.clone();
        let bytes = PyBytes::new(py, &bytes);
        (n_docs, bytes, ends.into_pyarray(py), df.into_pyarray(py), totals.into_pyarray(py))
    }

    /// From what `to_parts` gave.
    #[staticmethod]
    fn from_parts(
        n_docs: u64,
        bytes: &[u8],
        ends: PyReadonlyArray1<'_, u32>,
        df: PyReadonlyArray1<'_, u32>,
        totals: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        let (ends, df) = (ends.as_slice().map_err(refused)?, df.as_slice().map_err(refused)?);
        let totals = totals.as_slice().map_err(refused)?;
        let rises = ends.is_sorted() && ends.last().map_or(0, |&end| end as usize) == bytes.len();
        if !rises || df.len() != ends.len() || totals.len() != ends.len() {
            return Err(refused("these are not the parts of counts"));
        }
        let (ends, df, totals) = (ends.to_vec(), df.to_vec(), totals.to_vec());
        Ok(Self(lineal::text::TextCounts { n_docs, bytes: bytes.to_vec(), ends, df, totals }))
    }
}
