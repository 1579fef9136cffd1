//! The document that comes first: log Σ exp score against the gains of the documents.
//!
//! Outputs are single documents, and the gold one is their mixture p = gain / Σ gain, a point of their polytope and not a vertex. Maxima, sums and duals go through as they do for
//! classes; the least loss is the entropy of p, not 0.

use crate::gain::Gain;
use crate::oracle::Scored;
use crate::queries::Query;
use lineal_linalg::special::softmax;

/// One decision, if some documents are worth more than others.
pub(super) fn prepare(
    query: &Query<'_>,
    gain: Gain,
    grade: &dyn Fn(u32) -> f64,
    gold: &mut [f64],
) -> f64 {
    if query.n_groups() < 2 || !gain.of_query(query, grade, gold) {
        return 0.0;
    }
    let sum: f64 = gold.iter().sum();
    gold.iter_mut().for_each(|p| *p /= sum);
    1.0
}

pub(super) fn best(at: &Scored<'_>, augmented: bool, amounts: &mut [f64]) -> f64 {
    let most = at.gold.iter().fold(0.0, |most: f64, p| most.max(*p));
    let cost = |document: usize| 1.0 - at.gold[document] / most;
    let value = |document: usize| match augmented {
        true => at.scores[document] + cost(document),
        false => at.scores[document],
    };
    let better = |best: usize, document: usize| {
        let order = value(document).total_cmp(&value(best));
        let dearer = cost(document) > cost(best);
        if order.is_gt() || (order.is_eq() && dearer) { document } else { best }
    };
    let best = (0..at.scores.len()).fold(0, better);
    amounts[best] = 1.0;
    cost(best)
}

pub(super) fn value_grad(at: &Scored<'_>, amounts: &mut [f64]) -> f64 {
    softmax(at.scores, amounts)
}
