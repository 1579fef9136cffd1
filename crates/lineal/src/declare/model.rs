//! A trained declared structure: its weights, its file, and what it says of examples.

use super::data::DeclaredData;
use super::metrics::DeclaredMetrics;
use super::spec::DeclaredOptions;
use crate::Error;
use crate::listener::Listener;
use crate::predict::evaluation::Evaluation;
use crate::request::spec::Task;
use crate::structured::{self, Ask, Header, StructuredModel, TREES, TableInfo, Tables, in_chunks};
use lineal_data::Source;
use lineal_declared::{
    AnswerCache, Declaration, Explanation, Ground, PredictError, Predictor, Vocabulary,
};
use lineal_model::file::{ModelFile, TensorData};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// U32 `[2 · features]`: the hashes of the features, low half first, block by block.
const HASHES: &str = "hashes";

/// A model that labels the variables of a declaration.
#[derive(Clone, Debug)]
pub struct DeclaredModel {
    declaration: Arc<Declaration>,
    vocabulary: Vocabulary,
    tables: Tables,
    about: About,
    /// The labels of all kinds, as `kind=label`.
    labels: Vec<String>,
    /// Answers to problems that came before.
    cache: Arc<AnswerCache>,
}

/// The JSON inside the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    #[serde(flatten)]
    pub(super) header: Header,
    /// How many features each kind of variables has, and then each factor.
    pub(super) features: Vec<usize>,
    pub(super) tables: Vec<TableInfo>,
}

/// The labels of an example, with what was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeclaredAnswer {
    /// The number of a label for each variable: of the first kind, of the second, …
    pub labels: Vec<u32>,
    /// The score of the output.
    pub score: f64,
    /// No output that keeps the rules scores more than this much above it: 0 if it is proved to be the best.
    pub slack: f64,
    /// By variable, if asked for: how sure its label is, from 1/2 to 1, by what the best output with another label there loses.
    pub confidence: Option<Vec<f64>>,
    /// The best outputs, if asked for.
    pub n_best: Vec<RankedLabels>,
}

/// One of the best outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedLabels {
    /// The label of each variable.
    pub labels: Vec<u32>,
    /// Its score.
    pub score: f64,
}

/// Why a variable has its label.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredExplanation {
    /// The variable, from 0.
    pub variable: usize,
    /// The number of its kind.
    pub kind: usize,
    /// Its label, the runner-up, and what decided between them.
    pub found: Explanation,
}

impl DeclaredModel {
    pub(super) fn new(
        declaration: Arc<Declaration>,
        vocabulary: Vocabulary,
        weights: Vec<f32>,
        header: Header,
    ) -> Self {
        let mut tables = Tables::default();
        tables.push(TREES, weights);
        let features = vocabulary.hashes().iter().map(|hashes| hashes.len()).collect();
        let about = About { header, features, tables: tables.infos() };
        let cache = Arc::default();
        Self { labels: labels(&declaration), declaration, vocabulary, tables, about, cache }
    }

    /// What was declared.
    pub fn declaration(&self) -> &Arc<Declaration> {
        &self.declaration
    }

    /// The labels of all kinds of variables, as `kind=label`.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// How many features there are.
    pub fn n_features(&self) -> usize {
        self.about.features.iter().sum()
    }

    /// The name of a variable's label.
    pub fn label(&self, ground: &Ground, variable: usize, label: u32) -> &str {
        let kind = &self.declaration.variables()[ground.kinds[variable] as usize];
        kind.labels.get(label as usize).map_or("", String::as_str)
    }

    /// `relation 3`: the kind of a variable, and its number among those, from 0.
    pub fn variable_name(&self, ground: &Ground, variable: usize) -> String {
        let kind = ground.kinds[variable] as usize;
        format!("{} {}", self.declaration.variables()[kind].name, variable - ground.starts[kind])
    }

    /// The weights with what they mean.
    pub fn predictor(&self) -> Predictor<'_> {
        self.predictor_with(DeclaredOptions::default())
    }

    fn predictor_with(&self, options: DeclaredOptions) -> Predictor<'_> {
        let options = options.over(self.spec().declared.solving());
        let weights = self.tables.trees();
        Predictor::new(&self.declaration, &self.vocabulary, weights, options)
            .with_cache(&self.cache)
    }

    /// How often the best outputs without rules break one: a count of broken rules, each where it applies, for each example.
    pub fn violations(&self, data: &DeclaredData) -> Result<Vec<usize>, Error> {
        let predictor = self.predictor_with(data.options());
        in_chunks(
            data.len(),
            || (),
            |(), which| {
                let one = |i: usize| {
                    let found = predictor.violations(data.get(i));
                    found.map_err(|e| place(data, i, &e))
                };
                which.map(one).collect()
            },
        )
    }

    /// The best output of each example: [`answer`](StructuredModel::answer) to a plain question.
    pub fn predict(&self, data: &DeclaredData) -> Result<Vec<DeclaredAnswer>, Error> {
        self.answer(data, &Ask::default())
    }

    /// Explains each variable of an example, or one of them.
    pub fn explain(
        &self,
        data: &DeclaredData,
        example: usize,
        variable: Option<usize>,
    ) -> Result<Vec<DeclaredExplanation>, Error> {
        let ground = data.get(example);
        let n = ground.kinds.len();
        if let Some(v) = variable.filter(|v| *v >= n) {
            return Err(Error::request(format!(
                "there is no variable {} in an example of {n}; variables are counted from 1",
                v + 1
            )));
        }
        let predictor = self.predictor_with(data.options());
        let asked = variable.map_or(0..n, |v| v..v + 1);
        let listener = Listener::here();
        let one = |variable: usize| {
            listener.go_on()?;
            let found = predictor.explain(ground, variable);
            let found = found.map_err(|e| place(data, example, &e))?;
            let kind = ground.kinds[variable] as usize;
            Ok(DeclaredExplanation { variable, kind, found })
        };
        asked.map(one).collect()
    }

    /// The weights to start from, if they are of the same declaration and features.
    pub(super) fn start(
        &self,
        declaration: &Declaration,
        vocabulary: &Vocabulary,
    ) -> Result<&[f32], Error> {
        match *self.declaration == *declaration && self.vocabulary == *vocabulary {
            true => Ok(self.tables.trees()),
            false => Err(Error::request(
                "the model to start from has another declaration or other features; give the same declaration and data",
            )),
        }
    }

    fn bytes_with(&self, tables: &Tables) -> Result<Vec<u8>, Error> {
        let about = About { tables: tables.infos(), ..self.about.clone() };
        let hashes: Vec<u32> = self
            .vocabulary
            .hashes()
            .into_iter()
            .flatten()
            .flat_map(|&hash| [hash as u32, (hash >> 32) as u32])
            .collect();
        let hashes = (HASHES, vec![hashes.len()], TensorData::U32(&hashes));
        tables.encode(&about, vec![hashes])
    }
}

impl StructuredModel for DeclaredModel {
    type Data = DeclaredData;
    type Options = DeclaredOptions;
    type Answer = DeclaredAnswer;
    type Metrics = DeclaredMetrics;
    const METRICS: &'static [&'static str] = &["accuracy", "exact"];

    fn header(&self) -> &Header {
        &self.about.header
    }

    fn keep_evaluation(&mut self, evaluation: Evaluation) {
        self.about.header.evaluation = Some(evaluation);
    }

    fn from_file(file: ModelFile) -> Result<Self, Error> {
        let about: About = structured::description(&file, Task::Declared)?;
        let bad = |why: &str| structured::unfit(&file, why);
        let declaration = super::declaration(&about.header.spec.declared.declaration)
            .map_err(|e| bad(&format!("its declaration: {e}")))?;
        let tables = Tables::read(&file, &about.tables)?;
        let halves = file.u32(HASHES)?.ok_or_else(|| file.bad_tensor(HASHES, "it is not there"))?;
        let total = about.features.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
        if total.and_then(|n| n.checked_mul(2)) != Some(halves.len()) {
            return Err(file.bad_tensor(HASHES, "it does not fit the number of features").into());
        }
        let mut all =
            halves.chunks_exact(2).map(|half| u64::from(half[0]) | u64::from(half[1]) << 32);
        let hashes = about.features.iter().map(|&n| all.by_ref().take(n).collect()).collect();
        let vocabulary = Vocabulary::from_hashes(&declaration, hashes)
            .ok_or_else(|| bad("its features do not fit its declaration"))?;
        if tables.trees().len() != vocabulary.dim() {
            return Err(bad("its weights do not fit its features"));
        }
        let cache = Arc::default();
        Ok(Self { labels: labels(&declaration), declaration, vocabulary, tables, about, cache })
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.bytes_with(&self.tables)
    }

    fn shrink(&self, max_bytes: u64) -> Result<Self, Error> {
        if self.to_bytes()?.len() as u64 <= max_bytes {
            return Ok(self.clone());
        }
        // Room is for weights.
        let mut bare = self.clone();
        bare.about.header.report.curve.clear();
        let tables = bare.tables.shrink(max_bytes, |tables| bare.bytes_with(tables))?;
        Ok(Self { tables, cache: Arc::default(), ..bare })
    }

    fn n_weights(&self) -> usize {
        self.tables.n_weights()
    }

    fn read(
        &self,
        source: impl Into<Source>,
        options: &DeclaredOptions,
    ) -> Result<DeclaredData, Error> {
        DeclaredData::read_any(source, &self.declaration, *options)
    }

    fn stream(
        &self,
        source: impl Into<Source>,
        options: &DeclaredOptions,
        on_block: &mut dyn FnMut(&DeclaredData) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        DeclaredData::stream(source, &self.declaration, *options, on_block)
    }

    fn answer(&self, data: &DeclaredData, ask: &Ask) -> Result<Vec<DeclaredAnswer>, Error> {
        if ask.needs_proba() {
            return Err(Error::request(
                "a declared structure gives its best outputs and the confidence of its labels; it has no probabilities",
            ));
        }
        if ask.known {
            data.check_known()?;
        }
        let predictor = self.predictor_with(data.options());
        let one = |i: usize| -> Result<DeclaredAnswer, PredictError> {
            let ground = data.get(i);
            let known = if ask.known { &ground.gold[..] } else { &[] };
            let best = predictor.predict(ground, known)?;
            let n_best = match ask.n_best {
                0 => Vec::new(),
                k => predictor.k_best(ground, known, k)?,
            };
            let confidence = match ask.confidence {
                true => Some(predictor.margins(ground, known)?),
                false => None,
            };
            Ok(DeclaredAnswer {
                slack: (best.upper - best.score).max(0.0),
                labels: best.labels,
                score: best.score,
                confidence: confidence
                    .map(|all| all.into_iter().map(|m| 1.0 / (1.0 + (-m).exp())).collect()),
                n_best: n_best
                    .into_iter()
                    .map(|p| RankedLabels { labels: p.labels, score: p.score })
                    .collect(),
            })
        };
        in_chunks(
            data.len(),
            || (),
            |(), which| which.map(|i| one(i).map_err(|e| place(data, i, &e))).collect(),
        )
    }

    fn probability(_: &DeclaredAnswer) -> Option<f64> {
        None
    }

    fn compare(
        &self,
        data: &DeclaredData,
        answers: &[DeclaredAnswer],
    ) -> Result<DeclaredMetrics, Error> {
        DeclaredMetrics::new(data, answers)
    }

    /// There is no sum over outputs.
    fn has_proba(&self) -> bool {
        false
    }
}

fn labels(declaration: &Declaration) -> Vec<String> {
    let kinds = declaration.variables().iter();
    kinds.flat_map(|kind| kind.labels.iter().map(|l| format!("{}={l}", kind.name))).collect()
}

/// An example without an answer, at its line.
fn place(data: &DeclaredData, i: usize, error: &PredictError) -> Error {
    lineal_data::Error::at_line(&data.source, data.raw(i).line, error.to_string()).into()
}
