//! The k best label sequences, lazily merged (Huang and Chiang 2005, algorithm 3), in f64.
//!
//! A node (t, y) ranks the beginnings that end in y at t. The best of all are Viterbi's; the next best of a node is taken from a heap of (label before, rank
//! there), and only when a rank is asked for is the next rank of the node before worked out. So k sequences cost the table of best
//! scores, n·K², and then a little for each rank that is really needed. Waiting nodes stand on a stack of their own: sequences may be long.

use crate::{Chain, Error, Scratch};
use lineal_linalg::Scalar;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A label sequence and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// One label a position.
    pub labels: Vec<u32>,
    /// As [`Chain::score`] gives it.
    pub score: f64,
}

#[derive(Clone, Copy, Debug)]
struct Derivation {
    score: f64,
    /// The label before and which of its beginnings.
    from: u32,
    rank: u32,
}

impl Ord for Derivation {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives the greatest first: the highest score, then the lowest label before, then its better beginning.
        self.score
            .total_cmp(&other.score)
            .then(other.from.cmp(&self.from))
            .then(other.rank.cmp(&self.rank))
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

#[derive(Clone, Debug, Default)]
struct Node {
    found: Vec<Derivation>,
    heap: BinaryHeap<Derivation>,
    /// The last one found has not yet put its successor on the heap.
    successor_pending: bool,
}

/// Buffers: the nodes that were visited and the table of best scores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lattice {
    best: Vec<f64>,
    /// `[t·K + y]` → node, `NONE` if it was not visited. The node after the last position is at n·K.
    index: Vec<u32>,
    nodes: Vec<Node>,
    stack: Vec<usize>,
}

const NONE: u32 = u32::MAX;

impl<F: Scalar> Chain<'_, F> {
    /// The `k` best legal label sequences, best first (fewer if there are not as many).
    ///
    /// Equal scores come in the order of [`Chain`].
    pub fn k_best(&self, k: usize, s: &mut Scratch<F>) -> Result<Vec<Ranked>, Error> {
        if self.is_constrained() {
            self.trim(&mut s.useful)?;
        }
        let n = self.n_positions();
        if n == 0 {
            return Ok((0..k.min(1)).map(|_| Ranked { labels: Vec::new(), score: 0.0 }).collect());
        }
        let lattice = &mut s.lattice;
        self.fill_best(&mut lattice.best);
        lattice.index.clear();
        lattice.index.resize(n * self.n_labels() + 1, NONE);
        lattice.nodes.clear();
        let mut ranked = Vec::new();
        for rank in 0..k {
            if !self.ensure(lattice, rank) {
                break;
            }
            ranked.push(self.unfold(lattice, rank));
        }
        Ok(ranked)
    }

    /// best[t, y], with the start and without the end.
    fn fill_best(&self, best: &mut Vec<f64>) {
        let (n, k) = (self.n_positions(), self.n_labels());
        best.clear();
        best.resize(n * k, f64::NEG_INFINITY);
        for t in 0..n {
            let (before, row) = best[..(t + 1) * k].split_at_mut(t * k);
            if t == 0 {
                for (label, best) in row.iter_mut().enumerate() {
                    *best = self.transitions().start()[label].to_f64();
                }
            } else {
                let before = &before[(t - 1) * k..];
                for from in 0..k {
                    let run = self.transitions().runs().row(from);
                    for to in run.first..run.first + run.len {
                        let score = before[from] + self.transition(t, from, to).to_f64();
                        row[to] = if score > row[to] { score } else { row[to] };
                    }
                }
            }
            for (label, best) in row.iter_mut().enumerate() {
                if self.allowed().is_none_or(|allowed| allowed.contains(t, label)) {
                    *best += self.unary_row(t)[label].to_f64();
                } else {
                    *best = f64::NEG_INFINITY;
                }
            }
        }
    }

    /// The score of a beginning of score `before` at the label before, continued to `place`.
    fn onto(&self, place: usize, from: usize, before: f64) -> f64 {
        let (n, k) = (self.n_positions(), self.n_labels());
        let (t, label) = (place / k, place % k);
        if t == n {
            return before + self.transitions().end()[from].to_f64();
        }
        before + self.transition(t, from, label).to_f64() + self.unary_row(t)[label].to_f64()
    }

    /// Works out the beginnings of the node after the last position up to `rank`; false if there are not as many.
    fn ensure(&self, lattice: &mut Lattice, rank: usize) -> bool {
        let (n, k) = (self.n_positions(), self.n_labels());
        let goal = n * k;
        lattice.stack.clear();
        lattice.stack.push(goal);
        while let Some(&place) = lattice.stack.last() {
            let t = place / k;
            let at = self.visit(lattice, place);
            if lattice.nodes[at].successor_pending {
                let last = lattice.nodes[at].found[lattice.nodes[at].found.len() - 1];
                if t > 0 {
                    let before_place = (t - 1) * k + last.from as usize;
                    let before = self.visit(lattice, before_place);
                    let wanted = last.rank as usize + 1;
                    let before = &lattice.nodes[before];
                    if let Some(next) = before.found.get(wanted) {
                        let score = self.onto(place, last.from as usize, next.score);
                        let next = Derivation { score, from: last.from, rank: last.rank + 1 };
                        lattice.nodes[at].heap.push(next);
                    } else if before.successor_pending || !before.heap.is_empty() {
                        lattice.stack.push(before_place);
                        continue;
                    }
                }
                lattice.nodes[at].successor_pending = false;
            }
            let node = &mut lattice.nodes[at];
            if let Some(next) = node.heap.pop() {
                node.found.push(next);
                node.successor_pending = true;
            }
            lattice.stack.pop();
        }
        let goal = lattice.index[goal] as usize;
        lattice.nodes[goal].found.len() > rank
    }

    /// The node of a place, made if it is new with the best beginnings through each label before.
    fn visit(&self, lattice: &mut Lattice, place: usize) -> usize {
        if lattice.index[place] != NONE {
            return lattice.index[place] as usize;
        }
        let k = self.n_labels();
        let t = place / k;
        let mut node = Node::default();
        if t == 0 {
            let score = lattice.best[place];
            node.found.push(Derivation { score, from: 0, rank: 0 });
        } else {
            let before = &lattice.best[(t - 1) * k..t * k];
            let through = |from: usize| {
                let score = self.onto(place, from, before[from]);
                (score > f64::NEG_INFINITY).then_some(Derivation {
                    score,
                    from: from as u32,
                    rank: 0,
                })
            };
            node.heap = (0..k).filter_map(through).collect::<Vec<_>>().into();
        }
        lattice.index[place] = lattice.nodes.len() as u32;
        lattice.nodes.push(node);
        lattice.nodes.len() - 1
    }

    fn unfold(&self, lattice: &mut Lattice, rank: usize) -> Ranked {
        let (n, k) = (self.n_positions(), self.n_labels());
        let goal = lattice.index[n * k] as usize;
        let mut here = lattice.nodes[goal].found[rank];
        let score = here.score;
        let mut labels = vec![0; n];
        for t in (0..n).rev() {
            labels[t] = here.from;
            if t > 0 {
                let place = t * k + here.from as usize;
                let at = self.visit(lattice, place);
                let node = &lattice.nodes[at];
                // A best beginning may not have been taken off its heap yet.
                here = match node.found.get(here.rank as usize) {
                    Some(&found) => found,
                    None => *node.heap.peek().unwrap_or(&here),
                };
            }
        }
        Ranked { labels, score }
    }
}
