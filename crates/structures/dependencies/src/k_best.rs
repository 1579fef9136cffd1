//! The k best trees of a packed forest, lazily merged (Huang and Chiang 2005, algorithm 3), in f64.
//!
//! The best score of each item comes first, for all items. The next best of an item is taken from a heap of (edge, rank of the left tail, rank of the right tail), and only when a rank
//! is asked for are the next ranks of its tails worked out. Waiting items stand on a stack of their own: sentences may be long.

use crate::forest::Forest;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug)]
struct Derivation {
    score: f64,
    edge: u32,
    ranks: [u32; 2],
}

impl Ord for Derivation {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives the greatest first: the highest score, then the first edge, then better tails.
        self.score
            .total_cmp(&other.score)
            .then(other.edge.cmp(&self.edge))
            .then(other.ranks.cmp(&self.ranks))
    }
}

impl PartialOrd for Derivation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Derivation {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Derivation {}

/// An item that was visited.
#[derive(Clone, Debug, Default)]
struct Node {
    found: Vec<Derivation>,
    heap: BinaryHeap<Derivation>,
    /// The last one found has not yet put its successors on the heap.
    successor_pending: bool,
}

/// The items that were visited, and the best score of each item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranking {
    best: Vec<f64>,
    /// Item → node, `NONE` if it was not visited.
    index: Vec<u32>,
    nodes: Vec<Node>,
    /// Items whose rank is asked for.
    stack: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;

impl Ranking {
    /// Calls `f` with the parts of each of the `k` best trees, best first (fewer if there are not as many). `scores` has one number for each part.
    pub(crate) fn k_best(
        &mut self,
        forest: &Forest,
        scores: &[f64],
        k: usize,
        mut f: impl FnMut(&[usize]),
    ) {
        self.index.clear();
        self.index.resize(forest.n_items(), NONE);
        self.nodes.clear();
        self.fill_best(forest, scores);
        let last = forest.n_items() as u32 - 1;
        let (mut parts, mut stack) = (Vec::new(), Vec::new());
        for rank in 0..k as u32 {
            if !self.ensure(forest, scores, last, rank) {
                break;
            }
            parts.clear();
            stack.push((last, rank));
            while let Some((item, rank)) = stack.pop() {
                parts.extend(forest.part(item as usize));
                // Tails of rank 0 may not have been visited yet.
                if forest.edges(item as usize).is_empty() {
                    continue;
                }
                self.ensure(forest, scores, item, rank);
                let node = &self.nodes[self.index[item as usize] as usize];
                let Derivation { edge, ranks, .. } = node.found[rank as usize];
                let [left, right] = forest.tails[edge as usize];
                stack.extend([(left, ranks[0]), (right, ranks[1])]);
            }
            f(&parts);
        }
    }

    fn fill_best(&mut self, forest: &Forest, scores: &[f64]) {
        self.best.clear();
        for item in 0..forest.n_items() {
            let sums = forest.tails[forest.edges(item)]
                .iter()
                .map(|&[left, right]| self.best[left as usize] + self.best[right as usize]);
            let top = sums.reduce(f64::max).unwrap_or(0.0);
            self.best.push(forest.own(item, scores) + top);
        }
    }

    /// Works out an item's derivations up to a rank. `false` if it has fewer.
    fn ensure(&mut self, forest: &Forest, scores: &[f64], item: u32, rank: u32) -> bool {
        if forest.edges(item as usize).is_empty() {
            return rank == 0;
        }
        self.stack.clear();
        self.stack.push((item, rank));
        while let Some(&(item, rank)) = self.stack.last() {
            let node = self.visit(forest, scores, item);
            if self.nodes[node].found.len() > rank as usize {
                self.stack.pop();
            } else if self.nodes[node].successor_pending {
                self.pay(forest, scores, item, node);
            } else if let Some(next) = self.nodes[node].heap.pop() {
                self.nodes[node].found.push(next);
                self.nodes[node].successor_pending = true;
            } else {
                self.stack.pop();
            }
        }
        let node = &self.nodes[self.index[item as usize] as usize];
        node.found.len() > rank as usize
    }

    /// The node of an item; at the first visit, its heap has each edge with the best of its tails.
    fn visit(&mut self, forest: &Forest, scores: &[f64], item: u32) -> usize {
        let place = self.index[item as usize];
        if place != NONE {
            return place as usize;
        }
        let own = forest.own(item as usize, scores);
        let heap = forest.edges(item as usize).map(|edge| {
            let [left, right] = forest.tails[edge];
            let score = own + (self.best[left as usize] + self.best[right as usize]);
            Derivation { score, edge: edge as u32, ranks: [0, 0] }
        });
        let node = Node { heap: heap.collect(), ..Node::default() };
        self.index[item as usize] = self.nodes.len() as u32;
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Puts the successors of the last derivation found on the heap, if the ranks of its tails are known. Else these are asked for first.
    ///
    /// (i, j) is followed by (i, j + 1), and by (i + 1, j) if j = 0: so each pair of ranks comes once, after a better one.
    fn pay(&mut self, forest: &Forest, scores: &[f64], item: u32, node: usize) {
        let Some(&Derivation { edge, ranks, .. }) = self.nodes[node].found.last() else { return };
        let tails = forest.tails[edge as usize];
        let own = forest.own(item as usize, scores);
        let mut successors = [None; 2];
        for (side, successor) in successors.iter_mut().enumerate() {
            if side == 0 && ranks[1] > 0 {
                continue;
            }
            let mut next = ranks;
            next[side] += 1;
            match self.score(forest, tails[side], next[side]) {
                Rank::Unknown => {
                    self.stack.push((tails[side], next[side]));
                    return;
                }
                Rank::Missing => {}
                Rank::Found(moved) => {
                    if let Rank::Found(kept) = self.score(forest, tails[1 - side], ranks[1 - side])
                    {
                        *successor =
                            Some(Derivation { score: own + (moved + kept), edge, ranks: next });
                    }
                }
            }
        }
        self.nodes[node].heap.extend(successors.into_iter().flatten());
        self.nodes[node].successor_pending = false;
    }

    fn score(&self, forest: &Forest, item: u32, rank: u32) -> Rank {
        if rank == 0 {
            return Rank::Found(self.best[item as usize]);
        }
        if forest.edges(item as usize).is_empty() {
            return Rank::Missing;
        }
        let place = self.index[item as usize];
        if place == NONE {
            return Rank::Unknown;
        }
        let node = &self.nodes[place as usize];
        match node.found.get(rank as usize) {
            Some(derivation) => Rank::Found(derivation.score),
            None if node.heap.is_empty() && !node.successor_pending => Rank::Missing,
            None => Rank::Unknown,
        }
    }
}

enum Rank {
    Found(f64),
    /// The item has fewer derivations.
    Missing,
    Unknown,
}
