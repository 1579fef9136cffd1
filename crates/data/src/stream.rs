//! Files larger than memory: chunks of rows, one after the other.

use std::ops::ControlFlow;

use crate::blocks::Input;
use crate::dataset::Dataset;
use crate::encoding::{in_utf8, in_utf8_with};
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::lossy::Replaced;
use crate::options::ReadOptions;
use crate::read::{
    HEAD, check_columns, check_schema, may_replace, may_replace_with, tell_format, tell_format_with,
};
use crate::schema::Schema;
use crate::source::Source;
use crate::svmlight;
use crate::table::{self, Table};
use crate::text::TextBatch;

/// What a walk over a file leaves.
#[derive(Clone, Debug)]
pub struct Learnt {
    /// What columns and classes mean.
    pub schema: Schema,
    /// How many rows were looked at.
    pub n_rows: usize,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Takes a chunk, with the text of its rows if the schema has text columns, and says whether to go on.
pub type OnChunk<'a> =
    &'a mut dyn FnMut(Dataset, Option<&TextBatch>) -> Result<ControlFlow<()>, Error>;

/// Walks a file in chunks of `rows_per_chunk` rows, read with a schema as by
/// [`read_with`](crate::read_with). Memory is that of a chunk, however long the file is.
///
/// The last chunk may be shorter, and any that reaches 64 MB of text. Of a chunk in which no row has a label,
/// `y` is [`Targets::None`](crate::Targets::None), or empty sets. With `options.grow_classes` labels that the
/// schema does not have become new classes, with ids in the order in which they come: a chunk's schema has the
/// names so far, and the result's all of them. Chunks have no warnings; the result has those of the whole walk.
///
/// For grades ([`TargetKind::Grades`](crate::TargetKind::Grades)) queries are not cut: a chunk ends with the first query that ends after so many rows, and memory is that
/// of the largest query if this is more, and of the names of all queries, which must not come back.
///
/// Of LIBSVM, features beyond `schema.n_read()` are left out and counted, so a schema may have any number.
/// IDX files are not streamed.
///
/// ```
/// use std::ops::ControlFlow;
/// use lineal_data::{ReadOptions, Source, learn_schema, stream};
///
/// let file = Source::Memory { name: "a.svm".into(), bytes: b"1 1:1\n2 2:1\n1 1:2\n".to_vec() };
/// let schema = learn_schema(&file, &ReadOptions::default(), 2)?.schema;
/// let mut n_rows = Vec::new();
/// stream(&file, &ReadOptions::default(), &schema, 2, &mut |chunk, _| {
///     n_rows.push(chunk.n_rows());
///     Ok(ControlFlow::Continue(()))
/// })?;
/// assert_eq!(n_rows, [2, 1]);
/// # Ok::<(), lineal_data::Error>(())
/// ```
pub fn stream(
    source: impl Into<Source>,
    options: &ReadOptions,
    schema: &Schema,
    rows_per_chunk: usize,
    f: OnChunk<'_>,
) -> Result<Learnt, Error> {
    let source = in_utf8_with(source.into(), options, schema)?;
    let file = &source.name();
    let input = &source.streamed()?;
    let format = tell_format_with(file, options, &input.head(HEAD)?, schema)?;
    check_schema(file, format, schema)?;
    check_columns(file, format, options)?;
    let rows_per_chunk = rows_per_chunk.max(1);
    match format {
        Format::Idx => Err(not_streamed(file)),
        Format::Svmlight => {
            svmlight::stream(input, file, schema, options.grow_classes, rows_per_chunk, f)
        }
        _ => {
            let replaced = &Replaced::new(may_replace_with(schema, options));
            let table = Table { input, file, format, options, replaced };
            table::stream(table, schema, rows_per_chunk, f)
        }
    }
}

/// Learns columns, types and classes from the first `sample_rows` rows, for a [`stream`].
///
/// What only comes later is not known then: categories, named features and LIBSVM indices are left out as by
/// [`read_with`](crate::read_with), and labels too unless `options.grow_classes` is set.
pub fn learn_schema(
    source: impl Into<Source>,
    options: &ReadOptions,
    sample_rows: usize,
) -> Result<Learnt, Error> {
    learn(source.into(), options, sample_rows, false)
}

/// The same for the label alone: other columns of a table are not looked at.
pub(crate) fn learn_label(
    source: Source,
    options: &ReadOptions,
    sample_rows: usize,
) -> Result<Learnt, Error> {
    learn(source, options, sample_rows, true)
}

fn learn(
    source: Source,
    options: &ReadOptions,
    sample_rows: usize,
    only_label: bool,
) -> Result<Learnt, Error> {
    let source = in_utf8(source, options)?;
    let file = &source.name();
    if matches!(source, Source::Stdin) {
        return Err(comes_once(file));
    }
    let input = &source.streamed()?;
    if matches!(input, Input::Once(_)) {
        return Err(comes_once(file));
    }
    let format = tell_format(file, options, &input.head(HEAD)?)?;
    check_columns(file, format, options)?;
    let sample_rows = sample_rows.max(1);
    match format {
        Format::Idx => Err(not_streamed(file)),
        Format::Svmlight => svmlight::learn_schema(input, file, options.target, sample_rows),
        _ => {
            let replaced = &Replaced::new(may_replace(format, options));
            let table = Table { input, file, format, options, replaced };
            table::learn_schema(table, sample_rows, only_label)
        }
    }
}

/// The rows that a schema was learnt from would be missing in the stream after it.
fn comes_once(file: &str) -> Error {
    let message = "standard input and pipes can be walked once, and a look at the first rows is a walk; keep what \
                   it takes (Source::kept), or save them to a file";
    Error::new(ErrorKind::Io, file, message)
}

fn not_streamed(file: &str) -> Error {
    let message = "IDX files are not streamed; read them as a whole";
    Error::new(ErrorKind::Format, file, message)
}
