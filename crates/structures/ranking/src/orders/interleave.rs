//! Two kinds of documents, each in its own order, put into one: where each of the lower kind goes.

use std::ops::Range;

/// For each document of the lower kind how many of the upper kind stand above it.
///
/// `gain(j, i)` is what is gained if the j-th lower document stands right below the first i upper ones, in place of below all `n_upper`, whatever the others do; the first i of those that gain most is
/// taken. It must be that the lower documents later in the list gain less by moving up: gain(j, i) − gain(j, i′) falls with j for i < i′. Then the places rise with j, and that of the
/// middle document halves the places of those before and after it: (upper + lower) · log(lower) calls.
pub(super) fn interleave(n_upper: usize, above: &mut [u32], gain: &dyn Fn(usize, usize) -> f64) {
    place(0, above, 0..n_upper + 1, gain);
}

fn place(first: usize, above: &mut [u32], range: Range<usize>, gain: &dyn Fn(usize, usize) -> f64) {
    if above.is_empty() {
        return;
    }
    let middle = above.len() / 2;
    let mut best = (range.start, gain(first + middle, range.start));
    for i in range.start + 1..range.end {
        let gain = gain(first + middle, i);
        if gain > best.1 {
            best = (i, gain);
        }
    }
    above[middle] = best.0 as u32;
    let (before, after) = above.split_at_mut(middle);
    place(first, before, range.start..best.0 + 1, gain);
    place(first + middle + 1, &mut after[1..], best.0..range.end, gain);
}
