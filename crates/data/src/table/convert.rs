//! A table in another format, cell by cell: nothing is guessed, and nothing is lost without a word.

use std::io::{self, Write};
use std::ops::ControlFlow;

use super::json::Json;
use super::target::for_each_label;
use super::{Cell, LABEL_PREFIX, Rows, Table, TableRow, Want, learn};
use crate::convert::Converted;
use crate::error::{Error, ErrorKind, quote};
use crate::format::Format;
use crate::schema::ColumnKind;

/// Writes all rows.
pub(crate) fn convert(
    table: Table<'_>,
    to: Format,
    out: &mut dyn Write,
) -> Result<Converted, Error> {
    let mut rows = table.open(usize::MAX)?;
    rows.find_more()?;
    let mut warnings = rows.warnings();
    let form = match to {
        Format::Csv | Format::Tsv => {
            let delimiter = if to == Format::Csv { ',' } else { '\t' };
            let names: Vec<&str> = rows.names().iter().map(String::as_str).collect();
            header(&names, delimiter, out).map_err(|e| failed(table.file, &e))?;
            Form::Delimited(delimiter)
        }
        Format::Jsonl => Form::Objects,
        _ => {
            let learnt = learn::learn(&*rows, table, usize::MAX)?;
            let (mut label, mut texts, mut others) = (None, Vec::new(), Vec::new());
            for (at, column) in learnt.schema.columns.iter().flatten().enumerate() {
                match column.kind {
                    ColumnKind::Label => label = Some(at),
                    ColumnKind::Text { .. } => texts.push(at),
                    _ => others.push(column.name.as_str()),
                }
            }
            if !others.is_empty() {
                let others = others.join(", ");
                let message = "fastText has labels and text alone: not written are";
                warnings.push(format!("{}: {message} {others}", table.file));
            }
            Form::FastText { label, texts }
        }
    };
    let mut n_rows = 0;
    let wanted = vec![Want::Yes; rows.names().len()];
    let mut line = Vec::new();
    table.replaced.reset();
    rows.for_each(&wanted, &mut |row| {
        line.clear();
        form.row(&*rows, table, row, &mut line)?;
        line.push(b'\n');
        out.write_all(&line).map_err(|e| failed(table.file, &e))?;
        n_rows += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    warnings.extend(table.replaced.warning(table.file));
    Ok(Converted { n_rows, warnings })
}

fn failed(file: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, file, format!("the rows cannot be written: {error}"))
}

fn header(names: &[&str], delimiter: char, out: &mut dyn Write) -> io::Result<()> {
    let cells: Vec<String> = names.iter().map(|name| quoted(name, delimiter)).collect();
    writeln!(out, "{}", cells.join(&delimiter.to_string()))
}

/// How a row is written.
enum Form {
    Delimited(char),
    Objects,
    FastText { label: Option<usize>, texts: Vec<usize> },
}

impl Form {
    fn row(
        &self,
        rows: &dyn Rows,
        table: Table<'_>,
        row: &dyn TableRow,
        line: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let refuse = |column: usize, message: String| {
            let (at, place) = row.place(column);
            let message = format!("column {:?}: {message}", rows.names()[column]);
            Error::in_line(ErrorKind::Value, table.file, at, place, message)
        };
        let separator = table.options.label_separator;
        match self {
            Form::Delimited(delimiter) => {
                for column in 0..rows.names().len() {
                    let text = plain(row.cell(column), separator)
                        .ok_or_else(|| refuse(column, TOO_MANY.to_owned()))?;
                    if *delimiter == '\t' && text.contains(['\t', '\n', '\r']) {
                        let why = "has a tab or a line end in it, which tsv cannot hold; write csv or jsonl";
                        return Err(refuse(column, format!("{} {why}", quote(&text))));
                    }
                    if column > 0 {
                        line.push(*delimiter as u8);
                    }
                    line.extend(quoted(&text, *delimiter).bytes());
                }
            }
            Form::Objects => {
                line.push(b'{');
                let mut first = true;
                for (column, name) in rows.names().iter().enumerate() {
                    let value = match row.cell(column) {
                        Cell::Missing => continue,
                        cell => value(cell),
                    };
                    if !std::mem::take(&mut first) {
                        line.push(b',');
                    }
                    line.extend(serde_json::Value::from(name.as_str()).to_string().bytes());
                    line.push(b':');
                    line.extend(value.bytes());
                }
                line.push(b'}');
            }
            Form::FastText { label, texts } => {
                let mut bad = None;
                if let Some(column) = label {
                    let mut add = |name: &str| {
                        if name.is_empty() || name.contains(char::is_whitespace) {
                            bad.get_or_insert(name.to_owned());
                        }
                        line.extend(LABEL_PREFIX.bytes().chain(name.bytes()));
                        line.push(b' ');
                    };
                    match row.cell(*column) {
                        Cell::Missing => {}
                        cell @ (Cell::Text(_) | Cell::Json(_))
                            if table.options.target != crate::TargetKind::Labels =>
                        {
                            add(&plain(cell, separator).unwrap_or_default());
                        }
                        cell => {
                            let _ = for_each_label(cell, separator, &mut add);
                        }
                    }
                    if let Some(name) = bad {
                        let why =
                            "is empty or has a space in it, which fastText cannot hold; rename it";
                        return Err(refuse(*column, format!("label {} {why}", quote(name))));
                    }
                }
                let texts = texts.iter().filter_map(|&at| plain(row.cell(at), separator));
                let text = texts.collect::<Vec<String>>().join(" ");
                // A row is a line there, and a line end in the text is one more space.
                line.extend(text.bytes().map(|b| if b == b'\n' || b == b'\r' { b' ' } else { b }));
            }
        }
        Ok(())
    }
}

const TOO_MANY: &str = "named numbers have no columns of their own; write jsonl or libsvm";

/// A cell as text without types; `None` for named numbers.
fn plain(cell: Cell<'_>, separator: char) -> Option<String> {
    match cell {
        Cell::Missing => Some(String::new()),
        Cell::Text(text) => Some(text.to_owned()),
        Cell::Json(value) => {
            Some(value.name().map_or_else(|| spelled(value), |name| name.into_owned()))
        }
        Cell::Names(names) => Some(names.join(&separator.to_string())),
        Cell::Features(_) => None,
    }
}

/// A cell as JSON. What reads as a number is one.
fn value(cell: Cell<'_>) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    match cell {
        Cell::Text(cell) if serde_json::from_str::<serde_json::Number>(cell).is_ok() => {
            cell.to_owned()
        }
        Cell::Text(cell) => text(cell),
        Cell::Names([name]) => text(name),
        Cell::Names(names) => serde_json::Value::from(names.to_vec()).to_string(),
        Cell::Features(entries) => {
            let pairs: Vec<String> =
                entries.iter().map(|(name, v)| format!("{}:{v}", text(name))).collect();
            format!("{{{}}}", pairs.join(","))
        }
        Cell::Json(value) => spelled(value),
        Cell::Missing => "null".to_owned(),
    }
}

/// JSON as it is written.
pub(super) fn spelled(value: &Json<'_>) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    match value {
        Json::Null => "null".to_owned(),
        Json::Text(cell) => text(cell),
        Json::List(list) => {
            format!("[{}]", list.iter().map(spelled).collect::<Vec<_>>().join(","))
        }
        Json::Object(entries) => {
            let pairs = entries.iter().map(|(key, v)| format!("{}:{}", text(key), spelled(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
        Json::Escaped(raw) => format!("\"{raw}\""),
        other => other.name().unwrap_or_default().into_owned(),
    }
}

/// A cell by RFC 4180; in a tsv, quotes mean nothing.
fn quoted(cell: &str, delimiter: char) -> String {
    let plain = !cell.contains([delimiter, '"', '\n', '\r']) && cell.trim() == cell;
    if delimiter == '\t' || plain {
        return cell.to_owned();
    }
    format!("\"{}\"", cell.replace('"', "\"\""))
}
