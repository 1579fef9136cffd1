//! From a source to a dataset: open, tell the format, hand over to its reader.

use std::path::PathBuf;

use crate::blocks::Input;
use crate::dataset::Dataset;
use crate::encoding::{bytes_in_utf8, in_utf8, in_utf8_with};
use crate::error::{Error, ErrorKind};
use crate::format::{self, Format};
use crate::lossy::Replaced;
use crate::options::ReadOptions;
use crate::schema::Schema;
use crate::source::{Bytes, Source, without_bom};
use crate::table::{self, Table};
use crate::text::TextSink;
use crate::{idx, svmlight};

/// Reads examples and learns what their columns and classes mean.
pub fn read(source: impl Into<Source>, options: &ReadOptions) -> Result<Dataset, Error> {
    read_any(source.into(), options, None)
}

/// Reads examples as a schema that was learnt before understands them.
///
/// Labels may be missing, or [`UNSEEN`](crate::UNSEEN); features and categories that the schema does not
/// have are left out; a warning says so. Columns of tables are matched by name, so a csv file can be read
/// with the schema of a JSON lines file. Of `options` the types of columns have no effect here.
pub fn read_with(
    source: impl Into<Source>,
    options: &ReadOptions,
    schema: &Schema,
) -> Result<Dataset, Error> {
    read_any_with(source.into(), options, schema, None)
}

/// As [`read`], where columns may be text: `options.text`, or that of fastText. Their cells go to the
/// sink, batch by batch while the file is walked, and into no dataset.
///
/// The dataset has a row for each of the sink's; without other columns, its matrix has rows of no features.
/// Without text columns the sink is not called.
pub fn read_text(
    source: impl Into<Source>,
    options: &ReadOptions,
    sink: &mut dyn TextSink,
) -> Result<Dataset, Error> {
    read_any(source.into(), options, Some(sink))
}

/// As [`read_with`], where columns of the schema may be text: see [`read_text`].
pub fn read_text_with(
    source: impl Into<Source>,
    options: &ReadOptions,
    schema: &Schema,
    sink: &mut dyn TextSink,
) -> Result<Dataset, Error> {
    read_any_with(source.into(), options, schema, Some(sink))
}

fn read_any(
    source: Source,
    options: &ReadOptions,
    sink: Option<&mut dyn TextSink>,
) -> Result<Dataset, Error> {
    let opened = Opened::new(source, options)?;
    let (file, format) = (opened.file.as_str(), opened.format);
    check_columns(file, format, options)?;
    if let (Some(name), None) = (options.text.first(), &sink) {
        return Err(table::needs_sink(file, name));
    }
    match &opened.content {
        Content::Table(input) => {
            let replaced = &Replaced::new(may_replace(format, options));
            table::read(Table { input, file, format, options, replaced }, sink)
        }
        Content::Bytes(bytes) if format == Format::Idx => {
            idx::read(bytes, file, opened.path.as_deref(), options)
        }
        Content::Bytes(bytes) => svmlight::read(bytes, file, options.target),
    }
}

fn read_any_with(
    source: Source,
    options: &ReadOptions,
    schema: &Schema,
    sink: Option<&mut dyn TextSink>,
) -> Result<Dataset, Error> {
    let opened = Opened::with(source, options, schema)?;
    let (file, format) = (opened.file.as_str(), opened.format);
    check_schema(file, format, schema)?;
    check_columns(file, format, options)?;
    match &opened.content {
        Content::Table(input) => {
            let replaced = &Replaced::new(may_replace_with(schema, options));
            table::read_with(Table { input, file, format, options, replaced }, schema, sink)
        }
        Content::Bytes(bytes) if format == Format::Idx => {
            idx::read_with(bytes, file, opened.path.as_deref(), options, schema)
        }
        Content::Bytes(bytes) => svmlight::read_with(bytes, file, schema),
    }
}

/// Refuses names of columns where there are none.
pub(crate) fn check_columns(
    file: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<(), Error> {
    if format.is_table() {
        return Ok(());
    }
    let one = |flag, name: &Option<String>| name.as_ref().map(|name| (flag, name.clone()));
    let first = |flag, names: &[String]| names.first().map(|name| (flag, name.clone()));
    let said = one("options.label", &options.label)
        .or_else(|| one("options.weight", &options.weight))
        .or_else(|| one("options.query", &options.query))
        .or_else(|| first("options.numeric", &options.numeric))
        .or_else(|| first("options.categorical", &options.categorical))
        .or_else(|| first("options.text", &options.text))
        .or_else(|| first("options.ignore", &options.ignore));
    let Some((flag, name)) = said else { return Ok(()) };
    let message = format!(
        "there is no column {name:?}: {format} has no columns with names; leave {flag} out, or say options.format if it is another one"
    );
    Err(Error::new(ErrorKind::Columns, file, message))
}

/// A source whose format is known.
struct Opened {
    content: Content,
    file: String,
    path: Option<PathBuf>,
    format: Format,
}

enum Content {
    /// Walked in blocks.
    Table(Input),
    /// At hand as a whole, mapped if it is a file.
    Bytes(Bytes),
}

impl Opened {
    fn new(source: Source, options: &ReadOptions) -> Result<Self, Error> {
        let path = path_of(&source);
        Self::of_utf8(in_utf8(source, options)?, path, options, None)
    }

    /// As the schema was learnt.
    fn with(source: Source, options: &ReadOptions, schema: &Schema) -> Result<Self, Error> {
        let path = path_of(&source);
        Self::of_utf8(in_utf8_with(source, options, schema)?, path, options, Some(schema))
    }

    fn of_utf8(
        source: Source,
        path: Option<PathBuf>,
        options: &ReadOptions,
        schema: Option<&Schema>,
    ) -> Result<Self, Error> {
        let file = source.name();
        let tell_format = |head: &[u8]| match schema {
            Some(schema) => tell_format_with(&file, options, head, schema),
            None => tell_format(&file, options, head),
        };
        // What can be read twice is looked at first, so that a table need not be opened as a whole.
        if let Some(head) = source.peek(HEAD)? {
            let format = tell_format(&head)?;
            let content = match format.is_table() {
                true => Content::Table(source.input()?),
                false => Content::Bytes(source.open()?),
            };
            return Ok(Self { content, file, path, format });
        }
        let bytes = bytes_in_utf8(source.open()?, &file)?;
        let format = tell_format(&bytes[..bytes.len().min(HEAD)])?;
        let content = match format.is_table() {
            true => Content::Table(Input::Whole(bytes)),
            false => Content::Bytes(bytes),
        };
        Ok(Self { content, file, path, format })
    }
}

fn path_of(source: &Source) -> Option<PathBuf> {
    match source {
        Source::Path(path) => Some(path.clone()),
        Source::Stdin | Source::Memory { .. } | Source::Once(_) => None,
    }
}

/// Whether a file of which nothing is known yet may have text.
pub(crate) fn may_replace(format: Format, options: &ReadOptions) -> bool {
    let has_text = !options.text.is_empty() || options.guess_text || format == Format::FastText;
    has_text && !options.strict
}

/// Whether the schema has text.
pub(crate) fn may_replace_with(schema: &Schema, options: &ReadOptions) -> bool {
    schema.text_columns().next().is_some() && !options.strict
}

/// Bytes that the format is guessed from.
pub(crate) const HEAD: usize = 1 << 16;

/// The format that the user says, else the name, else the first bytes.
pub(crate) fn tell_format(file: &str, options: &ReadOptions, head: &[u8]) -> Result<Format, Error> {
    if head.is_empty() {
        return Err(Error::new(ErrorKind::Empty, file, "the file is empty"));
    }
    let format = options.format.map_or_else(|| format::guess(file, head), Ok)?;
    if format.is_for_brackets() {
        let message =
            format!("{format} is for constituency trees: use read_brackets, or say options.format");
        return Err(Error::new(ErrorKind::Format, file, message));
    }
    if format.is_for_tags() {
        let or_trees = if format == Format::Conllu { " or read_treebank" } else { "" };
        let message = format!(
            "{format} holds sequences of tokens: use read_sequences{or_trees}, or say options.format"
        );
        return Err(Error::new(ErrorKind::Format, file, message));
    }
    Ok(format)
}

/// As [`tell_format`], where the columns are known: a first line that names one of them is that of a table, even if nothing else shows it.
pub(crate) fn tell_format_with(
    file: &str,
    options: &ReadOptions,
    head: &[u8],
    schema: &Schema,
) -> Result<Format, Error> {
    let told = tell_format(file, options, head);
    let is_open = options.format.is_none() && Format::from_name(file).is_none();
    if told.is_ok() || !is_open || !schema.format.is_some_and(Format::is_table) {
        return told;
    }
    let head = String::from_utf8_lossy(without_bom(head));
    let first = head.lines().next().unwrap_or_default();
    let delimiter = table::layout::delimiter(first.as_bytes()) as char;
    let is_column = |cell: &str| {
        let name = cell.trim().trim_matches('"');
        schema.columns.iter().flatten().any(|column| column.name == name)
    };
    if first.split(delimiter).any(is_column) { Ok(Format::Csv) } else { told }
}

/// Whether the first bytes are those of JSON lines, or of a csv or tsv file with a header, that have this column; for files whose name does not tell. What comes
/// once must be [kept](Source::kept).
pub fn table_with_column(source: &Source, column: &str) -> Result<Option<Format>, Error> {
    let mut head = Vec::new();
    source.reader()?.fill(&mut head, HEAD)?;
    let head = String::from_utf8_lossy(without_bom(&head));
    let first = head.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.trim_start().starts_with('{') {
        let key = serde_json::Value::from(column).to_string();
        return Ok(first.contains(&key).then_some(Format::Jsonl));
    }
    let delimiter = table::layout::delimiter(head.as_bytes()) as char;
    let has_it = first.split(delimiter).any(|cell| cell.trim().trim_matches('"') == column);
    Ok(has_it.then_some(Format::Csv))
}

/// An error if a file of this format cannot be read with the schema.
pub(crate) fn check_schema(file: &str, format: Format, schema: &Schema) -> Result<(), Error> {
    schema.check().map_err(|e| {
        Error::new(ErrorKind::Schema, file, format!("the model's schema is damaged: {e}"))
    })?;
    let same_kind = match schema.format {
        Some(learnt) => format == learnt || (format.is_table() && learnt.is_table()),
        // Arrays with names are as a table, those without as LIBSVM.
        None => format.is_table() || format == Format::Svmlight,
    };
    if same_kind && schema.columns.is_some() == format.is_table() {
        return Ok(());
    }
    let message = format!(
        "this is read as {format}, but the model was trained on {}, whose columns mean something else; \
         convert the file, or say options.format",
        schema.format.map_or("arrays".into(), |learnt| learnt.to_string())
    );
    Err(Error::new(ErrorKind::Schema, file, message))
}
