//! `--task constituency`: a bracketed tree over the words of a sentence.

mod task;
mod write;
