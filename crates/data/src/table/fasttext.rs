//! fastText: `__label__sports __label__football the text …`, one example per line.
//!
//! A word with the prefix is a label wherever it stands; the other words are the text.

use std::borrow::Cow;
use std::ops::ControlFlow;

use memchr::memmem::Finder;

use super::{Cell, Rows, Table, TableRow, Want};
use crate::blocks::{Block, RowEnd, Step};
use crate::error::{Error, ErrorKind};
use crate::schema::ColumnKind;

/// What marks a label.
pub(crate) const PREFIX: &str = "__label__";

const LABEL: usize = 0;
const TEXT: usize = 1;

pub(super) struct FastTextRows<'a> {
    table: Table<'a>,
    names: [String; 2],
}

impl<'a> FastTextRows<'a> {
    pub(super) fn new(table: Table<'a>) -> Self {
        Self { table, names: ["label", "text"].map(str::to_owned) }
    }

    fn walk_block(&self, block: Block<'_>, f: &mut dyn FnMut(&dyn TableRow) -> Step) -> Step {
        let (file, before) = (self.table.file, block.n_lines_before);
        let text = &*self.table.replaced.decode(&block, file)?;
        let finder = Finder::new(PREFIX);
        let mut labels = Vec::new();
        let (mut rest, mut line) = (text, before);
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            let row = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            line += 1;
            labels.clear();
            let (words, at) = labels_in_front(row, &mut labels);
            if words.is_empty() && labels.is_empty() && !self.table.options.blank_rows {
                continue;
            }
            let words = match finder.find(words.as_bytes()) {
                None => Cow::Borrowed(words),
                Some(_) => without_labels(words, &mut labels).into(),
            };
            if labels.contains(&"") {
                let message = format!("a label without a name; write {PREFIX}NAME");
                return Err(Error::in_line(ErrorKind::Label, file, line, None, message));
            }
            let step = f(&FastTextRow { line, at, labels: &labels, text: &words })?;
            if step.is_break() {
                return Ok(step);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Blanks, as fastText has them.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\x0b' | '\x0c' | '\0')
}

/// Takes the labels that a line starts with, and returns the rest without blanks around, and where it is.
fn labels_in_front<'t>(line: &'t str, labels: &mut Vec<&'t str>) -> (&'t str, usize) {
    let mut rest = line.trim_start_matches(is_blank);
    while let Some(label) = rest.strip_prefix(PREFIX) {
        let end = label.find(is_blank).unwrap_or(label.len());
        labels.push(&label[..end]);
        rest = label[end..].trim_start_matches(is_blank);
    }
    (rest.trim_end_matches(is_blank), line.len() - rest.len())
}

/// Takes the labels that stand among words, and joins the others.
fn without_labels<'t>(words: &'t str, labels: &mut Vec<&'t str>) -> String {
    let mut text = String::with_capacity(words.len());
    for word in words.split(is_blank).filter(|word| !word.is_empty()) {
        if let Some(label) = word.strip_prefix(PREFIX) {
            labels.push(label);
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

impl Rows for FastTextRows<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn for_each(
        &self,
        _wanted: &[Want],
        f: &mut dyn FnMut(&dyn TableRow) -> Step,
    ) -> Result<(), Error> {
        let Table { input, file, .. } = self.table;
        input.for_each_block(file, RowEnd::Newline, &mut |block| self.walk_block(block, f))
    }

    fn column_for(&self, kind: &ColumnKind) -> Option<usize> {
        match kind {
            ColumnKind::Label => Some(LABEL),
            ColumnKind::Text { .. } => Some(TEXT),
            _ => None,
        }
    }
}

struct FastTextRow<'r> {
    line: usize,
    /// Where the text starts.
    at: usize,
    labels: &'r [&'r str],
    text: &'r str,
}

impl TableRow for FastTextRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match column {
            LABEL => Cell::Names(self.labels),
            _ => Cell::Text(self.text),
        }
    }

    fn place(&self, column: usize) -> (usize, Option<usize>) {
        (self.line, Some(if column == TEXT { self.at + 1 } else { 1 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_anywhere() {
        for (line, labels, text) in [
            ("__label__a so it goes", vec!["a"], "so it goes"),
            (" \t__label__a  __label__b\tso  it goes \r", vec!["a", "b"], "so  it goes"),
            ("so __label__x it\tgoes __label__y", vec!["x", "y"], "so it goes"),
            ("so it goes", vec![], "so it goes"),
            ("__label__a", vec!["a"], ""),
            ("a__label__b __label_", vec![], "a__label__b __label_"),
        ] {
            let mut found = Vec::new();
            let (words, _) = labels_in_front(line, &mut found);
            let words = without_labels(words, &mut found);
            assert_eq!(found, labels, "{line}");
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words, text, "{line}");
        }
    }
}
