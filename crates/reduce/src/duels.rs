//! K(K−1)/2 duels, "class a, or class b?", and how their answers become one class. The pair (a, b), a < b, stands at
//! `pair(K, a, b)`; a score of 0 or more is for a.

use crate::learner::{proba, score};
use crate::problems::{Scratch, argmax};
use crate::{BinaryScorer, Error, InputOf};

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

/// What decides between two classes.
#[derive(Clone, Debug)]
pub(crate) enum Duel<S> {
    Ask(S),
    /// The lower class wins, whatever the input.
    Lower,
    Higher,
    /// Nobody knows, or cares.
    Tie,
}

/// All duels, and the classes that may win.
#[derive(Clone, Debug)]
pub(crate) struct Duels<S> {
    duels: Vec<Duel<S>>,
    candidates: Vec<bool>,
}

impl<S: BinaryScorer> Duels<S> {
    pub(crate) fn new(duels: Vec<Duel<S>>, candidates: Vec<bool>) -> Self {
        Self { duels, candidates }
    }

    pub(crate) fn candidates(&self) -> &[bool] {
        &self.candidates
    }

    pub(crate) fn scorer(&self, a: usize, b: usize) -> Option<&S> {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || b >= self.candidates.len() {
            return None;
        }
        match self.duels.get(pair(self.candidates.len(), a, b))? {
            Duel::Ask(scorer) => Some(scorer),
            _ => None,
        }
    }

    pub(crate) fn predict(
        &self,
        x: InputOf<'_, S>,
        decision: PairDecision,
        scratch: &mut Scratch,
    ) -> u32 {
        match decision {
            PairDecision::Votes => {
                self.meet_all(x, scratch);
                let most = scratch.votes.iter().zip(&self.candidates).filter(|(_, may)| **may);
                let most = most.map(|(&votes, _)| votes).max().unwrap_or(0);
                let sums = scratch.votes.iter().zip(&scratch.classes);
                let among =
                    sums.map(|(&votes, &sum)| if votes == most { sum } else { f64::NEG_INFINITY });
                argmax(among, &self.candidates)
            }
            PairDecision::Scores => {
                self.meet_all(x, scratch);
                argmax(scratch.classes.iter().copied(), &self.candidates)
            }
            PairDecision::Tournament => self.tournament(x, &mut scratch.players),
        }
    }

    /// P(lower class) of the duels that are asked, in order, into `out`.
    pub(crate) fn probas(&self, x: InputOf<'_, S>, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.duels.iter().filter_map(|duel| match duel {
            Duel::Ask(scorer) => Some(proba(scorer, x)),
            _ => None,
        }));
    }

    /// All duels: votes won and scores summed, by class.
    fn meet_all(&self, x: InputOf<'_, S>, scratch: &mut Scratch) {
        let n_classes = self.candidates.len();
        let Scratch { votes, classes: sums, .. } = scratch;
        votes.clear();
        votes.resize(n_classes, 0);
        sums.clear();
        sums.resize(n_classes, 0.0);
        let mut duels = self.duels.iter();
        for a in 0..n_classes {
            for (b, duel) in (a + 1..n_classes).zip(&mut duels) {
                match duel {
                    Duel::Ask(scorer) => {
                        let score = score(scorer, x);
                        votes[if score >= 0.0 { a } else { b }] += 1;
                        sums[a] += score;
                        sums[b] -= score;
                    }
                    Duel::Lower => votes[a] += 1,
                    Duel::Higher => votes[b] += 1,
                    Duel::Tie => {}
                }
            }
        }
    }

    fn tournament(&self, x: InputOf<'_, S>, players: &mut Vec<u32>) -> u32 {
        players.clear();
        let may = (0u32..).zip(&self.candidates).filter(|(_, may)| **may);
        players.extend(may.map(|(class, _)| class));
        while players.len() > 1 {
            // Winners stay in the order of classes, so that the left of two players is always the lower.
            let n_pairs = players.len() / 2;
            for i in 0..n_pairs {
                let (a, b) = (players[2 * i], players[2 * i + 1]);
                let wins = match &self.duels[pair(self.candidates.len(), a as usize, b as usize)] {
                    Duel::Ask(scorer) => score(scorer, x) >= 0.0,
                    Duel::Lower | Duel::Tie => true,
                    Duel::Higher => false,
                };
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
