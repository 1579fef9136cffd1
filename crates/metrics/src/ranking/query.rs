//! The scores of one query.
//!
//! Ties are runs of the order by score. Let a run of m documents begin after t documents, of which R are relevant, and let r of its own be relevant. Over all orders of
//! the run, each rank t + j holds each document equally often, so that the gain expected there is the run's mean gain, and
//!
//! ```text
//! E[AP · n_relevant]  gets  Σⱼ r/m · (R + 1 + (j − 1)(r − 1)/(m − 1)) / (t + j)
//! E[RR]               is    Σⱼ P(the first relevant one is j-th) / (t + j)   of the first run with r > 0
//! ```
//!
//! With runs of one document these are the plain definitions.

use super::pairs::right_pairs;
use super::{QueryScores, RankingOptions, ScoreTies};

/// Buffers that queries share: discounts 1 / log₂(1 + rank) by rank from 0, and an order.
#[derive(Default)]
pub(super) struct Buffers {
    discounts: Vec<f64>,
    order: Vec<usize>,
}

/// The scores of a query, and how many of its pairs are right, which may end in a half.
pub(super) fn evaluate(
    grades: &[f64],
    scores: &[f64],
    options: &RankingOptions,
    buffers: &mut Buffers,
) -> (QueryScores, f64) {
    let n = grades.len();
    let known = buffers.discounts.len();
    buffers.discounts.extend((known..n).map(|rank| 1.0 / (rank as f64 + 2.0).log2()));
    let Buffers { discounts, order } = buffers;
    let is_relevant = |i: usize| grades[i] > options.relevance_threshold;

    order.clear();
    order.extend(0..n);
    // −0 and 0 are equal scores, which `total_cmp` would tell apart.
    let descending = |x: &[f64], a: usize, b: usize| x[b].partial_cmp(&x[a]);
    order.sort_by(|&a, &b| descending(scores, a, b).unwrap_or(std::cmp::Ordering::Equal));

    let mut gains = Vec::with_capacity(n);
    let relevant = (0..n).filter(|&i| is_relevant(i)).count();
    let (mut precisions, mut reciprocal_rank, mut relevant_before) = (0.0, None, 0);
    let same_rank =
        |a: &usize, b: &usize| options.ties == ScoreTies::Average && scores[*a] == scores[*b];
    for run in order.chunk_by(same_rank) {
        let (before, m) = (gains.len(), run.len());
        let gain = run.iter().map(|&i| gain(grades[i])).sum::<f64>() / m as f64;
        gains.extend(std::iter::repeat_n(gain, m));
        let r = run.iter().filter(|&&i| is_relevant(i)).count();
        if r > 0 {
            precisions += expected_precisions(before, relevant_before, m, r);
            reciprocal_rank.get_or_insert_with(|| expected_reciprocal(before, m, r));
        }
        relevant_before += r;
    }

    let mut ideal: Vec<f64> = grades.iter().map(|&g| gain(g)).collect();
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    let dcg = |gains: &[f64], k: usize| -> f64 {
        gains.iter().zip(&*discounts).take(k).map(|(gain, discount)| gain * discount).sum()
    };
    let has_gain = ideal[0] > 0.0;
    let ndcg = |k: usize| dcg(&gains, k) / dcg(&ideal, k);
    let (right, pairs) = right_pairs(grades, scores, order);
    let query = QueryScores {
        documents: n as u64,
        relevant: relevant as u64,
        ndcg: has_gain.then(|| ndcg(n)),
        ndcg_at: has_gain.then(|| options.cutoffs.iter().map(|&k| ndcg(k)).collect()),
        average_precision: (relevant > 0).then(|| precisions / relevant as f64),
        reciprocal_rank,
        pairwise_accuracy: (pairs > 0).then(|| right / pairs as f64),
        pairs,
    };
    (query, right)
}

fn gain(grade: f64) -> f64 {
    (grade * std::f64::consts::LN_2).exp_m1()
}

/// What a run of `m` documents, `r` of them relevant, adds to the sum of precisions.
fn expected_precisions(before: usize, relevant_before: usize, m: usize, r: usize) -> f64 {
    let others = if m > 1 { (r - 1) as f64 / (m - 1) as f64 } else { 0.0 };
    let sum: f64 = (1..=m)
        .map(|j| (relevant_before as f64 + 1.0 + (j - 1) as f64 * others) / (before + j) as f64)
        .sum();
    r as f64 / m as f64 * sum
}

/// The expected reciprocal rank of the first relevant document, which is in this run.
fn expected_reciprocal(before: usize, m: usize, r: usize) -> f64 {
    let mut sum = 0.0;
    // The chance that none of the documents before the j-th of the run is relevant.
    let mut none_yet = 1.0;
    for j in 1..=m - r + 1 {
        let left = (m - j + 1) as f64;
        sum += none_yet * (r as f64 / left) / (before + j) as f64;
        none_yet *= 1.0 - r as f64 / left;
    }
    sum
}
