//! Why words are a phrase: the best tree against the best one in which they are not.

use super::{Parser, phrases};
use crate::features::Sentences;
use crate::problem::{Bracket, ConstituentParts, SpanProbability};
use crate::{Derivation, Phrase};
use lineal_model::explain::{PartReason, sorted};
use lineal_model::structure::{Ask, Infeasible, MaxOracle, Structure};

/// What decided a phrase. The lead is the sum of the amounts of the reasons.
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
    pub reasons: Vec<PartReason>,
}

impl Parser<'_> {
    /// Explains the phrases of one sentence, or those that begin with a word (from 0). `words` and `tags` are the sentence as text.
    pub fn explain(
        &self,
        words: &[&str],
        tags: &[String],
        asked: impl Fn(usize) -> bool,
        has_proba: bool,
    ) -> Result<Vec<PhraseExplanation>, Infeasible> {
        let mut sentences = Sentences::new(self.templates);
        sentences.push(self.templates, self.grammar, words, tags);
        let candidates = self.candidates(&sentences, &[]);
        let problem = self.problem(&sentences, candidates.as_ref(), &[]);
        let w: Vec<f64> = self.trees.iter().map(|&w| f64::from(w)).collect();
        let mut s = Structure::<f64>::scratch(&problem);
        let (mut theta, mut best) = (ConstituentParts::default(), Derivation::default());
        problem.scores(0, &w, 1.0, &mut s, &mut theta);
        problem.argmax(0, &mut theta, Ask::Plain, &mut s, &mut best)?;
        let score = problem.score(0, &theta, &best);
        let spans = match has_proba {
            true => problem.span_probabilities(0, &theta, 0.0, &mut s).unwrap_or_default(),
            false => Vec::new(),
        };
        let own = phrases(self.grammar, &best);
        let asked = own.iter().filter(|p| asked(p.start as usize));
        let mut explanations = Vec::new();
        for phrase in asked {
            let label = self.grammar.label(&phrase.label);
            let without = Bracket { start: phrase.start, end: phrase.end, label };
            let mut other = Derivation::default();
            // Of a sentence that the grammar cannot derive a rival may break it less than the tree does, and score more.
            let found = problem.argmax_without(0, &theta, without, &mut s, &mut other).ok();
            let found = found.filter(|found| found.score <= score);
            let differences = found.map(|_| {
                problem.explain(0, (words, tags), &best, &other, self.trees).into_iter().map(|c| {
                    let amount = c.value * f64::from(c.weight);
                    PartReason { feature: c.feature, part: c.part, amount }
                })
            });
            let instead = found.map(|_| {
                let rival = phrases(self.grammar, &other).into_iter();
                rival.filter(|phrase| !own.contains(phrase)).collect()
            });
            let is_it = |span: &&SpanProbability| {
                (span.start, span.end, Some(span.label)) == (phrase.start, phrase.end, label)
            };
            explanations.push(PhraseExplanation {
                phrase: phrase.clone(),
                instead,
                lead: found.map_or(f64::INFINITY, |found| score - found.score),
                probability: spans.iter().find(is_it).map(|span| span.probability),
                reasons: sorted(differences.into_iter().flatten().collect()),
            });
        }
        Ok(explanations)
    }
}
