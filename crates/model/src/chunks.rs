//! Examples in all threads.

use rayon::prelude::*;
use std::ops::Range;

/// Examples that a thread takes at a time.
const CHUNK: usize = 32;

/// Runs `f` on chunks of the examples 0..n in all threads of the current pool, each thread with memory of its own; the results come in order.
pub fn in_chunks<S, T: Send>(
    n: usize,
    scratch: impl Fn() -> S + Send + Sync,
    f: impl Fn(&mut S, Range<usize>) -> T + Sync,
) -> Vec<T> {
    let chunks = (0..n.div_ceil(CHUNK)).into_par_iter();
    chunks.map_init(scratch, |s, c| f(s, c * CHUNK..n.min((c + 1) * CHUNK))).collect()
}
