//! Tables: rows of named columns, from csv, tsv, JSON lines, fastText or Vowpal Wabbit.
//!
//! A table is walked twice rather than kept: once to learn what its columns are (`learn`), once to fill the
//! matrix (`encode`). [`Rows`] is what both walks see, so a format only has to give cells.

mod cells;
mod columns;
mod convert;
mod dates;
mod delimited;
mod encode;
mod fasttext;
mod guess;
pub(crate) mod json;
mod jsonl;
pub(crate) mod layout;
mod learn;
mod matrix;
mod plain;
mod profile;
mod quick;
mod quoted;
mod target;
mod vw;

use std::ops::ControlFlow;

use crate::blocks::{Input, Step};
use crate::dataset::Dataset;
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::lossy::Replaced;
use crate::options::ReadOptions;
use crate::schema::{ColumnKind, Schema, TargetKind};
use crate::stream::{Learnt, OnChunk};
use crate::text::{TextBatch, TextSink};
use encode::Encoder;
use json::Json;
use target::Mode;

pub(crate) use cells::cells;
pub(crate) use columns::needs_sink;
pub(crate) use convert::convert;
pub(crate) use fasttext::PREFIX as LABEL_PREFIX;
pub(crate) use profile::is_missing;

/// The key of a JSON row whose object holds named numbers.
const FEATURES: &str = "features";

/// A chunk of a stream has at most so many bytes of text, however many rows were asked for.
const CHUNK_BYTES: usize = 64 << 20;

/// A table that can be walked again and again.
pub(crate) trait Rows {
    /// The columns' names, all different.
    fn names(&self) -> &[String];
    /// Calls `f` for each row in order, until it fails or has enough. Cells that are not wanted may be
    /// missing.
    fn for_each(
        &self,
        wanted: &[Want],
        f: &mut dyn FnMut(&dyn TableRow) -> Step,
    ) -> Result<(), Error>;
    /// The column that the format has for such a kind, whatever its name is at training.
    fn column_for(&self, _: &ColumnKind) -> Option<usize> {
        None
    }
    /// Warnings for the user.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether a comma in a number stands before its fraction.
    fn decimal_comma(&self) -> bool {
        false
    }
    /// Whether the first row is data.
    fn no_header(&self) -> bool {
        false
    }

    // For formats whose rows name their cells:

    /// Looks for names in all rows. Returns whether there are more now.
    fn find_more(&mut self) -> Result<bool, Error> {
        Ok(false)
    }
    /// Whether the last walk met names that are not known.
    fn has_more(&self) -> bool {
        false
    }
    /// Whether the last walk met no cell of a column, not even an empty one.
    fn absent(&self, _: usize) -> bool {
        false
    }
}

/// Whether a walk looks at a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Want {
    /// Its cells may be missing.
    No,
    /// The same, and a later walk finds what is wrong with them.
    Later,
    Yes,
    /// As running text: a cell may be [`Json::Escaped`].
    Text,
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
    /// Numbers with names, of which some may be given twice and have the sum.
    Features(&'a [(&'a str, f64)]),
    /// Labels of a format that marks each.
    Names(&'a [&'a str]),
    /// Nothing, or null.
    Missing,
}

/// Where a table is, and what the user said of it.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    pub(crate) input: &'a Input,
    pub(crate) file: &'a str,
    pub(crate) format: Format,
    pub(crate) options: &'a ReadOptions,
    pub(crate) replaced: &'a Replaced,
}

/// Reads and learns the schema.
pub(crate) fn read(table: Table<'_>, sink: Option<&mut dyn TextSink>) -> Result<Dataset, Error> {
    /// Rows that tell all names, mostly.
    const FIRST: usize = 1000;
    let mut rows = table.open(FIRST)?;
    let mut learnt = learn::learn(&*rows, table, usize::MAX);
    if (learnt.is_err() || rows.has_more()) && rows.find_more()? {
        learnt = learn::learn(&*rows, table, usize::MAX);
    }
    let learnt = learnt?;
    if learnt.schema.text_columns().next().is_none() {
        table.replaced.forbid();
    }
    let use_of = learnt.schema.columns.iter().flatten().enumerate().map(|(at, c)| (at, &c.kind));
    let encoder = Encoder::new(&*rows, table, use_of.collect(), &learnt.schema, Mode::Learn);
    let mut dataset = fill(&*rows, encoder, &learnt.schema, sink)?;
    dataset.warnings.splice(0..0, learnt.warnings);
    Ok(dataset)
}

/// Reads with the schema of training: columns are matched by name.
pub(crate) fn read_with(
    table: Table<'_>,
    schema: &Schema,
    sink: Option<&mut dyn TextSink>,
) -> Result<Dataset, Error> {
    let rows = table.open_with(schema)?;
    let use_of = columns::find(schema, &*rows, table)?;
    let encoder = Encoder::new(&*rows, table, use_of.clone(), schema, Mode::Apply);
    let mut dataset = fill(&*rows, encoder, schema, sink)?;
    columns::check_present(&use_of, &*rows, table)?;
    dataset.warnings.splice(0..0, rows.warnings());
    Ok(dataset)
}

/// Learns the schema from the first rows; of the label alone, if no other column is asked about.
pub(crate) fn learn_schema(
    table: Table<'_>,
    n_rows: usize,
    only_label: bool,
) -> Result<Learnt, Error> {
    let rows = table.open(n_rows)?;
    match only_label {
        true => learn::learn_label(&*rows, table, n_rows),
        false => learn::learn(&*rows, table, n_rows),
    }
}

/// Gives chunks of rows, read with a schema.
pub(crate) fn stream(
    table: Table<'_>,
    schema: &Schema,
    rows_per_chunk: usize,
    f: OnChunk<'_>,
) -> Result<Learnt, Error> {
    let rows = table.open_with(schema)?;
    let use_of = columns::find(schema, &*rows, table)?;
    let mode = Mode::Stream { grow: table.options.grow_classes };
    let mut encoder = Encoder::new(&*rows, table, use_of.clone(), schema, mode);
    let mut n_rows = 0;
    let mut hand_over = |encoder: &mut Encoder<'_>| {
        n_rows += encoder.n_rows();
        let chunk = encoder.take()?;
        let step = f(chunk, encoder.text())?;
        encoder.clear_text();
        Ok(step)
    };
    let wanted = encoder.wanted();
    let mut stopped = false;
    let by_query = schema.target == TargetKind::Grades;
    let is_full = |encoder: &Encoder<'_>| {
        encoder.n_rows() >= rows_per_chunk
            || encoder.text().is_some_and(|t| t.n_bytes() >= CHUNK_BYTES)
    };
    rows.for_each(&wanted, &mut |row| {
        // Queries are not cut: their chunk is full when the next one begins.
        if by_query && is_full(&encoder) && encoder.begins_query(row) {
            let step = hand_over(&mut encoder)?;
            stopped = step.is_break();
            if stopped {
                return Ok(step);
            }
        }
        encoder.row(row)?;
        if by_query || !is_full(&encoder) {
            return Ok(ControlFlow::Continue(()));
        }
        let step = hand_over(&mut encoder)?;
        stopped = step.is_break();
        Ok(step)
    })?;
    if !stopped && encoder.n_rows() > 0 {
        // Before the last rows go out: whoever answers each row must not answer those that the error is about.
        columns::check_present(&use_of, &*rows, table)?;
        let _: ControlFlow<()> = hand_over(&mut encoder)?;
    }
    if n_rows == 0 {
        return Err(no_rows(&*rows, table));
    }
    if !stopped {
        columns::check_present(&use_of, &*rows, table)?;
    }
    let mut warnings = rows.warnings();
    warnings.extend(encoder.warnings());
    Ok(Learnt { schema: encoder.schema(), n_rows, warnings })
}

fn no_rows(rows: &dyn Rows, table: Table<'_>) -> Error {
    let is_delimited = matches!(table.format, Format::Csv | Format::Tsv) && !rows.no_header();
    let message = if is_delimited { "no rows after the header" } else { "no rows" };
    Error::new(ErrorKind::Empty, table.file, message)
}

/// Walks all rows into one dataset, and their text into the sink.
fn fill(
    rows: &dyn Rows,
    mut encoder: Encoder<'_>,
    schema: &Schema,
    mut sink: Option<&mut dyn TextSink>,
) -> Result<Dataset, Error> {
    if sink.is_none() {
        columns::refuse_text(schema, encoder.file())?;
    }
    let file = encoder.file();
    encoder.forget_replaced();
    if let (Some(sink), Some(_)) = (&mut sink, encoder.text()) {
        sink.start(schema).map_err(|e| Error::new(ErrorKind::Text, file, e))?;
    }
    let mut hand_over = |encoder: &mut Encoder<'_>| {
        if let (Some(sink), Some(batch)) = (&mut sink, encoder.text()) {
            sink.batch(batch).map_err(|e| Error::new(ErrorKind::Text, file, e))?;
        }
        encoder.clear_text();
        Ok(())
    };
    rows.for_each(&encoder.wanted(), &mut |row| {
        encoder.row(row)?;
        if encoder.text().is_some_and(TextBatch::is_full) {
            hand_over(&mut encoder)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if encoder.n_rows() == 0 {
        let none = || no_rows(rows, encoder.table());
        return Err(encoder.all_unlabelled().unwrap_or_else(none));
    }
    if encoder.text().is_some_and(|batch| batch.n_rows() > 0) {
        hand_over(&mut encoder)?;
    }
    let dataset = encoder.take()?;
    Ok(Dataset { warnings: encoder.warnings(), ..dataset })
}

impl<'a> Table<'a> {
    /// Looks for the columns, in so many rows if only those tell.
    fn open(self, n_rows: usize) -> Result<Box<dyn Rows + 'a>, Error> {
        Ok(match self.format {
            Format::Jsonl => Box::new(jsonl::JsonRows::open(self, n_rows)?),
            Format::FastText => Box::new(fasttext::FastTextRows::new(self)),
            Format::Vw => Box::new(vw::VwRows::new(self)),
            _ => Box::new(delimited::DelimitedRows::open(self, None)?),
        })
    }

    /// The same for a schema, which tells what to look for.
    fn open_with(self, schema: &Schema) -> Result<Box<dyn Rows + 'a>, Error> {
        Ok(match self.format {
            Format::Jsonl => Box::new(jsonl::JsonRows::with(self, schema)),
            Format::Tsv | Format::Csv => {
                Box::new(delimited::DelimitedRows::open(self, Some(schema))?)
            }
            _ => self.open(0)?,
        })
    }
}

/// What a message calls a cell.
fn show(cell: Cell<'_>) -> String {
    use crate::error::quote;
    match cell {
        Cell::Text(text) => quote(text),
        Cell::Json(value) => quote(value.to_string()),
        Cell::Names(names) => quote(names.join(" ")),
        Cell::Features(_) => "named numbers".to_owned(),
        Cell::Missing => "nothing".to_owned(),
    }
}
