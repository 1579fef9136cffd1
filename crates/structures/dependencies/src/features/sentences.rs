//! Sentences as hashes of their cells: what every later step reads in place of text.
//!
//! For each word one number per single channel and a list per split channel ([`Channels`]); words of all sentences follow each other in flat buffers.

use super::hash;
use super::syntax::Change;
use super::templates::{Channels, Templates};
use lineal_model::word;
use std::ops::Range;

/// Hashed sentences.
#[derive(Clone, Debug, Default)]
pub struct Sentences {
    /// First word of each sentence, and the number of all words.
    starts: Vec<usize>,
    n_single: usize,
    n_split: usize,
    single: Vec<u64>,
    /// The values of split channel c of word t end at `split_ends[t * n_split + c + 1]`.
    split_ends: Vec<u32>,
    split: Vec<u64>,
}

impl Sentences {
    /// No sentences yet.
    pub fn new(templates: &Templates) -> Self {
        Self {
            starts: vec![0],
            n_single: templates.channels.single.len(),
            n_split: templates.channels.split.len(),
            split_ends: vec![0],
            ..Self::default()
        }
    }

    /// Hashed sentences: each is its words' cells, one word after the other, in the order of the templates' columns.
    pub fn hash<'a>(
        templates: &Templates,
        sentences: impl IntoIterator<Item = &'a [&'a str]>,
    ) -> Self {
        let mut hashed = Self::new(templates);
        for cells in sentences {
            hashed.push(templates, cells);
        }
        hashed
    }

    /// Adds a sentence. `templates` must be those of [`new`](Self::new).
    pub fn push(&mut self, templates: &Templates, cells: &[&str]) {
        let mut buffer = String::new();
        let n_columns = templates.columns().len().max(1);
        let Channels { single, split } = &templates.channels;
        let words = cells.chunks_exact(n_columns);
        let n = words.len();
        for word in words {
            self.single.extend(
                single.iter().map(|&(column, change)| cell(word[column], change, &mut buffer)),
            );
            for &column in split {
                self.split.extend(parts_of(word[column]).map(|part| hash::text(part.as_bytes())));
                self.split_ends.push(self.split.len() as u32);
            }
        }
        self.starts.push(self.n_words() + n);
    }

    /// How many sentences.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many words all sentences have.
    pub fn n_words(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Which words are those of sentence `i`.
    pub fn words(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The words of the longest sentence.
    pub fn longest(&self) -> usize {
        (0..self.len()).map(|i| self.words(i).len()).max().unwrap_or_default()
    }

    pub(crate) fn get(&self, i: usize) -> Sentence<'_> {
        let words = self.words(i);
        Sentence {
            n: words.len(),
            n_single: self.n_single,
            n_split: self.n_split,
            single: &self.single[words.start * self.n_single..words.end * self.n_single],
            split_ends: &self.split_ends[words.start * self.n_split..=words.end * self.n_split],
            split: &self.split,
        }
    }
}

/// The hashes of one sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sentence<'a> {
    pub(crate) n: usize,
    n_single: usize,
    n_split: usize,
    single: &'a [u64],
    split_ends: &'a [u32],
    split: &'a [u64],
}

/// The word that is not there: no sibling, no child.
pub(crate) const NONE: usize = usize::MAX;

/// Stand in for the cells of places without a word.
const ROOT_CELL: u64 = 0x5a1c_90d2_7f3b_e801;
const NONE_CELL: u64 = 0x13d7_6e08_a94c_25b3;
const BEFORE_CELL: u64 = 0xc8f2_41b7_0e95_6d3a;
const AFTER_CELL: u64 = 0x7e60_b5c3_98d1_f427;

/// A place near a word: a word, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    Word(usize),
    Root,
    None,
    Before,
    After,
}

impl Spot {
    /// `offset` words after `word` (0 is the root) in a sentence of `n`.
    #[inline]
    pub(crate) fn near(word: usize, offset: i32, n: usize) -> Self {
        if word == NONE {
            return Spot::None;
        }
        match word as i64 + i64::from(offset) {
            0 => Spot::Root,
            at if at < 0 => Spot::Before,
            at if at > n as i64 => Spot::After,
            at => Spot::Word(at as usize),
        }
    }
}

impl Spot {
    /// What stands for a cell where there is no word.
    #[inline]
    pub(crate) fn stand_in(self) -> u64 {
        match self {
            Spot::Word(_) | Spot::None => NONE_CELL,
            Spot::Root => ROOT_CELL,
            Spot::Before => BEFORE_CELL,
            Spot::After => AFTER_CELL,
        }
    }
}

impl Sentence<'_> {
    /// The hash of a single channel.
    #[inline]
    pub(crate) fn cell(&self, channel: usize, spot: Spot) -> u64 {
        match spot {
            Spot::Word(word) => self.single[(word - 1) * self.n_single + channel],
            _ => spot.stand_in(),
        }
    }

    /// The hashes of a split channel: none where there is no word.
    #[inline]
    pub(crate) fn list(&self, channel: usize, spot: Spot) -> &[u64] {
        match spot {
            Spot::Word(word) => {
                let at = (word - 1) * self.n_split + channel;
                &self.split[self.split_ends[at] as usize..self.split_ends[at + 1] as usize]
            }
            _ => &[],
        }
    }
}

/// The parts of a cell that is split at bars; an empty cell (`_`) has none.
pub(crate) fn parts_of(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('|').filter(|part| !part.is_empty() && *part != "_")
}

/// The hash of a changed cell.
fn cell(cell: &str, change: Change, buffer: &mut String) -> u64 {
    buffer.clear();
    hash::text(changed(cell, change, buffer).as_bytes())
}

/// A cell after a change. `buffer` is empty.
pub(crate) fn changed<'a>(cell: &'a str, change: Change, buffer: &'a mut String) -> &'a str {
    match change {
        Change::Whole | Change::Split => cell,
        Change::Lower => word::lower(cell, buffer),
        Change::Shape => word::shape(cell, buffer),
        Change::Prefix(n) => word::prefix(cell, n),
        Change::Suffix(n) => word::suffix(cell, n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_a_sentence() {
        assert_eq!(Spot::near(1, -1, 3), Spot::Root);
        assert_eq!(Spot::near(0, -1, 3), Spot::Before);
        assert_eq!(Spot::near(3, 1, 3), Spot::After);
        assert_eq!(Spot::near(NONE, 1, 3), Spot::None);
        assert_eq!(Spot::near(2, 1, 3), Spot::Word(3));
    }

    #[test]
    fn lists_and_cells_of_words() {
        let templates =
            Templates::parse("[arcs]\nh.feats* m.form\nm.form", &["form", "feats"]).unwrap();
        let cells = ["a", "A=1|B=2", "b", "_"];
        let sentences = Sentences::hash(&templates, [&cells[..], &[], &cells[2..]]);
        assert_eq!((sentences.len(), sentences.n_words(), sentences.longest()), (3, 3, 2));
        let first = sentences.get(0);
        assert_eq!(first.list(0, Spot::Word(1)), [hash::text(b"A=1"), hash::text(b"B=2")]);
        assert!(first.list(0, Spot::Word(2)).is_empty() && first.list(0, Spot::Root).is_empty());
        assert_eq!(first.cell(0, Spot::Word(2)), sentences.get(2).cell(0, Spot::Word(1)));
        assert_eq!(sentences.get(1).n, 0);
    }
}
