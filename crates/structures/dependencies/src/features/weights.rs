//! Where the weights of a part lie, and its score: the walk that scores, gradients and updates share.
//!
//! Weights are a table of a power of two. A feature with hash r has the weights r ⊕ slot, for the two [slots](super::slots) of the part.

use super::keys::Keys;
use super::slots::{self, Slots};
use lineal_linalg::Scalar;

/// Σ of the weights of single features `a ⊕ b ⊕ …` at two slots.
#[inline(always)]
fn sum<F: Scalar>(w: &[F], raw: impl Iterator<Item = u32>, slots: Slots) -> F {
    let mask = (w.len() - 1) as u32;
    let mut sums = [F::ZERO; 2];
    for raw in raw {
        sums[0] += w[((raw ^ slots[0]) & mask) as usize];
        sums[1] += w[((raw ^ slots[1]) & mask) as usize];
    }
    sums[0] + sums[1]
}

impl Keys {
    /// The score of an arc. `w` has a power of two of weights, as in all that follows.
    #[inline]
    pub(crate) fn arc_score<F: Scalar>(&self, w: &[F], h: usize, m: usize) -> F {
        let slots = slots::of_arc(h, m);
        let keys = self.single(0, h).iter().zip(self.single(1, m));
        let mut score = sum(w, keys.map(|(a, b)| a ^ b), slots);
        if self.has_lists() {
            self.each_of_arc(h, m, |raw| score += sum(w, [raw].into_iter(), slots));
        }
        score
    }

    /// The weights of an arc, out of `1 + mask`.
    #[inline]
    pub(crate) fn each_arc_weight(&self, mask: u32, h: usize, m: usize, mut f: impl FnMut(usize)) {
        let slots = slots::of_arc(h, m);
        let mut both = |raw: u32| slots.iter().for_each(|slot| f(((raw ^ slot) & mask) as usize));
        for (a, b) in self.single(0, h).iter().zip(self.single(1, m)) {
            both(a ^ b);
        }
        self.each_of_arc(h, m, both);
    }

    /// The score of a part of three words.
    #[inline]
    pub(crate) fn triple_score<F: Scalar>(&self, w: &[F], rows: [usize; 3], slots: Slots) -> F {
        let [a, b, c] = [0, 1, 2].map(|place| self.single(place, rows[place]));
        let raw = a.iter().zip(b).zip(c).map(|((a, b), c)| a ^ b ^ c);
        let mut score = sum(w, raw, slots);
        if self.has_lists() {
            self.each_of_triple(rows, |raw| score += sum(w, [raw].into_iter(), slots));
        }
        score
    }

    /// The weights of a part of three words, out of `1 + mask`.
    #[inline]
    pub(crate) fn each_triple_weight(
        &self,
        mask: u32,
        rows: [usize; 3],
        slots: Slots,
        mut f: impl FnMut(usize),
    ) {
        let mut both = |raw: u32| slots.iter().for_each(|slot| f(((raw ^ slot) & mask) as usize));
        let [a, b, c] = [0, 1, 2].map(|place| self.single(place, rows[place]));
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            both(a ^ b ^ c);
        }
        self.each_of_triple(rows, both);
    }
}
