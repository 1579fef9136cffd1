//! Models of structured outputs: from text in a format that the library reads, or from arrays for rankings, to labels, heads, phrases and orders.

use crate::arrays::Features;
use crate::errors::{exception, refused};
use crate::reasons;
use crate::run::{brief, long, long_owned};
use lineal::data::ErrorKind;
use lineal::declared::Ground;
use lineal::linalg::Matrix;
use lineal::{
    AnyModel, Ask, BracketReadOptions, CurvePoint, Dataset, DeclaredAnswer, DeclaredData,
    DeclaredModel, DeclaredOptions, Error, Format, RankedRows, Report, SceneOptions, Scenes,
    SequenceOptions, Sequences, Source, StructuredModel, Tagged, TrainSpec, Trainable, Training,
    TreebankOptions,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::PathBuf;

/// A trained model of any task with structured outputs: the same that the program reads and writes.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct Structured {
    pub(crate) model: AnyModel,
    report: String,
}

/// A kind, an attribute, labels, and their weight.
type TagWeight = (&'static str, String, Vec<String>, f32);

pub(crate) fn source(bytes: &[u8]) -> Source {
    Source::Memory { name: "examples".into(), bytes: bytes.to_vec() }
}

/// What was read; nothing of a text without tokens, such as a block of comments.
pub(crate) fn some<T>(read: Result<T, Error>) -> Result<Option<T>, Error> {
    match read {
        Err(Error::Data(why)) if why.kind == ErrorKind::Empty => Ok(None),
        read => read.map(Some),
    }
}

pub(crate) fn sequences(format: &str) -> PyResult<SequenceOptions> {
    let format = match format {
        "crfsuite" => Format::Crfsuite,
        "conll" => Format::Conll,
        "conllu" => Format::Conllu,
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

fn graphs() -> SceneOptions {
    SceneOptions { format: Some(Format::Jsonl), ..SceneOptions::default() }
}

/// Trains on examples of one kind, which are read first.
pub(crate) fn train<D: Trainable + Send + Sync + 'static>(
    py: Python<'_>,
    read: impl FnOnce() -> Result<D, Error> + Send + 'static,
    spec: &TrainSpec,
    n_threads: usize,
    on_pass: Option<&Py<PyAny>>,
) -> PyResult<(D::Model, Report)>
where
    D::Model: Send + 'static,
{
    let (spec, on_pass) = (spec.clone(), on_pass.map(|on_pass| on_pass.clone_ref(py)));
    // Some steps, such as reading and counting attributes, do not listen: they are left behind.
    long_owned(py, n_threads, move |stop| {
        let data = read()?;
        let mut monitor = |point: &CurvePoint| stop.after_pass(on_pass.as_ref(), point);
        Training::new(&data, &spec).monitor(&mut monitor).run()
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

/// Trains on text in a format: `conllu` for dependencies, `brackets` for constituents, `graphs` and `declared` (JSON lines both), `crfsuite`, `conll` or `jsonl` for tags. `spec` is a `TrainSpec` in JSON, with its task.
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
    let (on_pass, text) = (on_pass.as_ref(), source(text));
    let (model, report) = match format {
        "conllu" => {
            let read = move || lineal::read_treebank(text, &treebank());
            let (model, report) = train(py, read, &spec, n_threads, on_pass)?;
            (AnyModel::Dependency(Box::new(model)), report)
        }
        "brackets" => {
            let options = lineal::constituency_options();
            let options = BracketReadOptions { format: Some(Format::Brackets), ..options };
            let read = move || lineal::read_brackets(text, &options);
            let (model, report) = train(py, read, &spec, n_threads, on_pass)?;
            (AnyModel::Constituency(Box::new(model)), report)
        }
        "graphs" => {
            let read = move || Scenes::read(text, &graphs());
            let (model, report) = train(py, read, &spec, n_threads, on_pass)?;
            (AnyModel::Segment(Box::new(model)), report)
        }
        "declared" => {
            let declaration = spec.declared.declaration.clone();
            let read = move || DeclaredData::read(text, &lineal::declaration(&declaration)?);
            let (model, report) = train(py, read, &spec, n_threads, on_pass)?;
            (AnyModel::Declared(Box::new(model)), report)
        }
        _ => {
            let options = sequences(format)?;
            let read = move || lineal::read_sequences(text, &options);
            let (model, report) = train(py, read, &spec, n_threads, on_pass)?;
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
        // The rows are lent for this call, so it does not return before the thread that reads them has ended.
        let (model, report) = long(py, n_threads, |stop| {
            let mut monitor = |point: &CurvePoint| stop.after_pass(on_pass.as_ref(), point);
            Training::new(&data, &spec).monitor(&mut monitor).run()
        })?;
        Structured::new(AnyModel::Rank(Box::new(model)), &report)
    })
}

impl Structured {
    pub(crate) fn new(model: AnyModel, report: &Report) -> PyResult<Self> {
        Ok(Self { model, report: serde_json::to_string(report).map_err(refused)? })
    }

    fn alone(model: AnyModel) -> PyResult<Self> {
        let report = model.report().clone();
        Self::new(model, &report)
    }
}

/// The explanations of each example as dictionaries.
fn each<'py, E>(
    found: Vec<Vec<E>>,
    f: impl Fn(E) -> PyResult<Bound<'py, PyDict>>,
) -> PyResult<Vec<Vec<Bound<'py, PyDict>>>> {
    found.into_iter().map(|parts| parts.into_iter().map(&f).collect()).collect()
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

/// The labels of the variables of an example: for each kind its name, its list, the field of its label, whether it is of all pairs, its labels, and where the links of each lead.
fn declared<'py>(
    py: Python<'py>,
    model: &DeclaredModel,
    ground: &Ground,
    answer: &DeclaredAnswer,
) -> PyResult<Bound<'py, PyDict>> {
    let kinds = PyList::empty(py);
    for (k, kind) in model.declaration().variables().iter().enumerate() {
        let own = ground.starts[k]..ground.starts[k + 1];
        let labels: Vec<_> =
            own.clone().map(|v| model.label(ground, v, answer.labels[v]).to_owned()).collect();
        let ends = PyList::empty(py);
        for v in own.clone() {
            let to = PyDict::new(py);
            for (link, end) in kind.links.iter().zip(ground.links(v)) {
                to.set_item(&link.name, end.map(|end| end as usize - ground.starts[link.to]))?;
            }
            ends.append(to)?;
        }
        let entry = PyDict::new(py);
        entry.set_item("kind", &kind.name)?;
        entry.set_item("list", &kind.source)?;
        entry.set_item("field", &kind.label_field)?;
        entry.set_item("all_pairs", kind.all_pairs)?;
        entry.set_item("first", kind.labels.first())?;
        entry.set_item("labels", labels)?;
        entry.set_item("links", ends)?;
        entry.set_item("confidence", answer.confidence.as_ref().map(|sure| sure[own].to_vec()))?;
        kinds.append(entry)?;
    }
    let out = PyDict::new(py);
    out.set_item("kinds", kinds)?;
    out.set_item("score", answer.score)?;
    out.set_item("slack", answer.slack)?;
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
            AnyModel::Segment(model) => model.labels().to_vec(),
            AnyModel::Declared(model) => model.labels().to_vec(),
            _ => Vec::new(),
        }
    }

    /// The answer to each example of a text: a list of dictionaries.
    #[pyo3(signature = (text, format, proba=false, n_best=0, min_risk=false, n_threads=0, known=false, confidence=false))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        text: &[u8],
        format: &str,
        proba: bool,
        n_best: usize,
        min_risk: bool,
        n_threads: usize,
        known: bool,
        confidence: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let ask = Ask { proba, n_best, min_risk, known, confidence, ..Ask::default() };
        let out = PyList::empty(py);
        match &self.model {
            AnyModel::Tag(model) => {
                let options = sequences(format)?;
                let answers =
                    brief(py, n_threads, || match some(model.read(source(text), &options))? {
                        Some(data) => model.answer(&data, &ask),
                        None => Ok(Vec::new()),
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
            AnyModel::Segment(model) => {
                let answers = brief(py, n_threads, || {
                    model.answer(&model.read(source(text), &graphs())?, &ask)
                })?;
                for answer in answers {
                    let entry = PyDict::new(py);
                    let names = answer.labels.iter().map(|&id| &*model.labels()[usize::from(id)]);
                    entry.set_item("labels", names.collect::<Vec<_>>())?;
                    entry.set_item("score", answer.score)?;
                    entry.set_item("slack", answer.slack)?;
                    entry.set_item("confidence", answer.confidence)?;
                    out.append(entry)?;
                }
            }
            AnyModel::Declared(model) => {
                let (data, answers) = brief(py, n_threads, || {
                    let data = model.read(source(text), &DeclaredOptions::default())?;
                    let answers = model.answer(&data, &ask)?;
                    Ok((data, answers))
                })?;
                for (ground, answer) in data.iter().zip(&answers) {
                    out.append(declared(py, model, ground, answer)?)?;
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
            AnyModel::Segment(model) => json(serde_json::to_string(&brief(py, n_threads, || {
                model.evaluate(&model.read(source(text), &graphs())?)
            })?)),
            AnyModel::Declared(model) => {
                json(serde_json::to_string(&brief(py, n_threads, || {
                    model.evaluate(&model.read(source(text), &DeclaredOptions::default())?)
                })?))
            }
            _ => Err(refused(format!("models of the task {} are measured otherwise", self.task()))),
        }
    }

    /// Why the parts of each example of a text are what they are: lists of dictionaries.
    #[pyo3(signature = (text, format, top=None, n_threads=0))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        text: &[u8],
        format: &str,
        top: Option<usize>,
        n_threads: usize,
    ) -> PyResult<Vec<Vec<Bound<'py, PyDict>>>> {
        match &self.model {
            AnyModel::Tag(model) => {
                let options = sequences(format)?;
                let found = brief(py, n_threads, || {
                    let data = model.read(source(text), &options)?;
                    let one = |i| model.explain(data.get(i), None, None);
                    (0..data.len()).map(one).collect::<Result<Vec<_>, _>>()
                })?;
                each(found, |why| reasons::of_tag(py, why, top))
            }
            AnyModel::Dependency(model) => {
                let found = brief(py, n_threads, || {
                    let data = model.read(source(text), &treebank())?;
                    let one = |i| model.explain(&data, i, None);
                    (0..data.len()).map(one).collect::<Result<Vec<_>, _>>()
                })?;
                each(found, |why| reasons::of_arc(py, model, why, top))
            }
            AnyModel::Constituency(model) => {
                let options = brackets(format == "brackets");
                let found = brief(py, n_threads, || {
                    let data = model.read(source(text), &options)?;
                    let one = |i| model.explain(&data, i, None);
                    (0..data.len()).map(one).collect::<Result<Vec<_>, _>>()
                })?;
                each(found, |why| reasons::of_phrase(py, why, top))
            }
            AnyModel::Segment(model) => {
                let found = brief(py, n_threads, || {
                    let data = model.read(source(text), &graphs())?;
                    let one = |i| Ok(vec![model.explain(&data, i, None)?]);
                    (0..data.len()).map(one).collect::<Result<Vec<_>, lineal::Error>>()
                })?;
                each(found, |why| reasons::of_pixel(py, model, why, top))
            }
            AnyModel::Declared(model) => {
                let found = brief(py, n_threads, || {
                    let data = model.read(source(text), &DeclaredOptions::default())?;
                    let one = |i| model.explain(&data, i, None);
                    (0..data.len()).map(one).collect::<Result<Vec<_>, _>>()
                })?;
                each(found, |why| reasons::of_variable(py, model, why, top))
            }
            _ => Err(refused(format!("models of the task {} explain otherwise", self.task()))),
        }
    }

    /// Why each document of each query stands where it does: against the next one below.
    #[pyo3(signature = (x, sizes, top=None, n_threads=0))]
    fn explain_ranking<'py>(
        &self,
        py: Python<'py>,
        x: Features<'py>,
        sizes: Vec<usize>,
        top: Option<usize>,
        n_threads: usize,
    ) -> PyResult<Vec<Vec<Bound<'py, PyDict>>>> {
        let AnyModel::Rank(model) = &self.model else {
            return Err(refused("the model is not of rankings"));
        };
        x.with(|x| {
            let data = queries(x, None, &sizes)?;
            let found = brief(py, n_threads, || {
                let one = |q| model.explain(&data, q, None, None);
                (0..sizes.len()).map(one).collect::<Result<Vec<_>, _>>()
            })?;
            each(found, |why| reasons::of_document(py, why, top))
        })
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

    /// All weights of a tagger, as (kind, attribute, labels, weight). Attributes have the names that they have in this text; without it only those that weigh most
    /// have names, which the model keeps, and others the hashes that stand for them.
    #[pyo3(signature = (text=None, format="crfsuite"))]
    fn tag_weights(
        &self,
        py: Python<'_>,
        text: Option<&[u8]>,
        format: &str,
    ) -> PyResult<Vec<TagWeight>> {
        let AnyModel::Tag(model) = &self.model else {
            return Err(refused("the model is not a tagger"));
        };
        let options = sequences(format)?;
        let all = brief(py, 1, || {
            let named = match text {
                Some(text) => Some(model.read(source(text), &options)?),
                None if model.schema().has_attributes() => {
                    let kept = model.notable().iter().flat_map(|notable| &notable.attributes);
                    let token: Vec<_> = kept.map(|(name, _)| (name.as_str(), 1.0)).collect();
                    Some(Sequences::attributes_for(model.schema(), &[[token]])?)
                }
                None => None,
            };
            model.weights(named.as_ref())
        })?;
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
