//! Viterbi over label × state of an automaton, in n · states · K² at most.
//!
//! ```text
//! v(t, s′, l) = unary(t, l) + max over l′ and s with δ(s, l) = s′ of v(t−1, s, l′) + transition(l′, l)
//! ```

use super::compile::Automaton;
use crate::inference::DEAD;

/// The best sequence that the automaton accepts and its score. `unary` has the scores of all labels at the first position, at the second, …; `transitions[from · n_labels + to]` is that of a step.
/// `None` if no sequence of this length is accepted.
pub fn decode(
    unary: &[f32],
    transitions: &[f32],
    n_labels: usize,
    automaton: &Automaton,
) -> Option<(Vec<u32>, f64)> {
    k_best(unary, transitions, n_labels, automaton, 1).into_iter().next()
}

/// A way to a state: its score, and where it came from (place in the layer before, rank there).
#[derive(Clone, Copy)]
struct Way {
    score: f64,
    from: u32,
    rank: u32,
}

/// The `k` best sequences that the automaton accepts, best first.
///
/// # Panics
/// If the scores are not of `n_labels` labels, or the automaton reads another number of them.
pub fn k_best(
    unary: &[f32],
    transitions: &[f32],
    n_labels: usize,
    automaton: &Automaton,
    k: usize,
) -> Vec<(Vec<u32>, f64)> {
    let dfa = &automaton.dfa;
    assert!(n_labels > 0 && dfa.n_labels == n_labels, "an automaton over {} labels", dfa.n_labels);
    assert!(
        unary.len().is_multiple_of(n_labels) && transitions.len() == n_labels * n_labels,
        "scores of {n_labels} labels"
    );
    let n = unary.len() / n_labels;
    if n == 0 {
        return if dfa.accepting[dfa.start as usize] && k > 0 {
            vec![(Vec::new(), 0.0)]
        } else {
            Vec::new()
        };
    }
    let n_places = dfa.accepting.len() * n_labels;
    // Layers of ways by state and label.
    let mut layers: Vec<Vec<Vec<Way>>> = Vec::with_capacity(n);
    for t in 0..n {
        let own = &unary[t * n_labels..(t + 1) * n_labels];
        let mut layer: Vec<Vec<Way>> = vec![Vec::new(); n_places];
        let mut reach = |state: usize, from: Option<(usize, &[Way])>| {
            for (label, &own) in own.iter().enumerate() {
                let next = dfa.next[state * n_labels + label];
                if next == DEAD {
                    continue;
                }
                let ways = &mut layer[next as usize * n_labels + label];
                match from {
                    None => insert(ways, Way { score: f64::from(own), from: 0, rank: 0 }, k),
                    Some((place, before)) => {
                        let step = f64::from(own)
                            + f64::from(transitions[place % n_labels * n_labels + label]);
                        for (rank, way) in before.iter().enumerate() {
                            insert(
                                ways,
                                Way {
                                    score: way.score + step,
                                    from: place as u32,
                                    rank: rank as u32,
                                },
                                k,
                            );
                        }
                    }
                }
            }
        };
        match layers.last() {
            None => reach(dfa.start as usize, None),
            Some(before) => {
                for (place, ways) in before.iter().enumerate().filter(|(_, ways)| !ways.is_empty())
                {
                    reach(place / n_labels, Some((place, ways)));
                }
            }
        }
        layers.push(layer);
    }
    let mut ends: Vec<(usize, usize, f64)> = Vec::new();
    for (place, ways) in layers[n - 1].iter().enumerate() {
        if dfa.accepting[place / n_labels] {
            ends.extend(ways.iter().enumerate().map(|(rank, way)| (place, rank, way.score)));
        }
    }
    ends.sort_by(|a, b| b.2.total_cmp(&a.2));
    ends.truncate(k);
    let sequence = |(mut place, mut rank, score): (usize, usize, f64)| {
        let mut labels = vec![0; n];
        for t in (0..n).rev() {
            labels[t] = (place % n_labels) as u32;
            let way = layers[t][place][rank];
            (place, rank) = (way.from as usize, way.rank as usize);
        }
        (labels, score)
    };
    ends.into_iter().map(sequence).collect()
}

/// Keeps the `k` best in order; among equals the first.
fn insert(ways: &mut Vec<Way>, way: Way, k: usize) {
    if ways.len() == k && ways.last().is_none_or(|worst| way.score <= worst.score) {
        return;
    }
    let at = ways.partition_point(|other| other.score >= way.score);
    ways.insert(at, way);
    ways.truncate(k);
}
