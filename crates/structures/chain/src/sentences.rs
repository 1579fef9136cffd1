//! What is learnt from: sequences with gold labels.

use crate::{ChainModel, Error, UNLABELLED};
use lineal_linalg::SparseRows;
use std::ops::Range;

/// Sequences, their attributes and their gold labels, one position after the other.
#[derive(Clone, Copy, Debug)]
pub struct Sentences<'a> {
    /// A row of attributes for each position.
    pub unary: &'a SparseRows,
    /// A row for the transition into each position (unused for the first), if the model has attributes of transitions.
    pub pairs: Option<&'a SparseRows>,
    /// A gold label for each position; [`UNLABELLED`] where it is not known.
    pub labels: &'a [u32],
    /// Where each sentence ends, in positions.
    pub ends: &'a [usize],
    /// How much each sentence counts; 1 each if there are none.
    pub weights: Option<&'a [f32]>,
}

impl Sentences<'_> {
    /// How many sentences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The positions of a sentence.
    pub fn range(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }

    /// The gold labels of a sentence.
    pub fn gold(&self, i: usize) -> &[u32] {
        &self.labels[self.range(i)]
    }

    /// Sees that everything fits; below this nothing is checked again.
    pub(crate) fn check(&self, model: &ChainModel) -> Result<(), Error> {
        let n = self.ends.last().copied().unwrap_or(0);
        let wrong = |what: &str| Err(Error::Shape(what.to_string()));
        if n == 0 {
            return Err(Error::Empty);
        }
        if !self.ends.is_sorted() || self.labels.len() != n || self.unary.n_rows() != n {
            return wrong("labels, attributes and ends of sentences disagree on the positions");
        }
        if model.n_pairs > 0 && self.pairs.is_none_or(|pairs| pairs.n_rows() != n) {
            return wrong("attributes of transitions are not there for each position");
        }
        let known = |&label: &u32| label == UNLABELLED || (label as usize) < model.n_labels;
        if model.n_labels > usize::from(u16::MAX) {
            return wrong("more than 65,535 labels");
        }
        if model.n_labels == 0 || !self.labels.iter().all(known) {
            return wrong("a gold label is not among the model's");
        }
        let largest = |rows: &SparseRows| rows.max_id().map_or(0, |id| id as usize + 1);
        if largest(self.unary) > model.n_unary
            || self.pairs.is_some_and(|pairs| largest(pairs) > model.n_pairs)
        {
            return wrong("an attribute is not among the model's");
        }
        if let Some(weights) = self.weights {
            let fine = weights.iter().all(|w| w.is_finite() && *w >= 0.0);
            if weights.len() != self.len() || !fine {
                return wrong("weights of sentences must be numbers ≥ 0, one for each");
            }
        }
        Ok(())
    }

    /// Sees that some sentence counts, where there are no others.
    pub(crate) fn check_weights(&self) -> Result<(), Error> {
        match self.weights.is_some_and(|weights| weights.iter().all(|&w| w == 0.0)) {
            true => Err(Error::Shape("weights of sentences must not all be 0".into())),
            false => Ok(()),
        }
    }

    /// weight / Σ weights of each sentence.
    pub(crate) fn shares(&self) -> Vec<f64> {
        match self.weights {
            None => vec![1.0 / self.len() as f64; self.len()],
            Some(weights) => {
                let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
                weights.iter().map(|&w| f64::from(w) / sum).collect()
            }
        }
    }
}
