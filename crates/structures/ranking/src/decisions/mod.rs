//! Rankings as independent decisions: pairs of documents, or choices of one document among several. Their maxima and sums decouple.

mod hinge;
mod logistic;
mod plackett_luce;
mod softmax;
mod squared;

pub(crate) use logistic::LogisticBuffers;

use crate::gain::Gain;
use crate::oracle::{Best, Buffers, Oracle, Scored, Smooth};
use crate::queries::Query;
use lineal_linalg::special::sigmoid;

/// What is decided for a query. With d = scoreᵢ − scoreⱼ for every pair of documents with gradeᵢ > gradeⱼ:
///
/// | decisions | hinge | logistic |
/// |---|---|---|
/// | `Pairs` | Σ max(0, 1 − d) | Σ log(1 + exp(−d)) |
/// | `SquaredPairs` | as `Pairs` | Σ max(0, 1 − d)² |
/// | `Softmax` | max over documents of score + cost − Σ p · score | log Σ exp score − Σ p · score |
/// | `PlackettLuce` | Σ over documents of the best rival's lead, + 1 for one of a lower grade | Σ over documents i of log Σ exp scoreⱼ − scoreᵢ |
///
/// "Hinge" and "logistic" are the losses of a learner over outputs: the largest score with cost, or the logarithm of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decisions {
    /// Which document of each pair is better. The logistic loss is RankNet's, the hinge RankSVM's.
    Pairs,
    /// The squared hinge of pairs (Chapelle and Keerthi 2010) as a smooth loss. It is not a sum over outputs, but convex with a gradient, which is all
    /// that L-BFGS, OWL-QN, stochastic steps and the dual solver of the logistic loss and their certificates use.
    SquaredPairs,
    /// Which document comes first: the cross entropy of the softmax of scores with p, the gains of the documents over their sum (ListNet of Cao et al. 2007, top one). The cost of a
    /// document is 1 − its gain over the largest.
    Softmax(Gain),
    /// Every document but those of the lowest grade is chosen among all of its own and of lower grades: the likelihood of an order that agrees with the grades (Plackett 1975; ListMLE
    /// of Xia et al. 2008), ties as Breslow takes them in Cox regression. The order within the lowest grade is not observed.
    PlackettLuce,
}

impl Decisions {
    /// Why learners that need an argmax (perceptron, passive–aggressive, hinge) should be refused, if they should: they would train another loss than the name says.
    pub fn refuses_argmax(&self) -> Option<&'static str> {
        let why = "the squared hinge of pairs is not a maximum over outputs: choose the loss pairwise hinge for this solver, or the solver lbfgs";
        (*self == Self::SquaredPairs).then_some(why)
    }
}

impl Oracle for Decisions {
    fn prepare(
        &self,
        query: &Query<'_>,
        grade: &dyn Fn(u32) -> f64,
        gold: &mut [f64],
        _: &mut Vec<f64>,
    ) -> f64 {
        match self {
            // The score of a choice for each pair is taken relative to the gold one: 0 for the gold output.
            Self::Pairs | Self::SquaredPairs => query.n_pairs(),
            Self::Softmax(gain) => softmax::prepare(query, *gain, grade, gold),
            Self::PlackettLuce => plackett_luce::prepare(query, gold),
        }
    }

    fn best(&self, at: &Scored<'_>, augmented: bool, s: &mut Buffers, amounts: &mut [f64]) -> Best {
        Best::exact(match self {
            Self::Pairs | Self::SquaredPairs => hinge::best(at, augmented, s, amounts),
            Self::Softmax(_) => softmax::best(at, augmented, amounts),
            Self::PlackettLuce => plackett_luce::best(at, augmented, amounts),
        })
    }

    fn loss_at_zero(&self, query: &Query<'_>) -> f64 {
        match self {
            Self::Pairs => query.n_pairs() * std::f64::consts::LN_2,
            Self::SquaredPairs => query.n_pairs(),
            Self::Softmax(_) => (query.n() as f64).ln(),
            Self::PlackettLuce => plackett_luce::loss_at_zero(query),
        }
    }

    fn pair_curvature(&self, query: &Query<'_>) -> f64 {
        let n = query.n() as f64;
        match self {
            Self::Pairs => 0.25,
            Self::SquaredPairs => 2.0,
            // diag(p) − ppᵀ at p = 1/n is 1/n² for every pair.
            Self::Softmax(_) => 1.0 / (n * n),
            Self::PlackettLuce => plackett_luce::curvature(query),
        }
    }

    fn pair_second_derivative(&self) -> Option<fn(f64) -> f64> {
        match self {
            Self::Pairs => Some(|lead| sigmoid(lead) * sigmoid(-lead)),
            Self::SquaredPairs => Some(|lead| if lead < 1.0 { 2.0 } else { 0.0 }),
            Self::Softmax(_) | Self::PlackettLuce => None,
        }
    }
}

impl Smooth for Decisions {
    fn value_grad(&self, at: &Scored<'_>, s: &mut Buffers, amounts: &mut [f64]) -> f64 {
        match self {
            Self::Pairs => logistic::value_grad(at, s, amounts),
            Self::SquaredPairs => squared::value_grad(at, s, amounts),
            Self::Softmax(_) => softmax::value_grad(at, amounts),
            Self::PlackettLuce => plackett_luce::value_grad(at, s, amounts),
        }
    }

    fn settle(&self, query: &Query<'_>, gold: &[f64], scores: &mut [f64]) {
        if let Self::Softmax(_) = self {
            // exp of these are the gold shares; documents without gain have next to nothing.
            scores.iter_mut().zip(gold).for_each(|(score, p)| *score = p.max(1e-9).ln());
            return;
        }
        // Far enough that each pair is nearly sure; not so far that a dual step could not come back.
        let apart = 4.0 + if *self == Self::PlackettLuce { (query.n() as f64).ln() } else { 0.0 };
        for (score, &group) in scores.iter_mut().zip(query.group_of) {
            *score = -apart * f64::from(group);
        }
    }
}
