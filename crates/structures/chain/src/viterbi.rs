//! The best label sequence, by dynamic programming (Viterbi 1967).
//!
//! best[t, y] = unary[t, y] + max over y′ of best[t−1, y′] + transition[y′, y], rows of K scores padded to a multiple of 8.
//! No back pointers are kept: the way back looks for the label before that gives the same sum, K additions a position
//! instead of K² comparisons, and the maxima in the way forward need nothing but `max`.

use crate::{Chain, Error, LabelCost, Scratch, steps};
use lineal_linalg::Scalar;

/// In f32 the best score is taken out of a row every so many positions: sums of 10⁵ positions would eat the digits that decide.
const RESCALE: usize = 32;

impl<F: Scalar> Chain<'_, F> {
    /// The legal label sequence with the highest score, left in `labels`, and its score.
    ///
    /// ```
    /// use lineal_chain::{Chain, Grammar, Scratch, Transitions};
    /// let mut transitions = Transitions::new(Grammar::free(2));
    /// transitions.load(&[1.0, 0.0, 0.0, 1.0], &[0.0; 2], &[0.0; 2]);
    /// let chain = Chain::new(&transitions, &[3.0, 0.0, 0.0, 0.5, 2.0, 0.0]);
    /// let mut labels = Vec::new();
    /// assert_eq!(chain.viterbi(&mut Scratch::new(), &mut labels)?, 7.0);
    /// assert_eq!(labels, [0, 0, 0]);
    /// # Ok::<(), lineal_chain::Error>(())
    /// ```
    pub fn viterbi(&self, s: &mut Scratch<F>, labels: &mut Vec<u32>) -> Result<f64, Error> {
        self.best_path(&mut s.best, &mut s.entries, labels);
        self.finish(s, labels)
    }

    /// The legal label sequence with the highest score plus cost against `gold`, left in `labels`, and that sum.
    ///
    /// Positions with gold [`UNLABELLED`](crate::UNLABELLED) cost nothing.
    ///
    /// # Panics
    /// If there are not n gold labels below K.
    pub fn viterbi_augmented(
        &self,
        gold: &[u32],
        cost: &LabelCost<F>,
        s: &mut Scratch<F>,
        labels: &mut Vec<u32>,
    ) -> Result<f64, Error> {
        let mut augmented = std::mem::take(&mut s.augmented);
        augmented.clear();
        augmented.extend_from_slice(self.unary());
        cost.augment(gold, &mut augmented);
        self.with_unary(&augmented).best_path(&mut s.best, &mut s.entries, labels);
        s.augmented = augmented;
        self.finish(s, labels).map(|score| score + cost.cost(gold, labels))
    }

    /// The path's score, or where it became impossible.
    fn finish(&self, s: &mut Scratch<F>, labels: &[u32]) -> Result<f64, Error> {
        let score = self.score(labels);
        if self.is_constrained() && (score == f64::NEG_INFINITY || self.violation(labels).is_some())
        {
            self.trim(&mut s.useful)?;
        }
        Ok(score)
    }

    fn best_path(&self, best: &mut Vec<F>, entries: &mut Vec<F>, labels: &mut Vec<u32>) {
        let (n, k) = (self.n_positions(), self.n_labels());
        let transitions = self.transitions();
        let stride = transitions.stride();
        labels.clear();
        labels.resize(n, 0);
        if n == 0 {
            return;
        }
        if best.len() < n * stride {
            best.resize(n * stride, F::ZERO);
        }
        best[..stride].copy_from_slice(transitions.start());
        self.add_unary(0, &mut best[..stride]);
        for t in 1..n {
            let (before, row) = best[(t - 1) * stride..(t + 1) * stride].split_at_mut(stride);
            transitions.max_step(self.entries(t, entries), &before[..k], row);
            self.add_unary(t, row);
            if size_of::<F>() == size_of::<f32>() && t % RESCALE == 0 {
                let top = steps::max(row);
                if top > -F::INFINITY {
                    row.iter_mut().for_each(|score| *score -= top);
                }
            }
        }

        let last = &best[(n - 1) * stride..(n - 1) * stride + k];
        let mut label =
            first_max(last.iter().zip(transitions.end()).map(|(&score, &end)| score + end));
        labels[n - 1] = label as u32;
        for t in (1..n).rev() {
            let before = &best[(t - 1) * stride..(t - 1) * stride + k];
            label = if transitions.runs().dense && !self.has_per_position() {
                let column = transitions.scores()[label..].iter().step_by(stride);
                first_max(before.iter().zip(column).map(|(&score, &transition)| score + transition))
            } else {
                first_max((0..k).map(|from| before[from] + self.transition(t, from, label)))
            };
            labels[t - 1] = label as u32;
        }
    }

    /// Adds a position's unary scores to a row; labels that are not allowed get −∞.
    #[inline]
    fn add_unary(&self, t: usize, row: &mut [F]) {
        for (score, &unary) in row.iter_mut().zip(self.unary_row(t)) {
            *score += unary;
        }
        if let Some(allowed) = self.allowed() {
            for (label, score) in row[..self.n_labels()].iter_mut().enumerate() {
                if !allowed.contains(t, label) {
                    *score = -F::INFINITY;
                }
            }
        }
    }
}

/// Where the largest of some scores first stands.
#[inline(always)]
pub(crate) fn first_max<F: Scalar>(scores: impl Iterator<Item = F>) -> usize {
    let (mut at, mut top) = (0, -F::INFINITY);
    for (i, score) in scores.enumerate() {
        if score > top {
            (at, top) = (i, score);
        }
    }
    at
}
