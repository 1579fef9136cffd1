//! Rows of delimited text in which quotes mean nothing: every line is a row.

use std::borrow::Cow;

use super::delimited::Record;
use super::{Cell, TableRow};
use crate::error::Error;

/// Whether every line of a csv file is a row: no quotes, and no carriage return but before a newline.
pub(super) fn suits(text: &str) -> bool {
    let bytes = text.as_bytes();
    !bytes.contains(&b'"') && (!bytes.contains(&b'\r') || !bytes.windows(2).any(lone_return))
}

fn lone_return(pair: &[u8]) -> bool {
    pair[0] == b'\r' && pair[1] != b'\n'
}

/// Calls `f` for each line that is not empty, until it says `false`.
pub(super) fn walk(
    text: &str,
    delimiter: u8,
    f: &mut dyn FnMut(&dyn Record) -> Result<bool, Error>,
) -> Result<(), Error> {
    let bytes = text.as_bytes();
    let mut starts = Vec::new();
    let (mut at, mut line) = (0, 0);
    while at < bytes.len() {
        line += 1;
        starts.clear();
        starts.push(at);
        let mut has_quote = false;
        let end = loop {
            match bytes.get(at) {
                None | Some(b'\n') => break at,
                Some(&b) if b == delimiter => starts.push(at + 1),
                Some(&b) => has_quote |= b == b'"',
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
        if has_quote {
            row.unquoted = (0..row.n_cells()).map(|column| unquote(row.raw(column))).collect();
        }
        if !f(&row)? {
            break;
        }
    }
    Ok(())
}

struct PlainRow<'r> {
    text: &'r str,
    line: usize,
    /// Where each cell starts, and one past the delimiter of the last.
    starts: &'r [usize],
    /// The cells of a row that has quotes; else empty.
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
