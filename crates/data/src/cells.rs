//! Columns of a file that are carried along, whatever a model makes of the others.

use serde_json::Value;

use crate::encoding::in_utf8_with;
use crate::error::{Error, ErrorKind};
use crate::lossy::Replaced;
use crate::options::ReadOptions;
use crate::read::{HEAD, tell_format};
use crate::schema::Schema;
use crate::source::Source;
use crate::table::{self, Table};

/// Cells of some columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The columns.
    pub names: Vec<String>,
    /// For each row a value for each column: of csv and tsv text, and numbers where they are written as JSON writes them.
    pub rows: Vec<Vec<Value>>,
}

/// Reads the cells of these columns, or of all if none is named, of a file that is otherwise read with a schema: the same rows.
///
/// ```
/// use lineal_data::{ReadOptions, Source, read, read_cells};
///
/// let csv = Source::Memory { name: "a.csv".into(), bytes: b"id,x,label\n007,1,a\n8,2,b\n".to_vec() };
/// let options = ReadOptions::default();
/// let schema = read(&csv, &options)?.schema;
/// let cells = read_cells(&csv, &options, &schema, &["id".to_owned()])?;
/// assert_eq!(cells.rows, [["007".into()], [serde_json::Value::from(8)]]);
/// # Ok::<(), lineal_data::Error>(())
/// ```
pub fn read_cells(
    source: impl Into<Source>,
    options: &ReadOptions,
    schema: &Schema,
    names: &[String],
) -> Result<Cells, Error> {
    let source = in_utf8_with(source.into(), options, schema)?;
    let file = &source.name();
    let head = source.peek(HEAD)?;
    let input = &source.input()?;
    let head = head.map_or_else(|| input.head(HEAD), Ok)?;
    let format = tell_format(file, options, &head)?;
    if !format.is_table() {
        let message = format!("{format} has no columns with names to keep");
        return Err(Error::new(ErrorKind::Columns, file, message));
    }
    let replaced = &Replaced::new(!options.strict);
    table::cells(Table { input, file, format, options, replaced }, schema, names)
}
