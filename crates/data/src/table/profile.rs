//! What stands in the columns of a table: the counts that guessing their types rests on.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashSet};
use std::hash::{Hash, Hasher};

use super::json::Json;
use super::{Cell, Rows};
use crate::error::Error;
use crate::number::parse_f32;

/// Text that stands for a missing number in files without types.
pub(super) fn is_missing(text: &str) -> bool {
    const MARKS: [&str; 8] = ["?", "NA", "N/A", "NULL", "None", "-", "#N/A", "NaN"];
    text.is_empty() || MARKS.iter().any(|mark| mark.eq_ignore_ascii_case(text))
}

/// Counts of what a column holds.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) n_rows: usize,
    pub(super) n_numbers: usize,
    pub(super) n_names: usize,
    /// The first cell that is a name, and its line.
    pub(super) first_name: Option<(String, usize)>,
    pub(super) n_lists: usize,
    /// Lists that are not of numbers alone.
    pub(super) n_other_lists: usize,
    pub(super) first_len: usize,
    pub(super) n_objects: usize,
    /// The keys of objects, where the column may have them.
    pub(super) keys: BTreeSet<String>,
    pub(super) distinct: Option<Distinct>,
}

/// How the walk is to treat a column.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Look {
    /// Not at all.
    Skip,
    /// Count; collect values if the first row's is not a number.
    Guess,
    /// Count and collect up to so many values.
    Collect(usize),
}

/// Walks the table once.
pub(super) fn profile(rows: &dyn Rows, looks: &[Look]) -> Result<Vec<Profile>, Error> {
    let mut profiles: Vec<Profile> = looks.iter().map(|_| Profile::default()).collect();
    for (profile, look) in profiles.iter_mut().zip(looks) {
        if let Look::Collect(most) = *look {
            profile.distinct = Some(Distinct::new(most));
        }
    }
    let with_keys: Vec<bool> = rows.names().iter().map(|name| name == super::FEATURES).collect();
    rows.for_each(&mut |row| {
        for (column, profile) in profiles.iter_mut().enumerate() {
            if looks[column] != Look::Skip {
                profile.add(row.cell(column), with_keys[column], || row.place(column).0);
            }
            profile.n_rows += 1;
        }
        Ok(())
    })?;
    Ok(profiles)
}

impl Profile {
    fn add(&mut self, cell: Cell<'_>, with_keys: bool, line: impl Fn() -> usize) {
        let name = match cell {
            Cell::Missing => None,
            // A NaN is a missing number, not a name; an infinity is one too large. Encoding says so.
            Cell::Text(text) if parse_f32(text).is_some() => {
                self.n_numbers += 1;
                Some(text.into())
            }
            Cell::Text(text) if is_missing(text) => Some(text.into()),
            Cell::Text(text) => {
                self.name(text, line);
                Some(text.into())
            }
            Cell::Json(value @ (Json::Number(_) | Json::Big(_))) => {
                self.n_numbers += 1;
                value.name()
            }
            Cell::Json(value @ Json::List(list)) => {
                if self.n_lists == 0 {
                    self.first_len = list.len();
                }
                self.n_lists += 1;
                self.n_other_lists += usize::from(!value.is_list_of_numbers());
                return;
            }
            Cell::Json(Json::Object(entries)) => {
                self.n_objects += 1;
                if with_keys {
                    for (key, _) in entries {
                        if !self.keys.contains(key.as_ref()) {
                            self.keys.insert(key.clone().into_owned());
                        }
                    }
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

    fn name(&mut self, name: &str, line: impl Fn() -> usize) {
        self.n_names += 1;
        self.first_name.get_or_insert_with(|| (name.to_owned(), line()));
    }
}

/// A guessed categorical column has at most so many values.
pub(super) const MOST_VALUES: usize = 1000;

/// The different values of a column: themselves up to a number of them, then only how many.
pub(super) struct Distinct {
    most: usize,
    pub(super) values: HashSet<String>,
    hashes: HashSet<u64>,
}

impl Distinct {
    fn new(most: usize) -> Self {
        Self { most, values: HashSet::new(), hashes: HashSet::new() }
    }

    fn add(&mut self, value: &str) {
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
