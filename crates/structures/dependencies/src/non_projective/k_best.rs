//! The k best trees whose arcs may cross (Camerini, Fratta and Maffioli 1980; Hall 2007).
//!
//! A *subspace* is a set of allowed arcs, with its best tree and the score of its second-best one. The second-best tree lacks one arc e of the best: for each node of
//! [the best tree's cycles](super::arborescence) and the arc e that enters it, e is exchanged for the best arc into the same node whose source does not hang on it, and the
//! exchange that costs least is taken. A subspace is then split in two: the trees without e, whose best is the second-best of the whole, and those with e, which keep the best one.
//! Each tree of the list costs two runs of Chu–Liu–Edmonds, n² steps.
//!
//! If the root takes one word, its arcs are only exchanged for each other: in the lexicographic order of [`Arborescence`] all trees with more roots come later.

use super::arborescence::{Arborescence, NONE};
use crate::{Arcs, RankedTree};
use lineal_linalg::Scalar;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Trees of some allowed arcs that are still to be listed.
struct Subspace {
    /// Of the best tree that was not listed yet.
    score: f64,
    /// The arc that this tree lacks.
    without: usize,
    /// Order of creation.
    number: usize,
    allowed: Vec<bool>,
}

impl Ord for Subspace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Subspace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Subspace {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Subspace {}

/// The `k` best trees, best first; none if there are none.
pub(crate) fn k_best<F: Scalar>(
    solver: &mut Arborescence,
    arcs: &Arcs,
    theta: &[F],
    k: usize,
) -> Vec<RankedTree> {
    let (mut ranked, mut heap) = (Vec::new(), BinaryHeap::new());
    let mut heads = Vec::new();
    let mut n_subspaces = 0;
    let mut push = |heap: &mut BinaryHeap<Subspace>, next: Option<(f64, usize)>, allowed| {
        n_subspaces += 1;
        if let Some((score, without)) = next {
            heap.push(Subspace { score, without, number: n_subspaces, allowed });
        }
    };
    let list = |heads: &[u32], ranked: &mut Vec<RankedTree>| {
        ranked.push(RankedTree { heads: heads.to_vec(), score: arcs.score(theta, heads) });
    };
    if k > 0 && solver.max(arcs, theta, |_| true, &mut heads) {
        list(&heads, &mut ranked);
        let next = second_best(solver, arcs, theta, &heads);
        push(&mut heap, next, vec![true; arcs.len()]);
    }
    while ranked.len() < k
        && let Some(Subspace { without, mut allowed, .. }) = heap.pop()
    {
        let mut lacking = allowed.clone();
        lacking[without] = false;
        if solver.max(arcs, theta, |arc| lacking[arc], &mut heads) {
            list(&heads, &mut ranked);
            let next = second_best(solver, arcs, theta, &heads);
            push(&mut heap, next, lacking);
        }
        for arc in arcs.range(arcs.modifier(without)).filter(|&arc| arc != without) {
            allowed[arc] = false;
        }
        if solver.max(arcs, theta, |arc| allowed[arc], &mut heads) {
            let next = second_best(solver, arcs, theta, &heads);
            push(&mut heap, next, allowed);
        }
    }
    // Scores of exchanges and of trees are rounded differently.
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    ranked
}

/// The score of the second-best tree and the arc of the best tree, `heads`, that it lacks.
fn second_best<F: Scalar>(
    solver: &Arborescence,
    arcs: &Arcs,
    theta: &[F],
    heads: &[u32],
) -> Option<(f64, usize)> {
    let s = solver.stride();
    let mut best: Option<(f64, usize)> = None;
    let mut hangs = vec![false; s];
    for node in (1..solver.n_nodes()).filter(|&node| !solver.replaced[node]) {
        let own = solver.best_arc(node);
        let own_gain = solver.best_gain(node);
        mark_subtree(heads, arcs.modifier(own), &mut hangs);
        for source in 0..s {
            let gain = if hangs[source] || (source == 0 && arcs.single_root() && !arcs.is_root(own))
            {
                continue;
            } else if source == arcs.head(own) {
                second_from(solver, arcs, node, own)
            } else {
                solver.gain[node * s + source]
            };
            let change = gain - own_gain;
            if gain > f64::NEG_INFINITY && best.is_none_or(|(least, _)| change > least) {
                best = Some((change, own));
            }
        }
    }
    best.map(|(change, arc)| (arcs.score(theta, heads) + change, arc))
}

/// Marks the words that hang on `word`, itself included.
fn mark_subtree(heads: &[u32], word: usize, hangs: &mut [bool]) {
    // Every word walks up until it meets `word`, the root, or one whose answer is known from this call.
    hangs.fill(false);
    hangs[word] = true;
    let mut known = vec![false; hangs.len()];
    (known[0], known[word]) = (true, true);
    let mut path = Vec::new();
    for start in 1..hangs.len() {
        let mut at = start;
        path.clear();
        while !known[at] {
            path.push(at);
            at = heads[at - 1] as usize;
        }
        for &visited in &path {
            (known[visited], hangs[visited]) = (true, hangs[at]);
        }
    }
}

/// The best gain of an arc from the source of `own` into another word of the node.
fn second_from(solver: &Arborescence, arcs: &Arcs, node: usize, own: usize) -> f64 {
    let s = solver.stride();
    let (source, mut inner) = (arcs.head(own), arcs.modifier(own));
    // From the word outwards: the best so far is that of the inner node, then also of the others in its cycle.
    let mut best = f64::NEG_INFINITY;
    while inner != node {
        let outer = solver.cycle[inner];
        if outer == NONE {
            break;
        }
        best -= solver.best_gain(inner);
        for member in (1..outer as usize).filter(|&member| member != inner) {
            if solver.cycle[member] == outer {
                best = best.max(solver.gain[member * s + source] - solver.best_gain(member));
            }
        }
        inner = outer as usize;
    }
    best
}
