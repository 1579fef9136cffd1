//! A hash table from strings to numbers, and one from pairs of numbers to numbers.
//!
//! Strings are looked up where they stand in a buffer, without a copy. Up to seven bytes a string *is* its 64-bit key
//! (bytes, then length), so that most words cost one load, one multiplication and one comparison; a longer one is
//! hashed into its key and compared with the stored bytes. An n-gram of words is not a string at all but a pair: the
//! n-gram without its last word, and that word. Its name is put together when someone asks.

use lineal_linalg::kernels::prefetch_at;

/// The number of nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// How many readable bytes must follow a string in its buffer.
pub(crate) const PAD: usize = 8;

/// The pad itself.
pub(crate) const ZEROS: &str = "\0\0\0\0\0\0\0\0";

/// Lookups that are prepared together: 64 cache lines are a fraction of the nearest cache.
const AHEAD: usize = 64;

/// The most strings in a table: an index of twice as many places has room for their numbers.
pub(crate) const MOST: usize = 1 << 30;

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
    if len > MIDDLE {
        return long_key(buffer, start, end);
    }
    // Both are made, and one is taken: which words are short is anyone's guess.
    let head = load(buffer, start);
    let short = head & !(u64::MAX.wrapping_shl(8 * len as u32)) | (len as u64 + 1) << 56;
    let tail = load(buffer, if len < 8 { start } else { end - 8 });
    let hash = fold(head ^ 0x9e37_79b9_7f4a_7c15, tail ^ 0xa076_1d64_78bd_642f);
    let long = hash >> 8 | LONG | (len as u64) << 56;
    let is_long = u64::from(len >= 8).wrapping_neg();
    short & !is_long | long & is_long
}

/// Strings up to here are their first and last eight bytes.
const MIDDLE: usize = 16;

#[inline(never)]
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

/// A stored string.
#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    /// Where it starts. It ends where the next one starts.
    start: u32,
    id: u32,
}

/// Strings with numbers.
///
/// The index has four bytes a place and hardly a look at it misleads, so it stays in a near cache where the entries, in order of first
/// occurrence, need not: those of the words that texts are mostly made of stand together at their start.
#[derive(Clone)]
pub(crate) struct Strings {
    /// `tag << width | 1 + place among the entries`, at the first free place from where the key's hash points to; 0 is empty. The tag is what of the
    /// hash has room.
    index: Vec<u32>,
    /// The index has 2^width places.
    width: u32,
    entries: Vec<Entry>,
    /// All strings, one after the other, then [`PAD`] zeros.
    bytes: Vec<u8>,
    is_full: bool,
}

impl Default for Strings {
    fn default() -> Self {
        Self::with_capacity(16)
    }
}

/// Lookups on their way.
struct Batch {
    keys: [u64; AHEAD],
    hashes: [u64; AHEAD],
    /// Of the first entry with the same tag, or [`NONE`].
    places: [u32; AHEAD],
}

impl Strings {
    pub(crate) fn with_capacity(n: usize) -> Self {
        let width = (n * 8 / 5 + 2).next_power_of_two().ilog2();
        Self {
            index: vec![0; 1 << width],
            width,
            entries: Vec::with_capacity(n),
            bytes: vec![0; PAD],
            is_full: false,
        }
    }

    /// Strings that stand one after the other in a padded buffer, each with its place as its number. If two are equal, gives these.
    pub(crate) fn of_all(bytes: &[u8], ends: &[u32]) -> Result<Self, (u32, u32)> {
        let mut this = Self::with_capacity(ends.len());
        this.bytes = bytes.to_vec();
        let starts = std::iter::once(0).chain(ends.iter().map(|&end| end as usize));
        let spans: Vec<(usize, usize)> = starts.zip(ends.iter().map(|&end| end as usize)).collect();
        let mut batch = Batch::new();
        let mut id = 0;
        for spans in spans.chunks(AHEAD) {
            this.ask(bytes, spans, &mut batch);
            for (i, &(start, end)) in spans.iter().enumerate() {
                let (key, hash) = (batch.keys[i], batch.hashes[i]);
                match this.seek(key, hash, bytes, start, end) {
                    Ok(place) => return Err((this.entries[place].id, id)),
                    Err(at) => this.enter(at, hash, Entry { key, start: start as u32, id }),
                }
                id += 1;
            }
        }
        Ok(this)
    }

    /// How many strings are stored.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The `i`-th string stored.
    pub(crate) fn get(&self, i: usize) -> &[u8] {
        let (start, end) = self.span(i);
        &self.bytes[start..end]
    }

    /// Where the `i`-th string is in the buffer.
    pub(crate) fn span(&self, i: usize) -> (usize, usize) {
        let next = self.entries.get(i + 1);
        let end = next.map_or(self.bytes.len() - PAD, |next| next.start as usize);
        (self.entries[i].start as usize, end)
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
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.index.len() - 1)
    }

    #[inline(always)]
    fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 >> self.width
    }

    /// From `at` on, the first place of the index that is empty or has the hash's tag, and what is there.
    #[inline(always)]
    fn probe(&self, hash: u64, mut at: usize) -> (usize, u32) {
        let tag = self.tag(hash);
        loop {
            let slot = self.index[at];
            if slot == 0 || slot >> self.width == tag {
                return (at, slot);
            }
            at = (at + 1) & (self.index.len() - 1);
        }
    }

    /// The place among the entries that an index's slot, which is not empty, stands for.
    #[inline(always)]
    fn place(&self, slot: u32) -> usize {
        (slot & !(u32::MAX << self.width)) as usize - 1
    }

    /// The place of a string among the entries, or the empty one in the index where it belongs.
    #[inline]
    fn seek(
        &self,
        key: u64,
        hash: u64,
        buffer: &[u8],
        start: usize,
        end: usize,
    ) -> Result<usize, usize> {
        let mut from = self.home(hash);
        loop {
            let (at, slot) = self.probe(hash, from);
            if slot == 0 {
                return Err(at);
            }
            let place = self.place(slot);
            if self.holds(&self.entries[place], key, buffer, start, end) {
                return Ok(place);
            }
            from = (at + 1) & (self.index.len() - 1);
        }
    }

    /// Whether an entry is this string.
    #[inline(always)]
    fn holds(&self, entry: &Entry, key: u64, buffer: &[u8], start: usize, end: usize) -> bool {
        entry.key == key && (key < LONG || self.is_same(entry, buffer, start, end))
    }

    /// The same for a long string that has the entry's key.
    #[inline]
    fn is_same(&self, entry: &Entry, buffer: &[u8], start: usize, end: usize) -> bool {
        let len = end - start;
        if len < 127 {
            return same(&self.bytes, entry.start as usize, buffer, start, len); // the key says that it is as long
        }
        let next = self.entries.partition_point(|other| other.start <= entry.start);
        self.get(next - 1) == &buffer[start..end]
    }

    /// Makes lookups ready, each step for all of them: what a step reads was asked for by the one before, so nothing waits for memory.
    #[inline(always)]
    fn prepare(&self, buffer: &[u8], spans: &[(usize, usize)], batch: &mut Batch) {
        self.ask(buffer, spans, batch);
        let n = spans.len();
        for (place, &hash) in batch.places.iter_mut().zip(&batch.hashes[..n]) {
            let (_, slot) = self.probe(hash, self.home(hash));
            *place = if slot == 0 { NONE } else { self.place(slot) as u32 };
            prefetch_at(&self.entries, *place as usize);
        }
    }

    /// Takes keys and hashes of some strings, and asks for their places in the index.
    #[inline(always)]
    fn ask(&self, buffer: &[u8], spans: &[(usize, usize)], batch: &mut Batch) {
        let Batch { keys, hashes, .. } = batch;
        for ((&(start, end), key_out), hash_out) in spans.iter().zip(keys).zip(hashes) {
            *key_out = key(buffer, start, end);
            *hash_out = mix(*key_out);
            prefetch_at(&self.index, self.home(*hash_out));
        }
    }

    /// The number of a string, or [`NONE`], if what was made ready is it or tells that it is not there.
    #[inline(always)]
    fn found(
        &self,
        batch: &Batch,
        i: usize,
        buffer: &[u8],
        start: usize,
        end: usize,
    ) -> Option<u32> {
        let entry = self.entries.get(batch.places[i] as usize)?;
        self.holds(entry, batch.keys[i], buffer, start, end).then_some(entry.id)
    }

    /// Appends the number of each string, or [`NONE`].
    pub(crate) fn find_all(&self, buffer: &[u8], spans: &[(usize, usize)], out: &mut Vec<u32>) {
        let mut batch = Batch::new();
        for spans in spans.chunks(AHEAD) {
            self.prepare(buffer, spans, &mut batch);
            out.extend(spans.iter().enumerate().map(|(i, &(start, end))| {
                match self.found(&batch, i, buffer, start, end) {
                    Some(id) => id,
                    None if batch.places[i] == NONE => NONE,
                    None => self.find_hashed(batch.keys[i], batch.hashes[i], buffer, start, end),
                }
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
        let mut batch = Batch::new();
        for spans in spans.chunks(AHEAD) {
            self.prepare(buffer, spans, &mut batch);
            for (i, &(start, end)) in spans.iter().enumerate() {
                out.push(match self.found(&batch, i, buffer, start, end) {
                    Some(id) => id,
                    None => {
                        let (key, hash) = (batch.keys[i], batch.hashes[i]);
                        let new = self.entries.len() as u32;
                        self.find_or_insert_hashed((key, hash), buffer, (start, end), new)
                    }
                });
            }
        }
    }

    /// The number of a string, or [`NONE`].
    #[inline]
    pub(crate) fn find(&self, buffer: &[u8], start: usize, end: usize) -> u32 {
        let key = key(buffer, start, end);
        self.find_hashed(key, mix(key), buffer, start, end)
    }

    #[inline]
    fn find_hashed(&self, key: u64, hash: u64, buffer: &[u8], start: usize, end: usize) -> u32 {
        self.seek(key, hash, buffer, start, end).map_or(NONE, |place| self.entries[place].id)
    }

    /// The number of a string; `new` if it was not there, or [`NONE`] if there is no room for it.
    pub(crate) fn find_or_insert(
        &mut self,
        buffer: &[u8],
        start: usize,
        end: usize,
        new: u32,
    ) -> u32 {
        let key = key(buffer, start, end);
        self.find_or_insert_hashed((key, mix(key)), buffer, (start, end), new)
    }

    #[inline(never)]
    fn find_or_insert_hashed(
        &mut self,
        (key, hash): (u64, u64),
        buffer: &[u8],
        (start, end): (usize, usize),
        new: u32,
    ) -> u32 {
        let at = match self.seek(key, hash, buffer, start, end) {
            Ok(place) => return self.entries[place].id,
            Err(at) => at,
        };
        let string = &buffer[start..end];
        let start = self.bytes.len() - PAD;
        let (Ok(slot_start), Ok(_)) = (u32::try_from(start), u32::try_from(start + string.len()))
        else {
            self.is_full = true;
            return NONE;
        };
        if self.entries.len() >= MOST {
            self.is_full = true;
            return NONE;
        }
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(string);
        self.bytes.extend_from_slice(ZEROS.as_bytes());
        self.enter(at, hash, Entry { key, start: slot_start, id: new });
        if is_full(self.entries.len(), self.index.len()) {
            self.grow();
        }
        new
    }

    /// Appends an entry that belongs at an empty place of the index.
    #[inline(always)]
    fn enter(&mut self, at: usize, hash: u64, entry: Entry) {
        self.entries.push(entry);
        self.index[at] = self.tag(hash) << self.width | self.entries.len() as u32;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.width += 1;
        self.index = vec![0; 1 << self.width];
        for (entry, number) in self.entries.iter().zip(1..) {
            let hash = mix(entry.key);
            let mut at = self.home(hash);
            while self.index[at] != 0 {
                at = (at + 1) & (self.index.len() - 1);
            }
            self.index[at] = self.tag(hash) << self.width | number;
        }
    }
}

impl Batch {
    fn new() -> Self {
        Self { keys: [0; AHEAD], hashes: [0; AHEAD], places: [0; AHEAD] }
    }
}

#[inline(always)]
fn mix(key: u64) -> u64 {
    fold(key, 0x8ebc_6af0_9c88_c6e3)
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

    /// Asks for where pairs will be looked for: see [`Strings::prepare`].
    #[inline(always)]
    pub(crate) fn touch(&self, pairs: impl Iterator<Item = (u32, u32)>) {
        pairs.for_each(|(left, right)| prefetch_at(&self.slots, self.home(left, right)));
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
        fn a_table_is_a_map(words in prop::collection::vec("[ab]{0,20}", 0..200)) {
            let mut strings = Strings::with_capacity(0);
            let mut map = HashMap::new();
            for word in &words {
                let buffer = padded(word);
                let new = map.len() as u32;
                let want = *map.entry(word.clone()).or_insert(new);
                prop_assert_eq!(strings.find_or_insert(buffer.as_bytes(), 0, word.len(), new), want);
            }
            prop_assert_eq!(strings.len(), map.len());
            let distinct: Vec<String> = (0..map.len())
                .map(|i| String::from_utf8(strings.get(i).to_vec()).unwrap())
                .collect();
            let (text, spans) = joined(&distinct);
            let ends: Vec<u32> = spans.iter().map(|span| span.1 as u32).collect();
            let all = Strings::of_all(text.as_bytes(), &ends).unwrap();
            let mut found = Vec::new();
            all.find_all(text.as_bytes(), &spans, &mut found);
            prop_assert_eq!(found, (0..ends.len() as u32).collect::<Vec<_>>());
            let (twice, spans) = joined(&[distinct.clone(), distinct.clone()].concat());
            let ends: Vec<u32> = spans.iter().map(|span| span.1 as u32).collect();
            let refused = Strings::of_all(twice.as_bytes(), &ends).err();
            prop_assert_eq!(refused, (!map.is_empty()).then_some((0, map.len() as u32)));
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
