//! `--task segment`.

mod picture;
mod task;
mod write;
