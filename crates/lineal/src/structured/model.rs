//! What every model of structured outputs can do: read its data, answer, measure itself, become smaller, be stored.

use crate::Error;
use crate::listener::Listener;
use crate::predict::evaluation::Evaluation;
use crate::predict::model::Provenance;
use crate::request::spec::{LossKind, Task, TrainSpec};
use crate::train::Trainable;
use crate::train::report::Report;
use lineal_data::{BracketTreebank, Sequences, Source, Treebank};
use lineal_model::chunks;
use lineal_model::file::{self, ModelFile, TensorData};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// What to say about each example beside the best output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Keep what the data knows of the output: only the rest is predicted.
    pub known: bool,
    /// Probabilities: of the parts of an output (labels, spans, arcs) and of the whole.
    pub proba: bool,
    /// The number of best outputs to list.
    pub n_best: usize,
    /// Take the output with the most parts expected to be right, in place of the likeliest one.
    pub min_risk: bool,
    /// Draw the output from its distribution, by this seed.
    pub sample: Option<u64>,
    /// How sure each part is, where the model has no probabilities: by what the best output with another part there loses.
    pub confidence: bool,
    /// The number of the first example among all, for samples.
    pub first: u64,
}

impl Ask {
    /// Whether it takes a model with probabilities.
    pub fn needs_proba(&self) -> bool {
        self.proba || self.min_risk || self.sample.is_some()
    }
}

/// Examples in memory.
pub trait Examples: Trainable + Clone + Send + Sync {
    /// How many.
    fn n_examples(&self) -> usize;
    /// The file they come from, for messages.
    fn source(&self) -> &str;
    /// Some of them.
    fn select(&self, which: &[usize]) -> Self;
    /// How many parts of an example can be explained: words, documents.
    fn n_parts(&self, example: usize) -> usize;
}

#[cfg(feature = "tag")]
macro_rules! examples {
    ($($data:ty),*) => {$(
        impl Examples for $data {
            fn n_examples(&self) -> usize {
                self.len()
            }
            fn source(&self) -> &str {
                &self.source
            }
            fn select(&self, which: &[usize]) -> Self {
                <$data>::select(self, which)
            }
            fn n_parts(&self, example: usize) -> usize {
                self.get(example).len()
            }
        }
    )*};
}

#[cfg(feature = "tag")]
examples!(Sequences);
#[cfg(feature = "dependency")]
examples!(Treebank);
#[cfg(feature = "constituency")]
examples!(BracketTreebank);

/// What the file of every model says of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// What it predicts.
    pub task: Task,
    /// What was asked for.
    pub spec: TrainSpec,
    /// How training went.
    pub report: Report,
    /// Where it comes from.
    pub provenance: Provenance,
    /// How it did on labelled data when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

impl Header {
    /// Of a run on data from `source`.
    pub(crate) fn new(spec: &TrainSpec, report: &Report, source: &str) -> Self {
        Self {
            task: spec.task,
            spec: spec.clone(),
            report: report.stored(),
            provenance: Provenance::of(source),
            evaluation: None,
        }
    }
}

/// A model that predicts structured outputs.
pub trait StructuredModel: Sized + Send + Sync {
    /// What it learns from and answers.
    type Data: Examples<Model = Self>;
    /// How data is read.
    type Options;
    /// What it says of one example.
    type Answer: Send;
    /// What is measured.
    type Metrics: Serialize;
    /// Metrics that a search can make as large as possible, by their names in `eval --json`: the first that the data has is the one to watch.
    const METRICS: &'static [&'static str];

    /// What its file says of it.
    fn header(&self) -> &Header;

    /// From now on its file says how it did on labelled data.
    fn keep_evaluation(&mut self, evaluation: Evaluation);

    /// From a file that is mapped and whole. Nothing in it is believed before it is checked.
    fn from_file(file: ModelFile) -> Result<Self, Error>;

    /// The bytes of the model's file.
    fn to_bytes(&self) -> Result<Vec<u8>, Error>;

    /// The model in a file of at most so many bytes: as it is if that is small enough, else with weights of 8 bits, else also without the smallest ones. What that
    /// does to its answers must be measured.
    fn shrink(&self, max_bytes: u64) -> Result<Self, Error> {
        let _ = max_bytes;
        Err(Error::request(format!("models of the task {} are not made smaller", self.task())))
    }

    /// How many weights are not zero.
    fn n_weights(&self) -> usize;

    /// Reads data as this model's training data was read.
    fn read(&self, source: impl Into<Source>, options: &Self::Options)
    -> Result<Self::Data, Error>;

    /// Reads data block by block, so that a stream of any length needs the memory of a block.
    fn stream(
        &self,
        source: impl Into<Source>,
        options: &Self::Options,
        on_block: &mut dyn FnMut(&Self::Data) -> ControlFlow<()>,
    ) -> Result<(), Error>;

    /// The output of each example and what else is asked for, in the current thread pool.
    fn answer(&self, data: &Self::Data, ask: &Ask) -> Result<Vec<Self::Answer>, Error>;

    /// The probability of an output, where it was asked for.
    fn probability(answer: &Self::Answer) -> Option<f64>;

    /// Compares outputs at hand with those of the data.
    fn compare(&self, data: &Self::Data, answers: &[Self::Answer]) -> Result<Self::Metrics, Error>;

    /// Predicts and compares with the data.
    fn evaluate(&self, data: &Self::Data) -> Result<Self::Metrics, Error> {
        self.compare(data, &self.answer(data, &Ask::default())?)
    }

    /// The values of [`METRICS`](Self::METRICS), in their order; none where the data does not define one.
    fn metric_values(metrics: &Self::Metrics) -> Result<Vec<Option<f64>>, Error> {
        let all = serde_json::to_value(metrics)
            .map_err(|e| Error::request(format!("the metrics cannot be listed by name: {e}")))?;
        Ok(Self::METRICS.iter().map(|&name| all[name].as_f64()).collect())
    }

    /// Maps a model file. Nothing in it is believed before it is checked.
    fn load(path: &Path) -> Result<Self, Error> {
        Self::from_file(ModelFile::open(path)?)
    }

    /// A model from the bytes of its file.
    fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_file(ModelFile::from_bytes(bytes)?)
    }

    /// Writes the model beside and renames it into place; returns its size in bytes.
    fn save(&self, path: &Path) -> Result<u64, Error> {
        let bytes = self.to_bytes()?;
        file::write_atomically(path, |out| out.write_all(&bytes)).map_err(Error::Write)?;
        Ok(bytes.len() as u64)
    }

    /// How training went, with some points of its curve.
    fn report(&self) -> &Report {
        &self.header().report
    }

    /// How the model did on labelled data when it was made, if that is known.
    fn evaluation(&self) -> Option<&Evaluation> {
        self.header().evaluation.as_ref().filter(|kept| kept.fits(0))
    }

    /// What was asked for.
    fn spec(&self) -> &TrainSpec {
        &self.header().spec
    }

    /// Where it comes from.
    fn provenance(&self) -> &Provenance {
        &self.header().provenance
    }

    /// What it predicts.
    fn task(&self) -> Task {
        self.header().task
    }

    /// Whether its scores are logarithms of probabilities: trained with the logistic loss.
    fn has_proba(&self) -> bool {
        self.report().loss == LossKind::Logistic
    }

    /// Refuses questions about probabilities that it has not.
    fn check_proba(&self, ask: &Ask) -> Result<(), Error> {
        match ask.needs_proba() && !self.has_proba() {
            false => Ok(()),
            true => Err(Error::request(format!(
                "the model was trained with the {} loss and has no probabilities; train with spec.loss = logistic",
                self.report().loss
            ))),
        }
    }
}

/// Why a file is not a model of a task: its description does not fit.
pub(crate) fn unfit(file: &ModelFile, why: impl Into<String>) -> Error {
    file.bad_model(why).into()
}

/// The description in a model file of this task.
pub(crate) fn description<A: DeserializeOwned>(file: &ModelFile, task: Task) -> Result<A, Error> {
    let (own, of_rows) = (&file.model()["task"], &file.model()["spec"]["task"]);
    let found = own.as_str().or(of_rows.as_str()).unwrap_or("classify");
    if found != task.to_string() {
        return Err(unfit(file, format!("it is a model of the task {found}, not of {task}")));
    }
    A::deserialize(file.model())
        .map_err(|e| unfit(file, format!("its description does not fit: {e}")))
}

/// The bytes of a file with this description and these tensors.
pub(crate) fn encode(
    about: &impl Serialize,
    tensors: &[(&str, Vec<usize>, TensorData<'_>)],
) -> Result<Vec<u8>, Error> {
    let about = serde_json::to_value(about)
        .map_err(|e| Error::request(format!("the model cannot be written: {e}")))?;
    Ok(file::encode(&about, tensors)?)
}

/// The answers for `n` examples, a chunk at a time in all threads, each with memory of its own; the first error in the order of the examples.
pub(crate) fn in_chunks<A: Send, S>(
    n: usize,
    scratch: impl Fn() -> S + Send + Sync,
    f: impl Fn(&mut S, Range<usize>) -> Result<Vec<A>, Error> + Sync,
) -> Result<Vec<A>, Error> {
    let listener = Listener::here();
    let of_chunk = |s: &mut S, chunk: Range<usize>| {
        if !listener.is_heard() {
            return f(s, chunk);
        }
        // A chunk of long sentences takes seconds: whoever may end the run is asked at each of them.
        let mut answers = Vec::with_capacity(chunk.len());
        for i in chunk {
            listener.go_on()?;
            answers.extend(f(s, i..i + 1)?);
        }
        Ok(answers)
    };
    let chunks: Result<Vec<_>, Error> =
        chunks::in_chunks(n, scratch, of_chunk).into_iter().collect();
    Ok(chunks?.into_iter().flatten().collect())
}

/// Refuses a word (from 0) that a sentence of `n` words has not.
pub(crate) fn check_word(word: Option<usize>, n: usize) -> Result<(), Error> {
    match word {
        Some(t) if t >= n => Err(Error::request(format!(
            "there is no word {} in a sentence of {n}; words are counted from 1",
            t + 1
        ))),
        _ => Ok(()),
    }
}
