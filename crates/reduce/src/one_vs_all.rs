//! One-vs-all: K problems, "class k, or any other?", each over all rows; the highest score wins.
//!
//! It is right whenever the K scores are comparable and each class can be told from all others *together*. A class
//! in the middle of the others cannot, by a linear learner; see `tests/theory.rs`.

use crate::learner::{Rule, proba, score};
use crate::problems::{self, Answers, Problem, Report, Scratch, argmax, scatter};
use crate::{BinaryLearner, BinaryScorer, Examples, FitError, InputOf, InputsOf};
use lineal_calibrate::couple;
use std::borrow::Cow;

/// A scorer a class.
#[derive(Clone, Debug)]
pub struct OneVsAll<S> {
    /// `None` for a class without rows, or with all of them.
    scorers: Vec<Option<S>>,
    seen: Vec<bool>,
    report: Report,
}

impl<S: BinaryScorer> OneVsAll<S> {
    /// Learns K problems of N rows each.
    pub fn fit<L: BinaryLearner<Scorer = S>>(
        learner: &L,
        examples: &Examples<'_, InputsOf<S>>,
    ) -> Result<Self, FitError<L::Error>> {
        let rows: Vec<u32> = (0..examples.n_rows() as u32).collect();
        let pose = |class: usize| {
            let own = examples.rows_of(class).len();
            let answers = Answers::By(Rule::Class(class as u32));
            let both = own > 0 && own < rows.len();
            both.then(|| Problem { rows: Cow::Borrowed(&rows), answers }).ok_or(())
        };
        let question = |class| format!("class {class} against the rest");
        let (scorers, report) =
            problems::learn(learner, examples, 0..examples.n_classes(), pose, question)?;
        let scorers = scorers.into_iter().map(Result::ok).collect();
        Ok(Self { scorers, seen: examples.seen(), report })
    }

    /// How many problems and rows it took.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.scorers.len()
    }

    /// The scorer of a class; `None` if its problem was not learnt.
    pub fn scorer(&self, class: usize) -> Option<&S> {
        self.scorers.get(class)?.as_ref()
    }

    /// The class of the highest score; the lowest among equals.
    pub fn predict(&self, x: InputOf<'_, S>) -> u32 {
        argmax(self.scores(x), &self.seen)
    }

    /// The score of each class, 0 where no problem was learnt.
    pub fn scores<'x>(&self, x: InputOf<'x, S>) -> impl Iterator<Item = f64> + use<'_, 'x, S> {
        self.scorers.iter().map(move |s| s.as_ref().map_or(0.0, |s| score(s, x)))
    }

    /// P(class | x) of every class into `out`: what the scorers say, brought to a sum of one; 0 for a class without
    /// training rows. As good as the scorers' probabilities are: see [`BinaryScorer::proba`].
    pub fn proba(&self, x: InputOf<'_, S>, out: &mut Vec<f64>, scratch: &mut Scratch) {
        // Only those seen, so that all of them saying no makes these equal, not all.
        let answers = &mut scratch.scores;
        answers.clear();
        let seen = self.scorers.iter().zip(&self.seen).filter(|(_, seen)| **seen);
        // A class that has all training rows was not asked about.
        answers.extend(seen.map(|(s, _)| s.as_ref().map_or(1.0, |s| proba(s, x))));
        couple::one_vs_all(answers);
        scatter(answers, &self.seen, out);
    }
}
