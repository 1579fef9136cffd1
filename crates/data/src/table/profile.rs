//! What stands in the columns of a table: the counts that guessing their types rests on.

use std::borrow::Cow;
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

use super::dates::{self, Written};
use super::guess::TEXT_WORDS;
use super::json::Json;
use super::target::for_each_label;
use super::{Cell, Rows, Want};
use crate::error::Error;
use crate::number::parse_number;

/// Text that stands for a missing number in files without types.
pub(crate) fn is_missing(text: &str) -> bool {
    const MARKS: [&str; 16] = [
        "?", ".", "-", "NA", "N/A", "n.a.", "<NA>", "NaN", "NaT", "NULL", "None", "#N/A", "#NA",
        "#DIV/0!", "#VALUE!", "#REF!",
    ];
    text.is_empty() || MARKS.iter().any(|mark| mark.eq_ignore_ascii_case(text))
}

/// Whether a whole number has a zero in front that a number would not have: `01234`.
fn is_code(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
}

/// Counts of what a column holds.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) n_rows: usize,
    pub(super) n_numbers: usize,
    /// Of finite numbers.
    sum: f64,
    n_finite: usize,
    /// The least and the largest, as they were written.
    range: Option<(f64, f64)>,
    /// Whole numbers with a zero in front, as codes have it.
    pub(super) n_codes: usize,
    /// Numbers that are not whole.
    pub(super) n_fractions: usize,
    /// Whether each is the one before and 1.
    pub(super) counts: bool,
    last: Option<f64>,
    pub(super) dates: Dates,
    pub(super) times: Times,
    pub(super) n_names: usize,
    /// Names of as many words as text has.
    pub(super) n_wordy: usize,
    /// The first cell that is a name, and its line.
    pub(super) first_name: Option<(String, usize)>,
    pub(super) n_lists: usize,
    /// Lists that are not of numbers alone.
    pub(super) n_other_lists: usize,
    pub(super) first_len: usize,
    pub(super) n_objects: usize,
    /// The keys of objects, where the column may have them.
    pub(super) keys: HashSet<String>,
    pub(super) distinct: Option<Distinct>,
}

/// Cells that are dates.
#[derive(Default)]
pub(super) struct Dates {
    pub(super) n: usize,
    /// The first cell that is not, and its line.
    pub(super) first_other: Option<(String, usize)>,
    /// The largest first and second number of those with slashes.
    pub(super) largest: [u32; 2],
    sum: [f64; 2],
}

impl Dates {
    fn add(&mut self, written: Written) {
        self.n += 1;
        if let Written::Slashes { parts, .. } = written {
            self.largest = [self.largest[0].max(parts[0]), self.largest[1].max(parts[1])];
        }
        if let Some(date) = written.date(true).or_else(|| written.date(false)) {
            self.sum = [self.sum[0] + date.days, self.sum[1] + f64::from(date.year)];
        }
    }

    /// The mean of days and years.
    pub(super) fn mean(&self) -> [f32; 2] {
        self.sum.map(|sum| (sum / self.n.max(1) as f64) as f32)
    }
}

/// Names that are times of the day.
#[derive(Default)]
pub(super) struct Times {
    pub(super) n: usize,
    /// The first cell that is not, and its line.
    pub(super) first_other: Option<(String, usize)>,
    /// Of hours.
    sum: f64,
}

impl Times {
    /// The mean of hours.
    pub(super) fn mean(&self) -> f32 {
        (self.sum / self.n.max(1) as f64) as f32
    }
}

/// How the walk is to treat a column.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Look {
    /// Not at all.
    Skip,
    /// Not at all: the walk that encodes it will.
    Text,
    /// Count; collect values if the first row's is not a number.
    Guess,
    /// Count and collect up to so many values.
    Collect(usize),
    /// Collect the first values, so many, and count.
    First(usize),
    /// Collect the values alone.
    Classes,
    /// Collect the labels of lists whose names are separated so in text.
    Labels(char),
}

/// Walks up to `most` rows of the table once, and says how many.
pub(super) fn profile(
    rows: &dyn Rows,
    looks: &[Look],
    most: usize,
) -> Result<(Vec<Profile>, usize), Error> {
    let mut profiles: Vec<Profile> = looks.iter().map(|_| Profile::default()).collect();
    for (profile, look) in profiles.iter_mut().zip(looks) {
        match *look {
            Look::Collect(most) => profile.distinct = Some(Distinct::new(most)),
            Look::First(most) => profile.distinct = Some(Distinct::first(most)),
            Look::Classes | Look::Labels(_) => profile.distinct = Some(Distinct::new(usize::MAX)),
            Look::Skip | Look::Text | Look::Guess => {}
        }
    }
    let with_keys: Vec<bool> = rows.names().iter().map(|name| name == super::FEATURES).collect();
    let want = |look: &Look| match look {
        Look::Skip => Want::No,
        Look::Text => Want::Later,
        _ => Want::Yes,
    };
    let wanted: Vec<Want> = looks.iter().map(want).collect();
    let mut n_rows = 0;
    let comma = rows.decimal_comma();
    rows.for_each(&wanted, &mut |row| {
        n_rows += 1;
        for (column, profile) in profiles.iter_mut().enumerate() {
            match looks[column] {
                Look::Skip | Look::Text => {}
                Look::Classes => profile.add_class(row.cell(column)),
                Look::Labels(separator) => profile.add_labels(row.cell(column), separator),
                Look::Guess | Look::Collect(_) | Look::First(_) => {
                    let line = || row.place(column).0;
                    profile.add(row.cell(column), with_keys[column], comma, line);
                }
            }
            profile.n_rows = n_rows;
        }
        Ok(if n_rows < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok((profiles, n_rows))
}

impl Profile {
    fn add(&mut self, cell: Cell<'_>, with_keys: bool, comma: bool, line: impl Fn() -> usize) {
        let name = match cell {
            Cell::Missing | Cell::Names(_) => None,
            Cell::Text(text) => {
                match parse_number(text, comma) {
                    // An infinity is a number that is too large: encoding says so.
                    Some(number) if !number.is_nan() => {
                        self.number(Some(number));
                        self.compact_date(number, || text.into(), line);
                        self.n_codes += usize::from(is_code(text));
                    }
                    _ if is_missing(text) => {}
                    _ => self.name(text, line),
                }
                // Marks of what is missing are one value.
                Some(if is_missing(text) { "".into() } else { text.into() })
            }
            Cell::Json(value @ (Json::Number(_) | Json::Big(_))) => {
                self.number(value.number());
                let name = || value.name().unwrap_or_default();
                self.compact_date(value.number().unwrap_or_default(), name, line);
                // To spell a number takes longer than to read it.
                self.distinct.as_ref().and_then(|_| value.name())
            }
            Cell::Json(value @ Json::List(list)) => {
                if self.n_lists == 0 {
                    self.first_len = list.len();
                }
                self.n_lists += 1;
                self.n_other_lists += usize::from(!value.is_list_of_numbers());
                return;
            }
            Cell::Features(entries) => {
                self.n_objects += 1;
                entries.iter().for_each(|(name, _)| self.key(name));
                return;
            }
            Cell::Json(Json::Object(entries)) => {
                self.n_objects += 1;
                if with_keys {
                    entries.iter().for_each(|(key, _)| self.key(key));
                }
                return;
            }
            Cell::Json(value) => {
                self.name(&value.name().unwrap_or_default(), line);
                value.name()
            }
        };
        if self.n_rows == 0 && self.n_numbers == 0 {
            self.distinct.get_or_insert_with(|| Distinct::new(MOST_VALUES));
        }
        if let Some(distinct) = &mut self.distinct {
            distinct.add(&name.unwrap_or_default());
        }
    }

    fn number(&mut self, written: Option<f64>) {
        self.n_numbers += 1;
        if let Some(written) = written.filter(|v| v.is_finite()) {
            let (low, high) = self.range.unwrap_or((written, written));
            self.range = Some((low.min(written), high.max(written)));
            self.n_fractions += usize::from(written.fract() != 0.0);
        }
        let value = written.map(|v| f64::from(v as f32));
        let follows = self.last.is_none_or(|last| value == Some(last + 1.0));
        self.counts = follows && (self.counts || self.n_numbers == 1);
        self.last = value;
        if let Some(value) = value.filter(|v| v.is_finite()) {
            self.sum += value;
            self.n_finite += 1;
        }
    }

    /// The least and the largest number, before they are rounded to 32 bits.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// The mean of the numbers; 0 without any.
    pub(super) fn mean(&self) -> f32 {
        let mean = (self.sum / self.n_finite.max(1) as f64) as f32;
        if mean.is_finite() { mean } else { 0.0 }
    }

    fn key(&mut self, key: &str) {
        if !self.keys.contains(key) {
            self.keys.insert(key.to_owned());
        }
    }

    fn add_class(&mut self, cell: Cell<'_>) {
        let Some(distinct) = &mut self.distinct else { return };
        match cell {
            Cell::Text(text) => distinct.add(text),
            // More than one is an error, said when it is encoded.
            Cell::Names([name]) => distinct.add(name),
            Cell::Json(value) => value.name().iter().for_each(|name| distinct.add(name)),
            Cell::Names(_) | Cell::Features(_) | Cell::Missing => {}
        }
    }

    fn add_labels(&mut self, cell: Cell<'_>, separator: char) {
        if let Some(distinct) = &mut self.distinct {
            // What is wrong with a list is said when it is encoded, with its place.
            let _ = for_each_label(cell, separator, &mut |name| distinct.add(name));
        }
    }

    /// Notes whether a number is a day, as 20240331 is.
    fn compact_date<'a>(
        &mut self,
        value: f64,
        name: impl Fn() -> Cow<'a, str>,
        line: impl Fn() -> usize,
    ) {
        // To spell a number takes longer than to compare it.
        let may_be = (19_000_101.0..=21_001_231.0).contains(&value);
        match may_be.then(|| dates::compact(&name())).flatten() {
            Some(date) => self.dates.add(Written::Clear(date)),
            None if self.dates.first_other.is_none() => {
                self.dates.first_other = Some((name().into_owned(), line()));
            }
            None => {}
        }
    }

    fn name(&mut self, name: &str, line: impl Fn() -> usize) {
        self.n_names += 1;
        let named = || (name.to_owned(), line());
        match dates::parse(name) {
            Some(date) => self.dates.add(date),
            None => {
                self.dates.first_other.get_or_insert_with(named);
            }
        }
        match dates::hours(name) {
            Some(hours) => {
                self.times.n += 1;
                self.times.sum += hours;
            }
            None => {
                self.times.first_other.get_or_insert_with(named);
            }
        }
        self.n_wordy += usize::from(name.split_ascii_whitespace().nth(TEXT_WORDS - 1).is_some());
        self.first_name.get_or_insert_with(|| (name.to_owned(), line()));
    }
}

/// A guessed categorical column has at most so many values.
pub(super) const MOST_VALUES: usize = 10_000;

/// The different values of a column: themselves up to a number of them, then only how many.
pub(super) struct Distinct {
    most: usize,
    /// What comes after so many is not looked at.
    only_first: bool,
    pub(super) values: HashSet<String>,
    hashes: HashSet<u64>,
}

impl Distinct {
    fn new(most: usize) -> Self {
        Self { most, only_first: false, values: HashSet::new(), hashes: HashSet::new() }
    }

    fn first(most: usize) -> Self {
        Self { only_first: true, ..Self::new(most) }
    }

    fn add(&mut self, value: &str) {
        if self.only_first && self.values.len() >= self.most {
            return;
        }
        if !self.hashes.is_empty() {
            self.hashes.insert(hash(value));
        } else if !self.values.contains(value) {
            self.values.insert(value.to_owned());
            if self.values.len() > self.most {
                self.hashes = self.values.drain().map(|v| hash(&v)).collect();
            }
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len().max(self.hashes.len())
    }

    /// The values, sorted; `None` if there were too many to keep.
    pub(super) fn sorted(self) -> Option<Vec<String>> {
        if !self.hashes.is_empty() {
            return None;
        }
        let mut values: Vec<String> = self.values.into_iter().collect();
        values.sort_unstable();
        Some(values)
    }
}

fn hash(value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
