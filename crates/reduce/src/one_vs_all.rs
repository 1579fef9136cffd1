//! One-vs-all: K problems, "class k, or any other?", each over all rows; the highest score wins.
//!
//! It is right whenever the K scores are comparable and each class can be told from all others *together*. A class
//! in the middle of the others cannot, by a linear learner; see `tests/theory.rs`.

use crate::learner::{Rule, score};
use crate::problems::{self, Problem, Report, argmax};
use crate::{BinaryLearner, BinaryScorer, Examples, FitError, InputOf, InputsOf};
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
            (own > 0 && own < rows.len())
                .then(|| Problem { rows: Cow::Borrowed(&rows), rule: Rule::Class(class as u32) })
        };
        let question = |class| format!("class {class} against the rest");
        let (scorers, report) =
            problems::learn(learner, examples, examples.n_classes(), pose, question)?;
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
}
