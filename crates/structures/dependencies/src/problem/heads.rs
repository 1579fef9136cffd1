//! Heads picked one by one: the pruner of arcs.
//!
//! Every word picks its head by itself among the root and all other words, so that the score of an output is the sum over words, and the sum over outputs is a product of
//! softmaxes: log Z = Σ_m log Σ_h exp θ(h → m). Parts are arcs: n for each of n words, `theta[(m − 1)·n + place(h)]`, where the places of the heads of m are the
//! numbers 0 … n without m, closed up; the same numbers as those of [`Arcs::full`](crate::Arcs).

use super::{Candidates, TreeSpec};
use crate::features::keys::Keys;
use crate::features::{Section, Sentences, Templates};
use lineal_linalg::Scalar;
use lineal_linalg::special::softmax;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure, SumOracle};
use std::ops::Range;

/// The problem of picking each word's head.
#[derive(Clone, Debug)]
pub struct Heads<'a> {
    templates: &'a Templates,
    sentences: &'a Sentences,
    /// One for each word of all sentences, or none.
    gold: &'a [u32],
    bits: u32,
}

/// How many heads are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruneSpec {
    /// At most so many for each word (at least 2).
    pub most: usize,
    /// None that is less probable than this times the best one.
    pub threshold: f64,
}

impl Default for PruneSpec {
    /// Twenty heads, down to a five-hundredth of the best one. On EWT's dev part that leaves 6.0 heads for each word, with the right one among them for 99.77 %; ten heads down
    /// to a ten-thousandth are 7.6 for each word and have it for 99.56 %.
    fn default() -> Self {
        Self { most: 20, threshold: 2e-3 }
    }
}

/// Working memory of [`Heads`].
#[derive(Clone, Debug, Default)]
pub struct HeadsScratch {
    keys: Keys,
    /// The sentence whose keys these are.
    loaded: Option<usize>,
}

impl<'a> Heads<'a> {
    /// Heads to predict, with 2^`bits` weights ([`TreeSpec::MIN_BITS`] to [`TreeSpec::MAX_BITS`]).
    pub fn new(templates: &'a Templates, sentences: &'a Sentences, bits: u32) -> Self {
        let bits = bits.clamp(TreeSpec::MIN_BITS, TreeSpec::MAX_BITS);
        Self { templates, sentences, gold: &[], bits }
    }

    /// The gold head of each word of all sentences.
    pub fn with_gold(self, gold: &'a [u32]) -> Self {
        Self { gold, ..self }
    }

    /// Adds the best heads of each word of sentence `i` by its scores to `kept`: at most `spec.most`, none whose probability is below `spec.threshold` times the best
    /// one's. The word before (the root for the first) is always a candidate, so that there is always a tree, and so is the gold head.
    pub fn prune<F: Scalar>(&self, i: usize, theta: &[F], spec: PruneSpec, kept: &mut Candidates) {
        let (n, gold) = (self.n(i), self.gold_of(i));
        let mut ranked: Vec<(F, u32)> = Vec::with_capacity(n);
        for m in 1..=n {
            ranked.clear();
            ranked.extend(arcs_of(n, m).map(|(arc, h)| (theta[arc], h as u32)));
            let best = ranked.iter().fold(-F::INFINITY, |best, &(score, _)| best.max(score));
            let least = best + F::from_f64(spec.threshold.ln());
            let must = [m as u32 - 1, gold.get(m - 1).copied().unwrap_or(m as u32 - 1)];
            let rank = |&(score, head): &(F, u32)| (must.contains(&head), score);
            ranked.retain(|&(score, head)| score >= least || must.contains(&head));
            ranked
                .sort_by(|a, b| rank(b).partial_cmp(&rank(a)).unwrap_or(std::cmp::Ordering::Equal));
            ranked.truncate(spec.most.max(must.len()));
            ranked.sort_by_key(|&(_, head)| head);
            kept.push(ranked.iter().map(|&(_, head)| head));
        }
    }

    fn prepare(&self, i: usize, s: &mut HeadsScratch) {
        if s.loaded != Some(i) {
            s.keys.load(self.templates.program(Section::Heads), &self.sentences.get(i));
            s.loaded = Some(i);
        }
    }

    fn n(&self, i: usize) -> usize {
        self.sentences.words(i).len()
    }

    fn gold_of(&self, i: usize) -> &[u32] {
        self.gold.get(self.sentences.words(i)).unwrap_or_default()
    }
}

/// The arcs of modifier `m` of `n` words, with their heads.
fn arcs_of(n: usize, m: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..=n).filter(move |&h| h != m).map(move |h| (arc(n, h, m), h))
}

/// The number of an arc of `n` words.
#[inline]
fn arc(n: usize, h: usize, m: usize) -> usize {
    (m - 1) * n + h - usize::from(h > m)
}

impl<F: Scalar> Structure<F> for Heads<'_> {
    type Output = Vec<u32>;
    type Parts = Vec<F>;
    type Scratch = HeadsScratch;

    fn n_examples(&self) -> usize {
        self.sentences.len()
    }

    fn dim(&self) -> usize {
        1 << self.bits
    }

    fn work(&self) -> usize {
        let arcs: usize = (0..self.sentences.len()).map(|i| self.n(i).pow(2)).sum();
        arcs * 2 * self.templates.n_templates(Section::Heads)
    }

    fn size(&self, i: usize) -> usize {
        self.n(i)
    }

    fn log_outputs(&self, i: usize) -> f64 {
        let n = self.n(i) as f64;
        n * n.max(1.0).ln()
    }

    fn scratch(&self) -> HeadsScratch {
        HeadsScratch::default()
    }

    fn gold(&self, i: usize, y: &mut Vec<u32>) {
        y.clear();
        y.extend_from_slice(self.gold_of(i));
    }

    fn scores(&self, i: usize, w: &[F], scale: F, s: &mut HeadsScratch, theta: &mut Vec<F>) {
        self.prepare(i, s);
        let n = self.n(i);
        theta.clear();
        for m in 1..=n {
            theta.extend(arcs_of(n, m).map(|(_, h)| scale * s.keys.arc_score(w, h, m)));
        }
    }

    fn accumulate(&self, i: usize, g: &Vec<F>, s: &mut HeadsScratch, into: &mut [F]) {
        self.prepare(i, s);
        let (n, mask) = (self.n(i), (into.len() - 1) as u32);
        for m in 1..=n {
            for (arc, h) in arcs_of(n, m).filter(|&(arc, _)| g[arc] != F::ZERO) {
                s.keys.each_arc_weight(mask, h, m, |weight| into[weight] += g[arc]);
            }
        }
    }

    fn each_touched(
        &self,
        i: usize,
        g: &Vec<F>,
        s: &mut HeadsScratch,
        mut f: impl FnMut(Range<usize>),
    ) {
        self.prepare(i, s);
        let (n, mask) = (self.n(i), ((1usize << self.bits) - 1) as u32);
        for m in 1..=n {
            for (_, h) in arcs_of(n, m).filter(|&(arc, _)| g[arc] != F::ZERO) {
                s.keys.each_arc_weight(mask, h, m, |weight| f(weight..weight + 1));
            }
        }
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Vec<u32>,
        minus: &Vec<u32>,
        s: &mut HeadsScratch,
        mut f: impl FnMut(usize, F),
    ) {
        self.prepare(i, s);
        let mask = ((1usize << self.bits) - 1) as u32;
        for (word, (&plus, &minus)) in plus.iter().zip(minus).enumerate() {
            if plus != minus {
                s.keys.each_arc_weight(mask, plus as usize, word + 1, |weight| f(weight, F::ONE));
                s.keys.each_arc_weight(mask, minus as usize, word + 1, |weight| f(weight, -F::ONE));
            }
        }
    }

    fn score(&self, i: usize, theta: &Vec<F>, y: &Vec<u32>) -> f64 {
        let n = self.n(i);
        y.iter().enumerate().map(|(word, &h)| theta[arc(n, h as usize, word + 1)].to_f64()).sum()
    }

    fn add_output(&self, i: usize, y: &Vec<u32>, a: F, mu: &mut Vec<F>) {
        let n = self.n(i);
        mu.resize(n * n, F::ZERO);
        for (word, &h) in y.iter().enumerate() {
            mu[arc(n, h as usize, word + 1)] += a;
        }
    }
}

impl<F: Scalar> MaxOracle<F> for Heads<'_> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        _: &mut HeadsScratch,
        y: &mut Vec<u32>,
    ) -> Result<Found, Infeasible> {
        let (n, gold) = (self.n(i), self.gold_of(i));
        y.clear();
        if ask == Ask::Gold {
            y.extend_from_slice(gold);
            return Ok(Found::exact(self.score(i, theta, y)));
        }
        for m in 1..=n {
            if ask == Ask::Augmented {
                for (arc, h) in arcs_of(n, m) {
                    if h != gold[m - 1] as usize {
                        theta[arc] += F::ONE;
                    }
                }
            }
            let mut best = (F::ZERO, usize::MAX);
            for (arc, h) in arcs_of(n, m) {
                if best.1 == usize::MAX || theta[arc] > best.0 {
                    best = (theta[arc], h);
                }
            }
            y.push(best.1 as u32);
        }
        Ok(Found::exact(self.score(i, theta, y)))
    }

    fn cost(&self, i: usize, y: &Vec<u32>) -> f64 {
        y.iter().zip(self.gold_of(i)).filter(|(a, b)| a != b).count() as f64
    }
}

impl<F: Scalar> SumOracle<F> for Heads<'_> {
    fn log_partition(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        s: &mut HeadsScratch,
    ) -> Result<f64, Infeasible> {
        self.expect(i, theta, ask, s, &mut Vec::new())
    }

    fn expect(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        _: &mut HeadsScratch,
        mu: &mut Vec<F>,
    ) -> Result<f64, Infeasible> {
        let n = self.n(i);
        mu.clear();
        mu.resize(n * n, F::ZERO);
        if ask == Ask::Gold {
            let gold = self.gold_of(i).to_vec();
            self.add_output(i, &gold, F::ONE, mu);
            return Ok(self.score(i, theta, &gold));
        }
        let mut log_z = 0.0;
        for (theta, mu) in theta.chunks_exact(n.max(1)).zip(mu.chunks_exact_mut(n.max(1))) {
            log_z += softmax(theta, mu).to_f64();
        }
        Ok(log_z)
    }
}
