//! Sums over examples in parallel, with the same bits at any number of threads.

use lineal_linalg::Scalar;
use lineal_solver::Interrupt;
use rayon::prelude::*;
use std::ops::Range;

/// What to do with a shard's examples and its slice of numbers. Dynamic, once a shard: with a generic parameter every loss, space
/// and number type had its own copy of the thread pool's code, and the release build took minutes.
type PerShard<'f, F> = &'f (dyn Fn(Shard<'_>, &mut [F]) -> f64 + Sync);

/// The same with two slices of numbers.
type PerShardOfTwo<'f, F> = &'f (dyn Fn(Shard<'_>, &mut [F], &mut [F]) + Sync);

/// The examples of a shard, one after the other; none any more once the run is interrupted, whose numbers nobody reads.
#[derive(Clone)]
pub(crate) struct Shard<'i> {
    range: Range<usize>,
    interrupt: &'i Interrupt,
}

impl Shard<'_> {
    /// The next example.
    pub(crate) fn start(&self) -> usize {
        self.range.start
    }

    /// One after the last example.
    pub(crate) fn end(&self) -> usize {
        self.range.end
    }

    /// Runs of `n` examples.
    pub(crate) fn batches(self, n: usize) -> impl Iterator<Item = Range<usize>> {
        let Self { range, interrupt } = self;
        let end = range.end;
        let batch = move |start: usize| start..(start + n).min(end);
        range.step_by(n).take_while(|_| !interrupt.is_stopped()).map(batch)
    }
}

impl Iterator for Shard<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.interrupt.is_stopped() { None } else { self.range.next() }
    }
}

/// A fixed division of the examples. It depends on the problem alone, never on the number of threads.
#[derive(Debug)]
pub(crate) struct Shards<F> {
    ranges: Vec<Range<usize>>,
    dim: usize,
    buffers: Vec<Vec<F>>,
    interrupt: Interrupt,
}

impl<F: Scalar> Shards<F> {
    /// As many shards as their gradients' cost allows: each shard has a buffer of `dim` numbers to clear and to add, which must
    /// stay small beside its share of the `work`.
    pub(crate) fn new(n: usize, dim: usize, work: usize) -> Self {
        let count = (work / (16 * dim.max(1))).clamp(1, 16).min(n.max(1));
        let ranges = (0..count).map(|s| s * n / count..(s + 1) * n / count).collect();
        Self { ranges, dim, buffers: Vec::new(), interrupt: Interrupt::current() }
    }

    /// No examples: a place to put shards while what holds them is lent.
    pub(crate) fn none() -> Self {
        Self { ranges: Vec::new(), dim: 0, buffers: Vec::new(), interrupt: Interrupt::current() }
    }

    /// Gives the memory of sums back until the next one.
    pub(crate) fn forget(&mut self) {
        self.buffers = Vec::new();
    }

    /// Runs `f` on every shard; what they gave, in order.
    pub(crate) fn map<T: Send>(&self, f: &(dyn Fn(Shard<'_>) -> T + Sync)) -> Vec<T> {
        let interrupt = &self.interrupt;
        let shard = |range: &Range<usize>| Shard { range: range.clone(), interrupt };
        self.ranges.par_iter().map(|range| f(shard(range))).collect()
    }

    /// [`fill`](Self::fill) of two slices.
    pub(crate) fn fill_two(
        &self,
        one: &mut [F],
        other: &mut [F],
        width: usize,
        f: PerShardOfTwo<'_, F>,
    ) {
        let interrupt = &self.interrupt;
        let mut pieces = Vec::with_capacity(self.ranges.len());
        let (mut rest, mut rest_of_other) = (one, other);
        for range in &self.ranges {
            let (piece, after) = rest.split_at_mut(range.len() * width);
            let (piece_of_other, after_other) = rest_of_other.split_at_mut(range.len() * width);
            pieces.push((Shard { range: range.clone(), interrupt }, piece, piece_of_other));
            (rest, rest_of_other) = (after, after_other);
        }
        pieces.into_par_iter().for_each(|(shard, one, other)| f(shard, one, other));
    }

    /// Runs `f` on every shard with a zeroed buffer; the buffers' sum overwrites `out`, the numbers' sum is returned.
    pub(crate) fn accumulate(&mut self, out: &mut [F], f: PerShard<'_, F>) -> f64 {
        self.buffers.resize_with(self.ranges.len() - 1, || vec![F::ZERO; self.dim]);
        out.fill(F::ZERO);
        let interrupt = &self.interrupt;
        let shard = |range: &Range<usize>| Shard { range: range.clone(), interrupt };
        let (first, rest) = self.ranges.split_at(1);
        let (head, tail) = rayon::join(
            || f(shard(&first[0]), &mut *out),
            || -> Vec<f64> {
                self.buffers
                    .par_iter_mut()
                    .zip(rest)
                    .map(|(buffer, range)| {
                        buffer.fill(F::ZERO);
                        f(shard(range), buffer)
                    })
                    .collect()
            },
        );
        // Each weight adds its shards in order, so blocks of weights may go in parallel.
        if !self.buffers.is_empty() {
            const BLOCK: usize = 1 << 14;
            let buffers = &self.buffers;
            out.par_chunks_mut(BLOCK).enumerate().for_each(|(b, out)| {
                for buffer in buffers {
                    for (o, &v) in out.iter_mut().zip(&buffer[b * BLOCK..]) {
                        *o += v;
                    }
                }
            });
        }
        head + tail.iter().sum::<f64>()
    }

    /// Runs `f` on every shard; the numbers' sum in order.
    pub(crate) fn sum(&self, f: &(dyn Fn(Shard<'_>) -> f64 + Sync)) -> f64 {
        let interrupt = &self.interrupt;
        let shard = |range: &Range<usize>| Shard { range: range.clone(), interrupt };
        let parts: Vec<f64> = self.ranges.par_iter().map(|range| f(shard(range))).collect();
        parts.iter().sum()
    }

    /// Runs `f` on every shard with its part of `per_example`, which has `width` numbers an example; the numbers' sum in order.
    pub(crate) fn fill(&self, per_example: &mut [F], width: usize, f: PerShard<'_, F>) -> f64 {
        let interrupt = &self.interrupt;
        let mut pieces = Vec::with_capacity(self.ranges.len());
        let mut rest = per_example;
        for range in &self.ranges {
            let (piece, after) = rest.split_at_mut(range.len() * width);
            pieces.push((Shard { range: range.clone(), interrupt }, piece));
            rest = after;
        }
        let parts: Vec<f64> =
            pieces.into_par_iter().map(|(shard, piece)| f(shard, piece)).collect();
        parts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn an_interrupt_ends_a_shard() {
        let (interrupt, seen) = (Interrupt::new(), AtomicUsize::new(0));
        let mut shards = interrupt.scope(|| Shards::<f64>::new(10_000, 1, 16));
        let mut out = [0.0];
        shards.accumulate(&mut out, &|shard, _| {
            for i in shard {
                seen.fetch_add(1, Ordering::Relaxed);
                if i == 10 {
                    interrupt.stop();
                }
            }
            0.0
        });
        assert_eq!(seen.load(Ordering::Relaxed), 11);
    }
}
