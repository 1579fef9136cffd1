//! What a model's file keeps of a stream, so that learning can go on.

use super::progress::Tally;
use super::{Progressive, StreamSpec};
use crate::predict::file::{Tensor, stored};
use crate::predict::model::Model;
use lineal_model::file::{self, TensorData};
use serde::{Deserialize, Serialize};

pub(super) const WEIGHTS: &str = "stream.weights";
pub(super) const SQUARES: &str = "stream.squares";
pub(super) const LARGEST: &str = "stream.largest";
pub(super) const SUM: &str = "stream.sum";

/// What the JSON of a model says of the stream that it learnt from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AboutStream {
    pub spec: StreamSpec,
    pub passes: Vec<Progressive>,
    pub(super) steps: u64,
    pub(super) n: f64,
    /// Steps that the mean of weights is over, where there is one.
    pub(super) averaged: Option<u64>,
    /// The largest LIBSVM index, where only some of them are features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) n_indices: Option<usize>,
    pub(super) unfinished: Option<Unfinished>,
}

/// A pass that was interrupted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Unfinished {
    pub source: String,
    pub tally: Tally,
}

/// Tables beside the weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamTensors {
    pub(super) weights: Vec<f32>,
    pub(super) squares: Vec<f32>,
    pub(super) largest: Vec<f32>,
    pub(super) sum: Vec<f64>,
}

/// The tables of a model that are not empty: its own, or those of the file that it was loaded from.
pub(crate) fn tensors(model: &Model) -> Result<Vec<Tensor<'_>>, file::Error> {
    let named = |name, n, data| (name, vec![n], data);
    let all = match (&model.stream, model.weights.file()) {
        (Some(t), _) => vec![
            named(WEIGHTS, t.weights.len(), TensorData::F32(&t.weights)),
            named(SQUARES, t.squares.len(), TensorData::F32(&t.squares)),
            named(LARGEST, t.largest.len(), TensorData::F32(&t.largest)),
            named(SUM, t.sum.len(), TensorData::F64(&t.sum)),
        ],
        (None, Some(file)) => stored(file, &[WEIGHTS, SQUARES, LARGEST, SUM])?,
        (None, None) => Vec::new(),
    };
    Ok(all.into_iter().filter(|(_, shape, _)| shape != &[0]).collect())
}
