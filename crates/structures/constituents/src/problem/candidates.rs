//! Candidate spans of many sentences: what the pruner leaves, in flat buffers.

use super::Known;
use super::known::cross;
use crate::{Branching, Derivation, Spans};

/// Candidate spans of several words for each of some sentences, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Where the spans of each sentence end, from entry 1.
    ends: Vec<usize>,
    spans: Vec<(u32, u32)>,
}

impl Default for Candidates {
    fn default() -> Self {
        Self { ends: vec![0], spans: Vec::new() }
    }
}

impl Candidates {
    /// Adds the next sentence with its spans, and what it needs so that there is always a tree: the known brackets, and in each of them and in the whole sentence the spans that share
    /// its last word (its first one with [`Branching::Left`]). Spans that cross a known bracket are left out.
    pub fn push(
        &mut self,
        n_words: usize,
        branching: Branching,
        known: &Known,
        spans: impl IntoIterator<Item = (u32, u32)>,
    ) {
        let start = self.spans.len();
        self.spans.extend(spans);
        let all = (0, n_words as u32);
        let outer = known.brackets().iter().map(|&(i, j, _)| (i, j)).chain([all]);
        for (i, j) in outer {
            match branching {
                Branching::Right => self.spans.extend((i..j).map(|first| (first, j))),
                Branching::Left => self.spans.extend((i + 1..=j).map(|end| (i, end))),
            }
        }
        let mut own = self.spans.split_off(start);
        let fits = |span: (u32, u32)| {
            span.1 - span.0 > 1 && !known.brackets().iter().any(|&(i, j, _)| cross(span, (i, j)))
        };
        own.retain(|&span| fits(span));
        own.sort_unstable();
        own.dedup();
        self.spans.extend(own);
        self.ends.push(self.spans.len());
    }

    /// How many sentences.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many spans all sentences have together.
    pub fn n_spans(&self) -> usize {
        self.spans.len()
    }

    /// The spans of a sentence, sorted.
    pub fn spans(&self, sentence: usize) -> &[(u32, u32)] {
        &self.spans[self.ends[sentence]..self.ends[sentence + 1]]
    }

    /// Adds the sentences of another list.
    pub fn append(&mut self, other: &Self) {
        let start = self.spans.len();
        self.spans.extend_from_slice(&other.spans);
        self.ends.extend(other.ends[1..].iter().map(|end| start + end));
    }

    /// The share of the nodes of derivations over several words whose span is a candidate.
    pub fn recall(&self, gold: &[Derivation]) -> f64 {
        let (mut kept, mut all) = (0, 0);
        for (sentence, derivation) in gold.iter().enumerate().take(self.len()) {
            for node in derivation.nodes.iter().filter(|node| !node.is_leaf()) {
                all += 1;
                kept += usize::from(
                    self.spans(sentence).binary_search(&(node.start, node.end)).is_ok(),
                );
            }
        }
        if all == 0 { 1.0 } else { kept as f64 / all as f64 }
    }

    /// Makes `spans` those of a sentence.
    pub(crate) fn load(&self, sentence: usize, n_words: usize, spans: &mut Spans) {
        let own = self.spans(sentence);
        spans.fill(n_words, |i, j| own.binary_search(&(i as u32, j as u32)).is_ok());
    }
}
