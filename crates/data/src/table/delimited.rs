//! Comma- and tab-separated values, or with another separator: the header, and rows as wide as it.
//!
//! Commas follow RFC 4180: a cell in quotes may hold commas, quotes (doubled) and line ends. Tabs follow
//! IANA's text/tab-separated-values, where quotes mean nothing: in running text a stray one would swallow
//! the rows after it. A cell that is wholly in quotes, as pandas writes it, is unquoted all the same.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::learn::first_and_count;
use super::{Cell, Rows, Table, TableRow, Want, layout, plain, quoted};
use crate::blocks::{Block, RowEnd, Step};
use crate::error::{Error, ErrorKind, count, quote};
use crate::format::Format;
use crate::read::HEAD;
use crate::schema::{ColumnKind, Schema};
use crate::source::without_bom;

pub(super) struct DelimitedRows<'a> {
    table: Table<'a>,
    delimiter: u8,
    names: Vec<String>,
    /// Whether the file begins with a line such as `sep=;`, by which Excel is told the separator.
    has_separator_line: bool,
    /// Whether the first row names the columns.
    has_header: bool,
    /// Whether that was guessed from the rows, not given by the user or the schema.
    is_guessed: bool,
    decimal_comma: bool,
    warnings: Vec<String>,
}

/// A row before it is known to be as wide as the header.
pub(super) trait Record: TableRow {
    fn n_cells(&self) -> usize;
    /// How many lines it spans.
    fn n_lines(&self) -> usize;
}

impl<'a> DelimitedRows<'a> {
    pub(super) fn open(table: Table<'a>, schema: Option<&Schema>) -> Result<Self, Error> {
        let head = table.input.head(HEAD)?;
        let separator_line = layout::separator_line(without_bom(&head));
        let delimiter = match (table.options.delimiter, table.format) {
            (Some(delimiter), _) => delimiter,
            (None, Format::Tsv) => b'\t',
            (None, _) if separator_line.is_some() => separator_line.unwrap_or(b','),
            (None, _) => {
                let first = head.split(|&b| b == b'\n').next().unwrap_or_default();
                let remembered = schema.and_then(|schema| schema.delimiter);
                match remembered.filter(|delimiter| first.contains(delimiter)) {
                    Some(delimiter) => delimiter,
                    None => layout::delimiter(&head),
                }
            }
        };
        let mut rows = Self {
            table,
            delimiter,
            names: Vec::new(),
            has_separator_line: separator_line.is_some(),
            has_header: true,
            is_guessed: false,
            decimal_comma: false,
            warnings: Vec::new(),
        };
        let mut all = rows.first_rows()?.into_iter();
        if rows.has_separator_line {
            all.next();
        }
        let Some(first) = all.next() else {
            return Err(Error::new(ErrorKind::Empty, table.file, "the file is empty"));
        };
        rows.decimal_comma = match schema {
            _ if delimiter == b';' => true,
            Some(schema) => schema.decimal_comma,
            None => layout::has_decimal_commas(all.as_slice()),
        };
        let mut extra = layout::extra_cell(&first, all.as_slice());
        rows.has_header = match (table.options.header, schema) {
            (Some(said), _) => said,
            (None, Some(schema)) => !schema.no_header,
            (None, None) => {
                rows.is_guessed = true;
                table.options.names_one_of(&first)
                    || extra.is_some()
                    || layout::has_header(&first, all.as_slice())
            }
        };
        // Of a single row one cannot tell, and it may be the header that is wrong.
        extra = extra.filter(|_| rows.has_header && all.len() > 1);
        if rows.has_header {
            let mut first = first;
            match extra {
                Some(layout::Extra::RowNames) => {
                    rows.warnings.push(format!(
                        "{}:1: each row has one cell more than the header; the first cell is taken for the name of the row",
                        table.file
                    ));
                    first.insert(0, String::new());
                }
                Some(layout::Extra::Nothing) => first.push(String::new()),
                None => {}
            }
            let name = |(i, name): (usize, String)| {
                if name.is_empty() { (i + 1).to_string() } else { name }
            };
            rows.names = first.into_iter().enumerate().map(name).collect();
            rows.tell_names_apart()?;
        } else {
            rows.names = positions(first.len(), schema);
            if rows.is_guessed {
                rows.warnings.push(format!(
                    "{}:1: the first row looks like data, so the columns are called 1, 2, …; if it names them, say options.header = true",
                    table.file
                ));
            }
        }
        Ok(rows)
    }

    /// The cells of the first rows, as many as tell the layout.
    fn first_rows(&self) -> Result<Vec<Vec<String>>, Error> {
        const ROWS: usize = 100;
        let mut first: Vec<Vec<String>> = Vec::new();
        let start = self.table.input.first_block(self.table.file, self.row_end())?;
        let _: ControlFlow<()> =
            self.walk_block(Block { text: &start, n_lines_before: 0 }, &mut |record| {
                let cells = (0..record.n_cells()).map(|column| match record.cell(column) {
                    Cell::Text(text) => text.to_owned(),
                    _ => String::new(),
                });
                first.push(cells.collect());
                let enough = first.len() == ROWS;
                Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
        Ok(first)
    }

    fn row_end(&self) -> RowEnd {
        match self.delimiter {
            b'\t' => RowEnd::Newline,
            delimiter => RowEnd::Unquoted { delimiter },
        }
    }

    /// Calls `f` for each record of a block, the header too, until it stops.
    fn walk_block(&self, block: Block<'_>, f: &mut dyn FnMut(&dyn Record) -> Step) -> Step {
        let (file, before) = (self.table.file, block.n_lines_before);
        let decoded = self.table.replaced.decode(&block, file)?;
        let text = &*match self.delimiter {
            layout::SPACES => Cow::Owned(layout::squeeze(&decoded)),
            _ => decoded,
        };
        if self.delimiter == b'\t' || plain::suits(text) {
            plain::walk(text, self.delimiter, before, f)
        } else {
            quoted::walk(text, file, self.delimiter, before, f)
        }
    }

    /// Gives each column its own name, as pandas does: the second `size` is `size.1`. With `options.strict` that is an error.
    fn tell_names_apart(&mut self) -> Result<(), Error> {
        const MOST_TOLD: usize = 10;
        let mut taken: HashSet<String> = self.names.iter().cloned().collect();
        // With the next number that may be free, so that thousands of equal names are not counted through for each.
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut renamed = Vec::new();
        for name in &mut self.names {
            let Some(k) = seen.get_mut(&*name) else {
                seen.insert(name.clone(), 1);
                continue;
            };
            let old = name.clone();
            if self.table.options.strict {
                let message = format!(
                    "two columns are named {}; give each its own name, or say options.header = false if the first row is data",
                    quote(&old)
                );
                return Err(Error::in_line(ErrorKind::Columns, self.table.file, 1, None, message));
            }
            while !taken.insert(format!("{old}.{k}")) {
                *k += 1;
            }
            *name = format!("{old}.{k}");
            seen.insert(name.clone(), 1);
            renamed.push(format!(
                "{}:1: two columns are named {}; the later one is called {}",
                self.table.file,
                quote(&old),
                quote(&*name)
            ));
        }
        // A few are all told, and of many the first.
        match renamed.len() > MOST_TOLD {
            true => self.warnings.extend(first_and_count(renamed)),
            false => self.warnings.extend(renamed),
        }
        Ok(())
    }

    fn ragged(&self, record: &dyn Record) -> Error {
        let (line, _) = record.place(0);
        let spans = match record.n_lines() {
            1 => String::new(),
            n => format!(" (the row spans {n} lines: is a quote left open?)"),
        };
        let message = format!(
            "{}, but the first row has {}{spans}; give each row the same number of fields, and put \
             cells that hold the separator in quotes",
            count(record.n_cells(), "field"),
            self.names.len()
        );
        Error::in_line(ErrorKind::Syntax, self.table.file, line, None, message)
    }
}

impl Rows for DelimitedRows<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn for_each(
        &self,
        _wanted: &[Want],
        f: &mut dyn FnMut(&dyn TableRow) -> Step,
    ) -> Result<(), Error> {
        let mut n_skipped = usize::from(self.has_header) + usize::from(self.has_separator_line);
        self.table.input.for_each_block(self.table.file, self.row_end(), &mut |block| {
            self.walk_block(block, &mut |record| {
                if n_skipped > 0 {
                    n_skipped -= 1;
                    return Ok(ControlFlow::Continue(()));
                }
                if record.n_cells() != self.names.len() {
                    return Err(self.ragged(record));
                }
                f(record)
            })
        })
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn decimal_comma(&self) -> bool {
        self.decimal_comma
    }

    fn no_header(&self) -> bool {
        !self.has_header
    }
}

/// "1", "2", …. Where the model's file had one column more, its label: the file to predict lacks it.
fn positions(n: usize, schema: Option<&Schema>) -> Vec<String> {
    let columns = schema.and_then(|s| s.columns.as_deref()).unwrap_or_default();
    if columns.len() == n + 1 && columns.iter().any(|c| c.kind == ColumnKind::Label) {
        let rest = columns.iter().filter(|c| c.kind != ColumnKind::Label);
        return rest.map(|c| c.name.clone()).collect();
    }
    (1..=n).map(|i| i.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Input;
    use crate::lossy::Replaced;
    use crate::options::ReadOptions;
    use crate::source::Bytes;

    fn walk(text: &str, delimiter: u8, header: bool) -> Result<Vec<Vec<String>>, Error> {
        let options = ReadOptions {
            header: Some(header),
            delimiter: Some(delimiter),
            ..ReadOptions::default()
        };
        let input = Input::Whole(Bytes::Owned(text.into()));
        let table = Table {
            input: &input,
            file: "t",
            format: Format::Csv,
            options: &options,
            replaced: &Replaced::default(),
        };
        let rows = DelimitedRows::open(table, None)?;
        let mut all = vec![rows.names().to_vec()];
        rows.for_each(&[], &mut |row| {
            let cell = |c| match row.cell(c) {
                Cell::Text(text) => {
                    let (line, column) = row.place(c);
                    format!("{text}@{line}:{}", column.unwrap_or(0))
                }
                _ => String::new(),
            };
            all.push((0..rows.names().len()).map(cell).collect());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    #[test]
    fn cells_know_their_place() {
        let text = "a,b ,\r\n\r\n1,\"x,\ny\"\"z\", 3\n\n4,5,6";
        let rows = walk(text, b',', true).unwrap();
        assert_eq!(rows[0], ["a", "b", "3"]);
        assert_eq!(rows[1], ["1@3:1", "x,\ny\"z@3:3", "3@4:7"]);
        assert_eq!(rows[2], ["4@6:1", "5@6:3", "6@6:5"]);
    }

    #[test]
    fn plain_and_quoted_walks_agree() {
        let text = " a,b ,\r\n\r\n\n1,, 3\n4,é , 6\r\n\n7,8,9";
        let plain = walk(text, b',', true).unwrap();
        assert_eq!(plain[2], ["4@5:1", "é@5:3", "6@5:7"]);
        let quoted = walk(&text.replace("9", "\"9\""), b',', true).unwrap();
        assert_eq!(plain, quoted);
    }

    #[test]
    fn stray_quotes_in_a_tsv_stay() {
        let text = "y\ttext\n0\t\" so it goes\n1\t\"a\" and \"b\"\n1\t\"say \"\"hi\"\"\"\n";
        let rows = walk(text, b'\t', true).unwrap();
        assert_eq!(rows[1][1], "\" so it goes@2:3");
        assert_eq!(rows[2][1], "\"a\" and \"b\"@3:3");
        assert_eq!(rows[3][1], "say \"hi\"@4:3");
    }

    #[test]
    fn ragged_rows_are_errors_and_twin_names_are_numbered() {
        let error = walk("a,b\n1,2\n\n3\n", b',', true).unwrap_err();
        assert!(error.to_string().starts_with("t:4: 1 field, but the first row has 2"), "{error}");
        let error = walk("a,b\n1,\"2\n3,4\n5,6\n", b',', true).unwrap_err();
        assert!(error.to_string().starts_with("t:2:3: a quote is opened here"), "{error}");
        let rows = walk("a,b,a,a.1,a\n1,2,3,4,5\n", b',', true).unwrap();
        assert_eq!(rows[0], ["a", "b", "a.2", "a.1", "a.3"]);
        assert_eq!(walk("1,0,0\n", b',', false).unwrap()[1], ["1@1:1", "0@1:3", "0@1:5"]);
    }
}
