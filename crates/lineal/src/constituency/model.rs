//! A trained parser: its parts and its file.

use super::spec::ConstituencySpec;
use super::tags;
use crate::Error;
use crate::listener::Listener;
use crate::predict::evaluation::Evaluation;
use crate::request::spec::Task;
use crate::structured::{
    self, Ask, Header, PRUNER, StructuredModel, TableInfo, Tables, TagsKind, check_word, in_chunks,
};
use crate::tag::TagModel;
use lineal_constituents::features::{Sentences, Templates};
use lineal_constituents::parser::{ParseAsk, ParsedTree, Parser, PhraseExplanation, longest};
use lineal_constituents::problem::{Known, KnownError, PruneSpec};
use lineal_constituents::{Grammar, GrammarTables};
use lineal_data::{BracketReadOptions, BracketSchema, BracketSentence, BracketTreebank, Source};
use lineal_metrics::{
    Bracket, BracketEvaluation, BracketMetrics, BracketOptions, BracketTree, SentenceBrackets,
};
use lineal_model::file::{ModelFile, TensorData};
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};

/// Symbols and pairs of the grammar: U32.
const GRAMMAR: &str = "grammar";
/// The bits of the trees' table that can be chosen.
pub(super) const HASH_BITS: std::ops::RangeInclusive<u32> = 12..=28;

/// A model that gives a bracketed tree to each sentence.
#[derive(Clone, Debug)]
pub struct ConstituencyModel {
    pub(super) grammar: Grammar,
    pub(super) templates: Templates,
    pub(super) tables: Tables,
    pub(super) tagger: Box<TagModel>,
    pub(super) about: About,
}

/// The JSON inside the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    #[serde(flatten)]
    pub(super) header: Header,
    pub(super) schema: BracketSchema,
    /// Names of the grammar's symbols.
    pub(super) labels: Vec<String>,
    pub(super) tags: Vec<String>,
    /// The most spans per word after pruning.
    pub(super) candidates: usize,
    pub(super) tables: Vec<TableInfo>,
}

impl ConstituencyModel {
    /// The labels of phrases by number.
    pub fn labels(&self) -> &[String] {
        &self.about.schema.labels
    }

    /// What it knows of its treebank.
    pub fn schema(&self) -> &BracketSchema {
        &self.about.schema
    }

    /// The grammar that was read off the training trees.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The templates of its features.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The tagger of sentences that come without parts of speech.
    pub fn tagger(&self) -> &TagModel {
        &self.tagger
    }

    /// The most spans per word that are left to choose from; none if all are.
    pub fn candidates(&self) -> Option<usize> {
        self.tables.get(PRUNER).map(|_| self.about.candidates)
    }

    /// The weights and what they mean.
    pub fn parser(&self) -> Parser<'_> {
        let spec = PruneSpec { most: self.about.candidates as f64, ..PruneSpec::default() };
        Parser {
            grammar: &self.grammar,
            templates: &self.templates,
            trees: self.tables.trees(),
            pruner: self.tables.get(PRUNER).map(|w| (w, spec)),
        }
    }

    /// The best tree of each sentence: [`answer`](StructuredModel::answer) to a plain question.
    pub fn parse(&self, data: &BracketTreebank) -> Result<Vec<ParsedTree>, Error> {
        self.answer(data, &Ask::default())
    }

    /// Compares trees as EVALB does, by these rules, with the counts of each sentence.
    pub fn compare_by(
        &self,
        data: &BracketTreebank,
        parsed: &[ParsedTree],
        options: BracketOptions,
    ) -> Result<(BracketMetrics, Vec<SentenceBrackets>), Error> {
        let mut evaluation = BracketEvaluation::new(options);
        let mut counts = Vec::with_capacity(parsed.len());
        for (sentence, parsed) in data.iter().zip(parsed) {
            let words: Vec<&str> = sentence.words().collect();
            let tree = sentence.tree();
            let bracket = |label, start, end| Bracket { label, start, end };
            let gold: Vec<Bracket<'_>> =
                tree.nodes().iter().map(|n| bracket(n.label, n.start, n.end)).collect();
            let found: Vec<Bracket<'_>> = parsed
                .phrases
                .iter()
                .map(|p| bracket(&p.label, p.start as usize, p.end as usize))
                .collect();
            let tags: Vec<&str> = parsed.tags.iter().map(String::as_str).collect();
            counts.push(evaluation.add(
                &BracketTree { words: &words, tags: tree.tags(), brackets: &gold },
                &BracketTree { words: &words, tags: &tags, brackets: &found },
            )?);
        }
        Ok((evaluation.finish()?, counts))
    }

    fn bytes_with(&self, tables: &Tables) -> Result<Vec<u8>, Error> {
        let GrammarTables { labels, tags, numbers } = self.grammar.to_tables();
        let about = About { tables: tables.infos(), labels, tags, ..self.about.clone() };
        let numbers = (GRAMMAR, vec![numbers.len()], TensorData::U32(&numbers));
        tables.encode_with_tagger(&about, Some(&self.tagger), vec![numbers])
    }

    /// Explains each phrase of a sentence's tree, or those that begin with a word (from 0).
    pub fn explain(
        &self,
        data: &BracketTreebank,
        sentence: usize,
        word: Option<usize>,
    ) -> Result<Vec<PhraseExplanation>, Error> {
        let data = data.select(&[sentence]);
        check_word(word, data.get(0).len())?;
        let (parser, tags) = (self.parser(), self.tags(&data)?);
        data.check_lengths(0..1, longest(parser.pruner.is_some()))?;
        let words: Vec<&str> = data.get(0).words().collect();
        let listener = Listener::here();
        let asked = |t: usize| !listener.is_stopped() && word.is_none_or(|word| word == t);
        let found = parser.explain(&words, &tags[0], asked, self.has_proba());
        listener.go_on()?;
        found.map_err(|_| data.error_at(0, "no tree is possible").into())
    }

    /// Parses some sentences in this thread.
    fn parse_chunk(
        &self,
        data: &BracketTreebank,
        tags: &[Vec<String>],
        which: Range<usize>,
        wide: Option<&[f64]>,
        ask: &Ask,
    ) -> Result<Vec<ParsedTree>, Error> {
        let parser = self.parser();
        data.check_lengths(which.clone(), longest(parser.pruner.is_some()))?;
        let sentences = hash(&self.templates, &self.grammar, data, tags, which.clone());
        let known = match ask.known {
            true => which.clone().map(|i| self.known(data.get(i))).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        let question =
            ParseAsk { proba: ask.proba, n_best_proba: self.has_proba(), n_best: ask.n_best };
        let parsed = match wide {
            Some(w) => parser.parse(&sentences, w, &known, &question),
            None => parser.parse(&sentences, parser.trees, &known, &question),
        };
        let mut parsed = parsed.map_err(|(i, _)| {
            let message = "no tree is possible: the known brackets contradict each other";
            data.error_at(which.start + i, message)
        })?;
        which.zip(&mut parsed).for_each(|(i, parsed)| parsed.tags.clone_from(&tags[i]));
        Ok(parsed)
    }

    /// The brackets of a sentence that must hold; `_` is any label.
    fn known(&self, sentence: BracketSentence<'_>) -> Result<Known, Error> {
        let tree = sentence.tree();
        let any = |label| Some(label).filter(|label| *label != tags::UNKNOWN);
        let brackets: Vec<(u32, u32, Option<&str>)> =
            tree.nodes().iter().map(|n| (n.start as u32, n.end as u32, any(n.label))).collect();
        Known::new(&self.grammar, sentence.len(), &brackets).map_err(|error| {
            let name = |at: usize| {
                let node = tree.nodes()[at];
                format!("{} over words {} to {}", node.label, node.start + 1, node.end)
            };
            let message = match error {
                KnownError::Label { bracket, .. } => {
                    format!("the label of {} is not one of the model's", name(bracket))
                }
                KnownError::Together { bracket } => format!(
                    "the model has never seen {} together with the other labels of these words",
                    name(bracket)
                ),
                error => error.to_string(),
            };
            sentence.data().error_at(sentence.index(), message).into()
        })
    }

    /// The part of speech of each word: those of the data where training was on these, or else the tagger's.
    fn tags(&self, data: &BracketTreebank) -> Result<Vec<Vec<String>>, Error> {
        tags::tags(&self.tagger, data, self.spec().constituency.tags != TagsKind::Gold)
    }
}

impl StructuredModel for ConstituencyModel {
    type Data = BracketTreebank;
    type Options = BracketReadOptions;
    type Answer = ParsedTree;
    type Metrics = BracketMetrics;
    const METRICS: &'static [&'static str] = &["f1", "precision", "recall", "exact"];

    fn header(&self) -> &Header {
        &self.about.header
    }

    fn keep_evaluation(&mut self, evaluation: Evaluation) {
        self.about.header.evaluation = Some(evaluation);
    }

    fn from_file(file: ModelFile) -> Result<Self, Error> {
        let about: About = structured::description(&file, Task::Constituency)?;
        let bad = |why: &str| structured::unfit(&file, why);
        about.schema.check().map_err(|why| bad(&why))?;
        let missing = |name: &str| Error::from(file.bad_tensor(name, "it is not there"));
        let numbers = file.u32(GRAMMAR)?.ok_or_else(|| missing(GRAMMAR))?.to_vec();
        let (labels, tags) = (about.labels.clone(), about.tags.clone());
        let grammar = Grammar::from_tables(&GrammarTables { labels, tags, numbers })
            .map_err(|why| bad(&format!("its grammar: {why}")))?;
        let spec = &about.header.spec.constituency;
        let templates = templates(spec).map_err(|e| bad(&e.to_string()))?;
        let tables = Tables::read(&file, &about.tables)?;
        let hashed = tables.trees().len().saturating_sub(grammar.pairs().len());
        let pruner = tables.get(PRUNER).map(<[f32]>::len);
        let fits = hashed.is_power_of_two()
            && HASH_BITS.contains(&hashed.trailing_zeros())
            && hashed > grammar.n_columns().max(grammar.n_categories())
            && pruner.is_none_or(|n| n.is_power_of_two() && n >= 16 && about.candidates >= 1)
            && about.header.spec.task == Task::Constituency;
        if !fits {
            return Err(bad("its choices do not fit each other"));
        }
        let tagger = Tables::tagger(&file)?.ok_or_else(|| bad("it has no tagger"))?;
        Ok(Self { grammar, templates, tables, tagger, about })
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
        Ok(Self { tables, ..bare })
    }

    fn n_weights(&self) -> usize {
        self.tables.n_weights()
    }

    fn read(
        &self,
        source: impl Into<Source>,
        options: &BracketReadOptions,
    ) -> Result<BracketTreebank, Error> {
        Ok(lineal_data::read_brackets_with(source, &self.options(options), self.schema())?)
    }

    fn stream(
        &self,
        source: impl Into<Source>,
        options: &BracketReadOptions,
        on_block: &mut dyn FnMut(&BracketTreebank) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let options = self.options(options);
        Ok(lineal_data::stream_brackets(source, &options, self.schema(), on_block)?)
    }

    fn answer(&self, data: &BracketTreebank, ask: &Ask) -> Result<Vec<ParsedTree>, Error> {
        self.check_proba(ask)?;
        if ask.sample.is_some() || ask.min_risk {
            return Err(Error::request(
                "a constituency parser gives only its best trees and the probabilities of phrases",
            ));
        }
        let tags = self.tags(data)?;
        let wide = self.tables.trees_in_double(ask);
        in_chunks(
            data.len(),
            || (),
            |(), which| self.parse_chunk(data, &tags, which, wide.as_deref(), ask),
        )
    }

    fn probability(answer: &ParsedTree) -> Option<f64> {
        answer.probability
    }

    /// Punctuation counts.
    fn compare(
        &self,
        data: &BracketTreebank,
        parsed: &[ParsedTree],
    ) -> Result<BracketMetrics, Error> {
        Ok(self.compare_by(data, parsed, BracketOptions::default())?.0)
    }
}

impl ConstituencyModel {
    /// Functions are kept or cut as they were in training.
    fn options(&self, options: &BracketReadOptions) -> BracketReadOptions {
        let cut_functions = !self.spec().constituency.functions;
        BracketReadOptions { cut_functions, ..options.clone() }
    }
}

pub(super) fn templates(spec: &ConstituencySpec) -> Result<Templates, Error> {
    match &spec.templates {
        Some(text) => Templates::parse(text).map_err(|e| Error::request(format!("templates: {e}"))),
        None => Ok(Templates::built_in()),
    }
}

/// The sentences as features see them.
pub(super) fn hash(
    templates: &Templates,
    grammar: &Grammar,
    data: &BracketTreebank,
    tags: &[Vec<String>],
    which: Range<usize>,
) -> Sentences {
    let mut sentences = Sentences::new(templates);
    for i in which {
        let words: Vec<&str> = data.get(i).words().collect();
        sentences.push(templates, grammar, &words, &tags[i]);
    }
    sentences
}
