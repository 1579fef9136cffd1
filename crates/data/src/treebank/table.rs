//! Sentences with their trees in memory: one text, and where its cells are.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{Error, ErrorKind, too_long};
use crate::format::Format;
use crate::sequences::is_token_line;

use super::column::ConlluColumn;
use super::schema::TreebankSchema;

/// The head of a word that has none: `_` in the file.
pub const NO_HEAD: u32 = u32::MAX;

/// The relation of a word that has none: `_` in the file.
pub const NO_RELATION: u32 = u32::MAX;

const N_COLUMNS: usize = ConlluColumn::ALL.len();

/// Where the cells of a word begin, counted from where its sentence does. Cells are one tab apart, and the last number is one after the end of the line.
pub(super) type Row = [u32; N_COLUMNS + 1];

/// Sentences of a treebank. Heads and relations may be known for all words, for some or for none.
///
/// Words are counted from 0 in this interface, but a head is a number as in the file: 0 is the root, 1 the first word.
#[derive(Clone, Debug)]
pub struct Treebank {
    /// The relations that a model knows.
    pub schema: TreebankSchema,
    /// Names of relations: those of the schema, then others that the file has.
    pub relations: Vec<String>,
    /// The name that they were read from.
    pub source: String,
    /// As in the file: sentences with a blank line after each.
    pub(super) text: String,
    pub(super) rows: Vec<Row>,
    pub(super) heads: Vec<u32>,
    pub(super) deprels: Vec<u32>,
    pub(super) places: Vec<Place>,
    index: HashMap<String, u32>,
}

/// Where a sentence ends, and its first line in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) text_start: usize,
    pub(super) text_end: usize,
    pub(super) token_end: usize,
    pub(super) line: usize,
}

/// One sentence of a [`Treebank`].
#[derive(Clone, Copy, Debug)]
pub struct Sentence<'a> {
    data: &'a Treebank,
    at: usize,
}

impl Treebank {
    pub(super) fn new(source: String, schema: TreebankSchema) -> Self {
        let index = schema.relations.iter().cloned().zip(0..).collect();
        Self {
            relations: schema.relations.clone(),
            schema,
            source,
            text: String::new(),
            rows: Vec::new(),
            heads: Vec::new(),
            deprels: Vec::new(),
            places: Vec::new(),
            index,
        }
    }

    /// How many sentences.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// No sentence?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many words in all. Multiword tokens and empty nodes are not words.
    pub fn n_tokens(&self) -> usize {
        self.rows.len()
    }

    /// The words of a sentence, among all.
    pub fn tokens(&self, sentence: usize) -> Range<usize> {
        let start = if sentence == 0 { 0 } else { self.places[sentence - 1].token_end };
        start..self.places[sentence].token_end
    }

    /// The heads of all words: 0 is the root, 1 the first word of the sentence, or [`NO_HEAD`].
    pub fn heads(&self) -> &[u32] {
        &self.heads
    }

    /// The relations of all words to their heads: indices into `relations`, or [`NO_RELATION`].
    pub fn deprels(&self) -> &[u32] {
        &self.deprels
    }

    /// How many words have a head.
    pub fn n_heads(&self) -> usize {
        self.heads.iter().filter(|&&head| head != NO_HEAD).count()
    }

    /// How many words have a relation.
    pub fn n_deprels(&self) -> usize {
        self.deprels.iter().filter(|&&deprel| deprel != NO_RELATION).count()
    }

    /// How many words have a relation that the schema does not have.
    pub fn n_unseen(&self) -> usize {
        let known = self.schema.relations.len();
        let is_unseen = |&&deprel: &&u32| deprel != NO_RELATION && deprel as usize >= known;
        self.deprels.iter().filter(is_unseen).count()
    }

    /// Whether any word has something in a column.
    pub fn has_column(&self, column: ConlluColumn) -> bool {
        self.iter().any(|sentence| (0..sentence.len()).any(|t| sentence.cell(t, column) != "_"))
    }

    /// One sentence.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn get(&self, sentence: usize) -> Sentence<'_> {
        assert!(sentence < self.len(), "sentence {sentence} of {}", self.len());
        Sentence { data: self, at: sentence }
    }

    /// All sentences.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Sentence<'_>> + '_ {
        (0..self.len()).map(|at| Sentence { data: self, at })
    }

    /// All sentences as CoNLL-U, for other readers of that format.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lines of a sentence as the file has them, comments included, without the blank line after it.
    pub fn raw(&self, sentence: usize) -> &str {
        let place = self.places[sentence];
        &self.text[place.text_start..place.text_end]
    }

    /// The line of the file, from 1, that a word is in.
    pub fn line(&self, sentence: usize, token: usize) -> usize {
        line_of(self.raw(sentence), self.places[sentence].line, token)
    }

    /// An error about a word.
    pub fn error_at(&self, sentence: usize, token: usize, message: impl Into<String>) -> Error {
        let line = self.line(sentence, token);
        Error::in_line(ErrorKind::Value, &self.source, line, None, message)
    }

    /// Refuses sentences of more than `longest` words, whose trees would take more memory than there is.
    pub fn check_lengths(&self, which: Range<usize>, longest: usize) -> Result<(), Error> {
        match which.into_iter().find(|i| self.get(*i).len() > longest) {
            Some(i) => Err(self.error_at(i, 0, too_long(self.get(i).len(), longest))),
            None => Ok(()),
        }
    }

    /// Some of the sentences, in the order asked for.
    ///
    /// # Panics
    /// If there is none of some number.
    pub fn select(&self, which: &[usize]) -> Treebank {
        let mut some = self.without_sentences();
        for &sentence in which {
            let raw = self.raw(sentence);
            let text_start = some.text.len();
            some.text.push_str(raw);
            let text_end = some.text.len();
            some.text.push_str(if raw.ends_with('\n') { "\n" } else { "\n\n" });
            let tokens = self.tokens(sentence);
            some.rows.extend_from_slice(&self.rows[tokens.clone()]);
            some.heads.extend_from_slice(&self.heads[tokens.clone()]);
            some.deprels.extend_from_slice(&self.deprels[tokens]);
            let (token_end, line) = (some.rows.len(), self.places[sentence].line);
            some.places.push(Place { text_start, text_end, token_end, line });
        }
        some
    }

    /// What is known of the file, and no sentence.
    pub(super) fn without_sentences(&self) -> Treebank {
        Self {
            relations: self.relations.clone(),
            index: self.index.clone(),
            ..Self::new(self.source.clone(), self.schema.clone())
        }
    }

    /// Forgets the sentences and keeps the rest.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.rows.clear();
        self.heads.clear();
        self.deprels.clear();
        self.places.clear();
    }

    /// The number of a relation, a new one if need be.
    pub(super) fn relation(&mut self, name: &str) -> u32 {
        if let Some(&relation) = self.index.get(name) {
            return relation;
        }
        let relation = self.relations.len() as u32;
        self.relations.push(name.to_owned());
        self.index.insert(name.to_owned(), relation);
        relation
    }
}

/// The line of the file that a word is in, for a sentence whose lines begin at `first`.
pub(super) fn line_of(raw: &str, first: usize, token: usize) -> usize {
    let lines = raw.lines().enumerate();
    let tokens = lines.filter(|(_, line)| is_token_line(Format::Conllu, line));
    first + tokens.map(|(at, _)| at).nth(token).unwrap_or(0)
}

impl<'a> Sentence<'a> {
    /// Its number among the sentences at hand.
    pub fn index(&self) -> usize {
        self.at
    }

    /// How many words.
    pub fn len(&self) -> usize {
        self.data.tokens(self.at).len()
    }

    /// Whether there is no word; never true of a sentence that was read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A cell; `_` where there is nothing.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn cell(&self, token: usize, column: ConlluColumn) -> &'a str {
        let row = &self.data.rows[self.data.tokens(self.at).start + token];
        cell(self.raw(), row, column as usize)
    }

    /// A word.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn form(&self, token: usize) -> &'a str {
        self.cell(token, ConlluColumn::Form)
    }

    /// Its cells, word by word, ten for each.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = &'a str> + 'a {
        let rows = &self.data.rows[self.data.tokens(self.at)];
        let raw = self.raw();
        (0..rows.len() * N_COLUMNS).map(move |at| cell(raw, &rows[at / N_COLUMNS], at % N_COLUMNS))
    }

    /// The heads of its words: 0 is the root, 1 the first word, or [`NO_HEAD`].
    pub fn heads(&self) -> &'a [u32] {
        &self.data.heads[self.data.tokens(self.at)]
    }

    /// The relations of its words to their heads: indices into [`Treebank::relations`], or [`NO_RELATION`].
    pub fn deprels(&self) -> &'a [u32] {
        &self.data.deprels[self.data.tokens(self.at)]
    }

    /// Whether the head of every word is known.
    pub fn has_all_heads(&self) -> bool {
        !self.heads().contains(&NO_HEAD)
    }

    /// Its lines as the file has them.
    pub fn raw(&self) -> &'a str {
        self.data.raw(self.at)
    }

    /// What it is one of.
    pub fn data(&self) -> &'a Treebank {
        self.data
    }
}

fn cell<'a>(raw: &'a str, row: &Row, column: usize) -> &'a str {
    &raw[row[column] as usize..row[column + 1] as usize - 1]
}
