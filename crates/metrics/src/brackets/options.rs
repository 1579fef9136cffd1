//! Which words, brackets and labels count.

use super::{Bracket, BracketTree};

/// What counts. The default counts punctuation.
#[derive(Clone, Debug, PartialEq)]
pub struct BracketOptions {
    /// Tags of words that are not there: traces.
    pub empty_tags: Vec<String>,
    /// Tags of words that do not count.
    pub delete_tags: Vec<String>,
    /// Labels of brackets that do not count; their words do.
    pub delete_labels: Vec<String>,
    /// Pairs of labels, or of tags, that are the same one.
    pub equal_labels: Vec<[String; 2]>,
    /// Whether functions (`-SBJ`, `=2`) are cut off the labels of brackets.
    pub cut_functions: bool,
    /// Sentences of up to so many words are counted once more by themselves.
    pub short_length: usize,
}

impl Default for BracketOptions {
    fn default() -> Self {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            empty_tags: list(&["-NONE-"]),
            delete_tags: Vec::new(),
            delete_labels: list(&["TOP", "ROOT", "S1", ""]),
            equal_labels: Vec::new(),
            cut_functions: true,
            short_length: 40,
        }
    }
}

impl BracketOptions {
    /// The rules of Collins (1997), EVALB's `COLLINS.prm`: punctuation does not count, and `ADVP` and `PRT` are the same label.
    pub fn collins() -> Self {
        Self {
            delete_tags: [",", ":", "``", "''", "."].map(str::to_owned).to_vec(),
            equal_labels: vec![["ADVP".to_owned(), "PRT".to_owned()]],
            ..Self::default()
        }
    }
}

impl BracketOptions {
    /// The brackets that count, over the given words alone, with the labels that are compared.
    pub(super) fn kept<'a>(&'a self, tree: &BracketTree<'a>, words: &[usize]) -> Vec<Bracket<'a>> {
        let place = |word: usize| words.partition_point(|&kept| kept < word);
        let kept = tree.brackets.iter().map(|b| {
            let label = if self.cut_functions { without_function(b.label) } else { b.label };
            Bracket { label, start: place(b.start), end: place(b.end) }
        });
        let counts = |b: &Bracket<'_>| b.start < b.end && !is_in(&self.delete_labels, b.label);
        kept.filter(counts).map(|b| Bracket { label: self.canonical(b.label), ..b }).collect()
    }

    /// The first of the labels that are the same as this one.
    pub(super) fn canonical<'a>(&'a self, label: &'a str) -> &'a str {
        self.equal_labels.iter().find(|pair| pair[1] == label).map_or(label, |pair| &pair[0])
    }
}

/// `NP` of `NP-SBJ-1` and `NP=2`. A label that begins with `-` is left as it is.
fn without_function(label: &str) -> &str {
    match label.find(['-', '=']) {
        Some(at) if at > 0 => &label[..at],
        _ => label,
    }
}

pub(super) fn is_in(names: &[String], name: &str) -> bool {
    names.iter().any(|other| other == name)
}
