//! Lists of phrases and clusters of words: columns that no file has, computed from the words and stored with the model.
//!
//! A list adds one column: `B` where the longest phrase of the list begins, `I` where it goes on, `_` elsewhere. Clusters of bits (Brown clusters) add the first 4, 6 and 10
//! bits of a word's cluster and the whole; clusters with names add one column.

use super::spec::{TagSpec, WordList};
use crate::Error;
use lineal_data::{Sequence, SequenceSchema, words};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The lengths of the prefixes of clusters that are bits.
const PREFIXES: [usize; 3] = [4, 6, 10];
/// Offsets at which the columns are read.
const OFFSETS: [i32; 3] = [-1, 0, 1];
/// What stands where nothing was found.
const NONE: &str = "_";

/// What is looked up for each token.
#[derive(Clone, Debug)]
pub(super) struct Lexicon {
    lists: Vec<Phrases>,
    clusters: HashMap<String, String>,
    /// Columns of clusters.
    n_clusters: usize,
    words: usize,
    /// Columns of the data, that of the label among them.
    base: usize,
}

#[derive(Clone, Debug)]
struct Phrases {
    name: String,
    /// As they are written, but words parted by single spaces.
    exact: HashSet<String>,
    /// Those written in small letters, which are found in any case.
    small: HashSet<String>,
    /// The most tokens to look at.
    longest: usize,
}

impl Lexicon {
    /// What a spec names; none if it names nothing.
    pub(super) fn new(spec: &TagSpec, schema: &SequenceSchema) -> Option<Self> {
        if spec.lists.is_empty() && spec.clusters.is_empty() {
            return None;
        }
        let bits =
            spec.clusters.values().all(|cluster| cluster.bytes().all(|b| b"01".contains(&b)));
        Some(Self {
            lists: spec.lists.iter().map(Phrases::new).collect(),
            clusters: spec.clusters.iter().map(|(word, c)| (word.clone(), c.clone())).collect(),
            n_clusters: match spec.clusters.is_empty() {
                true => 0,
                false if bits => PREFIXES.len() + 1,
                false => 1,
            },
            words: schema.words(),
            base: schema.columns.len(),
        })
    }

    /// Columns of the data and those that are computed.
    pub(super) fn n_columns(&self) -> usize {
        self.base + self.lists.len() + self.n_clusters
    }

    /// Templates that read the computed columns.
    pub(super) fn templates(&self) -> String {
        let lists = self.lists.iter().map(|list| list.name.clone());
        let clusters = (0..self.n_clusters).map(|i| match PREFIXES.get(i) {
            Some(bits) if self.n_clusters > 1 => format!("cluster{bits}"),
            _ => "cluster".to_owned(),
        });
        let mut text = String::new();
        for (name, column) in lists.chain(clusters).zip(self.base..) {
            for at in OFFSETS {
                text.push_str(&format!("U:{name}@{at}=%x[{at},{column}]\n"));
            }
        }
        text
    }

    /// The cells of a sequence and those that are computed, token by token.
    pub(super) fn cells<'a>(&'a self, sequence: Sequence<'a>, cells: &mut Vec<&'a str>) {
        let (n, n_file) = (sequence.len(), sequence.data().n_columns());
        let tokens: Vec<&'a str> = (0..n).map(|t| sequence.cell(t, self.words)).collect();
        let found: Vec<Vec<&'static str>> = self.lists.iter().map(|l| l.mark(&tokens)).collect();
        for t in 0..n {
            // A file may lack its last column, that of the label.
            cells.extend((0..self.base).map(|c| if c < n_file { sequence.cell(t, c) } else { "" }));
            cells.extend(found.iter().map(|marks| marks[t]));
            if self.n_clusters > 0 {
                self.cluster(tokens[t], cells);
            }
        }
    }

    fn cluster<'a>(&'a self, word: &str, cells: &mut Vec<&'a str>) {
        let found = self.clusters.get(word).or_else(|| self.clusters.get(&word.to_lowercase()));
        let whole = found.map_or(NONE, String::as_str);
        if self.n_clusters > 1 {
            let prefix = |&n: &usize| whole.get(..n.min(whole.len())).unwrap_or(whole);
            cells.extend(PREFIXES.iter().map(prefix));
        }
        cells.push(whole);
    }
}

impl Phrases {
    fn new(list: &WordList) -> Self {
        let phrases: Vec<String> = list.entries.iter().map(|entry| spaced(entry)).collect();
        let longest = phrases.iter().map(|phrase| phrase.split(' ').count()).max().unwrap_or(0);
        let (small, exact) = phrases.into_iter().partition(|p| p.to_lowercase() == *p);
        Self { name: list.name.clone(), exact, small, longest }
    }

    /// `B` and `I` for the longest phrases, from left to right.
    fn mark(&self, tokens: &[&str]) -> Vec<&'static str> {
        let mut marks = vec![NONE; tokens.len()];
        let mut t = 0;
        while t < tokens.len() {
            let mut phrase = String::new();
            let mut end = 0;
            for (i, token) in tokens[t..].iter().take(self.longest).enumerate() {
                if i > 0 {
                    phrase.push(' ');
                }
                phrase.push_str(&spaced(token));
                if self.exact.contains(&phrase) || self.small.contains(&phrase.to_lowercase()) {
                    end = i + 1;
                }
            }
            if end > 0 {
                marks[t] = "B";
                marks[t + 1..t + end].fill("I");
            }
            t += end.max(1);
        }
        marks
    }
}

/// The words of a phrase with one space between them, punctuation marks apart: `St. Louis` is found however a file cuts it into tokens.
fn spaced(phrase: &str) -> String {
    words(phrase).map(|at| &phrase[at]).collect::<Vec<_>>().join(" ")
}

/// Reads a list of phrases: one per line.
pub fn read_word_list(name: &str, path: &Path) -> Result<WordList, Error> {
    let text = read(path)?;
    let entries = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let list = WordList { name: name.to_owned(), entries: entries.map(str::to_owned).collect() };
    if list.entries.is_empty() {
        return Err(Error::request(format!("{}: the list has no entries", path.display())));
    }
    Ok(list)
}

/// Reads clusters of words: lines `bits<tab>word<tab>count`, as Brown clusters come, or `word<tab>cluster`.
pub fn read_word_clusters(path: &Path) -> Result<BTreeMap<String, String>, Error> {
    let text = read(path)?;
    let is_bits = |field: &str| !field.is_empty() && field.bytes().all(|b| b"01".contains(&b));
    let lines = || text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let first = |line: &str| line.split(['\t', ' ']).next().is_some_and(is_bits);
    let brown = lines().all(|(line, _)| first(line));
    let mut clusters = BTreeMap::new();
    for (line, n) in lines() {
        let fields: Vec<&str> = match line.contains('\t') {
            true => line.split('\t').collect(),
            false => line.split_whitespace().collect(),
        };
        let (word, cluster) = match fields[..] {
            [bits, word] | [bits, word, _] if brown => (word, bits),
            [word, cluster] if !brown => (word, cluster),
            _ => {
                return Err(Error::request(format!(
                    "{}:{n}: `{line}` should be bits, a word and its count, or a word and its cluster, separated by tabs",
                    path.display()
                )));
            }
        };
        clusters.insert(word.to_owned(), cluster.trim().to_owned());
    }
    if clusters.is_empty() {
        return Err(Error::request(format!("{}: the file has no clusters", path.display())));
    }
    Ok(clusters)
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phrase_is_found_however_it_is_cut() {
        let entries = ["St. Louis", "New York", "New York City", "berlin"].map(str::to_owned);
        let list = Phrases::new(&WordList { name: "city".into(), entries: entries.to_vec() });
        let mark = |text: &str| list.mark(&text.split(' ').collect::<Vec<_>>()).join("");
        assert_eq!(mark("in St. Louis ."), "_BI_");
        assert_eq!(mark("in St . Louis"), "_BII");
        assert_eq!(mark("New York City New York york"), "BIIBI_");
        assert_eq!(mark("BERLIN and Berlin"), "B_B");
    }
}
