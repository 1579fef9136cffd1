//! Trees for sentences: pruned, parsed, and explained.

use super::model::ConstituencyModel;
use super::tags;
use super::train::{TOP, hash};
use crate::Error;
use crate::structured::{Ask, StructuredModel};
use lineal_constituents::features::Sentences;
use lineal_constituents::problem::{
    Bracket, Candidates, ConstituentParts, Constituents, Known, KnownError, SpanClassifier,
};
use lineal_constituents::{Derivation, Grammar, Phrase};
use lineal_data::{BracketSentence, BracketTreebank};
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask as Question, Infeasible, MaxOracle, Structure, SumOracle};
use std::ops::Range;

/// The tree of a sentence, with what was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedTree {
    /// The phrases, outer ones before inner ones and earlier ones before later ones.
    pub phrases: Vec<Phrase>,
    /// The part of speech of each word: that of the data, or the tagger's.
    pub tags: Vec<String>,
    /// The score of the tree.
    pub score: f64,
    /// The probability of the tree, if asked for.
    pub probability: Option<f64>,
    /// Phrases with their probabilities, if asked for: of the tree, and others of at least 1 %.
    pub spans: Option<Vec<(Phrase, f64)>>,
    /// The best trees, if asked for.
    pub n_best: Vec<RankedPhrases>,
}

/// One of the best trees.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedPhrases {
    /// Its phrases.
    pub phrases: Vec<Phrase>,
    /// Its score.
    pub score: f64,
    /// Its probability, where the model has any.
    pub probability: Option<f64>,
}

impl ParsedTree {
    /// The probability of a phrase, if probabilities were asked for.
    pub fn phrase_probability(&self, phrase: &Phrase) -> Option<f64> {
        let spans = self.spans.as_ref()?;
        spans.iter().find(|(other, _)| other == phrase).map(|(_, p)| *p)
    }
}

/// Why words are a phrase: the best tree against the best one in which they are not. The lead is the sum of the amounts of the reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct PhraseExplanation {
    /// The phrase.
    pub phrase: Phrase,
    /// The phrases of the rival that the tree does not have; none where there is no rival.
    pub instead: Option<Vec<Phrase>>,
    /// By how much the tree outscores its rival.
    pub lead: f64,
    /// The probability of the phrase, where the model has any.
    pub probability: Option<f64>,
    /// Largest first.
    pub reasons: Vec<PhraseReason>,
}

/// A feature by which the two trees differ.
#[derive(Clone, Debug, PartialEq)]
pub struct PhraseReason {
    /// The feature; empty for pairs of symbols.
    pub feature: String,
    /// What it belongs to: `NP over words 4-7`.
    pub part: String,
    /// What it adds to the lead.
    pub amount: f64,
}

/// Phrases that are less probable are not listed.
const LEAST: f64 = 0.01;
/// The longest sentences: charts have 20 spans per word, or n² without pruning, each with hundreds of symbols.
const LONGEST: usize = 1000;
const LONGEST_UNPRUNED: usize = 150;

impl ConstituencyModel {
    /// Parses some sentences in this thread.
    pub(super) fn parse_chunk(
        &self,
        data: &BracketTreebank,
        tags: &[Vec<String>],
        which: Range<usize>,
        wide: Option<&[f64]>,
        ask: &Ask,
    ) -> Result<Vec<ParsedTree>, Error> {
        check_lengths(data, which.clone(), self.pruner().is_some())?;
        let sentences = hash(&self.templates, &self.grammar, data, tags, which.clone());
        let known = match ask.known {
            true => which.clone().map(|i| self.known(data.get(i))).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        let candidates = self.pruned(&sentences, &known);
        let problem = self.problem(&sentences, candidates.as_ref(), &known);
        let place = |(i, _): (usize, Infeasible)| {
            let message = "no tree is possible: the known brackets contradict each other";
            Error::from(data.error_at(which.start + i, message))
        };
        let mut parsed = match wide {
            Some(w) => self.trees_of(&problem, w, ask),
            None => self.trees_of(&problem, self.trees(), ask),
        }
        .map_err(place)?;
        which.zip(&mut parsed).for_each(|(i, parsed)| parsed.tags.clone_from(&tags[i]));
        Ok(parsed)
    }

    fn problem<'a>(
        &'a self,
        sentences: &'a Sentences,
        candidates: Option<&'a Candidates>,
        known: &'a [Known],
    ) -> Constituents<'a> {
        let bits = (self.trees().len() - self.grammar.pairs().len()).trailing_zeros();
        let problem =
            Constituents::new(&self.grammar, &self.templates, sentences, candidates, bits);
        if known.is_empty() { problem } else { problem.with_known(known) }
    }

    /// The spans that are left to choose from; none where all are.
    fn pruned(&self, sentences: &Sentences, known: &[Known]) -> Option<Candidates> {
        let (weights, spec) = self.pruner()?;
        let classifier =
            SpanClassifier::new(&self.templates, sentences, weights.len().trailing_zeros());
        let (mut s, mut theta) = (Structure::<f32>::scratch(&classifier), Vec::new());
        let (mut kept, free) = (Candidates::default(), Known::default());
        for i in 0..sentences.len() {
            classifier.scores(i, weights, 1.0, &mut s, &mut theta);
            let known = known.get(i).unwrap_or(&free);
            let branching = self.grammar.spec().branching;
            classifier.prune(i, &theta, spec, branching, known, &mut kept);
        }
        Some(kept)
    }

    /// The brackets of a sentence that must hold; `_` is any label.
    fn known(&self, sentence: BracketSentence<'_>) -> Result<Known, Error> {
        let tree = sentence.tree();
        let any = |label| Some(label).filter(|label| *label != tags::UNKNOWN);
        let brackets: Vec<(u32, u32, Option<&str>)> =
            tree.nodes().iter().map(|n| (n.start as u32, n.end as u32, any(n.label))).collect();
        Known::new(&self.grammar, sentence.len(), &brackets).map_err(|error| {
            let data = sentence.data();
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
            data.error_at(sentence.index(), message).into()
        })
    }

    fn trees_of<F: Scalar>(
        &self,
        problem: &Constituents<'_>,
        w: &[F],
        ask: &Ask,
    ) -> Result<Vec<ParsedTree>, (usize, Infeasible)> {
        let mut s = Structure::<F>::scratch(problem);
        let mut theta = ConstituentParts::default();
        let mut one = |i: usize| -> Result<ParsedTree, Infeasible> {
            let mut y = Derivation::default();
            problem.scores(i, w, F::ONE, &mut s, &mut theta);
            problem.argmax(i, &mut theta, Question::Plain, &mut s, &mut y)?;
            let score = problem.score(i, &theta, &y);
            let wants_sum = ask.proba || (ask.n_best > 0 && self.has_proba());
            let log_z = match wants_sum {
                // A sentence of which the grammar has no derivation has a tree, but no probabilities.
                true => problem.log_partition(i, &theta, Question::Plain, &mut s).ok(),
                false => None,
            };
            let probability = |score: f64| log_z.map(|z| (score - z).exp().min(1.0));
            let mut n_best = Vec::new();
            if ask.n_best > 0 {
                for (y, score) in problem.k_best(i, &theta, ask.n_best, &mut s)? {
                    let phrases = phrases(&self.grammar, &y);
                    // Several derivations may give one tree: the best of them stands for it.
                    if n_best.iter().all(|other: &RankedPhrases| other.phrases != phrases) {
                        let probability = probability(score);
                        n_best.push(RankedPhrases { phrases, score, probability });
                    }
                }
            }
            let spans = match ask.proba {
                true => {
                    let found = problem.span_probabilities(i, &theta, 0.0, &mut s);
                    let (found, own) = (found.unwrap_or_default(), phrases(&self.grammar, &y));
                    let named = found.iter().map(|span| {
                        let label = &self.grammar.labels()[span.label as usize];
                        (Phrase::new(label, span.start, span.end), span.probability)
                    });
                    let shown = named.filter(|(phrase, p)| *p >= LEAST || own.contains(phrase));
                    Some(shown.filter(|(phrase, _)| phrase.label != TOP).collect())
                }
                false => None,
            };
            Ok(ParsedTree {
                phrases: phrases(&self.grammar, &y),
                tags: Vec::new(),
                score,
                probability: probability(score).filter(|_| ask.proba),
                spans,
                n_best,
            })
        };
        (0..Structure::<F>::n_examples(problem)).map(|i| one(i).map_err(|e| (i, e))).collect()
    }

    /// Explains each phrase of a sentence's tree, or those that begin with a word (from 0).
    pub fn explain(
        &self,
        data: &BracketTreebank,
        sentence: usize,
        word: Option<usize>,
    ) -> Result<Vec<PhraseExplanation>, Error> {
        let data = data.select(&[sentence]);
        let n = data.get(0).len();
        if let Some(t) = word.filter(|t| *t >= n) {
            return Err(Error::request(format!(
                "there is no word {} in a sentence of {n}; words are counted from 1",
                t + 1
            )));
        }
        check_lengths(&data, 0..1, self.pruner().is_some())?;
        let all = self.spec().constituency.tags != crate::TagsKind::Gold;
        let tags = tags::tags(&self.tagger, &data, all)?;
        let sentences = hash(&self.templates, &self.grammar, &data, &tags, 0..1);
        let candidates = self.pruned(&sentences, &[]);
        let problem = self.problem(&sentences, candidates.as_ref(), &[]);
        let found = self.phrases_explained(&problem, data.get(0), &tags[0], word);
        found.map_err(|_| data.error_at(0, "no tree is possible").into())
    }

    fn phrases_explained(
        &self,
        problem: &Constituents<'_>,
        sentence: BracketSentence<'_>,
        tags: &[String],
        word: Option<usize>,
    ) -> Result<Vec<PhraseExplanation>, Infeasible> {
        let w: Vec<f64> = self.trees().iter().map(|&w| f64::from(w)).collect();
        let mut s = Structure::<f64>::scratch(problem);
        let (mut theta, mut best) = (ConstituentParts::default(), Derivation::default());
        problem.scores(0, &w, 1.0, &mut s, &mut theta);
        problem.argmax(0, &mut theta, Question::Plain, &mut s, &mut best)?;
        let score = problem.score(0, &theta, &best);
        let spans = match self.has_proba() {
            true => problem.span_probabilities(0, &theta, 0.0, &mut s).unwrap_or_default(),
            false => Vec::new(),
        };
        let words: Vec<&str> = sentence.words().collect();
        let own = phrases(&self.grammar, &best);
        let asked = own.iter().filter(|p| word.is_none_or(|t| p.start as usize == t));
        let mut explanations = Vec::new();
        for phrase in asked {
            let label = self.grammar.label(&phrase.label);
            let without = Bracket { start: phrase.start, end: phrase.end, label };
            let mut other = Derivation::default();
            // A rival that scores more is none of the grammar's: where it has no other tree, the best one that breaks it is found.
            let found = problem.argmax_without(0, &theta, without, &mut s, &mut other).ok();
            let found = found.filter(|found| found.score <= score);
            let mut reasons = Vec::new();
            if found.is_some() {
                let all = problem.explain(0, (&words, tags), &best, &other, self.trees());
                reasons.extend(all.into_iter().map(|c| PhraseReason {
                    feature: c.feature,
                    part: c.part,
                    amount: c.value * f64::from(c.weight),
                }));
                reasons.retain(|reason| reason.amount != 0.0);
                reasons.sort_by(|a, b| b.amount.abs().total_cmp(&a.amount.abs()));
            }
            let instead = found.map(|_| {
                let rival = phrases(&self.grammar, &other).into_iter();
                rival.filter(|phrase| !own.contains(phrase)).collect()
            });
            let is_it = |span: &&lineal_constituents::problem::SpanProbability| {
                (span.start, span.end, Some(span.label)) == (phrase.start, phrase.end, label)
            };
            explanations.push(PhraseExplanation {
                phrase: phrase.clone(),
                instead,
                lead: found.map_or(f64::INFINITY, |found| score - found.score),
                probability: spans.iter().find(is_it).map(|span| span.probability),
                reasons,
            });
        }
        Ok(explanations)
    }
}

/// The phrases of a derivation without the one around all.
pub(super) fn phrases(grammar: &Grammar, y: &Derivation) -> Vec<Phrase> {
    let tree = grammar.restore(y);
    let inner = tree.phrases().iter().filter(|phrase| phrase.label != TOP);
    inner.cloned().collect()
}

/// Refuses sentences whose charts would take more memory than there is.
pub(super) fn check_lengths(
    data: &BracketTreebank,
    which: Range<usize>,
    is_pruned: bool,
) -> Result<(), Error> {
    let longest = if is_pruned { LONGEST } else { LONGEST_UNPRUNED };
    for i in which {
        let n = data.get(i).len();
        if n > longest {
            let message = format!(
                "the sentence has {n} words, and trees are found for {longest} at most; split it"
            );
            return Err(data.error_at(i, message).into());
        }
    }
    Ok(())
}
