//! Weighted all-pairs: K(K−1)/2 problems, "which of a and b is cheaper to predict?", over *all* rows that care.
//!
//! For the pair (a, b) a row of class y says a if Δ(y, a) < Δ(y, b), else b, with weight |Δ(y, a) − Δ(y, b)|; rows to which both cost the
//! same take no part. If every mistake costs 1 these are the rows of a and b, and it is [`OneVsOne`](crate::OneVsOne). Beygelzimer, Dani,
//! Hayes, Langford and Zadrozny, *Error limiting reductions between classification tasks*, ICML 2005. Different from it: they
//! transform the costs first, for a bound on what errors of the duels can cost; plain differences are the usual form.

use super::Costs;
use crate::duels::{Duel, Duels, PairDecision, pairs};
use crate::problems::{self, Answers, Problem, Report, Scratch, check_classes};
use crate::{BinaryLearner, BinaryScorer, Examples, FitError, InputOf, InputsOf};
use std::borrow::Cow;

/// A scorer a pair of classes.
#[derive(Clone, Debug)]
pub struct CostAllPairs<S> {
    duels: Duels<S>,
    report: Report,
}

impl<S: BinaryScorer> CostAllPairs<S> {
    /// Learns K(K−1)/2 problems of at most N rows each.
    pub fn fit<L: BinaryLearner<Scorer = S>>(
        learner: &L,
        examples: &Examples<'_, InputsOf<S>>,
        costs: &Costs<'_>,
    ) -> Result<Self, FitError<L::Error>> {
        check_classes("cost table", costs.n_classes(), examples.n_classes())?;
        let pairs = pairs(examples.n_classes())?;
        let pose = |number: usize| {
            let (a, b) = pairs[number];
            let gain = |y: usize| costs.row(y as u32)[b as usize] - costs.row(y as u32)[a as usize];
            let mut rows = examples.rows_of_all((0..costs.n_classes()).filter(|&y| gain(y) != 0.0));
            rows.retain(|&row| examples.weight(row) > 0.0);
            let y = |row: u32| examples.y()[row as usize] as usize;
            let signed: Vec<f64> =
                rows.iter().map(|&row| gain(y(row)) * examples.weight(row)).collect();
            match (signed.iter().any(|s| *s > 0.0), signed.iter().any(|s| *s < 0.0)) {
                (true, true) => {
                    Ok(Problem { rows: Cow::Owned(rows), answers: Answers::Signed(signed) })
                }
                (true, false) => Err(Duel::Lower),
                (false, true) => Err(Duel::Higher),
                (false, false) => Err(Duel::Tie),
            }
        };
        let question = |number: usize| {
            let (a, b) = pairs[number];
            format!("class {a} or class {b}, which is cheaper?")
        };
        let (learnt, report) = problems::learn(learner, examples, 0..pairs.len(), pose, question)?;
        let duels: Vec<Duel<S>> =
            learnt.into_iter().map(|l| l.map_or_else(|known| known, Duel::Ask)).collect();
        // A class that another one is never dearer than, and at times cheaper, is never worth predicting.
        let mut candidates = vec![true; costs.n_classes()];
        for (&(a, b), duel) in pairs.iter().zip(&duels) {
            match duel {
                Duel::Lower => candidates[b as usize] = false,
                Duel::Higher => candidates[a as usize] = false,
                Duel::Ask(_) | Duel::Tie => {}
            }
        }
        Ok(Self { duels: Duels::new(duels, candidates), report })
    }

    /// How many problems and rows it took.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.duels.candidates().len()
    }

    /// The predicted class.
    pub fn predict(&self, x: InputOf<'_, S>, decision: PairDecision, scratch: &mut Scratch) -> u32 {
        self.duels.predict(x, decision, scratch)
    }
}
