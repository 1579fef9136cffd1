//! A model of rows.

use crate::arrays::Features;
use crate::errors::{exception, refused};
use crate::run::{brief, instant};
use lineal::data::ColumnKind;
use lineal::{Dataset, Error, ExplainSpec, Predicted, Report, Schema, Table, TrainSpec};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::PathBuf;

/// A trained model of rows: the same that the program reads and writes.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct Model {
    pub(crate) model: lineal::Model,
    /// In JSON, with its curve, which the file has not.
    report: String,
}

impl Model {
    pub(crate) fn new(model: lineal::Model, report: &Report) -> PyResult<Self> {
        let report = serde_json::to_string(report).map_err(refused)?;
        Ok(Self { model, report })
    }

    fn alone(model: lineal::Model) -> PyResult<Self> {
        let report = model.report().clone();
        Self::new(model, &report)
    }

    /// A feature by its name, where it has one, else by its number.
    fn name(&self, feature: usize) -> FeatureName {
        match self.model.schema().columns {
            Some(_) => FeatureName::Name(self.model.feature_name(feature)),
            None => FeatureName::Number(feature),
        }
    }

    pub(crate) fn explained<'py>(
        &self,
        py: Python<'py>,
        data: &Dataset,
        top: Option<usize>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let spec = ExplainSpec { top, ..ExplainSpec::default() };
        let found = brief(py, n_threads, || self.model.explain(data, &spec))?;
        let out = PyList::empty(py);
        for why in found {
            let entry = PyDict::new(py);
            entry.set_item("row", why.row)?;
            entry.set_item("winner", why.winner)?;
            entry.set_item("runner_up", why.runner_up)?;
            entry.set_item("lead", why.lead)?;
            entry.set_item("bias", why.bias)?;
            entry.set_item("threshold", why.threshold)?;
            entry.set_item("proba", why.proba.map(|[p, q]| (p, q)))?;
            let features: Vec<_> = why
                .contributions
                .iter()
                .map(|c| (self.name(c.feature), c.value, c.weight, c.amount()))
                .collect();
            entry.set_item("contributions", features)?;
            entry.set_item("n_rest", why.n_rest)?;
            entry.set_item("rest", why.rest)?;
            out.append(entry)?;
        }
        Ok(out)
    }

    /// Asks about rows: here if it is one, else in a pool.
    fn ask<R: Send>(
        &self,
        py: Python<'_>,
        data: &Dataset,
        n_threads: usize,
        f: impl FnOnce() -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        if data.n_rows() == 1 && self.model.n_outputs() <= FEW_OUTPUTS {
            return instant(f);
        }
        brief(py, n_threads, f)
    }

    /// Calls `f` with rows.
    fn rows<R>(&self, x: &Features<'_>, f: impl FnOnce(&Dataset) -> PyResult<R>) -> PyResult<R> {
        x.with(|x| f(&self.model.rows(x).map_err(exception)?))
    }
}

/// Rows of up to so many scores are scored where they are asked for.
const FEW_OUTPUTS: usize = 1000;

/// Where each row's labels begin, and the labels of one row after the other.
type Lists<'py> = (Bound<'py, PyArray1<usize>>, Bound<'py, PyArray1<u32>>);

/// What a feature is called in an explanation.
#[derive(IntoPyObject)]
enum FeatureName {
    Name(String),
    Number(usize),
}

/// A table as an array of two dimensions.
pub(crate) fn array<'py>(py: Python<'py>, table: Table) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (n_rows, n_cols) = (table.n_rows, table.n_cols);
    table.values.into_pyarray(py).reshape([n_rows, n_cols])
}

/// `n_columns` rows of weights, each as long as there are features.
fn weights(model: &lineal::Model) -> (usize, Vec<f64>) {
    let n_columns = model.n_outputs();
    let n_features = model.n_features();
    let mut all = vec![0.0; n_columns * n_features];
    for j in 0..n_features {
        for c in 0..n_columns {
            all[c * n_features + j] = model.weight(j, c);
        }
    }
    (n_columns, all)
}

#[pymethods]
impl Model {
    /// The number of each row's class.
    #[pyo3(signature = (x, n_threads=0))]
    fn classes_of<'py>(
        &self,
        py: Python<'py>,
        x: Features<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        self.rows(&x, |data| match self.ask(py, data, n_threads, || self.model.predict(data))? {
            Predicted::Classes(ids) => Ok(ids.into_pyarray(py)),
            _ => Err(refused("the model predicts no classes")),
        })
    }

    /// Row pointers and labels, one row after the other.
    #[pyo3(signature = (x, n_threads=0))]
    fn labels_of<'py>(
        &self,
        py: Python<'py>,
        x: Features<'py>,
        n_threads: usize,
    ) -> PyResult<Lists<'py>> {
        self.rows(&x, |data| {
            let labels = match self.ask(py, data, n_threads, || self.model.predict(data))? {
                Predicted::Labels(labels) => labels,
                _ => return Err(refused("the model predicts no labels")),
            };
            let mut start = vec![0];
            for i in 0..data.n_rows() {
                start.push(start[i] + labels.row(i).len());
            }
            Ok((start.into_pyarray(py), labels.ids().to_vec().into_pyarray(py)))
        })
    }

    /// The score of each class: two columns, −f and f, for two classes; one for numbers.
    #[pyo3(signature = (x, n_threads=0))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: Features<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(&x, |data| array(py, self.ask(py, data, n_threads, || self.model.scores(data))?))
    }

    /// The probability of each class, or of each label.
    #[pyo3(signature = (x, n_threads=0))]
    fn proba<'py>(
        &self,
        py: Python<'py>,
        x: Features<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(&x, |data| array(py, self.ask(py, data, n_threads, || self.model.proba(data))?))
    }

    /// What is predicted.
    #[getter]
    fn task(&self) -> &'static str {
        self.model.task().as_str()
    }

    /// What rows are made of: `rows` of numbers, `text` alone, or a `table` with columns of several kinds.
    #[getter]
    fn input(&self) -> &'static str {
        let columns = self.model.schema().columns.as_deref().unwrap_or_default();
        let count = |f: fn(&ColumnKind) -> bool| columns.iter().filter(|c| f(&c.kind)).count();
        let is_said = |kind: &ColumnKind| {
            use ColumnKind::{Ignored, Label, Query, Weight};
            !matches!(kind, Label | Weight | Query | Ignored { .. })
        };
        let n_inputs = count(is_said);
        let n_numbers = count(|kind| matches!(kind, ColumnKind::Numeric { .. }));
        let n_texts = count(|kind| matches!(kind, ColumnKind::Text { .. }));
        let has_maps = self.model.features().map().is_some();
        let has_templates = self.model.features().templates().is_some();
        match (n_inputs == n_numbers, (n_inputs, n_texts) == (1, 1)) {
            _ if has_maps || has_templates => "table",
            (true, _) => "rows",
            (_, true) => "text",
            _ => "table",
        }
    }

    /// Whether it has probabilities.
    #[getter]
    fn has_proba(&self) -> bool {
        self.model.has_proba()
    }

    /// The weights: one row for each column of the model.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (n_columns, all) = py.detach(|| weights(&self.model));
        all.into_pyarray(py).reshape([n_columns, self.model.n_features()])
    }

    /// What is added to the score of each column; empty if nothing is.
    #[getter]
    fn bias<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.model.bias().into_pyarray(py)
    }

    /// Names of the classes, in their order.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes().to_vec()
    }

    /// Of which sign each class is in each column of one-vs-one and output codes.
    #[getter]
    fn class_signs(&self) -> Option<Vec<Vec<i8>>> {
        self.model.class_signs()
    }

    /// How wide rows are.
    #[getter]
    fn n_features(&self) -> usize {
        self.model.n_features()
    }

    /// The names of the features, where they have any.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.model.schema().columns.as_ref()?;
        Some((0..self.model.n_features()).map(|j| self.model.feature_name(j)).collect())
    }

    /// What was asked for, in JSON.
    #[getter]
    fn spec(&self) -> PyResult<String> {
        serde_json::to_string(self.model.spec()).map_err(refused)
    }

    /// How training went, in JSON.
    #[getter]
    fn report(&self) -> &str {
        &self.report
    }

    /// The certificate in words.
    #[getter]
    fn certificate(&self) -> String {
        self.model.report().certificate()
    }

    /// Why rows got their answers: a list of dictionaries.
    #[pyo3(signature = (x, top=None, n_threads=0))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        x: Features<'py>,
        top: Option<usize>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        self.rows(&x, |data| self.explained(py, data, top, n_threads))
    }

    /// The number of each text's class.
    #[pyo3(signature = (texts, n_threads=0))]
    fn classes_of_texts<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        match brief(py, n_threads, || self.model.predict(&self.model.texts(&texts)?))? {
            Predicted::Classes(ids) => Ok(ids.into_pyarray(py)),
            _ => Err(refused("the model predicts no classes")),
        }
    }

    /// The probability of each class of texts.
    #[pyo3(signature = (texts, n_threads=0))]
    fn proba_of_texts<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, brief(py, n_threads, || self.model.proba(&self.model.texts(&texts)?))?)
    }

    /// The score of each class of texts.
    #[pyo3(signature = (texts, n_threads=0))]
    fn scores_of_texts<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, brief(py, n_threads, || self.model.scores(&self.model.texts(&texts)?))?)
    }

    /// Why texts got their answers; contributions are of words.
    #[pyo3(signature = (texts, top=None, n_threads=0))]
    fn explain_texts<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        top: Option<usize>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let data = brief(py, n_threads, || self.model.texts(&texts))?;
        self.explained(py, &data, top, n_threads)
    }

    /// Writes the model file and returns its size.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        brief(py, 1, || self.model.save(&path))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::alone(brief(py, 1, || lineal::Model::load(&path))?)
    }

    /// The bytes of the model file, and the report.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, &str)> {
        let bytes = brief(py, 1, || self.model.to_bytes())?;
        Ok((PyBytes::new(py, &bytes), &self.report))
    }

    /// A model of weights that were found elsewhere: feature by feature those of all outputs, and the biases at the end.
    #[staticmethod]
    #[pyo3(signature = (w, n_features, classes, spec, names=None))]
    fn from_weights(
        w: Vec<f64>,
        n_features: usize,
        classes: Vec<String>,
        spec: &str,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
        let mut schema = Schema::of_arrays(n_features, spec.task.target(), classes);
        if let Some(names) = names {
            schema = schema.with_names(names).map_err(refused)?;
        }
        Self::alone(lineal::Model::from_weights(schema, spec, w).map_err(exception)?)
    }

    /// A model of these bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], report: Option<String>) -> PyResult<Self> {
        let model = Self::alone(brief(py, 1, || lineal::Model::from_bytes(bytes))?)?;
        Ok(Self { report: report.unwrap_or(model.report), ..model })
    }
}
