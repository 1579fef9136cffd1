//! Training on files larger than memory: one pass or a few, a chunk of rows at a time, each row scored before it is learnt from.
//!
//! A row that is judged before it is learnt from is a row that training did not see: over the first pass the mean of these judgements is an honest
//! estimate of the error on new rows (progressive validation). In later passes it is not, and is told apart.
//!
//! Memory is the weights, what the update rule keeps beside them, and a few chunks, however long the file is. What is needed to go on lives in the model's
//! file: [`Streaming::resume`] takes it up, with more rows of the same file, another pass, or other files, and classes that are new.

mod kept;
#[cfg(feature = "train")]
mod learner;
#[cfg(feature = "train")]
mod maker;
#[cfg(feature = "train")]
mod places;
mod progress;
#[cfg(feature = "train")]
mod resume;
#[cfg(feature = "train")]
mod run;
mod spec;
#[cfg(feature = "train")]
mod streaming;

pub(crate) use kept::{AboutStream, StreamTensors, tensors};
pub use progress::Progressive;
#[cfg(feature = "train")]
pub use progress::{StreamPoint, StreamReport};
pub use spec::StreamSpec;
#[cfg(feature = "train")]
pub use streaming::{OnCheckpoint, OnChunk, Streaming};
