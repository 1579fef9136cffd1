//! Brackets that must hold.

use crate::Grammar;
use thiserror::Error;

/// Brackets of one sentence that every derivation must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Sorted by words, one entry for each span: its labels, none if any phrase will do.
    brackets: Vec<(u32, u32, Vec<u32>)>,
}

/// Why brackets cannot hold. Brackets count from 0.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KnownError {
    /// A bracket without words, or with words that the sentence does not have.
    #[error("known bracket {bracket} has no words of the sentence")]
    Words {
        /// Which bracket.
        bracket: usize,
    },
    /// Two brackets that overlap without one being inside the other.
    #[error("known brackets {first} and {second} cross")]
    Cross {
        /// One of them.
        first: usize,
        /// The other.
        second: usize,
    },
    /// A label that the grammar does not have.
    #[error("known bracket {bracket} has the label `{label}`, which the model has never seen")]
    Label {
        /// Which bracket.
        bracket: usize,
        /// Its label.
        label: String,
    },
    /// Labels over the same words that no tree had together.
    #[error(
        "known bracket {bracket} and others have the same words, and the model has never seen their labels together"
    )]
    Together {
        /// The last of them.
        bracket: usize,
    },
}

/// What a span may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed<'a> {
    /// Anything.
    Any,
    /// Nothing: it crosses a known bracket.
    Nothing,
    /// A phrase with these labels.
    Phrase(&'a [u32]),
}

impl Known {
    /// Brackets (first word, one after the last, label if it is known) of a sentence of `n_words`.
    pub fn new(
        grammar: &Grammar,
        n_words: usize,
        brackets: &[(u32, u32, Option<&str>)],
    ) -> Result<Self, KnownError> {
        let mut known = Self::default();
        for (at, &(start, end, label)) in brackets.iter().enumerate() {
            if start >= end || end as usize > n_words {
                return Err(KnownError::Words { bracket: at });
            }
            let crosses =
                |other: &(u32, u32, Option<&str>)| cross((start, end), (other.0, other.1));
            if let Some(first) = brackets[..at].iter().position(crosses) {
                return Err(KnownError::Cross { first, second: at });
            }
            // All trees have the top label.
            if label.is_some() && label == grammar.top() && (start, end as usize) == (0, n_words) {
                continue;
            }
            let unknown = |label: &str| KnownError::Label { bracket: at, label: label.into() };
            let label =
                label.map(|name| grammar.label(name).ok_or_else(|| unknown(name))).transpose()?;
            let place = known.brackets.partition_point(|other| (other.0, other.1) < (start, end));
            let is_there =
                known.brackets.get(place).is_some_and(|other| (other.0, other.1) == (start, end));
            if !is_there {
                known.brackets.insert(place, (start, end, Vec::new()));
            }
            let labels = &mut known.brackets[place].2;
            labels.extend(label);
            if !grammar.symbols().iter().any(|symbol| has_labels(symbol.labels(), labels)) {
                return Err(KnownError::Together { bracket: at });
            }
        }
        Ok(known)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.brackets.is_empty()
    }

    /// Words of each bracket and its labels.
    pub(crate) fn brackets(&self) -> &[(u32, u32, Vec<u32>)] {
        &self.brackets
    }

    /// What the words `i` to `j` − 1 may be.
    pub(crate) fn allowed(&self, i: usize, j: usize) -> Allowed<'_> {
        let own = (i as u32, j as u32);
        let mut allowed = Allowed::Any;
        for (start, end, labels) in &self.brackets {
            if cross(own, (*start, *end)) {
                return Allowed::Nothing;
            }
            if own == (*start, *end) {
                allowed = Allowed::Phrase(labels);
            }
        }
        allowed
    }
}

/// Whether two spans overlap without one being inside the other.
pub(crate) fn cross(a: (u32, u32), b: (u32, u32)) -> bool {
    let (first, second) = if a <= b { (a, b) } else { (b, a) };
    first.0 < second.0 && second.0 < first.1 && first.1 < second.1
}

/// Whether a phrase has certain labels, and is one.
pub(crate) fn has_labels(own: &[u32], labels: &[u32]) -> bool {
    !own.is_empty() && common(own, labels) == labels.len()
}

/// How many labels two lists share; a label that comes twice in both counts twice.
pub(crate) fn common(a: &[u32], b: &[u32]) -> usize {
    let count = |list: &[u32], label: u32| list.iter().filter(|other| **other == label).count();
    let is_first = |at: usize| !a[..at].contains(&a[at]);
    (0..a.len()).filter(|&at| is_first(at)).map(|at| count(a, a[at]).min(count(b, a[at]))).sum()
}
