//! Learning a list of binary problems in parallel, and counting what it took.

use crate::learner::Rule;
use crate::{BinaryLearner, BinaryTask, Error, Examples, FitError, InputsOf};
use lineal_calibrate::couple;
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
    pub(crate) couple: couple::Scratch,
}

/// One problem before it is learnt: the rows that take part, and their answers.
pub(crate) struct Problem<'a> {
    pub(crate) rows: Cow<'a, [u32]>,
    pub(crate) answers: Answers<'a>,
}

/// Who is positive.
pub(crate) enum Answers<'a> {
    /// A rule says; rows have the weights of the examples.
    By(Rule<'a>),
    /// Each row has its weight, with the sign of its answer.
    Signed(Vec<f64>),
}

/// A scorer a problem, or the answer where there was nothing to learn.
type Learnt<S, V> = (Vec<Result<S, V>>, Report);

/// Learns the problems of these numbers. `pose` returns an error where the rows have only one sign: the answer that needs
/// no learning, which is handed on.
pub(crate) fn learn<'a, L: BinaryLearner, V: Send>(
    learner: &L,
    examples: &'a Examples<'a, InputsOf<L::Scorer>>,
    numbers: impl IntoParallelIterator<Item = usize, Iter: IndexedParallelIterator>,
    pose: impl Fn(usize) -> Result<Problem<'a>, V> + Sync,
    question: impl Fn(usize) -> String,
) -> Result<Learnt<L::Scorer, V>, FitError<L::Error>> {
    // Row lists live only while their problem is learnt. All outcomes are collected before the first failure is
    // looked for: which one is reported must not depend on the threads.
    let outcomes: Vec<_> = numbers
        .into_par_iter()
        .map(|number| {
            let learnt = pose(number).map(|posed| learn_one(learner, examples, number, &posed));
            (number, learnt)
        })
        .collect();

    let mut report = Report::default();
    let mut scorers = Vec::with_capacity(outcomes.len());
    for (problem, outcome) in outcomes {
        match outcome {
            Err(answer) => {
                report.skipped += 1;
                scorers.push(Err(answer));
            }
            Ok(Ok((scorer, n_rows))) => {
                report.problems += 1;
                report.rows += n_rows;
                scorers.push(Ok(scorer));
            }
            Ok(Err(source)) => {
                return Err(FitError::Learner { problem, question: question(problem), source });
            }
        }
    }
    Ok((scorers, report))
}

fn learn_one<L: BinaryLearner>(
    learner: &L,
    examples: &Examples<'_, InputsOf<L::Scorer>>,
    number: usize,
    problem: &Problem<'_>,
) -> Result<(L::Scorer, usize), L::Error> {
    let rule = match &problem.answers {
        Answers::By(rule) => *rule,
        Answers::Signed(weights) => Rule::Signed(weights),
    };
    let task = BinaryTask { examples, rows: &problem.rows, rule, number };
    Ok((learner.fit(&task)?, task.len()))
}

/// Refuses a code or tree of another number of classes.
pub(crate) fn check_classes(
    what: &'static str,
    made_for: usize,
    n_classes: usize,
) -> Result<(), Error> {
    if made_for == n_classes { Ok(()) } else { Err(Error::Classes { what, made_for, n_classes }) }
}

/// Puts one value a seen class in its place, 0 in the others'.
pub(crate) fn scatter(values: &[f64], seen: &[bool], out: &mut Vec<f64>) {
    let mut values = values.iter();
    out.clear();
    out.extend(seen.iter().map(|&seen| if seen { *values.next().unwrap_or(&0.0) } else { 0.0 }));
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
