//! Learning a list of binary problems in parallel, and counting what it took.

use crate::learner::Rule;
use crate::{BinaryLearner, BinaryTask, Error, Examples, FitError, InputsOf};
use rayon::prelude::*;
use std::borrow::Cow;

/// What a reduction took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many binary problems were learnt.
    pub problems: usize,
    /// How many were not, because the training rows have only one answer to them.
    pub skipped: usize,
    /// Training rows shown to the learner, summed over problems.
    pub rows: usize,
}

/// Buffers of predictions, to be kept between them. Any reduction may use any scratch.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) votes: Vec<u32>,
    pub(crate) scores: Vec<f64>,
    pub(crate) classes: Vec<f64>,
    pub(crate) bits: Vec<u64>,
    pub(crate) players: Vec<u32>,
    pub(crate) beam: Vec<crate::label_tree::Place>,
    pub(crate) next: Vec<crate::label_tree::Place>,
}

/// One problem before it is learnt: the rows that take part and who is positive.
pub(crate) struct Problem<'a> {
    pub(crate) rows: Cow<'a, [u32]>,
    pub(crate) rule: Rule<'a>,
}

/// A scorer a problem, where there was one to learn.
type Learnt<S> = (Vec<Option<S>>, Report);

/// Learns problems `0..n`. `pose` returns `None` where the rows have only one sign; the scorer is then `None` too.
pub(crate) fn learn<'a, L: BinaryLearner>(
    learner: &L,
    examples: &'a Examples<'a, InputsOf<L::Scorer>>,
    n: usize,
    pose: impl Fn(usize) -> Option<Problem<'a>> + Sync,
    question: impl Fn(usize) -> String,
) -> Result<Learnt<L::Scorer>, FitError<L::Error>> {
    // Row lists live only while their problem is learnt. All outcomes are collected before the first failure is
    // looked for: which one is reported must not depend on the threads.
    let outcomes: Vec<_> = (0..n)
        .into_par_iter()
        .map(|number| {
            let problem = pose(number)?;
            let task = BinaryTask { examples, rows: &problem.rows, rule: problem.rule, number };
            Some(learner.fit(&task).map(|scorer| (scorer, task.len())))
        })
        .collect();

    let mut report = Report::default();
    let mut scorers = Vec::with_capacity(n);
    for (problem, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            None => {
                report.skipped += 1;
                scorers.push(None);
            }
            Some(Ok((scorer, n_rows))) => {
                report.problems += 1;
                report.rows += n_rows;
                scorers.push(Some(scorer));
            }
            Some(Err(source)) => {
                return Err(FitError::Learner { problem, question: question(problem), source });
            }
        }
    }
    Ok((scorers, report))
}

/// Refuses a code or tree of another number of classes.
pub(crate) fn check_classes(
    what: &'static str,
    made_for: usize,
    n_classes: usize,
) -> Result<(), Error> {
    if made_for == n_classes { Ok(()) } else { Err(Error::Classes { what, made_for, n_classes }) }
}

/// The lowest class of the highest score among those seen in training.
pub(crate) fn argmax(scores: impl Iterator<Item = f64>, seen: &[bool]) -> u32 {
    let mut best: Option<(f64, u32)> = None;
    for ((score, class), &seen) in scores.zip(0u32..).zip(seen) {
        if seen && best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, class));
        }
    }
    best.map_or(0, |(_, class)| class)
}
