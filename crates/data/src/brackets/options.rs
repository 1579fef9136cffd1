//! What a user may say about a file of bracketed trees.

use crate::format::Format;

/// How to read bracketed trees. The default takes trees or plain sentences, keeps functions, and removes empty elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BracketReadOptions {
    /// [`Format::Brackets`] or [`Format::Sentences`], where neither the name nor the first character tells it.
    pub format: Option<Format>,
    /// Whether plain sentences are an error, as they are where trees are learnt or counted.
    pub require_trees: bool,
    /// Whether the functions of labels are cut off: `NP` for `NP-SBJ-1` and `NP=2`. What begins with `-`, as `-LRB-` does, and tags of words are left as they are.
    pub cut_functions: bool,
    /// Whether words with the tag `-NONE-` are removed, with brackets that have no other words.
    pub remove_empty: bool,
    /// Labels of an outermost bracket that is not a phrase but stands around the tree. One without a label always does.
    pub roots: Vec<String>,
}

impl Default for BracketReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            require_trees: false,
            cut_functions: false,
            remove_empty: true,
            roots: ["TOP", "ROOT", "S1"].map(str::to_owned).to_vec(),
        }
    }
}

/// `NP` of `NP-SBJ-1` and `NP=2`. A label that begins with `-` or `=` is left as it is.
pub(super) fn without_function(label: &str) -> &str {
    match label.find(['-', '=']) {
        Some(at) if at > 0 => &label[..at],
        _ => label,
    }
}
