//! From a spec and bracketed trees to a parser, in stages.

use super::model::{About, ConstituencyModel, HASH_BITS, PRUNER, TREES, templates};
use super::parse::{check_lengths, phrases};
use super::spec::ConstituencySpec;
use super::tags;
use crate::Error;
use crate::dependency::TagsKind;
use crate::request::spec::{Task, TrainSpec};
use crate::structured::{Counts, Header, Metric, Tables, fit, stage, train_and_held_out};
use crate::train::report::{Report, StageReport, StructuredReport};
use crate::train::{Trainable, Training};
use lineal_constituents::features::{Section, Sentences, Templates};
use lineal_constituents::problem::{
    Candidates, ConstituentParts, Constituents, Known, PruneSpec, SpanClassifier,
};
use lineal_constituents::{Derivation, Grammar, GrammarSpec, Phrase, Tree};
use lineal_data::{BracketSentence, BracketTreebank};
use lineal_erm::structured::{LearnSpec, Learnt, Loss, Solver, learn};
use lineal_model::structure::{Ask, MaxOracle, Structure};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

/// The phrase around every tree, so that there is one.
pub(super) const TOP: &str = "TOP";
/// Bits of the pruner's table.
const PRUNER_BITS: u32 = 20;
const PRUNER_EPOCHS: usize = 2;
const PRUNER_RATE: f64 = 0.05;
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
                        ", or choose among all spans by --candidates 0"
                    } else {
                        ""
                    }
                )));
            }
        }
        let keep = PruneSpec { most: most as f64, ..PruneSpec::default() };
        let (mut tables, mut stages, mut candidates) = (Tables::default(), Vec::new(), None);
        if most > 0 {
            let (w, left, report) =
                learn_pruner(&templates, &sentences, &grammar, &gold, keep, spec.seed)?;
            stages.push(report);
            tables.push(PRUNER, w);
            candidates = Some(left);
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
                Ok(f1(held, &problem, w))
            }))
        });
        let metric = metric.transpose()?;
        let learning = spec.learning(data.len() as f64)?;
        let mut run =
            fit(spec, on_pass, metric, |see| Ok(learn(&problem, &learning.request, start, see)?))?;
        tables.push(TREES, std::mem::take(&mut run.w));

        let weights = tables.get(TREES).unwrap_or_default();
        let counts = Counts {
            examples: data.len(),
            features: weights.iter().filter(|w| **w != 0.0).count(),
            classes: data.schema.labels.len(),
        };
        let structured = StructuredReport {
            tokens: data.n_words(),
            weights: weights.len(),
            stages,
            ..StructuredReport::default()
        };
        let report = run.report(spec, &learning, counts, structured);
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
        return refuse(format!("--hash {bits}: choose from {least} to {most} bits"));
    }
    if !(1..=4).contains(&vertical) || horizontal > 4 {
        return refuse("--vertical is from 1 to 4, and --horizontal from 0 to 4".into());
    }
    if tags == TagsKind::Given {
        return refuse("--tags of --task constituency is jackknife, or left out".into());
    }
    if spec.cost.is_some() {
        return refuse("--cost has no place in constituency trees, whose cost is the number of wrong phrases: leave it out".into());
    }
    if data.is_empty() || !data.has_tags() {
        return refuse(format!("{}: there are no trees to learn from", data.source));
    }
    check_lengths(data, 0..data.len(), spec.constituency.candidates != Some(0))
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
        let inner =
            named.nodes().iter().map(|n| Phrase::new(n.label, n.start as u32, n.end as u32));
        let phrases = [Phrase::new(TOP, 0, n as u32)].into_iter().chain(inner).collect();
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

/// Learns which spans are left to choose from.
fn learn_pruner(
    templates: &Templates,
    sentences: &Sentences,
    grammar: &Grammar,
    gold: &[Derivation],
    keep: PruneSpec,
    seed: u64,
) -> Result<(Vec<f32>, Candidates, StageReport), Error> {
    let request = LearnSpec {
        loss: Loss::Logistic,
        solver: Solver::Sgd,
        passes: PRUNER_EPOCHS,
        rate: Some(PRUNER_RATE),
        seed,
        ..LearnSpec::default()
    };
    let free = SpanClassifier::new(templates, sentences, PRUNER_BITS);
    let problem = free.clone().with_gold(gold);
    let Learnt { w, report } = learn(&problem, &request, None, &mut |_| ControlFlow::Continue(()))?;
    // Recall is of spans that pruning would keep of sentences like these; the gold ones are put back for training.
    let recall = prune(&free, &w, keep, grammar).recall(gold);
    let candidates = prune(&problem, &w, keep, grammar);
    let figure = ("recall of phrases in the training data", recall);
    Ok((w, candidates, stage(PRUNER, &request, &report, figure)))
}

/// Sentences that a thread takes at a time.
const CHUNK: usize = 32;

/// The spans that are left, in all threads.
fn prune(
    classifier: &SpanClassifier<'_>,
    w: &[f32],
    keep: PruneSpec,
    grammar: &Grammar,
) -> Candidates {
    let n = Structure::<f32>::n_examples(classifier);
    let of_chunk = |c: usize| {
        let (mut s, mut theta) = (Structure::<f32>::scratch(classifier), Vec::new());
        let (mut kept, free) = (Candidates::default(), Known::default());
        for i in c * CHUNK..n.min((c + 1) * CHUNK) {
            classifier.scores(i, w, 1.0, &mut s, &mut theta);
            classifier.prune(i, &theta, keep, grammar.spec().branching, &free, &mut kept);
        }
        kept
    };
    let chunks: Vec<Candidates> = (0..n.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
    let mut all = Candidates::default();
    chunks.iter().for_each(|chunk| all.append(chunk));
    all
}

/// F1 of labelled phrases.
fn f1(data: &BracketTreebank, problem: &Constituents<'_>, w: &[f32]) -> f64 {
    let one = |i: usize| {
        let mut s = Structure::<f32>::scratch(problem);
        let (mut theta, mut y) = (ConstituentParts::default(), Derivation::default());
        problem.scores(i, w, 1.0, &mut s, &mut theta);
        if problem.argmax(i, &mut theta, Ask::Plain, &mut s, &mut y).is_err() {
            return (0, 0);
        }
        let mut found = phrases(problem.grammar(), &y);
        let tree = data.get(i).tree();
        let n = tree.nodes().len() + found.len();
        let mut right = 0;
        for node in tree.nodes() {
            let phrase = Phrase::new(node.label, node.start as u32, node.end as u32);
            if let Some(at) = found.iter().position(|other| *other == phrase) {
                found.swap_remove(at);
                right += 1;
            }
        }
        (right, n)
    };
    let counts: Vec<(usize, usize)> = (0..data.len()).into_par_iter().map(one).collect();
    let (right, all) = counts.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    2.0 * right as f64 / all.max(1) as f64
}

impl ConstituencyModel {
    /// The weights to start from, if they are of the same grammar and templates.
    fn start(&self, grammar: &Grammar, templates: &Templates, bits: u32) -> Result<&[f32], Error> {
        let same = self.grammar.to_tables() == grammar.to_tables()
            && self.templates == *templates
            && self.trees().len() == (1 << bits) + grammar.pairs().len();
        match same {
            true => Ok(self.trees()),
            false => Err(Error::request(
                "the model to start from has another grammar or other templates; give trees with the same labels, and the same --horizontal, --vertical, --template and --hash",
            )),
        }
    }
}
