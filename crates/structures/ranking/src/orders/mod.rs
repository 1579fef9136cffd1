//! Rankings as whole orders, with the cost of an order by a measure of the list.

mod average_precision;
mod interleave;
mod ndcg;

use crate::gain::Gain;
use crate::oracle::{Best, Buffers, Oracle, Scored};
use crate::queries::Query;

/// How a whole order is scored and what it costs. There is an argmax and no sum over orders.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Orders {
    /// Cost 1 − NDCG@`at`, of the whole list without `at`.
    Ndcg {
        /// How many ranks count.
        at: Option<usize>,
        /// What grades are worth.
        gain: Gain,
    },
    /// Cost 1 − average precision (Yue et al. 2007); documents of a grade above `above` are relevant.
    AveragePrecision {
        /// Usually 0.
        above: f32,
    },
}

impl Oracle for Orders {
    fn prepare(
        &self,
        query: &Query<'_>,
        grade: &dyn Fn(u32) -> f64,
        gold: &mut [f64],
        worth: &mut Vec<f64>,
    ) -> f64 {
        match *self {
            Self::Ndcg { at, gain } => ndcg::prepare(query, at, gain, grade, gold, worth),
            Self::AveragePrecision { above } => {
                average_precision::prepare(query, f64::from(above), grade, gold)
            }
        }
    }

    fn best(&self, at: &Scored<'_>, augmented: bool, s: &mut Buffers, amounts: &mut [f64]) -> Best {
        match *self {
            Self::Ndcg { at: k, .. } => ndcg::best(at, k, augmented, s, amounts),
            Self::AveragePrecision { .. } => {
                Best::exact(average_precision::best(at, augmented, s, amounts))
            }
        }
    }

    /// The largest cost.
    fn loss_at_zero(&self, _: &Query<'_>) -> f64 {
        1.0
    }

    /// Nothing: only smooth losses have a Hessian.
    fn pair_curvature(&self, _: &Query<'_>) -> f64 {
        0.0
    }
}
