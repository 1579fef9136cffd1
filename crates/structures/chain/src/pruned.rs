//! A trained model without its zeros, for prediction.

use crate::model::Observations;
use crate::{ChainModel, Error, Parts};
use lineal_linalg::{Row, Scalar};

/// The weights that are not 0, in f32: for each attribute its (label, weight) pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct PrunedModel {
    model: ChainModel,
    /// Attribute i, unary ones first, has the entries `ends[i−1]..ends[i]`.
    ends: Vec<u32>,
    /// (A label, or `from·K + to`; the weight), side by side: they are read together.
    entries: Vec<(u32, f32)>,
    /// Transition, start, end and triple weights, as many as the model has.
    shared: Vec<f32>,
}

/// What makes up a [`PrunedModel`], to store.
#[derive(Clone, Debug, PartialEq)]
pub struct PrunedParts {
    /// Where each attribute's entries end: unary attributes, then those of transitions.
    pub ends: Vec<u32>,
    /// A label, or `from·K + to`.
    pub columns: Vec<u32>,
    /// As many as columns.
    pub weights: Vec<f32>,
    /// Transition, start, end and triple weights.
    pub shared: Vec<f32>,
}

impl PrunedModel {
    /// Keeps the weights whose size is above `threshold` (of transitions, first and last labels and triples: all).
    ///
    /// # Panics
    /// If the weights are not those of the model, or 2³² or more are kept.
    pub fn new<F: Scalar>(model: ChainModel, w: &[F], threshold: F) -> Self {
        assert_eq!(w.len(), model.dim());
        let (mut ends, mut entries) = (Vec::new(), Vec::new());
        let attributes = (0..model.n_unary)
            .map(|a| model.unary_range(a))
            .chain((0..model.n_pairs).map(|b| model.pair_range(b)));
        for range in attributes {
            for (column, &weight) in w[range].iter().enumerate() {
                if weight.abs() > threshold {
                    entries.push((column as u32, weight.to_f32()));
                }
            }
            assert!(entries.len() < u32::MAX as usize, "too many weights");
            ends.push(entries.len() as u32);
        }
        let shared = w[model.transition_range().start..].iter().map(|w| w.to_f32()).collect();
        Self { model, ends, entries, shared }
    }

    /// From stored parts.
    pub fn from_parts(model: ChainModel, parts: PrunedParts) -> Result<Self, Error> {
        let error = |problem: &str| Err(Error::Parts(format!("chain weights: {problem}")));
        let PrunedParts { ends, columns, weights, shared } = parts;
        let k = model.n_labels;
        if ends.len() != model.n_unary + model.n_pairs {
            return error("another number of attributes");
        }
        if !ends.is_sorted() || ends.last().map_or(0, |&e| e as usize) != columns.len() {
            return error("the entries of attributes do not follow each other");
        }
        if columns.len() != weights.len() {
            return error("not as many weights as columns");
        }
        let n_unary = model.n_unary.checked_sub(1).map_or(0, |last| ends[last] as usize);
        let inside = |columns: &[u32], width: usize| columns.iter().all(|&c| (c as usize) < width);
        if !inside(&columns[..n_unary], k) || !inside(&columns[n_unary..], k * k) {
            return error("a label that is not there");
        }
        if shared.len() != model.dim() - model.transition_range().start {
            return error("another number of transitions");
        }
        Ok(Self { model, ends, entries: columns.into_iter().zip(weights).collect(), shared })
    }

    /// What to store.
    pub fn parts(&self) -> PrunedParts {
        let (columns, weights) = self.entries.iter().copied().unzip();
        PrunedParts { ends: self.ends.clone(), columns, weights, shared: self.shared.clone() }
    }

    /// The shape of the model.
    pub fn model(&self) -> ChainModel {
        self.model
    }

    /// The (label, weight) pairs of a unary attribute.
    pub fn unary(&self, attribute: usize) -> &[(u32, f32)] {
        self.entries(attribute)
    }

    /// The (from·K + to, weight) pairs of an attribute of transitions.
    pub fn pair(&self, attribute: usize) -> &[(u32, f32)] {
        self.entries(self.model.n_unary + attribute)
    }

    /// The weights of transitions, first and last labels and triples, as many as the model has.
    pub fn shared(&self) -> &[f32] {
        &self.shared
    }

    /// How many weights were kept, shared ones included.
    pub fn n_weights(&self) -> usize {
        self.entries.len() + self.shared.len()
    }

    /// The scores of a sequence's parts.
    ///
    /// # Panics
    /// If an attribute is beyond the model's.
    pub fn scores<F: Scalar>(&self, x: Observations<'_>, parts: &mut Parts<F>) {
        let (n, k) = (x.end - x.start, self.model.n_labels);
        parts.reset(n, k, self.model.n_pairs > 0);
        parts.triple.resize(self.model.triple_range().len(), F::ZERO);
        for (t, out) in parts.unary.chunks_exact_mut(k.max(1)).enumerate() {
            self.add(x.unary.row(x.start + t), 0, out);
        }
        if let Some(pairs) = x.pairs {
            for (t, out) in parts.per_position.chunks_exact_mut((k * k).max(1)).enumerate() {
                self.add(pairs.row(x.start + t + 1), self.model.n_unary, out);
            }
        }
        let mut shared = &self.shared[..];
        let ranges = [
            (&mut parts.transition, self.model.transition_range()),
            (&mut parts.start, self.model.start_range()),
            (&mut parts.end, self.model.end_range()),
            (&mut parts.triple, self.model.triple_range()),
        ];
        for (parts, range) in ranges {
            let (head, rest) = shared.split_at(range.len());
            for (part, &weight) in parts.iter_mut().zip(head) {
                *part = F::from_f32(weight);
            }
            shared = rest;
        }
    }

    #[inline]
    fn entries(&self, i: usize) -> &[(u32, f32)] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.entries[start..self.ends[i] as usize]
    }

    #[inline]
    fn add<F: Scalar>(&self, row: Row<'_>, first: usize, out: &mut [F]) {
        row.for_each(|a, value| {
            for &(column, weight) in self.entries(first + a) {
                out[column as usize] += F::from_f32(value) * F::from_f32(weight);
            }
        });
    }
}
