//! One-vs-all with costs: K problems, "is class k the one to predict?", each over all rows, weighted by what the answer is
//! worth.
//!
//! With regrets ρ_k = Δ(y, k) − min_j Δ(y, j), a row of class y says yes to k if ρ_k = 0, with weight the mean of the other regrets
//! (what it costs on average to predict another), else no, with weight ρ_k (what it costs to predict k). If every mistake
//! costs 1 all weights are 1, and it is [`OneVsAll`](crate::OneVsAll). A heuristic without a bound, unlike
//! [`CostAllPairs`](super::CostAllPairs): K problems that are learnt apart cannot weigh one class against another, and a class that is
//! never the cheapest, but never dear, is never predicted.

use super::Costs;
use crate::learner::score;
use crate::problems::{self, Answers, Problem, Report, argmax, check_classes};
use crate::{BinaryLearner, BinaryScorer, Examples, FitError, InputOf, InputsOf};
use std::borrow::Cow;

/// A scorer a class.
#[derive(Clone, Debug)]
pub struct CostOneVsAll<S> {
    scorers: Vec<Option<S>>,
    /// Those that are the cheapest for some row.
    candidates: Vec<bool>,
    report: Report,
}

impl<S: BinaryScorer> CostOneVsAll<S> {
    /// Learns K problems of at most N rows each.
    pub fn fit<L: BinaryLearner<Scorer = S>>(
        learner: &L,
        examples: &Examples<'_, InputsOf<S>>,
        costs: &Costs<'_>,
    ) -> Result<Self, FitError<L::Error>> {
        check_classes("cost table", costs.n_classes(), examples.n_classes())?;
        let worth: Vec<Vec<f64>> =
            (0..costs.n_classes() as u32).map(|y| worth(costs.row(y))).collect();
        let pose = |class: usize| {
            let rows = (0..examples.n_rows() as u32).zip(examples.y());
            let signed =
                rows.map(|(row, &y)| (row, worth[y as usize][class] * examples.weight(row)));
            let (rows, signed): (Vec<u32>, Vec<f64>) = signed.filter(|(_, s)| *s != 0.0).unzip();
            let verdict = Verdict {
                yes: signed.iter().any(|s| *s > 0.0),
                no: signed.iter().any(|s| *s < 0.0),
            };
            match verdict {
                Verdict { yes: true, no: true } => {
                    Ok(Problem { rows: Cow::Owned(rows), answers: Answers::Signed(signed) })
                }
                one_sided => Err(one_sided),
            }
        };
        let question = |class| format!("class {class}, is it the cheapest?");
        let (learnt, report) =
            problems::learn(learner, examples, 0..costs.n_classes(), pose, question)?;

        let mut candidates: Vec<bool> =
            learnt.iter().map(|l| l.as_ref().err().is_none_or(|verdict| verdict.yes)).collect();
        // A class that is never wrong is the answer, and needs no scores.
        let always =
            learnt.iter().position(|l| l.as_ref().err().is_some_and(|verdict| !verdict.no));
        if let Some(class) = always {
            candidates.fill(false);
            candidates[class] = true;
        }
        let scorers = learnt.into_iter().map(Result::ok).collect();
        Ok(Self { scorers, candidates, report })
    }

    /// How many problems and rows it took.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.scorers.len()
    }

    /// The class of the highest score; the lowest among equals.
    pub fn predict(&self, x: InputOf<'_, S>) -> u32 {
        let scores = self.scorers.iter().map(|s| s.as_ref().map_or(0.0, |s| score(s, x)));
        argmax(scores, &self.candidates)
    }
}

/// The answers that rows give, where it is not both.
struct Verdict {
    yes: bool,
    no: bool,
}

/// For each class the weight of a row with these costs, positive if it says yes.
fn worth(costs: &[f64]) -> Vec<f64> {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let total: f64 = costs.iter().map(|c| c - least).sum();
    let others = costs.len().max(2) as f64 - 1.0;
    costs.iter().map(|&c| if c == least { total / others } else { least - c }).collect()
}
