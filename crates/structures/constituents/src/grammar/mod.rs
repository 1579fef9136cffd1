//! The grammar that is read off trees: symbols, what may stand under what, and the way from trees to derivations and back.

mod binarise;
mod pairs;
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
    #[default]
    Right,
    /// X → rest, last child.
    Left,
}

/// How trees become derivations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrammarSpec {
    /// How many children that were split off a rest remembers; 0 by default.
    pub horizontal: usize,
    /// How many labels a phrase knows, with its own: 1, the default, is its own alone, 2 adds its parent's.
    pub vertical: usize,
    /// The side of the rest.
    pub branching: Branching,
    /// Several phrases over the same words that are seen less often than this have no weights of their own for features, but share those of their inner phrases; 5 by default.
    pub min_count: usize,
}

impl Default for GrammarSpec {
    fn default() -> Self {
        Self { horizontal: 0, vertical: 1, branching: Branching::Right, min_count: 5 }
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
    /// Reads a grammar off trees, each with the parts of speech of its words.
    pub fn read<'a, T: AsRef<str> + 'a>(
        trees: impl Iterator<Item = (&'a Tree, &'a [T])> + Clone,
        spec: GrammarSpec,
    ) -> Self {
        let (mut labels, mut tags) = (Names::default(), Names::default());
        for (tree, tags_of) in trees.clone() {
            for phrase in tree.phrases() {
                labels.insert(&phrase.label);
            }
            for tag in tags_of {
                tags.insert(tag.as_ref());
            }
        }
        let top = common_top(trees.clone().map(|(tree, _)| tree)).map(|top| labels.insert(top));
        let mut grammar = Self {
            spec,
            labels,
            tags,
            top,
            symbols: Vec::new(),
            numbers: HashMap::new(),
            n_parents: 0,
            pairs: Pairs::default(),
            uses: Vec::new(),
            columns: Vec::new(),
            n_columns: 0,
            categories: Vec::new(),
            n_categories: 0,
        };
        let mut counts: HashMap<Symbol, usize> = HashMap::new();
        for (tree, tags) in trees.clone() {
            for node in grammar.derived(tree, tags) {
                *counts.entry(node.symbol).or_default() += 1;
            }
        }
        for tag in 0..grammar.tags.all().len() as u32 {
            let symbol = Symbol { kind: Kind::Word(Some(tag)), ancestors: Vec::new() };
            counts.entry(symbol).or_default();
        }
        counts.insert(Symbol { kind: Kind::Word(None), ancestors: Vec::new() }, 0);
        grammar.number_symbols(counts);
        let mut pairs = [Vec::new(), Vec::new()];
        let mut uses = vec![Use::default(); grammar.symbols.len()];
        for (tree, tags) in trees {
            let n_words = tree.n_words() as u32;
            let Some(derivation) = grammar.numbered(tree, tags) else { continue };
            derivation.each(|node, children| {
                let own = &mut uses[node.symbol as usize];
                own.single |= node.is_leaf();
                own.several |= !node.is_leaf();
                own.root |= node.end - node.start == n_words;
                for (side, child) in children.into_iter().flatten().enumerate() {
                    pairs[side].push((child.symbol, node.symbol));
                }
            });
            if pairs[LEFT].len() > 1 << 20 {
                pairs.iter_mut().for_each(|pairs| {
                    pairs.sort_unstable();
                    pairs.dedup();
                });
            }
        }
        grammar.uses = uses;
        grammar.pairs = Pairs::new(grammar.symbols.len(), pairs);
        grammar
    }

    fn number_symbols(&mut self, counts: HashMap<Symbol, usize>) {
        // Counts of phrases and rests without their refinements.
        let mut bare: HashMap<Kind, usize> = HashMap::new();
        for (symbol, count) in &counts {
            *bare.entry(bare_kind(&symbol.kind)).or_default() += count;
        }
        let mut sorted: Vec<(Symbol, usize)> = counts.into_iter().collect();
        sorted.sort_by_cached_key(|(symbol, count)| {
            let is_word = matches!(symbol.kind, Kind::Word(_));
            (is_word, if is_word { 0 } else { usize::MAX - count }, self.order(symbol))
        });
        self.symbols = sorted.into_iter().map(|(symbol, _)| symbol).collect();
        self.n_parents =
            self.symbols.partition_point(|symbol| !matches!(symbol.kind, Kind::Word(_)));
        self.numbers = self.symbols.iter().cloned().zip(0..).collect();
        // Column 0 is for words without a phrase.
        let mut columns: HashMap<Kind, u32> = HashMap::new();
        let mut n_columns = 1;
        let mut categories: HashMap<(u32, bool), u32> = HashMap::new();
        for symbol in &self.symbols[..self.n_parents] {
            let kind = bare_kind(&symbol.kind);
            let is_common = bare.get(&kind).is_some_and(|&count| count >= self.spec.min_count);
            if (is_common || symbol.labels().len() < 2) && !columns.contains_key(&kind) {
                columns.insert(kind, n_columns);
                n_columns += 1;
            }
            let next = categories.len() as u32;
            if let Some(category) = symbol.category() {
                categories.entry((category, symbol.is_rest())).or_insert(next);
            }
        }
        let column = |symbol: &Symbol| {
            let kind = bare_kind(&symbol.kind);
            if let Some(&column) = columns.get(&kind) {
                return column;
            }
            let labels = symbol.labels();
            let inner = (1..labels.len()).map(|from| Kind::Phrase(labels[from..].to_vec()));
            inner.filter_map(|kind| columns.get(&kind).copied()).next().unwrap_or(n_columns)
        };
        self.columns = self.symbols[..self.n_parents].iter().map(column).collect();
        // Those without an inner phrase of their own share one column.
        self.n_columns = n_columns as usize + usize::from(self.columns.contains(&n_columns));
        let category = |symbol: &Symbol| {
            let key = (symbol.category().unwrap_or_default(), symbol.is_rest());
            categories.get(&key).copied().unwrap_or_default()
        };
        self.categories = self.symbols[..self.n_parents].iter().map(category).collect();
        self.n_categories = categories.len();
    }

    /// Tells symbols apart for sorting, the same in every run.
    fn order(&self, symbol: &Symbol) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let (kind, siblings) = match &symbol.kind {
            Kind::Word(tag) => (vec![tag.unwrap_or(u32::MAX)], Vec::new()),
            Kind::Phrase(labels) => (labels.clone(), Vec::new()),
            Kind::Rest { label, siblings } => (vec![u32::MAX, *label], siblings.clone()),
        };
        (kind, siblings, symbol.ancestors.clone())
    }

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

    /// The name of a symbol: `NP`, `S+VP`, `@NP`, `@NP|DT` after a determiner, `NP^S` under S.
    pub fn name(&self, symbol: u32) -> String {
        let Some(symbol) = self.symbols.get(symbol as usize) else { return String::new() };
        let label = |&label: &u32| self.labels.name(label);
        let sibling = |&key: &u32| match key {
            1 => "?",
            key if key % 2 == 0 => self.labels.name(key / 2),
            key => self.tags.name((key - 3) / 2),
        };
        let mut name = match &symbol.kind {
            Kind::Word(tag) => tag.map_or("?", |tag| self.tags.name(tag)).to_string(),
            Kind::Phrase(labels) => labels.iter().map(label).collect::<Vec<_>>().join("+"),
            Kind::Rest { label: own, siblings } => {
                let mut name = format!("@{}", label(own));
                siblings.iter().for_each(|key| name.push_str(&format!("|{}", sibling(key))));
                name
            }
        };
        symbol.ancestors.iter().for_each(|above| name.push_str(&format!("^{}", label(above))));
        name
    }

    /// The name of a column: of the most frequent symbol that has it, without what it remembers.
    pub(crate) fn column_name(&self, column: usize) -> String {
        let symbol = self.columns.iter().position(|&own| own as usize == column);
        symbol.map_or("no phrase".into(), |symbol| self.bare_name(symbol))
    }

    /// The name of a category, likewise.
    pub(crate) fn category_name(&self, category: usize) -> String {
        let symbol = self.categories.iter().position(|&own| own as usize == category);
        symbol.map_or(String::new(), |symbol| {
            let label = self.labels.name(self.symbols[symbol].category().unwrap_or_default());
            if self.symbols[symbol].is_rest() { format!("@{label}") } else { label.into() }
        })
    }

    fn bare_name(&self, symbol: usize) -> String {
        match &self.symbols[symbol].kind {
            Kind::Rest { label, .. } => format!("@{}", self.labels.name(*label)),
            Kind::Phrase(labels) => {
                labels.iter().map(|&label| self.labels.name(label)).collect::<Vec<_>>().join("+")
            }
            Kind::Word(_) => self.name(symbol as u32),
        }
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

/// A kind without what it remembers of its siblings.
fn bare_kind(kind: &Kind) -> Kind {
    match kind {
        Kind::Rest { label, .. } => Kind::Rest { label: *label, siblings: Vec::new() },
        kind => kind.clone(),
    }
}

/// The label that is the first of all trees and occurs nowhere else.
fn common_top<'a>(trees: impl Iterator<Item = &'a Tree>) -> Option<&'a str> {
    let mut top: Option<&str> = None;
    for tree in trees.filter(|tree| tree.n_words() > 0) {
        let (first, inner) = tree.phrases().split_first()?;
        let is_same = top.is_none_or(|top| top == first.label);
        if !is_same || inner.iter().any(|phrase| phrase.label == first.label) {
            return None;
        }
        top = Some(&first.label);
    }
    top
}
