//! Which features stay, and their numbers: by falling document frequency, ties by name.
//!
//! Names are never compared as a whole. Strings are sorted once; n-grams of two words by the places of both, those of
//! three by the place of their first two and that of the third, and so on, each level by radix sort. In such lists the
//! n-grams that lengthen an n-gram stand together and in its order, so a walk with one finger on each level
//! meets all names in order, word by word, and reads every list from front to back. (The first version followed a tree
//! of numbers through memory: 140 ms for 1.2 million n-grams, most of it waiting.)

use super::merge::{LaneMap, Merged};
use super::sort::radix_sort;
use super::spec::TextSpec;
use super::tables::{NONE, PAD, PAIR, Strings, ZEROS};
use rayon::prelude::*;

/// How often each string and n-gram of a block occurs in all documents.
pub(crate) struct Totals {
    words: Vec<u64>,
    pairs: Vec<u64>,
}

impl Totals {
    pub(crate) fn new(block: &Merged) -> Self {
        Self { words: vec![0; block.words.len()], pairs: vec![0; block.pairs.len()] }
    }

    pub(crate) fn add(&mut self, map: Option<&LaneMap>, id: u32, count: u32) {
        let id = map.map_or(id, |map| map.get(id));
        let total = if id & PAIR == 0 {
            &mut self.words[id as usize]
        } else {
            &mut self.pairs[(id & !PAIR) as usize]
        };
        *total += u64::from(count);
    }

    fn get(&self, id: u32) -> u64 {
        if id & PAIR == 0 { self.words[id as usize] } else { self.pairs[(id & !PAIR) as usize] }
    }
}

/// A feature that stays.
#[derive(Clone, Copy)]
pub(crate) struct Feature {
    /// Its place among the entries of its level.
    at: u32,
    pub(crate) df: u32,
    pub(crate) block: u8,
    /// Its number of words, less one.
    level: u8,
}

/// A block's strings and n-grams in order of name, as far as features need them.
pub(crate) struct Sorted {
    /// By number of words, less one. All strings are at level 0.
    levels: Vec<Vec<Entry>>,
    /// The strings in order, then the pad.
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    /// Place, one level below, of the n-gram without its last word.
    left: u32,
    /// Place of the last word among all strings.
    word: u32,
    /// Its number among strings or n-grams.
    id: u32,
    df: u32,
}

/// The features that stay, in the order of their new numbers, and where their names are.
pub(crate) fn number(
    spec: &TextSpec,
    n_docs: usize,
    blocks: &[Merged],
    totals: Option<&[Totals]>,
) -> (Vec<Feature>, Vec<Sorted>) {
    let (min, max) = (spec.min_df.documents(n_docs).max(1.0), spec.max_df.documents(n_docs));
    let stays = |df: u32| (min..=max).contains(&f64::from(df));
    let sorted: Vec<Sorted> = blocks.iter().map(|block| Sorted::new(block, stays)).collect();
    let mut features = Vec::new();
    for (block, in_block) in sorted.iter().enumerate() {
        in_block.walk(|level, at, df| {
            if stays(df) {
                features.push(Feature { at, df, block: block as u8, level });
            }
        });
    }
    if let (Some(limit), Some(totals)) = (spec.max_features, totals)
        && features.len() > limit
    {
        // Those that occur most often, ties by name; then in order of name again.
        let mut best: Vec<usize> = (0..features.len()).collect();
        let total = |&i: &usize| {
            let feature: &Feature = &features[i];
            totals[feature.block as usize].get(sorted[feature.block as usize].id(feature))
        };
        best.sort_by_key(|i| std::cmp::Reverse(total(i)));
        best.truncate(limit);
        best.sort_unstable();
        features = best.into_iter().map(|i| features[i]).collect();
    }
    (by_falling_df(&features), sorted)
}

/// Sorts by falling frequency, equals as they were.
fn by_falling_df(features: &[Feature]) -> Vec<Feature> {
    let most = features.iter().map(|feature| feature.df).max().unwrap_or(0);
    let key = |feature: &Feature| (most - feature.df) as usize;
    let mut starts = vec![0u32; most as usize + 2];
    for feature in features {
        starts[key(feature) + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut sorted = features.to_vec();
    for feature in features {
        let at = &mut starts[key(feature)];
        sorted[*at as usize] = *feature;
        *at += 1;
    }
    sorted
}

impl Sorted {
    fn new(block: &Merged, stays: impl Fn(u32) -> bool) -> Self {
        let words = sorted_strings(&block.words);
        let mut place = vec![0u32; words.len()];
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(words.len()));
        let mut strings = Vec::with_capacity(words.len());
        for (at, &id) in words.iter().enumerate() {
            place[id as usize] = at as u32;
            bytes.extend_from_slice(block.words.get(id as usize));
            ends.push(bytes.len() as u32);
            strings.push(Entry { left: 0, word: at as u32, id, df: block.df_words[id as usize] });
        }
        bytes.extend_from_slice(ZEROS.as_bytes());
        let mut levels = vec![strings];
        for entries in pairs_by_level(block, stays) {
            let lefts = &levels[levels.len() - 1];
            // Where an n-gram's left part went when its level was sorted.
            let moved = (levels.len() > 1).then(|| {
                let mut moved = vec![0u32; block.pairs.len()];
                for (at, left) in lefts.iter().enumerate() {
                    moved[left.id as usize] = at as u32;
                }
                moved
            });
            let mut entries: Vec<Entry> = entries
                .into_iter()
                .map(|entry| Entry {
                    left: match &moved {
                        None => place[entry.left as usize],
                        Some(moved) => moved[(entry.left & !PAIR) as usize],
                    },
                    word: place[entry.word as usize],
                    ..entry
                })
                .collect();
            let mut buffer = entries.clone();
            let last = |n: usize| n.saturating_sub(1) as u64;
            radix_sort(&mut entries, &mut buffer, last(words.len()), |e| u64::from(e.word));
            radix_sort(&mut entries, &mut buffer, last(lefts.len()), |e| u64::from(e.left));
            levels.push(entries);
        }
        Self { levels, bytes, ends }
    }

    /// The number of a feature among strings or n-grams.
    pub(crate) fn id(&self, feature: &Feature) -> u32 {
        let id = self.levels[feature.level as usize][feature.at as usize].id;
        if feature.level == 0 { id } else { id | PAIR }
    }

    /// Appends a feature's name: its words with one space between them.
    pub(crate) fn write_name(&self, feature: &Feature, out: &mut Vec<u8>) {
        self.write(feature.level as usize, feature.at as usize, out);
    }

    fn write(&self, level: usize, at: usize, out: &mut Vec<u8>) {
        let entry = &self.levels[level][at];
        if level > 0 {
            self.write(level - 1, entry.left as usize, out);
            out.push(b' ');
        }
        let word = entry.word as usize;
        let mut at = if word == 0 { 0 } else { self.ends[word - 1] as usize };
        let end = self.ends[word] as usize;
        let len = out.len() + end - at;
        // Eight bytes at a time, then cut: most words are one store instead of a call.
        while at < end {
            let eight: [u8; PAD] = self.bytes[at..at + PAD].try_into().expect("a pad follows");
            out.extend_from_slice(&eight);
            at += PAD;
        }
        out.truncate(len);
    }

    /// Calls `f(level, place, df)` for every entry, in order of name.
    fn walk(&self, mut f: impl FnMut(u8, u32, u32)) {
        // The next entry of each level.
        let mut fingers = vec![0u32; self.levels.len() + 1];
        for (at, entry) in self.levels[0].iter().enumerate() {
            f(0, at as u32, entry.df);
            fingers[0] = at as u32;
            // The entry last met at `level - 1` is the one at that level's finger.
            let mut level = 1;
            while level > 0 {
                let Some(entries) = self.levels.get(level) else {
                    level -= 1;
                    fingers[level] += u32::from(level > 0);
                    continue;
                };
                match entries.get(fingers[level] as usize) {
                    Some(entry) if entry.left == fingers[level - 1] => {
                        f(level as u8, fingers[level], entry.df);
                        level += 1;
                    }
                    _ => {
                        level -= 1;
                        fingers[level] += u32::from(level > 0);
                    }
                }
            }
        }
    }
}

/// N-grams that stay, and those that lead to one, by their number of words from two up. `left` and `word` are numbers still.
fn pairs_by_level(block: &Merged, stays: impl Fn(u32) -> bool) -> Vec<Vec<Entry>> {
    let mut needed: Vec<bool> = block.df_pairs.iter().map(|&df| stays(df)).collect();
    let mut level = vec![0u8; needed.len()];
    for (i, &[left, _]) in block.pairs.iter().enumerate() {
        if left & PAIR != 0 {
            level[i] = level[(left & !PAIR) as usize].saturating_add(1);
        }
    }
    for i in (0..needed.len()).rev() {
        let left = block.pairs[i][0];
        if needed[i] && left & PAIR != 0 {
            needed[(left & !PAIR) as usize] = true;
        }
    }
    let mut levels: Vec<Vec<Entry>> = Vec::new();
    for (i, &[left, word]) in block.pairs.iter().enumerate() {
        if needed[i] {
            let level = level[i] as usize;
            if levels.len() <= level {
                levels.resize_with(level + 1, Vec::new);
            }
            levels[level].push(Entry { left, word, id: i as u32, df: block.df_pairs[i] });
        }
    }
    levels
}

/// The numbers of all strings, in order of their bytes.
fn sorted_strings(strings: &Strings) -> Vec<u32> {
    let mut order: Vec<(u64, u32)> = (0..strings.len())
        .map(|i| {
            let string = strings.get(i);
            let mut head = [0; 8];
            let n = string.len().min(8);
            head[..n].copy_from_slice(&string[..n]);
            (u64::from_be_bytes(head), i as u32)
        })
        .collect();
    // Most are told apart by their first eight bytes, without a look at the strings.
    order.par_sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| strings.get(a.1 as usize).cmp(strings.get(b.1 as usize)))
    });
    order.into_iter().map(|(_, i)| i).collect()
}

/// Old numbers → new ones, or [`NONE`], for one block.
pub(crate) struct Renumbering {
    words: Vec<u32>,
    pairs: Vec<u32>,
}

impl Renumbering {
    /// One a block.
    pub(crate) fn all(blocks: &[Merged], features: &[Feature], sorted: &[Sorted]) -> Vec<Self> {
        let mut all: Vec<_> = blocks
            .iter()
            .map(|block| Self {
                words: vec![NONE; block.words.len()],
                pairs: vec![NONE; block.pairs.len()],
            })
            .collect();
        for (j, feature) in features.iter().enumerate() {
            let id = sorted[feature.block as usize].id(feature);
            let new = &mut all[feature.block as usize];
            let slot = if id & PAIR == 0 {
                &mut new.words[id as usize]
            } else {
                &mut new.pairs[(id & !PAIR) as usize]
            };
            *slot = j as u32;
        }
        all
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> u32 {
        if id & PAIR == 0 { self.words[id as usize] } else { self.pairs[(id & !PAIR) as usize] }
    }

    /// The same from a lane's numbers.
    pub(crate) fn after(&self, map: &LaneMap) -> Self {
        Self {
            words: (0..map.n_words() as u32).map(|i| self.get(map.get(i))).collect(),
            pairs: (0..map.n_pairs() as u32).map(|i| self.get(map.get(i | PAIR))).collect(),
        }
    }
}
