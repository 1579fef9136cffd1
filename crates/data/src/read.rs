//! From a source to a dataset: open, tell the format, hand over to its reader.

use std::path::PathBuf;

use crate::dataset::Dataset;
use crate::error::{Error, ErrorKind};
use crate::format::{self, Format};
use crate::options::ReadOptions;
use crate::schema::Schema;
use crate::source::{Bytes, Source};
use crate::{idx, svmlight, table};

/// Reads examples and learns what their columns and classes mean.
pub fn read(source: impl Into<Source>, options: &ReadOptions) -> Result<Dataset, Error> {
    let Opened { bytes, file, path, format } = Opened::new(source.into(), options)?;
    match format {
        Format::Svmlight => svmlight::read(&bytes, &file, options.target),
        Format::Csv | Format::Tsv | Format::Jsonl => table::read(&bytes, &file, format, options),
        Format::Idx => idx::read(&bytes, &file, path.as_deref(), options),
    }
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
    let Opened { bytes, file, path, format } = Opened::new(source.into(), options)?;
    schema.check().map_err(|e| {
        Error::new(ErrorKind::Schema, &file, format!("the model's schema is damaged: {e}"))
    })?;
    let same_kind = format == schema.format || (format.is_table() && schema.format.is_table());
    if !same_kind || schema.columns.is_some() != format.is_table() {
        let message = format!(
            "this is read as {format}, but the model was trained on {}, whose columns mean something else; \
             convert the file, or say --format",
            schema.format
        );
        return Err(Error::new(ErrorKind::Schema, &file, message));
    }
    match format {
        Format::Svmlight => svmlight::read_with(&bytes, &file, schema),
        Format::Csv | Format::Tsv | Format::Jsonl => {
            table::read_with(&bytes, &file, format, options, schema)
        }
        Format::Idx => idx::read_with(&bytes, &file, path.as_deref(), options, schema),
    }
}

struct Opened {
    bytes: Bytes,
    file: String,
    path: Option<PathBuf>,
    format: Format,
}

impl Opened {
    fn new(source: Source, options: &ReadOptions) -> Result<Self, Error> {
        let file = source.name();
        let path = match &source {
            Source::Path(path) => Some(path.clone()),
            Source::Stdin | Source::Memory { .. } => None,
        };
        let bytes = source.open()?;
        if bytes.is_empty() {
            return Err(Error::new(ErrorKind::Empty, &file, "the file is empty"));
        }
        let format = match options.format {
            Some(format) => format,
            None => format::guess(&file, &bytes)?,
        };
        Ok(Self { bytes, file, path, format })
    }
}
