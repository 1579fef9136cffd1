//! The numbers of features: by falling document frequency, ties by name.
//!
//! Names are never compared as a whole. Strings are in order; n-grams of two words are in order of both, those of three in order
//! of their first two and the third, and so on. In such lists the n-grams that lengthen an n-gram stand together and in its
//! order, so a walk with one finger on each level meets all names in order, word by word, and reads every list from front
//! to back.

use super::assemble::Source;
use super::merge::SortedStrings;
use super::ngrams::Limits;

/// A string, or an n-gram, of a block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry {
    /// Place, one level below, of the n-gram without its last word.
    pub(crate) left: u32,
    /// Place of the last word among all strings.
    pub(crate) word: u32,
    /// Documents with it.
    pub(crate) df: u32,
    /// Where its postings start.
    pub(crate) at: u32,
}

/// A block's strings and n-grams, in order of name.
pub(crate) struct Sorted {
    strings: SortedStrings,
    /// By number of words, less one. All strings are at level 0.
    pub(crate) levels: Vec<Vec<Entry>>,
}

/// A feature.
#[derive(Clone, Copy)]
pub(crate) struct Feature {
    /// Its place among the entries of its level.
    pub(crate) at: u32,
    pub(crate) df: u32,
    pub(crate) block: u8,
    /// Its number of words, less one; 0 in a block of strings.
    pub(crate) level: u8,
    /// Which part its postings are in, and where they start.
    pub(crate) part: u8,
    pub(crate) postings: u32,
}

/// The features that stay, in order of block and name.
pub(crate) fn in_order(blocks: &[Sorted], sources: &[Source], limits: &Limits) -> Vec<Feature> {
    let mut features = Vec::new();
    for (block, (sorted, source)) in blocks.iter().zip(sources).enumerate() {
        sorted.walk(|level, at, entry| {
            if limits.is_kept(entry.df) {
                let (df, postings) = (entry.df, entry.at);
                let part = source.part(level as usize, at);
                features.push(Feature { at, df, block: block as u8, level, part, postings });
            }
        });
    }
    features
}

/// The `n` features with the largest totals, in the order that they had; of equals the first.
pub(crate) fn keep_most(features: &mut Vec<Feature>, n: usize, total: impl Fn(&Feature) -> u64) {
    let mut best: Vec<usize> = (0..features.len()).collect();
    best.sort_by_cached_key(|&i| std::cmp::Reverse(total(&features[i])));
    best.truncate(n);
    best.sort_unstable();
    *features = best.into_iter().map(|i| features[i]).collect();
}

/// Sorts by falling frequency, equals as they were.
pub(crate) fn by_falling_df(features: &[Feature]) -> Vec<Feature> {
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
    /// `df` is of the strings, if they are features; `levels` has n-grams of them from two words up.
    pub(crate) fn new(
        strings: SortedStrings,
        df: Option<&Vec<u32>>,
        levels: Vec<Vec<Entry>>,
    ) -> Self {
        let df = |word: usize| df.map_or(0, |df| df[word]);
        let entry = |word: usize| Entry { left: 0, word: word as u32, df: df(word), at: 0 };
        let words = (0..strings.len()).map(entry).collect();
        let mut all = vec![words];
        all.extend(levels);
        Self { strings, levels: all }
    }

    pub(crate) fn n_strings(&self) -> usize {
        self.strings.len()
    }

    /// Appends a feature's name: its words with one space between them.
    pub(crate) fn write_name(&self, feature: &Feature, out: &mut Vec<u8>) {
        self.write(feature.level as usize, feature.at as usize, out);
    }

    /// Asks for what [`write_name`](Self::write_name) will read, in two steps for many features each, so that it waits for no memory.
    #[inline]
    pub(crate) fn prefetch(&self, feature: &Feature, ends_are_near: bool) {
        let mut at = feature.at as usize;
        for level in self.levels[..=feature.level as usize].iter().rev() {
            self.strings.prefetch(level[at].word as usize, ends_are_near);
            at = level[at].left as usize;
        }
    }

    fn write(&self, level: usize, at: usize, out: &mut Vec<u8>) {
        let entry = &self.levels[level][at];
        if level > 0 {
            self.write(level - 1, entry.left as usize, out);
            out.push(b' ');
        }
        self.strings.write(entry.word as usize, out);
    }

    /// Calls `f(level, place, entry)` for every entry, in order of name.
    fn walk(&self, mut f: impl FnMut(u8, u32, &Entry)) {
        // The next entry of each level.
        let mut fingers = vec![0u32; self.levels.len() + 1];
        for (at, entry) in self.levels[0].iter().enumerate() {
            f(0, at as u32, entry);
            fingers[0] = at as u32;
            // The entry last met one level down is the one at that level's finger.
            let mut level = 1;
            while level > 0 {
                match self.levels.get(level).and_then(|l| l.get(fingers[level] as usize)) {
                    Some(entry) if entry.left == fingers[level - 1] => {
                        f(level as u8, fingers[level], entry);
                        level += 1;
                    }
                    _ => {
                        level -= 1;
                        fingers[level] += 1;
                    }
                }
            }
        }
    }
}
