//! Many sentences in all threads: the spans that pruning leaves.

use crate::Grammar;
use crate::problem::{Candidates, Known, PruneSpec, SpanClassifier};
use lineal_model::chunks::in_chunks;
use lineal_model::structure::Structure;
use std::ops::Range;

/// The spans that are left to choose from.
pub fn prune(
    problem: &SpanClassifier<'_>,
    w: &[f32],
    spec: PruneSpec,
    grammar: &Grammar,
) -> Candidates {
    let mut all = Candidates::default();
    let n = Structure::<f32>::n_examples(problem);
    let parts = in_chunks(n, || (), |(), chunk| pruned(problem, w, spec, grammar, &[], chunk));
    parts.iter().for_each(|part| all.append(part));
    all
}

/// The same of some sentences, in this thread.
pub(super) fn pruned(
    problem: &SpanClassifier<'_>,
    w: &[f32],
    spec: PruneSpec,
    grammar: &Grammar,
    known: &[Known],
    which: Range<usize>,
) -> Candidates {
    let (mut s, mut theta) = (Structure::<f32>::scratch(problem), Vec::new());
    let (mut kept, free) = (Candidates::default(), Known::default());
    for i in which {
        problem.scores(i, w, 1.0, &mut s, &mut theta);
        let known = known.get(i).unwrap_or(&free);
        problem.prune(i, &theta, spec, grammar.spec().branching, known, &mut kept);
    }
    kept
}
