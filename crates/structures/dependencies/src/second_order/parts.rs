//! The parts of second order of a sentence: its arcs, grandparents and consecutive siblings.

use crate::{Arcs, tree::ROOT};
use lineal_linalg::Scalar;
use std::ops::Range;

/// Numbers the parts of projective trees of second order over candidate arcs. Buffers are reused by [`build`](Self::build).
///
/// A vector of scores or marginals has one number for each part, in this order:
///
/// 1. each arc h → m, as [`Arcs`] numbers them;
/// 2. for each arc h → m with h a word, in the order of arcs, its *grandparent parts* g → h → m, by rising g: one for each candidate head g of h, without those
///    between h and m and m itself, which no projective tree has;
/// 3. for each arc h → m, in the order of arcs, its *sibling parts* (h, s, m): first the one without s, then one for each candidate arc h → s with s between h
///    and m, by rising s. s is the modifier of h that comes before m, seen from h. If the root takes one word, its arcs have the part without s only.
///
/// A tree has for each word one arc, one sibling part, and one grandparent part unless the head is the root.
///
/// ```
/// use lineal_dependencies::{Arcs, SecondOrder};
///
/// let mut parts = SecondOrder::default();
/// parts.build(&Arcs::full(3, true));
/// // The root takes word 1, which takes both others.
/// let mut of_tree = Vec::new();
/// assert!(parts.each_part(&[0, 1, 1], |part| of_tree.push(part)));
/// assert_eq!(of_tree.len(), 3 + 2 + 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct SecondOrder {
    arcs: Arcs,
    /// First grandparent part of each arc, and the end of all.
    grandparent_starts: Vec<u32>,
    /// For each grandparent part, from the first: the arc g → h.
    upper: Vec<u32>,
    /// First sibling part of each arc, and the end of all.
    sibling_starts: Vec<u32>,
    /// For each sibling part, from the first: the arc h → s or `NONE`, and the arc h → m.
    siblings: Vec<[u32; 2]>,
    /// Arcs by head, the root first, with rising modifiers.
    by_head: Vec<u32>,
    /// End of the arcs of each head in `by_head`.
    head_ends: Vec<u32>,
}

/// No arc.
pub(crate) const NONE: u32 = u32::MAX;

impl SecondOrder {
    /// Becomes the parts over these arcs.
    pub fn build(&mut self, arcs: &Arcs) {
        self.arcs.clone_from(arcs);
        self.sort_by_head();
        let arcs = &self.arcs;
        let n_arcs = arcs.len() as u32;

        self.upper.clear();
        self.grandparent_starts.clear();
        for arc in 0..arcs.len() {
            self.grandparent_starts.push(n_arcs + self.upper.len() as u32);
            let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
            let (low, high) = (head.min(modifier), head.max(modifier));
            let uppers = arcs.range(head).filter(|&upper| {
                let grandparent = arcs.head(upper);
                grandparent < low || grandparent > high
            });
            self.upper.extend(uppers.map(|upper| upper as u32));
        }
        let first_sibling = n_arcs + self.upper.len() as u32;
        self.grandparent_starts.push(first_sibling);

        self.siblings.clear();
        self.sibling_starts.clear();
        for arc in 0..arcs.len() {
            self.sibling_starts.push(first_sibling + self.siblings.len() as u32);
            self.siblings.push([NONE, arc as u32]);
            let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
            if head == ROOT as usize && arcs.single_root() {
                continue;
            }
            let (low, high) = (head.min(modifier), head.max(modifier));
            let end = self.head_ends[head] as usize;
            let start = if head == 0 { 0 } else { self.head_ends[head - 1] as usize };
            let inner = self.by_head[start..end].iter().copied().filter(|&inner| {
                let sibling = arcs.modifier(inner as usize);
                low < sibling && sibling < high
            });
            self.siblings.extend(inner.map(|inner| [inner, arc as u32]));
        }
        self.sibling_starts.push(first_sibling + self.siblings.len() as u32);
    }

    /// Counting sort: arcs come by modifier, so that the modifiers of a head rise.
    fn sort_by_head(&mut self) {
        let arcs = &self.arcs;
        self.head_ends.clear();
        self.head_ends.resize(arcs.n_words() + 2, 0);
        for arc in 0..arcs.len() {
            self.head_ends[arcs.head(arc) + 1] += 1;
        }
        for head in 1..self.head_ends.len() {
            self.head_ends[head] += self.head_ends[head - 1];
        }
        self.by_head.clear();
        self.by_head.resize(arcs.len(), 0);
        // Starts become ends while the arcs fall into their places.
        for arc in 0..arcs.len() {
            let place = &mut self.head_ends[arcs.head(arc)];
            self.by_head[*place as usize] = arc as u32;
            *place += 1;
        }
        self.head_ends.pop();
    }

    /// How many parts.
    pub fn len(&self) -> usize {
        self.arcs.len() + self.upper.len() + self.siblings.len()
    }

    /// Whether there is no part.
    pub fn is_empty(&self) -> bool {
        self.arcs.is_empty()
    }

    /// The candidate arcs.
    pub fn arcs(&self) -> &Arcs {
        &self.arcs
    }

    /// The grandparent parts of all arcs.
    pub fn all_grandparents(&self) -> Range<usize> {
        self.arcs.len()..self.arcs.len() + self.upper.len()
    }

    /// The sibling parts of all arcs.
    pub fn all_siblings(&self) -> Range<usize> {
        self.arcs.len() + self.upper.len()..self.len()
    }

    /// The grandparent parts of an arc.
    #[inline]
    pub fn grandparents(&self, arc: usize) -> Range<usize> {
        self.grandparent_starts[arc] as usize..self.grandparent_starts[arc + 1] as usize
    }

    /// The arc g → h of a grandparent part g → h → m.
    #[inline]
    pub fn upper(&self, grandparent_part: usize) -> usize {
        self.upper[grandparent_part - self.arcs.len()] as usize
    }

    /// The sibling parts of an arc.
    #[inline]
    pub fn siblings(&self, arc: usize) -> Range<usize> {
        self.sibling_starts[arc] as usize..self.sibling_starts[arc + 1] as usize
    }

    /// The arc h → s of a sibling part (h, s, m), or none if m is the first modifier.
    #[inline]
    pub fn inner(&self, sibling_part: usize) -> Option<usize> {
        let [inner, _] = self.siblings[sibling_part - self.all_siblings().start];
        (inner != NONE).then_some(inner as usize)
    }

    /// The arc h → m of a sibling part (h, s, m).
    #[inline]
    pub fn outer(&self, sibling_part: usize) -> usize {
        self.siblings[sibling_part - self.all_siblings().start][1] as usize
    }

    /// The arcs that leave a head, 0 … n, with rising modifiers.
    #[inline]
    pub fn arcs_from(&self, head: usize) -> &[u32] {
        let start = if head == 0 { 0 } else { self.head_ends[head - 1] as usize };
        &self.by_head[start..self.head_ends[head] as usize]
    }

    /// Calls `f` with each part of a tree: word by word its arc, grandparent part and sibling part. `false`, and not all calls, if one does not exist.
    pub fn each_part(&self, heads: &[u32], mut f: impl FnMut(usize)) -> bool {
        heads.iter().enumerate().all(|(word, &head)| {
            let modifier = word + 1;
            let Some(arc) = self.arcs.find(head, modifier) else { return false };
            f(arc);
            if head != ROOT {
                let head = head as usize;
                let Some(upper) = self.arcs.find(heads[head - 1], head) else { return false };
                let range = self.grandparents(arc);
                let uppers = &self.upper[range.start - self.arcs.len()..][..range.len()];
                let Ok(at) = uppers.binary_search(&(upper as u32)) else { return false };
                f(range.start + at);
            }
            let depends = |&sibling: &usize| heads[sibling - 1] == head;
            let sibling = if (head as usize) < modifier {
                (head as usize + 1..modifier).rev().find(depends)
            } else {
                (modifier + 1..head as usize).find(depends)
            };
            let range = self.siblings(arc);
            let at = match sibling {
                None => Some(0),
                Some(sibling) => self.siblings[range.start - self.all_siblings().start..]
                    [1..range.len()]
                    .binary_search_by_key(&sibling, |&[inner, _]| {
                        self.arcs.modifier(inner as usize)
                    })
                    .ok()
                    .map(|at| at + 1),
            };
            at.map(|at| f(range.start + at)).is_some()
        })
    }

    /// Σ of the scores of a tree's parts, summed in f64 in the order of [`each_part`](Self::each_part); −∞ if one does not exist.
    pub fn score<F: Scalar>(&self, theta: &[F], heads: &[u32]) -> f64 {
        let mut score = 0.0;
        let whole = self.each_part(heads, |part| score += theta[part].to_f64());
        if whole { score } else { f64::NEG_INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_three_words() {
        let mut parts = SecondOrder::default();
        parts.build(&Arcs::full(3, false));
        let arcs = parts.arcs().clone();
        let arc = |head, modifier| arcs.find(head, modifier).unwrap();
        // 2 → 3 with grandparents 0 and 1, in rising order; 3 is m itself.
        let uppers: Vec<_> = parts.grandparents(arc(2, 3)).map(|part| parts.upper(part)).collect();
        assert_eq!(uppers, [arc(0, 2), arc(1, 2)]);
        // 3 → 1 with grandparent 0; 2 stands between.
        let uppers: Vec<_> = parts.grandparents(arc(3, 1)).map(|part| parts.upper(part)).collect();
        assert_eq!(uppers, [arc(0, 3)]);
        assert!(parts.grandparents(arc(0, 3)).is_empty());
        let inner = |head, modifier| -> Vec<_> {
            parts.siblings(arc(head, modifier)).map(|part| parts.inner(part)).collect()
        };
        assert_eq!(inner(0, 3), [None, Some(arc(0, 1)), Some(arc(0, 2))]);
        assert_eq!(inner(3, 1), [None, Some(arc(3, 2))]);
        assert_eq!(inner(1, 2), [None]);
        assert!(parts.all_siblings().all(|part| parts.siblings(parts.outer(part)).contains(&part)));
        assert_eq!(parts.arcs_from(1), [arc(1, 2) as u32, arc(1, 3) as u32]);

        parts.build(&Arcs::full(3, true));
        assert_eq!(parts.siblings(arc(0, 3)).len(), 1);
        // Two roots are no part of it.
        assert!(!parts.each_part(&[0, 0, 2], |_| ()));
        assert_eq!(parts.score(&vec![1.0; parts.len()], &[0, 1, 2]), 8.0);
    }
}
