//! JSON lines: one object a line, its keys the columns.

use std::collections::HashMap;

use rayon::prelude::*;

use super::json::Json;
use super::{Cell, Rows, TableRow};
use crate::error::{Error, ErrorKind, quote};

pub(super) struct JsonRows<'a> {
    file: &'a str,
    /// The lines that are not blank, with their numbers from 1.
    lines: Vec<(usize, &'a str)>,
    /// Keys in the order in which they first occur.
    names: Vec<String>,
}

/// Lines that are parsed side by side before they are walked in order.
const BLOCK: usize = 4096;

impl<'a> JsonRows<'a> {
    pub(super) fn open(text: &'a str, file: &'a str) -> Result<Self, Error> {
        let lines: Vec<(usize, &str)> =
            (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
        let mut rows = Self { file, lines, names: Vec::new() };
        let mut seen = HashMap::new();
        let mut names = Vec::new();
        rows.for_each_object(&mut |_, _, object| {
            for (key, _) in object {
                if !seen.contains_key(key.as_ref()) {
                    seen.insert(key.clone().into_owned(), names.len());
                    names.push(key.clone().into_owned());
                }
            }
            Ok(())
        })?;
        rows.names = names;
        Ok(rows)
    }

    #[expect(clippy::type_complexity, reason = "the callback's parts are the row's")]
    fn for_each_object(
        &self,
        f: &mut dyn FnMut(
            usize,
            &'a str,
            Vec<(std::borrow::Cow<'a, str>, Json<'a>)>,
        ) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for block in self.lines.chunks(BLOCK) {
            let parsed: Vec<_> = block.par_iter().map(|&(n, line)| self.parse(n, line)).collect();
            for (&(n, line), value) in block.iter().zip(parsed) {
                match value? {
                    Json::Object(object) => f(n, line, object)?,
                    other => {
                        let message = format!("{other} where an object {{…}} must be, one a line");
                        return Err(Error::in_line(
                            ErrorKind::Syntax,
                            self.file,
                            n,
                            Some(1),
                            message,
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn parse(&self, n: usize, line: &'a str) -> Result<Json<'a>, Error> {
        serde_json::from_str(line).map_err(|e| {
            // serde_json appends its own place, which counts from this line.
            let said = e.to_string();
            let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
            let message = format!("not valid JSON: {said}; each line must hold one whole object");
            Error::in_line(ErrorKind::Syntax, self.file, n, Some(e.column().max(1)), message)
        })
    }
}

impl Rows for JsonRows<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn for_each(&self, f: &mut dyn FnMut(&dyn TableRow) -> Result<(), Error>) -> Result<(), Error> {
        let places: HashMap<&str, usize> =
            self.names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        self.for_each_object(&mut |n, line, object| {
            let mut cells = vec![Json::Null; self.names.len()];
            for (key, value) in object {
                if let Some(&at) = places.get(key.as_ref()) {
                    cells[at] = value;
                }
            }
            f(&JsonRow { rows: self, n, line, cells })
        })
    }
}

struct JsonRow<'r> {
    rows: &'r JsonRows<'r>,
    n: usize,
    line: &'r str,
    cells: Vec<Json<'r>>,
}

impl TableRow for JsonRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match self.cells.get(column) {
            None | Some(Json::Null) => Cell::Missing,
            Some(value) => Cell::Json(value),
        }
    }

    /// Where the key first stands followed by a colon; the line alone if it is absent or has escapes.
    fn place(&self, column: usize) -> (usize, Option<usize>) {
        let name = self.rows.names.get(column).map(|name| format!("\"{name}\""));
        let found = name.and_then(|name| {
            self.line
                .match_indices(&name)
                .find(|(at, _)| self.line[at + name.len()..].trim_start().starts_with(':'))
        });
        (self.n, found.map(|(at, _)| at + 1))
    }
}

/// What a message calls a cell.
pub(super) fn show(cell: Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => quote(text),
        Cell::Json(value) => quote(value.to_string()),
        Cell::Missing => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_columns_in_order() {
        let rows = JsonRows::open("{\"b\":1}\n\n{\"a\":2,\"b\":null}\r\n", "t").unwrap();
        assert_eq!(rows.names(), ["b", "a"]);
        let mut seen = Vec::new();
        let walk = rows.for_each(&mut |row| {
            seen.push((show(row.cell(0)), show(row.cell(1)), row.place(0), row.place(1)));
            Ok(())
        });
        assert_eq!(walk, Ok(()));
        assert_eq!(seen[0], ("`1`".into(), "nothing".into(), (1, Some(2)), (1, None)));
        assert_eq!(seen[1], ("nothing".into(), "`2`".into(), (3, Some(8)), (3, Some(2))));
    }

    #[test]
    fn bad_lines_are_placed() {
        for (text, place) in [
            ("{\"a\":1}\n{\"a\":}\n", (Some(2), Some(6))),
            ("{\"a\":1} x\n", (Some(1), Some(9))),
            ("[1]\n", (Some(1), Some(1))),
            ("{\"a\":1\n", (Some(1), Some(6))),
            ("{\"a\":1e999}\n", (Some(1), Some(10))),
        ] {
            let error = JsonRows::open(text, "t").map(|_| ()).unwrap_err();
            assert_eq!((error.line, error.column), place, "{error}");
        }
    }
}
