//! The file of a tagger: its weights without zeros, its templates, and the hashes of its attributes.
//!
//! ```text
//! counts    U8 [attributes, width]   weights of each attribute: of labels, then of transitions
//! columns   U8 [weights, width]      a label, or from·K + to; the width is what the largest needs: 1, 2 or 4 bytes, little-endian
//! weights   F32 [weights], or U8 [weights]: (byte − 128) · step, where the model was made small
//! shared    F32                      transitions, first labels, last labels, triples
//! hashes    U32 [attributes, 2]      low and high half; none with --hash
//! ```

use super::constraints;
use super::model::TagModel;
use super::notable::Notable;
use super::rules;
use super::vectorize::{has_bias, lexicon};
use crate::Error;
use crate::request::spec::Task;
use crate::structured::{self, Header};
use lineal_chain::{ChainModel, PrunedModel, PrunedParts};
use lineal_data::SequenceSchema;
use lineal_features::sequence::{AttributeIndex, AttributeSource, Templates, Vectorizer};
use lineal_model::file::{ModelFile, TensorData};
use serde::{Deserialize, Serialize};

/// The most labels: K² transitions are kept in memory.
pub(super) const MAX_LABELS: usize = 10_000;
/// The same for order 2, with K³.
pub(super) const MAX_LABELS_OF_TRIPLES: usize = 128;

const COUNTS: &str = "counts";
const COLUMNS: &str = "columns";
const WEIGHTS: &str = "weights";
const SHARED: &str = "shared";
const HASHES: &str = "hashes";
const PAIR_HASHES: &str = "pair_hashes";

/// The JSON inside the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    #[serde(flatten)]
    pub(super) header: Header,
    pub(super) schema: SequenceSchema,
    /// What makes attributes of columns.
    pub(super) templates: Option<String>,
    /// Bits of the hash that number attributes: of labels, and of transitions.
    pub(super) hashed: Option<u32>,
    pub(super) hashed_pairs: Option<u32>,
    pub(super) transitions: bool,
    /// Of weights in a byte.
    pub(super) step: Option<f32>,
    pub(super) notable: Vec<Notable>,
}

/// The bytes of the model's file.
pub(super) fn to_bytes(model: &TagModel) -> Result<Vec<u8>, Error> {
    let parts = model.weights.parts();
    let counts: Vec<u32> = parts.counts().collect();
    let PrunedParts { columns, weights, shared, .. } = parts;
    let (counts, columns) = (Packed::new(&counts), Packed::new(&columns));
    let hashes = model.vectorizer.unary_index().hashes().map(halves);
    let pair_hashes = model.vectorizer.pair_index().and_then(|index| index.hashes()).map(halves);
    let bytes = model.about.step.map(|step| in_bytes(&weights, step));
    let mut tensors = vec![
        (COUNTS, counts.shape(), TensorData::U8(&counts.bytes)),
        (COLUMNS, columns.shape(), TensorData::U8(&columns.bytes)),
        (SHARED, vec![shared.len()], TensorData::F32(&shared)),
    ];
    tensors.push(match &bytes {
        Some(bytes) => (WEIGHTS, vec![bytes.len()], TensorData::U8(bytes)),
        None => (WEIGHTS, vec![weights.len()], TensorData::F32(&weights)),
    });
    for (name, hashes) in [(HASHES, &hashes), (PAIR_HASHES, &pair_hashes)] {
        if let Some(hashes) = hashes {
            tensors.push((name, vec![hashes.len() / 2, 2], TensorData::U32(hashes)));
        }
    }
    structured::encode(&model.about, &tensors)
}

/// Nothing in a file is believed before it is checked.
pub(super) fn read(file: &ModelFile) -> Result<TagModel, Error> {
    let bad = |why: String| structured::unfit(file, why);
    let about: About = structured::description(file, Task::Tag)?;
    about.schema.check().map_err(|why| bad(format!("its columns: {why}")))?;
    let k = about.schema.labels.len();
    let most = if about.header.spec.tag.order == 2 { MAX_LABELS_OF_TRIPLES } else { MAX_LABELS };
    let fits = (1..=2).contains(&about.header.spec.tag.order)
        && k <= most
        && about.header.spec.cost.as_ref().is_none_or(|cost| cost.n_classes() == k)
        && about.step.is_none_or(|step| step.is_finite())
        && about.notable.iter().flat_map(|n| &n.attributes).all(|(_, weight)| weight.is_finite());
    if !fits {
        return Err(bad("its labels do not fit its description".into()));
    }
    let unary = read_index(file, HASHES, about.hashed)?;
    let (source, pairs) = match &about.templates {
        None => {
            let bias = has_bias(&about.header.spec.tag);
            (AttributeSource::Named { bias }, AttributeIndex::hashed(0))
        }
        Some(text) => {
            let lexicon = lexicon(&about.header.spec.tag, &about.schema);
            let n_columns = lexicon.as_ref().map_or(about.schema.columns.len(), |l| l.n_columns());
            let templates = Templates::parse(text)
                .and_then(|t| t.check_columns(n_columns).map(|()| t))
                .map_err(|e| bad(e.to_string()))?;
            let pairs = read_index(file, PAIR_HASHES, about.hashed_pairs)?;
            (AttributeSource::Columns(templates, lexicon), pairs)
        }
    };
    let vectorizer = Vectorizer::new(source, unary, pairs);
    let shape = ChainModel {
        n_labels: k,
        n_unary: vectorizer.n_unary(),
        n_pairs: vectorizer.n_pairs(),
        transitions: about.transitions,
        ends: about.header.spec.tag.ends,
        triples: about.header.spec.tag.order == 2,
    };
    let weights = read_weights(file, shape, about.step)?;
    let grammar = constraints::grammar(&about.header.spec.tag, &about.schema.labels)
        .map_err(|e| bad(e.to_string()))?;
    let looks_at_tokens = vectorizer.n_pairs() > 0;
    let rules = rules::compile(&about.header.spec.tag, &about.schema.labels, looks_at_tokens)
        .map_err(|e| bad(e.to_string()))?;
    Ok(TagModel { vectorizer, weights, grammar, rules, about })
}

fn read_index(file: &ModelFile, name: &str, bits: Option<u32>) -> Result<AttributeIndex, Error> {
    let bad = |why: &str| Error::from(file.bad_tensor(name, why));
    match (bits, file.u32(name)?) {
        (Some(bits), None) if bits <= AttributeIndex::MAX_BITS => {
            // As many counts as attributes: nothing is allocated on the word of the file alone.
            let counts = file.shape(COUNTS).and_then(|shape| shape.first().copied()).unwrap_or(0);
            match counts >= 1 << bits {
                true => Ok(AttributeIndex::hashed(bits)),
                false => Err(bad("fewer attributes than the bits of the hash say")),
            }
        }
        (None, Some(halves)) if halves.len().is_multiple_of(2) => {
            let hash = |half: &[u32]| u64::from(half[0]) | u64::from(half[1]) << 32;
            let hashes: Vec<u64> = halves.chunks_exact(2).map(hash).collect();
            AttributeIndex::from_hashes(&hashes).map_err(|e| bad(&e.to_string()))
        }
        _ => Err(bad("the attributes are numbered in no way, or in two")),
    }
}

fn read_weights(
    file: &ModelFile,
    shape: ChainModel,
    step: Option<f32>,
) -> Result<PrunedModel, Error> {
    let bad = |name: &str, why: &str| Error::from(file.bad_tensor(name, why));
    let k = shape.n_labels;
    let counts = Packed::read(file, COUNTS)?;
    let columns = Packed::read(file, COLUMNS)?;
    let shared = file.f32(SHARED)?.ok_or_else(|| bad(SHARED, "it is not there"))?.to_vec();
    let square = k * k;
    let wanted = if shape.transitions { square } else { 0 }
        + if shape.ends { 2 * k } else { 0 }
        + if shape.triples { square * k } else { 0 };
    if shared.len() != wanted {
        return Err(bad(SHARED, "another number of transitions than the labels have"));
    }
    // Places of weights are computed: they must not overflow.
    let places = shape.n_pairs.checked_mul(square).zip(shape.n_unary.checked_mul(k + 3));
    if places.and_then(|(pairs, unary)| pairs.checked_add(unary)?.checked_add(wanted)).is_none() {
        return Err(bad(COUNTS, "more weights than there can be"));
    }
    let weights: Vec<f32> = match (step, file.tensor(WEIGHTS)?) {
        (None, Some(TensorData::F32(weights))) => weights.to_vec(),
        (Some(step), Some(TensorData::U8(bytes))) => {
            bytes.iter().map(|&byte| of_byte(byte, step)).collect()
        }
        _ => return Err(bad(WEIGHTS, "it is not there, or of another type than described")),
    };
    if !weights.iter().chain(&shared).all(|w| w.is_finite()) {
        return Err(bad(WEIGHTS, "a weight is not finite"));
    }
    let mut end = 0u32;
    let ends: Option<Vec<u32>> = counts
        .iter()
        .map(|&count| {
            end = end.checked_add(count)?;
            Some(end)
        })
        .collect();
    let ends = ends.ok_or_else(|| bad(COUNTS, "more weights than there can be"))?;
    PrunedModel::from_parts(shape, PrunedParts { ends, columns, weights, shared })
        .map_err(|e| bad(WEIGHTS, &e.to_string()))
}

fn halves(hashes: &[u64]) -> Vec<u32> {
    hashes.iter().flat_map(|&hash| [hash as u32, (hash >> 32) as u32]).collect()
}

/// Weights as multiples of a step from −128 to 127.
pub(super) fn in_bytes(weights: &[f32], step: f32) -> Vec<u8> {
    let byte =
        |&w: &f32| if step > 0.0 { (w / step).round().clamp(-128.0, 127.0) + 128.0 } else { 128.0 };
    weights.iter().map(|w| byte(w) as u8).collect()
}

/// A weight as it comes back from a byte.
pub(super) fn of_byte(byte: u8, step: f32) -> f32 {
    (f32::from(byte) - 128.0) * step
}

/// Whole numbers in as many bytes as the largest needs.
struct Packed {
    bytes: Vec<u8>,
    width: usize,
}

impl Packed {
    fn new(values: &[u32]) -> Self {
        let width = match values.iter().max() {
            None | Some(0..=0xff) => 1,
            Some(0x100..=0xffff) => 2,
            Some(_) => 4,
        };
        let mut bytes = Vec::with_capacity(values.len() * width);
        values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()[..width]));
        Self { bytes, width }
    }

    fn shape(&self) -> Vec<usize> {
        vec![self.bytes.len() / self.width, self.width]
    }

    fn read(file: &ModelFile, name: &str) -> Result<Vec<u32>, Error> {
        let bad = |why: &str| Error::from(file.bad_tensor(name, why));
        let bytes = file.u8(name)?.ok_or_else(|| bad("it is not there"))?;
        let width = match file.shape(name) {
            Some(&[_, width]) if [1, 2, 4].contains(&width) => width,
            _ => return Err(bad("its shape is not [values, 1, 2 or 4]")),
        };
        let value =
            |part: &[u8]| part.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        Ok(bytes.chunks_exact(width).map(value).collect())
    }
}

/// The bytes that weights and attributes take, without the JSON.
pub(super) fn tensor_bytes(parts: &PrunedParts, hashes: usize, in_bytes: bool) -> usize {
    let most = parts.counts().max().unwrap_or(0);
    let counts = Packed::new(&[most]).width * parts.ends.len();
    let columns = Packed::new(&[parts.columns.iter().copied().max().unwrap_or(0)]).width;
    let weight = if in_bytes { 1 } else { 4 };
    counts + (columns + weight) * parts.columns.len() + 4 * parts.shared.len() + 8 * hashes
}
