//! A trained model's weights as those of another: matched by the hashes of attributes and the names of labels.

use super::model::TagModel;
use crate::Error;
use lineal_chain::{ChainModel, PrunedModel};
use lineal_features::sequence::{AttributeIndex, Vectorizer};

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
    let new = |name: &String| labels.iter().position(|known| known == name).map(|at| at as u32);
    let new_label: Vec<Option<u32>> = old.labels().iter().map(new).collect();
    let unary = same_number(old.vectorizer.unary_index(), vectorizer.unary_index());
    let pairs = old.vectorizer.pair_index().zip(vectorizer.pair_index());
    let pair = |b| pairs.and_then(|(old, new)| same_number(old, new)(b));
    Ok(old.weights.transferred(shape, unary, pair, &new_label)?)
}

/// The number that the old index gives to what has a number in the new one.
fn same_number<'a>(
    old: &'a AttributeIndex,
    new: &'a AttributeIndex,
) -> impl Fn(usize) -> Option<usize> + 'a {
    move |id| match (new.hashes(), new.hash_bits() == old.hash_bits()) {
        (Some(hashes), true) => old.get(hashes[id]).map(|id| id as usize),
        (None, true) => Some(id),
        _ => None,
    }
}
