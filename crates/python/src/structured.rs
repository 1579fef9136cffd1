//! Models of structured outputs: from text in a format that the library reads, or from arrays for rankings, to labels, heads, phrases and orders.

use crate::arrays::Features;
use crate::errors::{exception, refused};
use crate::run::{brief, long};
use lineal::linalg::Matrix;
use lineal::{
    AnyModel, Ask, BracketReadOptions, CurvePoint, Dataset, Format, RankedRows, Report,
    SequenceOptions, Source, StructuredModel, Tagged, TrainSpec, Trainable, Training,
    TreebankOptions,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// A trained model of any task with structured outputs: the same that the program reads and writes.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct Structured {
    model: AnyModel,
    report: String,
}

/// A kind, an attribute, labels, and their weight.
type TagWeight = (&'static str, String, Vec<String>, f32);

fn source(bytes: &[u8]) -> Source {
    Source::Memory { name: "examples".into(), bytes: bytes.to_vec() }
}

fn sequences(format: &str) -> PyResult<SequenceOptions> {
    let format = match format {
        "crfsuite" => Format::Crfsuite,
        "conll" => Format::Conll,
        "jsonl" => Format::Jsonl,
        other => return Err(refused(format!("{other} is not a format of sequences"))),
    };
    Ok(SequenceOptions { format: Some(format), ..SequenceOptions::default() })
}

fn treebank() -> TreebankOptions {
    TreebankOptions { format: Some(Format::Conllu), ..TreebankOptions::default() }
}

fn brackets(trees: bool) -> BracketReadOptions {
    let format = if trees { Format::Brackets } else { Format::Sentences };
    BracketReadOptions { format: Some(format), ..BracketReadOptions::default() }
}

/// Trains on examples of one kind.
fn train<D: Trainable + Sync>(
    py: Python<'_>,
    data: &D,
    spec: &TrainSpec,
    n_threads: usize,
    on_pass: Option<&Py<PyAny>>,
) -> PyResult<(D::Model, Report)>
where
    D::Model: Send,
{
    long(py, n_threads, |stop| {
        let mut monitor = |point: &CurvePoint| {
            if let Some(on_pass) = on_pass {
                let seen = (point.pass, point.objective, point.gap.or(point.gap_estimate));
                if Python::attach(|py| on_pass.call1(py, seen).is_err()) {
                    stop.set();
                }
            }
            if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        Training::new(data, spec).monitor(&mut monitor).run()
    })
}

/// Documents of queries.
fn queries(
    x: Matrix,
    grades: Option<&PyReadonlyArray1<'_, f64>>,
    sizes: &[usize],
) -> PyResult<RankedRows> {
    let grades = match grades {
        Some(grades) => grades.as_slice().map_err(refused)?.to_vec(),
        None => vec![0.0; x.n_rows()],
    };
    let data = Dataset::of_grades(x, grades, sizes).map_err(|why| exception(why.into()))?;
    Ok(RankedRows { data, features: lineal::Features::default() })
}

/// Trains on text in a format: `conllu` for dependencies, `brackets` for constituents, `crfsuite`, `conll` or `jsonl` for tags. `spec` is a `TrainSpec` in JSON, with its task.
#[pyfunction]
#[pyo3(signature = (text, format, spec, n_threads=0, on_pass=None))]
pub(crate) fn fit_structured(
    py: Python<'_>,
    text: &[u8],
    format: &str,
    spec: &str,
    n_threads: usize,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<Structured> {
    let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
    let on_pass = on_pass.as_ref();
    let (model, report) = match format {
        "conllu" => {
            let data = brief(py, n_threads, || lineal::read_treebank(source(text), &treebank()))?;
            let (model, report) = train(py, &data, &spec, n_threads, on_pass)?;
            (AnyModel::Dependency(Box::new(model)), report)
        }
        "brackets" => {
            let options = lineal::constituency_options();
            let options = BracketReadOptions { format: Some(Format::Brackets), ..options };
            let data = brief(py, n_threads, || lineal::read_brackets(source(text), &options))?;
            let (model, report) = train(py, &data, &spec, n_threads, on_pass)?;
            (AnyModel::Constituency(Box::new(model)), report)
        }
        _ => {
            let options = sequences(format)?;
            let data = brief(py, n_threads, || lineal::read_sequences(source(text), &options))?;
            let (model, report) = train(py, &data, &spec, n_threads, on_pass)?;
            (AnyModel::Tag(Box::new(model)), report)
        }
    };
    Structured::new(model, &report)
}

/// Trains on documents with grades, in queries of so many documents.
#[pyfunction]
#[pyo3(signature = (x, grades, sizes, spec, n_threads=0, on_pass=None))]
pub(crate) fn fit_ranking(
    py: Python<'_>,
    x: Features<'_>,
    grades: PyReadonlyArray1<'_, f64>,
    sizes: Vec<usize>,
    spec: &str,
    n_threads: usize,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<Structured> {
    let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
    x.with(|x| {
        let data = queries(x, Some(&grades), &sizes)?;
        let (model, report) = train(py, &data, &spec, n_threads, on_pass.as_ref())?;
        Structured::new(AnyModel::Rank(Box::new(model)), &report)
    })
}

impl Structured {
    fn new(model: AnyModel, report: &Report) -> PyResult<Self> {
        Ok(Self { model, report: serde_json::to_string(report).map_err(refused)? })
    }

    fn alone(model: AnyModel) -> PyResult<Self> {
        let report = model.report().clone();
        Self::new(model, &report)
    }
}

/// The labels of a sequence and what else was asked for.
fn tagged<'py>(
    py: Python<'py>,
    model: &lineal::TagModel,
    answer: &Tagged,
) -> PyResult<Bound<'py, PyDict>> {
    let names = |ids: &[u32]| ids.iter().map(|&id| model.label(id).to_owned()).collect::<Vec<_>>();
    let out = PyDict::new(py);
    out.set_item("labels", names(&answer.labels))?;
    out.set_item("score", answer.score)?;
    out.set_item("probability", answer.probability)?;
    if let Some(marginals) = &answer.marginals {
        out.set_item("marginals", marginals.clone())?;
    }
    let best: Vec<_> =
        answer.n_best.iter().map(|one| (names(&one.labels), one.score, one.probability)).collect();
    out.set_item("n_best", best)?;
    Ok(out)
}

#[pymethods]
impl Structured {
    /// What is predicted.
    #[getter]
    fn task(&self) -> String {
        self.model.spec().task.to_string()
    }

    /// Labels, or relations, by number.
    #[getter]
    fn labels(&self) -> Vec<String> {
        match &self.model {
            AnyModel::Tag(model) => model.labels().to_vec(),
            AnyModel::Dependency(model) => model.relations().to_vec(),
            AnyModel::Constituency(model) => model.labels().to_vec(),
            _ => Vec::new(),
        }
    }

    /// The answer to each example of a text: a list of dictionaries.
    #[pyo3(signature = (text, format, proba=false, n_best=0, min_risk=false, n_threads=0))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        text: &[u8],
        format: &str,
        proba: bool,
        n_best: usize,
        min_risk: bool,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let ask = Ask { proba, n_best, min_risk, ..Ask::default() };
        let out = PyList::empty(py);
        match &self.model {
            AnyModel::Tag(model) => {
                let options = sequences(format)?;
                let answers = brief(py, n_threads, || {
                    model.answer(&model.read(source(text), &options)?, &ask)
                })?;
                for answer in &answers {
                    out.append(tagged(py, model, answer)?)?;
                }
            }
            AnyModel::Dependency(model) => {
                let answers = brief(py, n_threads, || {
                    model.answer(&model.read(source(text), &treebank())?, &ask)
                })?;
                for answer in &answers {
                    let entry = PyDict::new(py);
                    let names = |ids: &[u32]| {
                        ids.iter().map(|&id| model.relation(id).to_owned()).collect::<Vec<_>>()
                    };
                    entry.set_item("heads", answer.heads.clone())?;
                    entry.set_item("relations", names(&answer.relations))?;
                    entry.set_item("score", answer.score)?;
                    entry.set_item("probability", answer.probability)?;
                    entry.set_item("arcs", answer.arcs.clone())?;
                    entry.set_item("tags", answer.tags.clone())?;
                    let best: Vec<_> = answer
                        .n_best
                        .iter()
                        .map(|one| (one.heads.clone(), names(&one.relations), one.score))
                        .collect();
                    entry.set_item("n_best", best)?;
                    out.append(entry)?;
                }
            }
            AnyModel::Constituency(model) => {
                let options = brackets(format == "brackets");
                let answers = brief(py, n_threads, || {
                    model.answer(&model.read(source(text), &options)?, &ask)
                })?;
                for answer in &answers {
                    let entry = PyDict::new(py);
                    let phrases: Vec<_> =
                        answer.phrases.iter().map(|p| (p.label.clone(), p.start, p.end)).collect();
                    entry.set_item("phrases", phrases)?;
                    entry.set_item("tags", answer.tags.clone())?;
                    entry.set_item("score", answer.score)?;
                    entry.set_item("probability", answer.probability)?;
                    out.append(entry)?;
                }
            }
            _ => {
                return Err(refused(format!(
                    "models of the task {} answer otherwise",
                    self.task()
                )));
            }
        }
        Ok(out)
    }

    /// What is measured on examples of a text with their outputs, in JSON.
    #[pyo3(signature = (text, format, n_threads=0))]
    fn evaluate(
        &self,
        py: Python<'_>,
        text: &[u8],
        format: &str,
        n_threads: usize,
    ) -> PyResult<String> {
        let json = |value: Result<String, serde_json::Error>| value.map_err(refused);
        match &self.model {
            AnyModel::Tag(model) => {
                let options = sequences(format)?;
                json(serde_json::to_string(&brief(py, n_threads, || {
                    model.evaluate(&model.read(source(text), &options)?)
                })?))
            }
            AnyModel::Dependency(model) => {
                json(serde_json::to_string(&brief(py, n_threads, || {
                    model.evaluate(&model.read(source(text), &treebank())?)
                })?))
            }
            AnyModel::Constituency(model) => {
                json(serde_json::to_string(&brief(py, n_threads, || {
                    model.evaluate(&model.read(source(text), &brackets(true))?)
                })?))
            }
            _ => Err(refused(format!("models of the task {} are measured otherwise", self.task()))),
        }
    }

    /// The score of each document.
    #[pyo3(signature = (x, sizes, n_threads=0))]
    fn rank(
        &self,
        py: Python<'_>,
        x: Features<'_>,
        sizes: Vec<usize>,
        n_threads: usize,
    ) -> PyResult<Vec<f64>> {
        let AnyModel::Rank(model) = &self.model else {
            return Err(refused("the model is not of rankings"));
        };
        x.with(|x| {
            if x.n_cols() != model.rows().n_features() {
                let (found, expected) = (x.n_cols(), model.rows().n_features());
                return Err(refused(format!(
                    "X has {found} features, but the ranker is expecting {expected} features as input"
                )));
            }
            let data = queries(x, None, &sizes)?;
            let found = brief(py, n_threads, || model.rank(&data))?;
            Ok(found.into_iter().flat_map(|query| query.scores).collect())
        })
    }

    /// The weights of a ranker, one for each feature.
    #[getter]
    fn rank_weights(&self) -> PyResult<Vec<f64>> {
        match &self.model {
            AnyModel::Rank(model) => {
                let rows = model.rows();
                Ok((0..rows.n_features()).map(|j| rows.weight(j, 0)).collect())
            }
            _ => Err(refused("the model is not of rankings")),
        }
    }

    /// All weights of a tagger, as (kind, attribute, labels, weight). Attributes have the names that they have in this text.
    fn tag_weights(&self, py: Python<'_>, text: &[u8], format: &str) -> PyResult<Vec<TagWeight>> {
        let AnyModel::Tag(model) = &self.model else {
            return Err(refused("the model is not a tagger"));
        };
        let options = sequences(format)?;
        let all = brief(py, 1, || model.weights(Some(&model.read(source(text), &options)?)))?;
        Ok(all.into_iter().map(|w| (w.kind, w.name, w.labels, w.weight)).collect())
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

    /// The bytes of the model file, and the report.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, &str)> {
        let bytes = brief(py, 1, || match &self.model {
            AnyModel::Rows(model) => model.to_bytes(),
            AnyModel::Tag(model) => model.to_bytes(),
            AnyModel::Dependency(model) => model.to_bytes(),
            AnyModel::Constituency(model) => model.to_bytes(),
            AnyModel::Rank(model) => model.to_bytes(),
            AnyModel::Segment(model) => model.to_bytes(),
            AnyModel::Declared(model) => model.to_bytes(),
        })?;
        Ok((PyBytes::new(py, &bytes), &self.report))
    }

    /// A model of these bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], report: Option<String>) -> PyResult<Self> {
        let model = Self::alone(brief(py, 1, || AnyModel::from_bytes(bytes))?)?;
        Ok(Self { report: report.unwrap_or(model.report), ..model })
    }

    /// Writes the model file and returns its size.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        brief(py, 1, || match &self.model {
            AnyModel::Rows(model) => model.save(&path),
            AnyModel::Tag(model) => model.save(&path),
            AnyModel::Dependency(model) => model.save(&path),
            AnyModel::Constituency(model) => model.save(&path),
            AnyModel::Rank(model) => model.save(&path),
            AnyModel::Segment(model) => model.save(&path),
            AnyModel::Declared(model) => model.save(&path),
        })
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::alone(brief(py, 1, || AnyModel::open(&path))?)
    }
}
