//! Symbols: what the nodes of a binary derivation are.

use std::collections::HashMap;

/// What a node stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A word without a phrase of its own, by its part of speech; `None` for those that were never seen.
    Word(Option<u32>),
    /// One phrase, or several over the same words: labels from the outermost in.
    Phrase(Vec<u32>),
    /// Two or more neighbouring children of a phrase with this label, but not all: the symbol that binarisation adds.
    Rest {
        /// The label of the phrase.
        label: u32,
        /// The nearest children of the phrase that were split off before, nearest first: twice the label of a phrase, or twice the part of speech of a word and one.
        siblings: Vec<u32>,
    },
}

/// A symbol: a kind of node, refined by the labels above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// What it stands for.
    pub kind: Kind,
    /// The labels above it, nearest first: one less than `vertical`, or fewer near the top. Always empty for words.
    pub ancestors: Vec<u32>,
}

impl Symbol {
    /// Whether it was added by binarisation.
    pub fn is_rest(&self) -> bool {
        matches!(self.kind, Kind::Rest { .. })
    }

    /// The labels of its phrases, outermost first; none for a word or for a rest.
    pub fn labels(&self) -> &[u32] {
        match &self.kind {
            Kind::Phrase(labels) => labels,
            _ => &[],
        }
    }

    /// The label whose children it has: the innermost one of a phrase, and that of a rest.
    pub fn category(&self) -> Option<u32> {
        match &self.kind {
            Kind::Phrase(labels) => labels.last().copied(),
            Kind::Rest { label, .. } => Some(*label),
            Kind::Word(_) => None,
        }
    }
}

/// Texts, each with its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The number of a text, a new one if it has none.
    pub(crate) fn insert(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    pub(crate) fn all(&self) -> &[String] {
        &self.names
    }
}
