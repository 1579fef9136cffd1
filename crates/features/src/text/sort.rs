//! Sorting by small numbers.

/// Sorts entries `column << 32 | anything` by column, where columns are below `n_cols`. `buffer` is for its use.
pub(crate) fn sort_row(row: &mut Vec<u64>, buffer: &mut Vec<u64>, n_cols: usize) {
    sort_short(row, buffer, n_cols, |entry| entry >> 32);
}

/// Sorts numbers by a key below `n_keys`. `buffer` is for its use.
pub(crate) fn sort_ids(
    ids: &mut Vec<u32>,
    buffer: &mut Vec<u32>,
    n_keys: usize,
    key: impl Fn(u32) -> u32,
) {
    sort_short(ids, buffer, n_keys, |&id| u64::from(key(id)));
}

#[inline]
fn sort_short<T: Copy + Default>(
    items: &mut Vec<T>,
    buffer: &mut Vec<T>,
    n_keys: usize,
    key: impl Fn(&T) -> u64,
) {
    // Below this many, comparing is as fast: measured on rows of 20 Newsgroups.
    if items.len() < 128 {
        return items.sort_unstable_by_key(key);
    }
    buffer.resize(items.len(), T::default());
    radix_sort(items, buffer, &mut [0; 512], n_keys.saturating_sub(1) as u64, key);
}

/// Sorts by a key that is at most `most`, equals as they were. `buffer` is as long as the items; `starts` has a power of two of
/// counts for a digit.
///
/// More counts mean fewer passes; but each pass goes through all of them, and writes in as many places.
pub(crate) fn radix_sort<T: Copy>(
    items: &mut Vec<T>,
    buffer: &mut Vec<T>,
    starts: &mut [u32],
    most: u64,
    key: impl Fn(&T) -> u64,
) {
    // As few passes as there can be, then digits as small as that many passes allow.
    let bits = 64 - most.leading_zeros();
    let n_passes = bits.div_ceil(starts.len().ilog2());
    let width = bits.div_ceil(n_passes.max(1));
    let starts = &mut starts[..1 << width];
    for pass in 0..n_passes {
        let digit = |item: &T| (key(item) >> (pass * width)) as usize & ((1 << width) - 1);
        starts.fill(0);
        for item in items.iter() {
            starts[digit(item)] += 1;
        }
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += std::mem::replace(start, sum);
        }
        for item in items.iter() {
            let at = &mut starts[digit(item)];
            buffer[*at as usize] = *item;
            *at += 1;
        }
        std::mem::swap(items, buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_sorted(mut row in prop::collection::vec(0u64..1 << 50, 0..400), extra in 0usize..5) {
            let mut want = row.clone();
            want.sort_by_key(|entry| entry >> 32);
            let (mut short, mut buffer) = (row.clone(), Vec::new());
            short.truncate(100);
            let n_cols = (1 << 18) + extra;
            sort_row(&mut short, &mut buffer, n_cols);
            prop_assert!(short.is_sorted_by_key(|entry| entry >> 32));
            buffer.resize(row.len(), 0);
            radix_sort(&mut row, &mut buffer, &mut [0; 64], n_cols as u64, |entry| entry >> 32);
            prop_assert_eq!(row, want);
        }
    }
}
