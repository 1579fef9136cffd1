//! Ways to make a tree: in balance, or by frequency.

use super::{Node, Tree};
use crate::Error;
use rand::{SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg64Mcg;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Tree {
    /// Classes in random order, halved and halved again: ⌈log₂K⌉ decisions at most.
    pub fn balanced(n_classes: usize, seed: u64) -> Result<Self, Error> {
        let mut order: Vec<u32> = (0..n_classes.min(u32::MAX as usize) as u32).collect();
        order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
        Self::halved(order, |_| {})
    }

    /// Huffman's tree of the classes' numbers of rows ([`Examples::counts`](crate::Examples::counts)): no tree takes
    /// fewer decisions on average over the training rows, nor shows them to the learner fewer times.
    pub fn huffman(counts: &[u64]) -> Result<Self, Error> {
        let n_classes = counts.len();
        // The heap takes the two rarest, the oldest among equals: classes without rows come to lie in balance.
        let mut heap: BinaryHeap<Reverse<(u128, usize)>> =
            counts.iter().enumerate().map(|(k, &count)| Reverse((count.into(), k))).collect();
        // Trees 0..K are leaves; K, K + 1, … join two earlier ones.
        let mut joined: Vec<[usize; 2]> = Vec::with_capacity(n_classes.saturating_sub(1));
        let mut n_leaves = vec![1u32; n_classes];
        while let (Some(Reverse(a)), Some(Reverse(b))) = (heap.pop(), heap.pop()) {
            let tree = n_classes + joined.len();
            joined.push([a.1, b.1]);
            n_leaves.push(n_leaves[a.1] + n_leaves[b.1]);
            heap.push(Reverse((a.0 + b.0, tree)));
        }

        let mut order = Vec::with_capacity(n_classes);
        let mut nodes = Vec::with_capacity(joined.len());
        // The last tree that was made is the root. (The loop above has popped it, in vain.)
        let mut stack: Vec<usize> = (n_classes + joined.len()).checked_sub(1).into_iter().collect();
        while let Some(tree) = stack.pop() {
            if tree < n_classes {
                order.push(tree as u32);
                continue;
            }
            let [left, right] = joined[tree - n_classes];
            let lo = order.len() as u32;
            let split = lo + n_leaves[left];
            nodes.push(Node { lo, split, hi: split + n_leaves[right] });
            stack.extend([right, left]);
        }
        Self::new(order, nodes)
    }

    /// Halves ranges of leaves from the root down; `arrange` may first reorder the classes of a range, so that those
    /// which belong together are on the same side of its middle, ⌈n/2⌉.
    pub(super) fn halved(
        mut order: Vec<u32>,
        mut arrange: impl FnMut(&mut [u32]),
    ) -> Result<Self, Error> {
        let mut nodes = Vec::with_capacity(order.len().saturating_sub(1));
        let mut stack = vec![(0, order.len())];
        while let Some((lo, hi)) = stack.pop() {
            if hi - lo > 1 {
                arrange(&mut order[lo..hi]);
                let split = lo + (hi - lo).div_ceil(2);
                nodes.push(Node { lo: lo as u32, split: split as u32, hi: hi as u32 });
                stack.extend([(split, hi), (lo, split)]);
            }
        }
        Self::new(order, nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balanced_tree_is_as_shallow_as_can_be() {
        for k in 1usize..=130 {
            let tree = Tree::balanced(k, 5).unwrap();
            assert_eq!(tree.depth(), k.next_power_of_two().trailing_zeros() as usize);
            assert_eq!(tree.nodes().len(), k - 1);
        }
        assert_eq!(Tree::balanced(20_000, 5).unwrap().depth(), 15);
        assert_ne!(Tree::balanced(20, 5).unwrap(), Tree::balanced(20, 6).unwrap());
        assert!(Tree::balanced(0, 5).is_err());
    }

    #[test]
    fn huffman_puts_frequent_classes_near_the_root() {
        let tree = Tree::huffman(&[1, 1, 2, 4, 8]).unwrap();
        assert_eq!(tree.depths(), [4, 4, 3, 2, 1]);
        assert_eq!(Tree::huffman(&[5; 64]).unwrap().depth(), 6);
        assert_eq!(Tree::huffman(&[0; 20_000]).unwrap().depth(), 15);
        assert_eq!(Tree::huffman(&[3]).unwrap().depth(), 0);
        assert_eq!(Tree::huffman(&[u64::MAX; 3]).unwrap().depth(), 2);
        assert!(Tree::huffman(&[]).is_err());
    }
}
