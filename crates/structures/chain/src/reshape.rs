//! A trained model in another shape: smaller, or with other attributes and labels.

use crate::{ChainModel, Error, PrunedModel, PrunedParts};

impl PrunedModel {
    /// Without the attributes that have no weight, of labels and of transitions; `all` of either stay where their numbers mean something.
    pub fn without_empty(&self, all: [bool; 2]) -> Result<Self, Error> {
        let (shape, mut parts) = (self.model(), self.parts());
        let (mut ends, mut counts, mut last) = (Vec::new(), [0, 0], 0);
        for (i, &end) in parts.ends.iter().enumerate() {
            let kind = usize::from(i >= shape.n_unary);
            if end > last || all[kind] {
                ends.push(end);
                counts[kind] += 1;
            }
            last = end;
        }
        parts.ends = ends;
        let [n_unary, n_pairs] = counts;
        Self::from_parts(ChainModel { n_unary, n_pairs, ..shape }, parts)
    }

    /// The weights that a model of another shape shares with this one, 0 elsewhere. `unary`, `pair` and `label` give the number here of what has a number there, and the
    /// other way round for labels.
    pub fn transferred(
        &self,
        shape: ChainModel,
        unary: impl Fn(usize) -> Option<usize>,
        pair: impl Fn(usize) -> Option<usize>,
        label: &[Option<u32>],
    ) -> Result<Self, Error> {
        let (k, old_k) = (shape.n_labels, self.model().n_labels);
        // The number of a run of labels there, digit by digit.
        let moved = |at: usize, n_labels: u32| {
            (0..n_labels).rev().try_fold(0, |place, digit| {
                Some(place * k + label[at / old_k.pow(digit) % old_k]? as usize)
            })
        };
        let mut parts = PrunedParts {
            ends: Vec::with_capacity(shape.n_unary + shape.n_pairs),
            columns: Vec::new(),
            weights: Vec::new(),
            shared: vec![0.0; shape.dim() - shape.transition_range().start],
        };
        let mut push = |entries: &[(u32, f32)], n_labels: u32| {
            let entry = |&(at, w): &(u32, f32)| Some((moved(at as usize, n_labels)? as u32, w));
            let mut entries: Vec<(u32, f32)> = entries.iter().filter_map(entry).collect();
            entries.sort_by_key(|entry| entry.0);
            parts.columns.extend(entries.iter().map(|entry| entry.0));
            parts.weights.extend(entries.iter().map(|entry| entry.1));
            parts.ends.push(parts.columns.len() as u32);
        };
        (0..shape.n_unary).for_each(|a| push(unary(a).map_or(&[], |a| self.unary(a)), 1));
        (0..shape.n_pairs).for_each(|b| push(pair(b).map_or(&[], |b| self.pair(b)), 2));
        let (from, old_from) =
            (shape.transition_range().start, self.model().transition_range().start);
        for ((range, n_labels), (old, _)) in shape.shared().into_iter().zip(self.model().shared()) {
            if range.is_empty() {
                continue;
            }
            for (at, &weight) in
                self.shared()[old.start - old_from..old.end - old_from].iter().enumerate()
            {
                if let Some(place) = moved(at, n_labels) {
                    parts.shared[range.start - from + place] = weight;
                }
            }
        }
        Self::from_parts(shape, parts)
    }
}

impl PrunedParts {
    /// Only the weights whose size is above `cut`.
    pub fn above(&self, cut: f32) -> Self {
        let mut kept = Self {
            ends: Vec::with_capacity(self.ends.len()),
            columns: Vec::new(),
            weights: Vec::new(),
            shared: self.shared.clone(),
        };
        let mut start = 0;
        for &end in &self.ends {
            for i in start..end as usize {
                if self.weights[i].abs() > cut {
                    kept.columns.push(self.columns[i]);
                    kept.weights.push(self.weights[i]);
                }
            }
            kept.ends.push(kept.columns.len() as u32);
            start = end as usize;
        }
        kept
    }

    /// How many weights each attribute has.
    pub fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(&end, start)| end - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: ChainModel = ChainModel {
        n_labels: 2,
        n_unary: 2,
        n_pairs: 1,
        transitions: true,
        ends: true,
        triples: false,
    };

    /// a: A 1, b: B 2, of transitions A→B 3; A→A 4, A→B 5, B→A 6, B→B 7; first A 8, B 9; last A 10, B 11.
    fn model() -> PrunedModel {
        let shared = (4..12u8).map(f32::from).collect();
        let parts = PrunedParts {
            ends: vec![1, 2, 3],
            columns: vec![0, 1, 1],
            weights: vec![1.0, 2.0, 3.0],
            shared,
        };
        PrunedModel::from_parts(SHAPE, parts).unwrap()
    }

    #[test]
    fn weights_follow_the_names_of_labels_and_attributes() {
        // B, C, A are the new labels; there are the attributes b, a new one, and a.
        let shape = ChainModel { n_labels: 3, n_unary: 3, ..SHAPE };
        let unary = |a: usize| [Some(1), None, Some(0)][a];
        let new = model().transferred(shape, unary, Some, &[Some(2), Some(0)]).unwrap();
        assert_eq!(new.unary(0), [(0, 2.0)]);
        assert!(new.unary(1).is_empty());
        assert_eq!(new.unary(2), [(2, 1.0)]);
        assert_eq!(new.pair(0), [(6, 3.0)]);
        let mut shared = vec![0.0; 15];
        (shared[8], shared[6], shared[2], shared[0]) = (4.0, 5.0, 6.0, 7.0);
        (shared[11], shared[9], shared[14], shared[12]) = (8.0, 9.0, 10.0, 11.0);
        assert_eq!(new.shared(), shared);
        let back =
            new.transferred(SHAPE, |a| [Some(2), Some(0)][a], Some, &[Some(1), None, Some(0)]);
        assert_eq!(back.unwrap(), model());
    }

    #[test]
    fn small_weights_and_empty_attributes_are_left_out() {
        let parts = model().parts().above(1.0);
        assert_eq!(parts.counts().collect::<Vec<_>>(), [0, 1, 1]);
        let small = PrunedModel::from_parts(SHAPE, parts).unwrap();
        let none = small.without_empty([false, false]).unwrap();
        assert_eq!((none.model().n_unary, none.unary(0)), (1, &[(1, 2.0)][..]));
        assert_eq!(small.without_empty([true, true]).unwrap(), small);
    }
}
