//! `--task tag`: a label for each position of a sequence.

mod advice;
pub mod convert;
pub mod demo;
mod inspect;
mod metrics;
mod mistakes;
mod task;
pub mod weights;
mod write;
