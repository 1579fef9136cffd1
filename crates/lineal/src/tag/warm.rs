//! A trained model's weights as those of another: matched by the hashes of attributes and the names of labels.

use super::model::TagModel;
use super::vectorize::Vectorizer;
use crate::Error;
use lineal_chain::{ChainModel, PrunedModel, PrunedParts};
use lineal_features::sequence::AttributeIndex;

/// The weights of `old` where the new model has the same attribute and label, 0 elsewhere.
pub(super) fn start(
    old: &TagModel,
    vectorizer: &Vectorizer,
    shape: ChainModel,
    labels: &[String],
) -> Result<PrunedModel, Error> {
    let old_templates = old.vectorizer.templates().map(|t| t.text());
    if old_templates != vectorizer.templates().map(|t| t.text()) {
        return Err(Error::request(
            "the model to start from has other templates; give the same spec.tag.features",
        ));
    }
    let new_label: Vec<Option<u32>> = old
        .labels()
        .iter()
        .map(|name| labels.iter().position(|known| known == name).map(|at| at as u32))
        .collect();
    let (k, old_k) = (shape.n_labels, old.labels().len());
    let new_pair = |pair: u32| {
        let (from, to) = (pair as usize / old_k, pair as usize % old_k);
        Some(new_label[from]? * k as u32 + new_label[to]?)
    };
    let mut parts = PrunedParts {
        ends: Vec::new(),
        columns: Vec::new(),
        weights: Vec::new(),
        shared: vec![0.0; shape.dim() - shape.transition_range().start],
    };
    let mut push = |entries: &[(u32, f32)], column: &dyn Fn(u32) -> Option<u32>| {
        let mut moved: Vec<(u32, f32)> =
            entries.iter().filter_map(|&(c, w)| Some((column(c)?, w))).collect();
        moved.sort_by_key(|entry| entry.0);
        parts.columns.extend(moved.iter().map(|entry| entry.0));
        parts.weights.extend(moved.iter().map(|entry| entry.1));
        parts.ends.push(parts.columns.len() as u32);
    };
    let same = same_numbers(old.vectorizer.unary_index(), vectorizer.unary_index());
    for a in 0..shape.n_unary {
        let entries = same(a).map_or(&[][..], |a| old.weights.unary(a));
        push(entries, &|label| new_label[label as usize]);
    }
    if let (Some(old_index), Some(index)) = (old.vectorizer.pair_index(), vectorizer.pair_index()) {
        let same = same_numbers(old_index, index);
        for b in 0..shape.n_pairs {
            let entries = same(b).map_or(&[][..], |b| old.weights.pair(b));
            push(entries, &new_pair);
        }
    }
    shared(old, shape, &new_label, &mut parts.shared);
    Ok(PrunedModel::from_parts(shape, parts)?)
}

/// The number that the old index gives to what has a number in the new one.
fn same_numbers<'a>(
    old: &'a AttributeIndex,
    new: &'a AttributeIndex,
) -> impl Fn(usize) -> Option<usize> + 'a {
    move |id| match (new.hashes(), new.hash_bits() == old.hash_bits()) {
        (Some(hashes), true) => old.get(hashes[id]).map(|id| id as usize),
        (None, true) => Some(id),
        _ => None,
    }
}

fn shared(old: &TagModel, shape: ChainModel, new_label: &[Option<u32>], into: &mut [f32]) {
    let (k, old_k) = (shape.n_labels, new_label.len());
    let from = shape.transition_range().start;
    let old_shape = old.weights.model();
    let old_from = old_shape.transition_range().start;
    let ranges = [
        (old_shape.transition_range(), shape.transition_range(), 2),
        (old_shape.start_range(), shape.start_range(), 1),
        (old_shape.end_range(), shape.end_range(), 1),
        (old_shape.triple_range(), shape.triple_range(), 3),
    ];
    for (old_range, range, n_labels) in ranges {
        if range.is_empty() {
            continue;
        }
        for (at, &weight) in old.weights.shared()
            [old_range.start - old_from..old_range.end - old_from]
            .iter()
            .enumerate()
        {
            let mut place = Some(0);
            for digit in (0..n_labels).rev() {
                let label = new_label[at / old_k.pow(digit) % old_k];
                place = place.zip(label).map(|(place, label)| place * k + label as usize);
            }
            if let Some(place) = place {
                into[range.start - from + place] = weight;
            }
        }
    }
}
