//! Sentences back into CoNLL-U, some of their columns replaced.

use std::fmt::Write;

use crate::error::Error;
use crate::format::Format;
use crate::sequences::is_token_line;

use super::check::check;
use super::column::ConlluColumn;
use super::options::TreebankOptions;
use super::parse::{is_comment, lines, split};
use super::table::{NO_HEAD, NO_RELATION, Place, Sentence, Treebank};

/// What to replace in a sentence; the default replaces nothing. Lists have one entry for each word. Multiword tokens, empty nodes and comments
/// stay as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentenceEdits<'a> {
    /// The column HEAD: 0 is the root, 1 the first word, [`NO_HEAD`] is written as `_`.
    pub heads: Option<&'a [u32]>,
    /// The column DEPREL.
    pub deprels: Option<&'a [&'a str]>,
    /// Further columns with their cells.
    pub columns: &'a [(ConlluColumn, &'a [&'a str])],
    /// Keys with their values, written as `key=value` into the column MISC: after what is there, or in the place of the same key.
    pub misc: &'a [(&'a str, &'a [&'a str])],
    /// Lines that are put after the sentence's own comments, each without its `# `. One of the form `key = value` takes the place of what the sentence has for that key.
    pub comments: &'a [&'a str],
}

impl SentenceEdits<'_> {
    /// Whether a comment of the sentence has the key of one that is put there.
    fn replaces(&self, line: &str) -> bool {
        let key = |comment: &str| comment.split_once(" = ").map(|(key, _)| key.trim().to_owned());
        let own = key(line.trim_start_matches('#'));
        own.is_some() && self.comments.iter().any(|comment| key(comment) == own)
    }

    /// Whether all lists have `n` entries.
    fn fit(&self, n: usize) -> bool {
        self.heads.is_none_or(|heads| heads.len() == n)
            && self.deprels.is_none_or(|deprels| deprels.len() == n)
            && self.columns.iter().all(|(_, cells)| cells.len() == n)
            && self.misc.iter().all(|(_, values)| values.len() == n)
    }
}

impl Sentence<'_> {
    /// Appends the sentence and the blank line after it. What is not replaced is written byte for byte; lines end as the first one does
    /// where an end is missing.
    ///
    /// # Panics
    /// If a list does not have one entry for each word.
    pub fn write(&self, edits: &SentenceEdits<'_>, out: &mut String) {
        self.write_lines(edits, out);
        out.push_str(self.line_end());
    }

    fn line_end(&self) -> &'static str {
        let first = self.raw().split_inclusive('\n').next().unwrap_or_default();
        if first.ends_with("\r\n") { "\r\n" } else { "\n" }
    }

    fn write_lines(&self, edits: &SentenceEdits<'_>, out: &mut String) {
        assert!(edits.fit(self.len()), "one entry for each of {} words", self.len());
        let raw = self.raw();
        let line_end = self.line_end();
        let mut token = 0;
        let mut comments = edits.comments;
        for (offset, line) in lines(raw) {
            if !is_comment(line) {
                for comment in std::mem::take(&mut comments) {
                    out.push_str("# ");
                    push_printable(comment, out);
                    out.push_str(line_end);
                }
            }
            if is_comment(line) && edits.replaces(line) {
                continue;
            }
            let after = &raw[offset + line.len()..];
            if is_token_line(Format::Conllu, line) {
                self.write_word(token, edits, out);
                token += 1;
            } else {
                out.push_str(line);
            }
            let own = if after.starts_with("\r\n") { "\r\n" } else { "\n" };
            out.push_str(if after.is_empty() { line_end } else { own });
        }
    }

    fn write_word(&self, token: usize, edits: &SentenceEdits<'_>, out: &mut String) {
        for column in ConlluColumn::ALL {
            if column != ConlluColumn::Id {
                out.push('\t');
            }
            let replaced = edits.columns.iter().rev().find(|(replaced, _)| *replaced == column);
            let cell = replaced.map(|(_, cells)| cells[token]);
            match (column, edits.heads, edits.deprels) {
                (ConlluColumn::Head, Some(heads), _) => match heads[token] {
                    NO_HEAD => out.push('_'),
                    // Writing to a string cannot fail.
                    head => _ = write!(out, "{head}"),
                },
                (ConlluColumn::Deprel, _, Some(deprels)) => push_cell(deprels[token], out),
                (ConlluColumn::Misc, ..) if !edits.misc.is_empty() => {
                    let misc = cell.unwrap_or_else(|| self.cell(token, column));
                    push_misc(misc, token, edits.misc, out);
                }
                _ => match cell {
                    Some(cell) => push_cell(cell, out),
                    None => out.push_str(self.cell(token, column)),
                },
            }
        }
    }
}

/// A cell; what a cell cannot hold becomes a space, and nothing becomes `_`.
fn push_cell(cell: &str, out: &mut String) {
    if cell.is_empty() {
        out.push('_');
    }
    push_printable(cell, out);
}

fn push_printable(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| if matches!(c, '\t' | '\n' | '\r') { ' ' } else { c }));
}

/// What is in MISC but for the keys that are given, then these.
fn push_misc(misc: &str, token: usize, given: &[(&str, &[&str])], out: &mut String) {
    let is_given = |entry: &str| {
        let key = entry.split_once('=').map_or(entry, |(key, _)| key);
        given.iter().any(|(name, _)| *name == key)
    };
    let mut separator = "";
    for entry in misc.split('|').filter(|entry| !matches!(*entry, "_" | "") && !is_given(entry)) {
        out.push_str(separator);
        push_printable(entry, out);
        separator = "|";
    }
    for (key, values) in given {
        out.push_str(separator);
        push_printable(key, out);
        out.push('=');
        push_printable(values[token], out);
        separator = "|";
    }
}

impl Treebank {
    /// The same treebank with other cells, one for each word of all sentences: with predicted tags in place of gold ones, say. Heads and relations
    /// stay as they are.
    ///
    /// # Panics
    /// If a column is ID, HEAD or DEPREL, or does not have one cell for each word.
    pub fn with_columns(&self, columns: &[(ConlluColumn, &[&str])]) -> Treebank {
        let is_fixed =
            |column| matches!(column, ConlluColumn::Id | ConlluColumn::Head | ConlluColumn::Deprel);
        assert!(!columns.iter().any(|(column, _)| is_fixed(*column)), "columns of the tree");
        assert!(columns.iter().all(|(_, cells)| cells.len() == self.n_tokens()), "cells for all");
        let mut other = self.without_sentences();
        for sentence in self.iter() {
            let tokens = self.tokens(sentence.index());
            let columns: Vec<(ConlluColumn, &[&str])> =
                columns.iter().map(|(column, cells)| (*column, &cells[tokens.clone()])).collect();
            let text_start = other.text.len();
            sentence.write_lines(
                &SentenceEdits { columns: &columns, ..SentenceEdits::default() },
                &mut other.text,
            );
            let text_end = other.text.len();
            other.rows.extend(
                lines(&other.text[text_start..])
                    .filter(|(_, line)| is_token_line(Format::Conllu, line))
                    .filter_map(|(offset, line)| split(line, offset).ok()),
            );
            other.text.push('\n');
            let line = self.places[sentence.index()].line;
            other.places.push(Place { text_start, text_end, token_end: other.rows.len(), line });
        }
        other.heads = self.heads.clone();
        other.deprels = self.deprels.clone();
        other
    }

    /// The same treebank with the parts of speech and features (UPOS, XPOS, FEATS) of another one with the same words.
    pub fn with_tags_of(&self, other: &Treebank) -> Result<Treebank, Error> {
        let forms = |data: &Treebank, i: usize| -> Option<Vec<String>> {
            let sentence = (i < data.len()).then(|| data.get(i))?;
            Some((0..sentence.len()).map(|t| sentence.form(t).to_owned()).collect())
        };
        let n = self.len().max(other.len());
        if let Some(i) = (0..n).find(|&i| forms(self, i) != forms(other, i)) {
            let message = format!(
                "sentence {} is not that of {}; give a file with the same words and other tags",
                i + 1,
                self.source
            );
            return Err(other.error_at(i.min(other.len() - 1), 0, message));
        }
        let columns = [ConlluColumn::Upos, ConlluColumn::Xpos, ConlluColumn::Feats];
        let cells = columns.map(|column| -> Vec<&str> {
            other.iter().flat_map(|s| (0..s.len()).map(move |t| s.cell(t, column))).collect()
        });
        let columns: Vec<_> = columns.into_iter().zip(cells.iter().map(Vec::as_slice)).collect();
        Ok(self.with_columns(&columns))
    }

    /// Sees that every word has a head and a relation, and every sentence one root if there is to be only one: trees are learnt whole.
    pub fn check_whole(&self, single_root: bool) -> Result<(), Error> {
        let options =
            TreebankOptions { require_heads: true, single_root, ..TreebankOptions::default() };
        for sentence in self.iter() {
            let cell = |token, column: usize| sentence.cell(token, ConlluColumn::ALL[column]);
            check(sentence.heads(), &options, &cell)
                .map_err(|fault| self.error_at(sentence.index(), fault.token, fault.message))?;
            if let Some(t) = sentence.deprels().iter().position(|&r| r == NO_RELATION) {
                let message = "the word has no relation (`_`); give every word one";
                return Err(self.error_at(sentence.index(), t, message));
            }
        }
        Ok(())
    }
}
