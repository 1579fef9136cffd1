//! What is asked of a trained parser beyond the best derivation: the k best, probabilities of labelled spans, and rivals.

use super::{Constituents, ConstituentsScratch};
use crate::chart::Ranking;
use crate::derivation::Derivation;
use crate::problem::ConstituentParts;
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Found, Infeasible, Structure, SumOracle};

/// A labelled span with its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanProbability {
    /// The first word, from 0.
    pub start: u32,
    /// One after the last word.
    pub end: u32,
    /// The number of its label in the grammar.
    pub label: u32,
    /// The probability that the tree has it.
    pub probability: f64,
}

/// A span that is a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// The first word, from 0.
    pub start: u32,
    /// One after the last word.
    pub end: u32,
    /// The number of its label in the grammar; any label if there is none.
    pub label: Option<u32>,
}

impl Constituents<'_> {
    /// The `k` best derivations of sentence `i`, best first, with their scores.
    pub fn k_best<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        k: usize,
        s: &mut ConstituentsScratch<F>,
    ) -> Result<Vec<(Derivation, f64)>, Infeasible> {
        if self.n_words(i) == 0 {
            return Ok(vec![(Derivation::default(), 0.0)]);
        }
        let floor = self.fill(i, theta, Ask::Plain, None, s)?;
        let scored = self.scored(i, theta, &s.own, &s.word_scores, floor);
        let mut ranking = Ranking::new(&s.max, &scored);
        let mut found: Vec<(Derivation, f64)> = (0..u32::try_from(k).unwrap_or(u32::MAX))
            .map_while(|rank| ranking.derivation(rank))
            .map(|y| (self.score(i, theta, &y), y))
            .map(|(score, y)| (y, score))
            .collect();
        if floor.is_none() {
            // The chart's sums are rounded in another order.
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        Ok(found)
    }

    /// The probability of each labelled span of sentence `i` that has at least `least`, by words and then by label. A sentence of which the grammar has no derivation has no probabilities.
    pub fn span_probabilities<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        least: f64,
        s: &mut ConstituentsScratch<F>,
    ) -> Result<Vec<SpanProbability>, Infeasible> {
        let mut mu = ConstituentParts::default();
        self.expect(i, theta, Ask::Plain, s, &mut mu)?;
        let (grammar, spans) = (self.grammar, &theta.shape.spans);
        let mut found = Vec::new();
        let mut sums = vec![0.0; grammar.labels().len()];
        for span in 0..spans.len() {
            sums.fill(0.0);
            let probabilities = s.sums.probabilities(grammar.n_parents(), span);
            for (symbol, &probability) in grammar.symbols().iter().zip(probabilities) {
                let labels = symbol.labels();
                let first = (0..labels.len()).filter(|&at| !labels[..at].contains(&labels[at]));
                first.for_each(|at| sums[labels[at] as usize] += probability);
            }
            let (i, j) = spans.words(span);
            let likely = sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0 && **sum >= least);
            found.extend(likely.map(|(label, &sum)| SpanProbability {
                start: i as u32,
                end: j as u32,
                label: label as u32,
                probability: sum.min(1.0),
            }));
        }
        found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end), span.label));
        Ok(found)
    }

    /// The best derivation of sentence `i` in which the words `start` to `end` − 1 are not a phrase (with this label, if there is one), left in `y`: the rival of a tree that has it. An error if the
    /// grammar derives the sentence, but not without that phrase.
    pub fn argmax_without<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        without: Bracket,
        s: &mut ConstituentsScratch<F>,
        y: &mut Derivation,
    ) -> Result<Found, Infeasible> {
        if self.n_words(i) == 0 {
            return Err(Infeasible { at: 0 });
        }
        let breaks_anyway = self.fill(i, theta, Ask::Plain, None, s)?.is_some();
        let floor = self.fill(i, theta, Ask::Plain, Some(without), s)?;
        if floor.is_some() && !breaks_anyway {
            return Err(Infeasible { at: without.start as usize });
        }
        let scored = self.scored(i, theta, &s.own, &s.word_scores, floor);
        s.max.read(&scored, y);
        Ok(Found::exact(self.score(i, theta, y)))
    }
}
