//! Rows of csv in which cells may be in quotes, by the csv crate.

use csv::{ReaderBuilder, StringRecord, Terminator};

use super::delimited::Record;
use super::plain::trim;
use super::{Cell, TableRow};
use crate::blocks::Step;
use crate::error::{Error, ErrorKind};

/// Calls `f` for each record, until it stops.
pub(super) fn walk(
    text: &str,
    file: &str,
    delimiter: u8,
    n_lines_before: usize,
    f: &mut dyn FnMut(&dyn Record) -> Step,
) -> Step {
    // In a file whose rows end with newlines, a carriage return alone is part of its cell, as tweets have them.
    let has_newlines = n_lines_before > 0 || text.contains('\n');
    let terminator = if has_newlines { Terminator::Any(b'\n') } else { Terminator::CRLF };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .terminator(terminator)
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let mut last_start = 0;
    loop {
        let more = reader.read_record(&mut record).map_err(|e| {
            let line = e.position().map(|p| n_lines_before + p.line() as usize);
            Error { line, ..Error::new(ErrorKind::Syntax, file, e.to_string()) }
        })?;
        if !more {
            return match check_quotes(text.as_bytes(), file, delimiter, last_start) {
                Ok(()) => Ok(std::ops::ControlFlow::Continue(())),
                Err(error) => Err(error.below(n_lines_before)),
            };
        }
        // A blank line that ends with a carriage return.
        if has_newlines && record.len() == 1 && record.get(0) == Some("\r") {
            continue;
        }
        let row = QuotedRow { text: text.as_bytes(), delimiter, n_lines_before, record: &record };
        last_start = row.start().0;
        let step = f(&row)?;
        if step.is_break() {
            return Ok(step);
        }
    }
}

struct QuotedRow<'r> {
    text: &'r [u8],
    delimiter: u8,
    n_lines_before: usize,
    record: &'r StringRecord,
}

impl QuotedRow<'_> {
    /// Where the record's first byte is, and its line: the csv crate's position is before blank lines that
    /// it skips.
    fn start(&self) -> (usize, usize) {
        let (mut offset, mut line) =
            self.record.position().map_or((0, 1), |p| (p.byte() as usize, p.line() as usize));
        while let Some(b @ (b'\n' | b'\r')) = self.text.get(offset) {
            line += usize::from(*b == b'\n');
            offset += 1;
        }
        (offset.min(self.text.len()), line)
    }
}

impl TableRow for QuotedRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        Cell::Text(trim(self.record.get(column).unwrap_or_default()))
    }

    fn place(&self, column: usize) -> (usize, Option<usize>) {
        let (offset, line) = self.start();
        let record = &self.text[offset..];
        let field = fields(record, self.delimiter).nth(column).map_or(0, |(start, _)| start);
        let before = &record[..field];
        let line = self.n_lines_before + line + before.iter().filter(|&&b| b == b'\n').count();
        (line, Some(1 + before.iter().rev().take_while(|&&b| b != b'\n').count()))
    }
}

impl Record for QuotedRow<'_> {
    fn n_cells(&self) -> usize {
        self.record.len()
    }

    fn n_lines(&self) -> usize {
        1 + self.record.as_slice().bytes().filter(|&b| b == b'\n').count()
    }
}

/// The fields from a record's start on: where each begins, and whether its quote is left open. The
/// csv crate does not tell; this is for messages only.
fn fields(text: &[u8], delimiter: u8) -> impl Iterator<Item = (usize, bool)> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let mut p = start;
        if text.get(p) == Some(&b'"') {
            p += 1;
            loop {
                match (text.get(p), text.get(p + 1)) {
                    (None, _) => {
                        next = None;
                        return Some((start, true));
                    }
                    (Some(b'"'), Some(b'"')) => p += 2,
                    (Some(b'"'), _) => break p += 1,
                    (Some(_), _) => p += 1,
                }
            }
        }
        let ends = |&b: &u8| b == delimiter || b == b'\n';
        let end = text[p..].iter().position(ends).map(|n| p + n);
        next = end.filter(|&end| text[end] == delimiter).map(|end| end + 1);
        Some((start, false))
    })
}

/// A quote that nothing closes takes the rest of the file into its cell.
fn check_quotes(text: &[u8], file: &str, delimiter: u8, last_start: usize) -> Result<(), Error> {
    match fields(&text[last_start..], delimiter).find(|(_, open)| *open) {
        None => Ok(()),
        Some((field, _)) => {
            let message =
                "a quote is opened here and never closed; close it, or double it if it is text";
            Err(Error::at(ErrorKind::Syntax, file, text, last_start + field, message))
        }
    }
}
