//! What a loss of rankings knows about one query. Scores and amounts are f64 here, whatever the weights are.

use crate::decisions::LogisticBuffers;
use crate::listed::Listed;
use crate::queries::Query;
use crate::sorted::Sorted;

/// The gold output of a query and its best output.
pub trait Oracle: Sync {
    /// Leaves μ of the gold output in `gold`, which comes as zeros, may append one number for each document to `worth`, and returns how many decisions the query takes (pairs,
    /// choices, or 1 for a whole order). At 0 there is nothing to learn from the query, and no other method is called for it.
    fn prepare(
        &self,
        query: &Query<'_>,
        grade: &dyn Fn(u32) -> f64,
        gold: &mut [f64],
        worth: &mut Vec<f64>,
    ) -> f64;

    /// Leaves μ of the output of greatest score (+ cost if `augmented`) in `amounts`, which come as zeros. Of equally good outputs one of greater cost
    /// is taken: the perceptron must move away from w = 0.
    fn best(&self, at: &Scored<'_>, augmented: bool, s: &mut Buffers, amounts: &mut [f64]) -> Best;

    /// The loss at w = 0.
    fn loss_at_zero(&self, query: &Query<'_>) -> f64;

    /// The Hessian in the scores at w = 0 is taken for a Laplacian that has this much for each pair of documents of different groups.
    fn pair_curvature(&self, query: &Query<'_>) -> f64;

    /// Where the loss is a sum over pairs (i, j) of gradeᵢ > gradeⱼ: the second derivative of the smooth loss of one, by scoreᵢ − scoreⱼ. The maximum with costs is then Σ max(0, 1 − (scoreᵢ − scoreⱼ)).
    fn pair_second_derivative(&self) -> Option<fn(f64) -> f64> {
        None
    }
}

/// A smooth convex function of the scores: the logarithm of a sum over outputs, or what takes its place.
pub trait Smooth: Oracle {
    /// The function at the scores. Its gradient is left in `amounts`, which come as zeros.
    fn value_grad(&self, at: &Scored<'_>, s: &mut Buffers, amounts: &mut [f64]) -> f64;

    /// Leaves scores in `scores`, which come as zeros, at which the gradient is near the gold output.
    fn settle(&self, query: &Query<'_>, gold: &[f64], scores: &mut [f64]);
}

/// A query with the scores of its documents and what [`Oracle::prepare`] left.
pub struct Scored<'q> {
    pub(crate) query: Query<'q>,
    pub(crate) scores: &'q [f64],
    pub(crate) gold: &'q [f64],
    pub(crate) worth: &'q [f64],
}

/// What is known of the best output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// Its cost.
    pub(crate) cost: f64,
    /// No output has more than this above its score + cost; 0 if it is the best indeed.
    pub(crate) slack: f64,
}

impl Best {
    pub(crate) fn exact(cost: f64) -> Self {
        Self { cost, slack: 0.0 }
    }
}

/// Working memory of oracles.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    pub(crate) sorted: Sorted,
    pub(crate) logistic: LogisticBuffers,
    pub(crate) numbers: Vec<f64>,
    pub(crate) places: Vec<u32>,
    pub(crate) order: Vec<u32>,
    pub(crate) listed: Listed,
}
