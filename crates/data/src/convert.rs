//! A file in another format.

use std::io::Write;

use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::lossy::Replaced;
use crate::options::ReadOptions;
use crate::read::{HEAD, may_replace, tell_format};
use crate::source::Source;
use crate::table::{self, Table};

/// What a conversion leaves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Converted {
    /// How many rows were written.
    pub n_rows: usize,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Writes a table (csv, tsv, JSON lines, fastText, Vowpal Wabbit) as csv, tsv, JSON lines or fastText: cell by cell, with the names of
/// its columns. `Ok(None)` if one of the two formats has no columns with names.
///
/// ```
/// use lineal_data::{Format, ReadOptions, Source, convert};
///
/// let csv = Source::Memory { name: "a.csv".into(), bytes: b"id,text\n7,\"so, it goes\"\n".to_vec() };
/// let mut out = Vec::new();
/// convert(csv, &ReadOptions::default(), Format::Jsonl, &mut out)?;
/// assert_eq!(out, b"{\"id\":7,\"text\":\"so, it goes\"}\n");
/// # Ok::<(), lineal_data::Error>(())
/// ```
pub fn convert(
    source: impl Into<Source>,
    options: &ReadOptions,
    to: Format,
    out: &mut dyn Write,
) -> Result<Option<Converted>, Error> {
    let source = source.into();
    let file = &source.name();
    let head = source.peek(HEAD)?;
    let input = &source.input()?;
    let head = head.map_or_else(|| input.head(HEAD), Ok)?;
    let format = tell_format(file, options, &head)?;
    let written = matches!(to, Format::Csv | Format::Tsv | Format::Jsonl | Format::FastText);
    if !format.is_table() || !written {
        return Ok(None);
    }
    let replaced = &Replaced::new(may_replace(format, options));
    let done = table::convert(Table { input, file, format, options, replaced }, to, out)?;
    match done.n_rows {
        0 => Err(Error::new(ErrorKind::Empty, file, "no rows")),
        _ => Ok(Some(done)),
    }
}
