//! How often each number occurs in a list.

/// Counts by a small hash table that stays in the nearest cache.
#[derive(Default)]
pub(crate) struct Counter {
    /// number << 32 | 1 + place among the entries; 0 is empty.
    slots: Vec<u64>,
    /// (number, count), in order of first occurrence.
    entries: Vec<(u32, u32)>,
}

impl Counter {
    /// Each number of the list that is at most `most` once, with its count, in order of first occurrence.
    pub(crate) fn count(&mut self, numbers: &[u32], most: u32) -> &[(u32, u32)] {
        let capacity = (numbers.len() * 2).next_power_of_two().max(16);
        if self.slots.len() < capacity {
            self.slots.resize(capacity, 0);
        }
        let slots = &mut self.slots[..capacity];
        slots.fill(0);
        self.entries.clear();
        let shift = 32 - capacity.trailing_zeros().min(32);
        for &number in numbers {
            if number > most {
                continue;
            }
            let mut at = (number.wrapping_mul(0x9e37_79b1) >> shift) as usize & (capacity - 1);
            loop {
                let slot = slots[at];
                if slot == 0 {
                    self.entries.push((number, 1));
                    slots[at] = u64::from(number) << 32 | self.entries.len() as u64;
                    break;
                }
                if (slot >> 32) as u32 == number {
                    self.entries[(slot as u32 - 1) as usize].1 += 1;
                    break;
                }
                at = (at + 1) & (capacity - 1);
            }
        }
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_as_a_map_does(numbers in prop::collection::vec(prop_oneof![0u32..40, any::<u32>()], 0..300)) {
            let mut want = BTreeMap::new();
            for &n in numbers.iter().filter(|&&n| n <= u32::MAX / 2) {
                *want.entry(n).or_insert(0u32) += 1;
            }
            let mut counter = Counter::default();
            counter.count(&[7; 1000], 8);
            let mut got = counter.count(&numbers, u32::MAX / 2).to_vec();
            got.sort_unstable();
            prop_assert_eq!(got, want.into_iter().collect::<Vec<_>>());
        }
    }
}
