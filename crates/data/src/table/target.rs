//! Label cells to targets.

use super::json::Json;
use super::profile::is_missing;
use super::{Cell, show};
use crate::dataset::{Targets, UNSEEN};
use crate::error::{Error, ErrorKind, quote};
use crate::label_lists::{DuplicateLabels, LabelsBuilder};
use crate::labels::{ClassIndex, check_grade};
use crate::number::parse_number;
use crate::schema::{Schema, TargetKind};

/// What the rows are read for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// To learn from: each must have a label.
    Learn,
    /// With a schema. Rows of which none has a label have no targets.
    Apply,
    /// With a schema, chunk by chunk.
    Stream {
        /// Whether labels that the schema does not have become new classes.
        grow: bool,
    },
}

/// The targets of the rows so far.
pub(super) struct TargetColumn {
    kind: TargetKind,
    mode: Mode,
    separator: char,
    /// Whether a comma in a number stands before its fraction.
    decimal_comma: bool,
    classes: ClassIndex,
    ids: Vec<u32>,
    reals: Vec<f64>,
    lists: LabelsBuilder,
    duplicates: DuplicateLabels,
    n_missing: usize,
    first_missing: Option<Place>,
    /// Rows with a label, also those that were taken. Without any it is not worth a warning that none is known.
    n_labelled: usize,
}

/// Whether a cell holds no label. Among numbers, marks of what is missing are none.
pub(super) fn is_unlabelled(cell: Cell<'_>, target: TargetKind) -> bool {
    let is_empty = |text: &str| match target {
        TargetKind::Real => is_missing(text.trim()),
        _ => text.trim().is_empty(),
    };
    match cell {
        Cell::Missing => true,
        Cell::Text(text) => is_empty(text),
        Cell::Json(Json::Text(text)) => is_empty(text),
        _ => false,
    }
}

/// Line and, if known, byte column.
type Place = (usize, Option<usize>);

/// What is wrong with a label.
pub(super) type Fault = (ErrorKind, String);

impl TargetColumn {
    pub(super) fn new(schema: &Schema, separator: char, mode: Mode) -> Self {
        Self {
            kind: schema.target,
            mode,
            separator,
            decimal_comma: false,
            classes: match mode {
                Mode::Stream { grow: true } => ClassIndex::growing(&schema.classes),
                _ => ClassIndex::new(&schema.classes),
            },
            ids: Vec::new(),
            reals: Vec::new(),
            lists: LabelsBuilder::default(),
            duplicates: DuplicateLabels::default(),
            n_missing: 0,
            first_missing: None,
            n_labelled: 0,
        }
    }

    /// Numbers are written with a comma before their fraction, or not.
    pub(super) fn with_decimal_comma(mut self, decimal_comma: bool) -> Self {
        self.decimal_comma = decimal_comma;
        self
    }

    /// Takes the label of the next row.
    pub(super) fn add(&mut self, cell: Cell<'_>, place: &dyn Fn() -> Place) -> Result<(), Fault> {
        if self.kind == TargetKind::Labels {
            return self.add_list(cell, place).map_err(|message| (ErrorKind::Label, message));
        }
        let name = match cell {
            Cell::Text("") | Cell::Missing => return self.add_missing(place),
            Cell::Text(text) => text.into(),
            Cell::Json(Json::Text(text)) if text.trim().is_empty() => {
                return self.add_missing(place);
            }
            Cell::Names([]) | Cell::Features(_) => return self.add_missing(place),
            Cell::Names([name]) => (*name).into(),
            Cell::Names(names) => {
                let message = format!(
                    "{} labels, {}, where one is expected; several labels per row are multilabel data, so say \
                     options.target = labels",
                    names.len(),
                    quote(names.join(" "))
                );
                return Err((ErrorKind::Label, message));
            }
            Cell::Json(value) => value.name().ok_or_else(|| {
                let several = match value {
                    Json::List(_) => {
                        "; if a row can have several labels, say options.target = labels"
                    }
                    _ => "",
                };
                let message =
                    format!("the label is {value}; it must be one name or number{several}");
                (ErrorKind::Label, message)
            })?,
        };
        self.n_labelled += 1;
        if self.kind == TargetKind::Classes {
            self.ids.push(self.classes.id(&name));
            return Ok(());
        }
        let value = parse_number(&name, self.decimal_comma);
        if self.kind == TargetKind::Grades {
            check_grade(name.as_bytes(), value).map_err(|message| (ErrorKind::Label, message))?;
        }
        let value = value.filter(|v| v.is_finite()).ok_or_else(|| {
            let message = format!(
                "label {} is not a finite number; {} needs one on each row",
                quote(name.as_bytes()),
                if self.kind == TargetKind::Grades { "ranking" } else { "regression" }
            );
            (ErrorKind::Label, message)
        })?;
        self.reals.push(value);
        Ok(())
    }

    fn add_missing(&mut self, place: &dyn Fn() -> Place) -> Result<(), Fault> {
        if self.mode == Mode::Learn {
            let message = "the label is missing; fill it in or remove the row";
            return Err((ErrorKind::Label, message.to_owned()));
        }
        self.n_missing += 1;
        self.first_missing.get_or_insert_with(place);
        match self.kind {
            TargetKind::Real | TargetKind::Grades => self.reals.push(f64::NAN),
            _ => self.ids.push(self.classes.add_unseen("no label")),
        }
        Ok(())
    }

    fn add_list(&mut self, cell: Cell<'_>, place: &dyn Fn() -> Place) -> Result<(), String> {
        let mut unseen: Vec<String> = Vec::new();
        let mut twice = None;
        let (classes, lists) = (&mut self.classes, &mut self.lists);
        for_each_label(cell, self.separator, &mut |name| {
            if unseen.iter().any(|other| other == name) {
                twice = Some(name.to_owned());
                return;
            }
            let id = classes.id(name);
            lists.push(id);
            if id == UNSEEN {
                unseen.push(name.to_owned());
            }
        })?;
        self.n_labelled += 1;
        let twin = lists.end_row().and_then(|id| classes.name(id));
        if let Some(name) = twice.as_deref().or(twin) {
            self.duplicates.add(name, place);
        }
        Ok(())
    }

    /// What was collected, which is then forgotten.
    pub(super) fn take(&mut self, file: &str) -> Result<Targets, Error> {
        let (ids, reals) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.reals));
        let lists = std::mem::take(&mut self.lists);
        let n_missing = std::mem::take(&mut self.n_missing);
        let first_missing = self.first_missing.take();
        match self.kind {
            TargetKind::Labels if lists.n_rows() == 0 => Ok(Targets::None),
            TargetKind::Labels if lists.n_labels_total() == 0 && self.mode == Mode::Apply => {
                Ok(Targets::None)
            }
            TargetKind::Labels => Ok(Targets::Labels(lists.finish())),
            _ if ids.len() + reals.len() == n_missing => Ok(Targets::None),
            TargetKind::Classes => Ok(Targets::Classes(ids)),
            TargetKind::Real | TargetKind::Grades => match first_missing {
                None => Ok(Targets::Real(reals)),
                Some((line, column)) => {
                    let message =
                        "the label is missing while other rows have one; give all or none";
                    Err(Error::in_line(ErrorKind::Label, file, line, column, message))
                }
            },
        }
    }

    /// Names that came after the schema's, in the order of their ids.
    pub(super) fn fresh_classes(&self) -> &[String] {
        self.classes.fresh()
    }

    /// What to tell the user of labels that were not found, or found twice.
    pub(super) fn warnings(&self, file: &str) -> Vec<String> {
        let unseen = self.classes.warning(file, self.kind).filter(|_| self.n_labelled > 0);
        self.duplicates.warning(file).into_iter().chain(unseen).collect()
    }
}

/// Calls `f` with each label of a cell that holds a list.
pub(super) fn for_each_label(
    cell: Cell<'_>,
    separator: char,
    f: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let mut named = |name: &str, list: &dyn Fn() -> String| {
        if name.is_empty() {
            return Err(format!("an empty label in {}; give it a name or remove it", list()));
        }
        f(name);
        Ok(())
    };
    match cell {
        Cell::Missing | Cell::Features(_) | Cell::Text("") => Ok(()),
        Cell::Names(names) => names.iter().try_for_each(|name| named(name, &|| show(cell))),
        Cell::Text(text) => {
            text.split(separator).try_for_each(|name| named(name.trim(), &|| quote(text)))
        }
        Cell::Json(Json::List(list)) => list.iter().try_for_each(|value| match value.name() {
            Some(name) => named(&name, &|| "the list".to_owned()),
            None => Err(format!("{value} in the list of labels; each must be a name or number")),
        }),
        Cell::Json(Json::Text(text)) if text.trim().is_empty() => Ok(()),
        Cell::Json(value) => match value.name() {
            Some(name) => named(&name, &|| "the cell".to_owned()),
            None => Err(format!("the label is {value}; it must be a list of names or numbers")),
        },
    }
}
