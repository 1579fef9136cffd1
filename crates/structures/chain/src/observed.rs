//! Which labels attributes came with, and which labels stood side by side: what decides which weights there are.
//!
//! Sentences may be in several processes. What each of them saw is a set of bits over the same attributes and labels, and the sets of all are their union, in any order.

use crate::{ChainModel, ChainWeights, Error, LabelSets, PrunedModel, Sentences, UNLABELLED};

/// What was seen of attributes and labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// For each attribute the labels that it came with; no rows where all labels have weights.
    pub(crate) attributes: LabelSets,
    /// For each label those that followed it; no rows where all transitions have weights.
    pub(crate) pairs: LabelSets,
    /// For each pair of labels those that followed it, where there are weights of three labels and not of all.
    pub(crate) triples: LabelSets,
}

impl Observed {
    /// Nothing was seen yet.
    pub fn none(model: &ChainModel, weights: ChainWeights) -> Self {
        let k = model.n_labels;
        let rows = |wanted: bool, n: usize| LabelSets::empty(if wanted { n } else { 0 }, k);
        let transitions = weights.has_observed_transitions();
        Self {
            attributes: rows(!weights.has_all_attributes(), model.n_unary),
            pairs: rows(transitions, k),
            triples: rows(transitions && model.triples, k * k),
        }
    }

    /// What some sentences have. They must fit the model.
    pub fn of(
        model: &ChainModel,
        sentences: &Sentences<'_>,
        weights: ChainWeights,
    ) -> Result<Self, Error> {
        sentences.check(model)?;
        Ok(Self::of_checked(model, sentences, weights))
    }

    pub(crate) fn of_checked(
        model: &ChainModel,
        sentences: &Sentences<'_>,
        weights: ChainWeights,
    ) -> Self {
        let mut seen = Self::none(model, weights);
        if seen.attributes.n_rows() > 0 {
            seen.see_attributes(model, sentences, weights);
        }
        if weights.has_observed_transitions() {
            seen.see_transitions(model, sentences);
        }
        seen
    }

    fn see_attributes(
        &mut self,
        model: &ChainModel,
        sentences: &Sentences<'_>,
        weights: ChainWeights,
    ) {
        let seen = &mut self.attributes;
        for (t, &label) in sentences.labels.iter().enumerate() {
            if label != UNLABELLED {
                sentences.unary.row(t).for_each(|a, _| seen.insert(a, label as usize));
            } else if !weights.has_observed_attributes() {
                sentences.unary.row(t).for_each(|a, _| {
                    (0..model.n_labels).for_each(|label| seen.insert(a, label));
                });
            }
        }
    }

    fn see_transitions(&mut self, model: &ChainModel, sentences: &Sentences<'_>) {
        let k = model.n_labels;
        for i in 0..sentences.len() {
            let gold = sentences.gold(i);
            for two in gold.windows(2).filter(|two| !two.contains(&UNLABELLED)) {
                self.pairs.insert(two[0] as usize, two[1] as usize);
            }
            if model.triples {
                for three in gold.windows(3).filter(|three| !three.contains(&UNLABELLED)) {
                    self.triples
                        .insert(three[0] as usize * k + three[1] as usize, three[2] as usize);
                }
            }
        }
    }

    /// Labels that a model to start from has weights for count as seen with their attributes.
    pub(crate) fn see_model(&mut self, start: &PrunedModel) {
        for a in 0..self.attributes.n_rows() {
            start.unary(a).iter().for_each(|&(l, _)| self.attributes.insert(a, l as usize));
        }
    }

    /// Takes in what was seen elsewhere, of the same model.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let Self { attributes, pairs, triples } = self;
        let all =
            [(attributes, &other.attributes), (pairs, &other.pairs), (triples, &other.triples)];
        for (own, other) in all {
            if !own.unite(other) {
                let what = "what was seen elsewhere is of other labels or attributes";
                return Err(Error::Shape(what.into()));
            }
        }
        Ok(())
    }

    /// All bits as words, to send.
    pub fn to_words(&self) -> Vec<u64> {
        [self.attributes.words(), self.pairs.words(), self.triples.words()].concat()
    }

    /// From what [`to_words`](Self::to_words) gave, of the same model.
    pub fn from_words(
        model: &ChainModel,
        weights: ChainWeights,
        words: &[u64],
    ) -> Result<Self, Error> {
        let mut seen = Self::none(model, weights);
        let mut rest = words;
        let sets = [&mut seen.attributes, &mut seen.pairs, &mut seen.triples];
        let fits = sets.into_iter().all(|own| {
            let Some((front, back)) = rest.split_at_checked(own.words().len()) else {
                return false;
            };
            rest = back;
            own.set_words(front)
        });
        match fits && rest.is_empty() {
            true => Ok(seen),
            false => Err(Error::Shape("these are not the bits of what was seen".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::SparseRows;

    /// What two halves of sentences saw is what all of them saw, and survives being sent.
    #[test]
    fn halves_add_up() {
        let model = ChainModel {
            n_labels: 3,
            n_unary: 4,
            n_pairs: 0,
            transitions: true,
            ends: true,
            triples: true,
        };
        let labels = [0, 1, 2, UNLABELLED, 2, 2, 1];
        let ids = [0, 1, 3, 2, 2, 0, 1];
        let of = |range: std::ops::Range<usize>, ends: &[usize], weights| {
            let mut unary = SparseRows::new();
            for &id in &ids[range.clone()] {
                unary.push(id);
                unary.end_row();
            }
            let labels = &labels[range];
            let sentences = Sentences { unary: &unary, pairs: None, labels, ends, weights: None };
            Observed::of(&model, &sentences, weights).unwrap()
        };
        for weights in [
            ChainWeights::Frequent,
            ChainWeights::Observed,
            ChainWeights::AllAttributes,
            ChainWeights::All,
        ] {
            let all = of(0..7, &[3, 7], weights);
            let (mut one, two) = (of(0..3, &[3], weights), of(3..7, &[4], weights));
            one.merge(&two).unwrap();
            assert_eq!(one, all, "{weights:?}");
            assert_eq!(Observed::from_words(&model, weights, &all.to_words()).unwrap(), all);
            let mut words = all.to_words();
            words.push(0);
            assert!(Observed::from_words(&model, weights, &words).is_err());
        }
        let words = vec![1 << 3; 4];
        assert!(Observed::from_words(&model, ChainWeights::Frequent, &words).is_err());
    }
}
