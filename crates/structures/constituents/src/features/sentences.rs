//! Sentences as hashes of what their words show: what every later step reads in place of text.
//!
//! For each word one number per channel of the templates, its symbol in the grammar, and what properties of whole spans are made of; words of all sentences follow each other in flat buffers.

use super::hash;
use super::templates::{Channel, Templates};
use crate::Grammar;
use lineal_model::word;
use std::ops::Range;

/// Hashed sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentences {
    /// First word of each sentence, and the number of all words.
    starts: Vec<usize>,
    n_channels: usize,
    cells: Vec<u64>,
    /// The part of speech, its first two letters, and the look of each word.
    marks: Vec<[u64; 3]>,
    symbols: Vec<u32>,
}

impl Sentences {
    /// No sentences yet.
    pub fn new(templates: &Templates) -> Self {
        Self { starts: vec![0], n_channels: templates.channels.len(), ..Self::default() }
    }

    /// Adds a sentence: words with their parts of speech. Where there are fewer of these, they are taken for empty. `templates` must be those of [`new`](Self::new).
    pub fn push<W: AsRef<str>, T: AsRef<str>>(
        &mut self,
        templates: &Templates,
        grammar: &Grammar,
        words: &[W],
        tags: &[T],
    ) {
        let mut buffer = String::new();
        for (at, word) in words.iter().enumerate() {
            let (word, tag) = (word.as_ref(), tags.get(at).map_or("", AsRef::as_ref));
            for &channel in &templates.channels {
                buffer.clear();
                self.cells.push(hash::text(read(channel, word, tag, &mut buffer).as_bytes()));
            }
            self.marks.push(marks(word, tag));
            self.symbols.push(grammar.word_symbol(tag));
        }
        self.starts.push(self.symbols.len());
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
        self.symbols.len()
    }

    /// Which words are those of sentence `i`.
    pub fn words(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The symbols of the words of sentence `i`, taken without a phrase.
    pub(crate) fn symbols(&self, i: usize) -> &[u32] {
        &self.symbols[self.words(i)]
    }

    pub(crate) fn get(&self, i: usize) -> Sentence<'_> {
        let words = self.words(i);
        Sentence {
            n: words.len(),
            n_channels: self.n_channels,
            cells: &self.cells[words.start * self.n_channels..words.end * self.n_channels],
            marks: &self.marks[words],
        }
    }
}

/// The hashes of one sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sentence<'a> {
    pub(crate) n: usize,
    n_channels: usize,
    cells: &'a [u64],
    pub(crate) marks: &'a [[u64; 3]],
}

/// Stand in for the words before and after a sentence.
const BEFORE: u64 = 0xc8f2_41b7_0e95_6d3a;
const AFTER: u64 = 0x7e60_b5c3_98d1_f427;

impl Sentence<'_> {
    /// What a word shows in a channel; words outside the sentence show that they are.
    #[inline]
    pub(crate) fn cell(&self, word: i64, channel: usize) -> u64 {
        match word {
            word if word < 0 => BEFORE,
            word if word >= self.n as i64 => AFTER,
            word => self.cells[word as usize * self.n_channels + channel],
        }
    }
}

/// What a channel reads of a word. `buffer` is empty.
pub(crate) fn read<'a>(
    channel: Channel,
    word: &'a str,
    tag: &'a str,
    buffer: &'a mut String,
) -> &'a str {
    match channel {
        Channel::Word => word,
        Channel::Tag => tag,
        Channel::Lower => word::lower(word, buffer),
        Channel::Shape => word::shape(word, buffer),
        Channel::Prefix(n) => word::prefix(word, n),
        Channel::Suffix(n) => word::suffix(word, n),
    }
}

/// The look of a word in a pattern: a capital, a small letter, a digit, or the sign that it begins with.
pub(crate) fn look(word: &str) -> char {
    match word.chars().next() {
        Some(c) if c.is_uppercase() => 'X',
        Some(c) if c.is_numeric() => 'd',
        Some(c) if c.is_alphabetic() => 'x',
        Some(c) => c,
        None => ' ',
    }
}

/// The first two letters of a part of speech.
pub(crate) fn coarse(tag: &str) -> &str {
    tag.char_indices().nth(2).map_or(tag, |(at, _)| &tag[..at])
}

fn marks(word: &str, tag: &str) -> [u64; 3] {
    let [tag, coarse] = [tag, coarse(tag)].map(|text| hash::text(text.as_bytes()));
    [tag, coarse, hash::mix(look(word) as u64)]
}
