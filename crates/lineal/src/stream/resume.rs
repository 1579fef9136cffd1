//! From a model's file back to a learner, so that a stream goes on where it ended.

use super::kept::{AboutStream, LARGEST, SQUARES, SUM, StreamTensors, Unfinished, WEIGHTS};
use super::learner::Learner;
use super::places::Places;
use super::progress::Tally;
use super::run::Start;
use super::{Progressive, StreamSpec};
use crate::Error;
use crate::predict::model::Model;
use crate::predict::sparse_rows;
use crate::train::weights::{TENSOR, Weights};
use lineal_data::{Format, ReadOptions, Source};
use lineal_linalg::Scalar;
use lineal_model::file::ModelFile;
use lineal_solver::OnlineState;

/// Puts into a model what going on takes. The weights that it predicts with are already there.
pub(super) fn keep(
    model: &mut Model,
    spec: StreamSpec,
    state: OnlineState,
    passes: &[Progressive],
    unfinished: Option<(String, Tally)>,
    n_indices: Option<usize>,
) {
    model.about.stream = Some(AboutStream {
        spec,
        passes: passes.to_vec(),
        steps: state.steps,
        n: state.n,
        averaged: state.sum.as_ref().map(|(_, steps)| *steps),
        n_indices,
        unfinished: unfinished.map(|(source, tally)| Unfinished { source, tally }),
    });
    model.stream = Some(StreamTensors {
        weights: state.weights,
        squares: state.squares,
        largest: state.largest,
        sum: state.sum.map(|(sum, _)| sum).unwrap_or_default(),
    });
}

/// Takes out of a model what was [put into it](keep); `None` if it is not of this run.
pub(super) fn give_back(model: Model) -> Option<OnlineState> {
    let (n_rows, n_columns) = (model.n_rows(), model.n_outputs());
    let (about, tables) = (model.about.stream?, model.stream?);
    let Weights::F32(weights) = model.weights else { return None };
    let sum = about.averaged.map(|steps| (tables.sum, steps));
    Some(OnlineState {
        n_rows,
        n_columns,
        steps: about.steps,
        weights: if sum.is_some() { tables.weights } else { weights },
        squares: tables.squares,
        largest: tables.largest,
        n: about.n,
        sum,
    })
}

/// Goes on where a model left off.
pub(super) fn take_up(
    model: Model,
    source: &Source,
    options: &ReadOptions,
) -> Result<Start, Error> {
    let Some(about) = model.about.stream.clone() else {
        return Err(Error::request(
            "the model was not trained with lineal::Streaming, so its file lacks what is needed to continue; train a new model with \
             lineal::Streaming",
        ));
    };
    let mut schema = model.about.schema.clone();
    let contradiction = || {
        Error::request(
            "the model's file contradicts itself: what it keeps of the stream does not fit its weights",
        )
    };
    let places =
        places(schema.n_features, schema.feature_ids.take(), &about).ok_or_else(contradiction)?;
    // A file of another format has other columns: the reader says so.
    schema.format = options.format.filter(|f| !f.is_table()).or(schema.format);
    let state = state(&model, &about)?;
    let (spec, n_classes) = (about.spec.clone(), schema.classes.len());
    let by_index = schema.format == Some(Format::Svmlight);
    let learner = Learner::resume(spec, places, by_index, n_classes, state);
    let learner = learner.ok_or_else(contradiction)?;
    let name = source.name();
    // A pipe of the same name brings other rows.
    let same = |u: &Unfinished| u.source == name && !source.comes_once();
    let unfinished = about.unfinished.filter(same).map(|u| u.tally);
    let features = model.features.clone();
    let calibration = model.about.calibration.clone();
    let (sampling, passes, warnings) = (None, about.passes, Vec::new());
    Ok(Start { learner, schema, features, sampling, passes, unfinished, calibration, warnings })
}

/// Which indices the features are; `None` if they cannot be.
fn places(n_features: usize, ids: Option<Vec<u32>>, about: &AboutStream) -> Option<Places> {
    let Some(ids) = ids else { return Some(Places { ids: None, n_indices: n_features }) };
    let fits = ids.len() == n_features && ids.first() != Some(&0) && ids.is_sorted_by(|a, b| a < b);
    let n_indices = about.n_indices.unwrap_or(0).max(ids.last().map_or(0, |&id| id as usize));
    let fits = fits && n_indices < u32::MAX as usize;
    fits.then(|| Places { ids: Some(ids.into_iter().map(|id| id - 1).collect()), n_indices })
}

fn state(model: &Model, about: &AboutStream) -> Result<OnlineState, Error> {
    let bytes;
    let file = match model.weights.file() {
        Some(file) => file,
        // Just trained, and never written.
        None => {
            bytes = ModelFile::from_bytes(model.to_bytes()?)?;
            &bytes
        }
    };
    let (n_rows, n_columns) = (model.n_rows(), model.n_outputs());
    let rows = sparse_rows::checked(file, n_rows, n_columns)?;
    let table = |name| -> Result<Vec<f32>, Error> {
        Ok(all_rows(file.f32(name)?.unwrap_or_default(), n_rows, rows))
    };
    let sum = match about.averaged {
        Some(steps) => Some((all_rows(file.f64(SUM)?.unwrap_or_default(), n_rows, rows), steps)),
        None => None,
    };
    Ok(OnlineState {
        n_rows,
        n_columns,
        steps: about.steps,
        weights: table(if sum.is_some() { WEIGHTS } else { TENSOR })?,
        squares: table(SQUARES)?,
        largest: table(LARGEST)?,
        n: about.n,
        sum,
    })
}

/// A table of a file with all of its rows. One that does not have as many as it should stays as it is, and is refused later.
fn all_rows<F: Scalar>(table: &[F], n_rows: usize, rows: Option<&[u32]>) -> Vec<F> {
    match rows {
        Some(rows) if !table.is_empty() && table.len().is_multiple_of(rows.len()) => {
            sparse_rows::spread(table, n_rows, rows)
        }
        _ => table.to_vec(),
    }
}
