//! `--task tag`: a label for each position of a sequence.

pub mod demo;
mod inspect;
mod metrics;
mod task;
mod write;
