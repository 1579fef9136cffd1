//! Cells as they are, to be carried into an output.

use std::ops::ControlFlow;

use serde_json::Value;

use super::convert::spelled;
use super::delimited::DelimitedRows;
use super::{Cell, Rows, Table, Want};
use crate::cells::Cells;
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::schema::Schema;

/// The cells of these columns, or of all if none is named, row by row.
pub(crate) fn cells(table: Table<'_>, schema: &Schema, names: &[String]) -> Result<Cells, Error> {
    let mut rows: Box<dyn Rows> = match table.format {
        Format::Csv | Format::Tsv => Box::new(DelimitedRows::open(table, Some(schema))?),
        _ => table.open(usize::MAX)?,
    };
    rows.find_more()?;
    let known = rows.names().to_vec();
    let place = |name: &String| {
        known.iter().position(|k| k == name).ok_or_else(|| {
            let message = format!(
                "there is no column {name:?} to keep; the columns are {}",
                known.join(", ")
            );
            Error::new(ErrorKind::Columns, table.file, message)
        })
    };
    let columns: Vec<usize> = match names {
        [] => (0..known.len()).collect(),
        names => names.iter().map(place).collect::<Result<_, _>>()?,
    };
    let mut wanted = vec![Want::No; known.len()];
    columns.iter().for_each(|&column| wanted[column] = Want::Yes);
    let mut found = Vec::new();
    table.replaced.reset();
    rows.for_each(&wanted, &mut |row| {
        found.push(columns.iter().map(|&column| value(row.cell(column))).collect());
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Cells { names: columns.iter().map(|&column| known[column].clone()).collect(), rows: found })
}

/// A cell as JSON. Text is a number only where the number is written as the text is.
fn value(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Missing => Value::Null,
        Cell::Text(text) => match serde_json::from_str::<serde_json::Number>(text) {
            Ok(number) if number.to_string() == text => Value::Number(number),
            _ => Value::from(text),
        },
        Cell::Json(json) => serde_json::from_str(&spelled(json)).unwrap_or_default(),
        Cell::Names([name]) => Value::from(*name),
        Cell::Names(names) => Value::from(names.to_vec()),
        Cell::Features(entries) => {
            entries.iter().map(|(name, v)| ((*name).to_owned(), Value::from(*v))).collect()
        }
    }
}
