//! Trained weights in either precision, in memory or mapped from a file.

use lineal_linalg::Scalar;
use lineal_model::file::{ModelFile, TensorData};
use std::sync::Arc;

/// The name of the tensor that holds the weights.
pub(crate) const TENSOR: &str = "weights";

/// Feature-major weights, the bias last.
#[derive(Clone, Debug)]
pub(crate) enum Weights {
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Borrowed from a model file; its tensor was checked when the model was loaded.
    Mapped(Arc<ModelFile>),
    /// Of a file that holds only [some rows](crate::predict::sparse_rows) or [no zeros](crate::predict::packed): all of them, and the file.
    Spread(Box<Weights>, Arc<ModelFile>),
}

/// A number type that weights come in.
pub(crate) trait Number: Scalar {
    fn own(w: Vec<Self>) -> Weights;
}

impl Number for f32 {
    fn own(w: Vec<f32>) -> Weights {
        Weights::F32(w)
    }
}

impl Number for f64 {
    fn own(w: Vec<f64>) -> Weights {
        Weights::F64(w)
    }
}

/// Runs `$body` with `$w` bound to the weights as a slice of their own type.
macro_rules! with_weights {
    ($weights:expr, $w:ident => $body:expr) => {
        match $weights.as_tensor() {
            lineal_model::file::TensorData::F32($w) => $body,
            lineal_model::file::TensorData::F64($w) => $body,
            _ => unreachable!("weights are checked to be f32 or f64 when they are made"),
        }
    };
}
pub(crate) use with_weights;

impl Weights {
    pub(crate) fn as_tensor(&self) -> TensorData<'_> {
        match self {
            Weights::F32(w) => TensorData::F32(w),
            Weights::F64(w) => TensorData::F64(w),
            Weights::Mapped(file) => file.checked_tensor(TENSOR).unwrap_or(TensorData::F32(&[])),
            Weights::Spread(all, _) => all.as_tensor(),
        }
    }

    /// The file that they were loaded from.
    pub(crate) fn file(&self) -> Option<&ModelFile> {
        match self {
            Weights::F32(_) | Weights::F64(_) => None,
            Weights::Mapped(file) | Weights::Spread(_, file) => Some(file),
        }
    }

    /// One weight.
    pub(crate) fn get(&self, at: usize) -> f64 {
        with_weights!(self, w => w[at].to_f64())
    }

    /// All of them, widened.
    pub(crate) fn to_f64(&self) -> Vec<f64> {
        with_weights!(self, w => w.iter().map(|w| w.to_f64()).collect())
    }
}
