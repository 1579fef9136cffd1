//! Sequences in memory: one text, and where its cells are.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::format::Format;

use super::columns::is_token_line;
use super::schema::SequenceSchema;

/// The label of a position that has none.
pub const UNLABELLED: u32 = u32::MAX;

/// Some sequences with their labels.
#[derive(Clone, Debug)]
pub struct Sequences {
    /// What columns mean.
    pub schema: SequenceSchema,
    /// Names of labels: those of the schema, then others that the file has.
    pub labels: Vec<String>,
    /// The name that they were read from.
    pub source: String,
    pub(super) has_labels: bool,
    pub(super) n_columns: usize,
    /// As in the file; of JSON, the cells one after the other.
    pub(super) text: String,
    /// Where each cell begins, counted from where its sequence does, and how long it is. Token by token.
    pub(super) cells: Vec<(u32, u32)>,
    pub(super) gold: Vec<u32>,
    pub(super) places: Vec<Place>,
    /// How much each sequence counts; none where all count the same.
    pub(super) weights: Vec<f32>,
    /// That of the sequence that is being read.
    weight: Option<f32>,
    /// The objects as the file has them, of texts with spans.
    pub(super) objects: Vec<String>,
    /// Spans that words have no place for.
    pub(super) spans: LeftSpans,
    index: HashMap<String, u32>,
}

/// Spans of characters that did not fit words, and texts that were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftSpans {
    /// Began or ended inside a word, and were widened to it.
    pub widened: usize,
    /// Overlapped a longer one, and were left out.
    pub overlapping: usize,
    /// Had no word in them, and were left out.
    pub empty: usize,
    /// Texts whose `answer` is not `accept`.
    pub refused: usize,
}

/// Where a sequence ends, and its first line in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) text_start: usize,
    pub(super) text_end: usize,
    pub(super) token_end: usize,
    pub(super) line: usize,
}

/// One of [`Sequences`].
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    data: &'a Sequences,
    at: usize,
}

impl Sequences {
    pub(super) fn new(source: String, schema: SequenceSchema) -> Self {
        let index = schema.labels.iter().cloned().zip(0..).collect();
        Self {
            labels: schema.labels.clone(),
            n_columns: schema.columns.len(),
            schema,
            source,
            has_labels: true,
            text: String::new(),
            cells: Vec::new(),
            gold: Vec::new(),
            places: Vec::new(),
            weights: Vec::new(),
            weight: None,
            objects: Vec::new(),
            spans: LeftSpans::default(),
            index,
        }
    }

    /// How many sequences.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// No sequence?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many tokens in all.
    pub fn n_tokens(&self) -> usize {
        self.gold.len()
    }

    /// Cells a token: the file's columns. Of CRFsuite files one, its attributes.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Whether there is a label column.
    pub fn has_labels(&self) -> bool {
        self.has_labels
    }

    /// The tokens of a sequence, among all.
    pub fn tokens(&self, sequence: usize) -> Range<usize> {
        let start = if sequence == 0 { 0 } else { self.places[sequence - 1].token_end };
        start..self.places[sequence].token_end
    }

    /// How much each sequence counts; none where all count the same.
    pub fn weights(&self) -> Option<&[f32]> {
        (!self.weights.is_empty()).then_some(&self.weights[..])
    }

    /// Spans of characters that did not fit words.
    pub fn left_spans(&self) -> LeftSpans {
        self.spans
    }

    /// The object of a text as its file has it; none of other data.
    pub fn object(&self, sequence: usize) -> Option<&str> {
        self.objects.get(sequence).map(String::as_str)
    }

    /// The labels of all tokens: indices into `labels`, or [`UNLABELLED`].
    pub fn gold(&self) -> &[u32] {
        &self.gold
    }

    /// The cells of a sequence, token by token.
    pub fn cells(&self, sequence: usize) -> impl ExactSizeIterator<Item = &str> + '_ {
        let tokens = self.tokens(sequence);
        let text = self.raw(sequence);
        let cells = &self.cells[tokens.start * self.n_columns..tokens.end * self.n_columns];
        cells.iter().map(move |&(start, len)| &text[start as usize..(start + len) as usize])
    }

    /// One sequence.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn get(&self, sequence: usize) -> Sequence<'_> {
        assert!(sequence < self.len(), "sequence {sequence} of {}", self.len());
        Sequence { data: self, at: sequence }
    }

    /// All sequences.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Sequence<'_>> + '_ {
        (0..self.len()).map(|at| Sequence { data: self, at })
    }

    /// The text of a sequence as the file has it, comments included (of JSON, its cells only).
    pub fn raw(&self, sequence: usize) -> &str {
        let place = self.places[sequence];
        &self.text[place.text_start..place.text_end]
    }

    /// The line of the file, from 1, that a token is in.
    pub fn line(&self, sequence: usize, token: usize) -> usize {
        let first = self.places[sequence].line;
        if self.schema.format == Format::Jsonl {
            // One object per line.
            return first;
        }
        let lines = self.raw(sequence).lines().enumerate();
        let tokens = lines.filter(|(_, line)| is_token_line(self.schema.format, line));
        first + tokens.map(|(at, _)| at).nth(token).unwrap_or(0)
    }

    /// An error about a token.
    pub fn error_at(&self, sequence: usize, token: usize, message: impl Into<String>) -> Error {
        let line = self.line(sequence, token);
        Error::in_line(ErrorKind::Value, &self.source, line, None, message)
    }

    /// Some of the sequences, in the order asked for.
    ///
    /// # Panics
    /// If there is none of some number.
    pub fn select(&self, which: &[usize]) -> Sequences {
        let mut some = self.clone();
        some.clear();
        for &sequence in which {
            let tokens = self.tokens(sequence);
            let text_start = some.text.len();
            some.text.push_str(self.raw(sequence));
            some.cells.extend_from_slice(
                &self.cells[tokens.start * self.n_columns..tokens.end * self.n_columns],
            );
            some.gold.extend_from_slice(&self.gold[tokens]);
            some.weights.extend(self.weights.get(sequence));
            some.objects.extend(self.objects.get(sequence).cloned());
            some.places.push(Place {
                text_start,
                text_end: some.text.len(),
                token_end: some.gold.len(),
                line: self.places[sequence].line,
            });
        }
        some
    }

    /// Forgets the sequences and keeps the rest.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.cells.clear();
        self.gold.clear();
        self.places.clear();
        self.weights.clear();
        self.objects.clear();
    }

    /// How much the sequence counts that is being read, where that is said.
    pub(super) fn weigh(&mut self, weight: Option<f32>) {
        self.weight = weight.or(self.weight);
    }

    /// The number of a label, a new one if need be.
    pub(super) fn label(&mut self, name: &str) -> u32 {
        if let Some(&label) = self.index.get(name) {
            return label;
        }
        let label = self.labels.len() as u32;
        self.labels.push(name.to_owned());
        self.index.insert(name.to_owned(), label);
        label
    }

    /// Ends the sequence whose text begins at `text_start`, in line `line`; nothing if it has no tokens.
    pub(super) fn end_sequence(
        &mut self,
        text_start: usize,
        text_end: usize,
        line: usize,
    ) -> Result<(), Error> {
        let token_end = self.gold.len();
        if self.places.last().map_or(0, |place| place.token_end) == token_end {
            return Ok(());
        }
        if u32::try_from(text_end - text_start).is_err() {
            let message = "a sequence of more than 4 GB begins here; is a blank line missing?";
            return Err(Error::in_line(ErrorKind::Syntax, &self.source, line, None, message));
        }
        // The first weight that is not 1 makes all of them count.
        let weight = self.weight.take();
        if weight.is_some() || !self.weights.is_empty() {
            self.weights.resize(self.places.len(), 1.0);
            self.weights.push(weight.unwrap_or(1.0));
        }
        self.places.push(Place { text_start, text_end, token_end, line });
        Ok(())
    }
}

impl<'a> Sequence<'a> {
    /// Its number among the sequences at hand.
    pub fn index(&self) -> usize {
        self.at
    }

    /// How many tokens.
    pub fn len(&self) -> usize {
        self.data.tokens(self.at).len()
    }

    /// No token? Never, as it is read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its cells, token by token.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = &'a str> + 'a {
        self.data.cells(self.at)
    }

    /// A cell.
    ///
    /// # Panics
    /// If there is no such token or column.
    pub fn cell(&self, token: usize, column: usize) -> &'a str {
        let at = (self.data.tokens(self.at).start + token) * self.data.n_columns + column;
        let (start, len) = self.data.cells[at];
        &self.data.raw(self.at)[start as usize..(start + len) as usize]
    }

    /// Where a cell begins and ends in [`raw`](Self::raw), in bytes.
    ///
    /// # Panics
    /// If there is no such token or column.
    pub fn place(&self, token: usize, column: usize) -> Range<usize> {
        let at = (self.data.tokens(self.at).start + token) * self.data.n_columns + column;
        let (start, len) = self.data.cells[at];
        start as usize..(start + len) as usize
    }

    /// Its object in a file of texts.
    pub fn object(&self) -> Option<&'a str> {
        self.data.object(self.at)
    }

    /// Its labels.
    pub fn gold(&self) -> &'a [u32] {
        &self.data.gold[self.data.tokens(self.at)]
    }

    /// Its text as the file has it.
    pub fn raw(&self) -> &'a str {
        self.data.raw(self.at)
    }

    /// What it is one of.
    pub fn data(&self) -> &'a Sequences {
        self.data
    }
}
