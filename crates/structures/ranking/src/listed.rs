//! Pairs one by one, where they are few: cheaper than sorting, and each can have a number of its own.
//!
//! Documents stand in the order of their grades, so that the worse ones of a document are a range: all after its group. Pairs are numbered in that order, the better document first.

use crate::oracle::Scored;
use crate::queries::Query;
use std::ops::Range;

/// Working memory: numbers of documents in the order of grades.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    pub(crate) scores: Vec<f64>,
    pub(crate) amounts: Vec<f64>,
    /// Of the pairs, in their order.
    pub(crate) weights: Vec<f32>,
    /// Features, document by document, relative to the first one.
    pub(crate) rows: Vec<f32>,
    /// As many: Σ over pairs of weight · difference of features.
    pub(crate) sums: Vec<f32>,
    /// The features that differ between documents.
    pub(crate) columns: Vec<u32>,
    /// One matrix of these.
    pub(crate) block: Vec<f32>,
}

/// Pairs that are added up side by side.
pub(crate) const LANES: usize = 4;

/// Whether walking over all pairs is cheaper than sorting. A pair costs about a nanosecond, a document in order some twenty.
pub(crate) fn is_short(query: &Query<'_>) -> bool {
    query.n_pairs() <= 24.0 * query.n() as f64
}

/// `f(place of the better document, places of the worse ones)`, places in the order of grades.
pub(crate) fn each_row(query: &Query<'_>, mut f: impl FnMut(usize, Range<usize>)) {
    for group in 0..query.n_groups() {
        let places = query.places(group);
        let worse = places.end..query.n();
        if worse.is_empty() {
            return;
        }
        places.for_each(|better| f(better, worse.clone()));
    }
}

impl Listed {
    /// Takes the scores in; amounts become 0.
    pub(crate) fn load(&mut self, query: &Query<'_>, scores: &[f64]) {
        self.scores.clear();
        self.scores.extend(query.by_grade.iter().map(|&document| scores[document as usize]));
        self.amounts.clear();
        self.amounts.resize(query.n(), 0.0);
    }

    /// Gives the amounts back to the documents.
    pub(crate) fn unload(&self, query: &Query<'_>, amounts: &mut [f64]) {
        for (&document, &amount) in query.by_grade.iter().zip(&self.amounts) {
            amounts[document as usize] = amount;
        }
    }

    /// Σ over pairs of a function of scoreᵢ − scoreⱼ. `f` gives the value and the amount that goes from the better document to the worse.
    pub(crate) fn sum(
        &mut self,
        at: &Scored<'_>,
        amounts: &mut [f64],
        f: impl Fn(f64) -> (f64, f64),
    ) -> f64 {
        self.load(&at.query, at.scores);
        let Self { scores, amounts: own, .. } = self;
        let mut value = 0.0;
        each_row(&at.query, |better, worse| {
            let high = scores[better];
            let (low, own_low) = (&scores[worse.clone()], &mut own[worse]);
            let (mut values, mut moved) = ([0.0; LANES], [0.0; LANES]);
            let mut one = |l: usize, low: f64, own: &mut f64| {
                let (value, amount) = f(high - low);
                values[l] += value;
                moved[l] += amount;
                *own += amount;
            };
            let split = low.len() - low.len() % LANES;
            let blocks = low[..split].chunks_exact(LANES);
            for (low, own) in blocks.zip(own_low.chunks_exact_mut(LANES)) {
                for (l, (low, own)) in low.iter().zip(own).enumerate() {
                    one(l, *low, own);
                }
            }
            for (low, own) in low[split..].iter().zip(&mut own_low[split..]) {
                one(0, *low, own);
            }
            value += values.iter().sum::<f64>();
            own[better] -= moved.iter().sum::<f64>();
        });
        self.unload(&at.query, amounts);
        value
    }
}
