//! Regular patterns over labels: `(B I* O)*`.
//!
//! ```text
//! pattern  = sequence { "|" sequence }
//! sequence = { item [ "*" | "+" | "?" ] }
//! item     = label | "." | "(" pattern ")"
//! ```
//!
//! A pattern becomes a nondeterministic automaton (Thompson 1968), then a deterministic one by sets of states, without states from which nothing is accepted.

use super::error::LanguageError;
use super::words::Words;
use crate::inference::{DEAD, Dfa};
use std::collections::{BTreeSet, HashMap};

/// The largest automaton.
const MOST_STATES: usize = 4096;
/// States × labels.
const MOST_ARCS: usize = 4_000_000;

#[derive(Default)]
struct Nfa {
    /// By state: the label (or any) and where it leads.
    arcs: Vec<Vec<(Option<usize>, usize)>>,
    /// By state: where nothing leads.
    free: Vec<Vec<usize>>,
}

impl Nfa {
    fn state(&mut self) -> usize {
        self.arcs.push(Vec::new());
        self.free.push(Vec::new());
        self.arcs.len() - 1
    }
}

/// Reads a pattern up to the end of the line.
pub(crate) fn parse(
    words: &mut Words,
    labels: &[String],
    kind: &str,
) -> Result<Dfa, LanguageError> {
    let mut nfa = Nfa::default();
    let (start, end) = alternatives(words, labels, kind, &mut nfa)?;
    if !words.is_end() {
        return Err(words.wrong("nothing is open that could be closed here"));
    }
    determine(&nfa, start, end, labels.len()).ok_or_else(|| LanguageError {
        line: words.line(),
        column: 1,
        word: "matches".into(),
        message: format!(
            "the pattern needs more than {} states; write a simpler one",
            MOST_STATES.min(MOST_ARCS / labels.len().max(1))
        ),
    })
}

fn alternatives(
    words: &mut Words,
    labels: &[String],
    kind: &str,
    nfa: &mut Nfa,
) -> Result<(usize, usize), LanguageError> {
    let (start, end) = (nfa.state(), nfa.state());
    loop {
        let (first, last) = sequence(words, labels, kind, nfa)?;
        nfa.free[start].push(first);
        nfa.free[last].push(end);
        if !words.takes("|") {
            return Ok((start, end));
        }
    }
}

fn sequence(
    words: &mut Words,
    labels: &[String],
    kind: &str,
    nfa: &mut Nfa,
) -> Result<(usize, usize), LanguageError> {
    let start = nfa.state();
    let mut end = start;
    while !words.is_end() && !words.sees("|") && !words.sees(")") {
        let (first, last) = if words.takes("(") {
            let inner = alternatives(words, labels, kind, nfa)?;
            words.expect(")", ": a parenthesis is open")?;
            inner
        } else {
            let label =
                if words.takes(".") {
                    None
                } else {
                    let word = words.name("a label, `.` or `(`")?;
                    let label = labels.iter().position(|label| *label == word.text);
                    let names = || labels.iter().map(String::as_str);
                    Some(label.ok_or_else(|| {
                        words.unknown(&word, &format!("label of {kind}"), names())
                    })?)
                };
            let (first, last) = (nfa.state(), nfa.state());
            nfa.arcs[first].push((label, last));
            (first, last)
        };
        let (before, after) = (nfa.state(), nfa.state());
        nfa.free[end].push(before);
        nfa.free[before].push(first);
        nfa.free[last].push(after);
        if words.takes("*") {
            nfa.free[last].push(first);
            nfa.free[before].push(after);
        } else if words.takes("+") {
            nfa.free[last].push(first);
        } else if words.takes("?") {
            nfa.free[before].push(after);
        }
        end = after;
    }
    Ok((start, end))
}

fn closure(nfa: &Nfa, mut open: Vec<usize>) -> BTreeSet<usize> {
    let mut set: BTreeSet<usize> = open.iter().copied().collect();
    while let Some(state) = open.pop() {
        open.extend(nfa.free[state].iter().copied().filter(|&next| set.insert(next)));
    }
    set
}

fn determine(nfa: &Nfa, start: usize, end: usize, n_labels: usize) -> Option<Dfa> {
    let first = closure(nfa, vec![start]);
    let mut numbers: HashMap<BTreeSet<usize>, u32> = HashMap::from([(first.clone(), 0)]);
    let mut sets = vec![first];
    let mut next = Vec::new();
    let mut at = 0;
    while at < sets.len() {
        for label in 0..n_labels {
            let arcs = sets[at].iter().flat_map(|&state| &nfa.arcs[state]);
            let to =
                arcs.filter(|(on, _)| on.is_none_or(|on| on == label)).map(|arc| arc.1).collect();
            let set = closure(nfa, to);
            if set.is_empty() {
                next.push(DEAD);
                continue;
            }
            let number = *numbers.entry(set.clone()).or_insert(sets.len() as u32);
            if number as usize == sets.len() {
                sets.push(set);
            }
            next.push(number);
        }
        at += 1;
        if sets.len() > MOST_STATES || sets.len() * n_labels > MOST_ARCS {
            return None;
        }
    }
    let accepting: Vec<bool> = sets.iter().map(|set| set.contains(&end)).collect();
    // States from which nothing is accepted are dead.
    let mut lives = accepting.clone();
    loop {
        let reaches = |state: usize| {
            let to = &next[state * n_labels..(state + 1) * n_labels];
            to.iter().any(|&to| to != DEAD && lives[to as usize])
        };
        let more: Vec<usize> = (0..sets.len()).filter(|&s| !lives[s] && reaches(s)).collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|state| lives[state] = true);
    }
    for to in &mut next {
        if *to != DEAD && !lives[*to as usize] {
            *to = DEAD;
        }
    }
    Some(Dfa { n_labels, start: 0, next, accepting })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(pattern: &str, text: &str) -> bool {
        let labels = ["B".to_owned(), "I".to_owned(), "O".to_owned()];
        let mut words = Words::new(pattern, 1).unwrap();
        let dfa = parse(&mut words, &labels, "token").unwrap();
        let mut state = dfa.start;
        for c in text.chars() {
            let label = labels.iter().position(|l| l.starts_with(c)).unwrap();
            state = dfa.next[state as usize * 3 + label];
            if state == DEAD {
                return false;
            }
        }
        dfa.accepting[state as usize]
    }

    #[test]
    fn patterns_accept_what_they_say() {
        for (text, expected) in
            [("", true), ("BIIO", true), ("BO", true), ("B", false), ("IBO", false)]
        {
            assert_eq!(accepts("(B I* O)*", text), expected, "{text}");
        }
        for (text, expected) in [("", false), ("OOB", true), ("BO", false), ("IIB", true)] {
            assert_eq!(accepts("(O | I)+ B? . *", text), expected, "{text}");
        }
        assert!(accepts("B .", "BI") && !accepts("B .", "B") && accepts("B|I", "I"));
    }
}
