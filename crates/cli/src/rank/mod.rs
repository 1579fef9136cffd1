//! `--task rank`: the order of the documents of a query.

mod task;
mod write;
