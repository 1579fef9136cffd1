//! Brackets into trees: an automaton that goes on from block to block, with a stack of open phrases in place of recursion.
//!
//! When a bracket opens, nobody knows yet whether its first word is the label of a phrase or the tag of a word: what comes next tells. Only the innermost bracket can be
//! in that state, so one label is kept.

use crate::error::{Error, ErrorKind, quote};

use super::options::{BracketReadOptions, without_function};
use super::table::{BracketNode, BracketTreebank, NewSentence};

/// Words, and brackets, of the largest tree.
const MOST: usize = 1 << 22;

/// The tag of empty elements.
const EMPTY: &str = "-NONE-";

/// What is wrong, at a byte of the block.
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) offset: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn syntax<T>(offset: usize, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { kind: ErrorKind::Syntax, offset, message: message.into() })
    }

    pub(super) fn error(self, file: &str, text: &str, n_lines_before: usize) -> Error {
        let error = Error::at(self.kind, file, text.as_bytes(), self.offset, self.message);
        error.below(n_lines_before)
    }
}

/// Whether the first character that is not in a comment opens a bracket.
pub(super) fn looks_like_trees(head: &[u8]) -> bool {
    let lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !matches!(line.first(), None | Some(b'#' | b'%')));
    lines.next().is_some_and(|line| line.starts_with(b"("))
}

/// What came last.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// A closing bracket, or nothing.
    Closed,
    /// An opening bracket.
    Open,
    /// Its label or tag.
    Label,
    /// A word after its tag.
    Word,
}

/// Reads trees from one block after the other.
pub(super) struct Parser<'a> {
    options: &'a BracketReadOptions,
    state: State,
    /// The label or tag that came last.
    label: String,
    word: String,
    /// Phrases that are open: their numbers among the nodes, or [`WRAPPER`].
    open: Vec<u32>,
    tree: NewSentence,
    n_brackets: usize,
    /// Line and byte column where the tree begins.
    start: (usize, usize),
}

/// A bracket around the tree.
const WRAPPER: u32 = u32::MAX;

impl<'a> Parser<'a> {
    pub(super) fn new(options: &'a BracketReadOptions) -> Self {
        Self {
            options,
            state: State::Closed,
            label: String::new(),
            word: String::new(),
            open: Vec::new(),
            tree: NewSentence::default(),
            n_brackets: 0,
            start: (0, 0),
        }
    }

    /// Appends the trees that end in a block, which consists of whole lines.
    pub(super) fn read(
        &mut self,
        block: &str,
        n_lines_before: usize,
        data: &mut BracketTreebank,
    ) -> Result<(), Fault> {
        let bytes = block.as_bytes();
        if let Some(offset) = memchr::memchr(0, bytes) {
            return Fault::syntax(offset, "a NUL byte; is this a text file?");
        }
        // The line that the last tree began in, where it starts, and where newlines were counted up to.
        let (mut line, mut line_start, mut counted) = (n_lines_before + 1, 0, 0);
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'(' => {
                    if self.is_between() {
                        for newline in memchr::memchr_iter(b'\n', &bytes[counted..at]) {
                            line += 1;
                            line_start = counted + newline + 1;
                        }
                        counted = at;
                        self.begin((line, at - line_start + 1));
                    }
                    self.opening(at, data)?;
                    at += 1;
                }
                b')' => {
                    self.closing(at, data)?;
                    at += 1;
                }
                byte if byte.is_ascii_whitespace() || byte == 0x0b => at += 1,
                b'#' | b'%' if self.is_between() && is_first(bytes, at) => {
                    at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                }
                _ => {
                    let end = token_end(bytes, at);
                    self.token(&block[at..end], at)?;
                    at = end;
                }
            }
        }
        Ok(())
    }

    /// An error if a tree is open at the end of the file.
    pub(super) fn end(&self, file: &str) -> Result<(), Error> {
        if self.is_between() {
            return Ok(());
        }
        let n_open = self.open.len() + usize::from(self.state != State::Closed);
        let brackets = if n_open == 1 { "bracket is" } else { "brackets are" };
        let message = format!(
            "the tree that begins here is not closed: {n_open} {brackets} open at the end of the file"
        );
        let (line, column) = self.start;
        Err(Error::in_line(ErrorKind::Syntax, file, line, Some(column), message))
    }

    fn is_between(&self) -> bool {
        self.open.is_empty() && self.state == State::Closed
    }

    fn begin(&mut self, start: (usize, usize)) {
        self.start = start;
        self.n_brackets = 0;
        self.tree.begin(start.0);
    }

    fn opening(&mut self, at: usize, data: &mut BracketTreebank) -> Result<(), Fault> {
        self.n_brackets += 1;
        if self.n_brackets > MOST {
            let line = self.start.0;
            let message = format!(
                "the tree of line {line} has more than {MOST} brackets; is one not closed?"
            );
            return Fault::syntax(at, message);
        }
        match self.state {
            State::Closed => {}
            State::Open if self.open.is_empty() => {
                self.tree.root = Some(String::new());
                self.open.push(WRAPPER);
            }
            State::Open => {
                return Fault::syntax(
                    at,
                    "a bracket without a label before this one; only the outermost one may have none",
                );
            }
            State::Label => {
                let label = match self.options.cut_functions {
                    true => without_function(&self.label),
                    false => &self.label,
                };
                if self.open.is_empty() && self.options.roots.iter().any(|root| root == label) {
                    self.tree.root = Some(label.to_owned());
                    self.open.push(WRAPPER);
                } else {
                    let start = self.tree.n_words();
                    self.open.push(self.tree.nodes.len() as u32);
                    let label = data.label(label);
                    self.tree.nodes.push(BracketNode { label, start, end: start });
                }
            }
            State::Word => {
                let message = format!(
                    "a bracket after the word {}; a word has its brackets for itself, as in (NN dog)",
                    quote(&self.word)
                );
                return Fault::syntax(at, message);
            }
        }
        self.state = State::Open;
        Ok(())
    }

    fn token(&mut self, token: &str, at: usize) -> Result<(), Fault> {
        match self.state {
            State::Open => {
                self.label.clear();
                self.label.push_str(token);
                self.state = State::Label;
                Ok(())
            }
            State::Label => {
                self.word.clear();
                self.word.push_str(token);
                self.state = State::Word;
                Ok(())
            }
            State::Word => {
                let message = format!(
                    "a second word, {}, after {}; a word has its brackets for itself, as in (NN dog)",
                    quote(token),
                    quote(&self.word)
                );
                Fault::syntax(at, message)
            }
            State::Closed if self.open.is_empty() => {
                let message = format!(
                    "{} outside of brackets; a tree is as (S (NP (PRP it)) (VP (VBZ rains))), and comments begin with #",
                    quote(token)
                );
                Fault::syntax(at, message)
            }
            State::Closed => {
                let message =
                    format!("the word {} has no tag; write it as in (NN dog)", quote(token));
                Fault::syntax(at, message)
            }
        }
    }

    fn closing(&mut self, at: usize, data: &mut BracketTreebank) -> Result<(), Fault> {
        match self.state {
            State::Open => {
                return Fault::syntax(at, "empty brackets; a tree has a label and words");
            }
            State::Label => {
                let message = format!(
                    "the bracket {} has neither a word nor brackets in it",
                    quote(&self.label)
                );
                return Fault::syntax(at, message);
            }
            State::Word => {
                if !(self.options.remove_empty && self.label == EMPTY) {
                    let tag = data.tag(&self.label);
                    self.tree.push_word(&self.word, tag);
                }
            }
            State::Closed => match self.open.pop() {
                None => {
                    return Fault::syntax(at, "a closing bracket that closes nothing; remove it");
                }
                Some(WRAPPER) => {}
                Some(node) => {
                    let (node, end) = (node as usize, self.tree.n_words());
                    if self.tree.nodes[node].start == end {
                        // What was inside is gone, too.
                        self.tree.nodes.truncate(node);
                    } else {
                        self.tree.nodes[node].end = end;
                    }
                }
            },
        }
        self.state = State::Closed;
        if self.open.is_empty() {
            if self.tree.n_words() == 0 {
                let message = "a tree without words; it has empty elements alone";
                return Fault::syntax(at, message);
            }
            data.append(&self.tree);
        }
        Ok(())
    }
}

/// Whether there are only blanks before this place in its line.
fn is_first(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().take_while(|&&b| b != b'\n');
    before.into_iter().all(u8::is_ascii_whitespace)
}

fn token_end(bytes: &[u8], at: usize) -> usize {
    let ends = |&b: &u8| b.is_ascii_whitespace() || matches!(b, b'(' | b')' | 0x0b);
    bytes[at..].iter().position(ends).map_or(bytes.len(), |n| at + n)
}
