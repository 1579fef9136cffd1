//! What a user may say about a treebank.

use crate::format::Format;

/// How to read a treebank. The default takes what is there: heads may be missing, and a sentence may have several roots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreebankOptions {
    /// The format, where the name tells another one. Treebanks are CoNLL-U.
    pub format: Option<Format>,
    /// Whether a word without a head is an error, as it is where whole trees are learnt or counted.
    pub require_heads: bool,
    /// Whether a second root in a sentence is an error.
    pub single_root: bool,
}
