//! Arcs that are never predicted, by the parts of speech of their ends, and those that the data names.

use super::column::ConlluColumn;
use super::table::{NO_HEAD, Sentence, Treebank};
use crate::error::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// One end of a forbidden arc.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArcEnd {
    /// The root of the sentence.
    Root,
    /// A word with this part of speech (UPOS).
    Tag(String),
    /// Any word.
    Any,
}

/// How the root and any word are written.
const ROOT: &str = "<root>";
const ANY: &str = "*";

/// Reads forbidden arcs: one line `HEAD WORD` for each, the parts of speech (UPOS) of the head and of the word that depends on it, `<root>` for the root of the sentence, `*`
/// for any word; `#` begins a comment.
pub fn read_forbidden_arcs(path: &Path) -> Result<Vec<(ArcEnd, ArcEnd)>, Error> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Error::new(ErrorKind::Io, &file, format!("cannot be read: {e}")))?;
    parse_forbidden_arcs(&text)
        .map_err(|(line, why)| Error::in_line(ErrorKind::Value, &file, line, None, why))
}

/// The text of such a list. The error has the number of the line.
pub fn parse_forbidden_arcs(text: &str) -> Result<Vec<(ArcEnd, ArcEnd)>, (usize, String)> {
    let end = |name: &str| match name {
        ROOT => ArcEnd::Root,
        ANY => ArcEnd::Any,
        tag => ArcEnd::Tag(tag.to_owned()),
    };
    let mut arcs = Vec::new();
    for (line, n) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [] => {}
            [_, ROOT] => {
                return Err((n, "the root depends on nothing: name a part of speech".to_owned()));
            }
            [head, word] => arcs.push((end(head), end(word))),
            _ => {
                let why = format!(
                    "`{line}` should be two parts of speech: of the head, and of the word that must not depend on it"
                );
                return Err((n, why));
            }
        }
    }
    Ok(arcs)
}

/// What some sentences may have for heads.
#[derive(Debug)]
pub struct HeadConstraints<'a> {
    data: &'a Treebank,
    first: usize,
    known: bool,
    /// `[head's class · n + word's class]`; no entries where nothing is forbidden.
    forbidden: Vec<bool>,
    n_classes: usize,
    /// For each sentence the class of each word's part of speech, and the heads that the data excludes (`NotHead=3,4` in MISC).
    sentences: Vec<(Vec<usize>, Vec<Vec<u32>>)>,
}

/// The classes of the root and of parts of speech that no line names.
const OF_ROOT: usize = 0;
const OTHER: usize = 1;

impl<'a> HeadConstraints<'a> {
    /// Of the sentences `which`; with `known`, the heads that the data has must hold.
    pub fn new(
        forbidden: &[(ArcEnd, ArcEnd)],
        known: bool,
        data: &'a Treebank,
        which: Range<usize>,
    ) -> Result<Self, Error> {
        let mut names: Vec<&str> = forbidden
            .iter()
            .flat_map(|(head, word)| [head, word])
            .filter_map(|end| if let ArcEnd::Tag(name) = end { Some(&name[..]) } else { None })
            .collect();
        names.sort_unstable();
        names.dedup();
        let n_classes = names.len() + 2;
        let class = |tag: &str| names.binary_search(&tag).map_or(OTHER, |at| at + 2);
        let classes = |end: &ArcEnd| match end {
            ArcEnd::Root => OF_ROOT..1,
            ArcEnd::Any => OTHER..n_classes,
            ArcEnd::Tag(name) => class(name)..class(name) + 1,
        };
        let mut table = vec![false; if forbidden.is_empty() { 0 } else { n_classes * n_classes }];
        for (head, word) in forbidden {
            for h in classes(head) {
                classes(word).for_each(|w| table[h * n_classes + w] = true);
            }
        }
        let first = which.start;
        let mut of =
            Self { data, first, known, forbidden: table, n_classes, sentences: Vec::new() };
        if of.is_empty() {
            return Ok(of);
        }
        for i in which {
            let sentence = data.get(i);
            let words = 0..sentence.len();
            let tags = words.clone().map(|t| class(sentence.cell(t, ConlluColumn::Upos)));
            let excluded = words.map(|t| match known {
                true => not_heads(sentence, t),
                false => Ok(Vec::new()),
            });
            of.sentences.push((tags.collect(), excluded.collect::<Result<_, _>>()?));
        }
        Ok(of)
    }

    /// Whether every head is allowed.
    pub fn is_empty(&self) -> bool {
        self.forbidden.is_empty() && !self.known
    }

    /// Whether word `t` (from 0) of a sentence, counted from the first, may have this head.
    pub fn allows(&self, i: usize, t: usize, head: u32) -> bool {
        let (classes, excluded) = &self.sentences[i];
        let known = self.data.get(self.first + i).heads()[t];
        if self.known && known != NO_HEAD {
            return head == known;
        }
        !self.forbids(classes, t, head) && !excluded[t].contains(&head)
    }

    fn forbids(&self, classes: &[usize], t: usize, head: u32) -> bool {
        let of_head = head.checked_sub(1).map_or(OF_ROOT, |h| classes[h as usize]);
        self.forbidden.get(of_head * self.n_classes + classes[t]).is_some_and(|f| *f)
    }

    /// The arcs of the data that are forbidden.
    pub fn n_broken(&self) -> usize {
        let words = self.sentences.iter().enumerate().flat_map(|(i, (classes, _))| {
            let heads = self.data.get(self.first + i).heads();
            heads.iter().enumerate().map(move |(t, &head)| (classes, t, head))
        });
        words.filter(|(classes, t, head)| self.forbids(classes, *t, *head)).count()
    }
}

/// Refuses parts of speech that the training data does not have, and what leaves no tree.
pub fn check_forbidden_arcs(forbidden: &[(ArcEnd, ArcEnd)], data: &Treebank) -> Result<(), Error> {
    let ends = forbidden.iter().flat_map(|(head, word)| [head, word]);
    let mut missing: BTreeSet<&str> =
        ends.filter_map(|end| if let ArcEnd::Tag(t) = end { Some(&t[..]) } else { None }).collect();
    for sentence in data.iter().take_while(|_| !forbidden.is_empty()) {
        (0..sentence.len()).for_each(|t| {
            missing.remove(sentence.cell(t, ConlluColumn::Upos));
        });
    }
    if let Some(tag) = missing.first() {
        let why = format!(
            "no word has the part of speech `{tag}` (UPOS) that a forbidden arc names; is it misspelt?"
        );
        return Err(Error::new(ErrorKind::Value, &data.source, why));
    }
    if forbidden.is_empty() {
        return Ok(());
    }
    let tags: BTreeSet<&str> = data
        .iter()
        .flat_map(|sentence| (0..sentence.len()).map(move |t| sentence.cell(t, ConlluColumn::Upos)))
        .collect();
    let covers = |end: &ArcEnd, tag: &str| match end {
        ArcEnd::Any => true,
        ArcEnd::Tag(name) => name == tag,
        ArcEnd::Root => false,
    };
    let root_is =
        |tag: &str| forbidden.iter().any(|(head, word)| *head == ArcEnd::Root && covers(word, tag));
    let word_is = |above: &str, below: &str| {
        forbidden.iter().any(|(head, word)| covers(head, above) && covers(word, below))
    };
    let why = if tags.iter().all(|tag| root_is(tag)) {
        "the forbidden arcs leave no tree: as with `<root> *` no word may depend on the root, and one must"
    } else if tags.iter().all(|above| tags.iter().all(|below| word_is(above, below))) {
        "the forbidden arcs, like `* *`, leave trees for sentences of one word only"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Value, &data.source, why))
}

/// The numbers of `NotHead=3,4`.
fn not_heads(sentence: Sentence<'_>, t: usize) -> Result<Vec<u32>, Error> {
    let error = |message: String| sentence.data().error_at(sentence.index(), t, message);
    let fields = sentence.cell(t, ConlluColumn::Misc).split('|');
    let lists = fields.filter_map(|field| field.strip_prefix("NotHead="));
    let number = |text: &str| match text.parse() {
        Ok(head) if head as usize <= sentence.len() => Ok(head),
        _ => Err(error(format!(
            "NotHead has the numbers of words of this sentence, 0 for the root, separated by commas; `{text}` is none"
        ))),
    };
    let heads: Vec<u32> =
        lists.flat_map(|list| list.split(',')).map(number).collect::<Result<_, _>>()?;
    match sentence.heads()[t] {
        known if heads.contains(&known) => Err(error(format!(
            "the head is {known}, and NotHead excludes it; leave out one of the two"
        ))),
        _ => Ok(heads),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_arcs() {
        let tag = |name: &str| ArcEnd::Tag(name.into());
        assert_eq!(
            parse_forbidden_arcs("# none\nPUNCT *\n<root> ADP # no preposition\n\n").unwrap(),
            [(tag("PUNCT"), ArcEnd::Any), (ArcEnd::Root, tag("ADP"))]
        );
        let error = |text: &str| parse_forbidden_arcs(text).unwrap_err();
        assert!(matches!(error("a b c"), (1, why) if why.starts_with("`a b c` should be two")));
        assert!(matches!(error("\nVERB <root>"), (2, why) if why.starts_with("the root depends")));
    }
}
