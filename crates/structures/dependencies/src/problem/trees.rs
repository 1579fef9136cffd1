//! Dependency trees over candidate arcs: the parser.
//!
//! Parts, in this order:
//!
//! 1. the candidate arcs, as [`Arcs`](crate::Arcs) numbers them; in trees of [second order](SecondOrder) followed by grandparents and siblings;
//! 2. if relations are learnt jointly, for each arc its K relations: the score of a labelled arc is the sum of both.
//!
//! Arcs, grandparents and siblings have two weights per feature ([slots](crate::features)), labelled arcs a run of K. All lie in one table of 2^bits weights.
//!
//! `features` finds the weights of parts, `oracles` the best trees.

mod features;
mod oracles;

pub(super) use features::Triple;

use super::parts::Shape;
use super::{Candidates, Tree, TreeKind, TreeParts, TreeSpec};
use crate::features::keys::Keys;
use crate::features::{Section, Sentences, Templates};
use crate::{NonProjective, Projective, SecondOrderProjective};
use lineal_linalg::Scalar;
use lineal_model::structure::Structure;
use std::ops::Range;
use std::sync::Arc;

/// The problem of finding each sentence's tree.
#[derive(Clone, Debug)]
pub struct Trees<'a> {
    templates: &'a Templates,
    sentences: &'a Sentences,
    candidates: Option<&'a Candidates>,
    heads: &'a [u32],
    relations: &'a [u32],
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
    labels: Keys,
    projective: Projective<F>,
    second_order: SecondOrderProjective<F>,
    non_projective: NonProjective,
    /// Scores of arcs (and second-order parts) with those of relations folded in.
    folded: Vec<F>,
    /// The best relation of each arc, or the marginals of all.
    best: Vec<u32>,
    /// The numbers of one run of relations.
    run: Vec<F>,
}

impl<'a> Trees<'a> {
    /// Trees to predict. Without candidates all arcs are.
    pub fn new(
        templates: &'a Templates,
        sentences: &'a Sentences,
        candidates: Option<&'a Candidates>,
        spec: TreeSpec,
    ) -> Self {
        let at_least = TreeSpec::MIN_BITS.max(usize::BITS - spec.n_relations.leading_zeros());
        let bits = spec.bits.max(at_least).min(TreeSpec::MAX_BITS);
        Self {
            templates,
            sentences,
            candidates,
            heads: &[],
            relations: &[],
            spec: TreeSpec { bits, ..spec },
        }
    }

    /// The gold head of each word of all sentences, and its relation if relations are learnt jointly. Gold arcs must be candidates, and gold trees
    /// [projective](super::projectivize) if the kind is.
    pub fn with_gold(self, heads: &'a [u32], relations: &'a [u32]) -> Self {
        Self { heads, relations, ..self }
    }

    /// What they are.
    pub fn spec(&self) -> TreeSpec {
        self.spec
    }

    pub(super) fn templates(&self) -> &'a Templates {
        self.templates
    }

    fn heads_of(&self, i: usize) -> &[u32] {
        self.heads.get(self.sentences.words(i)).unwrap_or_default()
    }

    fn relations_of(&self, i: usize) -> &[u32] {
        self.relations.get(self.sentences.words(i)).unwrap_or_default()
    }

    /// Makes `parts` those of sentence `i`; their numbers are not yet right.
    fn shape<F>(&self, i: usize, parts: &mut TreeParts<F>) {
        if parts.shape.example == Some(i) {
            return;
        }
        if Arc::get_mut(&mut parts.shape).is_none() {
            parts.shape = Arc::default();
        }
        // Nobody else has it now.
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

    /// How many parts there are besides labelled arcs.
    fn n_bare(&self, shape: &Shape) -> usize {
        match self.spec.kind {
            TreeKind::SecondOrder => shape.second.len(),
            _ => shape.arcs.len(),
        }
    }

    fn n_parts(&self, shape: &Shape) -> usize {
        self.n_bare(shape) + shape.arcs.len() * self.spec.n_relations
    }

    /// The parts of a tree; those that do not exist are passed over.
    fn each_part(&self, shape: &Shape, y: &Tree, mut f: impl FnMut(usize)) {
        match self.spec.kind {
            TreeKind::SecondOrder => {
                shape.second.each_part(&y.heads, &mut f);
            }
            _ => shape.arcs.of_tree(&y.heads).flatten().for_each(&mut f),
        }
        let (first, n_relations) = (self.n_bare(shape), self.spec.n_relations);
        if n_relations > 0 {
            for (arc, &relation) in shape.arcs.of_tree(&y.heads).zip(&y.relations) {
                arc.into_iter().for_each(|arc| f(first + arc * n_relations + relation as usize));
            }
        }
    }
}

impl<F: Scalar> Structure<F> for Trees<'_> {
    type Output = Tree;
    type Parts = TreeParts<F>;
    type Scratch = TreesScratch<F>;

    fn n_examples(&self) -> usize {
        self.sentences.len()
    }

    fn dim(&self) -> usize {
        1 << self.spec.bits
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
        let relations = words.len() as f64 * (self.spec.n_relations.max(1) as f64).ln();
        relations
            + match self.candidates {
                Some(c) => words.map(|word| (c.heads(word).len().max(1) as f64).ln()).sum(),
                None => words.len() as f64 * (words.len().max(1) as f64).ln(),
            }
    }

    fn scratch(&self) -> TreesScratch<F> {
        TreesScratch::default()
    }

    fn gold(&self, i: usize, y: &mut Tree) {
        y.heads.clear();
        y.heads.extend_from_slice(self.heads_of(i));
        y.relations.clear();
        if self.spec.n_relations > 0 {
            y.relations.extend_from_slice(self.relations_of(i));
        }
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
        self.score_parts(w, s, theta);
        if scale != F::ONE {
            theta.values.iter_mut().for_each(|value| *value *= scale);
        }
    }

    fn accumulate(&self, i: usize, g: &TreeParts<F>, s: &mut TreesScratch<F>, into: &mut [F]) {
        self.load_keys(i, s);
        self.each_weight(g, s, |weight, g| into[weight] += g);
    }

    fn each_touched(
        &self,
        i: usize,
        g: &TreeParts<F>,
        s: &mut TreesScratch<F>,
        mut f: impl FnMut(Range<usize>),
    ) {
        self.load_keys(i, s);
        self.each_weight(g, s, |weight, _| f(weight..weight + 1));
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Tree,
        minus: &Tree,
        s: &mut TreesScratch<F>,
        f: impl FnMut(usize, F),
    ) {
        self.load_keys(i, s);
        self.each_difference_of(plus, minus, s, f);
    }

    fn score(&self, _: usize, theta: &TreeParts<F>, y: &Tree) -> f64 {
        let TreeParts { values, shape } = theta;
        let mut score = match self.spec.kind {
            TreeKind::SecondOrder => shape.second.score(values, &y.heads),
            _ => shape.arcs.score(values, &y.heads),
        };
        let (first, n_relations) = (self.n_bare(shape), self.spec.n_relations);
        if n_relations > 0 {
            for (arc, &relation) in shape.arcs.of_tree(&y.heads).zip(&y.relations) {
                let part = arc.map(|arc| first + arc * n_relations + relation as usize);
                score += part
                    .and_then(|part| values.get(part))
                    .map_or(f64::NEG_INFINITY, |v| v.to_f64());
            }
        }
        score
    }

    fn add_output(&self, i: usize, y: &Tree, a: F, mu: &mut TreeParts<F>) {
        self.shape(i, mu);
        mu.values.resize(self.n_parts(&mu.shape), F::ZERO);
        let TreeParts { values, shape } = mu;
        self.each_part(shape, y, |part| values[part] += a);
    }
}
