//! Dependency trees over candidate arcs: the parser.
//!
//! Parts are the candidate arcs, numbered as [`Arcs`](crate::Arcs) numbers them, followed by grandparents and siblings in trees of [second order](SecondOrder). The cost of a tree is its
//! number of wrong heads; it is a sum over arcs, so that the augmented argmax adds 1 to the score of each wrong arc.

use super::parts::Shape;
use super::{Candidates, TreeParts};
use crate::features::keys::Keys;
use crate::features::slots;
use crate::features::{Section, Sentences, Templates};
use crate::{Projective, SecondOrder, SecondOrderProjective};
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure};
use std::ops::Range;
use std::sync::Arc;

/// Which trees there are, and what their scores are sums of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeKind {
    /// No two arcs cross; scores of arcs.
    #[default]
    Projective,
    /// No two arcs cross; scores of arcs, grandparents and siblings.
    SecondOrder,
}

/// Which trees, with how many weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSpec {
    /// The trees.
    pub kind: TreeKind,
    /// Exactly one word depends on the root.
    pub single_root: bool,
    /// There are 2^`bits` weights, 4 ≤ `bits` ≤ 31.
    pub bits: u32,
}

impl Default for TreeSpec {
    /// Projective trees of first order with one root, 2²² weights.
    fn default() -> Self {
        Self { kind: TreeKind::Projective, single_root: true, bits: 22 }
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
    /// The sentence whose keys are loaded.
    loaded: Option<usize>,
    arcs: Keys,
    grandparents: Keys,
    siblings: Keys,
    projective: Projective<F>,
    second_order: SecondOrderProjective<F>,
}

impl<'a> Trees<'a> {
    /// Sentences with the gold head of each word (none to predict only). Without candidates all arcs are. The gold arcs must be candidates, and the gold trees
    /// [projective](super::projectivize) if the kind is.
    pub fn new(
        templates: &'a Templates,
        sentences: &'a Sentences,
        candidates: Option<&'a Candidates>,
        gold: &'a [u32],
        spec: TreeSpec,
    ) -> Self {
        Self { templates, sentences, candidates, gold, spec }
    }

    fn load_keys<F>(&self, i: usize, s: &mut TreesScratch<F>) {
        if s.loaded == Some(i) {
            return;
        }
        s.loaded = Some(i);
        let sentence = self.sentences.get(i);
        let program = |section| self.templates.program(section);
        s.arcs.load(program(Section::Arcs), &sentence, true);
        if self.spec.kind == TreeKind::SecondOrder {
            s.grandparents.load(program(Section::Grandparents), &sentence, false);
            s.siblings.load(program(Section::Siblings), &sentence, false);
        }
    }

    /// Makes `parts` those of sentence `i`; their numbers are not yet right in number or value.
    fn shape<F>(&self, i: usize, parts: &mut TreeParts<F>) {
        if parts.shape.example == Some(i) {
            return;
        }
        if Arc::get_mut(&mut parts.shape).is_none() {
            parts.shape = Arc::default();
        }
        // Unshared now.
        let Some(shape) = Arc::get_mut(&mut parts.shape) else { return };
        let words = self.sentences.words(i);
        match self.candidates {
            Some(candidates) => candidates.load(words, self.spec.single_root, &mut shape.arcs),
            None => shape.arcs.fill(words.len(), self.spec.single_root),
        }
        if self.spec.kind == TreeKind::SecondOrder {
            shape.second.build(&shape.arcs);
        }
        shape.example = Some(i);
    }

    /// How many parts a shape has.
    fn n_parts(&self, shape: &Shape) -> usize {
        match self.spec.kind {
            TreeKind::SecondOrder => shape.second.len(),
            _ => shape.arcs.len(),
        }
    }

    /// The parts of a tree; arcs that are not candidates are passed over.
    fn each_part(&self, shape: &Shape, y: &[u32], mut f: impl FnMut(usize)) {
        match self.spec.kind {
            TreeKind::SecondOrder => {
                shape.second.each_part(y, f);
            }
            _ => shape.arcs.of_tree(y).flatten().for_each(&mut f),
        }
    }

    /// Every weight of a part.
    #[inline]
    fn each_weight<F: Scalar>(
        &self,
        shape: &Shape,
        part: usize,
        s: &TreesScratch<F>,
        mut f: impl FnMut(usize),
    ) {
        let (arcs, second) = (&shape.arcs, &shape.second);
        if part < arcs.len() {
            return s.arcs.each_arc_weight(
                self.mask(),
                arcs.head(part),
                arcs.modifier(part),
                &mut f,
            );
        }
        let words = words_of(second, part);
        self.each_triple_weight(words, s, &mut f);
    }

    #[inline]
    fn each_triple_weight<F>(&self, words: Triple, s: &TreesScratch<F>, f: impl FnMut(usize)) {
        let (mask, slots) = (self.mask(), words.slots());
        match words {
            Triple::Grandparent(rows) => s.grandparents.each_triple_weight(mask, rows, slots, f),
            Triple::Sibling(h, sibling, m) => {
                let rows = [h, sibling.unwrap_or(s.siblings.none()), m];
                s.siblings.each_triple_weight(mask, rows, slots, f);
            }
        }
    }

    fn gold_of(&self, i: usize) -> &[u32] {
        self.gold.get(self.sentences.words(i)).unwrap_or_default()
    }

    fn mask(&self) -> u32 {
        ((1usize << self.spec.bits) - 1) as u32
    }
}

/// The words of a part of second order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Triple {
    /// g → h → m.
    Grandparent([usize; 3]),
    /// h → m, and the modifier before.
    Sibling(usize, Option<usize>, usize),
}

impl Triple {
    #[inline]
    fn slots(self) -> slots::Slots {
        match self {
            Triple::Grandparent([g, h, m]) => slots::of_grandparent(g, h, m),
            Triple::Sibling(h, s, m) => slots::of_sibling(h, s, m),
        }
    }

    /// The parts of second order that word `m` brings into a tree.
    fn of_word(heads: &[u32], m: usize) -> [Option<Triple>; 2] {
        let h = heads[m - 1] as usize;
        let is_sibling = |&s: &usize| heads[s - 1] as usize == h;
        let sibling =
            if h < m { (h + 1..m).rev().find(is_sibling) } else { (m + 1..h).find(is_sibling) };
        let grandparent = (h > 0).then(|| Triple::Grandparent([heads[h - 1] as usize, h, m]));
        [grandparent, Some(Triple::Sibling(h, sibling, m))]
    }
}

/// The words of a part of second order, by its number.
fn words_of(second: &SecondOrder, part: usize) -> Triple {
    let arcs = second.arcs();
    if part < second.all_siblings().start {
        let upper = second.upper(part);
        // The parts of an arc are contiguous: its number is found by bisection.
        let (mut low, mut high) = (0, arcs.len());
        while high - low > 1 {
            let middle = (low + high) / 2;
            if second.grandparents(middle).start <= part { low = middle } else { high = middle }
        }
        return Triple::Grandparent([arcs.head(upper), arcs.modifier(upper), arcs.modifier(low)]);
    }
    let outer = second.outer(part);
    Triple::Sibling(
        arcs.head(outer),
        second.inner(part).map(|arc| arcs.modifier(arc)),
        arcs.modifier(outer),
    )
}

impl<F: Scalar> Structure<F> for Trees<'_> {
    type Output = Vec<u32>;
    type Parts = TreeParts<F>;
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

    fn scores(
        &self,
        i: usize,
        w: &[F],
        scale: F,
        s: &mut TreesScratch<F>,
        theta: &mut TreeParts<F>,
    ) {
        self.load_keys(i, s);
        self.shape(i, theta);
        let Shape { arcs, second, .. } = &*theta.shape;
        let values = &mut theta.values;
        values.clear();
        for m in 1..=arcs.n_words() {
            values
                .extend(arcs.heads(m).iter().map(|&h| scale * s.arcs.arc_score(w, h as usize, m)));
        }
        if self.spec.kind != TreeKind::SecondOrder {
            return;
        }
        for arc in 0..arcs.len() {
            let (h, m) = (arcs.head(arc), arcs.modifier(arc));
            values.extend(second.grandparents(arc).map(|part| {
                let words = [arcs.head(second.upper(part)), h, m];
                scale * s.grandparents.triple_score(w, words, Triple::Grandparent(words).slots())
            }));
        }
        for arc in 0..arcs.len() {
            let (h, m) = (arcs.head(arc), arcs.modifier(arc));
            values.extend(second.siblings(arc).map(|part| {
                let sibling = second.inner(part).map(|arc| arcs.modifier(arc));
                let rows = [h, sibling.unwrap_or(s.siblings.none()), m];
                scale * s.siblings.triple_score(w, rows, slots::of_sibling(h, sibling, m))
            }));
        }
    }

    fn accumulate(&self, i: usize, g: &TreeParts<F>, s: &mut TreesScratch<F>, into: &mut [F]) {
        self.load_keys(i, s);
        for (part, &g_part) in g.values.iter().enumerate().filter(|(_, g)| **g != F::ZERO) {
            self.each_weight(&g.shape, part, s, |weight| into[weight] += g_part);
        }
    }

    fn each_touched(
        &self,
        i: usize,
        g: &TreeParts<F>,
        s: &mut TreesScratch<F>,
        mut f: impl FnMut(Range<usize>),
    ) {
        self.load_keys(i, s);
        for (part, _) in g.values.iter().enumerate().filter(|(_, g)| **g != F::ZERO) {
            self.each_weight(&g.shape, part, s, |weight| f(weight..weight + 1));
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
        self.load_keys(i, s);
        let mask = self.mask();
        for m in 1..=plus.len().min(minus.len()) {
            let heads = [plus, minus].map(|y| y[m - 1] as usize);
            if heads[0] != heads[1] {
                s.arcs.each_arc_weight(mask, heads[0], m, |weight| f(weight, F::ONE));
                s.arcs.each_arc_weight(mask, heads[1], m, |weight| f(weight, -F::ONE));
            }
            if self.spec.kind == TreeKind::SecondOrder {
                let (plus, minus) = (Triple::of_word(plus, m), Triple::of_word(minus, m));
                for (plus, minus) in plus.into_iter().zip(minus).filter(|(a, b)| a != b) {
                    for (words, sign) in [(plus, F::ONE), (minus, -F::ONE)] {
                        if let Some(words) = words {
                            self.each_triple_weight(words, s, |weight| f(weight, sign));
                        }
                    }
                }
            }
        }
    }

    fn score(&self, _: usize, theta: &TreeParts<F>, y: &Vec<u32>) -> f64 {
        match self.spec.kind {
            TreeKind::SecondOrder => theta.shape.second.score(&theta.values, y),
            _ => theta.shape.arcs.score(&theta.values, y),
        }
    }

    fn add_output(&self, i: usize, y: &Vec<u32>, a: F, mu: &mut TreeParts<F>) {
        self.shape(i, mu);
        mu.values.resize(self.n_parts(&mu.shape), F::ZERO);
        let TreeParts { values, shape } = mu;
        self.each_part(shape, y, |part| values[part] += a);
    }
}

impl<F: Scalar> MaxOracle<F> for Trees<'_> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut TreeParts<F>,
        ask: Ask,
        s: &mut TreesScratch<F>,
        y: &mut Vec<u32>,
    ) -> Result<Found, Infeasible> {
        let gold = self.gold_of(i);
        if ask == Ask::Gold {
            y.clear();
            y.extend_from_slice(gold);
            return Ok(Found::exact(self.score(i, theta, y)));
        }
        let TreeParts { values, shape } = theta;
        if ask == Ask::Augmented {
            for (m, &head) in (1..).zip(gold) {
                for arc in shape.arcs.range(m).filter(|&arc| shape.arcs.head(arc) != head as usize)
                {
                    values[arc] += F::ONE;
                }
            }
        }
        let score = match self.spec.kind {
            TreeKind::Projective => s.projective.max(&shape.arcs, values, y)?,
            TreeKind::SecondOrder => s.second_order.max(&shape.second, values, y)?,
        };
        Ok(Found::exact(score))
    }

    fn cost(&self, i: usize, y: &Vec<u32>) -> f64 {
        y.iter().zip(self.gold_of(i)).filter(|(a, b)| a != b).count() as f64
    }
}
