//! A trained parser: the spans that pruning leaves, the best tree over them, and how sure its phrases are.
//!
//! [`Parser`] borrows the weights of the two [problems](crate::problem) and runs them one after the other on some sentences. Every tree has one phrase, [`TOP`], around it while it
//! is learnt and parsed; answers are without.

mod explain;
mod prune;
mod score;

pub use explain::PhraseExplanation;
pub use prune::prune;
pub use score::f1;

use crate::features::{Sentences, Templates};
use crate::problem::{
    Candidates, ConstituentParts, Constituents, Known, PruneSpec, SpanClassifier,
};
use crate::{Derivation, Grammar, Phrase};
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Infeasible, MaxOracle, Structure, SumOracle};
use prune::pruned;

/// The phrase around every tree, so that there is one.
pub const TOP: &str = "TOP";
/// The longest sentences: charts have 20 spans per word, or n² without pruning, each with hundreds of symbols.
const LONGEST: usize = 1000;
const LONGEST_UNPRUNED: usize = 150;
/// Phrases that are less probable are not listed.
const LEAST: f64 = 0.01;

/// The weights of a parser, and what they mean.
#[derive(Clone, Copy, Debug)]
pub struct Parser<'m> {
    /// Which trees there are.
    pub grammar: &'m Grammar,
    /// What features read.
    pub templates: &'m Templates,
    /// The weights of the trees.
    pub trees: &'m [f32],
    /// The weights of [`SpanClassifier`], and how many spans they leave; all without.
    pub pruner: Option<(&'m [f32], PruneSpec)>,
}

/// What to find beside the best tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseAsk {
    /// Probabilities: of phrases, and of the whole tree.
    pub proba: bool,
    /// Probabilities of the trees that are listed.
    pub n_best_proba: bool,
    /// The number of best trees to list.
    pub n_best: usize,
}

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

/// The most words of a sentence whose chart fits into memory.
pub fn longest(is_pruned: bool) -> usize {
    if is_pruned { LONGEST } else { LONGEST_UNPRUNED }
}

/// The phrases of a derivation without the one around all.
fn phrases(grammar: &Grammar, y: &Derivation) -> Vec<Phrase> {
    let tree = grammar.restore(y);
    let inner = tree.phrases().iter().filter(|phrase| phrase.label != TOP);
    inner.cloned().collect()
}

impl Parser<'_> {
    /// The tree of each sentence, in one thread, with the phrases that must hold (none, or one list for each sentence). `trees` are the weights of the trees, in the precision that the
    /// answers need. An error names the sentence. The parts of speech of the answers are left empty.
    pub fn parse<F: Scalar>(
        &self,
        sentences: &Sentences,
        trees: &[F],
        known: &[Known],
        ask: &ParseAsk,
    ) -> Result<Vec<ParsedTree>, (usize, Infeasible)> {
        let candidates = self.candidates(sentences, known);
        let problem = self.problem(sentences, candidates.as_ref(), known);
        let mut s = Structure::<F>::scratch(&problem);
        let mut theta = ConstituentParts::default();
        let mut one = |i: usize| -> Result<ParsedTree, Infeasible> {
            let mut y = Derivation::default();
            problem.scores(i, trees, F::ONE, &mut s, &mut theta);
            problem.argmax(i, &mut theta, Ask::Plain, &mut s, &mut y)?;
            let score = problem.score(i, &theta, &y);
            let log_z = match ask.proba || (ask.n_best > 0 && ask.n_best_proba) {
                // A sentence of which the grammar has no derivation has a tree, but no probabilities.
                true => problem.log_partition(i, &theta, Ask::Plain, &mut s).ok(),
                false => None,
            };
            let probability = |score: f64| log_z.map(|z| (score - z).exp().min(1.0));
            let mut n_best = Vec::new();
            if ask.n_best > 0 {
                for (y, score) in problem.k_best(i, &theta, ask.n_best, &mut s)? {
                    let phrases = phrases(self.grammar, &y);
                    // Several derivations may give one tree: the best of them stands for it.
                    if n_best.iter().all(|other: &RankedPhrases| other.phrases != phrases) {
                        let probability = probability(score);
                        n_best.push(RankedPhrases { phrases, score, probability });
                    }
                }
            }
            let own = phrases(self.grammar, &y);
            let spans = ask.proba.then(|| {
                let found = problem.span_probabilities(i, &theta, 0.0, &mut s);
                let named = found.unwrap_or_default().into_iter().map(|span| {
                    let label = &self.grammar.labels()[span.label as usize];
                    (Phrase::new(label, span.start, span.end), span.probability)
                });
                let shown = named.filter(|(phrase, p)| *p >= LEAST || own.contains(phrase));
                shown.filter(|(phrase, _)| phrase.label != TOP).collect()
            });
            let probability = probability(score).filter(|_| ask.proba);
            Ok(ParsedTree { phrases: own, tags: Vec::new(), score, probability, spans, n_best })
        };
        (0..sentences.len()).map(|i| one(i).map_err(|e| (i, e))).collect()
    }

    fn problem<'a>(
        &'a self,
        sentences: &'a Sentences,
        candidates: Option<&'a Candidates>,
        known: &'a [Known],
    ) -> Constituents<'a> {
        let bits = (self.trees.len() - self.grammar.pairs().len()).trailing_zeros();
        let problem = Constituents::new(self.grammar, self.templates, sentences, candidates, bits);
        if known.is_empty() { problem } else { problem.with_known(known) }
    }

    /// The spans that are left to choose from; none where all are.
    fn candidates(&self, sentences: &Sentences, known: &[Known]) -> Option<Candidates> {
        let (weights, spec) = self.pruner?;
        let bits = weights.len().trailing_zeros();
        let classifier = SpanClassifier::new(self.templates, sentences, bits);
        Some(pruned(&classifier, weights, spec, self.grammar, known, 0..sentences.len()))
    }
}
