//! Sorting by small numbers.

/// Sorts entries `column << 32 | anything` by column, where columns are below `n_cols`. `buffer` is for its use.
pub(crate) fn sort_row(row: &mut Vec<u64>, buffer: &mut Vec<u64>, n_cols: usize) {
    // Below this many, comparing is as fast: measured on rows of 20 Newsgroups.
    if row.len() < 128 {
        return row.sort_unstable();
    }
    buffer.resize(row.len(), 0);
    radix_sort(row, buffer, n_cols.saturating_sub(1) as u64, |entry| entry >> 32);
}

/// Sorts by a key that is at most `most`, equals as they were. `buffer` is as long as the items.
pub(crate) fn radix_sort<T: Copy>(
    items: &mut Vec<T>,
    buffer: &mut Vec<T>,
    most: u64,
    key: impl Fn(&T) -> u64,
) {
    // As few passes as digits of nine bits allow, then digits as small as that allows.
    let bits = 64 - most.leading_zeros();
    let n_passes = bits.div_ceil(9);
    let width = bits.div_ceil(n_passes.max(1));
    for pass in 0..n_passes {
        let digit = |item: &T| (key(item) >> (pass * width)) as usize & ((1 << width) - 1);
        let mut starts = [0u32; 512];
        for item in items.iter() {
            starts[digit(item) & 511] += 1;
        }
        let mut sum = 0;
        for start in &mut starts[..1 << width] {
            sum += std::mem::replace(start, sum);
        }
        for item in items.iter() {
            let at = &mut starts[digit(item) & 511];
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
            radix_sort(&mut row, &mut buffer, n_cols as u64, |entry| entry >> 32);
            prop_assert_eq!(row, want);
        }
    }
}
