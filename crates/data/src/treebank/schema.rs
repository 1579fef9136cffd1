//! What a model must know of the treebank that it was trained on.

use serde::{Deserialize, Serialize};

/// The relations of a treebank. Columns need no schema: CoNLL-U has ten.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreebankSchema {
    /// The relations by number, in the order in which they came.
    pub relations: Vec<String>,
}

impl TreebankSchema {
    /// Whether each relation is there once, with a name that fits into a cell.
    pub fn check(&self) -> Result<(), String> {
        let is_cell = |name: &String| {
            !matches!(name.as_str(), "" | "_") && !name.contains(['\t', '\n', '\r'])
        };
        if !self.relations.iter().all(is_cell) {
            return Err("a relation has a name that no file can have".into());
        }
        let mut names: Vec<&String> = self.relations.iter().collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("a relation is there twice".into());
        }
        Ok(())
    }
}
