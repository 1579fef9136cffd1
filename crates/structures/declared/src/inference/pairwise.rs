//! Depth-first branch and bound where tables are over pairs of variables at most, as between the entities of a sentence.
//!
//! The dual ascent has written the score as Σ bᵢ(yᵢ) + Σ r_ij(yᵢ, yⱼ) with all r ≤ 0. With some variables assigned, no output scores more than
//!
//! ```text
//! assigned so far + Σ over the others j of max over l of uⱼ(l),      uⱼ(l) = bⱼ(l) + Σ over assigned i of r_ij(yᵢ, l)
//! ```
//!
//! (forward checking with reparametrised costs, Larrosa and Schiex 2004). The variable whose best label leads by most comes first: its other labels are cut off at
//! once, and what was unclear is decided when little else is open. A node costs one walk over the other variables.

use super::dual::{Beliefs, FactorKind, Graph};
use std::time::Instant;

const NEVER: f64 = f64::NEG_INFINITY;
/// More variables than this are left to the other search, which keeps no matrix of pairs.
const MOST_VARIABLES: usize = 500;
/// Visits between two looks at the clock.
const VISITS_PER_LOOK: usize = 256;

/// What a search looks for and has found.
pub(crate) struct Descent<'a> {
    starts: &'a [usize],
    /// By pair of variables: the sum of their tables, if they have one.
    pairs: Vec<Option<Vec<f64>>>,
    /// Node visits that are left.
    left: usize,
    deadline: Option<Instant>,
    /// The best output so far, and its score in the reparametrised problem.
    pub y: Vec<usize>,
    pub score: f64,
}

/// Looks for something better than `y` with `score`. `None` if the graph has other factors than pairs; otherwise whether everything was seen.
pub(crate) fn search<'a>(
    graph: &'a Graph<'_>,
    root: &Beliefs,
    (y, score): (Vec<usize>, f64),
    max_nodes: usize,
    deadline: Option<Instant>,
) -> Option<(Descent<'a>, bool)> {
    let n = graph.n_variables();
    let is_pair =
        |kind: &FactorKind<'_>, len: usize| matches!(kind, FactorKind::Table(_)) && len <= 2;
    if n > MOST_VARIABLES || !graph.factors.iter().all(|f| is_pair(&f.kind, f.scope.len())) {
        return None;
    }
    let mut u = root.beliefs.clone();
    let mut pairs: Vec<Option<Vec<f64>>> = vec![None; n * n];
    for factor in &graph.factors {
        let FactorKind::Table(entries) = factor.kind else { continue };
        let message = |at: usize, label: usize| root.messages[factor.messages[at] + label];
        match factor.scope[..] {
            [v] => {
                for (label, part) in graph.labels(v).enumerate() {
                    u[part] += entries[label] - message(0, label);
                }
            }
            [v, w] => {
                let (k, m) = (graph.labels(v).len(), graph.labels(w).len());
                for (from, to, is_turned) in [(v, w, false), (w, v, true)] {
                    let pair = pairs[from * n + to].get_or_insert_with(|| vec![0.0; k * m]);
                    for a in 0..k {
                        for b in 0..m {
                            let r = entries[a * m + b] - message(0, a) - message(1, b);
                            pair[if is_turned { b * k + a } else { a * m + b }] += r;
                        }
                    }
                }
            }
            _ => {}
        }
    }
    let mut descent = Descent { starts: &graph.starts, pairs, left: max_nodes, deadline, y, score };
    let (mut chosen, open) = (vec![usize::MAX; n], (0..n).collect::<Vec<_>>());
    let is_finished = descent.visit(&u, &open, 0.0, &mut chosen);
    Some((descent, is_finished))
}

impl Descent<'_> {
    /// Looks at all outputs with the labels that are chosen. `false` if the visits ran out.
    fn visit(&mut self, u: &[f64], open: &[usize], so_far: f64, chosen: &mut [usize]) -> bool {
        let looks = self.left.is_multiple_of(VISITS_PER_LOOK);
        let is_late = looks && self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if self.left == 0 || is_late {
            return false;
        }
        self.left -= 1;
        let (mut bound, mut next) = (so_far, (0, NEVER));
        for (at, &v) in open.iter().enumerate() {
            let (mut most, mut second) = (NEVER, NEVER);
            for &score in &u[self.starts[v]..self.starts[v + 1]] {
                if score > most {
                    (most, second) = (score, most);
                } else if score > second {
                    second = score;
                }
            }
            if most == NEVER {
                return true;
            }
            bound += most;
            if most - second > next.1 {
                next = (at, most - second);
            }
        }
        if bound <= self.score + 1e-10 * (1.0 + self.score.abs()) {
            return true;
        }
        if open.is_empty() {
            self.score = so_far;
            self.y = chosen.to_vec();
            return true;
        }
        let v = open[next.0];
        let mut rest = open.to_vec();
        rest.swap_remove(next.0);
        let own = &u[self.starts[v]..self.starts[v + 1]];
        let mut labels: Vec<usize> = (0..own.len()).filter(|&l| own[l] > NEVER).collect();
        labels.sort_by(|&a, &b| own[b].total_cmp(&own[a]));
        let n = self.starts.len() - 1;
        for label in labels {
            let mut u = u.to_vec();
            for &w in &rest {
                if let Some(pair) = &self.pairs[v * n + w] {
                    let scores = &mut u[self.starts[w]..self.starts[w + 1]];
                    let m = scores.len();
                    scores.iter_mut().zip(&pair[label * m..]).for_each(|(score, r)| *score += r);
                }
            }
            chosen[v] = label;
            if !self.visit(&u, &rest, so_far + own[label], chosen) {
                return false;
            }
        }
        true
    }
}
