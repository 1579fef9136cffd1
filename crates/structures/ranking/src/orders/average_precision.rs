//! Orders with the cost 1 − average precision: Yue, Finley, Radlinski, Joachims, *A Support Vector Method for Optimizing Average Precision* (SIGIR 2007).
//!
//! With R relevant documents i, N others j, and yᵢⱼ = 1 if i stands above j and −1 otherwise,
//!
//! ```text
//! score(π) = (1 / RN) Σᵢ Σⱼ yᵢⱼ (scoreᵢ − scoreⱼ)        cost(π) = 1 − (1/R) Σₖ k / (k + number of others above the k-th relevant one)
//! ```
//!
//! In the best order relevant documents fall by score, and so do the others (swapping two of a kind changes no cost). If the j-th of the others moves up past the k-th relevant one, k and
//! j counted from 1, score + cost changes by
//!
//! ```text
//! δⱼ(k) = (1/R) (k/(k + j − 1) − k/(k + j)) − (2 / RN) (scoreₖ − scoreⱼ),
//! ```
//!
//! whatever the rest does, so that each of the others finds its own place: above the relevant ones iⱼ … R, with iⱼ the best of fⱼ(i) = Σ over k ≥ i of δⱼ(k). As δⱼ(k) falls with j, iⱼ
//! rises with j, and the places fit together. **What differs:** the paper tries all R places of each, R·N steps. Here fⱼ(i) is a formula of harmonic numbers and prefix sums,
//! Σₖ k/(k + m) = count − m Σₖ 1/(k + m), and as iⱼ rises, the middle one of the others halves the places of those before and after it: (R + N) log N steps.

use super::interleave::interleave;
use crate::oracle::{Buffers, Scored};
use crate::queries::Query;

/// The gold output: every relevant document above all others.
pub(super) fn prepare(
    query: &Query<'_>,
    above: f64,
    grade: &dyn Fn(u32) -> f64,
    gold: &mut [f64],
) -> f64 {
    let n_relevant = query.by_grade.partition_point(|&document| grade(document) > above);
    let n_others = query.n() - n_relevant;
    if n_relevant == 0 || n_others == 0 {
        return 0.0;
    }
    for (place, &document) in query.by_grade.iter().enumerate() {
        gold[document as usize] = match place < n_relevant {
            true => 1.0 / n_relevant as f64,
            false => -1.0 / n_others as f64,
        };
    }
    1.0
}

pub(super) fn best(at: &Scored<'_>, augmented: bool, s: &mut Buffers, amounts: &mut [f64]) -> f64 {
    let Buffers { numbers, places, .. } = s;
    let n = at.scores.len();
    // Gold amounts tell relevant documents: they are positive.
    let is_relevant = |document: u32| at.gold[document as usize] > 0.0;
    let score = |document: u32| at.scores[document as usize];
    places.clear();
    places.extend(0..n as u32);
    places.sort_unstable_by(|&a, &b| {
        let kinds = is_relevant(b).cmp(&is_relevant(a));
        kinds.then(score(b).total_cmp(&score(a))).then(a.cmp(&b))
    });
    let n_relevant = places.partition_point(|&document| is_relevant(document));
    let n_others = n - n_relevant;
    // One buffer: sums of the first scores, then harmonic numbers, either from 0 on. Scores are relative to the best one, so that sums stay small.
    let top = score(places[0]);
    let running = |sum: &mut f64, x: f64| {
        *sum += x;
        Some(*sum)
    };
    numbers.clear();
    numbers.push(0.0);
    numbers.extend(places[..n_relevant].iter().map(|&d| score(d) - top).scan(0.0, running));
    numbers.push(0.0);
    numbers.extend((1..=n).map(|m| 1.0 / m as f64).scan(0.0, running));
    let (sums, harmonic) = numbers.split_at(n_relevant + 1);
    places.resize(n + n_others, 0);
    let (documents, above) = places.split_at_mut(n);
    let (relevant, others) = documents.split_at(n_relevant);
    // RN/2 times fⱼ(i + 1).
    interleave(n_relevant, above, &|j, i| {
        let count = (n_relevant - i) as f64;
        let lead = sums[n_relevant] - sums[i] - count * (score(others[j]) - top);
        // Σ k/(k + m) over k = i + 1 … R is count − m (H(R + m) − H(i + m)).
        let rest = |m: usize| m as f64 * (harmonic[n_relevant + m] - harmonic[i + m]);
        match augmented {
            true => 0.5 * n_others as f64 * (rest(j + 1) - rest(j)) - lead,
            false => -lead,
        }
    });

    let scale = 1.0 / (n_relevant as f64 * n_others as f64);
    for (&document, &above) in others.iter().zip(above.iter()) {
        // y is 1 for the relevant ones above it and −1 for those below, each with a − for the other document.
        amounts[document as usize] = scale * (n_relevant as f64 - 2.0 * f64::from(above));
    }
    let (mut before, mut precision) = (0, 0.0);
    for (k, &document) in relevant.iter().enumerate() {
        while before < n_others && above[before] as usize <= k {
            before += 1;
        }
        amounts[document as usize] = scale * (n_others as f64 - 2.0 * before as f64);
        precision += (k + 1) as f64 / (k + 1 + before) as f64;
    }
    // Rounding must not make a cost negative.
    (1.0 - precision / n_relevant as f64).max(0.0)
}
