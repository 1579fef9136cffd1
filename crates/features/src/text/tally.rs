//! How often each number occurs in a list, in order of the numbers.
//!
//! Numbers of features are small, so each has a place of its own to be counted at, and a bit that says whether it was. Then bits are read in
//! order: nothing is sorted, and nothing is compared. What rows have in common is numbered low, so most places are in the nearest caches.

/// Counts by an array with a place for each number.
#[derive(Default)]
pub(crate) struct Tally {
    /// One more than there are numbers: the last is for all others.
    counts: Vec<u32>,
    /// A bit for each count that is not 0.
    used: Vec<u64>,
    /// A bit for each word of `used` that is not 0.
    used_words: Vec<u64>,
}

/// There are places for up to so many numbers.
pub(crate) const MOST: usize = 1 << 22;

impl Tally {
    /// Calls `f(number, count)` for each number of the list that is below `n`, once and in order.
    #[inline]
    pub(crate) fn count(&mut self, numbers: &[u32], n: usize, f: impl FnMut(u32, u32)) {
        self.add_up(numbers.iter().map(|&number| (number, 1)), n, f);
    }

    /// The same, where each number comes with what it counts.
    #[inline]
    pub(crate) fn add_up(
        &mut self,
        numbers: impl Iterator<Item = (u32, u32)>,
        n: usize,
        mut f: impl FnMut(u32, u32),
    ) {
        if self.counts.len() <= n {
            let room = n.next_power_of_two().max(1 << 12);
            // Between calls everything is 0. New arrays come from the system as zeros, and only places that are used are ever touched; to grow the old ones would write all
            // of them: 8 MB for a few texts and a million words, a third of the time of a request to a server.
            self.counts = vec![0; room + 1];
            self.used = vec![0; room / 64 + 1];
            self.used_words = vec![0; room / 4096 + 1];
        }
        let (counts, used) = (self.counts.as_mut_slice(), self.used.as_mut_slice());
        let used_words = self.used_words.as_mut_slice();
        for (number, count) in numbers {
            // Others are counted too, where nobody looks: whether a word is known is anyone's guess.
            let at = (number as usize).min(n);
            counts[at] = counts[at].wrapping_add(count);
            used[at / 64] |= 1 << (at % 64);
            used_words[at / 4096] |= 1 << (at / 64 % 64);
        }
        counts[n] = 0;
        used[n / 64] &= !(1 << (n % 64));
        for (i, words) in used_words[..=n / 4096].iter_mut().enumerate() {
            let mut words = std::mem::take(words);
            while words != 0 {
                let word = 64 * i + words.trailing_zeros() as usize;
                words &= words - 1;
                let mut bits = std::mem::take(&mut used[word]);
                while bits != 0 {
                    let number = 64 * word + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    f(number as u32, std::mem::take(&mut counts[number]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_as_a_map_does(
            lists in prop::collection::vec(
                (prop::collection::vec(prop_oneof![0u32..40, 4000u32..9000, any::<u32>()], 0..300), 1usize..9000),
                1..4,
            )
        ) {
            let mut tally = Tally::default();
            for (numbers, n) in lists {
                let mut want = BTreeMap::new();
                for &number in numbers.iter().filter(|&&number| (number as usize) < n) {
                    *want.entry(number).or_insert(0u32) += 1;
                }
                let mut got = Vec::new();
                tally.count(&numbers, n, |number, count| got.push((number, count)));
                prop_assert_eq!(got, want.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
