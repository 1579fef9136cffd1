//! Rows of delimited text in which quotes mean nothing: every line is a row.

use std::borrow::Cow;

use memchr::{memchr_iter, memchr3};

use super::delimited::Record;
use super::{Cell, TableRow};
use crate::blocks::Step;

/// Whether every line of a csv text is a row: no quotes, and no carriage return but before a newline.
pub(super) fn suits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let lone_return = |at: usize| bytes.get(at + 1).is_some_and(|&b| b != b'\n');
    memchr::memchr(b'"', bytes).is_none() && !memchr_iter(b'\r', bytes).any(lone_return)
}

/// Calls `f` for each line that is not empty, until it stops.
pub(super) fn walk(
    text: &str,
    delimiter: u8,
    n_lines_before: usize,
    f: &mut dyn FnMut(&dyn Record) -> Step,
) -> Step {
    let bytes = text.as_bytes();
    let mut starts = Vec::new();
    let (mut at, mut line) = (0, n_lines_before);
    while at < bytes.len() {
        line += 1;
        starts.clear();
        starts.push(at);
        let mut has_quote = false;
        let end = loop {
            at = next_mark(bytes, at, delimiter);
            match bytes.get(at) {
                None | Some(b'\n') => break at,
                Some(&b) if b == delimiter => starts.push(at + 1),
                Some(_) => has_quote = true,
            }
            at += 1;
        };
        at = end + 1;
        let empty = starts.len() == 1 && text[starts[0]..end].trim_end_matches('\r').is_empty();
        if empty {
            continue;
        }
        starts.push(end + 1);
        let mut row = PlainRow { text, line, starts: &starts, unquoted: Vec::new() };
        if has_quote && (0..row.n_cells()).any(|column| row.raw(column).starts_with('"')) {
            row.unquoted = (0..row.n_cells()).map(|column| unquote(row.raw(column))).collect();
        }
        let step = f(&row)?;
        if step.is_break() {
            return Ok(step);
        }
    }
    Ok(std::ops::ControlFlow::Continue(()))
}

/// The next newline, delimiter or quote from `at` on, or the end.
#[inline]
fn next_mark(bytes: &[u8], at: usize, delimiter: u8) -> usize {
    /// Most cells of numbers are shorter, and for them a call costs more than a look at each byte.
    const NEAR: usize = 16;
    let rest = &bytes[at..];
    let is_mark = |&b: &u8| b == b'\n' || b == delimiter || b == b'"';
    let near = &rest[..rest.len().min(NEAR)];
    let found = near.iter().position(is_mark);
    found
        .or_else(|| memchr3(b'\n', delimiter, b'"', &rest[near.len()..]).map(|n| near.len() + n))
        .map_or(bytes.len(), |n| at + n)
}

struct PlainRow<'r> {
    text: &'r str,
    line: usize,
    /// Where each cell starts, and one past the delimiter of the last.
    starts: &'r [usize],
    /// The cells of a row that has one in quotes; else empty.
    unquoted: Vec<Cow<'r, str>>,
}

impl<'r> PlainRow<'r> {
    fn raw(&self, column: usize) -> &'r str {
        match self.starts.get(column..column + 2) {
            Some(&[start, end]) => trim(self.text.get(start..end - 1).unwrap_or_default()),
            _ => "",
        }
    }
}

impl TableRow for PlainRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match self.unquoted.get(column) {
            Some(cell) => Cell::Text(cell),
            None => Cell::Text(self.raw(column)),
        }
    }

    fn place(&self, column: usize) -> (usize, Option<usize>) {
        let column = self.starts.get(column).map(|start| start - self.starts[0] + 1);
        (self.line, column)
    }
}

impl Record for PlainRow<'_> {
    fn n_cells(&self) -> usize {
        self.starts.len() - 1
    }

    fn n_lines(&self) -> usize {
        1
    }
}

/// Without blanks around. Most cells have none, and that is cheap to see.
pub(super) fn trim(cell: &str) -> &str {
    let graphic = |b: Option<&u8>| b.is_some_and(u8::is_ascii_graphic);
    let bytes = cell.as_bytes();
    if graphic(bytes.first()) && graphic(bytes.last()) { cell } else { cell.trim() }
}

/// The text of a cell that is wholly in quotes, with those inside doubled; any other cell as it is.
fn unquote(cell: &str) -> Cow<'_, str> {
    let inner = cell.strip_prefix('"').and_then(|c| c.strip_suffix('"'));
    match inner {
        Some(inner) if !inner.replace("\"\"", "").contains('"') => {
            Cow::Owned(inner.replace("\"\"", "\"").trim().to_owned())
        }
        _ => Cow::Borrowed(cell),
    }
}
