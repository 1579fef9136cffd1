//! Binary trees whose leaves are the classes.
//!
//! Leaves are numbered from left to right, so that a node covers a range `lo..hi` of them and asks "left of `split`?".
//! Nodes stand in preorder. That makes children implicit: of node i the left one is i + 1 and the right one i + (split − lo),
//! unless that side is a single leaf. Nothing here recurses: a tree read from text may be as deep as it has classes.

mod build;
mod cluster;
mod text;

pub use cluster::class_centroids;

use crate::Error;

/// A binary tree over classes. Its text form ([`Display`](std::fmt::Display), [`FromStr`](std::str::FromStr)) is
/// `((0 3) (1 2))`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The class of each leaf.
    order: Vec<u32>,
    /// The leaf of each class.
    rank: Vec<u32>,
    nodes: Vec<Node>,
}

/// Leaves `lo..split` are under the left child, `split..hi` under the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) lo: u32,
    pub(crate) split: u32,
    pub(crate) hi: u32,
}

/// A place in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Node(usize),
    Leaf(usize),
}

impl Tree {
    /// Takes leaves and nodes in preorder; checks that each class has one leaf.
    fn new(order: Vec<u32>, nodes: Vec<Node>) -> Result<Self, Error> {
        let n_leaves = order.len();
        if n_leaves == 0 || u32::try_from(n_leaves).is_err() {
            let remedy = "it needs from 1 to 4294967295 classes".into();
            return Err(Error::Size { what: "a label tree", n_classes: n_leaves, remedy });
        }
        debug_assert_eq!(nodes.len(), n_leaves - 1);
        let mut times = vec![0usize; n_leaves];
        let mut rank = vec![0; n_leaves];
        for (leaf, &class) in (0u32..).zip(&order) {
            // A class beyond the leaves means that one below them is missing.
            if let Some(times) = times.get_mut(class as usize) {
                *times += 1;
                rank[class as usize] = leaf;
            }
        }
        if let Some(class) = times.iter().position(|&times| times != 1) {
            return Err(Error::Leaf { n_leaves, class: class as u32, times: times[class] });
        }
        Ok(Self { order, rank, nodes })
    }

    /// Number of classes, K.
    pub fn n_classes(&self) -> usize {
        self.order.len()
    }

    /// Classes from the leftmost leaf to the rightmost.
    pub fn leaves(&self) -> &[u32] {
        &self.order
    }

    /// The largest number of decisions to reach a class.
    pub fn depth(&self) -> usize {
        self.depths().into_iter().max().unwrap_or(0)
    }

    /// The number of decisions to reach each class.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.n_classes()];
        let mut stack = vec![(self.root(), 0)];
        while let Some((at, depth)) = stack.pop() {
            match at {
                At::Leaf(leaf) => depths[self.class(leaf) as usize] = depth,
                At::Node(node) => stack.extend(self.children(node).map(|child| (child, depth + 1))),
            }
        }
        depths
    }

    /// The nodes in preorder as (lo, split, hi): leaves `lo..split` are under the left child, `split..hi` under the right one.
    pub fn splits(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.nodes.iter().map(|node| (node.lo, node.split, node.hi))
    }

    pub(crate) fn root(&self) -> At {
        if self.nodes.is_empty() { At::Leaf(0) } else { At::Node(0) }
    }

    /// The class that a walk down from a place ends in, given which way it turns at nodes.
    pub(crate) fn walk(&self, mut at: At, mut is_left: impl FnMut(usize) -> bool) -> u32 {
        loop {
            match at {
                At::Leaf(leaf) => return self.class(leaf),
                At::Node(node) => at = self.children(node)[usize::from(!is_left(node))],
            }
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn rank(&self) -> &[u32] {
        &self.rank
    }

    pub(crate) fn class(&self, leaf: usize) -> u32 {
        self.order[leaf]
    }

    /// Left and right child of a node.
    pub(crate) fn children(&self, node: usize) -> [At; 2] {
        let Node { lo, split, hi } = self.nodes[node];
        let left = if split - lo == 1 { At::Leaf(lo as usize) } else { At::Node(node + 1) };
        let right = if hi - split == 1 {
            At::Leaf(split as usize)
        } else {
            At::Node(node + (split - lo) as usize)
        };
        [left, right]
    }
}
