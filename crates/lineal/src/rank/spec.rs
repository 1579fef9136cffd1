//! What ranking alone can choose, with its defaults.

use crate::request::spec::{Penalty, choice};
use lineal_ranking::{Decisions, Gain, Normalise, Orders};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Choices about rankings beside those of every [`TrainSpec`](crate::TrainSpec).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankSpec {
    /// What the loss is about.
    pub kind: RankKind,
    /// `ndcg`: how many ranks count; all by default.
    pub at: Option<usize>,
    /// Every query counts the same, in place of every pair.
    pub per_query: bool,
}

impl Default for RankSpec {
    fn default() -> Self {
        Self { kind: RankKind::Pairs, at: None, per_query: false }
    }
}

choice! {
    /// What the loss of a ranking is about.
    RankKind {
        /// Every pair of documents of different grades: hinge (RankSVM), squared hinge, logistic (RankNet).
        Pairs = "pairs",
        /// Which document comes first: the softmax of scores against the gains of the grades (ListNet).
        Softmax = "softmax",
        /// The likelihood of an order that agrees with the grades (ListMLE).
        PlackettLuce = "plackett-luce",
        /// Whole orders, with the cost 1 − NDCG.
        Ndcg = "ndcg",
        /// Whole orders, with the cost 1 − average precision.
        Map = "map",
    }
}

/// A family of outputs.
pub(super) enum Outputs {
    Decisions(Decisions),
    Orders(Orders),
}

impl RankSpec {
    pub(super) fn outputs(&self, squared: bool) -> Outputs {
        let gain = Gain::default();
        match self.kind {
            RankKind::Pairs if squared => Outputs::Decisions(Decisions::SquaredPairs),
            RankKind::Pairs => Outputs::Decisions(Decisions::Pairs),
            RankKind::Softmax => Outputs::Decisions(Decisions::Softmax(gain)),
            RankKind::PlackettLuce => Outputs::Decisions(Decisions::PlackettLuce),
            RankKind::Ndcg => Outputs::Orders(Orders::Ndcg { at: self.at, gain }),
            RankKind::Map => Outputs::Orders(Orders::AveragePrecision { above: 0.0 }),
        }
    }

    /// The penalty where none is said. Pairs are many and far from independent, so that less of each than C = 1 goes further: on held-out queries of MQ2008's training part 1e-3 is better than 1
    /// for every loss of pairs, and 0.1 for the others.
    pub fn penalty(&self) -> Penalty {
        Penalty::C(match self.kind {
            RankKind::Pairs => 1e-3,
            RankKind::Softmax | RankKind::PlackettLuce => 0.1,
            RankKind::Ndcg | RankKind::Map => 1e-2,
        })
    }

    pub(super) fn normalise(&self) -> Normalise {
        if self.per_query { Normalise::Queries } else { Normalise::Decisions }
    }
}
