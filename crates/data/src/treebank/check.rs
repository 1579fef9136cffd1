//! Whether heads make a tree.

use crate::error::{count, quote};

use super::column::ConlluColumn;
use super::options::TreebankOptions;
use super::table::NO_HEAD;

/// What is wrong with a sentence, and with which of its words.
pub(super) struct Fault {
    pub(super) token: usize,
    pub(super) message: String,
}

/// Of a cycle, so many words are named.
const SHOWN: usize = 8;

/// Checks the heads of a sentence, of which `cell(word, column)` has the cells.
pub(super) fn check<'a>(
    heads: &[u32],
    options: &TreebankOptions,
    cell: &dyn Fn(usize, usize) -> &'a str,
) -> Result<(), Fault> {
    let name =
        |token: usize| format!("{} {}", token + 1, quote(cell(token, ConlluColumn::Form as usize)));
    let fault = |token: usize, message: String| Err(Fault { token, message });
    let mut root = None;
    for (token, &head) in heads.iter().enumerate() {
        if head == NO_HEAD {
            if options.require_heads {
                let message =
                    format!("word {} has no head (`_`); give every word one", name(token));
                return fault(token, message);
            }
        } else if head as usize > heads.len() {
            let told = cell(token, ConlluColumn::Head as usize);
            let message = format!(
                "the head {} of word {} is out of range; the sentence has {}",
                quote(told),
                name(token),
                count(heads.len(), "word")
            );
            return fault(token, message);
        } else if head == 0 {
            if let Some(first) = root.filter(|_| options.single_root) {
                let message = format!(
                    "word {} is a second root beside word {}; give one of them another head than 0",
                    name(token),
                    name(first)
                );
                return fault(token, message);
            }
            root.get_or_insert(token);
        }
    }
    let Some(cycle) = cycle(heads) else { return Ok(()) };
    let (no_root, outside) = if root.is_none() && !heads.contains(&NO_HEAD) {
        ("no word is the root, and ", "the head 0")
    } else {
        ("", "a head outside of it")
    };
    let message = if cycle.len() == 1 {
        format!("{no_root}word {} is its own head; give it another one", name(cycle[0]))
    } else {
        let mut names: Vec<String> = cycle.iter().take(SHOWN).map(|&t| name(t)).collect();
        if cycle.len() > SHOWN {
            names.push("…".into());
        }
        let (names, again) = (names.join(" → "), cycle[0] + 1);
        format!("{no_root}heads form a cycle: {names} → {again}; give one of these words {outside}")
    };
    fault(cycle[0], message)
}

/// The words of a cycle, from its first word on, each followed by its head. Known heads are in range.
fn cycle(heads: &[u32]) -> Option<Vec<usize>> {
    // On which walk, counted from 1, a word was met. Each is met once.
    let mut walk = vec![0; heads.len()];
    let above = |token: usize| match heads[token] {
        0 | NO_HEAD => None,
        head => Some(head as usize - 1),
    };
    for start in 0..heads.len() {
        let mut at = Some(start);
        while let Some(token) = at.filter(|&token| walk[token] == 0) {
            walk[token] = start + 1;
            at = above(token);
        }
        if let Some(on_it) = at.filter(|&token| walk[token] == start + 1) {
            let around = |from| {
                std::iter::successors(Some(from), move |&token| {
                    above(token).filter(|&next| next != from)
                })
            };
            let first = around(on_it).min().unwrap_or(on_it);
            return Some(around(first).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cycles_begin_with_their_first_word() {
        assert_eq!(cycle(&[0, 1, 1]), None);
        assert_eq!(cycle(&[NO_HEAD, 1, NO_HEAD]), None);
        assert_eq!(cycle(&[1]), Some(vec![0]));
        assert_eq!(cycle(&[3, 4, 2, 3, 0]), Some(vec![1, 3, 2]));
        // 100,000 words, each depending on the next: no recursion, and each is met once.
        let mut heads: Vec<u32> = (2..=100_001).collect();
        heads[99_999] = 0;
        assert_eq!(cycle(&heads), None);
        heads[99_999] = 1;
        assert_eq!(cycle(&heads).map(|cycle| cycle.len()), Some(100_000));
    }

    proptest! {
        #[test]
        fn a_cycle_is_found_where_a_word_does_not_reach_the_top(
            heads in prop::collection::vec(prop_oneof![8 => 0..=7u32, 1 => Just(NO_HEAD)], 7..8)
        ) {
            // The slow way: follow each word for as many steps as there are words.
            let reaches_top = (0..heads.len()).all(|start| {
                let mut at = start as u32 + 1;
                for _ in 0..heads.len() {
                    if at != 0 && at != NO_HEAD {
                        at = heads[at as usize - 1];
                    }
                }
                at == 0 || at == NO_HEAD
            });
            let found = cycle(&heads);
            prop_assert_eq!(found.is_none(), reaches_top);
            if let Some(cycle) = found {
                for (i, &token) in cycle.iter().enumerate() {
                    prop_assert_eq!(heads[token] as usize - 1, cycle[(i + 1) % cycle.len()]);
                    prop_assert!(token >= cycle[0]);
                }
            }
        }
    }
}
