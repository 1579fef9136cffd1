//! Cells to features, labels and weights.

use std::collections::BTreeMap;

use lineal_linalg::{Csr, Dense, Matrix};

use super::json::Json;
use super::jsonl::show;
use super::profile::is_missing;
use super::{Cell, Rows, TableRow};
use crate::dataset::{Dataset, Targets};
use crate::error::{Error, ErrorKind, count, quote};
use crate::labels::ClassIndex;
use crate::number::{parse_f32, parse_f64};
use crate::schema::{ColumnKind, Schema, TargetKind};

/// Fills a dataset. `use_of` says what each column of the file is for, features in the schema's order.
pub(super) fn encode(
    rows: &dyn Rows,
    file: &str,
    use_of: Vec<(usize, &ColumnKind)>,
    schema: &Schema,
    learning: bool,
) -> Result<Dataset, Error> {
    let is_number =
        |kind: &ColumnKind| matches!(kind, ColumnKind::Numeric { .. } | ColumnKind::Vector { .. });
    let only_numbers = use_of.iter().all(|(_, kind)| kind.span().is_none() || is_number(kind));
    let mut filler = Filler {
        names: rows.names(),
        file,
        // All columns of the schema are there unless `features` is absent.
        dense: only_numbers.then_some(schema.n_features),
        indptr: vec![0],
        idx: Vec::new(),
        val: Vec::new(),
        classes: ClassIndex::new(&schema.classes),
        target: schema.target,
        learning,
        ids: Vec::new(),
        reals: Vec::new(),
        n_missing: 0,
        first_missing: None,
        weights: Vec::new(),
        unseen: BTreeMap::new(),
    };
    rows.for_each(&mut |row| {
        for &(column, kind) in &use_of {
            filler.add(row, column, kind)?;
        }
        filler.indptr.push(filler.val.len());
        Ok(())
    })?;
    if filler.indptr.len() == 1 {
        return Err(Error::new(ErrorKind::Empty, file, "no rows"));
    }
    let mut warnings = filler.unseen_warnings();
    let y = filler.targets(&mut warnings)?;
    let weights = (!filler.weights.is_empty()).then_some(std::mem::take(&mut filler.weights));
    let x = filler.matrix(schema.n_features)?;
    Ok(Dataset { x, y, weights, schema: schema.clone(), warnings, source: file.to_owned() })
}

struct Filler<'a> {
    names: &'a [String],
    file: &'a str,
    /// The number of features if rows are kept dense; `idx` is then empty.
    dense: Option<usize>,
    indptr: Vec<usize>,
    idx: Vec<u32>,
    val: Vec<f32>,
    classes: ClassIndex<'a>,
    target: TargetKind,
    learning: bool,
    ids: Vec<u32>,
    reals: Vec<f64>,
    /// Rows without a label, and the first one's place.
    n_missing: usize,
    first_missing: Option<(usize, Option<usize>)>,
    weights: Vec<f32>,
    /// By column: how many cells had a value that training did not see, and the first.
    unseen: BTreeMap<usize, (usize, String)>,
}

impl Filler<'_> {
    fn add(&mut self, row: &dyn TableRow, column: usize, kind: &ColumnKind) -> Result<(), Error> {
        let cell = row.cell(column);
        match kind {
            ColumnKind::Ignored { .. } => {}
            ColumnKind::Label => self.label(row, column, cell)?,
            ColumnKind::Weight => {
                let weight =
                    number(cell).filter(|w| w.is_finite() && *w >= 0.0).ok_or_else(|| {
                        let message =
                            format!("example weight {} is not a number of at least 0", show(cell));
                        self.error(row, column, ErrorKind::Weight, message)
                    })?;
                self.weights.push(weight);
            }
            ColumnKind::Numeric { at } => {
                let value = self.number(row, column, cell)?;
                self.push(*at, value);
            }
            ColumnKind::Categorical { at, values } => {
                let name = match cell {
                    Cell::Text(text) => text.into(),
                    Cell::Missing => "".into(),
                    Cell::Json(value) => value.name().ok_or_else(|| {
                        let message = format!("{value} cannot be a category");
                        self.error(row, column, ErrorKind::Value, message)
                    })?,
                };
                match values.binary_search_by(|v| v.as_str().cmp(&name)) {
                    Ok(k) => self.push(at + k, 1.0),
                    Err(_) => self.unseen(column, &name),
                }
            }
            ColumnKind::Vector { at, len } => {
                let list = match cell {
                    Cell::Json(Json::List(list)) if list.len() == *len => list,
                    _ => {
                        let message = format!(
                            "{} where a list of {} must be, as in the other rows",
                            show(cell),
                            count(*len, "number")
                        );
                        return Err(self.error(row, column, ErrorKind::Value, message));
                    }
                };
                for (k, value) in list.iter().enumerate() {
                    let value = self.number(row, column, Cell::Json(value))?;
                    self.push(at + k, value);
                }
            }
            ColumnKind::Named { at, names } => self.named(row, column, cell, *at, names)?,
        }
        Ok(())
    }

    fn error(&self, row: &dyn TableRow, column: usize, kind: ErrorKind, message: String) -> Error {
        let (line, at) = row.place(column);
        let message = format!("column {:?}: {message}", self.names[column]);
        Error::in_line(kind, self.file, line, at, message)
    }

    /// Keeps a feature. Columns come in the order of their features.
    fn push(&mut self, at: usize, value: f32) {
        if self.dense.is_some() {
            self.val.push(value);
        } else if value != 0.0 {
            self.idx.push(at as u32);
            self.val.push(value);
        }
    }

    fn number(&self, row: &dyn TableRow, column: usize, cell: Cell<'_>) -> Result<f32, Error> {
        if let Some(value) = number(cell)
            && value.is_finite()
        {
            return Ok(value);
        }
        let name = &self.names[column];
        let message = match cell {
            Cell::Text(text) if !text.is_empty() && !is_missing(text) => match parse_f64(text) {
                None => {
                    format!("{} is not a number; correct it, or say --ignore {name}", quote(text))
                }
                Some(_) => {
                    format!("{} is not finite or too large for 32-bit numbers", quote(text))
                }
            },
            Cell::Json(value) if value.number().is_none() => format!("{value} is not a number"),
            Cell::Json(value) => format!("{value} is too large for 32-bit numbers"),
            Cell::Text(_) | Cell::Missing => {
                let what = match cell {
                    Cell::Text(text) if !text.is_empty() => format!("{} is no number", quote(text)),
                    _ => "the value is missing".to_owned(),
                };
                format!(
                    "{what}; fill it in, or say --categorical {name} (empty is then a value of its own) \
                     or --ignore {name}"
                )
            }
        };
        Err(self.error(row, column, ErrorKind::Value, message))
    }

    fn named(
        &mut self,
        row: &dyn TableRow,
        column: usize,
        cell: Cell<'_>,
        at: usize,
        names: &[String],
    ) -> Result<(), Error> {
        let entries = match cell {
            Cell::Missing => return Ok(()),
            Cell::Json(Json::Object(entries)) => entries,
            _ => {
                let message = format!("{} where an object of numbers must be", show(cell));
                return Err(self.error(row, column, ErrorKind::Value, message));
            }
        };
        let mut found = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            let number = value.number().map(|v| v as f32).filter(|v| v.is_finite());
            let number = number.ok_or_else(|| {
                let message = format!("{name:?} is {value}, not a number that fits in 32 bits");
                self.error(row, column, ErrorKind::Value, message)
            })?;
            match names.binary_search_by(|n| n.as_str().cmp(name)) {
                Ok(k) => found.push((at + k, number)),
                Err(_) => self.unseen(column, name),
            }
        }
        found.sort_unstable_by_key(|&(at, _)| at);
        for (at, value) in found {
            self.push(at, value);
        }
        Ok(())
    }

    fn label(&mut self, row: &dyn TableRow, column: usize, cell: Cell<'_>) -> Result<(), Error> {
        let name = match cell {
            Cell::Text("") | Cell::Missing => {
                if self.learning {
                    let message = "the label is missing; fill it in or remove the row".to_owned();
                    return Err(self.error(row, column, ErrorKind::Label, message));
                }
                self.n_missing += 1;
                self.first_missing.get_or_insert_with(|| row.place(column));
                match self.target {
                    TargetKind::Classes => self.ids.push(self.classes.miss("no label")),
                    TargetKind::Real => self.reals.push(f64::NAN),
                }
                return Ok(());
            }
            Cell::Text(text) => text.into(),
            Cell::Json(value) => value.name().ok_or_else(|| {
                let message = format!("the label is {value}; it must be one name or number");
                self.error(row, column, ErrorKind::Label, message)
            })?,
        };
        match self.target {
            TargetKind::Classes => self.ids.push(self.classes.id(&name)),
            TargetKind::Real => {
                let value =
                    parse_f64(name.as_bytes()).filter(|v| v.is_finite()).ok_or_else(|| {
                        let message = format!(
                            "label {} is not a finite number; regression needs one on each row",
                            quote(name.as_bytes())
                        );
                        self.error(row, column, ErrorKind::Label, message)
                    })?;
                self.reals.push(value);
            }
        }
        Ok(())
    }

    fn unseen(&mut self, column: usize, value: &str) {
        self.unseen.entry(column).or_insert_with(|| (0, quote(value))).0 += 1;
    }

    fn unseen_warnings(&self) -> Vec<String> {
        let warning = |(&column, (n, first)): (&usize, &(usize, String))| {
            format!(
                "{}: column {:?} has {} that training did not see (the first is {first}); taken as 0",
                self.file,
                self.names[column],
                count(*n, "value")
            )
        };
        self.unseen.iter().map(warning).collect()
    }

    fn targets(&mut self, warnings: &mut Vec<String>) -> Result<Targets, Error> {
        let (ids, reals) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.reals));
        if ids.len() + reals.len() == self.n_missing {
            return Ok(Targets::None);
        }
        if self.target == TargetKind::Classes {
            warnings.extend(self.classes.warning(self.file));
            return Ok(Targets::Classes(ids));
        }
        match self.first_missing {
            None => Ok(Targets::Real(reals)),
            Some((line, column)) => {
                let message = "the label is missing while other rows have one; give all or none";
                Err(Error::in_line(ErrorKind::Label, self.file, line, column, message))
            }
        }
    }

    /// Dense where all features are numbers and fewer than half of them are 0.
    fn matrix(self, n_features: usize) -> Result<Matrix, Error> {
        let n_rows = self.indptr.len() - 1;
        let zeros = self.val.iter().filter(|&&v| v == 0.0).count();
        let matrix = match self.dense {
            Some(width) if 2 * zeros < self.val.len() && width == n_features => {
                Dense::new(n_rows, width, self.val).map(Matrix::Dense)
            }
            Some(width) => to_csr(n_rows, width, n_features, &self.val),
            None => Csr::new(n_features, self.indptr, self.idx, self.val).map(Matrix::Sparse),
        };
        matrix.map_err(|e| Error::new(ErrorKind::Schema, self.file, e.to_string()))
    }
}

/// The nonzeros of row-major values.
fn to_csr(
    n_rows: usize,
    width: usize,
    n_features: usize,
    values: &[f32],
) -> Result<Matrix, lineal_linalg::ShapeError> {
    let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n_rows {
        let row = values.get(i * width..(i + 1) * width).unwrap_or_default();
        for (j, &v) in (0..).zip(row).filter(|(_, v)| **v != 0.0) {
            idx.push(j);
            val.push(v);
        }
        indptr.push(idx.len());
    }
    Csr::new(n_features, indptr, idx, val).map(Matrix::Sparse)
}

/// The number in a cell, finite or not.
fn number(cell: Cell<'_>) -> Option<f32> {
    match cell {
        Cell::Text(text) => parse_f32(text),
        Cell::Json(value) => value.number().map(|v| v as f32),
        Cell::Missing => None,
    }
}
