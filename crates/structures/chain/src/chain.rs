//! A sequence's scores and constraints: what every oracle is asked about.

use crate::sets::{LabelSets, bits_of};
use crate::{Error, Transitions};
use lineal_linalg::Scalar;

/// The label of a position whose label is not known, where gold labels are asked for.
pub const UNLABELLED: u32 = u32::MAX;

/// The part scores of one sequence of n positions with K labels: a label sequence y has the score
///
/// ```text
/// start[y₀] + Σₜ unary[t, yₜ] + Σₜ (transition[yₜ₋₁, yₜ] + per_position[t−1, yₜ₋₁, yₜ]) + end[yₙ₋₁]
/// ```
///
/// and is legal if the grammar of the [`Transitions`] permits it and each label is among those allowed at its position.
/// All scores are finite; the oracles run over legal sequences only and say [`Error::Infeasible`] where there are none.
///
/// Order, where scores tie: of two sequences the one whose *last* differing label is lower comes first.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a, F> {
    transitions: &'a Transitions<F>,
    unary: &'a [F],
    per_position: Option<&'a [F]>,
    allowed: Option<&'a LabelSets>,
    n_positions: usize,
}

impl<'a, F: Scalar> Chain<'a, F> {
    /// `unary[t·K + label]` over shared transitions.
    ///
    /// # Panics
    /// If the scores do not fill whole positions.
    pub fn new(transitions: &'a Transitions<F>, unary: &'a [F]) -> Self {
        let k = transitions.n_labels();
        let n_positions = unary.len().checked_div(k).unwrap_or(0);
        assert_eq!(n_positions * k, unary.len(), "unary scores of {k} labels");
        Self { transitions, unary, per_position: None, allowed: None, n_positions }
    }

    /// Adds to the transition *into* position t the scores `per_position[(t−1)·K² + from·K + to]`.
    ///
    /// # Panics
    /// If they are not (n − 1)·K² scores, or the transitions are those of label pairs (whose own scores can hold them).
    pub fn with_per_position(mut self, per_position: &'a [F]) -> Self {
        let k = self.n_labels();
        assert_eq!(per_position.len(), self.n_positions.saturating_sub(1) * k * k);
        assert!(self.transitions.runs().dense, "per-position scores need dense transitions");
        self.per_position = Some(per_position);
        self
    }

    /// Allows at position t only the labels of row t.
    ///
    /// # Panics
    /// If there are not as many rows as positions, or labels as labels.
    pub fn with_allowed(mut self, allowed: &'a LabelSets) -> Self {
        assert_eq!((allowed.n_rows(), allowed.n_labels()), (self.n_positions, self.n_labels()));
        self.allowed = Some(allowed);
        self
    }

    /// n
    pub fn n_positions(&self) -> usize {
        self.n_positions
    }

    /// K
    pub fn n_labels(&self) -> usize {
        self.transitions.n_labels()
    }

    /// The score of a label sequence, legal or not, in f64; what the grammar forbids gives −∞.
    ///
    /// # Panics
    /// If it has not n labels below K.
    pub fn score(&self, labels: &[u32]) -> f64 {
        assert_eq!(labels.len(), self.n_positions);
        let (Some(&first), Some(&last)) = (labels.first(), labels.last()) else {
            return 0.0;
        };
        let k = self.n_labels();
        let mut score = self.transitions.start()[first as usize].to_f64();
        score += self.unary[first as usize].to_f64();
        for t in 1..labels.len() {
            let (from, to) = (labels[t - 1] as usize, labels[t] as usize);
            score += self.transition(t, from, to).to_f64();
            score += self.unary[t * k + to].to_f64();
        }
        score + self.transitions.end()[last as usize].to_f64()
    }

    /// The first position at which a label sequence breaks a constraint (a label that may not end a sequence: the last).
    ///
    /// # Panics
    /// If it has not n labels.
    pub fn violation(&self, labels: &[u32]) -> Option<usize> {
        assert_eq!(labels.len(), self.n_positions);
        let grammar = self.transitions.grammar();
        (0..labels.len()).find(|&t| {
            let label = labels[t] as usize;
            label >= self.n_labels()
                || self.allowed.is_some_and(|allowed| !allowed.contains(t, label))
                || (t == 0 && !grammar.permits_start(label))
                || (t > 0 && !grammar.permits(labels[t - 1] as usize, label))
                || (t + 1 == labels.len() && !grammar.permits_end(label))
        })
    }

    pub(crate) fn transitions(&self) -> &'a Transitions<F> {
        self.transitions
    }

    pub(crate) fn unary(&self) -> &'a [F] {
        self.unary
    }

    pub(crate) fn unary_row(&self, t: usize) -> &'a [F] {
        let k = self.n_labels();
        &self.unary[t * k..(t + 1) * k]
    }

    pub(crate) fn allowed(&self) -> Option<&'a LabelSets> {
        self.allowed
    }

    pub(crate) fn has_per_position(&self) -> bool {
        self.per_position.is_some()
    }

    pub(crate) fn with_unary<'b>(&self, unary: &'b [F]) -> Chain<'b, F>
    where
        'a: 'b,
    {
        Chain { unary, ..*self }
    }

    /// Is anything forbidden?
    pub(crate) fn is_constrained(&self) -> bool {
        self.allowed.is_some() || !self.transitions.is_free()
    }

    /// The score of the transition into position `t`.
    #[inline]
    pub(crate) fn transition(&self, t: usize, from: usize, to: usize) -> F {
        let score = self.transitions.score(from, to);
        match self.per_position {
            None => score,
            Some(per_position) => {
                let k = self.n_labels();
                score + per_position[(t - 1) * k * k + from * k + to]
            }
        }
    }

    /// The entries of the transitions into position `t`, laid out as the shared ones: those themselves, or their sum with
    /// the position's own, in `sum`.
    #[inline]
    pub(crate) fn entries<'b>(&self, t: usize, sum: &'b mut Vec<F>) -> &'b [F]
    where
        'a: 'b,
    {
        let Some(per_position) = self.per_position else {
            return self.transitions.scores();
        };
        let (k, stride) = (self.n_labels(), self.transitions.stride());
        let own = &per_position[(t - 1) * k * k..t * k * k];
        sum.clear();
        sum.extend_from_slice(self.transitions.scores());
        for (row, own) in sum.chunks_exact_mut(stride).zip(own.chunks_exact(k)) {
            for (score, &own) in row.iter_mut().zip(own) {
                *score += own;
            }
        }
        sum
    }

    /// Fills `useful` with the labels of each position that lie on some legal sequence, a row of words a position (and one to spare).
    pub(crate) fn trim(&self, useful: &mut Vec<u64>) -> Result<(), Error> {
        let n = self.n_positions;
        let words = self.n_labels().div_ceil(64);
        let grammar = self.transitions.grammar();
        useful.clear();
        useful.resize((n + 1) * words, 0);

        // Reached from the start. Without sets of its own a position has the labels that may follow the last one's: soon the
        // same ones for good.
        let mut settled = false;
        for t in 0..n {
            let (before, row) = useful[..(t + 1) * words].split_at_mut(t * words);
            let before = before.rchunks_exact(words.max(1)).next().unwrap_or(&[]);
            if t == 0 {
                row.copy_from_slice(grammar.start_row());
            } else if settled {
                row.copy_from_slice(before);
            } else {
                for from in bits_of(before) {
                    for (word, &next) in row.iter_mut().zip(grammar.next().row(from)) {
                        *word |= next;
                    }
                }
            }
            match self.allowed {
                Some(allowed) => intersect(row, allowed.row(t)),
                None => settled = row == before,
            }
            if t + 1 == n {
                intersect(row, grammar.end_row());
            }
            if row.iter().all(|&word| word == 0) {
                return Err(Error::Infeasible { position: t });
            }
        }

        // And reaching the end. The spare row holds what the next position was before it was cut.
        for t in (0..n.saturating_sub(1)).rev() {
            let (head, tail) = useful.split_at_mut((t + 1) * words);
            let (rows, spare) = tail.split_at_mut((n - t - 1) * words);
            let (row, after) = (&mut head[t * words..], &rows[..words]);
            let settled =
                spare == row && rows.len() >= 2 * words && after == &rows[words..2 * words];
            spare.copy_from_slice(row);
            if settled && self.allowed.is_none() {
                row.copy_from_slice(after);
                continue;
            }
            for from in bits_of(spare) {
                let next = grammar.next().row(from);
                if next.iter().zip(after).all(|(&next, &after)| next & after == 0) {
                    row[from / 64] &= !(1 << (from % 64));
                }
            }
        }
        Ok(())
    }
}

fn intersect(row: &mut [u64], with: &[u64]) {
    for (word, &with) in row.iter_mut().zip(with) {
        *word &= with;
    }
}
