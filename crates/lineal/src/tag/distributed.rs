//! Training a tagger on sequences that several processes hold.
//!
//! Four passes make a problem of them, each a map over parts of the data and a sum of what the parts say:
//!
//! ```text
//! TagSurvey           columns, labels, how many sequences          merged in the order of the parts, so that labels have the numbers that they have in one file
//! AttributeCounts     how often each attribute comes               merged in the order of the parts, as above
//! Observed            which labels attributes come with            merged in any order
//! TagShard            sequences as the learner takes them          stays where it is, and answers questions about the mean loss
//! ```
//!
//! A [`TagPlan`] is what every process knows after each of them. [`DistributedTagging`] then asks for gradients, and comes to the model that [`train`](crate::train) would come to, within the tolerance.

use super::notable::{best, named};
use super::train::{LearntTagger, check, options, placed, shape, suggest};
use super::{TagModel, constraints, rules, vectorize};
use crate::Error;
use crate::request::spec::{ClassWeight, TrainSpec};
use crate::structured::{Learning, fit};
use crate::train::report::{Report, StructuredReport};
use crate::train::watch::OnPass;
use lineal_chain::{
    ChainLayout, ChainModel, ChainOptions, ChainProblem, ChainWeights, Grammar, Observed, Sentences,
};
use lineal_data::{SequenceOptions, SequenceSchema, Sequences, Source, UNLABELLED};
use lineal_erm::partial::{Ask, Question};
use lineal_erm::structured::partial::{Elsewhere, answer, gold_norm_of, learn_distributed};
use lineal_features::sequence::{
    AttributeIndex, AttributeRows, AttributeSource, Cut, IndexBuilder, Names, Vectorizer,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a part of the data says before its attributes are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TagSurvey {
    /// Columns, and the labels that were seen, in the order in which they came.
    pub schema: SequenceSchema,
    /// How many sequences.
    pub n_sequences: usize,
    /// How many tokens.
    pub n_tokens: usize,
    /// How many of them have no label.
    pub n_unlabelled: usize,
    /// The sum of the weights of sequences.
    pub total_weight: f64,
    /// The sum of the weights of tokens' sequences.
    weighted_tokens: f64,
    /// The values of columns beside words and labels, unless there are more than features of transitions may have. A plan has no use for them, and is sent without.
    values: BTreeMap<usize, Option<BTreeSet<String>>>,
}

impl TagSurvey {
    /// Reads some of many sequences for the first time, and looks at them.
    pub fn read(source: impl Into<Source>, options: &SequenceOptions) -> Result<Self, Error> {
        Ok(Self::of(&lineal_data::read_some_sequences(source, options)?))
    }

    /// Of sequences that know what their columns are.
    pub fn of(data: &Sequences) -> Self {
        let weight = |i: usize| data.weights().map_or(1.0, |weights| f64::from(weights[i]));
        let schema = SequenceSchema { labels: data.labels.clone(), ..data.schema.clone() };
        // More labels allow fewer values, and the other parts can only add labels.
        let most = vectorize::most_values(&schema);
        let all = |column| {
            let found = vectorize::values(data, column, most)?;
            Some(found.into_iter().map(str::to_owned).collect())
        };
        let has_columns = !data.schema.has_attributes();
        let others = vectorize::others(&data.schema).filter(|_| has_columns);
        Self {
            n_sequences: data.len(),
            n_tokens: data.n_tokens(),
            n_unlabelled: data.gold().iter().filter(|&&label| label == UNLABELLED).count(),
            total_weight: (0..data.len()).map(weight).sum(),
            weighted_tokens: (0..data.len()).map(|i| weight(i) * data.tokens(i).len() as f64).sum(),
            values: others.map(|column| (column, all(column))).collect(),
            schema,
        }
    }

    /// With what the part after this one says.
    pub fn merge(mut self, later: Self) -> Result<Self, Error> {
        let (own, other) = (&self.schema, &later.schema);
        let same = own.format == other.format
            && own.columns == other.columns
            && own.label == other.label
            && own.texts == other.texts;
        if !same {
            let told = |schema: &SequenceSchema| {
                format!("{} with the columns {}", schema.format, schema.columns.join(", "))
            };
            return Err(Error::request(format!(
                "all parts must be alike: some are {}, and this is {}",
                told(own),
                told(other)
            )));
        }
        for label in later.schema.labels {
            if !self.schema.labels.contains(&label) {
                self.schema.labels.push(label);
            }
        }
        let most = vectorize::most_values(&self.schema);
        for (column, values) in later.values {
            let own = self.values.entry(column).or_default();
            *own = match (own.take(), values) {
                (Some(mut own), Some(more)) => {
                    own.extend(more);
                    Some(own).filter(|own| own.len() <= most)
                }
                _ => None,
            };
        }
        self.n_sequences += later.n_sequences;
        self.n_tokens += later.n_tokens;
        self.n_unlabelled += later.n_unlabelled;
        self.total_weight += later.total_weight;
        self.weighted_tokens += later.weighted_tokens;
        Ok(self)
    }
}

/// How often attributes come, those of labels and those of transitions: hashes in the order in which they came, and counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeCounts {
    /// Of labels.
    pub unary: (Vec<u64>, Vec<u32>),
    /// Of transitions.
    pub pairs: (Vec<u64>, Vec<u32>),
}

impl AttributeCounts {
    fn of([unary, pairs]: [IndexBuilder; 2]) -> Self {
        let parts = |seen: IndexBuilder| (seen.hashes().to_vec(), seen.counts().to_vec());
        Self { unary: parts(unary), pairs: parts(pairs) }
    }

    fn builders(&self) -> [IndexBuilder; 2] {
        [&self.unary, &self.pairs].map(|(hashes, counts)| {
            let mut seen = IndexBuilder::new();
            seen.add(hashes, counts);
            seen
        })
    }

    /// With what the part after this one says.
    pub fn merge(&self, later: &Self) -> Self {
        let [mut unary, mut pairs] = self.builders();
        unary.add(&later.unary.0, &later.unary.1);
        pairs.add(&later.pairs.0, &later.pairs.1);
        Self::of([unary, pairs])
    }
}

/// What every process knows of all sequences. It begins with a survey, and learns of attributes and of the labels that they come with.
#[derive(Clone, Debug)]
pub struct TagPlan {
    survey: TagSurvey,
    spec: TrainSpec,
    /// How many values each column has, of those that do not have too many.
    n_values: BTreeMap<usize, usize>,
    source: AttributeSource,
    grammar: Grammar,
    vectorizer: Option<Vectorizer>,
    layout: Option<(ChainLayout, Vec<u64>)>,
}

/// What a [`TagPlan`] is sent as.
#[derive(Clone, Debug, PartialEq)]
pub struct TagPlanParts {
    /// The survey, the request, and how many values columns have, in JSON.
    pub json: String,
    /// The hashes of attributes of labels and of transitions, once they were counted.
    pub attributes: Option<(Vec<u64>, Vec<u64>)>,
    /// The bits of what was seen, once it was.
    pub observed: Option<Vec<u64>>,
}

impl TagPlan {
    /// For what all parts said.
    pub fn new(mut survey: TagSurvey, spec: &TrainSpec) -> Result<Self, Error> {
        let values = std::mem::take(&mut survey.values).into_iter();
        let n_values = values.filter_map(|(column, values)| Some((column, values?.len())));
        Self::of(survey, spec, n_values.collect())
    }

    fn of(
        survey: TagSurvey,
        spec: &TrainSpec,
        n_values: BTreeMap<usize, usize>,
    ) -> Result<Self, Error> {
        let refuse =
            |why: &str| Err(Error::request(format!("sequences of several processes: {why}")));
        if survey.schema.labels.is_empty() {
            return refuse("no position has a label; nothing can be learnt");
        }
        if !(survey.total_weight.is_finite() && survey.total_weight > 0.0) {
            return refuse("all have the weight 0: there is nothing to learn from");
        }
        if spec.class_weight != ClassWeight::Equal {
            return refuse("class_weight must be equal; give each sequence its weight");
        }
        if spec.validation != 0.0 || spec.tag.choose {
            return refuse("validation and tag.choose are not there");
        }
        let schema = &survey.schema;
        check(spec, schema, PLACE)?;
        let grammar = constraints::grammar(&spec.tag, &schema.labels)?;
        let source = vectorize::source(&spec.tag, schema, PLACE, &mut || {
            vectorize::columns_by_values(schema, |column| n_values.get(&column).copied())
        })?;
        let vectorizer = match spec.tag.hash_bits {
            Some(bits) => Some(Vectorizer::hashed(source.clone(), bits)?),
            None => None,
        };
        let spec = spec.clone();
        Ok(Self { survey, spec, n_values, source, grammar, vectorizer, layout: None })
    }

    /// What all parts said.
    pub fn survey(&self) -> &TagSurvey {
        &self.survey
    }

    /// Whether attributes must be counted: not where they are bits of a hash.
    pub fn needs_counts(&self) -> bool {
        self.vectorizer.is_none()
    }

    /// Reads a part again, now that all labels are known.
    pub fn read(
        &self,
        source: impl Into<Source>,
        options: &SequenceOptions,
    ) -> Result<Sequences, Error> {
        Ok(lineal_data::read_sequences_with(source, options, &self.survey.schema)?)
    }

    /// Counts the attributes of a part.
    pub fn count(&self, data: &Sequences) -> Result<AttributeCounts, Error> {
        let sentences = data.iter().map(|sequence| sequence.cells().collect());
        let seen = Vectorizer::count(self.source.clone(), data.n_columns(), sentences);
        Ok(AttributeCounts::of(seen.map_err(|(i, why)| vectorize::placed(data.get(i), why))?))
    }

    /// With the attributes that all parts have; the numbers are those that they have in one file. A plan whose attributes are bits of a hash has no use for counts, and stays as it is.
    pub fn with_attributes(mut self, counts: &AttributeCounts) -> Self {
        if self.spec.tag.hash_bits.is_some() {
            return self;
        }
        let cut = Cut { min_count: self.spec.tag.min_count, ..Cut::default() };
        let [unary, pairs] = counts.builders().map(|seen| seen.finish(cut).0);
        self.vectorizer = Some(Vectorizer::new(self.source.clone(), unary, pairs));
        self
    }

    fn vectorizer(&self) -> Result<&Vectorizer, Error> {
        let why = "sequences of several processes: attributes were not counted yet";
        self.vectorizer.as_ref().ok_or_else(|| Error::request(why))
    }

    fn layout(&self) -> Result<&ChainLayout, Error> {
        let why =
            "sequences of several processes: it is not known yet which labels attributes come with";
        Ok(&self.layout.as_ref().ok_or_else(|| Error::request(why))?.0)
    }

    fn shape(&self) -> Result<ChainModel, Error> {
        let labels = &self.survey.schema.labels;
        Ok(shape(self.vectorizer()?, &self.spec.tag, labels.len()))
    }

    fn options(&self) -> ChainOptions {
        options(&self.spec, &self.grammar)
    }

    fn weights(&self) -> ChainWeights {
        self.options().weights
    }

    /// Rows of attributes, ends and weights of sequences.
    fn rows(&self, data: &Sequences) -> Result<Rows, Error> {
        let ends = (0..data.len()).map(|i| data.tokens(i).end).collect();
        let weights = data.weights().map(<[f32]>::to_vec);
        Ok(Rows { rows: vectorize::rows(self.vectorizer()?, data)?, ends, weights })
    }

    /// Sees which labels the attributes of a part come with: the bits of it.
    pub fn observe(&self, data: &Sequences) -> Result<Vec<u64>, Error> {
        let (shape, rows) = (self.shape()?, self.rows(data)?);
        Ok(Observed::of(&shape, &rows.sentences(data, shape), self.weights())?.to_words())
    }

    /// With what all parts saw: the union of the bits.
    pub fn with_observed(mut self, words: Vec<u64>) -> Result<Self, Error> {
        let (shape, weights) = (self.shape()?, self.weights());
        let observed = Observed::from_words(&shape, weights, &words)?;
        self.layout = Some((ChainLayout::new(shape, &observed, weights), words));
        Ok(self)
    }

    /// The length of a vector of weights.
    pub fn dim(&self) -> Result<usize, Error> {
        Ok(self.layout()?.dim())
    }

    /// A part of the sequences as the learner takes it.
    pub fn shard(&self, data: &Sequences) -> Result<TagShard, Error> {
        let (shape, rows) = (self.shape()?, self.rows(data)?);
        let (layout, total) = (self.layout()?, self.survey.total_weight);
        let sentences = rows.sentences(data, shape);
        let problem = ChainProblem::part(layout, sentences, &self.options(), total)
            .map_err(|e| suggest(placed(e, data), &self.spec, data))?;
        Ok(TagShard(problem.into_owned()))
    }

    /// The names of attributes of labels, of which hashes are given: those that a part has.
    pub fn names(&self, data: &Sequences, hashes: &[u64]) -> Result<Vec<(u64, String)>, Error> {
        let (mut sorted, none) = (hashes.to_vec(), AttributeIndex::from_hashes(&[])?);
        sorted.sort_unstable();
        sorted.dedup();
        let index = AttributeIndex::from_hashes(&sorted)?;
        let vectorizer = self.vectorizer()?.with_indices(index, none);
        let mut names = Names::default();
        for sequence in data.iter() {
            vectorize::name(&vectorizer, sequence, &mut names)?;
        }
        let named = sorted.into_iter().zip(names.unary);
        Ok(named.filter(|(_, name)| !name.is_empty()).collect())
    }

    /// To be sent.
    pub fn to_parts(&self) -> Result<TagPlanParts, Error> {
        let json = serde_json::to_string(&(&self.survey, &self.spec, &self.n_values));
        let json = json.map_err(|why| Error::request(why.to_string()))?;
        let hashes = |index: Option<&AttributeIndex>| {
            index.and_then(|index| index.hashes()).unwrap_or_default().to_vec()
        };
        let counted = self.vectorizer.as_ref().filter(|_| self.spec.tag.hash_bits.is_none());
        Ok(TagPlanParts {
            json,
            attributes: counted.map(|v| (hashes(Some(v.unary_index())), hashes(v.pair_index()))),
            observed: self.layout.as_ref().map(|(_, words)| words.clone()),
        })
    }

    /// From what was sent.
    pub fn from_parts(parts: TagPlanParts) -> Result<Self, Error> {
        let (survey, spec, n_values): (TagSurvey, TrainSpec, BTreeMap<usize, usize>) =
            serde_json::from_str(&parts.json).map_err(|why| Error::request(why.to_string()))?;
        let mut plan = Self::of(survey, &spec, n_values)?;
        if let Some((unary, pairs)) = &parts.attributes {
            let unary = AttributeIndex::from_hashes(unary)?;
            let pairs = AttributeIndex::from_hashes(pairs)?;
            plan.vectorizer = Some(Vectorizer::new(plan.source.clone(), unary, pairs));
        }
        match parts.observed {
            Some(words) => plan.with_observed(words),
            None => Ok(plan),
        }
    }
}

/// What messages call data that is in several places.
const PLACE: &str = "the sequences";

/// What is made of a part's sequences.
struct Rows {
    rows: AttributeRows,
    ends: Vec<usize>,
    weights: Option<Vec<f32>>,
}

impl Rows {
    fn sentences<'a>(&'a self, data: &'a Sequences, shape: ChainModel) -> Sentences<'a> {
        Sentences {
            unary: &self.rows.unary,
            pairs: (shape.n_pairs > 0).then_some(&self.rows.pairs),
            labels: data.gold(),
            ends: &self.ends,
            weights: self.weights.as_deref(),
        }
    }
}

/// Some of many sequences, and what they add to the mean loss.
#[derive(Debug)]
pub struct TagShard(ChainProblem<'static>);

impl TagShard {
    /// Answers a question: the value is returned, the vector overwrites `out`.
    pub fn answer(&self, question: Question<'_>, out: &mut [f64]) -> Result<f64, Error> {
        Ok(answer(&self.0, question, out)?)
    }

    /// What its gold labels add to [`DistributedTagging::gold_norm`].
    pub fn gold_norm(&self) -> f64 {
        gold_norm_of(&self.0)
    }

    /// What it takes in memory.
    pub fn n_bytes(&self) -> usize {
        self.0.n_bytes()
    }
}

/// Gives attributes of labels their names, of which the hashes are known.
pub type NameAttributes<'a> = dyn FnMut(&[u64]) -> Result<Vec<(u64, String)>, Error> + 'a;

/// A run on sequences that are somewhere else.
///
/// ```
/// use lineal::erm::partial::Question;
/// use lineal::{AttributeCounts, DistributedTagging, Error, SequenceOptions, Source, TagPlan, TagSurvey, Task, TrainSpec};
///
/// let parts = ["the DT\ndog NN\nbarks VB\n\n", "a DT\ncat NN\nsleeps VB\n\n"]; // in two processes, for an example
/// let options = SequenceOptions::default();
/// let source = |part: &str| Source::Memory { name: "part.conll".into(), bytes: part.as_bytes().to_vec() };
/// let [one, two] = parts.map(|part| TagSurvey::read(source(part), &options).unwrap());
///
/// let spec = TrainSpec { tol: 1e-4, ..TrainSpec::for_task(Task::Tag) };
/// let spec = TrainSpec { loss: Some(lineal::LossKind::Logistic), ..spec };
/// let plan = TagPlan::new(one.merge(two)?, &spec)?;
/// let data = parts.map(|part| plan.read(source(part), &options).unwrap());
/// let counts = plan.count(&data[0])?.merge(&plan.count(&data[1])?);
/// let plan = plan.with_attributes(&counts);
/// let bits = plan.observe(&data[0])?.into_iter().zip(plan.observe(&data[1])?).map(|(a, b)| a | b).collect();
/// let plan = plan.with_observed(bits)?;
///
/// let shards = data.each_ref().map(|part| plan.shard(part).unwrap());
/// let norm = shards.iter().map(|shard| shard.gold_norm()).sum();
/// let mut ask = |question: Question<'_>, out: &mut [f64]| {
///     let mut right = vec![0.0; out.len()];
///     let value = shards[0].answer(question, out)? + shards[1].answer(question, &mut right)?;
///     out.iter_mut().zip(right).for_each(|(out, right)| *out += right);
///     Ok::<_, Error>(value)
/// };
/// let mut names = |hashes: &[u64]| plan.names(&data[0], hashes);
/// let (model, report) = DistributedTagging::new(&plan).gold_norm(norm).run(&mut ask, &mut names)?;
/// assert!(report.gap.unwrap() <= 1e-4 * report.objective);
/// assert_eq!(model.labels(), ["DT", "NN", "VB"]);
/// # Ok::<(), Error>(())
/// ```
pub struct DistributedTagging<'a> {
    plan: &'a TagPlan,
    gold_norm: f64,
    rounds: usize,
    on_pass: Option<&'a mut OnPass<'a>>,
}

impl<'a> DistributedTagging<'a> {
    /// On the sequences of a plan.
    pub fn new(plan: &'a TagPlan) -> Self {
        Self { plan, gold_norm: f64::INFINITY, rounds: 0, on_pass: None }
    }

    /// The sum of [`TagShard::gold_norm`] over all shards; without it nothing is proven.
    pub fn gold_norm(mut self, norm: f64) -> Self {
        self.gold_norm = norm;
        self
    }

    /// So many rounds of stochastic steps before L-BFGS, each shard on its own and then averaged.
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Calls `on_pass` after every pass.
    pub fn monitor(mut self, on_pass: &'a mut OnPass<'a>) -> Self {
        self.on_pass = Some(on_pass);
        self
    }

    /// Trains; `ask` answers each question with the sum over all shards.
    pub fn run(
        self,
        ask: &mut Ask<'_, Error>,
        names: &mut NameAttributes<'_>,
    ) -> Result<(TagModel, Report), Error> {
        let Self { plan, gold_norm, rounds, on_pass } = self;
        let TagPlan { survey, spec, grammar, .. } = plan;
        let (layout, shape, labels) = (plan.layout()?, plan.shape()?, &survey.schema.labels);
        let learning: Learning = spec.learning(survey.total_weight)?;
        let rules = rules::compile(&spec.tag, labels, shape.n_pairs > 0)?;
        let whole = Elsewhere {
            dim: layout.dim(),
            n_examples: survey.n_sequences,
            is_whole: survey.n_unlabelled == 0,
            gold_norm,
            loss_at_zero: survey.weighted_tokens / survey.total_weight * (labels.len() as f64).ln(),
            rounds,
        };
        let mut run =
            fit(spec, on_pass, None, |see| learn_distributed(&whole, &learning.request, ask, see))?;
        let weights = layout.pruned(&run.w)?;
        run.w = Vec::new();

        let vectorizer = plan.vectorizer()?;
        let best = best(&weights);
        let notable = match vectorizer.unary_index().hashes() {
            Some(hashes) => {
                let hash = |a: u32| hashes[a as usize];
                let wanted: Vec<u64> = best.iter().flatten().map(|&(a, _)| hash(a)).collect();
                let found: BTreeMap<u64, String> = names(&wanted)?.into_iter().collect();
                named(&best, labels, |a| found.get(&hash(a)).cloned().unwrap_or_default())
            }
            None => Vec::new(),
        };
        let structured = StructuredReport {
            tokens: survey.n_tokens,
            weights: layout.n_weights(),
            unlabelled: survey.n_unlabelled,
            ..StructuredReport::default()
        };
        let learnt = LearntTagger {
            schema: &survey.schema,
            source: PLACE,
            n_examples: survey.n_sequences,
            vectorizer: vectorizer.clone(),
            weights,
            grammar: grammar.clone(),
            rules,
            notable,
        };
        learnt.model(spec, &learning, run, structured, Vec::new())
    }
}
