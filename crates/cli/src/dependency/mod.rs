//! `--task dependency`: a head and a relation for each word of a sentence.

mod metrics;
mod task;
mod write;
