//! The type of a column that the user said nothing of, from the whole column.

use super::FEATURES;
use super::profile::{MOST_VALUES, Profile};
use crate::error::{argument, count, quote, thousands};
use crate::schema::ColumnKind;

/// Up to so many values are categories even if each row has its own.
const FEW_VALUES: usize = 20;

/// Text has so many words, in half of the cells at least.
pub(super) const TEXT_WORDS: usize = 4;

/// What the column is, if its first feature is `at`.
pub(super) fn guess(name: &str, profile: Profile, at: usize) -> ColumnKind {
    let ignored = |why: String| ColumnKind::Ignored { why };
    let shown = argument(name);
    let n_single = profile.n_numbers + profile.n_names;
    if profile.n_objects > 0 {
        if name == FEATURES {
            let mut names: Vec<String> = profile.keys.into_iter().collect();
            names.sort_unstable();
            return ColumnKind::Named { at, names };
        }
        return ignored(format!("holds objects; only {FEATURES:?} may"));
    }
    if profile.n_lists > 0 {
        if n_single == 0 && profile.n_other_lists == 0 {
            return ColumnKind::Vector { at, len: profile.first_len };
        }
        return ignored("holds lists that are not of numbers alone".to_owned());
    }
    if n_single == 0 {
        return ignored("empty in every row".to_owned());
    }
    let mean = profile.mean();
    if let Some(day_first) = day_first(&profile) {
        return ColumnKind::Date { at, day_first, mean: profile.dates.mean() };
    }
    if profile.n_names == 0 && profile.n_codes == 0 {
        return ColumnKind::Numeric { at, mean };
    }
    if profile.times.n == n_single {
        return ColumnKind::Time { at, mean: profile.times.mean() };
    }
    let Some(distinct) = profile.distinct else { return ColumnKind::Numeric { at, mean } };
    let n = distinct.len();
    if n <= FEW_VALUES || n <= MOST_VALUES.min(profile.n_rows / 2) {
        return ColumnKind::Categorical { at, values: distinct.sorted().unwrap_or_default() };
    }
    if profile.n_names == 0 {
        return ignored(format!(
            "codes with leading zeros ({} distinct values in {}); options.categorical = {shown} or options.numeric = {shown} keeps it",
            thousands(n),
            thousands(profile.n_rows)
        ));
    }
    ignored(format!(
        "different in most rows ({} distinct values in {}); options.text = {shown} or options.categorical = {shown} keeps it",
        thousands(n),
        thousands(profile.n_rows)
    ))
}

/// If all values are dates: whether the day comes first in those with slashes.
fn day_first(profile: &Profile) -> Option<bool> {
    let [first, second] = profile.dates.largest.map(|part| part > 12);
    (are_dates(profile) && !(first && second)).then_some(first)
}

/// Whether all values are dates, whatever comes first in those with slashes.
fn are_dates(profile: &Profile) -> bool {
    profile.dates.n > 0 && profile.dates.n == profile.n_numbers + profile.n_names
}

/// What to say of a column of dates, or of times, that is not one because of some cells.
pub(super) fn not_dates(name: &str, profile: &Profile, file: &str) -> Option<String> {
    let n_values = profile.n_numbers + profile.n_names;
    if are_dates(profile) && day_first(profile).is_none() {
        return Some(format!(
            "{file}: column {name:?} is not a date because the day comes first in some cells and the month in others; write all as 2024-03-31"
        ));
    }
    let (dates, times) = (&profile.dates, &profile.times);
    let most = |n: usize| 2 * n >= profile.n_rows && n < n_values;
    let (what, whats, n, first) = match (most(dates.n), most(times.n)) {
        (true, _) => ("a date", "dates", dates.n, &dates.first_other),
        (_, true) => ("a time", "times", times.n, &times.first_other),
        _ => return None,
    };
    let ((cell, line), shown) = (first.as_ref()?, argument(name));
    Some(format!(
        "{file}:{line}: column {name:?} is not {what} because of {} ({} of {} are {whats}); correct it, leave the cell empty, or say options.ignore = {shown}",
        quote(cell),
        thousands(n),
        count(profile.n_rows, "row")
    ))
}

/// What to say of dates whose day and month could be swapped in all rows.
pub(super) fn open_dates(name: &str, profile: &Profile, file: &str) -> Option<String> {
    let [first, second] = profile.dates.largest;
    let is_open = first > 0 && first.max(second) <= 12 && day_first(profile).is_some();
    is_open.then(|| {
        format!("{file}: dates of column {name:?} are read with the month first, because no cell shows which comes first; write them as 2024-03-31 if it is the day")
    })
}

/// Whether a column is the name or number of the row: it is called so, or has no name of its own and is the first, and no value comes twice.
pub(super) fn is_id(name: &str, is_unnamed: bool, profile: &Profile) -> bool {
    let lower = name.to_ascii_lowercase();
    let unique = || {
        let n_distinct = profile.distinct.as_ref().map_or(0, |distinct| distinct.len());
        profile.n_rows > 1 && n_distinct == profile.n_rows
    };
    let is_count = || profile.counts && profile.n_numbers == profile.n_rows && profile.n_rows > 2;
    const NUMBERS: [&str; 5] = ["row", "nr", "no", "no.", "number"];
    lower == "id"
        || (is_id_name(name) && unique())
        || ((is_unnamed || is_index_name(name)) && profile.n_fractions == 0 && unique())
        || (NUMBERS.contains(&lower.as_str()) && is_count())
}

/// What pandas, R and spreadsheets call the column of row numbers or names. After a split its numbers do not follow each other.
fn is_index_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["index", "#", "rownames", "row.names", "row_names"].contains(&lower.as_str())
        || lower.starts_with("unnamed")
}

/// Whether the values of a column must be collected to see whether it is the name or number of the row.
pub(super) fn may_be_id(name: &str, is_unnamed: bool) -> bool {
    is_unnamed || is_id_name(name) || is_index_name(name)
}

/// `PassengerId`, `customer_id`, `order id`, `uuid`: not `paid`.
fn is_id_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let Some(before) = lower.strip_suffix("id") else { return false };
    let capital = name.ends_with("Id") || (name.ends_with("ID") && !name.ends_with("PAID"));
    before.is_empty()
        || before.ends_with(['_', '-', ' ', '.'])
        || (capital && name.chars().any(char::is_lowercase))
        || ["uu", "gu", "u"].contains(&before)
}

/// Whether the column looks like running text: it has at least [`TEXT_WORDS`] words in the median and more values than categories would;
/// or it is called text, and more than half of its values are distinct.
pub(super) fn is_text(name: &str, profile: &Profile) -> bool {
    let n_values = profile.n_numbers + profile.n_names;
    let n_distinct = profile.distinct.as_ref().map_or(0, |distinct| distinct.len());
    profile.n_names > 0
        && profile.n_lists + profile.n_objects == 0
        && 2 * profile.dates.n < n_values
        && ((2 * profile.n_wordy >= n_values && n_distinct > FEW_VALUES.min(n_values / 2))
            || (name.eq_ignore_ascii_case("text") && 2 * n_distinct > n_values))
}

/// What to say of numbers that lie so close together for their size that 32 bits hold few of their digits.
pub(super) fn lost_precision(name: &str, profile: &Profile, file: &str) -> Option<String> {
    const TOO_MUCH: f64 = 1e-4;
    if profile.n_names > 0 {
        return None;
    }
    let (lowest, highest) = profile.range()?;
    let rounding = lowest.abs().max(highest.abs()) * f64::from(f32::EPSILON) / 2.0;
    (rounding > TOO_MUCH * (highest - lowest) && highest > lowest).then(|| {
        format!(
            "{file}: numbers of column {name:?} run from {lowest} to {highest}, and 32 bits hold them to about {rounding:.1e} only; \
             write them as differences from {lowest}"
        )
    })
}

/// Whether all values are dates that can be read.
pub(super) fn is_date(profile: &Profile) -> bool {
    day_first(profile).is_some()
}

/// A column of numbers with a few words in it is often a typing error.
pub(super) fn mixed(name: &str, profile: &Profile, file: &str) -> Option<String> {
    let ((word, line), shown) = (profile.first_name.as_ref()?, argument(name));
    (profile.n_numbers * 2 >= profile.n_rows).then(|| {
        format!(
            "{file}:{line}: column {name:?} is not numeric because of {} ({} of {} are numbers); correct \
             it, or say options.categorical = {shown} or options.ignore = {shown}",
            quote(word),
            thousands(profile.n_numbers),
            count(profile.n_rows, "row")
        )
    })
}
