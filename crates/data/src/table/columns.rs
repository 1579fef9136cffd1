//! Which column of a file is which of the schema's.

use std::collections::HashMap;

use super::{Rows, Table};
use crate::error::{Error, ErrorKind, printable};
use crate::schema::{ColumnKind, Schema};

/// For each column of the schema that the file has: where it is, and what for.
pub(super) fn find<'s>(
    schema: &'s Schema,
    rows: &dyn Rows,
    table: Table<'_>,
) -> Result<Vec<(usize, &'s ColumnKind)>, Error> {
    let (names, options) = (rows.names(), table.options);
    let columns = schema.columns.as_deref().unwrap_or_default();
    let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let find = |name: &str| places.get(name).copied();
    let said = |name: &Option<String>| match name {
        None => Ok(None),
        Some(name) => find(name).map(Some).ok_or_else(|| no_column(table.file, name, names)),
    };
    let (label, weight) = (said(&options.label)?, said(&options.weight)?);
    let query = said(&options.query)?;
    let n_text = schema.text_columns().count();
    let mut use_of = Vec::new();
    for column in columns {
        let named = find(&column.name);
        let own = || rows.column_for(&column.kind);
        let at = match &column.kind {
            ColumnKind::Ignored { .. } => continue,
            ColumnKind::Label => label.or_else(own).or(named),
            ColumnKind::Weight => weight.or_else(own).or(named),
            ColumnKind::Query => Some(required(query.or(named), &column.name, names, table.file)?),
            // Names inside may all be absent.
            ColumnKind::Named { .. } => own().or(named),
            // A format's one text is the model's one text.
            ColumnKind::Text { .. } if n_text == 1 => {
                Some(required(own().or(named), &column.name, names, table.file)?)
            }
            _ => Some(required(named, &column.name, names, table.file)?),
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

fn required(at: Option<usize>, name: &str, names: &[String], file: &str) -> Result<usize, Error> {
    at.ok_or_else(|| {
        let message = format!(
            "there is no column {name:?}, which the model was trained with; {}",
            list(names)
        );
        Error::new(ErrorKind::Schema, file, message)
    })
}

/// An error if a column that must be there was in no row.
pub(super) fn check_present(
    use_of: &[(usize, &ColumnKind)],
    rows: &dyn Rows,
    table: Table<'_>,
) -> Result<(), Error> {
    for (column, kind) in use_of.iter().filter(|(column, _)| rows.absent(*column)) {
        let name = &rows.names()[*column];
        let said =
            [&table.options.label, &table.options.weight].map(|said| said.as_ref() == Some(name));
        let optional =
            matches!(kind, ColumnKind::Label | ColumnKind::Weight | ColumnKind::Named { .. });
        if !optional || said.contains(&true) {
            let why = if optional { "was asked for" } else { "the model was trained with" };
            let message = format!("no row has {name:?}, which {why}; check the names");
            return Err(Error::new(ErrorKind::Schema, table.file, message));
        }
    }
    Ok(())
}

/// A column was named that the file does not have.
pub(super) fn no_column(file: &str, name: &str, names: &[String]) -> Error {
    let message = format!("there is no column {name:?}; {}", list(names));
    Error::new(ErrorKind::Columns, file, message)
}

/// An error if the schema has text columns, for a reader that nobody takes the text from.
pub(super) fn refuse_text(schema: &Schema, file: &str) -> Result<(), Error> {
    match schema.text_columns().next() {
        None => Ok(()),
        Some(name) => Err(needs_sink(file, name)),
    }
}

/// A column is text, and there is no sink for it.
pub(crate) fn needs_sink(file: &str, name: &str) -> Error {
    let message = format!(
        "column {name:?} is text, which needs a sink that makes features of it: read_text, read_text_with, or read_features of \
         the crate lineal"
    );
    Error::new(ErrorKind::Columns, file, message)
}

/// The columns for a message.
pub(super) fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| printable(name)).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let is_text = names.iter().all(|name| !name.contains('\0'));
    let not_text =
        if is_text { "" } else { "; there are bytes of 0 in them, so this is hardly a table" };
    format!("the columns are {}{more}{not_text}", shown.join(", "))
}
