//! From a spec and bracketed trees to a parser, in stages.

use super::model::{About, ConstituencyModel, HASH_BITS, hash, templates};
use super::spec::ConstituencySpec;
use super::tags;
use crate::Error;
use crate::request::spec::{Task, TrainSpec};
use crate::structured::{
    Header, Metric, PRUNER, TREES, Tables, TagsKind, TreeCounts, fit, learn_pruner,
    train_and_held_out,
};
use crate::train::report::Report;
use crate::train::{Trainable, Training};
use lineal_constituents::features::{Section, Templates};
use lineal_constituents::parser::{TOP, f1, longest, prune};
use lineal_constituents::problem::{Constituents, PruneSpec, SpanClassifier};
use lineal_constituents::{Derivation, Grammar, GrammarSpec, Phrase, Tree};
use lineal_data::{BracketSentence, BracketTreebank};
use lineal_erm::structured::learn;
use std::borrow::Cow;
use std::collections::HashMap;

/// Bits of the pruner's table.
const PRUNER_BITS: u32 = 20;
/// Bits of the trees' table, where nothing is said.
const BITS: u32 = 24;
/// Spans per word that pruning leaves, where nothing is said.
const CANDIDATES: usize = 20;
/// Phrases over the same words: more are a mistake in the data, and each of them would be a label of its own.
const DEEPEST: usize = 50;

impl From<ConstituencySpec> for TrainSpec {
    /// Constituency parsing with these choices and the defaults of everything else.
    fn from(constituency: ConstituencySpec) -> Self {
        Self { constituency, ..Self::for_task(Task::Constituency) }
    }
}

impl Trainable for BracketTreebank {
    type Model = ConstituencyModel;

    fn is_for(task: Task) -> bool {
        task == Task::Constituency
    }

    fn train(run: Training<'_, Self>) -> Result<(ConstituencyModel, Report), Error> {
        let Training { data, spec, held_out, start, on_pass, .. } = run;
        let choice = &spec.constituency;
        check(spec, data)?;
        let (data, held_out) = train_and_held_out(data, held_out, spec)?;
        let tagger = Box::new(tags::learn(&data, spec.seed)?);
        let data = match choice.tags {
            TagsKind::Jackknife => Cow::Owned(tags::jackknife(&data, spec.seed)?),
            _ => data,
        };
        let data = &*data;
        let templates = templates(choice)?;
        let (trees, words) = (trees(data)?, tagged(data));
        let grammar_spec = GrammarSpec {
            horizontal: choice.horizontal,
            vertical: choice.vertical,
            ..GrammarSpec::default()
        };
        let pairs = trees.iter().zip(words.iter().map(Vec::as_slice));
        let grammar = Grammar::read(pairs.clone(), grammar_spec);
        let gold: Vec<Derivation> =
            pairs.map(|(tree, tags)| grammar.derive(tree, tags).unwrap_or_default()).collect();
        let sentences = hash(&templates, &grammar, data, &words, 0..data.len());

        let most = choice.candidates.unwrap_or(CANDIDATES);
        for (section, is_needed) in [(Section::Label, true), (Section::Span, most > 0)] {
            if is_needed && templates.n_templates(section) == 0 {
                return Err(Error::request(format!(
                    "templates: there are none in [{}]; add some{}",
                    section.name(),
                    if section == Section::Span {
                        ", or choose among all spans by spec.constituency.candidates = 0"
                    } else {
                        ""
                    }
                )));
            }
        }
        let keep = PruneSpec { most: most as f64, ..PruneSpec::default() };
        let (mut tables, mut stages, mut candidates) = (Tables::default(), Vec::new(), None);
        if most > 0 {
            let free = SpanClassifier::new(&templates, &sentences, PRUNER_BITS);
            let problem = free.clone().with_gold(&gold);
            // Recall is of spans that pruning would keep of sentences like these; the gold ones are put back for training.
            let recall = |w: &[f32]| prune(&free, w, keep, &grammar).recall(&gold);
            let (w, report) = learn_pruner(&problem, spec.seed, "phrases", recall)?;
            candidates = Some(prune(&problem, &w, keep, &grammar));
            stages.push(report);
            tables.push(PRUNER, w);
        }
        let bits = choice.hash_bits.unwrap_or(BITS);
        let problem =
            Constituents::new(&grammar, &templates, &sentences, candidates.as_ref(), bits)
                .with_gold(&gold);
        let start = start.map(|old| old.start(&grammar, &templates, bits)).transpose()?;
        let metric = held_out.as_deref().map(|held| -> Result<Metric<'_>, Error> {
            let all = choice.tags != TagsKind::Gold;
            let words = tags::tags(&tagger, held, all)?;
            let sentences = hash(&templates, &grammar, held, &words, 0..held.len());
            let left = tables.get(PRUNER).map(|w| {
                let spans = SpanClassifier::new(&templates, &sentences, PRUNER_BITS);
                prune(&spans, w, keep, &grammar)
            });
            let (grammar, templates) = (&grammar, &templates);
            Ok(Box::new(move |w| {
                let problem =
                    Constituents::new(grammar, templates, &sentences, left.as_ref(), bits);
                Ok(f1(&problem, w, |i| gold_phrases(held.get(i))))
            }))
        });
        let metric = metric.transpose()?;
        let learning = spec.learning(data.len() as f64)?;
        let mut run =
            fit(spec, on_pass, metric, |see| Ok(learn(&problem, &learning.request, start, see)?))?;
        tables.push(TREES, std::mem::take(&mut run.w));

        let (words, labels) = (data.n_words(), data.schema.labels.len());
        let counts = TreeCounts { sentences: data.len(), words, labels };
        let report = run.parser_report(spec, &learning, counts, &tables, stages);
        let about = About {
            header: Header::new(spec, &report, &data.source),
            schema: data.schema.clone(),
            labels: Vec::new(),
            tags: Vec::new(),
            candidates: most,
            tables: tables.infos(),
        };
        Ok((ConstituencyModel { grammar, templates, tables, tagger, about }, report))
    }
}

/// Sees that the choices fit each other and the data.
fn check(spec: &TrainSpec, data: &BracketTreebank) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Request(why));
    let ConstituencySpec { hash_bits, vertical, horizontal, tags, .. } = spec.constituency;
    if let Some(bits) = hash_bits.filter(|bits| !HASH_BITS.contains(bits)) {
        let (least, most) = HASH_BITS.into_inner();
        return refuse(format!(
            "spec.constituency.hash_bits = {bits}: choose from {least} to {most} bits"
        ));
    }
    if !(1..=4).contains(&vertical) || horizontal > 4 {
        return refuse("spec.constituency.vertical is from 1 to 4, and spec.constituency.horizontal from 0 to 4".into());
    }
    if tags == TagsKind::Given {
        return refuse(
            "spec.constituency.tags of spec.task = constituency is jackknife, or left out".into(),
        );
    }
    if spec.cost.is_some() {
        return refuse("spec.cost is not for constituency trees, whose cost is the number of wrong phrases: leave it out".into());
    }
    if data.is_empty() || !data.has_tags() {
        return refuse(format!("{}: there are no trees to learn from", data.source));
    }
    let is_pruned = spec.constituency.candidates != Some(0);
    Ok(data.check_lengths(0..data.len(), longest(is_pruned))?)
}

/// The trees, each with a phrase around it.
fn trees(data: &BracketTreebank) -> Result<Vec<Tree>, Error> {
    let tree = |sentence: BracketSentence<'_>| {
        let n = sentence.len();
        let named = sentence.tree();
        let mut deep: HashMap<(usize, usize), usize> = HashMap::new();
        for node in named.nodes() {
            let depth = deep.entry((node.start, node.end)).or_default();
            *depth += 1;
            if *depth > DEEPEST {
                let message = format!(
                    "more than {DEEPEST} phrases over the same words: a tree has a few; is the file what it should be?"
                );
                return Err(data.error_at(sentence.index(), message).into());
            }
        }
        let top = Phrase::new(TOP, 0, n as u32);
        let phrases = [top].into_iter().chain(gold_phrases(sentence)).collect();
        Tree::new(n, phrases).map_err(|e| data.error_at(sentence.index(), e.to_string()).into())
    };
    data.iter().map(tree).collect()
}

/// The parts of speech of the data.
fn tagged(data: &BracketTreebank) -> Vec<Vec<String>> {
    let tags = |s: BracketSentence<'_>| {
        (0..s.len()).map(|t| s.tag(t).unwrap_or(tags::UNKNOWN).to_owned()).collect()
    };
    data.iter().map(tags).collect()
}

/// The phrases of a sentence of the data.
fn gold_phrases(sentence: BracketSentence<'_>) -> Vec<Phrase> {
    let tree = sentence.tree();
    let phrases = tree.nodes().iter().map(|n| Phrase::new(n.label, n.start as u32, n.end as u32));
    phrases.collect()
}

impl ConstituencyModel {
    /// The weights to start from, if they are of the same grammar and templates.
    fn start(&self, grammar: &Grammar, templates: &Templates, bits: u32) -> Result<&[f32], Error> {
        let same = self.grammar.to_tables() == grammar.to_tables()
            && self.templates == *templates
            && self.tables.trees().len() == (1 << bits) + grammar.pairs().len();
        match same {
            true => Ok(self.tables.trees()),
            false => Err(Error::request(
                "the model to start from has another grammar or other templates; give trees with the same labels, and the same spec.constituency.horizontal, spec.constituency.vertical, spec.constituency.templates and spec.constituency.hash_bits",
            )),
        }
    }
}
