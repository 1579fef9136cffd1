//! Where the candidates of a sentence leave no tree.

use crate::Arcs;
use lineal_model::structure::Infeasible;

/// The most words of a sentence in which the word is looked for by some ten charts over all arcs, each of which takes n³ steps.
pub(crate) const CHARTED: usize = 300;

/// The first word (from 0) that has no candidate at all.
pub(crate) fn first_without_heads(arcs: &Arcs) -> Option<usize> {
    (0..arcs.n_words()).find(|&t| arcs.heads(t + 1).is_empty())
}

/// The first word (from 0) whose candidates, with those of the words before it, leave no tree even if the words after it could have any head.
///
/// More candidates never take a tree away, so that the word is found by bisection. `feasible` tells whether a set of candidates has a tree;
/// that of `arcs` itself has none.
pub(crate) fn first_conflict(arcs: &Arcs, mut feasible: impl FnMut(&Arcs) -> bool) -> Infeasible {
    let n = arcs.n_words();
    let mut relaxed = Arcs::default();
    // The first `low` words alone have a tree, the first `high` have none.
    let (mut low, mut high) = (0, n);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        relaxed.reset(n, arcs.single_root());
        for modifier in 1..=n as u32 {
            if modifier as usize <= middle {
                arcs.heads(modifier as usize).iter().for_each(|&head| relaxed.push(head, modifier));
            } else {
                let heads = (0..=n as u32).filter(|&head| head != modifier);
                heads.for_each(|head| relaxed.push(head, modifier));
            }
        }
        if feasible(&relaxed) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Infeasible { at: high.saturating_sub(1) }
}
