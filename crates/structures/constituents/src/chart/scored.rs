//! The scores of one sentence, as the charts read them.
//!
//! With P the symbols that can have children, over the candidate spans of a sentence:
//!
//! ```text
//! score(derivation) = Σ over nodes (i, j, A)                 own(i, j, A)
//!                   + Σ over nodes A → B C with split k      pair(A, left, B) + side(i, k, left, A)
//!                                                          + pair(A, right, C) + side(k, j, right, A)
//! ```

use super::Spans;
use crate::Grammar;
use lineal_linalg::Scalar;

/// Scores of one sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored<'a, F> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) spans: &'a Spans,
    /// The symbols of the words without a phrase.
    pub(crate) words: &'a [u32],
    /// Own scores of the words without a phrase; −∞ where there must be one.
    pub(crate) word_scores: &'a [F],
    /// Own scores, P for each span; −∞ for symbols that the span cannot have.
    pub(crate) own: &'a [F],
    /// One for each pair of the grammar.
    pub(crate) pairs: &'a [F],
    /// For each span `stride` numbers, of which those from `sides[0]` and `sides[1]` on are its scores as a left and as a right child, one for each category.
    pub(crate) rows: &'a [F],
    pub(crate) stride: usize,
    pub(crate) sides: [usize; 2],
    /// If any symbol may stand under any other: the score of a pair that the grammar does not have.
    pub(crate) floor: Option<F>,
}

impl<'a, F: Scalar> Scored<'a, F> {
    /// P.
    #[inline]
    pub(crate) fn n_parents(&self) -> usize {
        self.grammar.n_parents()
    }

    /// Own scores of a span.
    #[inline]
    pub(crate) fn own(&self, span: usize) -> &'a [F] {
        &self.own[span * self.n_parents()..(span + 1) * self.n_parents()]
    }

    /// The scores of a span as a child, one for each category.
    #[inline]
    pub(crate) fn side(&self, span: usize, side: usize) -> &'a [F] {
        let start = span * self.stride + self.sides[side];
        &self.rows[start..start + self.grammar.n_categories()]
    }

    /// The word of a span of one word, without a phrase: symbol and score.
    #[inline]
    pub(crate) fn word(&self, span: usize) -> Option<(usize, F)> {
        let (i, j) = self.spans.words(span);
        (j - i == 1).then(|| (self.words[i] as usize, self.word_scores[i]))
    }

    /// The score of a pair; −∞ if it is not allowed.
    pub(crate) fn pair(&self, side: usize, parent: usize, child: usize) -> F {
        let number = self.grammar.pairs().number(side, parent as u32, child as u32);
        let by_floor = || match self.floor {
            Some(floor) if self.is_free(parent, child) => floor,
            _ => -F::INFINITY,
        };
        number.map_or_else(by_floor, |number| self.pairs[number])
    }

    /// Whether any grammar could have a pair: a rest stands only under what it is the rest of.
    pub(crate) fn is_free(&self, parent: usize, child: usize) -> bool {
        let symbols = self.grammar.symbols();
        let child = &symbols[child];
        !child.is_rest() || child.category() == symbols[parent].category()
    }
}
