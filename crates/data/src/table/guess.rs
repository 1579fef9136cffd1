//! The type of a column that the user said nothing of, from the whole column.

use super::FEATURES;
use super::profile::{MOST_VALUES, Profile};
use crate::error::{count, quote, thousands};
use crate::schema::ColumnKind;

/// Up to so many values are categories even if each row has its own.
const FEW_VALUES: usize = 20;

/// Text has so many words, in half of the cells at least.
pub(super) const TEXT_WORDS: usize = 4;

/// What the column is, if its first feature is `at`.
pub(super) fn guess(name: &str, profile: Profile, at: usize) -> ColumnKind {
    let ignored = |why: String| ColumnKind::Ignored { why };
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
    if profile.n_names == 0 {
        return ColumnKind::Numeric { at, mean: profile.mean() };
    }
    let mean = profile.mean();
    let Some(distinct) = profile.distinct else { return ColumnKind::Numeric { at, mean } };
    let n = distinct.len();
    if n <= FEW_VALUES || n <= MOST_VALUES.min(profile.n_rows / 2) {
        return ColumnKind::Categorical { at, values: distinct.sorted().unwrap_or_default() };
    }
    ignored(format!(
        "looks like free text ({} distinct values of {})",
        thousands(n),
        thousands(profile.n_rows)
    ))
}

/// Whether the column looks like running text: it is called so or has at least [`TEXT_WORDS`] words in the median, and more than
/// half of its values are distinct.
pub(super) fn is_text(name: &str, profile: &Profile) -> bool {
    let n_values = profile.n_numbers + profile.n_names;
    let n_distinct = profile.distinct.as_ref().map_or(0, |distinct| distinct.len());
    profile.n_names > 0
        && profile.n_lists + profile.n_objects == 0
        && (2 * profile.n_wordy >= n_values || name.eq_ignore_ascii_case("text"))
        && 2 * n_distinct > n_values
}

/// A column of numbers with a few words in it is often a typing error.
pub(super) fn mixed(name: &str, profile: &Profile, file: &str) -> Option<String> {
    let (word, line) = profile.first_name.as_ref()?;
    (profile.n_numbers * 2 >= profile.n_rows).then(|| {
        format!(
            "{file}:{line}: column {name:?} is not numeric because of {} ({} of {} are numbers); correct \
             it, or say --categorical {name} or --ignore {name}",
            quote(word),
            thousands(profile.n_numbers),
            count(profile.n_rows, "row")
        )
    })
}
