//! Sequences that several processes hold: what is found out about them, what a shard answers, and the driver that asks.

use crate::errors::refused;
use crate::run::{brief, instant};
use crate::shards::{Raised, Sum, answered, question};
use crate::structured::{Structured, sequences, some, source};
use lineal::erm::partial::Question;
use lineal::{
    AnyModel, AttributeCounts, CurvePoint, DistributedTagging, Error, SequenceOptions, Sequences,
    TagPlanParts, TagSurvey, TrainSpec,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

/// How text is to be read: its format, the column of the label, the key of the weight.
#[derive(FromPyObject)]
pub(crate) struct Reading(String, Option<String>, Option<String>);

impl Reading {
    fn options(self) -> PyResult<SequenceOptions> {
        let Self(format, label, weight) = self;
        Ok(SequenceOptions { label, weight, ..sequences(&format)? })
    }
}

/// What a part of the data says before its attributes are counted, in JSON; nothing of a part without tokens.
#[pyfunction]
pub(crate) fn tag_survey(
    py: Python<'_>,
    text: &[u8],
    reading: Reading,
) -> PyResult<Option<String>> {
    let options = reading.options()?;
    let survey = brief(py, 1, || some(TagSurvey::read(source(text), &options)))?;
    survey.map(|survey| serde_json::to_string(&survey).map_err(refused)).transpose()
}

/// Hashes and counts, twice.
type CountParts<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
);

/// How often attributes come in a part of the data.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct TagCounts(AttributeCounts);

#[pymethods]
impl TagCounts {
    /// With the counts of the part after this one.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        brief(py, 1, || Ok(Self(self.0.merge(&other.0))))
    }

    /// How many attributes were seen.
    fn __len__(&self) -> usize {
        self.0.unary.0.len() + self.0.pairs.0.len()
    }

    /// What a pickle holds.
    fn to_parts<'py>(&self, py: Python<'py>) -> CountParts<'py> {
        let AttributeCounts { unary, pairs } = self.0.clone();
        (
            unary.0.into_pyarray(py),
            unary.1.into_pyarray(py),
            pairs.0.into_pyarray(py),
            pairs.1.into_pyarray(py),
        )
    }

    /// From what `to_parts` gave.
    #[staticmethod]
    fn from_parts(
        hashes: PyReadonlyArray1<'_, u64>,
        counts: PyReadonlyArray1<'_, u32>,
        pair_hashes: PyReadonlyArray1<'_, u64>,
        pair_counts: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Self> {
        let unary = (vector(&hashes)?, vector(&counts)?);
        let pairs = (vector(&pair_hashes)?, vector(&pair_counts)?);
        if unary.0.len() != unary.1.len() || pairs.0.len() != pairs.1.len() {
            return Err(refused("these are not the parts of counts"));
        }
        Ok(Self(AttributeCounts { unary, pairs }))
    }
}

fn vector<T: numpy::Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> PyResult<Vec<T>> {
    Ok(array.as_slice().map_err(refused)?.to_vec())
}

/// JSON, the hashes of attributes of labels and of transitions, bits of what was seen.
type PlanParts<'py> = (
    String,
    Option<(Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>)>,
    Option<Bound<'py, PyArray1<u64>>>,
);

/// What every process knows of all sequences.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct TagPlan(Arc<lineal::TagPlan>);

impl TagPlan {
    fn of(plan: lineal::TagPlan) -> Self {
        Self(Arc::new(plan))
    }

    /// What is made of the sequences of a part; nothing of a part without tokens.
    fn of_part<T: Send>(
        &self,
        py: Python<'_>,
        text: &[u8],
        reading: Reading,
        make: impl FnOnce(&Sequences) -> Result<T, Error> + Send,
    ) -> PyResult<Option<T>> {
        let options = reading.options()?;
        brief(py, 1, || match some(self.0.read(source(text), &options))? {
            Some(data) => make(&data).map(Some),
            None => Ok(None),
        })
    }
}

#[pymethods]
impl TagPlan {
    /// For what the parts said, in their order. They must have the same columns.
    #[new]
    fn new(py: Python<'_>, surveys: Vec<String>, spec: &str) -> PyResult<Self> {
        let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
        let mut all: Option<TagSurvey> = None;
        for survey in &surveys {
            let one: TagSurvey = serde_json::from_str(survey).map_err(refused)?;
            all = Some(match all {
                None => one,
                Some(before) => brief(py, 1, || before.merge(one))?,
            });
        }
        let survey = all.ok_or_else(|| refused("there are no sequences"))?;
        Ok(Self::of(brief(py, 1, || lineal::TagPlan::new(survey, &spec))?))
    }

    /// What the parts said: sequences, tokens, those without a label, labels.
    #[getter]
    fn facts(&self) -> (usize, usize, usize, Vec<String>) {
        let survey = self.0.survey();
        let labels = survey.schema.labels.clone();
        (survey.n_sequences, survey.n_tokens, survey.n_unlabelled, labels)
    }

    /// Weights, once they are known.
    #[getter]
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        brief(py, 1, || self.0.dim())
    }

    /// Counts the attributes of a part.
    fn count(&self, py: Python<'_>, text: &[u8], reading: Reading) -> PyResult<Option<TagCounts>> {
        self.of_part(py, text, reading, |data| Ok(TagCounts(self.0.count(data)?)))
    }

    /// With the counts of all parts.
    fn with_attributes(&self, py: Python<'_>, counts: &TagCounts) -> PyResult<Self> {
        brief(py, 1, || Ok(Self::of((*self.0).clone().with_attributes(&counts.0))))
    }

    /// The bits of the labels that a part's attributes come with.
    fn observe<'py>(
        &self,
        py: Python<'py>,
        text: &[u8],
        reading: Reading,
    ) -> PyResult<Option<Bound<'py, PyArray1<u64>>>> {
        let words = self.of_part(py, text, reading, |data| self.0.observe(data))?;
        Ok(words.map(|words| words.into_pyarray(py)))
    }

    /// With the bits of all parts.
    fn with_observed(&self, py: Python<'_>, words: PyReadonlyArray1<'_, u64>) -> PyResult<Self> {
        let words = vector(&words)?;
        brief(py, 1, || Ok(Self::of((*self.0).clone().with_observed(words)?)))
    }

    /// The names of those attributes that a part has.
    fn names(
        &self,
        py: Python<'_>,
        text: &[u8],
        reading: Reading,
        hashes: Vec<u64>,
    ) -> PyResult<Vec<(u64, String)>> {
        let names = self.of_part(py, text, reading, |data| self.0.names(data, &hashes))?;
        Ok(names.unwrap_or_default())
    }

    /// The sequences of a part, as the learner takes them.
    fn shard(&self, py: Python<'_>, text: &[u8], reading: Reading) -> PyResult<Option<TagShard>> {
        self.of_part(py, text, reading, |data| Ok(TagShard(self.0.shard(data)?)))
    }

    /// What a pickle holds.
    fn to_parts<'py>(&self, py: Python<'py>) -> PyResult<PlanParts<'py>> {
        let TagPlanParts { json, attributes, observed } = brief(py, 1, || self.0.to_parts())?;
        let attributes = attributes.map(|(a, b)| (a.into_pyarray(py), b.into_pyarray(py)));
        Ok((json, attributes, observed.map(|words| words.into_pyarray(py))))
    }

    /// From what `to_parts` gave.
    #[staticmethod]
    fn from_parts(
        py: Python<'_>,
        json: String,
        attributes: Option<(PyReadonlyArray1<'_, u64>, PyReadonlyArray1<'_, u64>)>,
        observed: Option<PyReadonlyArray1<'_, u64>>,
    ) -> PyResult<Self> {
        let attributes = match attributes {
            Some((unary, pairs)) => Some((vector(&unary)?, vector(&pairs)?)),
            None => None,
        };
        let observed = observed.as_ref().map(vector).transpose()?;
        let parts = TagPlanParts { json, attributes, observed };
        Ok(Self::of(brief(py, 1, || lineal::TagPlan::from_parts(parts))?))
    }
}

/// Some of many sequences, and what they add to the mean loss.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct TagShard(lineal::TagShard);

#[pymethods]
impl TagShard {
    /// Answers a question; `norm` is that of the gold labels' features, for which `w` is empty.
    #[pyo3(signature = (name, w, v=None, n_threads=1))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        w: PyReadonlyArray1<'py, f64>,
        v: Option<PyReadonlyArray1<'py, f64>>,
        n_threads: usize,
    ) -> PyResult<Sum<'py>> {
        let w = w.as_slice().map_err(refused)?;
        if name == "norm" {
            let norm = brief(py, n_threads, || Ok(self.0.gold_norm()))?;
            return Ok((norm, Vec::new().into_pyarray(py)));
        }
        let v = v.as_ref().map(|v| v.as_slice().map_err(refused)).transpose()?;
        let question = question(name, w, v)?;
        let (value, out) = brief(py, n_threads, || {
            let mut out = vec![0.0; w.len()];
            Ok((self.0.answer(question, &mut out)?, out))
        })?;
        Ok((value, out.into_pyarray(py)))
    }

    /// What it takes in memory.
    #[getter]
    fn n_bytes(&self) -> usize {
        self.0.n_bytes()
    }
}

/// Trains on sequences that are somewhere else. `ask(question, w, v)` returns the sum of what all shards answer, `names(hashes)` pairs of a hash and a name.
#[pyfunction]
#[pyo3(signature = (plan, norm, rounds, ask, names, on_pass=None))]
pub(crate) fn train_distributed_tags(
    py: Python<'_>,
    plan: &TagPlan,
    norm: f64,
    rounds: usize,
    ask: Py<PyAny>,
    names: Py<PyAny>,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<Structured> {
    let raised = Raised::default();
    let done = py.detach(|| {
        instant(|| {
            let mut asked = |question: Question<'_>, out: &mut [f64]| {
                raised.unless(|py| answered(py, &ask, question, out))
            };
            let mut named = |hashes: &[u64]| {
                raised.unless(|py| names.call1(py, (hashes.to_vec(),))?.extract(py))
            };
            let mut see = |point: &CurvePoint| raised.after_pass(on_pass.as_ref(), point);
            DistributedTagging::new(&plan.0)
                .gold_norm(norm)
                .rounds(rounds)
                .monitor(&mut see)
                .run(&mut asked, &mut named)
        })
    });
    raised.first()?;
    let (model, report) = done?;
    Structured::new(AnyModel::Tag(Box::new(model)), &report)
}
