//! The weights of parts: scores, gradients and differences of trees, all by the same walk.

use super::{Trees, TreesScratch};
use crate::SecondOrder;
use crate::features::keys::Keys;
use crate::features::relation::run_start;
use crate::features::{Section, slots};
use crate::problem::parts::Shape;
use crate::problem::{Tree, TreeKind, TreeParts};
use lineal_linalg::Scalar;

/// Told apart from arcs to the left by this.
const TO_THE_RIGHT: u32 = 0x6a09_e667;

/// The words of a part of second order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::problem) enum Triple {
    /// g → h → m.
    Grandparent(usize, usize, usize),
    /// h → m, and the modifier of h before m.
    Sibling(usize, Option<usize>, usize),
}

impl Triple {
    /// The parts of second order that word `m` brings into a tree.
    pub(in crate::problem) fn of_word(heads: &[u32], m: usize) -> [Option<Triple>; 2] {
        let h = heads[m - 1] as usize;
        let is_sibling = |&s: &usize| heads[s - 1] as usize == h;
        let sibling =
            if h < m { (h + 1..m).rev().find(is_sibling) } else { (m + 1..h).find(is_sibling) };
        let grandparent = (h > 0).then(|| Triple::Grandparent(heads[h - 1] as usize, h, m));
        [grandparent, Some(Triple::Sibling(h, sibling, m))]
    }

    /// The words of a part, by its number.
    fn of_part(second: &SecondOrder, part: usize) -> Self {
        let arcs = second.arcs();
        if part < second.all_siblings().start {
            let upper = second.upper(part);
            // The parts of an arc are contiguous: its number is found by bisection.
            let (mut low, mut high) = (0, arcs.len());
            while high - low > 1 {
                let middle = (low + high) / 2;
                if second.grandparents(middle).start <= part { low = middle } else { high = middle }
            }
            return Triple::Grandparent(arcs.head(upper), arcs.modifier(upper), arcs.modifier(low));
        }
        let outer = second.outer(part);
        let sibling = second.inner(part).map(|arc| arcs.modifier(arc));
        Triple::Sibling(arcs.head(outer), sibling, arcs.modifier(outer))
    }
}

/// The features of a labelled arc, each the start of a run of `n` weights out of `dim`.
#[inline]
fn each_run(keys: &Keys, h: usize, m: usize, (dim, n): (usize, usize), mut f: impl FnMut(usize)) {
    let direction = Trees::side_key(h, m);
    for (a, b) in keys.single(0, h).iter().zip(keys.single(1, m)) {
        f(run_start(a ^ b ^ direction, dim, n));
    }
    keys.each_of_arc(h, m, |raw| f(run_start(raw ^ direction, dim, n)));
}

impl Trees<'_> {
    /// Makes the features of labelled arcs differ by their direction.
    pub(in crate::problem) fn side_key(h: usize, m: usize) -> u32 {
        if h < m { TO_THE_RIGHT } else { 0 }
    }

    /// Computes the keys of sentence `i`, unless they are there.
    pub(super) fn load_keys<F>(&self, i: usize, s: &mut TreesScratch<F>) {
        if s.loaded == Some(i) {
            return;
        }
        s.loaded = Some(i);
        let sentence = self.sentences.get(i);
        let program = |section| self.templates.program(section);
        s.arcs.load(program(Section::Arcs), &sentence);
        if self.spec.kind == TreeKind::SecondOrder {
            s.grandparents.load(program(Section::Grandparents), &sentence);
            s.siblings.load(program(Section::Siblings), &sentence);
        }
        if self.spec.n_relations > 0 {
            s.labels.load(program(Section::Labels), &sentence);
        }
    }

    fn mask(&self) -> u32 {
        ((1usize << self.spec.bits) - 1) as u32
    }

    /// The shape of a run of relations.
    fn runs(&self) -> (usize, usize) {
        (1 << self.spec.bits, self.spec.n_relations)
    }

    /// Scores all parts of the sentence whose keys are loaded.
    pub(super) fn score_parts<F: Scalar>(
        &self,
        w: &[F],
        s: &mut TreesScratch<F>,
        theta: &mut TreeParts<F>,
    ) {
        let TreeParts { values, shape } = theta;
        let Shape { arcs, second, .. } = &**shape;
        values.clear();
        for m in 1..=arcs.n_words() {
            values.extend(arcs.heads(m).iter().map(|&h| s.arcs.arc_score(w, h as usize, m)));
        }
        if self.spec.kind == TreeKind::SecondOrder {
            for arc in 0..arcs.len() {
                let (h, m) = (arcs.head(arc), arcs.modifier(arc));
                values.extend(second.grandparents(arc).map(|part| {
                    let g = arcs.head(second.upper(part));
                    s.grandparents.triple_score(w, [g, h, m], slots::of_grandparent(g, h, m))
                }));
            }
            let none = s.siblings.none();
            for arc in 0..arcs.len() {
                let (h, m) = (arcs.head(arc), arcs.modifier(arc));
                values.extend(second.siblings(arc).map(|part| {
                    let sibling = second.inner(part).map(|arc| arcs.modifier(arc));
                    let rows = [h, sibling.unwrap_or(none), m];
                    s.siblings.triple_score(w, rows, slots::of_sibling(h, sibling, m))
                }));
            }
        }
        let n = self.spec.n_relations;
        if n > 0 {
            for arc in 0..arcs.len() {
                s.run.clear();
                s.run.resize(n, F::ZERO);
                each_run(&s.labels, arcs.head(arc), arcs.modifier(arc), self.runs(), |start| {
                    s.run.iter_mut().zip(&w[start..start + n]).for_each(|(sum, &w)| *sum += w);
                });
                values.extend_from_slice(&s.run);
            }
        }
    }

    /// `f(weight, number of its part)` for the weights of all parts whose number is not 0.
    pub(super) fn each_weight<F: Scalar>(
        &self,
        parts: &TreeParts<F>,
        s: &TreesScratch<F>,
        mut f: impl FnMut(usize, F),
    ) {
        let TreeParts { values, shape } = parts;
        let Shape { arcs, second, .. } = &**shape;
        let (bare, labelled) = values.split_at(self.n_bare(shape).min(values.len()));
        for (part, &value) in bare.iter().enumerate().filter(|(_, value)| **value != F::ZERO) {
            if part < arcs.len() {
                let (h, m) = (arcs.head(part), arcs.modifier(part));
                s.arcs.each_arc_weight(self.mask(), h, m, |weight| f(weight, value));
            } else {
                self.each_triple_weight(Triple::of_part(second, part), s, |weight| {
                    f(weight, value)
                });
            }
        }
        let n = self.spec.n_relations;
        for (arc, run) in labelled.chunks_exact(n.max(1)).enumerate() {
            if run.iter().any(|value| *value != F::ZERO) {
                each_run(&s.labels, arcs.head(arc), arcs.modifier(arc), self.runs(), |start| {
                    let used = run.iter().enumerate().filter(|(_, value)| **value != F::ZERO);
                    used.for_each(|(k, &value)| f(start + k, value));
                });
            }
        }
    }

    /// The weights of a part of second order.
    #[inline]
    fn each_triple_weight<F>(&self, words: Triple, s: &TreesScratch<F>, f: impl FnMut(usize)) {
        let mask = self.mask();
        match words {
            Triple::Grandparent(g, h, m) => {
                s.grandparents.each_triple_weight(
                    mask,
                    [g, h, m],
                    slots::of_grandparent(g, h, m),
                    f,
                );
            }
            Triple::Sibling(h, sibling, m) => {
                let rows = [h, sibling.unwrap_or(s.siblings.none()), m];
                s.siblings.each_triple_weight(mask, rows, slots::of_sibling(h, sibling, m), f);
            }
        }
    }

    /// The weights of parts that two trees do not share.
    pub(super) fn each_difference_of<F: Scalar>(
        &self,
        plus: &Tree,
        minus: &Tree,
        s: &TreesScratch<F>,
        mut f: impl FnMut(usize, F),
    ) {
        let trees = [(plus, F::ONE), (minus, -F::ONE)];
        for m in 1..=plus.heads.len().min(minus.heads.len()) {
            let other_head = plus.heads[m - 1] != minus.heads[m - 1];
            for (tree, sign) in trees.iter().filter(|_| other_head) {
                let h = tree.heads[m - 1] as usize;
                s.arcs.each_arc_weight(self.mask(), h, m, |weight| f(weight, *sign));
            }
            if self.spec.kind == TreeKind::SecondOrder {
                let (plus, minus) =
                    (Triple::of_word(&plus.heads, m), Triple::of_word(&minus.heads, m));
                for (plus, minus) in plus.into_iter().zip(minus).filter(|(a, b)| a != b) {
                    for (words, sign) in [(plus, F::ONE), (minus, -F::ONE)] {
                        if let Some(words) = words {
                            self.each_triple_weight(words, s, |weight| f(weight, sign));
                        }
                    }
                }
            }
            if self.spec.n_relations > 0
                && (other_head || plus.relations[m - 1] != minus.relations[m - 1])
            {
                for (tree, sign) in trees {
                    let (h, k) = (tree.heads[m - 1] as usize, tree.relations[m - 1] as usize);
                    each_run(&s.labels, h, m, self.runs(), |start| f(start + k, sign));
                }
            }
        }
    }
}
