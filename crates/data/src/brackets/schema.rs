//! What a model must know of the trees that it was trained on.

use serde::{Deserialize, Serialize};

/// The labels and tags of a bracketed treebank, by number, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BracketSchema {
    /// Labels of phrases.
    pub labels: Vec<String>,
    /// Tags of words.
    pub tags: Vec<String>,
}

impl BracketSchema {
    /// Whether each label and each tag is there once, with a name that fits into brackets.
    pub fn check(&self) -> Result<(), String> {
        for (what, names) in [("label", &self.labels), ("tag", &self.tags)] {
            if let Some(name) = names.iter().find(|name| !super::tree::is_token(name)) {
                return Err(format!("the {what} {name:?} does not fit into brackets"));
            }
            let mut names: Vec<&String> = names.iter().collect();
            names.sort_unstable();
            if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("the {what} {:?} is there twice", pair[0]));
            }
        }
        Ok(())
    }
}
