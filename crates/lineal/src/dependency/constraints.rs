//! Arcs that are never predicted, by the parts of speech of their ends, and those that the data names.

use super::spec::ArcEnd;
use crate::Error;
use lineal_data::{ConlluColumn, NO_HEAD, Sentence};
use std::path::Path;

/// How the root and any word are written.
const ROOT: &str = "<root>";
const ANY: &str = "*";

/// Reads forbidden arcs: one line `HEAD WORD` for each, the parts of speech (UPOS) of the head and of the word that depends on it, `<root>` for the root of the sentence, `*`
/// for any word; `#` begins a comment.
pub fn read_forbidden_arcs(path: &Path) -> Result<Vec<(ArcEnd, ArcEnd)>, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
    parse(&text).map_err(|why| Error::request(format!("{}:{why}", path.display())))
}

fn parse(text: &str) -> Result<Vec<(ArcEnd, ArcEnd)>, String> {
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
                return Err(format!("{n}: the root depends on nothing: name a part of speech"));
            }
            [head, word] => arcs.push((end(head), end(word))),
            _ => {
                return Err(format!(
                    "{n}: `{line}` should be two parts of speech: of the head, and of the word that must not depend on it"
                ));
            }
        }
    }
    Ok(arcs)
}

impl ArcEnd {
    fn is(&self, tag: Option<&str>) -> bool {
        match (self, tag) {
            (ArcEnd::Root, tag) => tag.is_none(),
            (ArcEnd::Any, tag) => tag.is_some(),
            (ArcEnd::Tag(name), tag) => tag == Some(name),
        }
    }
}

/// What a sentence may have for heads.
pub(super) struct Constraints<'a> {
    pub(super) forbidden: &'a [(ArcEnd, ArcEnd)],
    /// Keep the heads that the data has, and none that it excludes (`NotHead=3,4` in MISC).
    pub(super) known: bool,
}

impl Constraints<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.forbidden.is_empty() && !self.known
    }

    /// Leaves the heads of word `t` (from 0) that are allowed.
    pub(super) fn keep(&self, sentence: Sentence<'_>, t: usize, heads: &mut Vec<u32>) {
        let tag =
            |word: u32| (word > 0).then(|| sentence.cell(word as usize - 1, ConlluColumn::Upos));
        let own = tag(t as u32 + 1);
        let is_forbidden =
            |head: u32| self.forbidden.iter().any(|(h, m)| h.is(tag(head)) && m.is(own));
        if self.known {
            let known = sentence.heads()[t];
            if known != NO_HEAD {
                heads.clear();
                heads.push(known);
                return;
            }
            let excluded = not_heads(sentence.cell(t, ConlluColumn::Misc));
            heads.retain(|head| !excluded.contains(head));
        }
        heads.retain(|&head| !is_forbidden(head));
    }
}

/// The numbers of `NotHead=3,4`.
fn not_heads(misc: &str) -> Vec<u32> {
    let list = misc.split('|').find_map(|field| field.strip_prefix("NotHead="));
    list.unwrap_or_default().split(',').filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_arcs() {
        let tag = |name: &str| ArcEnd::Tag(name.into());
        assert_eq!(
            parse("# none\nPUNCT *\n<root> ADP # no preposition\n\n").unwrap(),
            [(tag("PUNCT"), ArcEnd::Any), (ArcEnd::Root, tag("ADP"))]
        );
        assert!(parse("a b c").unwrap_err().starts_with("1: `a b c` should be two"));
        assert!(parse("\nVERB <root>").unwrap_err().starts_with("2: the root depends"));
        assert_eq!(not_heads("SpaceAfter=No|NotHead=3,4"), [3, 4]);
        assert!(not_heads("_").is_empty());
    }
}
