//! The ten columns of CoNLL-U by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::quote;

/// A column of CoNLL-U. As a number (`column as usize`) it is the column's place, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConlluColumn {
    /// The number of the word in its sentence, from 1.
    Id,
    /// The word.
    Form,
    /// Its lemma.
    Lemma,
    /// Its universal part of speech.
    Upos,
    /// Its part of speech in the treebank's own tag set.
    Xpos,
    /// Morphological features, `Case=Nom|Number=Sing`.
    Feats,
    /// The number of the word that it depends on; 0 for the root.
    Head,
    /// The relation to its head.
    Deprel,
    /// Enhanced dependencies.
    Deps,
    /// Anything else, `SpaceAfter=No`.
    Misc,
}

impl ConlluColumn {
    /// Every column, in the order of a line.
    pub const ALL: [ConlluColumn; 10] = [
        ConlluColumn::Id,
        ConlluColumn::Form,
        ConlluColumn::Lemma,
        ConlluColumn::Upos,
        ConlluColumn::Xpos,
        ConlluColumn::Feats,
        ConlluColumn::Head,
        ConlluColumn::Deprel,
        ConlluColumn::Deps,
        ConlluColumn::Misc,
    ];

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        crate::sequences::CONLLU[self as usize]
    }
}

impl fmt::Display for ConlluColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ConlluColumn {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|column| column.name().eq_ignore_ascii_case(name)).ok_or_else(
            || {
                let known = Self::ALL.map(Self::name).join(", ");
                format!("{} is not a column of CoNLL-U; they are {known}", quote(name))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_places_agree() {
        for (place, column) in ConlluColumn::ALL.into_iter().enumerate() {
            assert_eq!(column as usize, place);
            assert_eq!(column.name().to_uppercase().parse(), Ok(column));
        }
        assert!("pos".parse::<ConlluColumn>().unwrap_err().contains("`pos` is not a column"));
    }
}
