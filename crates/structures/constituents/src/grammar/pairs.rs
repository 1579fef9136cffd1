//! Which symbol may stand under which: pairs of a parent and its left or right child.
//!
//! A rule A → B C scores the sum of its two pairs, so that a chart needs O(n³·A + n²·pairs) in place of O(n³·rules). With `horizontal` = 0 that loses little: of the children of
//! one phrase only the last two meet in one rule.
//!
//! The pairs of one side are sorted by child and then by parent, those of left children come first: the number of a pair is its place.

use std::ops::Range;

/// Pairs of parents and children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// For each side: where the pairs of each child start, from 0.
    starts: [Vec<u32>; 2],
    parents: [Vec<u32>; 2],
}

/// The left and the right child.
pub(crate) const LEFT: usize = 0;
/// See [`LEFT`].
pub(crate) const RIGHT: usize = 1;

impl Pairs {
    /// Pairs (child, parent) for each side, for symbols below `n_symbols`.
    pub(crate) fn new(n_symbols: usize, mut pairs: [Vec<(u32, u32)>; 2]) -> Self {
        let mut all = Self::default();
        for (side, pairs) in pairs.iter_mut().enumerate() {
            pairs.sort_unstable();
            pairs.dedup();
            let starts = (0..=n_symbols)
                .map(|child| pairs.partition_point(|pair| (pair.0 as usize) < child) as u32);
            all.starts[side] = starts.collect();
            all.parents[side] = pairs.iter().map(|pair| pair.1).collect();
        }
        all
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.parents[LEFT].len() + self.parents[RIGHT].len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parents of a child on a side, rising, and the numbers of the pairs.
    #[inline]
    pub(crate) fn of_child(&self, side: usize, child: usize) -> (&[u32], Range<usize>) {
        let own = self.starts[side][child] as usize..self.starts[side][child + 1] as usize;
        let first = if side == LEFT { 0 } else { self.parents[LEFT].len() };
        (&self.parents[side][own.clone()], first + own.start..first + own.end)
    }

    /// The number of a pair, if it is one.
    #[inline]
    pub(crate) fn number(&self, side: usize, parent: u32, child: u32) -> Option<usize> {
        let (parents, numbers) = self.of_child(side, child as usize);
        parents.binary_search(&parent).ok().map(|at| numbers.start + at)
    }

    /// The side, child and parent of a pair, by its number.
    pub(crate) fn pair(&self, number: usize) -> (usize, u32, u32) {
        let n_left = self.parents[LEFT].len();
        let (side, at) = if number < n_left { (LEFT, number) } else { (RIGHT, number - n_left) };
        let child = self.starts[side].partition_point(|&start| start as usize <= at) - 1;
        (side, child as u32, self.parents[side][at])
    }

    /// All pairs of a side as (child, parent), in the order of their numbers.
    pub(crate) fn all(&self, side: usize) -> impl Iterator<Item = (u32, u32)> {
        let n = self.starts[side].len().saturating_sub(1);
        (0..n).flat_map(move |child| {
            self.of_child(side, child).0.iter().map(move |&parent| (child as u32, parent))
        })
    }
}
