//! Spans picked one by one: the pruner.
//!
//! Every span of several words but not of all is in the derivation or not, by itself, so that the score of an output is the sum over the spans that are in, and log Z = Σ over spans of log(1 + exp θ).
//! Parts are these spans in the order of [`Spans`](crate::Spans): shorter ones first and then from left to right.

use super::{Candidates, Known};
use crate::Branching;
use crate::derivation::Derivation;
use crate::features::keys::{Keys, Wholes};
use crate::features::{Section, Sentences, Templates};
use lineal_linalg::Scalar;
use lineal_linalg::special::{sigmoid, sigmoid_log1p_exp};
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure, SumOracle};
use std::ops::Range;

/// The problem of picking the spans of each sentence.
#[derive(Clone, Debug)]
pub struct SpanClassifier<'a> {
    templates: &'a Templates,
    sentences: &'a Sentences,
    gold: &'a [Derivation],
    weights: &'a [f64],
    total_weight: f64,
    bits: u32,
}

/// Which spans are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruneSpec {
    /// None that is less probable than this.
    pub threshold: f64,
    /// At most so many for each word of the sentence.
    pub most: f64,
}

impl Default for PruneSpec {
    /// Spans of a probability of 0.002 or more. On the dev part of GUM's trees that leaves 46 % of the spans, with 99.84 % of those of gold derivations among them.
    fn default() -> Self {
        Self { threshold: 2e-3, most: 20.0 }
    }
}

/// Working memory of [`SpanClassifier`].
#[derive(Clone, Debug, Default)]
pub struct ClassifierScratch {
    wholes: Wholes,
    keys: Keys,
    hashes: Vec<u32>,
    loaded: Option<usize>,
}

impl<'a> SpanClassifier<'a> {
    /// Spans to pick, with 2^`bits` weights (4 to 30).
    pub fn new(templates: &'a Templates, sentences: &'a Sentences, bits: u32) -> Self {
        let total_weight = sentences.len() as f64;
        let bits = bits.clamp(4, 30);
        Self { templates, sentences, gold: &[], weights: &[], total_weight, bits }
    }

    /// The gold derivation of each sentence.
    pub fn with_gold(self, gold: &'a [Derivation]) -> Self {
        Self { gold, ..self }
    }

    /// How much each sentence counts; all the same by default.
    pub fn with_weights(self, weights: &'a [f64]) -> Self {
        Self { weights, total_weight: weights.iter().sum(), ..self }
    }

    /// Adds the probable spans of sentence `i` by its scores to `kept`, with the gold ones and those that any tree may need: see [`Candidates::push`].
    pub fn prune<F: Scalar>(
        &self,
        i: usize,
        theta: &[F],
        spec: PruneSpec,
        branching: Branching,
        known: &Known,
        kept: &mut Candidates,
    ) {
        let n = self.n(i);
        let mut ranked: Vec<(f64, (u32, u32))> = spans(n)
            .zip(theta)
            .map(|((i, j), theta)| (sigmoid(theta.to_f64()), (i as u32, j as u32)))
            .filter(|(probability, _)| *probability >= spec.threshold)
            .collect();
        let most = (spec.most.max(0.0) * n as f64) as usize;
        if ranked.len() > most {
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            ranked.truncate(most);
        }
        let gold = self.gold.get(i).into_iter().flat_map(|gold| &gold.nodes);
        let gold = gold.map(|node| (node.start, node.end));
        kept.push(n, branching, known, ranked.into_iter().map(|(_, span)| span).chain(gold));
    }

    fn prepare(&self, i: usize, s: &mut ClassifierScratch) {
        if s.loaded != Some(i) {
            let sentence = self.sentences.get(i);
            s.wholes.load(&sentence);
            s.keys.load(self.templates, Section::Span, &sentence);
            s.loaded = Some(i);
        }
    }

    fn n(&self, i: usize) -> usize {
        self.sentences.words(i).len()
    }

    /// The weights of a span.
    fn each_weight(&self, s: &mut ClassifierScratch, i: usize, j: usize, f: impl FnMut(usize)) {
        let mask = (1usize << self.bits) - 1;
        s.hashes.clear();
        s.keys.hashes(&s.wholes, i, j, &mut s.hashes);
        s.hashes.iter().map(|&hash| hash as usize & mask).for_each(f);
    }
}

/// The spans of several words but not of all.
fn spans(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (2..n).flat_map(move |length| (0..=n - length).map(move |i| (i, i + length)))
}

/// The place of a span among these.
fn place(n: usize, i: usize, j: usize) -> usize {
    // Those of the lengths 2 … j − i − 1 come before: n − length + 1 of each.
    (2..j - i).map(|length| n - length + 1).sum::<usize>() + i
}

impl<F: Scalar> Structure<F> for SpanClassifier<'_> {
    type Output = Vec<bool>;
    type Parts = Vec<F>;
    type Scratch = ClassifierScratch;

    fn n_examples(&self) -> usize {
        self.sentences.len()
    }

    fn dim(&self) -> usize {
        1 << self.bits
    }

    fn share(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0) / self.total_weight
    }

    fn work(&self) -> usize {
        let spans: usize = (0..self.sentences.len()).map(|i| self.n(i).pow(2) / 2).sum();
        spans * self.templates.n_templates(Section::Span)
    }

    fn size(&self, i: usize) -> usize {
        self.n(i) * self.n(i) / 2
    }

    fn log_outputs(&self, i: usize) -> f64 {
        spans(self.n(i)).count() as f64 * 2f64.ln()
    }

    fn scratch(&self) -> ClassifierScratch {
        ClassifierScratch::default()
    }

    fn gold(&self, i: usize, y: &mut Vec<bool>) {
        let n = self.n(i);
        y.clear();
        y.resize(spans(n).count(), false);
        for node in self.gold.get(i).into_iter().flat_map(|gold| &gold.nodes) {
            let (i, j) = (node.start as usize, node.end as usize);
            if j - i > 1 && j - i < n {
                y[place(n, i, j)] = true;
            }
        }
    }

    fn scores(&self, i: usize, w: &[F], scale: F, s: &mut ClassifierScratch, theta: &mut Vec<F>) {
        self.prepare(i, s);
        theta.clear();
        theta.extend(spans(self.n(i)).map(|(i, j)| {
            let mut sum = F::ZERO;
            self.each_weight(s, i, j, |weight| sum += w[weight]);
            scale * sum
        }));
    }

    fn accumulate(&self, i: usize, g: &Vec<F>, s: &mut ClassifierScratch, into: &mut [F]) {
        self.prepare(i, s);
        for ((i, j), &g) in spans(self.n(i)).zip(g).filter(|(_, g)| **g != F::ZERO) {
            self.each_weight(s, i, j, |weight| into[weight] += g);
        }
    }

    fn each_touched(
        &self,
        i: usize,
        g: &Vec<F>,
        s: &mut ClassifierScratch,
        mut f: impl FnMut(Range<usize>),
    ) {
        self.prepare(i, s);
        for ((i, j), _) in spans(self.n(i)).zip(g).filter(|(_, g)| **g != F::ZERO) {
            self.each_weight(s, i, j, |weight| f(weight..weight + 1));
        }
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Vec<bool>,
        minus: &Vec<bool>,
        s: &mut ClassifierScratch,
        mut f: impl FnMut(usize, F),
    ) {
        self.prepare(i, s);
        for (((i, j), &plus), &minus) in spans(self.n(i)).zip(plus).zip(minus) {
            if plus != minus {
                let sign = if plus { F::ONE } else { -F::ONE };
                self.each_weight(s, i, j, |weight| f(weight, sign));
            }
        }
    }

    fn score(&self, _: usize, theta: &Vec<F>, y: &Vec<bool>) -> f64 {
        y.iter().zip(theta).filter(|(is_in, _)| **is_in).map(|(_, theta)| theta.to_f64()).sum()
    }

    fn add_output(&self, i: usize, y: &Vec<bool>, a: F, mu: &mut Vec<F>) {
        mu.resize(spans(self.n(i)).count(), F::ZERO);
        mu.iter_mut().zip(y).filter(|(_, is_in)| **is_in).for_each(|(mu, _)| *mu += a);
    }
}

impl<F: Scalar> MaxOracle<F> for SpanClassifier<'_> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        _: &mut ClassifierScratch,
        y: &mut Vec<bool>,
    ) -> Result<Found, Infeasible> {
        Structure::<F>::gold(self, i, y);
        if ask == Ask::Gold {
            return Ok(Found::exact(self.score(i, theta, y)));
        }
        let mut cost = 0.0;
        for (theta, is_in) in theta.iter().zip(&mut *y) {
            let gain = match (ask, *is_in) {
                (Ask::Augmented, true) => -F::ONE,
                (Ask::Augmented, false) => F::ONE,
                _ => F::ZERO,
            };
            let best = *theta + gain > F::ZERO;
            cost += if ask == Ask::Augmented && best != *is_in { 1.0 } else { 0.0 };
            *is_in = best;
        }
        let score = self.score(i, theta, y) + cost;
        Ok(Found::exact(score))
    }

    fn cost(&self, i: usize, y: &Vec<bool>) -> f64 {
        let mut gold = Vec::new();
        Structure::<F>::gold(self, i, &mut gold);
        y.iter().zip(&gold).filter(|(a, b)| a != b).count() as f64
    }
}

impl<F: Scalar> SumOracle<F> for SpanClassifier<'_> {
    fn log_partition(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        s: &mut ClassifierScratch,
    ) -> Result<f64, Infeasible> {
        self.expect(i, theta, ask, s, &mut Vec::new())
    }

    fn expect(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        _: &mut ClassifierScratch,
        mu: &mut Vec<F>,
    ) -> Result<f64, Infeasible> {
        mu.clear();
        if ask == Ask::Gold {
            let mut gold = Vec::new();
            Structure::<F>::gold(self, i, &mut gold);
            self.add_output(i, &gold, F::ONE, mu);
            return Ok(self.score(i, theta, &gold));
        }
        let mut log_partition = 0.0;
        mu.extend(theta.iter().map(|&theta| {
            let (probability, log) = sigmoid_log1p_exp(theta);
            log_partition += log.to_f64();
            probability
        }));
        Ok(log_partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_places() {
        for n in 0..8 {
            assert!(spans(n).enumerate().all(|(at, (i, j))| place(n, i, j) == at));
        }
    }
}
