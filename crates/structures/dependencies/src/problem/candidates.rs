//! Candidate heads of many sentences: what the pruner leaves, in flat buffers.

use crate::Arcs;
use std::ops::Range;

/// Candidate heads for each word of some sentences, rising.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Where the heads of each word end, from entry 1.
    ends: Vec<u32>,
    heads: Vec<u32>,
}

impl Default for Candidates {
    fn default() -> Self {
        Self { ends: vec![0], heads: Vec::new() }
    }
}

impl Candidates {
    /// Adds the next word with its heads, which must rise.
    pub fn push(&mut self, heads: impl IntoIterator<Item = u32>) {
        self.heads.extend(heads);
        self.ends.push(self.heads.len() as u32);
    }

    /// Adds the words of another list.
    pub fn append(&mut self, other: &Self) {
        let start = self.heads.len() as u32;
        self.heads.extend_from_slice(&other.heads);
        self.ends.extend(other.ends[1..].iter().map(|end| start + end));
    }

    /// How many words.
    pub fn n_words(&self) -> usize {
        self.ends.len() - 1
    }

    /// How many candidates all words have together.
    pub fn n_arcs(&self) -> usize {
        self.heads.len()
    }

    /// The heads of a word, counted over all sentences from 0.
    pub fn heads(&self, word: usize) -> &[u32] {
        &self.heads[self.ends[word] as usize..self.ends[word + 1] as usize]
    }

    /// The share of words whose head is a candidate.
    pub fn recall(&self, gold: &[u32]) -> f64 {
        let kept = gold.iter().enumerate().filter(|&(word, head)| self.heads(word).contains(head));
        kept.count() as f64 / gold.len().max(1) as f64
    }

    /// Makes `arcs` those of the sentence with these words.
    pub(crate) fn load(&self, words: Range<usize>, single_root: bool, arcs: &mut Arcs) {
        arcs.reset(words.len(), single_root);
        for (at, word) in words.enumerate() {
            for &head in self.heads(word) {
                arcs.push(head, at as u32 + 1);
            }
        }
    }
}
