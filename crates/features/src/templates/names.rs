//! Names of hashed columns, as far as they are frequent enough to be kept.

use crate::Error;
use std::collections::BTreeMap;

/// The most names that are kept.
const MOST: usize = 1 << 17;

/// The name of each column that has one: by a majority vote (Boyer and Moore), as several features may fall into one column.
#[derive(Clone, Debug, Default, PartialEq)]
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

    /// Columns, where their names end, and the names one after the other: for a file.
    pub fn to_parts(&self) -> (Vec<u32>, Vec<u32>, Vec<u8>) {
        let (mut columns, mut ends, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for (&column, (_, name)) in &self.columns {
            bytes.extend_from_slice(name.as_bytes());
            columns.push(column);
            ends.push(bytes.len() as u32);
        }
        (columns, ends, bytes)
    }

    /// Takes up what [`to_parts`](Self::to_parts) gave, after checking it.
    pub fn from_parts(columns: &[u32], ends: &[u32], bytes: &[u8]) -> Result<Self, Error> {
        let damaged = |why: &str| Error::Damaged(why.to_owned());
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("names are not UTF-8"))?;
        if columns.len() != ends.len() || columns.len() > MOST {
            return Err(damaged("not as many names as columns"));
        }
        let mut start = 0;
        let mut this = Self::default();
        for (&column, &end) in columns.iter().zip(ends) {
            let name = text.get(start..end as usize).ok_or_else(|| damaged("the ends of names"))?;
            this.columns.insert(column, (1, name.to_owned()));
            start = end as usize;
        }
        Ok(this)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_majority_names_a_column_and_parts_lead_back() {
        let mut names = TemplateNames::default();
        for name in ["rare", "often", "often", "often"] {
            names.note(3, 1, || name.into(), |kept| kept == name);
        }
        names.note(1, 1, || "é".into(), |kept| kept == "é");
        assert_eq!((names.get(3), names.get(1), names.get(2)), (Some("often"), Some("é"), None));
        let (columns, ends, bytes) = names.to_parts();
        let again = TemplateNames::from_parts(&columns, &ends, &bytes).unwrap();
        assert_eq!((again.get(3), again.get(1)), (Some("often"), Some("é")));
        assert!(TemplateNames::from_parts(&columns, &[1, 2], &bytes).is_err());
        assert!(TemplateNames::from_parts(&columns, &ends[..1], &bytes).is_err());
        assert!(TemplateNames::from_parts(&[1], &[1], &[0xff]).is_err());
    }
}
