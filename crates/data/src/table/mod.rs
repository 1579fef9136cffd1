//! Tables: rows of named columns, from csv, tsv or JSON lines.
//!
//! A table is walked twice rather than kept: once to learn what its columns are (`learn`), once to fill the
//! matrix (`encode`). [`Rows`] is what both walks see, so a format only has to give cells.

mod delimited;
mod encode;
mod json;
mod jsonl;
mod learn;
mod plain;
mod profile;
mod quoted;

use crate::dataset::Dataset;
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::options::ReadOptions;
use crate::schema::{Column, ColumnKind, Schema};
use crate::source::{utf8, without_bom};
use json::Json;

/// The key of a JSON row whose object holds named numbers.
const FEATURES: &str = "features";

/// A table that can be walked again and again.
pub(crate) trait Rows {
    /// The columns' names, all different.
    fn names(&self) -> &[String];
    /// Calls `f` for each row in order, until it fails.
    fn for_each(&self, f: &mut dyn FnMut(&dyn TableRow) -> Result<(), Error>) -> Result<(), Error>;
    /// What the user should hear of.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A row of a table.
pub(crate) trait TableRow {
    /// The cell in a column, which is below the number of names.
    fn cell(&self, column: usize) -> Cell<'_>;
    /// Its line and, if known, byte column in the file.
    fn place(&self, column: usize) -> (usize, Option<usize>);
}

/// What stands in a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    /// Trimmed text of a format without types: a number if it reads as one.
    Text(&'a str),
    /// A typed value.
    Json(&'a Json<'a>),
    /// Nothing, or null.
    Missing,
}

/// Reads and learns the schema.
pub(crate) fn read(
    bytes: &[u8],
    file: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Dataset, Error> {
    let rows = open(bytes, file, format, options, None)?;
    let learnt = learn::learn(&*rows, file, format, options)?;
    let mut warnings = rows.warnings();
    warnings.extend(learnt.warnings);
    let use_of = learnt.schema.columns.iter().flatten().enumerate().map(|(at, c)| (at, &c.kind));
    let mut dataset = encode::encode(&*rows, file, use_of.collect(), &learnt.schema, true)?;
    warnings.append(&mut dataset.warnings);
    Ok(Dataset { warnings, ..dataset })
}

/// Reads with the schema of training: columns are matched by name.
pub(crate) fn read_with(
    bytes: &[u8],
    file: &str,
    format: Format,
    options: &ReadOptions,
    schema: &Schema,
) -> Result<Dataset, Error> {
    let rows = open(bytes, file, format, options, Some(schema))?;
    let columns = schema.columns.as_deref().unwrap_or_default();
    let use_of = match_columns(columns, rows.names(), file, options)?;
    let mut dataset = encode::encode(&*rows, file, use_of, schema, false)?;
    dataset.warnings.splice(0..0, rows.warnings());
    Ok(dataset)
}

fn open<'a>(
    bytes: &'a [u8],
    file: &'a str,
    format: Format,
    options: &ReadOptions,
    schema: Option<&Schema>,
) -> Result<Box<dyn Rows + 'a>, Error> {
    let text = utf8(without_bom(bytes), file)?;
    Ok(match format {
        Format::Jsonl => Box::new(jsonl::JsonRows::open(text, file)?),
        Format::Tsv => {
            Box::new(delimited::DelimitedRows::open(text, file, b'\t', options, schema)?)
        }
        _ => Box::new(delimited::DelimitedRows::open(text, file, b',', options, schema)?),
    })
}

/// For each column of the schema that the file has: where it is, and what for.
fn match_columns<'s>(
    columns: &'s [Column],
    names: &[String],
    file: &str,
    options: &ReadOptions,
) -> Result<Vec<(usize, &'s ColumnKind)>, Error> {
    let find = |name: &str| names.iter().position(|n| n == name);
    let said = |name: &Option<String>| match name {
        None => Ok(None),
        Some(name) => find(name).map(Some).ok_or_else(|| no_column(file, name, names)),
    };
    let (label, weight) = (said(&options.label)?, said(&options.weight)?);
    let mut use_of = Vec::new();
    for column in columns {
        let at = match &column.kind {
            ColumnKind::Ignored { .. } => continue,
            ColumnKind::Label => label.or_else(|| find(&column.name)),
            ColumnKind::Weight => weight.or_else(|| find(&column.name)),
            // Names inside may all be absent.
            ColumnKind::Named { .. } => find(&column.name),
            _ => Some(find(&column.name).ok_or_else(|| {
                let message = format!(
                    "there is no column {:?}, which the model was trained with; {}",
                    column.name,
                    list(names)
                );
                Error::new(ErrorKind::Schema, file, message)
            })?),
        };
        use_of.extend(at.map(|at| (at, &column.kind)));
    }
    if let Some(weight) = weight
        && !columns.iter().any(|c| c.kind == ColumnKind::Weight)
    {
        use_of.push((weight, &ColumnKind::Weight));
    }
    Ok(use_of)
}

/// A column was named that the file does not have.
fn no_column(file: &str, name: &str, names: &[String]) -> Error {
    let message = format!("there is no column {name:?}; {}", list(names));
    Error::new(ErrorKind::Columns, file, message)
}

/// The columns for a message.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("the columns are {}{more}", shown.join(", "))
}
