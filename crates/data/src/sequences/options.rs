//! What a user may say about a file of sequences.

use crate::format::Format;

/// How to read a file of sequences. The default tells the format by the name, and takes the last column for the label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceOptions {
    /// The format, if the name does not show it or shows a wrong one.
    pub format: Option<Format>,
    /// The column with the label: its number from 0, a name of CoNLL-U (`upos`), or a key of JSON.
    pub label: Option<String>,
    /// What stands where a label is not known.
    pub unlabelled: Option<String>,
    /// The key of JSON that says how much a sequence counts. CRFsuite files have lines `@weight:2`.
    pub weight: Option<String>,
}
