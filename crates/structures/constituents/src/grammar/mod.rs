//! The grammar that is read off trees: symbols, what may stand under what, and the way from trees to derivations and back.

mod binarise;
mod names;
mod pairs;
mod read;
mod symbols;
mod tables;

pub use pairs::Pairs;
pub(crate) use pairs::{LEFT, RIGHT};
pub use symbols::{Kind, Symbol};
pub use tables::{GrammarError, GrammarTables};

use crate::derivation::{Derivation, Node};
use crate::{Phrase, Tree};
use std::collections::HashMap;
use symbols::Names;

/// On which side binarisation leaves the rest of a phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Branching {
    /// X → first child, rest.
    Right,
    /// X → rest, last child.
    #[default]
    Left,
}

/// How trees become derivations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrammarSpec {
    /// How many children that were split off a rest remembers; 0 by default.
    pub horizontal: usize,
    /// How many labels a phrase knows, with its own: 1 is its own alone, 2, the default, adds its parent's.
    pub vertical: usize,
    /// The side of the rest.
    pub branching: Branching,
    /// Several phrases over the same words that are seen less often than this have no weights of their own for features, but share those of their inner phrases; 5 by default.
    pub min_count: usize,
}

impl Default for GrammarSpec {
    /// The best of what was tried on the dev part of GUM's trees (labelled F1 after four epochs of passive–aggressive steps, one run each): the rest on the left 87.5, on the right 87.0; with the
    /// parent's label 87.7; with a sibling 87.4.
    fn default() -> Self {
        Self { horizontal: 0, vertical: 2, branching: Branching::Left, min_count: 5 }
    }
}

/// Symbols and pairs, read off trees.
///
/// Symbols that can have children come first, the most frequent ones before the others, then parts of speech, and last the word of unknown part of speech.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    spec: GrammarSpec,
    labels: Names,
    tags: Names,
    /// The label over all trees, which no symbol has.
    top: Option<u32>,
    symbols: Vec<Symbol>,
    numbers: HashMap<Symbol, u32>,
    n_parents: usize,
    pairs: Pairs,
    uses: Vec<Use>,
    /// The weights for features of a span with a symbol.
    columns: Vec<u32>,
    n_columns: usize,
    /// The weights for features of the children of a symbol.
    categories: Vec<u32>,
    n_categories: usize,
}

/// Where a symbol was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Over one word.
    pub(crate) single: bool,
    /// Over several.
    pub(crate) several: bool,
    /// Over all words of a sentence.
    pub(crate) root: bool,
}

impl Grammar {
    /// The derivation of a tree. `None` if the grammar does not have it: it has those of all trees that it was read off.
    pub fn derive<T: AsRef<str>>(&self, tree: &Tree, tags: &[T]) -> Option<Derivation> {
        let derivation = self.numbered(tree, tags)?;
        let mut known = true;
        derivation.each(|node, children| {
            let own = self.uses[node.symbol as usize];
            known &= if node.is_leaf() { own.single } else { own.several };
            known &= node.end - node.start < tree.n_words() as u32 || own.root;
            for (side, child) in children.into_iter().flatten().enumerate() {
                known &= self.pairs.number(side, node.symbol, child.symbol).is_some();
            }
        });
        known.then_some(derivation)
    }

    /// The tree of a derivation.
    pub fn restore(&self, derivation: &Derivation) -> Tree {
        let n_words = derivation.nodes.first().map_or(0, |node| node.end);
        let mut phrases = Vec::new();
        let first =
            derivation.nodes.first().map(|node| self.symbols[node.symbol as usize].labels());
        if let Some(top) =
            self.top.filter(|top| first.is_some_and(|labels| labels.first() != Some(top)))
        {
            phrases.push(Phrase::new(self.labels.name(top), 0, n_words));
        }
        for node in &derivation.nodes {
            for &label in self.symbols[node.symbol as usize].labels() {
                phrases.push(Phrase::new(self.labels.name(label), node.start, node.end));
            }
        }
        Tree::new(n_words as usize, phrases).unwrap_or_default()
    }

    fn derived<T: AsRef<str>>(&self, tree: &Tree, tags: &[T]) -> Vec<binarise::Derived> {
        let tag = |word: u32| tags.get(word as usize).and_then(|tag| self.tags.get(tag.as_ref()));
        // Labels that the grammar does not have make symbols that it does not have.
        let mut label = |label: &str| self.labels.get(label).unwrap_or(u32::MAX / 4);
        binarise::derive(tree, self.skipped(tree), self.spec, &mut label, &tag)
    }

    fn numbered<T: AsRef<str>>(&self, tree: &Tree, tags: &[T]) -> Option<Derivation> {
        if tree.n_words() == 0 {
            return Some(Derivation::default());
        }
        let node = |node: binarise::Derived| {
            let symbol = *self.numbers.get(&node.symbol)?;
            Some(Node { start: node.start, end: node.end, symbol })
        };
        let nodes = self.derived(tree, tags).into_iter().map(node).collect::<Option<Vec<_>>>()?;
        Some(Derivation { nodes })
    }

    /// How many phrases, from the first, are not derived: the top label, unless nothing would be left over all words.
    fn skipped(&self, tree: &Tree) -> usize {
        let phrases = tree.phrases();
        let is_top =
            |phrase: &Phrase| self.top.is_some_and(|top| phrase.label == self.labels.name(top));
        let is_held = match phrases.get(1) {
            Some(next) => {
                tree.n_words() == 1 || (next.start, next.end as usize) == (0, tree.n_words())
            }
            None => tree.n_words() == 1,
        };
        usize::from(is_held && phrases.first().is_some_and(is_top))
    }

    /// How it was read.
    pub fn spec(&self) -> GrammarSpec {
        self.spec
    }

    /// The symbols.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// How many symbols can have children; they come first.
    pub fn n_parents(&self) -> usize {
        self.n_parents
    }

    /// Which symbol may stand under which.
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// The labels, by number.
    pub fn labels(&self) -> &[String] {
        self.labels.all()
    }

    /// The number of a label.
    pub fn label(&self, name: &str) -> Option<u32> {
        self.labels.get(name)
    }

    /// The label over all trees that no symbol has.
    pub fn top(&self) -> Option<&str> {
        self.top.map(|top| self.labels.name(top))
    }

    /// How many kinds of spans have weights of their own.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// How many kinds of parents have weights of their own for their children.
    pub fn n_categories(&self) -> usize {
        self.n_categories
    }

    /// The symbol of a word without a phrase of its own.
    pub fn word_symbol(&self, tag: &str) -> u32 {
        let kind = Kind::Word(self.tags.get(tag));
        let symbol = Symbol { kind, ancestors: Vec::new() };
        self.numbers.get(&symbol).copied().unwrap_or(self.symbols.len() as u32 - 1)
    }

    /// The column of a parent's features.
    #[inline]
    pub(crate) fn column(&self, symbol: usize) -> usize {
        self.columns.get(symbol).map_or(0, |&column| column as usize)
    }

    #[inline]
    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }

    #[inline]
    pub(crate) fn categories(&self) -> &[u32] {
        &self.categories
    }

    pub(crate) fn uses(&self) -> &[Use] {
        &self.uses
    }
}
