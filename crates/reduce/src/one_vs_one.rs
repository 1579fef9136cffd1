//! One-vs-one: K(K−1)/2 problems, "class a, or class b?", each only over the rows of those two.
//!
//! More problems than one-vs-all but smaller ones: (K−1)·N rows in all instead of K·N, and two classes are easier to tell
//! apart than one from all others together. The lower class of a pair is its positive one.

use crate::duels::{Duel, Duels, PairDecision, pairs};
use crate::learner::Rule;
use crate::problems::{self, Answers, Problem, Report, Scratch, scatter};
use crate::{BinaryLearner, BinaryScorer, Examples, FitError, InputOf, InputsOf};
use lineal_calibrate::couple;
use std::borrow::Cow;

/// A scorer a pair of classes.
#[derive(Clone, Debug)]
pub struct OneVsOne<S> {
    /// Ties where one of the two has no rows; candidates are the classes that have some.
    duels: Duels<S>,
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
                answers: Answers::By(Rule::Class(a)),
            })
            .ok_or(Duel::Tie)
        };
        let question =
            |number: usize| format!("class {} against class {}", pairs[number].0, pairs[number].1);
        let (scorers, report) = problems::learn(learner, examples, 0..pairs.len(), pose, question)?;
        let duels =
            scorers.into_iter().map(|learnt| learnt.map_or_else(|tie| tie, Duel::Ask)).collect();
        Ok(Self { duels: Duels::new(duels, examples.seen()), report })
    }

    /// How many problems and rows it took.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.duels.candidates().len()
    }

    /// The scorer of two classes, positive for the lower; `None` if it was not learnt.
    pub fn scorer(&self, a: usize, b: usize) -> Option<&S> {
        self.duels.scorer(a, b)
    }

    /// The predicted class.
    pub fn predict(&self, x: InputOf<'_, S>, decision: PairDecision, scratch: &mut Scratch) -> u32 {
        self.duels.predict(x, decision, scratch)
    }

    /// P(class | x) of every class into `out`, by pairwise coupling ([`couple::pairwise`]); 0 for a class without training
    /// rows. As good as the scorers' probabilities are: see [`BinaryScorer::proba`].
    pub fn proba(&self, x: InputOf<'_, S>, out: &mut Vec<f64>, scratch: &mut Scratch) {
        let seen = self.duels.candidates();
        // Just the pairs of two seen classes were learnt, and they stand in the order of these.
        self.duels.probas(x, &mut scratch.scores);
        scratch.classes.clear();
        scratch.classes.resize(seen.iter().filter(|seen| **seen).count(), 0.0);
        couple::pairwise(&scratch.scores, &mut scratch.classes, &mut scratch.couple);
        scatter(&scratch.classes, seen, out);
    }
}
