//! What the columns of sequences are.

use crate::error::quote;
use crate::format::Format;
use serde::{Deserialize, Serialize};

/// What a model must know of the file that it was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceSchema {
    /// The format of the file.
    pub format: Format,
    /// The columns by name, that of the label included; CoNLL's are `0`, `1`, ….
    pub columns: Vec<String>,
    /// Which column is the label.
    pub label: usize,
    /// The labels, by number.
    pub labels: Vec<String>,
    /// Whether sequences are raw texts whose labels come from spans of characters, and how these are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<SpanForm>,
}

/// How spans of characters are written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanForm {
    /// `{"start": 0, "end": 5, "label": "PER"}`.
    Objects,
    /// `[0, 5, "PER"]`.
    Triples,
}

/// The columns of CoNLL-U.
pub(crate) const CONLLU: [&str; 10] =
    ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"];

impl SequenceSchema {
    /// The column with the words.
    pub fn words(&self) -> usize {
        usize::from(self.format == Format::Conllu)
    }

    /// Whether tokens are lists of attributes, without columns to make any from.
    pub fn has_attributes(&self) -> bool {
        self.format == Format::Crfsuite
    }

    /// Whether a file may leave the label out.
    pub(super) fn label_is_last(&self) -> bool {
        self.label + 1 == self.columns.len()
    }

    /// The number of a column that a user names.
    pub(super) fn column(&self, name: &str) -> Result<usize, String> {
        let by_name = self.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        let by_number = || name.parse().ok().filter(|&n: &usize| n < self.columns.len());
        by_name.or_else(by_number).ok_or_else(|| {
            format!(
                "there is no column {}: they are {}; columns are counted from 0",
                quote(name),
                self.columns.join(", ")
            )
        })
    }

    /// Whether its parts fit each other.
    pub fn check(&self) -> Result<(), String> {
        let fits = self.format.has_sequences()
            && self.label < self.columns.len()
            && self.words() < self.columns.len()
            && (self.format != Format::Jsonl || self.label_is_last())
            && (self.format != Format::Conllu || self.columns.len() == CONLLU.len())
            && (self.texts.is_none() || (self.format, self.columns.len()) == (Format::Jsonl, 2))
            && (self.format != Format::Crfsuite || (self.columns.len(), self.label) == (2, 1));
        if !fits {
            return Err("its columns do not fit its format".into());
        }
        let mut names: Vec<&String> = self.labels.iter().collect();
        names.sort_unstable();
        if names.is_empty() || names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("its labels are none, or one is there twice".into());
        }
        Ok(())
    }
}
