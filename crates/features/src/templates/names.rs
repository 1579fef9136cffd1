//! Names of hashed columns, as far as they are frequent enough to be kept.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most names that are kept.
const MOST: usize = 1 << 17;

/// The name of each column that has one: by a majority vote (Boyer and Moore), as several features may fall into one column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(u32, String)>", into = "Vec<(u32, String)>")]
pub struct TemplateNames {
    columns: BTreeMap<u32, (u32, String)>,
}

impl TemplateNames {
    /// Counts an occurrence.
    pub(crate) fn note(
        &mut self,
        column: u32,
        times: u32,
        name: impl FnOnce() -> String,
        is: impl FnOnce(&str) -> bool,
    ) {
        let room = self.columns.len() < MOST;
        match self.columns.get_mut(&column) {
            None if room => {
                self.columns.insert(column, (times, name()));
            }
            None => {}
            Some((votes, kept)) if is(kept) => *votes = votes.saturating_add(times),
            Some((votes, _)) if *votes >= times => *votes -= times,
            Some((votes, kept)) => (*votes, *kept) = (times - *votes, name()),
        }
    }

    /// Takes in what later rows say.
    pub fn extend(&mut self, later: TemplateNames) {
        for (column, (votes, name)) in later.columns {
            self.note(column, votes.max(1), || name.clone(), |kept| kept == name);
        }
    }

    /// What a column is called, if that is known.
    pub fn get(&self, column: u32) -> Option<&str> {
        self.columns.get(&column).map(|(_, name)| name.as_str())
    }
}

impl From<TemplateNames> for Vec<(u32, String)> {
    fn from(names: TemplateNames) -> Self {
        names.columns.into_iter().map(|(column, (_, name))| (column, name)).collect()
    }
}

impl From<Vec<(u32, String)>> for TemplateNames {
    fn from(list: Vec<(u32, String)>) -> Self {
        let columns = list.into_iter().map(|(column, name)| (column, (1, name)));
        Self { columns: columns.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_majority_names_a_column_and_json_leads_back() {
        let mut names = TemplateNames::default();
        for name in ["rare", "often", "often", "often"] {
            names.note(3, 1, || name.into(), |kept| kept == name);
        }
        names.note(1, 1, || "é".into(), |kept| kept == "é");
        assert_eq!((names.get(3), names.get(1), names.get(2)), (Some("often"), Some("é"), None));
        let json = serde_json::to_string(&names).unwrap();
        assert_eq!(json, r#"[[1,"é"],[3,"often"]]"#);
        let again: TemplateNames = serde_json::from_str(&json).unwrap();
        assert_eq!((again.get(3), again.get(1)), (Some("often"), Some("é")));
    }
}
