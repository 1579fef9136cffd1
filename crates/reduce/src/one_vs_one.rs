//! One-vs-one: K(K−1)/2 problems, "class a, or class b?", each only over the rows of those two.
//!
//! More problems than one-vs-all but smaller ones: (K−1)·N rows in all instead of K·N, and two classes are easier to tell
//! apart than one from all others together. The pair (a, b), a < b, is problem `pair(K, a, b)`; a is its positive class.

use crate::learner::{Rule, score};
use crate::problems::{self, Problem, Report, Scratch, argmax};
use crate::{BinaryLearner, BinaryScorer, Error, Examples, FitError, InputOf, InputsOf};
use std::borrow::Cow;

/// How K(K−1)/2 answers become one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairDecision {
    /// The class that wins most duels; among equals the one of the highest summed score, then the lowest.
    #[default]
    Votes,
    /// The class of the highest summed score over its duels; the lowest among equals. For scores of bounded or
    /// calibrated size: duels between classes that are both wrong count as much as the others, and a score that grows
    /// with the distance lets them win (`tests/theory.rs` has a case).
    Scores,
    /// A knockout: neighbours in the order of classes meet, winners move on, an odd one out waits. K−1 duels are
    /// scored instead of all of them. A class that wins all its duels wins here too.
    Tournament,
}

/// A scorer a pair of classes.
#[derive(Clone, Debug)]
pub struct OneVsOne<S> {
    /// By `pair`; `None` where one of the two has no rows.
    scorers: Vec<Option<S>>,
    seen: Vec<bool>,
    report: Report,
}

impl<S: BinaryScorer> OneVsOne<S> {
    /// Learns K(K−1)/2 problems, (K−1)·N rows in all.
    pub fn fit<L: BinaryLearner<Scorer = S>>(
        learner: &L,
        examples: &Examples<'_, InputsOf<S>>,
    ) -> Result<Self, FitError<L::Error>> {
        let pairs = pairs(examples.n_classes())?;
        let pose = |number: usize| {
            let (a, b) = pairs[number];
            let both = examples.is_seen(a as usize) && examples.is_seen(b as usize);
            both.then(|| Problem {
                rows: Cow::Owned(examples.rows_of_all([a as usize, b as usize].into_iter())),
                rule: Rule::Class(a),
            })
        };
        let question =
            |number: usize| format!("class {} against class {}", pairs[number].0, pairs[number].1);
        let (scorers, report) = problems::learn(learner, examples, pairs.len(), pose, question)?;
        Ok(Self { scorers, seen: examples.seen(), report })
    }

    /// How many problems and rows it took.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.seen.len()
    }

    /// The scorer of two classes, positive for the lower; `None` if it was not learnt.
    pub fn scorer(&self, a: usize, b: usize) -> Option<&S> {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || b >= self.n_classes() {
            return None;
        }
        self.scorers.get(pair(self.n_classes(), a, b))?.as_ref()
    }

    /// The predicted class.
    pub fn predict(&self, x: InputOf<'_, S>, decision: PairDecision, scratch: &mut Scratch) -> u32 {
        match decision {
            PairDecision::Votes => {
                self.meet_all(x, scratch);
                let most = scratch.votes.iter().zip(&self.seen).filter(|(_, seen)| **seen);
                let most = most.map(|(&votes, _)| votes).max().unwrap_or(0);
                let sums = scratch.votes.iter().zip(&scratch.classes);
                let among =
                    sums.map(|(&votes, &sum)| if votes == most { sum } else { f64::NEG_INFINITY });
                argmax(among, &self.seen)
            }
            PairDecision::Scores => {
                self.meet_all(x, scratch);
                argmax(scratch.classes.iter().copied(), &self.seen)
            }
            PairDecision::Tournament => self.tournament(x, &mut scratch.players),
        }
    }

    /// All duels: votes won and scores summed, by class.
    fn meet_all(&self, x: InputOf<'_, S>, scratch: &mut Scratch) {
        let n_classes = self.n_classes();
        let Scratch { votes, classes: sums, .. } = scratch;
        votes.clear();
        votes.resize(n_classes, 0);
        sums.clear();
        sums.resize(n_classes, 0.0);
        let mut scorers = self.scorers.iter();
        for a in 0..n_classes {
            for (b, scorer) in (a + 1..n_classes).zip(&mut scorers) {
                let Some(scorer) = scorer else { continue };
                let score = score(scorer, x);
                votes[if score >= 0.0 { a } else { b }] += 1;
                sums[a] += score;
                sums[b] -= score;
            }
        }
    }

    fn tournament(&self, x: InputOf<'_, S>, players: &mut Vec<u32>) -> u32 {
        players.clear();
        players.extend((0u32..).zip(&self.seen).filter(|(_, seen)| **seen).map(|(class, _)| class));
        while players.len() > 1 {
            // Winners stay in the order of classes, so that the left of two players is always the lower.
            let n_pairs = players.len() / 2;
            for i in 0..n_pairs {
                let (a, b) = (players[2 * i], players[2 * i + 1]);
                let wins = self.scorer(a as usize, b as usize).is_none_or(|s| score(s, x) >= 0.0);
                players[i] = if wins { a } else { b };
            }
            if players.len() % 2 == 1 {
                players[n_pairs] = players[players.len() - 1];
            }
            players.truncate(players.len().div_ceil(2));
        }
        players.first().copied().unwrap_or(0)
    }
}

/// (0,1), (0,2), …, (1,2), …: also the order of the columns of [`Code::one_vs_one`](crate::Code::one_vs_one).
pub(crate) fn pairs(n_classes: usize) -> Result<Vec<(u32, u32)>, Error> {
    const MAX: usize = 5_000;
    if n_classes > MAX {
        let remedy = format!("at most {MAX} can be paired; take a label tree");
        return Err(Error::Size { what: "one-vs-one", n_classes, remedy });
    }
    let n_classes = n_classes as u32;
    Ok((0..n_classes).flat_map(|a| (a + 1..n_classes).map(move |b| (a, b))).collect())
}

/// The place of (a, b), a < b, in that order.
fn pair(n_classes: usize, a: usize, b: usize) -> usize {
    a * (2 * n_classes - a - 1) / 2 + (b - a - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stand_where_they_are_looked_for() {
        for n_classes in 0..9 {
            for (number, (a, b)) in pairs(n_classes).unwrap().into_iter().enumerate() {
                assert_eq!(pair(n_classes, a as usize, b as usize), number);
            }
        }
        assert!(pairs(1 << 20).is_err());
    }
}
