//! What each feature adds to the score of a word's place in a tree, by name.

use super::trees::{Trees, Triple};
use super::{Relations, TreeKind};
use crate::features::names::{Words, named, places_of_arc, places_of_triple};
use crate::features::relation::{Family, run_start};
use crate::features::{Section, Templates, slots};

/// A feature, and what it adds to a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// What kind of part it belongs to.
    pub section: Section,
    /// Its atoms with their values and, in brackets, direction and distance: `h.lemma=see m.upos=NOUN [right 2]`.
    pub name: String,
    /// Its place among the weights.
    pub index: usize,
    /// Its weight.
    pub weight: f32,
}

impl Trees<'_> {
    /// Everything that word `m` (from 1) adds to the score of a tree with these heads: its arc, and in trees of second order its grandparent and its sibling. `cells` is
    /// the sentence as text, in the order of the templates' columns. Relations that were learnt jointly are in [`explain_relation`](Self::explain_relation).
    pub fn explain(&self, cells: &[&str], heads: &[u32], m: usize, w: &[f32]) -> Vec<Contribution> {
        let h = heads[m - 1] as usize;
        let mut all = self.explain_arc(cells, h, m, w);
        if self.spec().kind == TreeKind::SecondOrder {
            for words in Triple::of_word(heads, m).into_iter().flatten() {
                let (section, places, slots, names) = match words {
                    Triple::Grandparent(g, h, m) => (
                        Section::Grandparents,
                        [Some(g), Some(h), Some(m)],
                        slots::of_grandparent(g, h, m),
                        slots::names_of_grandparent(g, h, m),
                    ),
                    Triple::Sibling(h, s, m) => (
                        Section::Siblings,
                        [Some(h), s, Some(m)],
                        slots::of_sibling(h, s, m),
                        slots::names_of_sibling(h, s, m),
                    ),
                };
                self.push(section, cells, &places_of_triple(places), (slots, names), w, &mut all);
            }
        }
        all
    }

    /// What the arc from `h` to `m` adds.
    pub fn explain_arc(&self, cells: &[&str], h: usize, m: usize, w: &[f32]) -> Vec<Contribution> {
        let mut all = Vec::new();
        let slots = (slots::of_arc(h, m), slots::names_of_arc(h, m));
        self.push(Section::Arcs, cells, &places_of_arc(h, m), slots, w, &mut all);
        all
    }

    /// What a jointly learnt relation adds to the arc from `h` to `m`.
    pub fn explain_relation(
        &self,
        cells: &[&str],
        (h, m): (usize, usize),
        relation: u32,
        w: &[f32],
    ) -> Vec<Contribution> {
        let (dim, n_relations) = (w.len(), self.spec().n_relations);
        let words = self.words(cells);
        let features = named(self.templates(), Section::Labels, words, &places_of_arc(h, m), None);
        let side = &slots::names_of_arc(h, m)[0];
        let contribution = |(name, raw): (String, u32)| {
            let index =
                run_start(raw ^ Trees::side_key(h, m), dim, n_relations) + relation as usize;
            Contribution {
                section: Section::Labels,
                name: format!("{name} [{side}]"),
                index,
                weight: w[index],
            }
        };
        features.into_iter().map(contribution).collect()
    }

    fn words<'c>(&self, cells: &'c [&'c str]) -> Words<'c> {
        Words { cells, n_columns: self.templates().columns().len() }
    }

    fn push(
        &self,
        section: Section,
        cells: &[&str],
        at: &dyn Fn(usize) -> Vec<usize>,
        (slots, slot_names): (slots::Slots, [String; 2]),
        w: &[f32],
        all: &mut Vec<Contribution>,
    ) {
        let mask = (w.len() - 1) as u32;
        for (name, raw) in named(self.templates(), section, self.words(cells), at, None) {
            for (slot, slot_name) in slots.iter().zip(&slot_names) {
                let index = ((raw ^ slot) & mask) as usize;
                let name = format!("{name} [{slot_name}]");
                all.push(Contribution { section, name, index, weight: w[index] });
            }
        }
    }
}

impl Relations<'_> {
    /// What each feature of word `m` (from 1) adds to the score of a relation, in a tree with these heads.
    pub fn explain(
        templates: &Templates,
        n_relations: usize,
        cells: &[&str],
        heads: &[u32],
        m: usize,
        relation: u32,
        w: &[f32],
    ) -> Vec<Contribution> {
        let mut family = Family::default();
        family.load(heads);
        let at = |place| {
            let mut words = Vec::new();
            family.at(place, m, &mut words);
            words
        };
        let words = Words { cells, n_columns: templates.columns().len() };
        let features = named(templates, Section::Relations, words, &at, Some((&family, m)));
        let contribution = |(name, raw): (String, u32)| {
            let index = run_start(raw, w.len(), n_relations) + relation as usize;
            Contribution { section: Section::Relations, name, index, weight: w[index] }
        };
        features.into_iter().map(contribution).collect()
    }
}
