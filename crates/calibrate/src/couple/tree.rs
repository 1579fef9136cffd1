//! Trees: the probability of a node is the product of P(child | parent) along the path from the root.
//!
//! Siblings are first brought to a sum of one: nothing changes where one question decides between two children, r and
//! 1 − r; children of a wide node that answer "is it below me?" each for itself become comparable. The leaves then sum to
//! one. *Rejected:* the product without that, as in some trees for many labels: right for labels that may be true
//! together, but not a distribution over classes.

use super::{Scratch, cleared, one_vs_all};
use crate::Error;

/// A tree, by the parent of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Children of node i: `children[start[i]..start[i + 1]]`.
    children: Vec<u32>,
    start: Vec<usize>,
    parent: Vec<u32>,
}

impl Paths {
    /// Takes the parent of each node. Node 0 is the root (what stands there for it is not looked at), and parents come
    /// before their children.
    pub fn new(parent: &[u32]) -> Result<Self, Error> {
        if parent.is_empty() || u32::try_from(parent.len()).is_err() {
            return Err(Error::Shape("a tree has from 1 to 4294967295 nodes"));
        }
        let n_nodes = parent.len();
        let mut start = vec![0; n_nodes + 1];
        for (node, &p) in parent.iter().enumerate().skip(1) {
            if p as usize >= node {
                return Err(Error::Shape("the parent of a node must come before it"));
            }
            start[p as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            start[node + 1] += start[node];
        }
        let mut next = start.clone();
        let mut children = vec![0; n_nodes - 1];
        for (node, &p) in (0u32..).zip(parent).skip(1) {
            children[next[p as usize]] = node;
            next[p as usize] += 1;
        }
        Ok(Self { children, start, parent: parent.to_vec() })
    }

    /// Turns P(node | parent) into P(node), in place; entry 0 becomes 1.
    pub fn couple(&self, p: &mut [f64], scratch: &mut Scratch) {
        debug_assert_eq!(p.len(), self.parent.len());
        p[0] = 1.0;
        for family in self.start.windows(2).map(|span| &self.children[span[0]..span[1]]) {
            let siblings = cleared(&mut scratch.product, family.len());
            siblings.iter_mut().zip(family).for_each(|(s, &node)| *s = p[node as usize]);
            one_vs_all(siblings);
            // Families come in the order of their parents, whose own probability is then known.
            siblings.iter().zip(family).for_each(|(s, &node)| {
                p[node as usize] = s * p[self.parent[node as usize] as usize]
            });
        }
    }
}
