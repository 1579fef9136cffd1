//! JSON lines: one object per line, its keys the columns. The keys of objects inside come after a dot: `user.age`; but for `features`, whose
//! object is one column.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use rayon::prelude::*;

use super::json::{Json, Values, keys, values};
use super::{Cell, Rows, Table, TableRow, Want};
use crate::blocks::{RowEnd, Step};
use crate::error::{Error, ErrorKind};
use crate::schema::{Column, ColumnKind, Schema};

pub(super) struct JsonRows<'a> {
    table: Table<'a>,
    /// Keys in the order in which they first occur, or the schema's.
    names: Names,
    /// Which of them a walk met, and whether it met others.
    seen: RefCell<SeenKeys>,
}

#[derive(Default)]
struct SeenKeys {
    names: Vec<bool>,
    others: bool,
}

/// Lines that a thread parses before it asks for more.
const LINES: usize = 64;

/// Cells of lines that are held at once: where each line has other keys, a block of a few megabytes has billions.
const CELLS: usize = 1 << 21;

impl<'a> JsonRows<'a> {
    /// Looks for names in the first rows, about as many as said. Rows are mostly alike, and where they are not, a walk
    /// tells.
    pub(super) fn open(table: Table<'a>, n_rows: usize) -> Result<Self, Error> {
        let mut rows = Self { table, names: Names::default(), seen: RefCell::default() };
        rows.names = rows.find_names(n_rows)?;
        Ok(rows)
    }

    /// Takes the names that a schema has, or the user says.
    pub(super) fn with(table: Table<'a>, schema: &Schema) -> Self {
        let mut names = Names::default();
        let used = |c: &&Column| !matches!(c.kind, ColumnKind::Ignored { .. });
        schema.columns.iter().flatten().filter(used).for_each(|c| names.add(&c.name));
        let said = [&table.options.label, &table.options.weight];
        said.into_iter().flatten().for_each(|name| names.add(name));
        Self { table, names, seen: RefCell::default() }
    }

    /// The keys of the first rows.
    fn find_names(&self, n_rows: usize) -> Result<Names, Error> {
        let mut names = Names::default();
        let mut n = 0;
        self.table.input.for_each_block(self.table.file, RowEnd::Newline, &mut |block| {
            let text = &*self.table.replaced.decode(&block, self.table.file)?;
            self.for_each_line(text, block.n_lines_before, &keys, &mut |_, _, keys| {
                keys.iter().for_each(|key| names.add(key));
                n += 1;
                Ok(if n < n_rows { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })
        })?;
        Ok(names)
    }

    /// Parses the lines of a text side by side and calls `f` with each in order: number, text, result.
    fn for_each_line<'t, T: Send>(
        &self,
        text: &'t str,
        before: usize,
        parse: &(impl Fn(&'t str) -> serde_json::Result<T> + Sync),
        f: &mut dyn FnMut(usize, &'t str, T) -> Step,
    ) -> Step {
        let lines: Vec<(usize, &str)> =
            (before + 1..).zip(lines(text)).filter(|(_, line)| !is_blank(line)).collect();
        for lines in lines.chunks((CELLS / self.names.len().max(1)).max(1)) {
            let parsed: Vec<serde_json::Result<T>> =
                lines.par_iter().with_min_len(LINES).map(|(_, line)| parse(line)).collect();
            for (&(n, line), parsed) in lines.iter().zip(parsed) {
                let step = f(n, line, parsed.map_err(|e| self.bad_line(n, line, &e))?)?;
                if step.is_break() {
                    return Ok(step);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    #[cold]
    fn bad_line(&self, n: usize, line: &str, e: &serde_json::Error) -> Error {
        let (column, message) = match serde_json::from_str::<Json<'_>>(line) {
            Ok(other) if !matches!(other, Json::Object(_)) => {
                (1, format!("{other} where an object {{…}} must be, one per line"))
            }
            _ => {
                // serde_json appends its own place, which counts from this line.
                let said = e.to_string();
                let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
                let message =
                    format!("not valid JSON: {said}; each line must hold one whole object");
                (e.column().max(1), message)
            }
        };
        Error::in_line(ErrorKind::Syntax, self.table.file, n, Some(column), message)
    }
}

impl Rows for JsonRows<'_> {
    fn names(&self) -> &[String] {
        &self.names.list
    }

    fn for_each(
        &self,
        wanted: &[Want],
        f: &mut dyn FnMut(&dyn TableRow) -> Step,
    ) -> Result<(), Error> {
        let names = &self.names;
        *self.seen.borrow_mut() = SeenKeys { names: vec![false; names.len()], others: false };
        self.table.input.for_each_block(self.table.file, RowEnd::Newline, &mut |block| {
            let parse = |line| values(line, names, wanted);
            let text = &*self.table.replaced.decode(&block, self.table.file)?;
            self.for_each_line(text, block.n_lines_before, &parse, &mut |n, line, object| {
                self.seen.borrow_mut().note(&object);
                f(&JsonRow { names: &names.list, n, line, cells: object.values })
            })
        })
    }

    fn find_more(&mut self) -> Result<bool, Error> {
        let names = self.find_names(usize::MAX)?;
        let more = names.len() > self.names.len();
        self.names = names;
        Ok(more)
    }

    fn has_more(&self) -> bool {
        self.seen.borrow().others
    }

    fn absent(&self, column: usize) -> bool {
        self.seen.borrow().names.get(column) == Some(&false)
    }
}

impl SeenKeys {
    fn note(&mut self, object: &Values<'_>) {
        self.others |= object.has_others;
        for (met, value) in self.names.iter_mut().zip(&object.values) {
            *met |= value.is_some();
        }
    }
}

fn is_blank(line: &str) -> bool {
    !line.starts_with('{') && line.trim().is_empty()
}

/// The lines of a text, without their ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text).filter(|text| !text.is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len());
        rest = text.get(end + 1..).filter(|rest| !rest.is_empty());
        Some(&text[..end])
    })
}

/// The columns' names, and where each is.
#[derive(Default)]
pub(super) struct Names {
    list: Vec<String>,
    places: HashMap<String, usize>,
    /// What stands before the dots of names: keys whose objects may hold columns.
    parents: HashSet<String>,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn name(&self, at: usize) -> &str {
        &self.list[at]
    }

    pub(super) fn add(&mut self, name: &str) {
        if self.find(name, 0).is_none() {
            self.places.insert(name.to_owned(), self.list.len());
            self.list.push(name.to_owned());
            let parents = name.match_indices('.').map(|(dot, _)| name[..dot].to_owned());
            self.parents.extend(parents);
        }
    }

    /// Whether an object under that key may hold columns.
    pub(super) fn is_parent(&self, key: &str) -> bool {
        !self.parents.is_empty() && self.parents.contains(key)
    }

    /// Where a name is. Rows mostly have the same keys in the same order, so `near` is looked at first.
    pub(super) fn find(&self, name: &str, near: usize) -> Option<usize> {
        if self.list.get(near).is_some_and(|n| n == name) {
            return Some(near);
        }
        self.places.get(name).copied()
    }
}

struct JsonRow<'r> {
    names: &'r [String],
    n: usize,
    line: &'r str,
    cells: Vec<Option<Json<'r>>>,
}

impl TableRow for JsonRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match self.cells.get(column) {
            None | Some(None | Some(Json::Null)) => Cell::Missing,
            Some(Some(value)) => Cell::Json(value),
        }
    }

    /// Where the key first stands followed by a colon; the line alone if it is absent or has escapes.
    fn place(&self, column: usize) -> (usize, Option<usize>) {
        let key = self.names.get(column).map(|name| name.rsplit('.').next().unwrap_or(name));
        let name = key.map(|key| format!("\"{key}\""));
        let found = name.and_then(|name| {
            self.line
                .match_indices(&name)
                .find(|(at, _)| self.line[at + name.len()..].trim_start().starts_with(':'))
        });
        (self.n, found.map(|(at, _)| at + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::show;
    use super::*;
    use crate::blocks::Input;
    use crate::format::Format;
    use crate::lossy::Replaced;
    use crate::options::ReadOptions;
    use crate::source::Bytes;

    fn walk(
        text: &str,
        n_rows: usize,
        f: &mut dyn FnMut(&dyn TableRow) -> Step,
    ) -> Result<Vec<String>, Error> {
        let input = Input::Whole(Bytes::Owned(text.into()));
        let options = ReadOptions::default();
        let table = Table {
            input: &input,
            file: "t",
            format: Format::Jsonl,
            options: &options,
            replaced: &Replaced::default(),
        };
        let mut rows = JsonRows::open(table, n_rows)?;
        rows.for_each(&vec![Want::Yes; rows.names().len()], f)?;
        if rows.has_more() {
            assert_eq!(rows.find_more(), Ok(true));
        }
        Ok(rows.names().to_vec())
    }

    #[test]
    fn keys_are_columns_in_order() {
        let text = "{\"b\":1}\n\n{\"a\":2,\"b\":null}\r\n";
        for n_rows in [1, 2, 9] {
            let mut seen = Vec::new();
            let names = walk(text, n_rows, &mut |row| {
                seen.push((show(row.cell(0)), show(row.cell(1)), row.place(0), row.place(1)));
                Ok(ControlFlow::Continue(()))
            });
            assert_eq!(names.unwrap(), ["b", "a"]);
            if n_rows > 1 {
                assert_eq!(seen[0], ("`1`".into(), "nothing".into(), (1, Some(2)), (1, None)));
                assert_eq!(seen[1], ("nothing".into(), "`2`".into(), (3, Some(8)), (3, Some(2))));
            }
        }
    }

    #[test]
    fn keys_of_objects_come_after_a_dot() {
        let text = "{\"u\":{\"a\":1,\"b\":{\"c\":\"x\"}},\"y\":1}\n{\"y\":2,\"u\":{\"b\":{},\"a\":3}}\n\
                    {\"u.a\":4,\"u\":null,\"y\":3,\"features\":{\"f\":1}}\n";
        let mut seen = Vec::new();
        let names = walk(text, 9, &mut |row| {
            seen.push((0..3).map(|c| show(row.cell(c))).collect::<Vec<_>>().join(" "));
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(names.unwrap(), ["u.a", "u.b.c", "y", "u", "features"]);
        assert_eq!(seen, ["`1` `\"x\"` `1`", "`3` nothing `2`", "`4` nothing `3`"]);
        let twice = "{\"u\":{\"a\":1}}\n{\"u\":{\"a\":1},\"u.a\":2}\n";
        let error = walk(twice, 9, &mut |_| Ok(ControlFlow::Continue(()))).unwrap_err();
        assert!(error.message.contains("given twice"), "{error}");
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
            let nothing = &mut |_: &dyn TableRow| Ok(ControlFlow::Continue(()));
            let error = walk(text, 9, nothing).unwrap_err();
            assert_eq!((error.line, error.column), place, "{error}");
        }
    }
}
