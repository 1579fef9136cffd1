//! `--task declared`.

mod compare_local;
mod task;
mod write;
