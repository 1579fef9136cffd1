//! Names for hashed columns, in bounded memory.
//!
//! Every column remembers one name and, as in Boyer and Moore's majority vote, a number of votes: occurrences of the
//! name add to it, those of any other name in the column take from it, and whoever brings it below zero takes over. A
//! name with more than half of its column's occurrences ends up as the column's. When there are more names than wanted,
//! those with the fewest votes go.
//!
//! A chunk of rows is counted by itself, in parallel and by a vote of the same sort, which its frequent features survive;
//! chunks are voted in one after the other, in order, so that names do not depend on the number of threads.
//!
//! How many features share a column is counted exactly, on a sample of columns: those whose number, mixed, starts with
//! enough zero bits. When the sample has too many features, one more bit must be zero (Wegman's adaptive sampling, in
//! Flajolet 1990). Which columns end up in it does not depend on any order.

use super::plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The longest name that is kept, in bytes: what is longer is cut.
const LONGEST: usize = 80;

/// Places for names in a chunk's vote: half a megabyte of them.
const PLACES: usize = 1 << 15;

/// The most bytes of names in a chunk's vote: rows would have to be gigabytes long.
const MOST_BYTES: usize = 1 << 31;

/// The most features in the sample.
const SAMPLED: usize = 4096;

/// How many hashed features shared a column with another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collisions {
    /// Occurrences of features in the columns that were looked at.
    pub seen: u64,
    /// Those of features that are not the most frequent of their column.
    pub others: u64,
}

impl Collisions {
    /// The share of occurrences whose column is another feature's in the main: an estimate.
    pub fn share(&self) -> f64 {
        if self.seen == 0 { 0.0 } else { self.others as f64 / self.seen as f64 }
    }
}

/// Counts the features of a chunk of rows.
#[derive(Default)]
pub(crate) struct NameTable {
    places: Vec<NameEntry>,
    bytes: Vec<u8>,
    sample: Sample,
    mask: u32,
}

/// What a chunk of rows says about names.
pub(crate) struct ChunkNames {
    list: Vec<NameEntry>,
    bytes: Vec<u8>,
    sample: Sample,
}

/// A name, its votes, and where it is among bytes.
#[derive(Clone, Copy, Default)]
struct NameEntry {
    hash: u32,
    votes: u32,
    start: u32,
    len: u8,
    block: u8,
}

impl NameEntry {
    fn name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..][..self.len as usize]
    }
}

impl NameTable {
    pub(crate) fn new(mask: u32) -> Self {
        Self { places: vec![NameEntry::default(); PLACES], mask, ..Self::default() }
    }

    /// Counts a feature.
    #[inline]
    pub(crate) fn note(&mut self, hash: u32, block: u8, name: &[u8]) {
        self.sample.note(hash, self.mask);
        let place = &mut self.places[hash as usize % PLACES];
        if place.hash == hash && place.votes > 0 {
            place.votes += 1;
        } else if place.votes > 1 {
            place.votes -= 1;
        } else if self.bytes.len() < MOST_BYTES {
            let (start, len) = (self.bytes.len() as u32, cut(name));
            *place = NameEntry { hash, votes: 1, start, len: len as u8, block };
            self.bytes.extend_from_slice(&name[..len]);
        }
    }

    /// What was counted, as far as names have enough votes. The table is empty afterwards.
    pub(crate) fn take(&mut self, enough: u32) -> ChunkNames {
        let mut bytes = Vec::new();
        let mut list = Vec::new();
        for &noted in self.places.iter().filter(|noted| noted.votes >= enough) {
            list.push(NameEntry { start: bytes.len() as u32, ..noted });
            bytes.extend_from_slice(noted.name(&self.bytes));
        }
        self.places.fill(NameEntry::default());
        self.bytes.clear();
        // The next chunk's sample may start as sparse as this one ended: the whole one will be at least as sparse.
        let next = Sample { level: self.sample.level, ..Sample::default() };
        ChunkNames { list, bytes, sample: std::mem::replace(&mut self.sample, next) }
    }
}

/// Exact counts of the features of some columns.
#[derive(Clone, Default)]
struct Sample {
    /// How many leading bits are zero.
    level: u32,
    counts: HashMap<u32, u64, BuildHasherDefault<Mixer>>,
}

impl Sample {
    #[inline]
    fn has(&self, hash: u32, mask: u32) -> bool {
        column(hash, mask).wrapping_mul(0x9e37_79b1).leading_zeros() >= self.level
    }

    #[inline]
    fn note(&mut self, hash: u32, mask: u32) {
        if self.has(hash, mask) {
            *self.counts.entry(hash).or_default() += 1;
            self.shrink(mask);
        }
    }

    fn add(&mut self, other: Sample, mask: u32) {
        if other.level > self.level {
            self.level = other.level;
            self.retain(mask);
        }
        for (hash, count) in other.counts {
            if self.has(hash, mask) {
                *self.counts.entry(hash).or_default() += count;
            }
        }
        self.shrink(mask);
    }

    fn shrink(&mut self, mask: u32) {
        while self.counts.len() > SAMPLED && self.level < 32 {
            self.level += 1;
            self.retain(mask);
        }
    }

    /// Drops what no longer belongs to the sample.
    fn retain(&mut self, mask: u32) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.retain(|&hash, _| self.has(hash, mask));
        self.counts = counts;
    }

    fn collisions(&self, mask: u32) -> Collisions {
        // All, and most, of each column.
        let mut columns: HashMap<u32, (u64, u64)> = HashMap::new();
        for (&hash, &count) in &self.counts {
            let (seen, most) = columns.entry(column(hash, mask)).or_default();
            *seen += count;
            *most = count.max(*most);
        }
        let mut collisions = Collisions::default();
        for (seen, most) in columns.into_values() {
            collisions.seen += seen;
            collisions.others += seen - most;
        }
        collisions
    }
}

/// How much of a name is kept: at most [`LONGEST`] bytes of whole characters.
fn cut(name: &[u8]) -> usize {
    if name.len() <= LONGEST {
        return name.len();
    }
    (0..=LONGEST).rev().find(|&at| name[at] & 0xc0 != 0x80).unwrap_or(0)
}

/// Hashes numbers that are hashes, or low bits of one, already.
#[derive(Clone, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = self.0 << 8 | u64::from(b);
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Counts names as chunks come.
pub(crate) struct Voting {
    most: usize,
    mask: u32,
    /// The name of each column that has one, among `bytes`.
    columns: HashMap<u32, NameEntry, BuildHasherDefault<Mixer>>,
    /// Names, also such as no column has any more.
    bytes: Vec<u8>,
    sample: Sample,
    /// From before.
    past: Collisions,
}

impl Voting {
    pub(crate) fn new(most: usize, mask: u32) -> Self {
        Self {
            most,
            mask,
            columns: HashMap::default(),
            bytes: Vec::new(),
            sample: Sample::default(),
            past: Collisions::default(),
        }
    }

    /// Takes up where another stopped.
    pub(crate) fn resume(&mut self, names: &Names) {
        self.past = names.collisions;
        for i in 0..names.hashes.len() {
            let (hash, votes, block) = (names.hashes[i], names.votes[i], names.block(i));
            let (start, name) = (self.bytes.len() as u32, names.bare(i).as_bytes());
            let len = cut(name);
            self.bytes.extend_from_slice(&name[..len]);
            let noted = NameEntry { hash, votes, start, len: len as u8, block };
            self.columns.insert(column(hash, self.mask), noted);
        }
    }

    pub(crate) fn add(&mut self, chunk: ChunkNames) {
        self.sample.add(chunk.sample, self.mask);
        for &noted in &chunk.list {
            let named = self.columns.entry(column(noted.hash, self.mask)).or_default();
            if named.hash == noted.hash && named.votes > 0 {
                named.votes = named.votes.saturating_add(noted.votes);
            } else if named.votes >= noted.votes {
                named.votes -= noted.votes;
            } else {
                let (votes, start) = (noted.votes - named.votes, self.bytes.len() as u32);
                *named = NameEntry { votes, start, ..noted };
                self.bytes.extend_from_slice(noted.name(&chunk.bytes));
            }
        }
        if self.columns.len() > self.most.saturating_mul(2) {
            self.shrink();
        }
        if self.bytes.len() > 2 * LONGEST * self.columns.len() + (1 << 20) {
            self.compact();
        }
    }

    /// Drops names down to as many as may stay.
    fn shrink(&mut self) {
        let mut weights: Vec<(u32, u32)> =
            self.columns.iter().map(|(&column, named)| (named.votes, !column)).collect();
        let n_less = weights.len() - self.most;
        let (_, &mut last, _) = weights.select_nth_unstable(n_less - 1);
        self.columns.retain(|&column, named| (named.votes, !column) > last);
        self.compact();
    }

    /// Forgets names that no column has.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.bytes);
        for named in self.columns.values_mut() {
            let start = self.bytes.len() as u32;
            self.bytes.extend_from_slice(named.name(&old));
            named.start = start;
        }
    }

    pub(crate) fn names(&self, plan: &Plan) -> Names {
        let mut list: Vec<(u32, &NameEntry)> =
            self.columns.iter().map(|(&column, named)| (column, named)).collect();
        list.sort_unstable_by_key(|&(column, named)| (std::cmp::Reverse(named.votes), column));
        list.truncate(self.most);
        list.sort_unstable_by_key(|&(column, _)| column);
        let mut collisions = self.sample.collisions(self.mask);
        collisions.seen += self.past.seen;
        collisions.others += self.past.others;
        let mut names = Names { collisions, has_marks: plan.has_marks(), ..Names::default() };
        for (_, named) in list {
            if names.has_marks {
                names.bytes.push(named.block);
            }
            names.bytes.extend_from_slice(named.name(&self.bytes));
            names.ends.push(names.bytes.len() as u32);
            names.hashes.push(named.hash);
            names.votes.push(named.votes);
        }
        names
    }
}

/// The column of a hash, as scikit-learn's `FeatureHasher` has it: the absolute value of the signed hash, modulo 2^bits.
#[inline]
pub(crate) fn column(hash: u32, mask: u32) -> u32 {
    (hash as i32).unsigned_abs() & mask
}

/// Names of hashed columns, in order of columns.
#[derive(Clone, Default)]
pub(crate) struct Names {
    /// As a vocabulary's: the block's number where there are several, then the name.
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<u32>,
    /// The whole hash of each: its column follows.
    pub(crate) hashes: Vec<u32>,
    pub(crate) votes: Vec<u32>,
    pub(crate) collisions: Collisions,
    pub(crate) has_marks: bool,
}

impl Names {
    pub(crate) fn stored(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        std::str::from_utf8(&self.bytes[start..self.ends[i] as usize]).unwrap_or_default()
    }

    fn block(&self, i: usize) -> u8 {
        if self.has_marks { self.stored(i).as_bytes().first().copied().unwrap_or(0) } else { 0 }
    }

    fn bare(&self, i: usize) -> &str {
        &self.stored(i)[usize::from(self.has_marks)..]
    }

    /// The stored name of a column, if it has one.
    pub(crate) fn find(&self, wanted: u32, mask: u32) -> Option<&str> {
        Some(self.stored(self.place(wanted, mask)?))
    }

    /// Whether the feature that names a column counts there with a minus.
    pub(crate) fn is_negated(&self, wanted: u32, mask: u32) -> bool {
        self.place(wanted, mask).is_some_and(|at| (self.hashes[at] as i32) < 0)
    }

    fn place(&self, wanted: u32, mask: u32) -> Option<usize> {
        self.hashes.binary_search_by_key(&wanted, |&hash| column(hash, mask)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextSpec;

    fn vote(most: usize, bits: u8, chunks: &[&[(u32, &str)]]) -> Names {
        let spec = TextSpec { hash_bits: Some(bits), ..TextSpec::default() };
        let plan = Plan::new(spec).unwrap();
        let mask = (1 << bits) - 1;
        let (mut voting, mut table) = (Voting::new(most, mask), NameTable::new(mask));
        for chunk in chunks {
            for &(hash, name) in *chunk {
                table.note(hash, 0, name.as_bytes());
            }
            voting.add(table.take(1));
        }
        voting.names(&plan)
    }

    #[test]
    fn the_majority_names_a_column() {
        // 1 and 5 fall into the same of four columns.
        let names =
            vote(9, 2, &[&[(1, "rare"), (5, "often"), (5, "often")], &[(5, "often"), (2, "x")]]);
        assert_eq!(names.find(1, 3), Some("often"));
        assert_eq!(names.find(2, 3), Some("x"));
        assert_eq!(names.find(3, 3), None);
        let turned = vote(9, 2, &[&[(1, "a"), (2u32.wrapping_neg(), "b")]]);
        assert_eq!([1, 2, 3].map(|column| turned.is_negated(column, 3)), [false, true, false]);
        assert_eq!(names.collisions, Collisions { seen: 5, others: 1 });
    }

    #[test]
    fn the_heaviest_names_stay() {
        let many: Vec<(u32, String)> = (0..50).map(|i| (i, format!("w{i}"))).collect();
        let mut chunk: Vec<(u32, &str)> = many.iter().map(|(h, n)| (*h, n.as_str())).collect();
        chunk.extend([(7, "w7"), (31, "w31")]);
        let names = vote(2, 10, &[&chunk, &[(7, "w7")]]);
        assert_eq!(names.hashes, [7, 31]);
        assert_eq!((names.find(7, 1023), names.find(31, 1023)), (Some("w7"), Some("w31")));
        assert_eq!(names.collisions, Collisions { seen: 53, others: 0 });
    }

    #[test]
    fn the_sample_does_not_depend_on_order() {
        let mask = (1 << 20) - 1;
        let hashes: Vec<u32> =
            (0..40_000u32).map(|i| (i % 30_000).wrapping_mul(0x85eb_ca6b)).collect();
        let collect = |parts: &[&[u32]]| {
            let mut all = Sample::default();
            for part in parts {
                let mut sample = Sample::default();
                part.iter().for_each(|&hash| sample.note(hash, mask));
                all.add(sample, mask);
            }
            let mut counts: Vec<_> = all.counts.into_iter().collect();
            counts.sort_unstable();
            (all.level, counts)
        };
        let (a, b) = hashes.split_at(7_000);
        let whole = collect(&[&hashes]);
        assert_eq!(whole, collect(&[b, a]));
        assert!(whole.0 > 0 && whole.1.len() <= SAMPLED);
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let long = "é".repeat(100);
        let names = vote(2, 4, &[&[(1, &long)]]);
        assert_eq!(names.find(1, 15), Some("é".repeat(40).as_str()));
    }
}
