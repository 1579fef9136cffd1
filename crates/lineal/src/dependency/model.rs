//! A trained parser: its parts, its file, and what it says of sentences.

use super::spec::{DecoderKind, LabellerKind};
use crate::listener::Listener;
use crate::predict::evaluation::Evaluation;
use crate::request::spec::Task;
use crate::structured::{
    self, Ask, Header, PRUNER, StructuredModel, TREES, TableInfo, Tables, check_word, in_chunks,
    tags,
};
use crate::tag::TagModel;
use crate::{Error, TreebankOptions};
use lineal_data::{
    ConlluColumn, HeadConstraints, NO_HEAD, NO_RELATION, Sentence, Source, Treebank, TreebankSchema,
};
use lineal_dependencies::features::{Sentences, Templates};
use lineal_dependencies::parser::{ArcExplanation, ParseAsk, Parsed, Parser};
use lineal_dependencies::problem::{PruneSpec, TreeKind, TreeSpec};
use lineal_metrics::{DependencyMetrics, ParsedTrees, dependencies};
use lineal_model::file::ModelFile;
use lineal_model::structure::Infeasible;
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};

/// The table of the relations.
pub(super) const RELATIONS: &str = "relations";

/// A model that gives a head and a relation to each word of a sentence.
#[derive(Clone, Debug)]
pub struct DependencyModel {
    pub(super) templates: Templates,
    pub(super) tables: Tables,
    /// Tags sentences before they are parsed, where training was on predicted tags.
    pub(super) tagger: Option<Box<TagModel>>,
    pub(super) about: About,
}

/// The JSON inside the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    #[serde(flatten)]
    pub(super) header: Header,
    pub(super) schema: TreebankSchema,
    /// What features read.
    pub(super) columns: Vec<ConlluColumn>,
    pub(super) decoder: DecoderKind,
    pub(super) order: u32,
    /// The relation that all roots and no other words have.
    pub(super) root: Option<u32>,
    /// The most heads of a word after pruning.
    pub(super) candidates: usize,
    pub(super) tables: Vec<TableInfo>,
}

impl DependencyModel {
    /// The relations by number.
    pub fn relations(&self) -> &[String] {
        &self.about.schema.relations
    }

    /// The name of a relation.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn relation(&self, relation: u32) -> &str {
        &self.relations()[relation as usize]
    }

    /// What it knows of its treebank.
    pub fn schema(&self) -> &TreebankSchema {
        &self.about.schema
    }

    /// The columns that its features read.
    pub fn columns(&self) -> &[ConlluColumn] {
        &self.about.columns
    }

    /// The most heads of a word that are left to choose from; none if all are.
    pub fn candidates(&self) -> Option<usize> {
        self.tables.get(PRUNER).map(|_| self.about.candidates)
    }

    /// The templates of its features.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The tagger that it brings, where it was trained on predicted tags.
    pub fn tagger(&self) -> Option<&TagModel> {
        self.tagger.as_deref()
    }

    /// The weights and what they mean.
    pub fn parser(&self) -> Parser<'_> {
        let prune = PruneSpec { most: self.about.candidates, ..PruneSpec::default() };
        let trees = self.tables.trees();
        let is_joint = self.spec().dependency.labeller == LabellerKind::Joint;
        Parser {
            templates: &self.templates,
            spec: TreeSpec {
                kind: tree_kind(self.about.decoder, self.about.order),
                single_root: self.spec().dependency.single_root,
                n_relations: if is_joint { self.relations().len() } else { 0 },
                bits: trees.len().trailing_zeros(),
            },
            trees,
            pruner: self.tables.get(PRUNER).map(|w| (w, prune)),
            relations: self.tables.get(RELATIONS),
            n_relations: self.relations().len(),
            root: self.about.root,
        }
    }

    /// The best tree of each sentence: [`answer`](StructuredModel::answer) to a plain question.
    pub fn parse(&self, data: &Treebank) -> Result<Vec<Parsed>, Error> {
        self.answer(data, &Ask::default())
    }

    /// Explains each word of a sentence, or one of them.
    pub fn explain(
        &self,
        data: &Treebank,
        sentence: usize,
        word: Option<usize>,
    ) -> Result<Vec<ArcExplanation>, Error> {
        let data = data.select(&[sentence]);
        let data = &*tags::tagged(self.tagger(), &data)?.0;
        let n = data.get(0).len();
        check_word(word, n)?;
        let words = word.map_or(0..n, |t| t..t + 1);
        let parser = self.parser();
        data.check_lengths(0..1, parser.spec.longest(parser.pruner.is_some()))?;
        let forbidden = &self.spec().dependency.forbidden;
        let constraints = HeadConstraints::new(forbidden, false, data, 0..1)?;
        let allowed = |i: usize, t: usize, head: u32| constraints.allows(i, t, head);
        let allowed = (!constraints.is_empty()).then_some(&allowed as _);
        let cells = cells(self.columns(), data.get(0));
        let listener = Listener::here();
        let words = words.take_while(|_| !listener.is_stopped());
        let found = parser.explain(&cells, words, allowed, self.has_proba());
        listener.go_on()?;
        found.map_err(|found| no_tree(data, 0, found, false, !forbidden.is_empty()))
    }

    /// Parses some sentences in this thread.
    fn parse_chunk(
        &self,
        data: &Treebank,
        which: Range<usize>,
        wide: Option<&[f64]>,
        ask: &Ask,
    ) -> Result<Vec<Parsed>, Error> {
        let parser = self.parser();
        let is_pruned = parser.pruner.is_some();
        let longest = parser.spec.longest(is_pruned);
        let listed = parser.spec.longest_listed(is_pruned);
        data.check_lengths(which.clone(), if ask.n_best > 0 { listed } else { longest })?;
        let sentences = hash(&self.templates, self.columns(), which.clone().map(|i| data.get(i)));
        let forbidden = &self.spec().dependency.forbidden;
        let constraints = HeadConstraints::new(forbidden, ask.known, data, which.clone())?;
        let allowed = |i: usize, t: usize, head: u32| constraints.allows(i, t, head);
        let allowed = (!constraints.is_empty()).then_some(&allowed as _);
        let (proba, n_best_proba) = (ask.proba, self.has_proba());
        let question = ParseAsk { proba, n_best_proba, n_best: ask.n_best, min_risk: ask.min_risk };
        let parsed = match wide {
            Some(w) => parser.parse(&sentences, w, allowed, &question),
            None => parser.parse(&sentences, parser.trees, allowed, &question),
        };
        let mut parsed = parsed.map_err(|(i, found)| {
            no_tree(data, which.start + i, found, ask.known, !forbidden.is_empty())
        })?;
        if ask.known {
            for (i, parsed) in which.zip(&mut parsed) {
                self.keep_known(data.get(i), parsed)?;
            }
        }
        Ok(parsed)
    }

    /// Puts relations back that the data has beside a known head.
    fn keep_known(&self, sentence: Sentence<'_>, parsed: &mut Parsed) -> Result<(), Error> {
        let given = sentence.heads().iter().zip(sentence.deprels()).enumerate();
        let is_known = |&(_, (&head, &relation)): &(usize, (&u32, &u32))| {
            head != NO_HEAD && relation != NO_RELATION
        };
        for (t, (_, &relation)) in given.filter(is_known) {
            if relation as usize >= self.relations().len() {
                let data = sentence.data();
                let message = format!(
                    "the known relation `{}` is not one of the model's; correct it, or write `_` to have it predicted",
                    data.relations[relation as usize]
                );
                return Err(data.error_at(sentence.index(), t, message).into());
            }
            parsed.trees_mut().for_each(|(_, relations)| relations[t] = relation);
        }
        Ok(())
    }

    fn bytes_with(&self, tables: &Tables) -> Result<Vec<u8>, Error> {
        let about = About { tables: tables.infos(), ..self.about.clone() };
        tables.encode_with_tagger(&about, self.tagger(), Vec::new())
    }
}

impl StructuredModel for DependencyModel {
    type Data = Treebank;
    type Options = TreebankOptions;
    type Answer = Parsed;
    type Metrics = DependencyMetrics;
    const METRICS: &'static [&'static str] =
        &["las", "uas", "label_accuracy", "las_no_punct", "uas_no_punct", "exact"];

    fn header(&self) -> &Header {
        &self.about.header
    }

    fn keep_evaluation(&mut self, evaluation: Evaluation) {
        self.about.header.evaluation = Some(evaluation);
    }

    fn from_file(file: ModelFile) -> Result<Self, Error> {
        let file = &file;
        let about: About = structured::description(file, Task::Dependency)?;
        let bad = |why: &str| structured::unfit(file, why);
        about.schema.check().map_err(|why| bad(&format!("its relations: {why}")))?;
        let n_relations = about.schema.relations.len();
        let spec = &about.header.spec;
        let tables = Tables::read(file, &about.tables)?;
        let of_relations = match spec.dependency.labeller {
            LabellerKind::Joint => tables.get(TREES).filter(|_| tables.get(RELATIONS).is_none()),
            LabellerKind::Second => tables.get(RELATIONS),
        };
        let fits = spec.task == Task::Dependency
            && about.tables.iter().all(|t| t.len.is_power_of_two() && t.len >= 16)
            && tables.get(TREES).is_some_and(|w| w.len() >= 1 << HASH_BITS.start())
            && of_relations.is_some_and(|w| (1..=w.len() / 16).contains(&n_relations))
            && (tables.get(PRUNER).is_none() || about.candidates >= 2)
            && about.root.is_none_or(|root| (root as usize) < n_relations)
            && matches!((about.decoder, about.order), (_, 1) | (DecoderKind::Projective, 2));
        if !fits {
            return Err(bad("its choices do not fit each other"));
        }
        let templates = templates(spec.dependency.templates.as_deref(), &about.columns)
            .map_err(|e| bad(&e.to_string()))?;
        let tagger = Tables::tagger(file)?;
        if let Some(tagger) = &tagger {
            tags::check(tagger).map_err(|e| bad(&e.to_string()))?;
        }
        Ok(Self { templates, tables, tagger, about })
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
        options: &TreebankOptions,
    ) -> Result<Treebank, Error> {
        Ok(lineal_data::read_treebank_with(source, options, self.schema())?)
    }

    fn stream(
        &self,
        source: impl Into<Source>,
        options: &TreebankOptions,
        on_block: &mut dyn FnMut(&Treebank) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        Ok(lineal_data::stream_treebank(source, options, self.schema(), on_block)?)
    }

    fn answer(&self, data: &Treebank, ask: &Ask) -> Result<Vec<Parsed>, Error> {
        self.check_proba(ask)?;
        if ask.sample.is_some() {
            return Err(Error::request("trees are not drawn at random; ask for the best ones"));
        }
        let (data, tags) = tags::tagged(self.tagger(), data)?;
        let wide = self.tables.trees_in_double(ask);
        let mut parsed = in_chunks(
            data.len(),
            || (),
            |(), which| self.parse_chunk(&data, which, wide.as_deref(), ask),
        )?;
        if let Some(tags) = tags {
            for (i, parsed) in parsed.iter_mut().enumerate() {
                parsed.tags = Some(tags[data.tokens(i)].to_vec());
            }
        }
        Ok(parsed)
    }

    fn probability(answer: &Parsed) -> Option<f64> {
        answer.probability
    }

    fn compare(&self, data: &Treebank, parsed: &[Parsed]) -> Result<DependencyMetrics, Error> {
        let heads: Vec<u32> = parsed.iter().flat_map(|p| &p.heads).copied().collect();
        let deprels: Vec<u32> = parsed.iter().flat_map(|p| &p.relations).copied().collect();
        let ends = (0..data.len()).map(|i| data.tokens(i).end);
        let start: Vec<usize> = [0].into_iter().chain(ends).collect();
        let is_punct: Option<Vec<bool>> = data.has_column(ConlluColumn::Upos).then(|| {
            let of = |s: Sentence<'_>, t| s.cell(t, ConlluColumn::Upos) == "PUNCT";
            data.iter().flat_map(|s| (0..s.len()).map(move |t| of(s, t))).collect()
        });
        Ok(dependencies(&ParsedTrees {
            start: &start,
            gold_heads: data.heads(),
            gold_deprels: data.deprels(),
            heads: &heads,
            deprels: &deprels,
            relations: &data.relations,
            n_known: self.relations().len(),
            is_punct: is_punct.as_deref(),
        })?)
    }
}

/// The bits of the trees' table that can be chosen.
pub(super) const HASH_BITS: std::ops::RangeInclusive<u32> = 10..=28;

pub(super) fn tree_kind(decoder: DecoderKind, order: u32) -> TreeKind {
    match (decoder, order) {
        (DecoderKind::Nonprojective, _) => TreeKind::NonProjective,
        (DecoderKind::Projective, 2) => TreeKind::SecondOrder,
        (DecoderKind::Projective, _) => TreeKind::Projective,
    }
}

pub(super) fn templates(text: Option<&str>, columns: &[ConlluColumn]) -> Result<Templates, Error> {
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    let parsed = match text {
        Some(text) => Templates::parse(text, &names),
        None => Templates::built_in(&names),
    };
    parsed.map_err(|e| Error::request(format!("templates: {e}")))
}

/// The cells of a sentence that features read, word by word.
fn cells<'a>(columns: &[ConlluColumn], sentence: Sentence<'a>) -> Vec<&'a str> {
    let words = 0..sentence.len();
    words.flat_map(|t| columns.iter().map(move |&c| sentence.cell(t, c))).collect()
}

/// The sentences as features see them.
pub(super) fn hash<'a>(
    templates: &Templates,
    columns: &[ConlluColumn],
    sentences: impl IntoIterator<Item = Sentence<'a>>,
) -> Sentences {
    let mut hashed = Sentences::new(templates);
    sentences.into_iter().for_each(|s| hashed.push(templates, &cells(columns, s)));
    hashed
}

/// A sentence without a tree, at its line, and what may have ruled all of them out.
fn no_tree(data: &Treebank, i: usize, found: Infeasible, known: bool, forbids: bool) -> Error {
    let of_known = "ask.known heads may not cross in a projective parser nor name two roots, and `NotHead` in the column MISC must leave each word a head";
    let of_forbidden = "every tree of this sentence has an arc that spec.dependency.forbidden named in training; leave the sentence out, or train without these arcs";
    let why = match (known, forbids) {
        (true, false) => of_known.to_owned(),
        (true, true) => format!("{of_known}; or {of_forbidden}"),
        (false, _) => of_forbidden.to_owned(),
    };
    data.error_at(i, found.at, format!("no tree is possible here: {why}")).into()
}
