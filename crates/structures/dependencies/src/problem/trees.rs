//! Dependency trees over candidate arcs: the parser.
//!
//! Parts are the candidate arcs, numbered as [`Arcs`] numbers them. The cost of a tree is its number of wrong heads; it is a sum over arcs, so that the
//! augmented argmax adds 1 to the score of each wrong arc.

use super::Candidates;
use crate::features::keys::Keys;
use crate::features::{Section, Sentences, Templates};
use crate::{Arcs, Projective};
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure};
use std::ops::Range;

/// Which trees, with which features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSpec {
    /// Exactly one word depends on the root.
    pub single_root: bool,
    /// There are 2^`bits` weights.
    pub bits: u32,
}

impl Default for TreeSpec {
    /// Projective trees of first order with one root, 2²² weights.
    fn default() -> Self {
        Self { single_root: true, bits: 22 }
    }
}

/// The problem of finding each sentence's tree.
#[derive(Clone, Debug)]
pub struct Trees<'a> {
    templates: &'a Templates,
    sentences: &'a Sentences,
    candidates: Option<&'a Candidates>,
    gold: &'a [u32],
    spec: TreeSpec,
}

/// Working memory of [`Trees`].
#[derive(Clone, Debug, Default)]
pub struct TreesScratch<F> {
    /// The sentence that is loaded.
    loaded: Option<usize>,
    arcs: Arcs,
    keys: Keys,
    projective: Projective<F>,
}

impl<'a> Trees<'a> {
    /// Sentences with the gold head of each word (none to predict only). Without candidates all arcs are.
    pub fn new(
        templates: &'a Templates,
        sentences: &'a Sentences,
        candidates: Option<&'a Candidates>,
        gold: &'a [u32],
        spec: TreeSpec,
    ) -> Self {
        Self { templates, sentences, candidates, gold, spec }
    }

    fn prepare<F>(&self, i: usize, s: &mut TreesScratch<F>) {
        if s.loaded == Some(i) {
            return;
        }
        s.loaded = Some(i);
        let words = self.sentences.words(i);
        match self.candidates {
            Some(candidates) => candidates.load(words, self.spec.single_root, &mut s.arcs),
            None => s.arcs.fill(words.len(), self.spec.single_root),
        }
        s.keys.load(self.templates.program(Section::Arcs), &self.sentences.get(i), true);
    }

    fn gold_of(&self, i: usize) -> &[u32] {
        self.gold.get(self.sentences.words(i)).unwrap_or_default()
    }

    fn mask(&self) -> u32 {
        ((1usize << self.spec.bits) - 1) as u32
    }
}

impl<F: Scalar> Structure<F> for Trees<'_> {
    type Output = Vec<u32>;
    type Parts = Vec<F>;
    type Scratch = TreesScratch<F>;

    fn n_examples(&self) -> usize {
        self.sentences.len()
    }

    fn dim(&self) -> usize {
        1 << self.spec.bits
    }

    fn share(&self, _: usize) -> f64 {
        1.0 / self.sentences.len() as f64
    }

    fn work(&self) -> usize {
        let arcs = match self.candidates {
            Some(candidates) => candidates.n_arcs(),
            None => (0..self.sentences.len()).map(|i| self.sentences.words(i).len().pow(2)).sum(),
        };
        arcs * 2 * self.templates.n_templates(Section::Arcs)
    }

    fn size(&self, i: usize) -> usize {
        self.sentences.words(i).len()
    }

    fn log_outputs(&self, i: usize) -> f64 {
        let words = self.sentences.words(i);
        match self.candidates {
            Some(candidates) => {
                words.map(|word| (candidates.heads(word).len().max(1) as f64).ln()).sum()
            }
            None => words.len() as f64 * (words.len().max(1) as f64).ln(),
        }
    }

    fn scratch(&self) -> TreesScratch<F> {
        TreesScratch::default()
    }

    fn gold(&self, i: usize, y: &mut Vec<u32>) {
        y.clear();
        y.extend_from_slice(self.gold_of(i));
    }

    fn scores(&self, i: usize, w: &[F], scale: F, s: &mut TreesScratch<F>, theta: &mut Vec<F>) {
        self.prepare(i, s);
        theta.clear();
        theta.extend(
            (0..s.arcs.len())
                .map(|arc| scale * s.keys.arc_score(w, s.arcs.head(arc), s.arcs.modifier(arc))),
        );
    }

    fn accumulate(&self, i: usize, g: &Vec<F>, s: &mut TreesScratch<F>, into: &mut [F]) {
        self.prepare(i, s);
        for (arc, &g) in g.iter().enumerate().filter(|(_, g)| **g != F::ZERO) {
            let (h, m) = (s.arcs.head(arc), s.arcs.modifier(arc));
            s.keys.each_arc_weight(self.mask(), h, m, |weight| into[weight] += g);
        }
    }

    fn each_touched(
        &self,
        i: usize,
        g: &Vec<F>,
        s: &mut TreesScratch<F>,
        f: &mut dyn FnMut(Range<usize>),
    ) {
        self.prepare(i, s);
        for (arc, _) in g.iter().enumerate().filter(|(_, g)| **g != F::ZERO) {
            let (h, m) = (s.arcs.head(arc), s.arcs.modifier(arc));
            s.keys.each_arc_weight(self.mask(), h, m, |weight| f(weight..weight + 1));
        }
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Vec<u32>,
        minus: &Vec<u32>,
        s: &mut TreesScratch<F>,
        mut f: impl FnMut(usize, F),
    ) {
        self.prepare(i, s);
        for (word, (&plus, &minus)) in plus.iter().zip(minus).enumerate() {
            if plus != minus {
                s.keys.each_arc_weight(self.mask(), plus as usize, word + 1, |weight| {
                    f(weight, F::ONE)
                });
                s.keys.each_arc_weight(self.mask(), minus as usize, word + 1, |weight| {
                    f(weight, -F::ONE)
                });
            }
        }
    }

    fn score(&self, i: usize, theta: &Vec<F>, y: &Vec<u32>) -> f64 {
        let mut s = <Self as Structure<F>>::scratch(self);
        self.prepare(i, &mut s);
        s.arcs.score(theta, y)
    }

    fn add_output(&self, i: usize, y: &Vec<u32>, a: F, mu: &mut Vec<F>) {
        let mut s = <Self as Structure<F>>::scratch(self);
        self.prepare(i, &mut s);
        mu.resize(s.arcs.len(), F::ZERO);
        for arc in s.arcs.of_tree(y).flatten() {
            mu[arc] += a;
        }
    }
}

impl<F: Scalar> MaxOracle<F> for Trees<'_> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        s: &mut TreesScratch<F>,
        y: &mut Vec<u32>,
    ) -> Result<Found, Infeasible> {
        self.prepare(i, s);
        let gold = self.gold_of(i);
        if ask == Ask::Gold {
            y.clear();
            y.extend_from_slice(gold);
            return Ok(Found::exact(s.arcs.score(theta, y)));
        }
        if ask == Ask::Augmented {
            for (m, &head) in (1..).zip(gold) {
                for arc in s.arcs.range(m).filter(|&arc| s.arcs.head(arc) != head as usize) {
                    theta[arc] += F::ONE;
                }
            }
        }
        Ok(Found::exact(s.projective.max(&s.arcs, theta, y)?))
    }

    fn cost(&self, i: usize, y: &Vec<u32>) -> f64 {
        y.iter().zip(self.gold_of(i)).filter(|(a, b)| a != b).count() as f64
    }
}
