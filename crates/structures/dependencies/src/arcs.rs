//! The candidate arcs of a sentence: which heads each word may have.

use crate::tree::ROOT;
use lineal_linalg::Scalar;
use std::ops::Range;

/// Candidate arcs, by modifier: for each word its possible heads, rising.
///
/// Arcs are numbered from 0 in the order of their modifiers, then of their heads, so that the arcs of one modifier are contiguous. A vector of scores or marginals
/// has one number for each arc. A forbidden arc is not a candidate; a word whose head is known has one candidate.
///
/// ```
/// use lineal_dependencies::Arcs;
///
/// let mut arcs = Arcs::default();
/// arcs.reset(2, true);
/// arcs.push(0, 1);
/// arcs.push(0, 2);
/// arcs.push(1, 2);
/// assert_eq!(arcs.heads(2), [0, 1]);
/// assert_eq!(arcs.find(1, 2), Some(2));
/// assert_eq!(arcs.score(&[1.0, 2.0, 4.0], &[0, 1]), 5.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arcs {
    single_root: bool,
    /// First arc and end of each modifier; `[0]` is the root's and empty.
    ranges: Vec<[u32; 2]>,
    heads: Vec<u32>,
    modifiers: Vec<u32>,
}

impl Arcs {
    /// All arcs between `n` words, and from the root to each of them.
    pub fn full(n: usize, single_root: bool) -> Self {
        let mut arcs = Self::default();
        arcs.fill(n, single_root);
        arcs
    }

    /// Becomes all arcs between `n` words, and from the root to each of them.
    pub fn fill(&mut self, n: usize, single_root: bool) {
        self.reset(n, single_root);
        for modifier in 1..=n as u32 {
            for head in (0..=n as u32).filter(|&head| head != modifier) {
                self.push(head, modifier);
            }
        }
    }

    /// Forgets all arcs: `n` words without candidates. In a tree, exactly one word depends on the root if `single_root`, else at least one.
    pub fn reset(&mut self, n: usize, single_root: bool) {
        self.single_root = single_root;
        self.ranges.clear();
        self.ranges.resize(n + 1, [0; 2]);
        self.heads.clear();
        self.modifiers.clear();
    }

    /// Adds a candidate. Modifiers come in rising order, and the heads of each as well.
    ///
    /// # Panics
    /// If the arc does not come after the last one, leaves the sentence, or joins a word with itself.
    pub fn push(&mut self, head: u32, modifier: u32) {
        let n = self.n_words();
        assert!(
            head as usize <= n && (1..=n).contains(&(modifier as usize)) && head != modifier,
            "no arc from {head} to {modifier} in a sentence of {n} words"
        );
        let last = self.modifiers.last().copied().zip(self.heads.last().copied());
        assert!(last < Some((modifier, head)), "arcs rise by modifier, then by head");
        let range = &mut self.ranges[modifier as usize];
        if range[0] == range[1] {
            range[0] = self.heads.len() as u32;
        }
        self.heads.push(head);
        self.modifiers.push(modifier);
        range[1] = self.heads.len() as u32;
    }

    /// How many words, the root not counted.
    pub fn n_words(&self) -> usize {
        self.ranges.len().saturating_sub(1)
    }

    /// How many arcs.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there is no arc.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Whether exactly one word depends on the root.
    pub fn single_root(&self) -> bool {
        self.single_root
    }

    /// The arcs of a modifier, 1 … n.
    #[inline]
    pub fn range(&self, modifier: usize) -> Range<usize> {
        let [start, end] = self.ranges[modifier];
        start as usize..end as usize
    }

    /// The candidate heads of a modifier, 1 … n, rising.
    #[inline]
    pub fn heads(&self, modifier: usize) -> &[u32] {
        &self.heads[self.range(modifier)]
    }

    /// The head of an arc.
    #[inline]
    pub fn head(&self, arc: usize) -> usize {
        self.heads[arc] as usize
    }

    /// The modifier of an arc.
    #[inline]
    pub fn modifier(&self, arc: usize) -> usize {
        self.modifiers[arc] as usize
    }

    /// The number of the arc from `head` to `modifier`, if it is a candidate.
    #[inline]
    pub fn find(&self, head: u32, modifier: usize) -> Option<usize> {
        let range = self.range(modifier);
        let heads = &self.heads[range.clone()];
        // In a full set a head stands at its own place, or one before it.
        for guess in [head as usize, (head as usize).wrapping_sub(1)] {
            if heads.get(guess) == Some(&head) {
                return Some(range.start + guess);
            }
        }
        heads.binary_search(&head).ok().map(|at| range.start + at)
    }

    /// The arcs of a tree (one head for each word), `None` for those that are not candidates.
    pub fn of_tree<'a>(&'a self, heads: &'a [u32]) -> impl Iterator<Item = Option<usize>> + 'a {
        heads.iter().enumerate().map(|(word, &head)| self.find(head, word + 1))
    }

    /// Σ of the scores of a tree's arcs, summed in f64 in the order of its words; −∞ if one is not a candidate.
    pub fn score<F: Scalar>(&self, theta: &[F], heads: &[u32]) -> f64 {
        self.of_tree(heads)
            .map(|arc| arc.map_or(f64::NEG_INFINITY, |arc| theta[arc].to_f64()))
            .sum()
    }

    /// Whether heads are a tree of candidates with as many roots as asked for. Projectivity is not checked.
    pub fn allows(&self, heads: &[u32]) -> bool {
        heads.len() == self.n_words()
            && self.of_tree(heads).all(|arc| arc.is_some())
            && crate::tree::is_tree(heads)
            && (!self.single_root || heads.is_empty() || crate::tree::n_roots(heads) == 1)
    }

    /// Whether an arc leaves the root.
    #[inline]
    pub fn is_root(&self, arc: usize) -> bool {
        self.heads[arc] == ROOT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_sets_and_words_without_candidates() {
        let arcs = Arcs::full(3, true);
        assert_eq!((arcs.len(), arcs.heads(2)), (9, &[0, 1, 3][..]));
        for arc in 0..9 {
            assert_eq!(arcs.find(arcs.head(arc) as u32, arcs.modifier(arc)), Some(arc));
        }
        assert_eq!(arcs.find(2, 2), None);
        assert!(arcs.allows(&[0, 1, 2]) && !arcs.allows(&[0, 0, 2]) && !arcs.allows(&[2, 1, 0]));

        let mut sparse = Arcs::default();
        sparse.reset(3, false);
        sparse.push(3, 1);
        sparse.push(1, 3);
        assert!(sparse.heads(2).is_empty() && sparse.range(3) == (1..2));
        assert_eq!(sparse.score(&[1.0, 2.0], &[3, 0, 1]), f64::NEG_INFINITY);
        sparse.reset(0, true);
        assert!(sparse.is_empty() && sparse.allows(&[]));
    }
}
