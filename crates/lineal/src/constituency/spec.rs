//! What constituency parsing alone can choose, with its defaults.

use crate::structured::TagsKind;
use lineal_constituents::GrammarSpec;
use serde::{Deserialize, Serialize};

/// Choices about constituency trees beside those of every [`TrainSpec`](crate::TrainSpec).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConstituencySpec {
    /// Sisters that the symbols of a split phrase remember.
    pub horizontal: usize,
    /// 1 for labels as they are, 2 for labels with that of their parent, and so on.
    pub vertical: usize,
    /// Keep the functions of labels: `NP-SBJ`.
    pub functions: bool,
    /// The text of a template file; the built-in templates if there is none.
    pub templates: Option<String>,
    /// The weights of trees are in a table of 2 to the power of this.
    pub hash_bits: Option<u32>,
    /// Spans per word that a small local model leaves to choose from; 0 for all. By default at most 20, and fewer where the phrases are clear.
    pub candidates: Option<usize>,
    /// Where the parts of speech of the training data come from.
    pub tags: TagsKind,
}

impl Default for ConstituencySpec {
    fn default() -> Self {
        let GrammarSpec { horizontal, vertical, .. } = GrammarSpec::default();
        Self {
            horizontal,
            vertical,
            functions: false,
            templates: None,
            hash_bits: None,
            candidates: None,
            tags: TagsKind::Gold,
        }
    }
}
