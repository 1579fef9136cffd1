//! Relations of words whose tree is known: the labeller.
//!
//! An example is one word; it picks one of K relations by itself, as a class. Its features see the whole tree: head and head's head, neighbours among the modifiers of the same
//! head, modifiers of its own. Parts are the K relations: `theta[k]`. A feature at place r of the table has the weights r … r + K − 1.
//!
//! The places of the features of all words are kept, 4 bytes each (EWT: 205,000 words with 60 features, 50 MB): words come in random order in training, and their features
//! take longer to find than to add up.

use super::TreeSpec;
use crate::features::relation::{RelationKeys, run_start};
use crate::features::{Section, Sentences, Templates};
use lineal_linalg::Scalar;
use lineal_linalg::special::softmax;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure, SumOracle};
use rayon::prelude::*;
use std::ops::Range;

/// The problem of choosing each word's relation.
#[derive(Clone, Debug)]
pub struct Relations<'a> {
    /// Where the features of each word end, from entry 1.
    ends: Vec<usize>,
    /// First weights of features.
    starts: Vec<u32>,
    gold: &'a [u32],
    n_relations: usize,
    dim: usize,
}

impl<'a> Relations<'a> {
    /// Relations to predict, below `n_relations`, in sentences with the head of each word, which must be 0 or a word of its sentence; 2^`bits` weights.
    pub fn new(
        templates: &Templates,
        sentences: &Sentences,
        heads: &[u32],
        n_relations: usize,
        bits: u32,
    ) -> Self {
        let n_relations = n_relations.max(1);
        let dim = (1usize << bits.clamp(TreeSpec::MIN_BITS, TreeSpec::MAX_BITS))
            .max(n_relations.next_power_of_two());
        let program = templates.program(Section::Relations);
        let of_sentence = |keys: &mut RelationKeys, i: usize| {
            let (sentence, heads) = (sentences.get(i), &heads[sentences.words(i)]);
            let (mut ends, mut starts) = (Vec::with_capacity(heads.len()), Vec::new());
            keys.load(heads);
            for m in 1..=heads.len() {
                keys.each(program, &sentence, m, |raw| {
                    starts.push(run_start(raw, dim, n_relations) as u32);
                });
                ends.push(starts.len());
            }
            (ends, starts)
        };
        let found: Vec<_> = (0..sentences.len())
            .into_par_iter()
            .map_init(RelationKeys::default, of_sentence)
            .collect();
        let mut ends = Vec::with_capacity(sentences.n_words() + 1);
        let mut starts = Vec::with_capacity(found.iter().map(|(_, starts)| starts.len()).sum());
        ends.push(0);
        for (sentence_ends, sentence_starts) in found {
            ends.extend(sentence_ends.iter().map(|end| starts.len() + end));
            starts.extend(sentence_starts);
        }
        Self { ends, starts, gold: &[], n_relations, dim }
    }

    /// The gold relation of each word of all sentences.
    pub fn with_gold(self, gold: &'a [u32]) -> Self {
        Self { gold, ..self }
    }

    fn features(&self, i: usize) -> &[u32] {
        &self.starts[self.ends[i]..self.ends[i + 1]]
    }
}

impl<F: Scalar> Structure<F> for Relations<'_> {
    type Output = u32;
    type Parts = Vec<F>;
    type Scratch = ();

    fn n_examples(&self) -> usize {
        self.ends.len() - 1
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn work(&self) -> usize {
        self.starts.len() * self.n_relations
    }

    fn size(&self, _: usize) -> usize {
        1
    }

    fn log_outputs(&self, _: usize) -> f64 {
        (self.n_relations as f64).ln()
    }

    fn scratch(&self) {}

    fn gold(&self, i: usize, y: &mut u32) {
        *y = self.gold[i];
    }

    fn scores(&self, i: usize, w: &[F], scale: F, _: &mut (), theta: &mut Vec<F>) {
        theta.clear();
        theta.resize(self.n_relations, F::ZERO);
        for &start in self.features(i) {
            let run = &w[start as usize..start as usize + self.n_relations];
            theta.iter_mut().zip(run).for_each(|(theta, &w)| *theta += w);
        }
        theta.iter_mut().for_each(|theta| *theta *= scale);
    }

    fn accumulate(&self, i: usize, g: &Vec<F>, _: &mut (), into: &mut [F]) {
        for &start in self.features(i) {
            let run = &mut into[start as usize..start as usize + self.n_relations];
            run.iter_mut().zip(g).for_each(|(into, &g)| *into += g);
        }
    }

    fn each_touched(&self, i: usize, _: &Vec<F>, _: &mut (), mut f: impl FnMut(Range<usize>)) {
        for &start in self.features(i) {
            f(start as usize..start as usize + self.n_relations);
        }
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &u32,
        minus: &u32,
        _: &mut (),
        mut f: impl FnMut(usize, F),
    ) {
        if plus == minus {
            return;
        }
        for &start in self.features(i) {
            f((start + plus) as usize, F::ONE);
            f((start + minus) as usize, -F::ONE);
        }
    }

    fn score(&self, _: usize, theta: &Vec<F>, y: &u32) -> f64 {
        theta[*y as usize].to_f64()
    }

    fn add_output(&self, _: usize, y: &u32, a: F, mu: &mut Vec<F>) {
        mu.resize(self.n_relations, F::ZERO);
        mu[*y as usize] += a;
    }
}

impl<F: Scalar> MaxOracle<F> for Relations<'_> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        _: &mut (),
        y: &mut u32,
    ) -> Result<Found, Infeasible> {
        if ask == Ask::Gold {
            *y = self.gold[i];
            return Ok(Found::exact(theta[*y as usize].to_f64()));
        }
        if ask == Ask::Augmented {
            let gold = self.gold[i] as usize;
            theta
                .iter_mut()
                .enumerate()
                .filter(|(k, _)| *k != gold)
                .for_each(|(_, theta)| *theta += F::ONE);
        }
        let mut best = 0;
        for k in 1..self.n_relations {
            if theta[k] > theta[best] {
                best = k;
            }
        }
        *y = best as u32;
        Ok(Found::exact(theta[best].to_f64()))
    }

    fn cost(&self, i: usize, y: &u32) -> f64 {
        f64::from(u8::from(*y != self.gold[i]))
    }
}

impl<F: Scalar> SumOracle<F> for Relations<'_> {
    fn log_partition(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        s: &mut (),
    ) -> Result<f64, Infeasible> {
        self.expect(i, theta, ask, s, &mut Vec::new())
    }

    fn expect(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        _: &mut (),
        mu: &mut Vec<F>,
    ) -> Result<f64, Infeasible> {
        mu.clear();
        mu.resize(self.n_relations, F::ZERO);
        if ask == Ask::Gold {
            mu[self.gold[i] as usize] = F::ONE;
            return Ok(theta[self.gold[i] as usize].to_f64());
        }
        Ok(softmax(theta, mu).to_f64())
    }
}
