//! A smaller model: weights in a byte each, then without the smallest ones.

use super::file::tensor_bytes;
use super::model::TagModel;
use super::spec::TagFeatures;
use super::vectorize::Vectorizer;
use crate::Error;
use crate::request::spec::TrainSpec;
use crate::structured::StructuredModel;
use lineal_chain::{ChainModel, PrunedModel, PrunedParts};
use lineal_data::Sequences;
use lineal_features::sequence::AttributeIndex;

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
    4 * shared + json(serde_json::to_string(&data.schema)) + json(serde_json::to_string(spec))
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
    // Room is for weights.
    small.about.header.report.curve.clear();
    // The tensors of a small model leave this much for the JSON.
    let all = small.to_bytes()?.len() as u64;
    let hashes = model.n_hashes();
    let other = all.saturating_sub(tensor_bytes(&parts, hashes, true) as u64);
    let fits = |parts: &PrunedParts| {
        let empty = n_empty(parts);
        let hashes = hashes.saturating_sub(empty);
        let counts = if model.n_hashes() > 0 { empty } else { 0 };
        (tensor_bytes(parts, hashes, true) - counts) as u64 + other <= max_bytes
    };
    let mut sizes: Vec<f32> = parts.weights.iter().map(|w| w.abs()).collect();
    sizes.sort_by(f32::total_cmp);
    // The least number of weights to leave out.
    let (mut low, mut high) = (0, sizes.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match fits(&without(&parts, sizes[middle])) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    let cut = if low == 0 { 0.0 } else { sizes[(low).min(sizes.len() - 1)] };
    let kept = without(&parts, if low == 0 { half(step) } else { cut.max(half(step)) });
    small.weights = PrunedModel::from_parts(model.weights.model(), rounded(kept, step))?;
    let small = small.compact()?;
    let bytes = small.to_bytes()?.len() as u64;
    if bytes > max_bytes {
        return Err(Error::request(format!(
            "the model cannot be made as small as {max_bytes} bytes: without any weight of an attribute it still takes {bytes}"
        )));
    }
    Ok(small)
}

impl TagModel {
    fn n_hashes(&self) -> usize {
        let of = |index: &AttributeIndex| index.hashes().map_or(0, <[u64]>::len);
        of(self.vectorizer.unary_index()) + self.vectorizer.pair_index().map_or(0, of)
    }

    /// The same model without the attributes that have no weight.
    pub(super) fn compact(self) -> Result<TagModel, Error> {
        let (vectorizer, weights) = compact(&self.vectorizer, &self.weights)?;
        Ok(Self { vectorizer, weights, ..self })
    }
}

/// Leaves out attributes without weights. Where attributes are numbered by bits of a hash, nothing changes.
pub(super) fn compact(
    vectorizer: &Vectorizer,
    weights: &PrunedModel,
) -> Result<(Vectorizer, PrunedModel), Error> {
    let shape = weights.model();
    let empty = AttributeIndex::from_hashes(&[])?;
    let (unary, _) = vectorizer.unary_index().retain(|a| !weights.unary(a as usize).is_empty());
    let (pairs, _) =
        vectorizer.pair_index().unwrap_or(&empty).retain(|b| !weights.pair(b as usize).is_empty());
    let mut parts = weights.parts();
    let keeps_all = [unary.hashes().is_none(), pairs.hashes().is_none()];
    let (mut ends, mut last) = (Vec::new(), 0);
    for (i, &end) in parts.ends.iter().enumerate() {
        let keeps_all = keeps_all[usize::from(i >= shape.n_unary)];
        if end > last || keeps_all {
            ends.push(end);
        }
        last = end;
    }
    parts.ends = ends;
    let shape = ChainModel { n_unary: unary.len(), n_pairs: pairs.len(), ..shape };
    let weights = PrunedModel::from_parts(shape, parts)?;
    Ok((vectorizer.with_indices(unary, pairs), weights))
}

fn half(step: f32) -> f32 {
    step / 2.0
}

/// Only the weights whose size is above `cut`.
fn without(parts: &PrunedParts, cut: f32) -> PrunedParts {
    let mut kept = PrunedParts {
        ends: Vec::with_capacity(parts.ends.len()),
        columns: Vec::new(),
        weights: Vec::new(),
        shared: parts.shared.clone(),
    };
    let mut start = 0;
    for &end in &parts.ends {
        for i in start..end as usize {
            if parts.weights[i].abs() > cut {
                kept.columns.push(parts.columns[i]);
                kept.weights.push(parts.weights[i]);
            }
        }
        kept.ends.push(kept.columns.len() as u32);
        start = end as usize;
    }
    kept
}

/// Weights as they come back from a byte.
fn rounded(mut parts: PrunedParts, step: f32) -> PrunedParts {
    parts.weights.iter_mut().for_each(|w| *w = (*w / step).round().clamp(-128.0, 127.0) * step);
    parts
}

fn n_empty(parts: &PrunedParts) -> usize {
    let starts = [0].into_iter().chain(parts.ends.iter().copied());
    parts.ends.iter().zip(starts).filter(|(end, start)| **end == *start).count()
}
