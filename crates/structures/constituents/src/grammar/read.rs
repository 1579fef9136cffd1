//! Reading a grammar off trees: which symbols there are, in which order, and which weights they use.

use super::pairs::Pairs;
use super::symbols::{Kind, Names, Symbol};
use super::{Grammar, GrammarSpec, LEFT, Use};
use crate::Tree;
use std::collections::HashMap;

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
