//! Sentences with their phrases in memory: one text for all words, and numbers.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{Error, ErrorKind, too_long};

use super::schema::BracketSchema;
use super::tree::{LabelledSpan, LabelledTree, escape_into};

/// The tag of a word that has none, because it comes from a plain sentence.
pub const NO_TAG: u32 = u32::MAX;

/// A phrase: a label over the words `start..end` of its sentence, counted from 0. At least one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BracketNode {
    /// A number of [`BracketTreebank::labels`].
    pub label: u32,
    /// The first word.
    pub start: u32,
    /// The word after the last one.
    pub end: u32,
}

/// Sentences of a bracketed treebank.
///
/// The phrases of a sentence stand in preorder: a phrase before those in it, and these from left to right. Of phrases over the same words the outer one comes first. So
/// labels and spans alone tell the tree.
#[derive(Clone, Debug, Default)]
pub struct BracketTreebank {
    /// The labels and tags that a model knows.
    pub schema: BracketSchema,
    /// Names of labels: those of the schema, then others that the file has.
    pub labels: Vec<String>,
    /// Names of tags: those of the schema, then others that the file has.
    pub tags: Vec<String>,
    /// The name that they were read from.
    pub source: String,
    text: String,
    /// Where each word ends in the text.
    word_ends: Vec<usize>,
    word_tags: Vec<u32>,
    nodes: Vec<BracketNode>,
    roots: Vec<String>,
    places: Vec<Place>,
    label_index: HashMap<String, u32>,
    tag_index: HashMap<String, u32>,
}

/// Where a sentence ends, the line where it begins, and its root.
#[derive(Clone, Copy, Debug)]
struct Place {
    word_end: usize,
    node_end: usize,
    line: usize,
    /// A number of `roots`.
    root: Option<u32>,
}

/// One sentence of a [`BracketTreebank`].
#[derive(Clone, Copy, Debug)]
pub struct BracketSentence<'a> {
    data: &'a BracketTreebank,
    at: usize,
}

/// A sentence that is being read.
#[derive(Default)]
pub(super) struct NewSentence {
    text: String,
    ends: Vec<usize>,
    tags: Vec<u32>,
    pub(super) nodes: Vec<BracketNode>,
    pub(super) root: Option<String>,
    line: usize,
}

impl NewSentence {
    pub(super) fn begin(&mut self, line: usize) {
        self.text.clear();
        self.ends.clear();
        self.tags.clear();
        self.nodes.clear();
        self.root = None;
        self.line = line;
    }

    pub(super) fn n_words(&self) -> u32 {
        self.ends.len() as u32
    }

    pub(super) fn push_word(&mut self, word: &str, tag: u32) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
        self.tags.push(tag);
    }
}

impl BracketTreebank {
    /// A treebank without sentences.
    pub fn new(source: impl Into<String>, schema: BracketSchema) -> Self {
        let index = |names: &[String]| names.iter().cloned().zip(0..).collect();
        Self {
            labels: schema.labels.clone(),
            tags: schema.tags.clone(),
            label_index: index(&schema.labels),
            tag_index: index(&schema.tags),
            source: source.into(),
            schema,
            ..Self::default()
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

    /// How many words in all.
    pub fn n_words(&self) -> usize {
        self.word_ends.len()
    }

    /// How many phrases in all.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The words of a sentence, among all.
    pub fn words(&self, sentence: usize) -> Range<usize> {
        let start = if sentence == 0 { 0 } else { self.places[sentence - 1].word_end };
        start..self.places[sentence].word_end
    }

    /// The phrases of a sentence, among all.
    fn node_range(&self, sentence: usize) -> Range<usize> {
        let start = if sentence == 0 { 0 } else { self.places[sentence - 1].node_end };
        start..self.places[sentence].node_end
    }

    /// The tags of all words: numbers of `tags`, or [`NO_TAG`].
    pub fn word_tags(&self) -> &[u32] {
        &self.word_tags
    }

    /// Whether all words have tags.
    pub fn has_tags(&self) -> bool {
        !self.word_tags.contains(&NO_TAG)
    }

    /// One sentence.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn get(&self, sentence: usize) -> BracketSentence<'_> {
        assert!(sentence < self.len(), "sentence {sentence} of {}", self.len());
        BracketSentence { data: self, at: sentence }
    }

    /// All sentences.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = BracketSentence<'_>> + '_ {
        (0..self.len()).map(|at| BracketSentence { data: self, at })
    }

    /// An error about a sentence.
    pub fn error_at(&self, sentence: usize, message: impl Into<String>) -> Error {
        let line = self.places[sentence].line;
        Error::in_line(ErrorKind::Value, &self.source, line, None, message)
    }

    /// Refuses sentences of more than `longest` words, whose charts would take more memory than there is.
    pub fn check_lengths(&self, which: Range<usize>, longest: usize) -> Result<(), Error> {
        match which.into_iter().find(|i| self.get(*i).len() > longest) {
            Some(i) => Err(self.error_at(i, too_long(self.get(i).len(), longest))),
            None => Ok(()),
        }
    }

    /// Some of the sentences, in the order asked for.
    ///
    /// # Panics
    /// If there is none of some number.
    pub fn select(&self, which: &[usize]) -> BracketTreebank {
        let mut some = BracketTreebank {
            labels: self.labels.clone(),
            tags: self.tags.clone(),
            label_index: self.label_index.clone(),
            tag_index: self.tag_index.clone(),
            ..Self::new(self.source.clone(), self.schema.clone())
        };
        let mut new = NewSentence::default();
        for &at in which {
            let sentence = self.get(at);
            new.begin(sentence.line());
            sentence.words().zip(sentence.tags()).for_each(|(word, &tag)| new.push_word(word, tag));
            new.nodes.extend_from_slice(sentence.nodes());
            new.root = sentence.root().map(str::to_owned);
            some.append(&new);
        }
        some
    }

    /// The same sentences with other tags, one for each word of all sentences: those of a tagger, say.
    ///
    /// # Panics
    /// If there is not one tag for each word.
    pub fn with_tags(&self, tags: &[&str]) -> BracketTreebank {
        assert_eq!(tags.len(), self.n_words(), "one tag for each word");
        let mut other = self.clone();
        other.word_tags = tags.iter().map(|tag| other.tag(tag)).collect();
        other
    }

    /// Appends a sentence that has no tree; its words are given with their tags, or without any. Brackets in words become `-LRB-` and `-RRB-`.
    ///
    /// # Panics
    /// If there are tags, but not one for each word.
    pub fn push_sentence(&mut self, words: &[&str], tags: Option<&[&str]>) {
        assert!(tags.is_none_or(|tags| tags.len() == words.len()), "one tag for each word");
        let mut new = NewSentence::default();
        new.begin(self.len() + 1);
        let mut escaped = String::new();
        for (at, word) in words.iter().enumerate() {
            escaped.clear();
            escape_into(word, &mut escaped);
            new.push_word(&escaped, tags.map_or(NO_TAG, |tags| self.tag(tags[at])));
        }
        self.append(&new);
    }

    /// Takes the labels and tags that there are as those that a model knows.
    pub(super) fn learn_schema(&mut self) {
        self.schema = BracketSchema { labels: self.labels.clone(), tags: self.tags.clone() };
    }

    /// Forgets the sentences and keeps the rest.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.word_ends.clear();
        self.word_tags.clear();
        self.nodes.clear();
        self.places.clear();
    }

    pub(super) fn append(&mut self, new: &NewSentence) {
        let start = self.text.len();
        self.text.push_str(&new.text);
        self.word_ends.extend(new.ends.iter().map(|end| start + end));
        self.word_tags.extend_from_slice(&new.tags);
        self.nodes.extend_from_slice(&new.nodes);
        let root = new.root.as_ref().map(|root| {
            let known = self.roots.iter().position(|other| other == root);
            known.unwrap_or_else(|| {
                self.roots.push(root.clone());
                self.roots.len() - 1
            }) as u32
        });
        let (word_end, node_end) = (self.word_ends.len(), self.nodes.len());
        self.places.push(Place { word_end, node_end, line: new.line, root });
    }

    /// The number of a label, a new one if need be.
    pub(super) fn label(&mut self, name: &str) -> u32 {
        number(name, &mut self.labels, &mut self.label_index)
    }

    /// The number of a tag, a new one if need be.
    pub(super) fn tag(&mut self, name: &str) -> u32 {
        number(name, &mut self.tags, &mut self.tag_index)
    }
}

fn number(name: &str, names: &mut Vec<String>, index: &mut HashMap<String, u32>) -> u32 {
    if let Some(&number) = index.get(name) {
        return number;
    }
    let number = names.len() as u32;
    names.push(name.to_owned());
    index.insert(name.to_owned(), number);
    number
}

impl<'a> BracketSentence<'a> {
    /// Its number among the sentences at hand.
    pub fn index(&self) -> usize {
        self.at
    }

    /// How many words.
    pub fn len(&self) -> usize {
        self.data.words(self.at).len()
    }

    /// Whether there is no word; never true of a sentence that was read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A word.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn word(&self, word: usize) -> &'a str {
        assert!(word < self.len(), "word {word} of {}", self.len());
        let at = self.data.words(self.at).start + word;
        let start = at.checked_sub(1).map_or(0, |before| self.data.word_ends[before]);
        &self.data.text[start..self.data.word_ends[at]]
    }

    /// Its words.
    pub fn words(self) -> impl ExactSizeIterator<Item = &'a str> + 'a {
        (0..self.len()).map(move |word| self.word(word))
    }

    /// The tags of its words: numbers of [`BracketTreebank::tags`], or [`NO_TAG`].
    pub fn tags(&self) -> &'a [u32] {
        &self.data.word_tags[self.data.words(self.at)]
    }

    /// The name of a word's tag.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn tag(&self, word: usize) -> Option<&'a str> {
        self.data.tags.get(self.tags()[word] as usize).map(String::as_str)
    }

    /// Its phrases in preorder, without the root. None for a plain sentence.
    pub fn nodes(&self) -> &'a [BracketNode] {
        &self.data.nodes[self.data.node_range(self.at)]
    }

    /// The label of the bracket around the tree, which may be empty; `None` without such a bracket.
    pub fn root(&self) -> Option<&'a str> {
        self.data.places[self.at].root.map(|root| self.data.roots[root as usize].as_str())
    }

    /// The line of the file, from 1, in which it begins.
    pub fn line(&self) -> usize {
        self.data.places[self.at].line
    }

    /// What it is one of.
    pub fn data(&self) -> &'a BracketTreebank {
        self.data
    }

    /// Its tree with names in the place of numbers, to be written or drawn. Words without a tag get `X`.
    pub fn tree(&self) -> LabelledTree<'a> {
        let name = |node: &BracketNode| LabelledSpan {
            label: &self.data.labels[node.label as usize],
            start: node.start as usize,
            end: node.end as usize,
        };
        LabelledTree::trusted(
            self.root(),
            self.words().collect(),
            (0..self.len()).map(|word| self.tag(word).unwrap_or("X")).collect(),
            self.nodes().iter().map(name).collect(),
        )
    }
}
