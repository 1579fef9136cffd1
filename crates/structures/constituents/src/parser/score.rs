//! Many sentences in all threads: how good the best trees are.

use super::phrases;
use crate::problem::{ConstituentParts, Constituents};
use crate::{Derivation, Phrase};
use lineal_model::chunks::in_chunks;
use lineal_model::structure::{Ask, MaxOracle, Structure};
use std::ops::Range;

/// F1 of the labelled phrases of the best trees; `gold(i)` are the phrases of sentence i.
pub fn f1(
    problem: &Constituents<'_>,
    w: &[f32],
    gold: impl Fn(usize) -> Vec<Phrase> + Sync,
) -> f64 {
    let of_chunk = |(): &mut (), chunk: Range<usize>| {
        let mut s = Structure::<f32>::scratch(problem);
        let (mut theta, mut y) = (ConstituentParts::default(), Derivation::default());
        let (mut n_right, mut n_all) = (0usize, 0usize);
        for i in chunk {
            problem.scores(i, w, 1.0, &mut s, &mut theta);
            let mut found = Vec::new();
            if problem.argmax(i, &mut theta, Ask::Plain, &mut s, &mut y).is_ok() {
                found = phrases(problem.grammar(), &y);
            }
            let gold = gold(i);
            n_all += gold.len() + found.len();
            for phrase in &gold {
                if let Some(at) = found.iter().position(|other| other == phrase) {
                    found.swap_remove(at);
                    n_right += 1;
                }
            }
        }
        (n_right, n_all)
    };
    let counts = in_chunks(Structure::<f32>::n_examples(problem), || (), of_chunk);
    let (right, all) = counts.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    2.0 * right as f64 / all.max(1) as f64
}
