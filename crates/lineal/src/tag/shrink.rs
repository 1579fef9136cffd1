//! A smaller model: weights in a byte each, then without the smallest ones.

use super::file::{in_bytes, of_byte, tensor_bytes};
use super::model::TagModel;
use super::spec::{TagFeatures, TagSpec};
use super::vectorize::n_bytes_of_templates;
use crate::Error;
use crate::request::spec::TrainSpec;
use crate::structured::StructuredModel;
use lineal_chain::{PrunedModel, PrunedParts};
use lineal_data::Sequences;
use lineal_features::sequence::{AttributeIndex, Vectorizer};

/// The names of notable attributes, which `inspect` shows, may take one part in so many of a model that is made smaller.
const SHARE_OF_NAMES: u64 = 20;

/// What a model of this data cannot be smaller than, in bytes: the weights of transitions, the labels and the request are never left out.
pub fn least_model_bytes(data: &Sequences, spec: &TrainSpec) -> u64 {
    let k = data.schema.labels.len() as u64;
    let transitions = match &spec.tag.features {
        TagFeatures::Templates(text) => text.lines().any(|line| line.trim_end() == "B"),
        _ => true,
    };
    let shared = match transitions {
        true if spec.tag.order == 2 => k * k * k + k * k,
        true => k * k,
        false => 0,
    };
    let json = |length: Result<String, serde_json::Error>| length.map_or(0, |s| s.len() as u64);
    // The file has the templates twice: as they are, and in the request, in place of a list of features.
    let templates = 2 * n_bytes_of_templates(data, &spec.tag) as u64;
    let tag = TagSpec { features: TagFeatures::Default, ..spec.tag.clone() };
    let spec = TrainSpec { tag, ..spec.clone() };
    4 * shared
        + templates
        + json(serde_json::to_string(&data.schema))
        + json(serde_json::to_string(&spec))
}

/// See [`StructuredModel::shrink`].
pub(super) fn shrink(model: &TagModel, max_bytes: u64) -> Result<TagModel, Error> {
    if model.to_bytes()?.len() as u64 <= max_bytes {
        return Ok(model.clone());
    }
    let parts = model.weights.parts();
    let largest = parts.weights.iter().fold(0.0f32, |a, &w| a.max(w.abs()));
    let step = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let mut small = model.clone();
    small.about.step = Some(step);
    // Room is for weights: the names of notable attributes are kept only where they take little of it.
    small.about.header.report.curve.clear();
    let names = serde_json::to_vec(&small.about.notable).map_or(0, |json| json.len() as u64);
    if names * SHARE_OF_NAMES > max_bytes {
        small.about.notable.clear();
    }
    // The tensors of a small model leave this much for the JSON.
    let all = small.to_bytes()?.len() as u64;
    let of = |index: &AttributeIndex| index.hashes().map_or(0, <[u64]>::len);
    let hashes = of(model.vectorizer.unary_index()) + model.vectorizer.pair_index().map_or(0, of);
    let other = all.saturating_sub(tensor_bytes(&parts, hashes, true) as u64);
    let fits = |parts: &PrunedParts| {
        let empty = parts.counts().filter(|&count| count == 0).count();
        let counts = if hashes > 0 { empty } else { 0 };
        let bytes = tensor_bytes(parts, hashes.saturating_sub(empty), true) - counts;
        bytes as u64 + other <= max_bytes
    };
    let mut sizes: Vec<f32> = parts.weights.iter().map(|w| w.abs()).collect();
    sizes.sort_by(f32::total_cmp);
    // The least number of weights to leave out.
    let (mut low, mut high) = (0, sizes.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match fits(&parts.above(sizes[middle])) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    // What is rounded to 0 is left out in any case.
    let cut = if low == 0 { 0.0 } else { sizes[low.min(sizes.len() - 1)] };
    let mut kept = parts.above(cut.max(step / 2.0));
    kept.weights = in_bytes(&kept.weights, step).iter().map(|&w| of_byte(w, step)).collect();
    let weights = PrunedModel::from_parts(model.weights.model(), kept)?;
    let (vectorizer, weights) = compact(&small.vectorizer, &weights)?;
    let small = TagModel { vectorizer, weights, ..small };
    let bytes = small.to_bytes()?.len() as u64;
    if bytes > max_bytes {
        return Err(Error::request(format!(
            "the model cannot be made as small as {max_bytes} bytes: without any weight of an attribute it still takes {bytes}"
        )));
    }
    Ok(small)
}

/// Leaves out attributes without weights. Where attributes are numbered by bits of a hash, nothing changes.
pub(super) fn compact(
    vectorizer: &Vectorizer,
    weights: &PrunedModel,
) -> Result<(Vectorizer, PrunedModel), Error> {
    let empty = AttributeIndex::from_hashes(&[])?;
    let (unary, _) = vectorizer.unary_index().retain(|a| !weights.unary(a as usize).is_empty());
    let (pairs, _) =
        vectorizer.pair_index().unwrap_or(&empty).retain(|b| !weights.pair(b as usize).is_empty());
    let weights = weights.without_empty([unary.hashes().is_none(), pairs.hashes().is_none()])?;
    Ok((vectorizer.with_indices(unary, pairs), weights))
}
