//! `--task declared`.

mod task;
mod write;
