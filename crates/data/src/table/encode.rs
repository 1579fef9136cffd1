//! Cells to features, labels, weights and text.

use std::collections::{BTreeMap, HashMap};

use super::dates;
use super::json::Json;
use super::matrix::FeatureRows;
use super::profile::is_missing;
use super::quick::unescape_into;
use super::target::{Mode, TargetColumn, is_unlabelled};
use super::{Cell, Rows, Table, TableRow, Want, show};
use crate::dataset::Dataset;
use crate::error::{Error, ErrorKind, argument, count, quote, thousands};
use crate::format::Format;
use crate::number::{parse_f32, parse_f64, parse_number};
use crate::queries::{Queries, QueryIndex, uneven_weights};
use crate::schema::{ColumnKind, Schema, TargetKind, bucket_of};
use crate::text::TextBatch;

/// Rows on their way into datasets.
pub(super) struct Encoder<'a> {
    names: &'a [String],
    table: Table<'a>,
    schema: &'a Schema,
    mode: Mode,
    /// Whether a comma in a number stands before its fraction.
    comma: bool,
    /// What each column of the file is for, features in the schema's order.
    use_of: Vec<(usize, &'a ColumnKind)>,
    /// Where the names of `features` are.
    named: HashMap<&'a str, usize>,
    /// Those of the row at work.
    found: Vec<(usize, f64)>,
    /// Hashed values of the row at work, which come after all others.
    hashed: Vec<usize>,
    x: FeatureRows,
    target: TargetColumn,
    /// The column with the label, where rows without one are left out.
    needs_label: Option<usize>,
    /// How many these are, and the line of the first.
    unlabelled: (usize, usize),
    weights: Vec<f32>,
    queries: Queries,
    seen_queries: QueryIndex,
    text: TextBatch,
    /// By column: how many numbers were missing, and what stands for them.
    missing: BTreeMap<usize, (usize, f32)>,
    /// By column: how many cells had a value that training did not see, and the first.
    unseen: BTreeMap<usize, (usize, String)>,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(
        rows: &'a dyn Rows,
        table: Table<'a>,
        use_of: Vec<(usize, &'a ColumnKind)>,
        schema: &'a Schema,
        mode: Mode,
    ) -> Self {
        let is_number = |kind: &ColumnKind| {
            matches!(kind, ColumnKind::Numeric { .. } | ColumnKind::Vector { .. })
        };
        let mut use_of = use_of;
        if table.options.without_labels && schema.target == TargetKind::Real {
            use_of.retain(|(_, kind)| **kind != ColumnKind::Label);
        }
        // `features` may be absent, and with it columns of the matrix.
        let width: usize = use_of.iter().filter_map(|(_, kind)| kind.span()).map(|s| s.1).sum();
        let only_numbers = use_of.iter().all(|(_, kind)| kind.span().is_none() || is_number(kind));
        let mut named = HashMap::new();
        for (_, kind) in &use_of {
            if let ColumnKind::Named { at, names } = kind {
                named.extend(names.iter().zip(*at..).map(|(name, at)| (name.as_str(), at)));
            }
        }
        let is_label = |(_, kind): &&(usize, &ColumnKind)| **kind == ColumnKind::Label;
        let leaves_out = match mode {
            Mode::Learn => true,
            Mode::Apply | Mode::Stream { .. } => table.options.only_labelled,
        };
        let leaves_out = leaves_out
            && !table.options.strict
            && matches!(table.format, Format::Csv | Format::Tsv | Format::Jsonl)
            && matches!(schema.target, TargetKind::Classes | TargetKind::Real);
        let label = use_of.iter().find(is_label).map(|(column, _)| *column);
        Self {
            names: rows.names(),
            table,
            schema,
            needs_label: label.filter(|_| leaves_out),
            unlabelled: (0, 0),
            mode,
            comma: rows.decimal_comma(),
            named,
            found: Vec::new(),
            hashed: Vec::new(),
            x: FeatureRows::new(schema.n_read(), only_numbers && width == schema.n_read()),
            target: TargetColumn::new(schema, table.options.label_separator, mode)
                .with_decimal_comma(rows.decimal_comma()),
            weights: Vec::new(),
            queries: Queries::default(),
            seen_queries: QueryIndex::default(),
            text: TextBatch::new(schema.text_columns().count()),
            missing: BTreeMap::new(),
            unseen: BTreeMap::new(),
            use_of,
        }
    }

    /// Which columns of the file are looked at.
    pub(super) fn wanted(&self) -> Vec<Want> {
        let mut wanted = vec![Want::No; self.names.len()];
        for (column, kind) in &self.use_of {
            let want = &mut wanted[*column];
            match kind {
                ColumnKind::Ignored { .. } => {}
                // A column may be used twice.
                ColumnKind::Text { .. } if *want == Want::No => *want = Want::Text,
                _ => *want = Want::Yes,
            }
        }
        wanted
    }

    pub(super) fn file(&self) -> &'a str {
        self.table.file
    }

    pub(super) fn table(&self) -> Table<'a> {
        self.table
    }

    /// Rows since the last dataset was taken.
    pub(super) fn n_rows(&self) -> usize {
        self.x.n_rows()
    }

    /// The text of the rows since it was cleared; `None` without text columns.
    pub(super) fn text(&self) -> Option<&TextBatch> {
        (self.text.n_slots() > 0).then_some(&self.text)
    }

    /// Counts replaced bytes from here on.
    pub(super) fn forget_replaced(&self) {
        self.table.replaced.reset();
    }

    pub(super) fn clear_text(&mut self) {
        self.text.clear();
    }

    /// The schema, with the classes that came to it.
    pub(super) fn schema(&self) -> Schema {
        let mut schema = self.schema.clone();
        schema.classes.extend_from_slice(self.target.fresh_classes());
        schema
    }

    /// The rows so far, which are then forgotten. What is odd about them is kept for [`Self::warnings`].
    pub(super) fn take(&mut self) -> Result<Dataset, Error> {
        let file = self.table.file;
        let y = self.target.take(file)?;
        let mut weights = Some(std::mem::take(&mut self.weights)).filter(|w| !w.is_empty());
        // Each row of Vowpal Wabbit has a weight, said or not.
        if self.table.format == Format::Vw {
            weights = weights.filter(|w| w.iter().any(|&w| w != 1.0));
        }
        let mut queries = std::mem::take(&mut self.queries);
        queries.end(self.x.n_rows());
        let queries = Some(queries).filter(|_| self.schema.target == TargetKind::Grades);
        let x = self.x.take().map_err(|e| Error::new(ErrorKind::Schema, file, e.to_string()))?;
        let (schema, source) = (self.schema(), file.to_owned());
        Ok(Dataset { x, y, weights, queries, schema, warnings: Vec::new(), source })
    }

    /// The error if rows were left out because none has a label.
    pub(super) fn all_unlabelled(&self) -> Option<Error> {
        (self.unlabelled.0 > 0).then(|| {
            let message = "no row has a label; is the label column right? (see options.label)";
            Error::new(ErrorKind::Label, self.table.file, message)
        })
    }

    /// Adds a row.
    pub(super) fn row(&mut self, row: &dyn TableRow) -> Result<(), Error> {
        if let Some(column) = self.needs_label
            && is_unlabelled(row.cell(column), self.schema.target)
        {
            let (n, first) = self.unlabelled;
            self.unlabelled = (n + 1, if n == 0 { row.place(column).0 } else { first });
            return Ok(());
        }
        for k in 0..self.use_of.len() {
            let (column, kind) = self.use_of[k];
            self.add(row, column, kind)?;
        }
        self.check_weight_of_query(row)?;
        self.hashed.sort_unstable();
        for same in self.hashed.chunk_by(|a, b| a == b) {
            self.x.push(same[0], same.len() as f32);
        }
        self.hashed.clear();
        self.x.end_row();
        Ok(())
    }

    fn add(&mut self, row: &dyn TableRow, column: usize, kind: &ColumnKind) -> Result<(), Error> {
        if let ColumnKind::Ignored { .. } = kind {
            return Ok(());
        }
        let cell = row.cell(column);
        if self.table.replaced.any()
            && !matches!(kind, ColumnKind::Text { .. })
            && has_replaced(cell)
        {
            let message = format!(
                "{} holds bytes that are not valid UTF-8, which only running text may; convert the file (iconv -t UTF-8)",
                show(cell)
            );
            return Err(self.error(row, column, ErrorKind::Encoding, message));
        }
        match kind {
            ColumnKind::Ignored { .. } => {}
            ColumnKind::Label => {
                let taken = self.target.add(cell, &|| row.place(column));
                taken.map_err(|(kind, message)| self.error(row, column, kind, message))?;
            }
            ColumnKind::Weight => self.weight(row, column, cell)?,
            ColumnKind::Query => self.query(row, column, cell)?,
            ColumnKind::Numeric { at, mean } if is_absent(cell) && !self.table.options.strict => {
                self.missing.entry(column).or_insert((0, *mean)).0 += 1;
                self.x.push(*at, *mean);
            }
            ColumnKind::Numeric { at, .. } => {
                let value = self.number(row, column, cell)?;
                self.x.push(*at, value);
            }
            ColumnKind::Date { at, day_first, mean } => {
                self.date(row, column, cell, *at, *day_first, *mean)?;
            }
            ColumnKind::Time { at, mean } if is_absent(cell) && !self.table.options.strict => {
                self.missing.entry(column).or_insert((0, *mean)).0 += 1;
                self.x.push(*at, *mean);
            }
            ColumnKind::Time { at, .. } => {
                let text = self.single(row, column, cell, "a time")?;
                let hours = dates::hours(&text).ok_or_else(|| {
                    let message = format!(
                        "{} is not a time of the day, as 17:45 is; {}",
                        show(cell),
                        self.remedy(column)
                    );
                    self.error(row, column, ErrorKind::Value, message)
                })?;
                self.x.push(*at, hours as f32);
            }
            ColumnKind::Categorical { at, values } => {
                let name = self.single(row, column, cell, "a category")?;
                let find = |name: &str| values.binary_search_by(|v| v.as_str().cmp(name)).ok();
                let missing = || if is_missing(&name) { find("") } else { None };
                match find(&name).or_else(missing) {
                    Some(k) => self.x.push(at + k, 1.0),
                    None => self.unseen(column, &name),
                }
            }
            ColumnKind::Hashed { at, bits, .. } => {
                let name = self.single(row, column, cell, "a category")?;
                let name = if is_missing(&name) { "" } else { &*name };
                let bucket = bucket_of(&self.names[column], name, *bits);
                self.hashed.push(at + bucket);
            }
            ColumnKind::Text { .. } => match cell {
                // As it stands, blanks around it too.
                Cell::Json(Json::Text(text)) => self.text.push(text),
                Cell::Json(Json::Escaped(raw)) => {
                    self.text.push_with(|text| unescape_into(raw, text));
                }
                _ => {
                    let text = self.single(row, column, cell, "text")?;
                    self.text.push(&text);
                }
            },
            ColumnKind::Vector { at, len } => self.vector(row, column, cell, *at, *len)?,
            ColumnKind::Named { .. } => self.named(row, column, cell)?,
        }
        Ok(())
    }

    fn error(&self, row: &dyn TableRow, column: usize, kind: ErrorKind, message: String) -> Error {
        let (line, at) = row.place(column);
        let message = format!("column {:?}: {message}", self.names[column]);
        Error::in_line(kind, self.table.file, line, at, message)
    }

    fn weight(&mut self, row: &dyn TableRow, column: usize, cell: Cell<'_>) -> Result<(), Error> {
        // Data to predict need not have the weights that training had.
        if matches!(cell, Cell::Missing) && self.mode != Mode::Learn && self.weights.is_empty() {
            return Ok(());
        }
        let weight = number(cell, self.comma).filter(|w| w.is_finite() && *w >= 0.0);
        match weight {
            Some(weight) if self.weights.len() == self.x.n_rows() => {
                self.weights.push(weight);
                Ok(())
            }
            _ => {
                let message = match weight {
                    Some(_) => "a weight where rows before have none; give all or none".to_owned(),
                    None => format!("example weight {} is not a number of at least 0", show(cell)),
                };
                Err(self.error(row, column, ErrorKind::Weight, message))
            }
        }
    }

    /// The documents of a query have one weight.
    fn check_weight_of_query(&self, row: &dyn TableRow) -> Result<(), Error> {
        let (Some((start, name)), Some(&weight)) = (self.queries.last(), self.weights.last())
        else {
            return Ok(());
        };
        let first = self.weights[start];
        let is_weight = |(_, kind): &&(usize, &ColumnKind)| **kind == ColumnKind::Weight;
        match self.use_of.iter().find(is_weight) {
            Some((column, _)) if weight != first => {
                let message = uneven_weights(name, first, weight);
                Err(self.error(row, *column, ErrorKind::Weight, message))
            }
            _ => Ok(()),
        }
    }

    /// Whether a row is the first of another query than the last row.
    pub(super) fn begins_query(&self, row: &dyn TableRow) -> bool {
        let is_query = |(_, kind): &&(usize, &ColumnKind)| **kind == ColumnKind::Query;
        let Some((column, _)) = self.use_of.iter().find(is_query) else { return true };
        let name = self.single(row, *column, row.cell(*column), "a query");
        // What is wrong with it is said when it is added.
        name.is_ok_and(|name| self.queries.names().last().is_none_or(|last| *last != name))
    }

    fn query(&mut self, row: &dyn TableRow, column: usize, cell: Cell<'_>) -> Result<(), Error> {
        let name = self.single(row, column, cell, "a query")?;
        if self.queries.names().last().is_some_and(|last| *last == name) {
            return Ok(());
        }
        if name.is_empty() {
            let message = "the query is missing; fill it in or remove the row".to_owned();
            return Err(self.error(row, column, ErrorKind::Value, message));
        }
        let begun = self.seen_queries.begin(&name, row.place(column).0);
        begun.map_err(|message| self.error(row, column, ErrorKind::Value, message))?;
        self.queries.push(name.into_owned(), self.x.n_rows());
        Ok(())
    }

    /// The one value of a cell by its name; empty where there is none.
    fn single<'c>(
        &self,
        row: &dyn TableRow,
        column: usize,
        cell: Cell<'c>,
        what: &str,
    ) -> Result<std::borrow::Cow<'c, str>, Error> {
        match cell {
            Cell::Text(text) => Ok(text.into()),
            Cell::Missing | Cell::Features(_) => Ok("".into()),
            Cell::Names(names) => Ok(names.join(" ").into()),
            Cell::Json(value) => value.name().ok_or_else(|| {
                let message = format!("{value} cannot be {what}");
                self.error(row, column, ErrorKind::Value, message)
            }),
        }
    }

    fn number(&self, row: &dyn TableRow, column: usize, cell: Cell<'_>) -> Result<f32, Error> {
        if let Some(value) = number(cell, self.comma)
            && value.is_finite()
        {
            return Ok(value);
        }
        let (name, remedy) = (argument(&self.names[column]), self.remedy(column));
        let message = match cell {
            Cell::Text(text) if !text.is_empty() && !is_missing(text) => match parse_f64(text) {
                None => format!("{} is not a number; {remedy}", quote(text)),
                Some(_) => {
                    format!(
                        "{} is not finite or too large for 32-bit numbers; {remedy}",
                        quote(text)
                    )
                }
            },
            Cell::Json(value) if value.number().is_none() => {
                format!("{value} is not a number; {remedy}")
            }
            Cell::Json(value) => format!("{value} is too large for 32-bit numbers; {remedy}"),
            _ => {
                let what = match cell {
                    Cell::Text(text) if !text.is_empty() => {
                        format!("{} is not a number", quote(text))
                    }
                    _ => "the value is missing".to_owned(),
                };
                format!(
                    "{what}; fill it in, or {} options.categorical = {name} (empty is then a value of its own) \
                     or options.ignore = {name}",
                    self.say()
                )
            }
        };
        Err(self.error(row, column, ErrorKind::Value, message))
    }

    /// What to do about a cell that does not fit its column.
    fn remedy(&self, column: usize) -> String {
        let empty = if self.table.options.strict { "" } else { ", leave the cell empty" };
        let name = argument(&self.names[column]);
        format!("correct it{empty}, or {} options.ignore = {name}", self.say())
    }

    /// Types of columns are the model's after training.
    fn say(&self) -> &'static str {
        if self.is_learning() { "say" } else { "train again with" }
    }

    fn is_learning(&self) -> bool {
        matches!(self.mode, Mode::Learn | Mode::Stream { grow: true })
    }

    fn date(
        &mut self,
        row: &dyn TableRow,
        column: usize,
        cell: Cell<'_>,
        at: usize,
        day_first: bool,
        mean: [f32; 2],
    ) -> Result<(), Error> {
        let text = self.single(row, column, cell, "a date")?;
        if is_missing(&text) && !self.table.options.strict {
            self.missing.entry(column).or_insert((0, mean[0])).0 += 1;
            self.x.push(at, mean[0]);
            self.x.push(at + 1, mean[1]);
            return Ok(());
        }
        let date = dates::parse(&text).and_then(|written| written.date(day_first));
        let Some(date) = date else {
            let message = format!(
                "{} is not a date as in the other rows; {}",
                show(cell),
                self.remedy(column)
            );
            return Err(self.error(row, column, ErrorKind::Value, message));
        };
        self.x.push(at, date.days as f32);
        self.x.push(at + 1, date.year as f32);
        self.x.push(at + 1 + date.month as usize, 1.0);
        self.x.push(at + 14 + date.weekday as usize, 1.0);
        Ok(())
    }

    fn vector(
        &mut self,
        row: &dyn TableRow,
        column: usize,
        cell: Cell<'_>,
        at: usize,
        len: usize,
    ) -> Result<(), Error> {
        let list = match cell {
            Cell::Json(Json::List(list)) if list.len() == len => list,
            _ => {
                let message = format!(
                    "{} where a list of {} must be, as in the other rows",
                    show(cell),
                    count(len, "number")
                );
                return Err(self.error(row, column, ErrorKind::Value, message));
            }
        };
        for (k, value) in list.iter().enumerate() {
            let value = self.number(row, column, Cell::Json(value))?;
            self.x.push(at + k, value);
        }
        Ok(())
    }

    fn named(&mut self, row: &dyn TableRow, column: usize, cell: Cell<'_>) -> Result<(), Error> {
        let mut found = std::mem::take(&mut self.found);
        match cell {
            Cell::Missing => {}
            Cell::Features(entries) => {
                for (name, value) in entries {
                    self.find_named(column, name, *value, &mut found);
                }
            }
            Cell::Json(Json::Object(entries)) => {
                for (name, value) in entries {
                    let number = value.number().ok_or_else(|| {
                        let message = format!("{name:?} is {value}, not a number");
                        self.error(row, column, ErrorKind::Value, message)
                    })?;
                    self.find_named(column, name, number, &mut found);
                }
            }
            _ => {
                let message = format!("{} where an object of numbers must be", show(cell));
                return Err(self.error(row, column, ErrorKind::Value, message));
            }
        }
        found.sort_by_key(|&(at, _)| at);
        for same in found.chunk_by(|a, b| a.0 == b.0) {
            let (at, value) = (same[0].0, same.iter().map(|(_, value)| value).sum::<f64>());
            if !(value as f32).is_finite() {
                let name = self.schema.feature_name(at);
                let message = format!("{name:?} is {value:e}, which does not fit in 32 bits");
                return Err(self.error(row, column, ErrorKind::Value, message));
            }
            self.x.push(at, value as f32);
        }
        found.clear();
        self.found = found;
        Ok(())
    }

    fn find_named(&mut self, column: usize, name: &str, value: f64, found: &mut Vec<(usize, f64)>) {
        match self.named.get(name) {
            Some(&at) => found.push((at, value)),
            None => self.unseen(column, name),
        }
    }

    fn unseen(&mut self, column: usize, value: &str) {
        self.unseen.entry(column).or_insert_with(|| (0, quote(value))).0 += 1;
    }

    /// What was odd about all rows.
    pub(super) fn warnings(&self) -> Vec<String> {
        let file = self.table.file;
        let unseen = |(&column, (n, first)): (&usize, &(usize, String))| {
            format!(
                "{file}: column {:?} has {} that training did not see (the first is {first}); taken as 0",
                self.names[column],
                count(*n, "value")
            )
        };
        let missing = |(&column, (n, mean)): (&usize, &(usize, f32))| {
            let name = &self.names[column];
            let kind = self.use_of.iter().find(|(c, _)| *c == column).map(|(_, kind)| *kind);
            let (what, mean) = match kind {
                Some(ColumnKind::Date { .. }) => ("missing date", String::new()),
                Some(ColumnKind::Time { .. }) => ("missing time", format!(", {mean} hours")),
                _ => ("missing number", format!(", {mean}")),
            };
            format!(
                "{file}: column {name:?} has {}, read as the mean{mean} (options.strict makes this an error{})",
                count(*n, what),
                self.or_category(name)
            )
        };
        let mut all: Vec<String> = self.table.replaced.warning(file).into_iter().collect();
        match self.missing.len() {
            0 | 1 => all.extend(self.missing.iter().map(missing)),
            n => all.push(self.missing_in_all(n)),
        }
        match self.unseen.len() {
            0 | 1 => all.extend(self.unseen.iter().map(unseen)),
            n => all.push(self.unseen_in_all(n)),
        }
        all.extend(self.target.warnings(file));
        let (n, first) = self.unlabelled;
        if n > 0 {
            let are = if n == 1 { "is" } else { "are" };
            all.push(format!(
                "{file}: {} without a label {are} left out (the first is in line {first}; options.strict makes this an error)",
                count(n, "row")
            ));
        }
        all
    }

    /// Missing numbers of several columns, in one line.
    fn missing_in_all(&self, n_columns: usize) -> String {
        let in_all: usize = self.missing.values().map(|(n, _)| n).sum();
        let most =
            self.missing.iter().max_by_key(|(column, (n, _))| (*n, std::cmp::Reverse(**column)));
        let most = most.map_or(String::new(), |(&column, (n, _))| {
            format!(", most of them, {}, in {:?}", thousands(*n), self.names[column])
        });
        format!(
            "{}: {} have missing numbers ({} in all{most}), read as the mean of the column (options.strict makes this an error{})",
            self.table.file,
            count(n_columns, "column"),
            thousands(in_all),
            self.or_category("COLUMN")
        )
    }

    /// What else missing numbers could be, while that can still be chosen.
    fn or_category(&self, name: &str) -> String {
        match self.is_learning() {
            true => {
                format!("; with options.categorical = {}, missing is a category", argument(name))
            }
            false => String::new(),
        }
    }

    /// Values of several columns that training did not see, in one line.
    fn unseen_in_all(&self, n_columns: usize) -> String {
        let in_all: usize = self.unseen.values().map(|(n, _)| n).sum();
        let first = self.unseen.iter().next().map_or(String::new(), |(&column, (_, first))| {
            format!(", such as {first} in {:?}", self.names[column])
        });
        format!(
            "{}: {} have values that training did not see ({} in all{first}); taken as 0",
            self.table.file,
            count(n_columns, "column"),
            thousands(in_all)
        )
    }
}

/// Whether a number is not there.
fn is_absent(cell: Cell<'_>) -> bool {
    match cell {
        Cell::Missing => true,
        Cell::Text(text) => is_missing(text),
        _ => false,
    }
}

/// Whether bytes in the cell may have been replaced.
fn has_replaced(cell: Cell<'_>) -> bool {
    let has = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
    match cell {
        Cell::Text(text) => has(text),
        Cell::Json(Json::Text(text)) => has(text),
        Cell::Names(names) => names.iter().any(|name| has(name)),
        _ => false,
    }
}

/// The number in a cell, finite or not.
fn number(cell: Cell<'_>, comma: bool) -> Option<f32> {
    match cell {
        Cell::Text(text) => parse_f32(text).or_else(|| parse_number(text, comma).map(|v| v as f32)),
        Cell::Json(value) => value.number().map(|v| v as f32),
        Cell::Names(_) | Cell::Features(_) | Cell::Missing => None,
    }
}
