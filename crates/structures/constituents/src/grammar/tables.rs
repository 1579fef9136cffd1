//! A grammar as flat tables, for whoever stores models; and back, with every number checked.
//!
//! ```text
//! numbers   horizontal, vertical, branching (0 right, 1 left), min_count, top label + 1 or 0
//!           symbols, symbols with children, columns, categories
//!           for each symbol   its kind: 0, part of speech + 1 or 0
//!                                       1, labels, each label
//!                                       2, label, siblings, each sibling
//!                             ancestors, each ancestor
//!                             where it was seen: 1 over one word + 2 over several + 4 over all
//!                             column, category (those with children)
//!           for each side     pairs, and for each the child and the parent
//! ```

use super::pairs::Pairs;
use super::symbols::{Kind, Names, Symbol};
use super::{Branching, Grammar, GrammarSpec, LEFT, RIGHT, Use};
use thiserror::Error;

/// A grammar as texts and numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrammarTables {
    /// The labels of phrases, all different.
    pub labels: Vec<String>,
    /// The parts of speech, all different.
    pub tags: Vec<String>,
    /// All else.
    pub numbers: Vec<u32>,
}

/// Tables that are not those of a grammar.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the tables of the grammar are damaged: {0}")]
pub struct GrammarError(&'static str);

impl Grammar {
    /// The grammar as tables.
    pub fn to_tables(&self) -> GrammarTables {
        let short = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let GrammarSpec { horizontal, vertical, branching, min_count } = self.spec;
        let mut numbers = vec![
            short(horizontal),
            short(vertical),
            u32::from(branching == Branching::Left),
            short(min_count),
            self.top.map_or(0, |top| top + 1),
            short(self.symbols.len()),
            short(self.n_parents),
            short(self.n_columns),
            short(self.n_categories),
        ];
        let list = |numbers: &mut Vec<u32>, list: &[u32]| {
            numbers.push(short(list.len()));
            numbers.extend(list);
        };
        for (at, symbol) in self.symbols.iter().enumerate() {
            match &symbol.kind {
                Kind::Word(tag) => numbers.extend([0, tag.map_or(0, |tag| tag + 1)]),
                Kind::Phrase(labels) => {
                    numbers.push(1);
                    list(&mut numbers, labels);
                }
                Kind::Rest { label, siblings } => {
                    numbers.extend([2, *label]);
                    list(&mut numbers, siblings);
                }
            }
            list(&mut numbers, &symbol.ancestors);
            let Use { single, several, root } = self.uses[at];
            numbers.push(u32::from(single) + 2 * u32::from(several) + 4 * u32::from(root));
            if at < self.n_parents {
                numbers.extend([self.columns[at], self.categories[at]]);
            }
        }
        for side in [LEFT, RIGHT] {
            numbers.push(short(self.pairs.all(side).count()));
            numbers.extend(self.pairs.all(side).flat_map(|(child, parent)| [child, parent]));
        }
        let (labels, tags) = (self.labels.all().to_vec(), self.tags.all().to_vec());
        GrammarTables { labels, tags, numbers }
    }

    /// The grammar of these tables.
    pub fn from_tables(tables: &GrammarTables) -> Result<Self, GrammarError> {
        let names = |texts: &[String]| {
            let mut names = Names::default();
            let is_new = |(at, text): (usize, &String)| names.insert(text) as usize == at;
            let all_new = texts.iter().enumerate().all(is_new);
            all_new.then_some(names).ok_or(GrammarError("a label or part of speech comes twice"))
        };
        let (labels, tags) = (names(&tables.labels)?, names(&tables.tags)?);
        let (n_labels, n_tags) = (tables.labels.len() as u32, tables.tags.len() as u32);
        let mut read = Reader(&tables.numbers);
        let [horizontal, vertical] = [read.next()? as usize, read.next()? as usize];
        let branching = if read.below(2)? == 1 { Branching::Left } else { Branching::Right };
        let min_count = read.next()? as usize;
        let top = read.below(n_labels + 1)?.checked_sub(1);
        let (n_symbols, n_parents) = (read.next()?, read.next()?);
        let (n_columns, n_categories) = (read.next()?, read.next()?);
        // Each symbol has numbers of its own, and columns and categories are at most one for each.
        let most = tables.numbers.len() as u64;
        if [n_symbols, n_columns, n_categories].iter().any(|&n| u64::from(n) > most) {
            return Err(GrammarError("there are more symbols than numbers"));
        }
        if n_parents >= n_symbols || n_columns == 0 {
            return Err(GrammarError("the unknown word is missing"));
        }
        let (mut symbols, mut uses) = (Vec::new(), Vec::new());
        let (mut columns, mut categories) = (Vec::new(), Vec::new());
        for at in 0..n_symbols {
            let kind = match read.below(3)? {
                0 => Kind::Word(read.below(n_tags + 1)?.checked_sub(1)),
                1 => Kind::Phrase(read.list(n_labels)?),
                _ => {
                    let label = read.below(n_labels)?;
                    Kind::Rest { label, siblings: read.list(2 * n_labels.max(n_tags + 1) + 2)? }
                }
            };
            let is_word = matches!(kind, Kind::Word(_));
            if is_word != (at >= n_parents) || matches!(&kind, Kind::Phrase(l) if l.is_empty()) {
                return Err(GrammarError("symbols are out of order"));
            }
            symbols.push(Symbol { kind, ancestors: read.list(n_labels)? });
            let seen = read.below(8)?;
            uses.push(Use { single: seen & 1 > 0, several: seen & 2 > 0, root: seen & 4 > 0 });
            if at < n_parents {
                columns.push(read.below(n_columns)?);
                categories.push(read.below(n_categories)?);
            }
        }
        let mut pairs = [Vec::new(), Vec::new()];
        for pairs in &mut pairs {
            for _ in 0..read.next()? {
                let pair = (read.below(n_symbols)?, read.below(n_parents)?);
                if pairs.last().is_some_and(|last| *last >= pair) {
                    return Err(GrammarError("pairs are out of order"));
                }
                pairs.push(pair);
            }
        }
        if !read.0.is_empty() {
            return Err(GrammarError("there are numbers left over"));
        }
        let numbers: std::collections::HashMap<Symbol, u32> =
            symbols.iter().cloned().zip(0..).collect();
        let unknown = Symbol { kind: Kind::Word(None), ancestors: Vec::new() };
        if numbers.len() != symbols.len() || symbols.last() != Some(&unknown) {
            return Err(GrammarError("a symbol comes twice"));
        }
        Ok(Self {
            spec: GrammarSpec { horizontal, vertical, branching, min_count },
            labels,
            tags,
            top,
            pairs: Pairs::new(symbols.len(), pairs),
            symbols,
            numbers,
            n_parents: n_parents as usize,
            uses,
            columns,
            n_columns: n_columns as usize,
            categories,
            n_categories: n_categories as usize,
        })
    }
}

/// The numbers that are left.
struct Reader<'a>(&'a [u32]);

impl Reader<'_> {
    fn next(&mut self) -> Result<u32, GrammarError> {
        let (&first, rest) = self.0.split_first().ok_or(GrammarError("numbers are missing"))?;
        self.0 = rest;
        Ok(first)
    }

    fn below(&mut self, limit: u32) -> Result<u32, GrammarError> {
        let number = self.next()?;
        (number < limit).then_some(number).ok_or(GrammarError("a number is too large"))
    }

    fn list(&mut self, limit: u32) -> Result<Vec<u32>, GrammarError> {
        let n = self.next()?;
        if n as usize > self.0.len() {
            return Err(GrammarError("numbers are missing"));
        }
        (0..n).map(|_| self.below(limit)).collect()
    }
}
