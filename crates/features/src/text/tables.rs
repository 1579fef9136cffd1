//! A hash table from strings to numbers, and one from pairs of numbers to numbers.
//!
//! Strings are looked up where they stand in a buffer, without a copy. Up to seven bytes a string *is* its 64-bit key
//! (bytes, then length), so that most words cost one load, one multiplication and one comparison; a longer one is
//! hashed into its key and compared with the stored bytes. An n-gram of words is not a string at all but a pair: the
//! n-gram without its last word, and that word. Its name is put together when someone asks.

use std::hint::black_box;

/// The number of nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// How many readable bytes must follow a string in its buffer.
pub(crate) const PAD: usize = 8;

/// The pad itself.
pub(crate) const ZEROS: &str = "\0\0\0\0\0\0\0\0";

/// Lookups that are prepared together: 64 cache lines are a fraction of the nearest cache.
const AHEAD: usize = 64;

/// The most strings in a table.
const MOST: usize = (1 << 31) - 1;

/// A table grows when it is fuller than 5/8: at linear probing, 1.8 looks a hit and 4 a miss.
fn is_full(len: usize, capacity: usize) -> bool {
    len * 8 >= capacity * 5
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn load(buffer: &[u8], at: usize) -> u64 {
    let bytes: [u8; 8] = buffer[at..at + 8].try_into().expect("eight bytes");
    u64::from_le_bytes(bytes)
}

/// The key of a string: never 0, and equal keys mean equal strings unless the top bit is set.
#[inline(always)]
pub(crate) fn key(buffer: &[u8], start: usize, end: usize) -> u64 {
    let len = end - start;
    if len < 8 {
        let bytes = load(buffer, start) & !(u64::MAX << (8 * len));
        bytes | (len as u64 + 1) << 56
    } else {
        long_key(buffer, start, end)
    }
}

#[inline]
fn long_key(buffer: &[u8], start: usize, end: usize) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15;
    let mut at = start;
    while at + 8 <= end {
        hash = fold(hash ^ load(buffer, at), 0xa076_1d64_78bd_642f);
        at += 8;
    }
    // The last eight bytes again, overlapping: no tail to mask.
    hash = fold(hash ^ load(buffer, end - 8), 0xe703_7ed1_a0b4_28db);
    hash >> 8 | LONG | ((end - start).min(127) as u64) << 56
}

/// The top bit of a long string's key. Its length, or 127 if that is more, is in the seven bits below.
const LONG: u64 = 1 << 63;

/// Whether the bytes of two strings that are as long, eight or more, are the same.
#[inline]
fn same(a: &[u8], a_start: usize, b: &[u8], b_start: usize, len: usize) -> bool {
    let (a, b) = (&a[a_start..a_start + len], &b[b_start..b_start + len]);
    let mut at = 0;
    while at + 8 <= len {
        if load(a, at) != load(b, at) {
            return false;
        }
        at += 8;
    }
    load(a, len - 8) == load(b, len - 8)
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    id: u32,
    /// Where the stored string starts.
    start: u32,
}

/// Strings with numbers.
#[derive(Clone)]
pub(crate) struct Strings {
    slots: Vec<Slot>,
    /// All strings, one after the other, then [`PAD`] zeros.
    bytes: Vec<u8>,
    ends: Vec<u32>,
    is_full: bool,
}

impl Default for Strings {
    fn default() -> Self {
        Self::with_capacity(16)
    }
}

impl Strings {
    pub(crate) fn with_capacity(n: usize) -> Self {
        let capacity = (n * 8 / 5 + 2).next_power_of_two();
        Self {
            slots: vec![Slot::default(); capacity],
            bytes: vec![0; PAD],
            ends: Vec::new(),
            is_full: false,
        }
    }

    /// How many strings are stored.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The `i`-th string stored.
    pub(crate) fn get(&self, i: usize) -> &[u8] {
        let (start, end) = self.span(i);
        &self.bytes[start..end]
    }

    /// Where the `i`-th string is in the buffer.
    pub(crate) fn span(&self, i: usize) -> (usize, usize) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        (start, self.ends[i] as usize)
    }

    /// All strings, padded.
    pub(crate) fn buffer(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a string may have found no number.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        fold(key, 0x8ebc_6af0_9c88_c6e3) as usize & (self.slots.len() - 1)
    }

    /// The slot of a string, or the empty one where it belongs.
    #[inline(always)]
    fn seek(&self, key: u64, buffer: &[u8], start: usize, end: usize) -> usize {
        let mut at = self.home(key);
        loop {
            let slot = &self.slots[at];
            if slot.key == 0
                || slot.key == key && (key < LONG || self.is_same(slot, buffer, start, end))
            {
                return at;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Whether the string of a slot with the same key is this long one.
    #[inline]
    fn is_same(&self, slot: &Slot, buffer: &[u8], start: usize, end: usize) -> bool {
        let len = end - start;
        if len < 127 {
            return same(&self.bytes, slot.start as usize, buffer, start, len); // the key says that it is as long
        }
        let i = self.ends.partition_point(|&end| end <= slot.start);
        self.get(i) == &buffer[start..end]
    }

    /// Appends the number of each string, or [`NONE`].
    pub(crate) fn find_all(&self, buffer: &[u8], spans: &[(usize, usize)], out: &mut Vec<u32>) {
        let mut keys = [0; AHEAD];
        for spans in spans.chunks(AHEAD) {
            self.touch(buffer, spans, &mut keys);
            out.extend(spans.iter().zip(&keys).map(|(&(start, end), &key)| {
                let slot = &self.slots[self.seek(key, buffer, start, end)];
                if slot.key == 0 { NONE } else { slot.id }
            }));
        }
    }

    /// Appends the number of each string: if it was not there, how many there were, or [`NONE`] if there is no room.
    pub(crate) fn intern_all(
        &mut self,
        buffer: &[u8],
        spans: &[(usize, usize)],
        out: &mut Vec<u32>,
    ) {
        let mut keys = [0; AHEAD];
        for spans in spans.chunks(AHEAD) {
            self.touch(buffer, spans, &mut keys);
            for (&(start, end), &key) in spans.iter().zip(&keys) {
                let at = self.seek(key, buffer, start, end);
                let slot = &self.slots[at];
                out.push(if slot.key != 0 {
                    slot.id
                } else {
                    self.insert(at, key, &buffer[start..end], self.ends.len() as u32)
                });
            }
        }
    }

    /// The keys of some strings, after a look at where each will be looked for, so that it is near when it is. All these
    /// reads can be under way at once, as those of lookups, each with a branch that depends on it, cannot.
    #[inline(always)]
    fn touch(&self, buffer: &[u8], spans: &[(usize, usize)], keys: &mut [u64; AHEAD]) {
        let mut seen = 0;
        for (&(start, end), slot) in spans.iter().zip(keys) {
            *slot = key(buffer, start, end);
            seen ^= self.slots[self.home(*slot)].key;
        }
        black_box(seen);
    }

    /// The number of a string, or [`NONE`].
    #[inline(always)]
    pub(crate) fn find(&self, buffer: &[u8], start: usize, end: usize) -> u32 {
        let slot = &self.slots[self.seek(key(buffer, start, end), buffer, start, end)];
        if slot.key == 0 { NONE } else { slot.id }
    }

    /// The number of a string; `new` if it was not there, or [`NONE`] if there is no room for it.
    #[inline(always)]
    pub(crate) fn find_or_insert(
        &mut self,
        buffer: &[u8],
        start: usize,
        end: usize,
        new: u32,
    ) -> u32 {
        let key = key(buffer, start, end);
        let at = self.seek(key, buffer, start, end);
        if self.slots[at].key != 0 {
            return self.slots[at].id;
        }
        self.insert(at, key, &buffer[start..end], new)
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, at: usize, key: u64, string: &[u8], id: u32) -> u32 {
        let start = self.bytes.len() - PAD;
        let (Ok(slot_start), Ok(end)) = (u32::try_from(start), u32::try_from(start + string.len()))
        else {
            self.is_full = true;
            return NONE;
        };
        if self.ends.len() >= MOST {
            self.is_full = true;
            return NONE;
        }
        self.slots[at] = Slot { key, id, start: slot_start };
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(string);
        self.bytes.extend_from_slice(ZEROS.as_bytes());
        self.ends.push(end);
        if is_full(self.ends.len(), self.slots.len()) {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![Slot::default(); old.len() * 2];
            for slot in old.into_iter().filter(|slot| slot.key != 0) {
                let mut at = self.home(slot.key);
                while self.slots[at].key != 0 {
                    at = (at + 1) & (self.slots.len() - 1);
                }
                self.slots[at] = slot;
            }
        }
        id
    }
}

/// Pairs (left, right) of numbers with a number; none is [`NONE`].
#[derive(Clone, Default)]
pub(crate) struct Pairs {
    /// left, right and number. A pair nobody entered has left [`NONE`].
    slots: Vec<[u32; 3]>,
    len: usize,
}

const EMPTY: [u32; 3] = [NONE; 3];

impl Pairs {
    pub(crate) fn with_capacity(n: usize) -> Self {
        let capacity = (n * 8 / 5 + 2).next_power_of_two();
        Self { slots: vec![EMPTY; capacity], len: 0 }
    }

    #[inline(always)]
    fn home(&self, left: u32, right: u32) -> usize {
        let pair = u64::from(left) << 32 | u64::from(right);
        let hash = fold(pair ^ 0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9);
        hash as usize & (self.slots.len() - 1)
    }

    #[inline(always)]
    fn seek(&self, left: u32, right: u32) -> usize {
        let mut at = self.home(left, right);
        loop {
            let slot = &self.slots[at];
            if slot[0] == NONE || (slot[0] == left && slot[1] == right) {
                return at;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// The number of a pair, or [`NONE`].
    #[inline(always)]
    pub(crate) fn find(&self, left: u32, right: u32) -> u32 {
        if left == NONE || right == NONE || self.len == 0 {
            return NONE;
        }
        self.slots[self.seek(left, right)][2]
    }

    /// Looks at where pairs will be looked for: see [`Strings::touch`]. There is room for some.
    #[inline(always)]
    pub(crate) fn touch(&self, pairs: impl Iterator<Item = (u32, u32)>) {
        black_box(pairs.fold(0, |seen, (l, r)| seen ^ self.slots[self.home(l, r)][0]));
    }

    /// Replaces each left number by that of its pair with the right one beside it, or [`NONE`].
    pub(crate) fn find_all(&self, lefts: &mut [u32], rights: &[u32]) {
        if self.len == 0 {
            return lefts.fill(NONE);
        }
        for (lefts, rights) in lefts.chunks_mut(AHEAD).zip(rights.chunks(AHEAD)) {
            self.touch(lefts.iter().copied().zip(rights.iter().copied()));
            for (left, &right) in lefts.iter_mut().zip(rights) {
                *left = self.find(*left, right);
            }
        }
    }

    /// The number of a pair; `new` if it was not there. Neither half is [`NONE`].
    pub(crate) fn find_or_insert(&mut self, left: u32, right: u32, new: u32) -> u32 {
        if is_full(self.len, self.slots.len()) {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![EMPTY; (old.len() * 2).max(16)];
            for slot in old.into_iter().filter(|slot| slot[0] != NONE) {
                let at = self.seek(slot[0], slot[1]);
                self.slots[at] = slot;
            }
        }
        let at = self.seek(left, right);
        let slot = &mut self.slots[at];
        if slot[0] == NONE {
            *slot = [left, right, new];
            self.len += 1;
        }
        slot[2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn padded(string: &str) -> String {
        format!("{string}{ZEROS}")
    }

    fn joined(words: &[String]) -> (String, Vec<(usize, usize)>) {
        let mut spans = Vec::new();
        let mut text = String::new();
        for word in words {
            spans.push((text.len(), text.len() + word.len()));
            text.push_str(word);
        }
        (text + ZEROS, spans)
    }

    #[test]
    fn strings_that_are_long_and_alike() {
        let words: Vec<String> =
            (100..160).flat_map(|n| ["a", "b"].map(|end| "x".repeat(n) + end)).collect();
        let (text, spans) = joined(&words);
        let mut strings = Strings::default();
        let (mut ids, mut again) = (Vec::new(), Vec::new());
        strings.intern_all(text.as_bytes(), &spans, &mut ids);
        strings.find_all(text.as_bytes(), &spans, &mut again);
        assert_eq!(ids, (0..120).collect::<Vec<u32>>());
        assert_eq!(ids, again);
    }

    #[test]
    fn length_tells_strings_apart_that_end_in_zeros() {
        let mut strings = Strings::default();
        for (i, string) in ["", "\0", "\0\0", "a", "a\0"].iter().enumerate() {
            let buffer = padded(string);
            let new = strings.find_or_insert(buffer.as_bytes(), 0, string.len(), i as u32);
            assert_eq!(new, i as u32);
        }
    }

    proptest! {
        #[test]
        fn a_table_is_a_map(words in prop::collection::vec("[ab]{0,12}", 0..200)) {
            let mut strings = Strings::with_capacity(0);
            let mut map = HashMap::new();
            for word in &words {
                let buffer = padded(word);
                let new = map.len() as u32;
                let want = *map.entry(word.clone()).or_insert(new);
                prop_assert_eq!(strings.find_or_insert(buffer.as_bytes(), 0, word.len(), new), want);
            }
            prop_assert_eq!(strings.len(), map.len());
            let (text, spans) = joined(&words);
            let (mut interned, mut found) = (Vec::new(), Vec::new());
            Strings::default().intern_all(text.as_bytes(), &spans, &mut interned);
            strings.find_all(text.as_bytes(), &spans, &mut found);
            prop_assert_eq!(&interned, &found);
            for (word, id) in map {
                let buffer = padded(&word);
                prop_assert_eq!(strings.find(buffer.as_bytes(), 0, word.len()), id);
                prop_assert_eq!(strings.get(id as usize), word.as_bytes());
            }
        }

        #[test]
        fn pairs_are_a_map(pairs in prop::collection::vec((0u32..200, 0u32..200), 0..300)) {
            let mut table = Pairs::default();
            let mut map = HashMap::new();
            for (left, right) in pairs {
                let new = map.len() as u32;
                let want = *map.entry((left, right)).or_insert(new);
                prop_assert_eq!(table.find_or_insert(left, right, new), want);
            }
            let (mut found, rights): (Vec<u32>, Vec<u32>) = map.keys().copied().unzip();
            table.find_all(&mut found, &rights);
            prop_assert_eq!(found, map.values().copied().collect::<Vec<u32>>());
            prop_assert_eq!(table.find(999, 0), NONE);
        }
    }
}
