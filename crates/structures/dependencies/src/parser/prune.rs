//! Many sentences in all threads: the heads that pruning leaves, and the best trees.

use crate::problem::{Candidates, Heads, PruneSpec, Tree, TreeParts, Trees};
use lineal_model::chunks::in_chunks;
use lineal_model::structure::{Ask, Infeasible, MaxOracle, Structure};
use std::ops::Range;

/// The root and every word but `t` (from 0).
pub(super) fn all_heads(n: usize, t: usize) -> impl Iterator<Item = u32> {
    (0..=n as u32).filter(move |&head| head != t as u32 + 1)
}

/// The heads that are left to choose from.
pub fn prune(problem: &Heads<'_>, w: &[f32], spec: PruneSpec) -> Candidates {
    let mut all = Candidates::default();
    let n = Structure::<f32>::n_examples(problem);
    let parts = in_chunks(n, || (), |(), chunk| pruned(problem, w, spec, chunk));
    parts.iter().for_each(|part| all.append(part));
    all
}

/// The same of some sentences, in this thread.
pub(super) fn pruned(
    problem: &Heads<'_>,
    w: &[f32],
    spec: PruneSpec,
    which: Range<usize>,
) -> Candidates {
    let (mut s, mut theta) = (Structure::<f32>::scratch(problem), Vec::new());
    let mut kept = Candidates::default();
    for i in which {
        problem.scores(i, w, 1.0, &mut s, &mut theta);
        problem.prune(i, &theta, spec, &mut kept);
    }
    kept
}

/// The heads of all words in the best trees, or the first sentence that has none.
pub fn best_trees(problem: &Trees<'_>, w: &[f32]) -> Result<Vec<u32>, (usize, Infeasible)> {
    let best = |(): &mut (), chunk: Range<usize>| {
        let mut s = Structure::<f32>::scratch(problem);
        let (mut theta, mut tree, mut heads) = (TreeParts::default(), Tree::default(), Vec::new());
        for i in chunk {
            problem.scores(i, w, 1.0, &mut s, &mut theta);
            problem
                .argmax(i, &mut theta, Ask::Plain, &mut s, &mut tree)
                .map_err(|found| (i, found))?;
            heads.extend_from_slice(&tree.heads);
        }
        Ok(heads)
    };
    let chunks = in_chunks(Structure::<f32>::n_examples(problem), || (), best);
    let heads: Result<Vec<Vec<u32>>, _> = chunks.into_iter().collect();
    Ok(heads?.concat())
}
