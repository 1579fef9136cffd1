//! Lists of phrases and clusters of words: columns that no file has, computed from the words.
//!
//! A list adds one column: `B` where the longest phrase of the list begins, `I` where it goes on, `_` elsewhere. Clusters of bits (Brown clusters) add the first 4, 6 and 10
//! bits of a word's cluster and the whole; clusters with names add one column.

use std::collections::{BTreeMap, HashMap, HashSet};

/// The lengths of the prefixes of clusters that are bits.
const PREFIXES: [usize; 3] = [4, 6, 10];
/// Offsets at which the columns are read.
const OFFSETS: [i32; 3] = [-1, 0, 1];
/// What stands where nothing was found.
const NONE: &str = "_";

/// The words of a text, punctuation marks apart.
pub type Tokenizer = fn(&str) -> Vec<&str>;

/// What is looked up for each token.
#[derive(Clone, Debug)]
pub struct Lexicon {
    lists: Vec<Phrases>,
    clusters: HashMap<String, String>,
    /// Columns of clusters.
    n_clusters: usize,
    /// The column of the words.
    words: usize,
    /// Columns of the data, that of the label among them.
    base: usize,
}

#[derive(Clone, Debug)]
struct Phrases {
    name: String,
    /// As they are written, but words separated by single spaces.
    exact: HashSet<String>,
    /// Those written in small letters, which are found in any case.
    small: HashSet<String>,
    /// The most tokens to look at.
    longest: usize,
    tokenizer: Tokenizer,
}

impl Lexicon {
    /// For data of `base` columns with words in column `words`. Phrases are found however the data cuts them into tokens: both go through the tokenizer.
    pub fn new<'a>(
        lists: impl Iterator<Item = (&'a str, &'a [String])>,
        clusters: &BTreeMap<String, String>,
        (words, base): (usize, usize),
        tokenizer: Tokenizer,
    ) -> Self {
        let is_bits = |cluster: &String| cluster.bytes().all(|b| b"01".contains(&b));
        Self {
            lists: lists.map(|(name, all)| Phrases::new(name, all, tokenizer)).collect(),
            clusters: clusters.iter().map(|(word, c)| (word.clone(), c.clone())).collect(),
            n_clusters: match clusters.is_empty() {
                true => 0,
                false if clusters.values().all(is_bits) => PREFIXES.len() + 1,
                false => 1,
            },
            words,
            base,
        }
    }

    /// Columns of the data and those that are computed.
    pub fn n_columns(&self) -> usize {
        self.base + self.lists.len() + self.n_clusters
    }

    /// Templates that read the computed columns.
    pub fn templates(&self) -> String {
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

    /// The cells of a sentence, `n_columns` for each token, with those that are computed after them, token by token.
    pub(super) fn extend<'a>(&'a self, cells: &[&'a str], n_columns: usize) -> Vec<&'a str> {
        let tokens: Vec<&str> = cells.chunks_exact(n_columns).map(|row| row[self.words]).collect();
        let found: Vec<Vec<&str>> = self.lists.iter().map(|list| list.mark(&tokens)).collect();
        let mut all = Vec::with_capacity(tokens.len() * self.n_columns());
        for (t, row) in cells.chunks_exact(n_columns).enumerate() {
            // A file may lack its last column, that of the label.
            all.extend((0..self.base).map(|column| row.get(column).copied().unwrap_or_default()));
            all.extend(found.iter().map(|marks| marks[t]));
            if self.n_clusters > 0 {
                self.cluster(tokens[t], &mut all);
            }
        }
        all
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
    fn new(name: &str, entries: &[String], tokenizer: Tokenizer) -> Self {
        let phrases: Vec<Vec<&str>> = entries.iter().map(|entry| tokenizer(entry)).collect();
        let longest = phrases.iter().map(Vec::len).max().unwrap_or(0);
        let phrases = phrases.iter().map(|words| words.join(" "));
        let (small, exact) = phrases.partition(|p| p.to_lowercase() == *p);
        Self { name: name.to_owned(), exact, small, longest, tokenizer }
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
                phrase.push_str(&(self.tokenizer)(token).join(" "));
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

/// Clusters by word from lines `bits<tab>word<tab>count`, as Brown clusters come, or `word<tab>cluster`. The error begins with the number of the line, if it is one line's.
pub fn parse_clusters(text: &str) -> Result<BTreeMap<String, String>, String> {
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
                return Err(format!(
                    "{n}: `{line}` should be bits, a word and its count, or a word and its cluster, separated by tabs"
                ));
            }
        };
        clusters.insert(word.to_owned(), cluster.trim().to_owned());
    }
    match clusters.is_empty() {
        true => Err(" the file has no clusters".into()),
        false => Ok(clusters),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_marks(text: &str) -> Vec<&str> {
        let ends = |(at, c): (usize, char)| {
            [Some(at), (!c.is_alphanumeric()).then_some(at + c.len_utf8())]
        };
        let mut cuts: Vec<usize> = vec![0];
        cuts.extend(
            text.char_indices().filter(|(_, c)| !c.is_alphanumeric()).flat_map(ends).flatten(),
        );
        cuts.push(text.len());
        let words = cuts.windows(2).map(|cut| text[cut[0]..cut[1]].trim());
        words.filter(|word| !word.is_empty()).collect()
    }

    #[test]
    fn the_longest_phrase_is_found_however_it_is_cut() {
        let entries = ["St. Louis", "New York", "New York City", "berlin"].map(str::to_owned);
        let list = Phrases::new("city", &entries, by_marks);
        let mark = |text: &str| list.mark(&text.split(' ').collect::<Vec<_>>()).join("");
        assert_eq!(mark("in St. Louis ."), "_BI_");
        assert_eq!(mark("in St . Louis"), "_BII");
        assert_eq!(mark("New York City New York york"), "BIIBI_");
        assert_eq!(mark("BERLIN and Berlin"), "B_B");
    }

    #[test]
    fn clusters_are_bits_or_names() {
        let brown = parse_clusters("0110\tdog\t12\n0111\tcat\t3\n").unwrap();
        assert_eq!(brown["dog"], "0110");
        let named = parse_clusters("dog animal\n\ncat\tanimal\n").unwrap();
        assert_eq!((&named["cat"][..], named.len()), ("animal", 2));
        assert!(parse_clusters("a b c").unwrap_err().starts_with("1: `a b c` should be"));
        assert!(parse_clusters("\n").is_err());
        let lexicon = Lexicon::new(std::iter::empty(), &brown, (0, 2), by_marks);
        assert_eq!((lexicon.n_columns(), lexicon.templates().lines().count()), (6, 12));
        // The last column of the data, that of the label, is not there.
        assert_eq!(lexicon.extend(&["Dog"], 1), ["Dog", "", "0110", "0110", "0110", "0110"]);
    }
}
