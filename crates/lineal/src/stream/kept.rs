//! What a model's file keeps of a stream, so that learning can go on.

use super::learner::{Learner, Tally};
use super::{Progressive, Start, StreamSpec};
use crate::Error;
use crate::model::Model;
use crate::weights::Weights;
use lineal_data::{ReadOptions, Source};
use lineal_model::file::{ModelFile, TensorData};
use lineal_solver::OnlineState;
use serde::{Deserialize, Serialize};

const WEIGHTS: &str = "stream.weights";
const SQUARES: &str = "stream.squares";
const LARGEST: &str = "stream.largest";
const SUM: &str = "stream.sum";

/// What the JSON of a model says of the stream that it learnt from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AboutStream {
    pub spec: StreamSpec,
    pub passes: Vec<Progressive>,
    steps: u64,
    n: f64,
    /// Steps that the mean of weights is over, where there is one.
    averaged: Option<u64>,
    unfinished: Option<Unfinished>,
}

/// A pass that was interrupted.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Unfinished {
    source: String,
    tally: Tally,
}

/// Tables beside the weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamTensors {
    weights: Vec<f32>,
    squares: Vec<f32>,
    largest: Vec<f32>,
    sum: Vec<f64>,
}

/// Puts into a model what going on takes.
pub(super) fn keep(
    model: &mut Model,
    learner: &mut Learner,
    passes: &[Progressive],
    unfinished: Option<(String, Tally)>,
) {
    let state = learner.state();
    let averaged = state.sum.as_ref().map(|(_, steps)| *steps);
    model.about.stream = Some(AboutStream {
        spec: learner.spec().clone(),
        passes: passes.to_vec(),
        steps: state.steps,
        n: state.n,
        averaged,
        unfinished: unfinished.map(|(source, tally)| Unfinished { source, tally }),
    });
    model.stream = Some(StreamTensors {
        // Without a mean the weights now are those of the model.
        weights: if averaged.is_some() { state.weights } else { Vec::new() },
        squares: state.squares,
        largest: state.largest,
        sum: state.sum.map(|(sum, _)| sum).unwrap_or_default(),
    });
}

/// A name, a shape and the data of a tensor.
type Tensor<'a> = (&'a str, Vec<usize>, TensorData<'a>);

/// The tables of a model that are not empty: its own, or those of the file that it was loaded from.
pub(crate) fn tensors(model: &Model) -> Vec<Tensor<'_>> {
    let named = |name, n, data| (name, vec![n], data);
    let all = match (&model.stream, &model.weights) {
        (Some(t), _) => vec![
            named(WEIGHTS, t.weights.len(), TensorData::F32(&t.weights)),
            named(SQUARES, t.squares.len(), TensorData::F32(&t.squares)),
            named(LARGEST, t.largest.len(), TensorData::F32(&t.largest)),
            named(SUM, t.sum.len(), TensorData::F64(&t.sum)),
        ],
        (None, Weights::Mapped(file)) => {
            let of = |name| Some((name, file.shape(name)?.to_vec(), file.tensor(name)?));
            [WEIGHTS, SQUARES, LARGEST, SUM].into_iter().filter_map(of).collect()
        }
        _ => Vec::new(),
    };
    all.into_iter().filter(|(_, shape, _)| shape != &[0]).collect()
}

/// Goes on where a model left off.
pub(super) fn take_up(
    model: Model,
    source: &Source,
    options: &ReadOptions,
) -> Result<Start, Error> {
    let Some(about) = model.about.stream.clone() else {
        return Err(Error::request(
            "the model was not trained with --stream: its file does not have what going on takes; train it anew with \
             --stream",
        ));
    };
    let mut schema = model.about.schema.clone();
    let n_features = schema.n_features;
    // A file of another format has other columns: the reader says so.
    schema.format = options.format.filter(|f| !f.is_table()).unwrap_or(schema.format);
    let state = state(&model, &about)?;
    let (spec, n_classes) = (about.spec.clone(), schema.classes.len());
    let learner = Learner::resume(spec, n_features, n_classes, state).ok_or_else(|| {
        Error::request("the model's file contradicts itself: what it keeps of the stream does not fit its weights")
    })?;
    let name = source.name();
    // A pipe of the same name brings other rows.
    let same = |u: &Unfinished| u.source == name && !source.comes_once();
    let unfinished = about.unfinished.filter(same).map(|u| u.tally);
    let features = model.features.clone();
    let warnings = Vec::new();
    Ok(Start { learner, schema, features, passes: about.passes, unfinished, warnings })
}

fn state(model: &Model, about: &AboutStream) -> Result<OnlineState, Error> {
    let bytes;
    let file = match &model.weights {
        Weights::Mapped(file) => file,
        // Just trained, and never written.
        _ => {
            bytes = ModelFile::from_bytes(model.to_bytes()?)?;
            &bytes
        }
    };
    let weights = match about.averaged {
        Some(_) => file.f32(WEIGHTS)?.unwrap_or_default(),
        None => file.f32(crate::weights::TENSOR)?.unwrap_or_default(),
    };
    let sum = match about.averaged {
        Some(steps) => Some((file.f64(SUM)?.unwrap_or_default().to_vec(), steps)),
        None => None,
    };
    Ok(OnlineState {
        n_rows: model.n_rows(),
        n_columns: model.n_outputs(),
        steps: about.steps,
        weights: weights.to_vec(),
        squares: file.f32(SQUARES)?.unwrap_or_default().to_vec(),
        largest: file.f32(LARGEST)?.unwrap_or_default().to_vec(),
        n: about.n,
        sum,
    })
}
