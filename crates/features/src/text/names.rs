//! Names for hashed columns, in bounded memory.
//!
//! Every column remembers one name and, as in Boyer and Moore's majority vote, a number of votes: occurrences of the
//! name add to it, those of any other name in the column take from it, and whoever brings it below zero takes over. A
//! name with more than half of its column's occurrences ends up as the column's. When there are more names than wanted,
//! those with the fewest votes go.
//!
//! A chunk of rows is counted by itself, in parallel; chunks are voted in one after the other, in order, so that the
//! names do not depend on the number of threads.

use super::plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The longest name that is kept, in bytes: what is longer is cut.
const LONGEST: usize = 80;

/// How many hashed features shared a column with another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collisions {
    /// Occurrences of features that were looked at.
    pub seen: u64,
    /// Those that fell into a column which has another feature's name.
    pub others: u64,
}

impl Collisions {
    /// The share of occurrences whose column has another name: an estimate, rather too high than too low.
    pub fn share(&self) -> f64 {
        if self.seen == 0 { 0.0 } else { self.others as f64 / self.seen as f64 }
    }
}

/// The features of a chunk of rows.
#[derive(Default)]
pub(crate) struct ChunkNames {
    /// 1 + place in the list; 0 is empty.
    slots: Vec<u32>,
    list: Vec<Noted>,
    bytes: Vec<u8>,
}

struct Noted {
    hash: u32,
    count: u32,
    start: usize,
    len: u8,
    block: u8,
}

impl ChunkNames {
    /// Counts a feature.
    #[inline]
    pub(crate) fn note(&mut self, hash: u32, block: u8, name: &[u8]) {
        if self.list.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                0 => break,
                i if self.list[i as usize - 1].hash == hash => {
                    self.list[i as usize - 1].count += 1;
                    return;
                }
                _ => at = (at + 1) & mask,
            }
        }
        let start = self.bytes.len();
        let len = cut(name);
        self.bytes.extend_from_slice(&name[..len]);
        self.list.push(Noted { hash, count: 1, start, len: len as u8, block });
        self.slots[at] = self.list.len() as u32;
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(1024);
        self.slots.clear();
        self.slots.resize(len, 0);
        for (i, noted) in self.list.iter().enumerate() {
            let mut at = noted.hash as usize & (len - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = i as u32 + 1;
        }
    }
}

/// How much of a name is kept: at most [`LONGEST`] bytes of whole characters.
fn cut(name: &[u8]) -> usize {
    if name.len() <= LONGEST {
        return name.len();
    }
    (0..=LONGEST).rev().find(|&at| name[at] & 0xc0 != 0x80).unwrap_or(0)
}

/// The name of one column.
#[derive(Clone)]
struct Named {
    hash: u32,
    votes: u32,
    hits: u64,
    seen: u64,
    block: u8,
    name: Box<str>,
}

/// Columns are low bits of a hash already.
#[derive(Clone, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = self.0 << 8 | u64::from(b);
        }
    }

    fn write_u32(&mut self, column: u32) {
        self.0 = u64::from(column).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Counts names as chunks come.
pub(crate) struct Voting {
    most: usize,
    mask: u32,
    columns: HashMap<u32, Named, BuildHasherDefault<Identity>>,
    /// Of columns that are no longer in the table, and from before.
    past: Collisions,
}

impl Voting {
    pub(crate) fn new(most: usize, bits: u8) -> Self {
        Self {
            most,
            mask: (1 << bits) - 1,
            columns: HashMap::default(),
            past: Collisions::default(),
        }
    }

    /// Takes up where another stopped.
    pub(crate) fn resume(&mut self, names: &Names) {
        self.past = names.collisions;
        for i in 0..names.hashes.len() {
            let hash = names.hashes[i];
            let (block, name) = (names.block(i), names.bare(i));
            let named =
                Named { hash, votes: names.votes[i], hits: 0, seen: 0, block, name: name.into() };
            self.columns.insert(column(hash, self.mask), named);
        }
    }

    pub(crate) fn add(&mut self, chunk: ChunkNames) {
        for noted in &chunk.list {
            let &Noted { hash, count, start, len, block } = noted;
            let name = || {
                let name = &chunk.bytes[start..start + len as usize];
                std::str::from_utf8(name).unwrap_or_default().into()
            };
            let seen = u64::from(count);
            let named = self.columns.entry(column(hash, self.mask)).or_insert_with(|| Named {
                hash,
                votes: 0,
                hits: 0,
                seen: 0,
                block,
                name: name(),
            });
            named.seen += seen;
            if named.hash == hash {
                named.votes = named.votes.saturating_add(count);
                named.hits += seen;
            } else if named.votes >= count {
                named.votes -= count;
            } else {
                *named = Named {
                    hash,
                    votes: count - named.votes,
                    hits: seen,
                    seen: named.seen,
                    block,
                    name: name(),
                };
            }
        }
        if self.columns.len() > self.most.saturating_mul(2) {
            self.shrink();
        }
    }

    /// Drops names down to as many as may stay.
    fn shrink(&mut self) {
        if self.columns.len() <= self.most {
            return;
        }
        let mut weights: Vec<(u32, u32)> =
            self.columns.iter().map(|(&column, named)| (named.votes, !column)).collect();
        let cut = weights.len() - self.most;
        let (_, &mut least, _) = weights.select_nth_unstable(cut.saturating_sub(1));
        let past = &mut self.past;
        self.columns.retain(|&column, named| {
            let stays = (named.votes, !column) > least;
            if !stays {
                past.seen += named.seen;
                past.others += named.seen - named.hits;
            }
            stays
        });
    }

    pub(crate) fn names(&self, plan: &Plan) -> Names {
        let mut collisions = self.past;
        let mut list: Vec<(u32, &Named)> = Vec::with_capacity(self.columns.len());
        for (&column, named) in &self.columns {
            collisions.seen += named.seen;
            collisions.others += named.seen - named.hits;
            list.push((column, named));
        }
        list.sort_unstable_by_key(|&(column, named)| (std::cmp::Reverse(named.votes), column));
        list.truncate(self.most);
        list.sort_unstable_by_key(|&(column, _)| column);
        let mut names = Names { collisions, has_marks: plan.has_marks(), ..Names::default() };
        for (_, named) in list {
            if names.has_marks {
                names.bytes.push(named.block);
            }
            names.bytes.extend_from_slice(named.name.as_bytes());
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
        let at = self.hashes.binary_search_by_key(&wanted, |&hash| column(hash, mask)).ok()?;
        Some(self.stored(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextSpec;

    fn vote(most: usize, bits: u8, chunks: &[&[(u32, &str)]]) -> Names {
        let spec = TextSpec { hash_bits: Some(bits), ..TextSpec::default() };
        let plan = Plan::new(spec).unwrap();
        let mut voting = Voting::new(most, bits);
        for chunk in chunks {
            let mut names = ChunkNames::default();
            for &(hash, name) in *chunk {
                names.note(hash, 0, name.as_bytes());
            }
            voting.add(names);
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
        assert_eq!(names.collisions, Collisions { seen: 5, others: 1 });
    }

    #[test]
    fn the_heaviest_names_stay() {
        let many: Vec<(u32, String)> = (0..50).map(|i| (i, format!("w{i}"))).collect();
        let mut chunk: Vec<(u32, &str)> = many.iter().map(|(h, n)| (*h, n.as_str())).collect();
        chunk.extend([(7, "w7"), (31, "w31")]);
        let names = vote(2, 10, &[&chunk, &[(7, "w7")]]);
        assert_eq!(names.hashes, [7, 31]);
        assert_eq!(names.collisions, Collisions { seen: 53, others: 0 });
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let long = "é".repeat(100);
        let names = vote(2, 4, &[&[(1, &long)]]);
        assert_eq!(names.find(1, 15), Some("é".repeat(40).as_str()));
    }
}
