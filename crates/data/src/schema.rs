//! What the columns and classes of a dataset mean: learnt at training, stored in the model, applied after.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::encoding::Encoding;
use crate::error::{count, printable, thousands};
use crate::format::Format;

/// What the columns and classes of a dataset mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The format of the file that it was learnt from; `None` for arrays in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Classes, sets of labels, numbers, or grades.
    pub target: TargetKind,
    /// Names of classes or labels in the order of their ids; empty for [`TargetKind::Real`] and [`TargetKind::Grades`].
    pub classes: Vec<String>,
    /// Number of columns of the matrix.
    pub n_features: usize,
    /// How many of them, the last ones, are computed from others after reading: from text, for one.
    #[serde(default)]
    pub n_computed: usize,
    /// For tables: the columns in the file's order, with the features that they became.
    #[serde(default)]
    pub columns: Option<Vec<Column>>,
    /// For LIBSVM files with huge sparse indices: the 1-based index that each feature had, rising.
    #[serde(default)]
    pub feature_ids: Option<Vec<u32>>,
    /// For tables: whether the file had no header, so that columns are called 1, 2, ….
    #[serde(default)]
    pub no_header: bool,
    /// For tables: the separator of cells that was said when it was learnt. It is tried first in other files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<u8>,
    /// For tables: whether a comma in a number stands before its fraction, as in `12,5`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decimal_comma: bool,
    /// The encoding that was said when it was learnt. Other files that are not UTF-8 are read so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// For IDX: height and width of the images.
    #[serde(default)]
    pub image: Option<[usize; 2]>,
}

/// What is to be predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// One of several names.
    Classes,
    /// Any number of several names.
    Labels,
    /// A number.
    Real,
    /// The order of a query's documents: rows have grades, numbers of at least 0, and queries.
    Grades,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// As in the header, or the key in JSON.
    pub name: String,
    /// What it is used for.
    pub kind: ColumnKind,
}

/// What a column of a table is used for. `at` is its first feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ColumnKind {
    /// One feature: the number.
    Numeric {
        /// Its feature.
        at: usize,
        /// What stands for a missing number: the mean of the others at training.
        #[serde(default)]
        mean: f32,
    },
    /// A feature for each value, 1 where the cell has it.
    Categorical {
        /// The first value's feature.
        at: usize,
        /// Sorted.
        values: Vec<String>,
    },
    /// A feature of a table that all hashed columns share, after all others: that of the hash of the column's name and the value.
    Hashed {
        /// The table's first feature.
        at: usize,
        /// The table has 2 to this power features.
        bits: u8,
        /// The first values that came, each with its place in the table, in that order: features have names.
        names: Vec<(u32, String)>,
    },
    /// A JSON list of numbers, as long in each row.
    Vector {
        /// The first element's feature.
        at: usize,
        /// Number of elements.
        len: usize,
    },
    /// The JSON object `features`: names with numbers, absent ones 0.
    Named {
        /// The first name's feature.
        at: usize,
        /// Sorted.
        names: Vec<String>,
    },
    /// A date: days since 1970 and the year as numbers, then a feature for each month and each day of the week.
    Date {
        /// The feature of the days.
        at: usize,
        /// Whether 3/4/2024 is in April.
        day_first: bool,
        /// What stands for missing days and years: the means at training.
        mean: [f32; 2],
    },
    /// A time of the day: the hours since midnight, with minutes and seconds as a fraction.
    Time {
        /// Its feature.
        at: usize,
        /// What stands for a missing time: the mean of the others at training.
        mean: f32,
    },
    /// Running text, whose features are made elsewhere: it is handed over while it is read.
    Text {
        /// Which text column it is, from 0.
        slot: usize,
    },
    /// What is to be predicted.
    Label,
    /// How much the example counts.
    Weight,
    /// Which query the row is a document of.
    Query,
    /// Not used.
    Ignored {
        /// The reason, for people.
        why: String,
    },
}

/// Features of a date: days, year, months, days of the week.
pub(crate) const DATE_FEATURES: usize = 2 + 12 + WEEKDAYS;

const WEEKDAYS: usize = 7;

/// The most bits of a hashed table.
pub(crate) const MOST_BITS: u8 = 30;

/// Where a value of a hashed column is in the table: FNV-1a (Fowler, Noll, Vo) of both names, its bits mixed.
pub(crate) fn bucket_of(column: &str, value: &str, bits: u8) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in column.bytes().chain([0]).chain(value.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}

impl ColumnKind {
    /// First feature and number of features; `None` for a column that is not a feature.
    pub(crate) fn span(&self) -> Option<(usize, usize)> {
        match self {
            ColumnKind::Numeric { at, .. } | ColumnKind::Time { at, .. } => Some((*at, 1)),
            ColumnKind::Categorical { at, values } => Some((*at, values.len())),
            ColumnKind::Hashed { at, bits, .. } => Some((*at, 1 << bits)),
            ColumnKind::Vector { at, len } => Some((*at, *len)),
            ColumnKind::Named { at, names } => Some((*at, names.len())),
            ColumnKind::Date { at, .. } => Some((*at, DATE_FEATURES)),
            ColumnKind::Text { .. }
            | ColumnKind::Label
            | ColumnKind::Weight
            | ColumnKind::Query
            | ColumnKind::Ignored { .. } => None,
        }
    }
}

/// What one of the features of a date is called.
fn date_feature(k: usize) -> String {
    const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    match k {
        0 => "days".to_owned(),
        1 => "year".to_owned(),
        k if k < 14 => format!("month={}", k - 1),
        k => format!("weekday={}", WEEKDAYS[(k - 14) % 7]),
    }
}

impl Schema {
    /// What people call feature `j`: `age`, `color=red`, `x[2]`; LIBSVM: the 1-based index `17`;
    /// IDX: the pixel `r3c14`.
    pub fn feature_name(&self, j: usize) -> String {
        if let Some([_, width]) = self.image.filter(|_| self.n_computed == 0 || j < self.n_read()) {
            return format!("r{}c{}", j / width.max(1), j % width.max(1));
        }
        if let Some(id) = self.feature_ids.as_ref().and_then(|ids| ids.get(j)) {
            return id.to_string();
        }
        let inside = |column: &&Column| {
            column.kind.span().is_some_and(|(at, len)| j.checked_sub(at).is_some_and(|k| k < len))
        };
        let Some(column) = self.columns.iter().flatten().find(inside) else {
            return (j + 1).to_string();
        };
        match &column.kind {
            ColumnKind::Hashed { at, .. } => self.hashed_name(j - at),
            ColumnKind::Categorical { at, values } => match values[j - at].as_str() {
                "" => format!("{}=(missing)", column.name),
                value => format!("{}={value}", column.name),
            },
            ColumnKind::Vector { at, .. } => format!("{}[{}]", column.name, j - at),
            ColumnKind::Named { at, names } => names[j - at].clone(),
            ColumnKind::Date { at, .. } => format!("{}.{}", column.name, date_feature(j - at)),
            ColumnKind::Time { .. } => format!("{}.hours", column.name),
            _ => column.name.clone(),
        }
    }

    /// The values that fall into a column of the hashed table, as far as they are known.
    fn hashed_name(&self, bucket: usize) -> String {
        const SHOWN: usize = 3;
        let mut names = Vec::new();
        for column in self.columns.iter().flatten() {
            if let ColumnKind::Hashed { names: known, .. } = &column.kind {
                let first = known.partition_point(|(at, _)| (*at as usize) < bucket);
                let here = known[first..].iter().take_while(|(at, _)| *at as usize == bucket);
                names.extend(here.map(|(_, value)| format!("{}={value}", column.name)));
            }
        }
        match names.len() {
            0 => format!("#{bucket}"),
            n if n > SHOWN => format!("{}|…", names[..SHOWN].join("|")),
            _ => names.join("|"),
        }
    }

    /// The features that are columns of numbers, or of lists of them, in a table: rising. Without named columns there are none.
    pub fn number_features(&self) -> Vec<usize> {
        let span = |column: &Column| match column.kind {
            ColumnKind::Numeric { at, .. } | ColumnKind::Time { at, .. } => at..at + 1,
            ColumnKind::Vector { at, len } => at..at + len,
            ColumnKind::Date { at, .. } => at..at + 2,
            _ => 0..0,
        };
        self.columns.iter().flatten().flat_map(span).collect()
    }

    /// The features of each set of which a row has one at most: the values of a column of categories, the months and the days of the week of a date. They rise.
    pub fn category_features(&self) -> Vec<Range<usize>> {
        let spans = |column: &Column| match &column.kind {
            ColumnKind::Categorical { at, values } => {
                let all = *at..at + values.len();
                vec![all]
            }
            ColumnKind::Date { at, .. } => {
                let weekdays = at + DATE_FEATURES - WEEKDAYS;
                vec![at + 2..weekdays, weekdays..at + DATE_FEATURES]
            }
            _ => Vec::new(),
        };
        let mut all: Vec<Range<usize>> = self.columns.iter().flatten().flat_map(spans).collect();
        all.sort_unstable_by_key(|span| span.start);
        all
    }

    /// How many features come straight from the file: the first ones.
    pub fn n_read(&self) -> usize {
        self.n_features.saturating_sub(self.n_computed)
    }

    /// The names of the text columns, slot by slot. They have no features here.
    pub fn text_columns(&self) -> impl Iterator<Item = &str> {
        let is_text = |column: &&Column| matches!(column.kind, ColumnKind::Text { .. });
        self.columns.iter().flatten().filter(is_text).map(|column| column.name.as_str())
    }

    /// The table of columns with their types, one line each, to show to the user. Empty where the format
    /// has no named columns.
    pub fn describe(&self) -> Vec<String> {
        let columns = self.columns.as_deref().unwrap_or_default();
        let names: Vec<String> = columns.iter().map(|c| printable(&c.name)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(30);
        let line = |(name, column): (&String, &Column)| {
            format!("{name:width$}  {}", self.role(&column.kind))
        };
        names.iter().zip(columns).map(line).collect()
    }

    fn role(&self, kind: &ColumnKind) -> String {
        match kind {
            ColumnKind::Numeric { .. } => "numeric".to_owned(),
            ColumnKind::Categorical { values, .. } => {
                let show = |value: &String| match value.as_str() {
                    "" => "(missing)".to_owned(),
                    _ => printable(value),
                };
                let shown: Vec<String> = values.iter().take(3).map(show).collect();
                let more = if values.len() > 3 { ", …" } else { "" };
                let n = count(values.len(), "value");
                format!("categorical, {n}: {}{more}", shown.join(", "))
            }
            ColumnKind::Hashed { bits, .. } => {
                format!("categorical, hashed into {} features", thousands(1 << bits))
            }
            ColumnKind::Vector { len, .. } => format!("list of {}", count(*len, "number")),
            ColumnKind::Named { names, .. } => {
                format!("named features, {}", thousands(names.len()))
            }
            ColumnKind::Date { day_first: true, .. } => "date, the day first".to_owned(),
            ColumnKind::Date { .. } => "date".to_owned(),
            ColumnKind::Time { .. } => "time of the day, in hours".to_owned(),
            ColumnKind::Text { .. } => "text".to_owned(),
            ColumnKind::Label if self.target == TargetKind::Real => "label, a number".to_owned(),
            ColumnKind::Label if self.target == TargetKind::Grades => "label, a grade".to_owned(),
            ColumnKind::Label if self.target == TargetKind::Labels => {
                format!("labels, {} names", thousands(self.classes.len()))
            }
            ColumnKind::Label if self.classes.len() == 1 => "label, 1 class".to_owned(),
            ColumnKind::Label => format!("label, {} classes", thousands(self.classes.len())),
            ColumnKind::Weight => "example weight".to_owned(),
            ColumnKind::Query => "query".to_owned(),
            ColumnKind::Ignored { why } => format!("ignored: {why}"),
        }
    }

    /// Whether the parts agree with one another. A schema may come from a file that somebody made.
    pub fn check(&self) -> Result<(), String> {
        let (mut next, mut n_text, mut n_labels, mut n_weights) = (0usize, 0, 0, 0);
        let mut n_queries = 0;
        let mut hashed: Option<(usize, u8)> = None;
        for column in self.columns.iter().flatten() {
            match column.kind {
                ColumnKind::Text { slot } if slot != n_text => {
                    return Err(format!(
                        "text column {} is number {slot}, not {n_text}",
                        column.name
                    ));
                }
                ColumnKind::Text { .. } => n_text += 1,
                ColumnKind::Label => n_labels += 1,
                ColumnKind::Weight => n_weights += 1,
                ColumnKind::Query => n_queries += 1,
                _ => {}
            }
            if let ColumnKind::Numeric { mean, .. } | ColumnKind::Time { mean, .. } = column.kind
                && !mean.is_finite()
            {
                return Err(format!("column {} has the mean {mean}", column.name));
            }
            if let ColumnKind::Date { mean, .. } = column.kind
                && mean.iter().any(|mean| !mean.is_finite())
            {
                return Err(format!("column {} has the mean {mean:?}", column.name));
            }
            if let ColumnKind::Hashed { at, bits, .. } = column.kind {
                if bits == 0 || bits > MOST_BITS || *hashed.get_or_insert((at, bits)) != (at, bits)
                {
                    return Err(format!("column {} has a table of its own", column.name));
                }
                continue;
            }
            let Some((at, len)) = column.kind.span() else { continue };
            if at != next {
                return Err(format!("column {} starts at feature {at}, not {next}", column.name));
            }
            next = next.checked_add(len).ok_or("too many features")?;
        }
        if let Some((at, bits)) = hashed {
            if at != next {
                return Err(format!("hashed columns start at feature {at}, not {next}"));
            }
            next = next.checked_add(1 << bits).ok_or("too many features")?;
        }
        if n_labels > 1 || n_weights > 1 {
            return Err(format!("{n_labels} columns of labels and {n_weights} of weights"));
        }
        let needs_query = self.columns.is_some() && self.target == TargetKind::Grades;
        if n_queries != usize::from(needs_query) {
            return Err(format!("{n_queries} columns of queries"));
        }
        let n_read = self
            .n_features
            .checked_sub(self.n_computed)
            .ok_or("more features are computed than there are")?;
        if self.columns.is_some() && next != n_read {
            return Err(format!("columns have {next} features, not {n_read}"));
        }
        if let Some(ids) = &self.feature_ids
            && (ids.len() != n_read || !ids.is_sorted_by(|a, b| a < b))
        {
            return Err("feature ids are not in rising order, one per feature".to_owned());
        }
        if let Some([height, width]) = self.image
            && height.checked_mul(width) != Some(n_read)
        {
            return Err(format!("images of {height} × {width} for {n_read} features"));
        }
        if self.n_features > u32::MAX as usize {
            return Err(format!("{} features", self.n_features));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: Vec<Column>, n_features: usize) -> Schema {
        Schema {
            format: Some(Format::Csv),
            target: TargetKind::Classes,
            classes: vec!["a".into(), "b".into()],
            n_features,
            n_computed: 0,
            columns: Some(columns),
            feature_ids: None,
            image: None,
            no_header: false,
            delimiter: None,
            decimal_comma: false,
            encoding: None,
        }
    }

    fn column(name: &str, kind: ColumnKind) -> Column {
        Column { name: name.to_owned(), kind }
    }

    #[test]
    fn features_have_names() {
        let values = vec!["blue".to_owned(), "red".to_owned()];
        let mut schema = table(
            vec![
                column("age", ColumnKind::Numeric { at: 0, mean: 0.0 }),
                column("y", ColumnKind::Label),
                column("color", ColumnKind::Categorical { at: 1, values }),
                column("x", ColumnKind::Vector { at: 3, len: 2 }),
            ],
            5,
        );
        let names: Vec<String> = (0..5).map(|j| schema.feature_name(j)).collect();
        assert_eq!(names, ["age", "color=blue", "color=red", "x[0]", "x[1]"]);
        assert_eq!(schema.describe()[2], "color  categorical, 2 values: blue, red");
        assert_eq!(schema.check(), Ok(()));

        schema.columns = None;
        assert_eq!(schema.feature_name(16), "17");
        schema.feature_ids = Some(vec![5, 4_000_000_000]);
        assert_eq!(schema.feature_name(1), "4000000000");
        schema.image = Some([28, 28]);
        assert_eq!(schema.feature_name(3 * 28 + 14), "r3c14");
    }

    #[test]
    fn a_schema_survives_json_and_a_bad_one_is_refused() {
        let schema = table(vec![column("age", ColumnKind::Numeric { at: 0, mean: 0.0 })], 1);
        let text = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
        assert!(
            table(vec![column("age", ColumnKind::Numeric { at: 7, mean: 0.0 })], 8)
                .check()
                .is_err()
        );
        assert!(
            table(vec![column("age", ColumnKind::Numeric { at: 0, mean: 0.0 })], 8)
                .check()
                .is_err()
        );
        let len = usize::MAX;
        let two = vec![
            column("a", ColumnKind::Numeric { at: 0, mean: 0.0 }),
            column("x", ColumnKind::Vector { at: 1, len }),
        ];
        assert!(table(two, 0).check().is_err());
        let text = |slots: [usize; 2]| slots.map(|slot| column("t", ColumnKind::Text { slot }));
        assert_eq!(table(text([0, 1]).into(), 0).check(), Ok(()));
        assert_eq!(table(text([0, 1]).into(), 0).text_columns().count(), 2);
        assert!(table(text([1, 0]).into(), 0).check().is_err());
        let twice = vec![column("y", ColumnKind::Label), column("z", ColumnKind::Label)];
        assert!(table(twice, 0).check().is_err());
    }
}
