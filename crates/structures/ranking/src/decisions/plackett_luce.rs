//! The likelihood of an order that agrees with the grades.
//!
//! With groups 0, 1, … from the best grade to the lowest and Lg = log Σ exp score over the documents of group g and of all lower ones,
//!
//! ```text
//! loss = Σ over groups g but the lowest, over documents i of g:  Lg − scoreᵢ.
//! ```
//!
//! Without ties this is Plackett–Luce. With ties every document of a group competes with its whole group (Breslow's likelihood), as if each were chosen first: cheap, smooth, and
//! equal documents keep equal gradients. A choice is one decision with the outputs "document j", so that maxima and sums decouple; choosing a document of a lower grade costs 1.
//!
//! The gradient of document j in group h is exp(scoreⱼ) Σ over g ≤ h of n_g exp(−Lg). The sums over g run down from the best grade in logarithms: scoreⱼ ≤ Lg for all of
//! them, so that nothing overflows. Linear in the number of documents, once these are sorted by grade.

use crate::oracle::{Buffers, Scored};
use crate::queries::Query;

/// The groups of which documents are chosen.
fn chosen(query: &Query<'_>) -> std::ops::Range<usize> {
    0..query.n_groups().saturating_sub(1)
}

pub(super) fn prepare(query: &Query<'_>, gold: &mut [f64]) -> f64 {
    let mut n = 0.0;
    for group in chosen(query) {
        for &document in query.group(group) {
            gold[document as usize] = 1.0;
            n += 1.0;
        }
    }
    n
}

pub(super) fn loss_at_zero(query: &Query<'_>) -> f64 {
    let of_group = |group: usize| {
        let places = query.places(group);
        places.len() as f64 * ((query.n() - places.start) as f64).ln()
    };
    chosen(query).map(of_group).sum()
}

/// Of Σ over choices of 1/n² for each pair of the n documents to choose from, the mean over pairs of different groups, roughly.
pub(super) fn curvature(query: &Query<'_>) -> f64 {
    let n_choices: usize = chosen(query).map(|group| query.places(group).len()).sum();
    0.5 * n_choices as f64 / query.n_pairs().max(1.0)
}

pub(super) fn best(at: &Scored<'_>, augmented: bool, amounts: &mut [f64]) -> f64 {
    let query = &at.query;
    let score = |document: u32| at.scores[document as usize];
    let better = |a: u32, b: u32| if score(b) > score(a) { b } else { a };
    let margin = if augmented { 1.0 } else { 0.0 };
    // The best of all lower groups.
    let mut lower: Option<u32> = None;
    let mut cost = 0.0;
    for group in (0..query.n_groups()).rev() {
        let own = query.group(group).iter().copied().reduce(better);
        if let (Some(low), Some(own)) = (lower, own) {
            let times = query.places(group).len() as f64;
            let is_lower = score(low) + margin >= score(own);
            amounts[if is_lower { low } else { own } as usize] += times;
            cost += if is_lower { times } else { 0.0 };
        }
        lower = [lower, own].into_iter().flatten().reduce(better);
    }
    cost
}

/// log(exp a + exp b).
fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

pub(super) fn value_grad(at: &Scored<'_>, s: &mut Buffers, amounts: &mut [f64]) -> f64 {
    let query = &at.query;
    let score = |document: u32| at.scores[document as usize];
    // Lg from the lowest group up.
    let logs = &mut s.numbers;
    logs.clear();
    logs.resize(query.n_groups(), f64::NEG_INFINITY);
    let mut log = f64::NEG_INFINITY;
    for group in (0..query.n_groups()).rev() {
        let documents = query.group(group);
        let most = documents.iter().fold(f64::NEG_INFINITY, |most, &d| most.max(score(d)));
        let sum: f64 = documents.iter().map(|&d| (score(d) - most).exp()).sum();
        log = log_add(log, most + sum.ln());
        logs[group] = log;
    }
    let (mut value, mut rate) = (0.0, f64::NEG_INFINITY);
    for group in 0..query.n_groups() {
        let documents = query.group(group);
        if chosen(query).contains(&group) {
            let n = documents.len() as f64;
            value += n * logs[group];
            rate = log_add(rate, n.ln() - logs[group]);
        }
        documents.iter().for_each(|&d| amounts[d as usize] = (score(d) + rate).exp());
    }
    value
}
