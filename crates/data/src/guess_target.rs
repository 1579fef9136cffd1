//! Guesses whether labels are classes or numbers to predict.

use crate::error::{Error, thousands};
use crate::number::parse_number;
use crate::options::ReadOptions;
use crate::schema::{ColumnKind, Schema, TargetKind};
use crate::source::Source;
use crate::stream::{Learnt, learn_label};
use crate::table::is_missing;

/// Rows that are looked at.
const SAMPLE: usize = 20_000;

/// More whole numbers than this are hardly names of classes, if each has few rows.
const MANY_VALUES: usize = 20;

/// Fewer rows per value than this are few.
const FEW_ROWS: usize = 10;

/// In small tables, more than this, if most values have one row alone.
const MANY_IN_SMALL: usize = 10;

/// What labels seem to be.
#[derive(Clone, Debug, PartialEq)]
pub struct GuessedTarget {
    /// [`TargetKind::Classes`] or [`TargetKind::Real`].
    pub target: TargetKind,
    /// For [`TargetKind::Real`]: what was seen, for people.
    pub why: String,
}

/// Looks at the first rows: labels of fractions, or of many different whole numbers in a table, are numbers to predict. Whole numbers in
/// LIBSVM files are classes, as there every label is a number.
///
/// A source that can be read only once must be [kept](Source::kept). Errors of the file itself are left to the reader.
pub fn guess_target(source: &Source, options: &ReadOptions) -> GuessedTarget {
    let options = ReadOptions { target: TargetKind::Classes, ..options.clone() };
    let looked: Result<Learnt, Error> = learn_label(source.clone(), &options, SAMPLE);
    let why = looked.ok().and_then(|learnt| why_numbers(&learnt.schema, learnt.n_rows));
    match why {
        Some(why) => GuessedTarget { target: TargetKind::Real, why },
        None => GuessedTarget { target: TargetKind::Classes, why: String::new() },
    }
}

fn why_numbers(schema: &Schema, n_rows: usize) -> Option<String> {
    let label = schema.columns.iter().flatten().find(|column| column.kind == ColumnKind::Label);
    let name = label.map_or("the label".to_owned(), |column| format!("{:?}", column.name));
    let value = |class: &String| parse_number(class, schema.decimal_comma);
    let classes: Vec<&String> = schema.classes.iter().filter(|c| !is_missing(c)).collect();
    let values: Vec<f64> = classes.iter().copied().map(value).collect::<Option<_>>()?;
    let n_values = values.len();
    if n_values <= 2 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    if let Some(at) = values.iter().position(|v| v.fract() != 0.0) {
        return Some(format!("{name} holds fractions, such as {}", classes[at]));
    }
    // Codes of products or occupations are whole numbers, too, and have a name that says so.
    const NAMES_OF_CLASSES: [&str; 5] = ["label", "class", "category", "intent", "code"];
    let is_code = |name: &str| NAMES_OF_CLASSES.iter().any(|n| name.eq_ignore_ascii_case(n));
    let is_named = label.is_none_or(|column| is_code(&column.name));
    let is_many = (n_values > MANY_VALUES
        && (n_rows < FEW_ROWS * n_values || !are_counted(&values)))
        || (n_values > MANY_IN_SMALL && n_rows < 2 * n_values);
    (is_many && !is_named).then(|| {
        format!(
            "{name} holds {} different numbers in {} rows",
            thousands(n_values),
            thousands(n_rows)
        )
    })
}

/// Whether values could be the numbers of classes: these are counted from 0 or 1 without large gaps. Ages begin later, and amounts have gaps.
fn are_counted(values: &[f64]) -> bool {
    let (low, high) =
        values.iter().fold((f64::INFINITY, 0.0), |(low, high), &v| (v.min(low), v.max(high)));
    (0.0..=1.0).contains(&low) && high - low < 1.25 * values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str, text: &str) -> TargetKind {
        let source = Source::Memory { name: name.into(), bytes: text.into() };
        guess_target(&source, &ReadOptions::default()).target
    }

    fn table(label: &str, n: usize, value: impl Fn(usize) -> String) -> String {
        let rows = (0..n).map(|i| format!("{i},{}\n", value(i)));
        format!("x,{label}\n{}", rows.collect::<String>())
    }

    #[test]
    fn fractions_and_many_whole_numbers_are_numbers() {
        let fraction = |i: usize| format!("{}.5", i % 3);
        assert_eq!(target("a.csv", &table("y", 30, fraction)), TargetKind::Real);
        assert_eq!(target("a.svm", "0.5 1:1\n1.5 1:2\n2 1:3\n"), TargetKind::Real);
        let many = table("y", 60, |i| (i % 30).to_string());
        assert_eq!(target("a.csv", &many), TargetKind::Real);
        let small = table("y", 20, |i| (i % 12).to_string());
        assert_eq!(target("a.csv", &small), TargetKind::Real);
        let ages = table("y", 2000, |i| (18 + i % 70).to_string());
        assert_eq!(target("a.csv", &ages), TargetKind::Real);
        let waits = table("y", 2000, |i| (i % 40 * (i % 40)).to_string());
        assert_eq!(target("a.csv", &waits), TargetKind::Real);
        let holes =
            table("y", 60, |i| if i % 9 == 0 { "NA".into() } else { format!("{}.5", i % 5) });
        assert_eq!(target("a.csv", &holes), TargetKind::Real);
        let numbered = table("y", 2000, |i| (i % 70).to_string());
        assert_eq!(target("a.csv", &numbered), TargetKind::Classes);
        let pairs = table("y", 24, |i| (i % 12).to_string());
        assert_eq!(target("a.csv", &pairs), TargetKind::Classes);
    }

    #[test]
    fn few_values_names_and_codes_are_classes() {
        for value in [|i: usize| (i % 3).to_string(), |i| format!("c{}", i % 30)] {
            assert_eq!(target("a.csv", &table("y", 60, value)), TargetKind::Classes);
        }
        let half = |i: usize| if i.is_multiple_of(2) { "0.5".to_owned() } else { "1".to_owned() };
        assert_eq!(target("a.csv", &table("y", 60, half)), TargetKind::Classes);
        assert_eq!(
            target("a.csv", &table("class", 60, |i| (i % 30).to_string())),
            TargetKind::Classes
        );
        let rows: String = (0..60).map(|i| format!("{} 1:1\n", i % 30)).collect();
        assert_eq!(target("a.svm", &rows), TargetKind::Classes);
        assert_eq!(target("a.csv", "x,z\n1,2\n"), TargetKind::Classes);
    }
}
