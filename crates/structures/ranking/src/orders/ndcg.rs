//! Orders with the cost 1 − NDCG.
//!
//! With discounts D₁ ≥ D₂ ≥ … (0 after the first k) and gains gᵢ over the ideal sum, an order π has
//!
//! ```text
//! score(π) = Σᵢ D_π(i) scoreᵢ        cost(π) = 1 − Σᵢ D_π(i) gᵢ
//! ```
//!
//! Score and cost have the same discounts, so that score + cost = 1 + Σᵢ D_π(i) (scoreᵢ − gᵢ), and by the rearrangement inequality the best order sorts by scoreᵢ − gᵢ: the assignment
//! problem of Chapelle et al. 2007 and Le and Smola 2007, whose features have discounts of their own, is one sort here. Only which k documents come first, and how,
//! matters after a cut.
//!
//! Any order by falling grade is ideal. The gold output is the mean of all of them: each document gets the mean discount of the ranks of its group. It has cost 0, the
//! loss is convex, and equal documents are treated equally.

use crate::gain::{Gain, discount};
use crate::oracle::{Buffers, Scored};
use crate::queries::Query;

fn discount_within(rank: usize, k: Option<usize>) -> f64 {
    if k.is_none_or(|k| rank < k) { discount(rank) } else { 0.0 }
}

pub(super) fn prepare(
    query: &Query<'_>,
    k: Option<usize>,
    gain: Gain,
    grade: &dyn Fn(u32) -> f64,
    gold: &mut [f64],
    worth: &mut Vec<f64>,
) -> f64 {
    let start = worth.len();
    worth.resize(start + query.n(), 0.0);
    let worth = &mut worth[start..];
    if query.n_groups() < 2 || k == Some(0) || !gain.of_query(query, grade, worth) {
        return 0.0;
    }
    let mut ideal = 0.0;
    for group in 0..query.n_groups() {
        let (places, documents) = (query.places(group), query.group(group));
        let discounts: f64 = places.clone().map(|rank| discount_within(rank, k)).sum();
        for &document in documents {
            let mean = discounts / places.len() as f64;
            gold[document as usize] = mean;
            ideal += mean * worth[document as usize];
        }
    }
    worth.iter_mut().for_each(|worth| *worth /= ideal);
    1.0
}

pub(super) fn best(
    at: &Scored<'_>,
    k: Option<usize>,
    augmented: bool,
    s: &mut Buffers,
    amounts: &mut [f64],
) -> f64 {
    let Buffers { numbers: keys, places: order, .. } = s;
    keys.clear();
    let key = |(score, worth): (&f64, &f64)| if augmented { score - worth } else { *score };
    keys.extend(at.scores.iter().zip(at.worth).map(key));
    order.clear();
    order.extend(0..at.scores.len() as u32);
    // Of equal keys those of little worth come first; then by number.
    let by_key = |&a: &u32, &b: &u32| {
        let [a, b] = [a as usize, b as usize];
        keys[b].total_cmp(&keys[a]).then(at.worth[a].total_cmp(&at.worth[b])).then(a.cmp(&b))
    };
    let first = k.unwrap_or(order.len()).min(order.len());
    if 0 < first && first < order.len() {
        order.select_nth_unstable_by(first - 1, by_key);
    }
    order[..first].sort_unstable_by(by_key);
    let mut gained = 0.0;
    for (rank, &document) in order[..first].iter().enumerate() {
        amounts[document as usize] = discount(rank);
        gained += discount(rank) * at.worth[document as usize];
    }
    // Rounding must not make a cost negative.
    (1.0 - gained).max(0.0)
}
