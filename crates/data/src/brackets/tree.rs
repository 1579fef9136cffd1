//! One tree with names, to be written: in a line, indented, or drawn.

use super::{draw, indent};

/// A phrase: a label over the words `start..end`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LabelledSpan<'a> {
    /// Its label.
    pub label: &'a str,
    /// The first word.
    pub start: usize,
    /// The word after the last one.
    pub end: usize,
}

/// A tree whose phrases are nested, in preorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledTree<'a> {
    root: Option<&'a str>,
    words: Vec<&'a str>,
    tags: Vec<&'a str>,
    nodes: Vec<LabelledSpan<'a>>,
}

/// A step of a walk over a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// A phrase begins.
    Open(usize),
    /// A word.
    Word(usize),
    /// The phrase that was opened last ends.
    Close(usize),
}

impl<'a> LabelledTree<'a> {
    /// A tree of phrases in any order; of those over the same words, the outer ones first. The root is the label of a bracket around all, if there is one.
    ///
    /// Says what is wrong if phrases cross or are empty, if there is not one tag for each word, or if a name is empty or has a blank or a bracket in it. Words may have brackets.
    pub fn new(
        root: Option<&'a str>,
        words: Vec<&'a str>,
        tags: Vec<&'a str>,
        mut nodes: Vec<LabelledSpan<'a>>,
    ) -> Result<Self, String> {
        let n = words.len();
        if n == 0 || tags.len() != n {
            return Err(format!("{n} words and {} tags", tags.len()));
        }
        let names = nodes.iter().map(|node| node.label).chain(tags.iter().copied());
        let names = names.chain(root.filter(|root| !root.is_empty()));
        if let Some(name) =
            names.chain(words.iter().copied().filter(|w| has_blank(w))).find(|name| !is_token(name))
        {
            return Err(format!("the name {name:?} does not fit into brackets"));
        }
        nodes.sort_by_key(|node| (node.start, std::cmp::Reverse(node.end)));
        let mut open: Vec<usize> = Vec::new();
        for node in &nodes {
            let LabelledSpan { label, start, end } = *node;
            if start >= end || end > n {
                return Err(format!("the phrase {label} over words {start} to {end} of {n}"));
            }
            while open.last().is_some_and(|&last| last <= start) {
                open.pop();
            }
            if open.last().is_some_and(|&last| end > last) {
                return Err(format!(
                    "the phrase {label} over words {start} to {end} crosses another one"
                ));
            }
            open.push(end);
        }
        Ok(Self { root, words, tags, nodes })
    }

    /// A tree that is known to be right.
    pub(super) fn trusted(
        root: Option<&'a str>,
        words: Vec<&'a str>,
        tags: Vec<&'a str>,
        nodes: Vec<LabelledSpan<'a>>,
    ) -> Self {
        Self { root, words, tags, nodes }
    }

    /// The label of the bracket around the tree, which may be empty.
    pub fn root(&self) -> Option<&'a str> {
        self.root
    }

    /// Its words.
    pub fn words(&self) -> &[&'a str] {
        &self.words
    }

    /// The tag of each word.
    pub fn tags(&self) -> &[&'a str] {
        &self.tags
    }

    /// Its phrases in preorder, without the root.
    pub fn nodes(&self) -> &[LabelledSpan<'a>] {
        &self.nodes
    }

    /// In brackets, on one line without its end.
    pub fn line(&self) -> String {
        let mut out = String::new();
        self.write_line(&mut out);
        out
    }

    /// Appends [`line`](Self::line).
    pub fn write_line(&self, out: &mut String) {
        let root = self.written_root();
        let mut separator = "";
        if let Some(root) = root {
            out.push('(');
            out.push_str(root);
            separator = " ";
        }
        self.walk(&mut |step| match step {
            Step::Open(node) => {
                out.push_str(separator);
                out.push('(');
                out.push_str(self.nodes[node].label);
                separator = " ";
            }
            Step::Word(word) => {
                out.push_str(separator);
                self.push_word(word, out);
                separator = " ";
            }
            Step::Close(_) => out.push(')'),
        });
        if root.is_some() {
            out.push(')');
        }
    }

    /// In brackets, over several lines: what fits into `width` columns takes one line, and what is in a phrase that does not fit begins a line each, indented by two
    /// more columns. Of deep nesting, indentation is bounded.
    pub fn indented(&self, width: usize) -> String {
        indent::indented(self, width)
    }

    /// A drawing in text for terminals of `width` columns: from the root down to the words; if that is too wide, with one line for each phrase and each word.
    pub fn drawn(&self, width: usize) -> String {
        draw::drawn(self, width)
    }

    /// The bracket to write around all. A tree that has no root and is not one phrase or one word is put into a bracket without a label, so that it is one tree.
    pub(super) fn written_root(&self) -> Option<&'a str> {
        let n = self.words.len();
        let is_one = n == 1 && self.nodes.is_empty()
            || self.nodes.first().is_some_and(|node| (node.start, node.end) == (0, n));
        self.root.or((!is_one).then_some(""))
    }

    pub(super) fn push_word(&self, word: usize, out: &mut String) {
        out.push('(');
        out.push_str(self.tags[word]);
        out.push(' ');
        escape_into(self.words[word], out);
        out.push(')');
    }

    /// Walks over phrases and words from left to right.
    pub(super) fn walk(&self, f: &mut dyn FnMut(Step)) {
        let mut open: Vec<usize> = Vec::new();
        let mut next = 0;
        for word in 0..self.words.len() {
            while self.nodes.get(next).is_some_and(|node| node.start == word) {
                f(Step::Open(next));
                open.push(next);
                next += 1;
            }
            f(Step::Word(word));
            while let Some(&last) = open.last().filter(|&&last| self.nodes[last].end == word + 1) {
                f(Step::Close(last));
                open.pop();
            }
        }
    }
}

/// Whether a word is empty or has a blank or a NUL in it, so that it cannot be written.
fn has_blank(word: &str) -> bool {
    word.is_empty()
        || word.contains(|c: char| c.is_ascii_whitespace() || matches!(c, '\x0b' | '\0'))
}

/// Whether a name can stand in brackets.
pub(super) fn is_token(name: &str) -> bool {
    !has_blank(name) && !name.contains(['(', ')'])
}

/// Appends a word with `-LRB-` and `-RRB-` for its brackets.
pub(super) fn escape_into(word: &str, out: &mut String) {
    let mut rest = word;
    while let Some(at) = rest.find(['(', ')']) {
        out.push_str(&rest[..at]);
        out.push_str(if rest.as_bytes()[at] == b'(' { "-LRB-" } else { "-RRB-" });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}
