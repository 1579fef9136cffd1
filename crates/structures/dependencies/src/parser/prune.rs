//! Many sentences in all threads: the heads that pruning leaves, and the best trees.

use crate::problem::{Candidates, Heads, PruneSpec, Tree, TreeParts, Trees};
use lineal_model::structure::{Ask, Infeasible, MaxOracle, Structure};
use rayon::prelude::*;
use std::ops::Range;

/// Sentences that a thread takes at a time.
const CHUNK: usize = 32;

/// The root and every word but `t` (from 0).
pub(super) fn all_heads(n: usize, t: usize) -> impl Iterator<Item = u32> {
    (0..=n as u32).filter(move |&head| head != t as u32 + 1)
}

/// Runs `f` on chunks of the examples in all threads; the results come in order.
fn in_chunks<T: Send>(n: usize, f: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let chunks = (0..n.div_ceil(CHUNK)).into_par_iter();
    chunks.map(|c| f(c * CHUNK..n.min((c + 1) * CHUNK))).collect()
}

/// The heads that are left to choose from.
pub fn prune(problem: &Heads<'_>, w: &[f32], spec: PruneSpec) -> Candidates {
    let mut all = Candidates::default();
    let n = Structure::<f32>::n_examples(problem);
    in_chunks(n, |chunk| pruned(problem, w, spec, chunk)).iter().for_each(|part| all.append(part));
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
    let best = |chunk: Range<usize>| {
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
    let chunks = in_chunks(Structure::<f32>::n_examples(problem), best);
    let heads: Result<Vec<Vec<u32>>, _> = chunks.into_iter().collect();
    Ok(heads?.concat())
}
