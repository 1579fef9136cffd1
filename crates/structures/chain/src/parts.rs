//! The parts of a sequence side by side: their scores θ, or their amounts μ, or a gradient.

use crate::model::triple;
use crate::{Chain, Posterior, Transitions};
use lineal_linalg::{Scalar, kernels};

/// A number for each part of a sequence with n positions and K labels.
///
/// As scores they are what a [`Chain`] is made of; as amounts they are what an oracle returned. A loss's gradient in the scores is the amounts of
/// the oracle less those of the gold labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts<F> {
    /// `[t·K + label]`, n × K.
    pub unary: Vec<F>,
    /// `[(t−1)·K² + from·K + to]`, (n − 1) × K², or empty if no transition looks at the tokens.
    pub per_position: Vec<F>,
    /// `[from·K + to]`, K².
    pub transition: Vec<F>,
    /// K
    pub start: Vec<F>,
    /// K
    pub end: Vec<F>,
    /// `[first·K² + second·K + third]`, K³, or empty where scores look at two labels at most.
    pub triple: Vec<F>,
}

impl<F: Scalar> Parts<F> {
    /// No parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Zeros for n positions and K labels, with per-position transitions or without, and without triples.
    pub fn reset(&mut self, n_positions: usize, n_labels: usize, per_position: bool) {
        let k = n_labels;
        let fill = |v: &mut Vec<F>, len: usize| {
            v.clear();
            v.resize(len, F::ZERO);
        };
        fill(&mut self.unary, n_positions * k);
        fill(
            &mut self.per_position,
            if per_position { n_positions.saturating_sub(1) * k * k } else { 0 },
        );
        fill(&mut self.transition, k * k);
        fill(&mut self.start, k);
        fill(&mut self.end, k);
        self.triple.clear();
    }

    /// K
    pub fn n_labels(&self) -> usize {
        self.start.len()
    }

    /// n
    pub fn n_positions(&self) -> usize {
        self.unary.len().checked_div(self.n_labels()).unwrap_or(0)
    }

    /// Loads the shared scores into the transitions.
    ///
    /// # Panics
    /// If they are of another number of labels.
    pub fn load(&self, transitions: &mut Transitions<F>) {
        transitions.load(&self.transition, &self.start, &self.end);
    }

    /// The chain with these scores, over transitions that they were [loaded](Self::load) into. Triples take no part: see [`Decoder`](crate::Decoder).
    pub fn chain<'a>(&'a self, transitions: &'a Transitions<F>) -> Chain<'a, F> {
        let chain = Chain::new(transitions, &self.unary);
        if self.per_position.is_empty() {
            chain
        } else {
            chain.with_per_position(&self.per_position)
        }
    }

    /// Adds `a` times the parts of a label sequence.
    ///
    /// # Panics
    /// If it has not n labels below K.
    pub fn add_labels(&mut self, labels: &[u32], a: F) {
        let k = self.n_labels();
        assert_eq!(labels.len(), self.n_positions());
        for (t, &label) in labels.iter().enumerate() {
            let label = label as usize;
            assert!(label < k, "label {label} of {k}");
            self.unary[t * k + label] += a;
            if t == 0 {
                self.start[label] += a;
            } else {
                let pair = labels[t - 1] as usize * k + label;
                self.transition[pair] += a;
                if !self.per_position.is_empty() {
                    self.per_position[(t - 1) * k * k + pair] += a;
                }
            }
        }
        if let Some(&last) = labels.last() {
            self.end[last as usize] += a;
        }
        if !self.triple.is_empty() {
            for three in labels.windows(3) {
                self.triple[triple(three, k)] += a;
            }
        }
    }

    /// The score of a label sequence, whether a grammar permits it or not.
    ///
    /// # Panics
    /// If it has not n labels below K.
    pub fn score(&self, labels: &[u32]) -> f64 {
        let k = self.n_labels();
        assert_eq!(labels.len(), self.n_positions());
        let (Some(&first), Some(&last)) = (labels.first(), labels.last()) else {
            return 0.0;
        };
        let mut score = self.start[first as usize].to_f64() + self.end[last as usize].to_f64();
        for (row, &label) in self.unary.chunks_exact(k).zip(labels) {
            score += row[label as usize].to_f64();
        }
        for (t, pair) in labels.windows(2).enumerate() {
            let pair = pair[0] as usize * k + pair[1] as usize;
            score += self.transition[pair].to_f64();
            if !self.per_position.is_empty() {
                score += self.per_position[t * k * k + pair].to_f64();
            }
        }
        if !self.triple.is_empty() {
            score += labels.windows(3).map(|l| self.triple[triple(l, k)].to_f64()).sum::<f64>();
        }
        score
    }

    /// Makes them the expected parts of a distribution.
    pub fn set_expected(&mut self, posterior: &mut Posterior<'_, F>, per_position: bool) {
        let k = posterior.n_labels();
        let n = posterior.unary().len().checked_div(k).unwrap_or(0);
        self.unary.clear();
        self.unary.extend_from_slice(posterior.unary());
        self.start.clear();
        self.start.resize(k, F::ZERO);
        self.end.clone_from(&self.start);
        if n > 0 {
            self.start.copy_from_slice(&self.unary[..k]);
            self.end.copy_from_slice(&self.unary[(n - 1) * k..]);
        }
        self.transition.clear();
        self.transition.resize(k * k, F::ZERO);
        self.per_position.clear();
        if per_position {
            self.per_position.resize(n.saturating_sub(1) * k * k, F::ZERO);
            posterior.pairwise(&mut self.per_position);
            for pairs in self.per_position.chunks_exact(k * k) {
                for (sum, &p) in self.transition.iter_mut().zip(pairs) {
                    *sum += p;
                }
            }
        } else {
            posterior.add_transitions(&mut self.transition);
        }
        self.triple.clear();
    }

    /// Σ over all parts: a score, if these are scores and the others amounts.
    pub fn dot(&self, other: &Self) -> f64 {
        let all = [
            (&self.unary, &other.unary),
            (&self.per_position, &other.per_position),
            (&self.transition, &other.transition),
            (&self.start, &other.start),
            (&self.end, &other.end),
            (&self.triple, &other.triple),
        ];
        all.into_iter().map(|(a, b)| kernels::dot64(a, b)).sum()
    }

    /// Adds `a` times other parts of the same sequence.
    pub fn add(&mut self, other: &Self, a: F) {
        let all = [
            (&mut self.unary, &other.unary),
            (&mut self.per_position, &other.per_position),
            (&mut self.transition, &other.transition),
            (&mut self.start, &other.start),
            (&mut self.end, &other.end),
            (&mut self.triple, &other.triple),
        ];
        for (parts, others) in all {
            for (part, &other) in parts.iter_mut().zip(others) {
                *part += a * other;
            }
        }
    }

    /// Every part times `a`.
    pub fn scale(&mut self, a: F) {
        let all = [
            &mut self.unary,
            &mut self.per_position,
            &mut self.transition,
            &mut self.start,
            &mut self.end,
            &mut self.triple,
        ];
        for parts in all {
            parts.iter_mut().for_each(|part| *part *= a);
        }
    }
}
