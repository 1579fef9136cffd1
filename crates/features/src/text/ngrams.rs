//! N-grams of words by sorting.
//!
//! An n-gram is a pair: the n-gram without its last word, and that word. At the end of learning all words are known, so
//! both halves are small numbers, places in order of names. Each occurrence in a row becomes one 64-bit number (left, word,
//! row); sorted, equal n-grams stand together, in order of name, and their rows rise. One walk over them yields every n-gram
//! with its document frequency and its *postings*, the rows it is in with how often.
//!
//! A hash table from pairs to numbers does the same in one look an occurrence. But most n-grams are rare, so the table
//! outgrows the caches and each look waits for memory, and each thread's table must be merged into one. Sorting reads and
//! writes memory in order: on the 1–2-grams of 20 Newsgroups it halves the time of the whole fit.

use super::assemble::Chunks;
use super::order::Entry;
use super::sort::radix_sort;
use super::spec::TextSpec;
use super::tables::NONE;
use crate::Error;
use rayon::prelude::*;
use std::ops::Range;

/// Occurrences that are sorted at once, where there are more: what fits the last cache.
const TOGETHER: usize = 1 << 22;

/// The most parts that occurrences are sorted in: each reads all words again.
const MOST_PARTS: usize = 8;

/// What document frequencies are wanted.
pub(crate) struct Limits {
    min: f64,
    max: f64,
}

impl Limits {
    pub(crate) fn new(spec: &TextSpec, n_docs: usize) -> Self {
        Self { min: spec.min_df.documents(n_docs).max(1.0), max: spec.max_df.documents(n_docs) }
    }

    /// Whether a feature stays.
    pub(crate) fn is_kept(&self, df: u32) -> bool {
        (self.min..=self.max).contains(&f64::from(df))
    }

    /// Whether anything that contains it may stay: it occurs in no more documents.
    pub(crate) fn may_be_in_kept(&self, df: u32) -> bool {
        f64::from(df) >= self.min
    }

    /// Whether there may be a frequency of up to `n` that does not stay.
    fn drops_some(&self, n: usize) -> bool {
        !self.may_be_in_kept(1) || self.max < n as f64
    }
}

/// All rows as words.
pub(crate) struct Texts {
    /// Each word by its place in order of name.
    words: Vec<u32>,
    /// How many words each row has.
    lens: Vec<u32>,
}

impl Texts {
    /// Takes the words out of chunks in order, each with its lane's numbers; `places` has their places. Words without which all
    /// features can do are [`NONE`].
    pub(crate) fn new(
        chunks: &mut Chunks,
        places: &[Vec<u32>],
        is_needed: impl Fn(u32) -> bool,
    ) -> Result<Self, Error> {
        let n: usize = chunks.iter().map(|(.., rows)| rows.words.len()).sum();
        if n >= NONE as usize {
            return Err(Error::TooMany { what: "words in all texts", limit: u64::from(NONE) });
        }
        let needed = |&place: &u32| if is_needed(place) { place } else { NONE };
        let places: Vec<Vec<u32>> =
            places.iter().map(|of_lane| of_lane.iter().map(needed).collect()).collect();
        let mut words = vec![0; n];
        let mut lens = Vec::new();
        let mut left = words.as_mut_slice();
        let mut work = Vec::with_capacity(chunks.len());
        for (_, lane, rows) in chunks {
            let out;
            (out, left) = left.split_at_mut(rows.words.len());
            lens.append(&mut rows.word_lens);
            work.push((out, &places[*lane], std::mem::take(&mut rows.words)));
        }
        work.into_par_iter().for_each(|(out, places, ids)| {
            for (word, id) in out.iter_mut().zip(ids) {
                *word = places[id as usize];
            }
        });
        Ok(Self { words, lens })
    }

    /// Calls `f(left, word, row, place)` for each n-gram, where `lefts` has the n-grams of one word less by where they start.
    /// Those of which a half is [`NONE`] are not.
    #[inline(always)]
    fn for_each(&self, lefts: &[u32], n: usize, mut f: impl FnMut(u32, u32, u32, u32)) {
        let mut start = 0;
        for (row, &len) in self.lens.iter().enumerate() {
            let end = start + len as usize;
            if len as usize >= n {
                let words = &self.words[start + n - 1..end];
                for (i, (&left, &word)) in lefts[start..=end - n].iter().zip(words).enumerate() {
                    if left != NONE && word != NONE {
                        f(left, word, row as u32, (start + i) as u32);
                    }
                }
            }
            start = end;
        }
    }

    /// The row of each place.
    fn rows(&self) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.words.len());
        for (row, &len) in self.lens.iter().enumerate() {
            rows.resize(rows.len() + len as usize, row as u32);
        }
        rows
    }
}

/// N-grams of one length, in order of name.
#[derive(Default)]
pub(crate) struct Level {
    pub(crate) entries: Vec<Entry>,
    /// `row << 32 | count`, rising; an n-gram that is a feature has as many as documents, from [`Entry::at`] on. In parts,
    /// each with where its entries end.
    pub(crate) postings: Vec<(u32, Vec<u64>)>,
}

/// All n-grams of two words and more that may be features or parts of some, by length.
pub(crate) fn levels(
    texts: Texts,
    n_words: usize,
    (lo, hi): (usize, usize),
    limits: &Limits,
) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let mut grams: Option<Vec<u32>> = None;
    for n in 2..=hi {
        let n_lefts = levels.last().map_or(n_words, |level| level.entries.len());
        let lefts = grams.as_deref().unwrap_or(&texts.words);
        let search = Search { texts: &texts, lefts, n, n_lefts, n_words };
        let mut level;
        (level, grams) = if n < hi {
            let (level, grams) = search.run_with_places(limits, n >= lo);
            (level, Some(grams))
        } else {
            (search.run(limits, true), None)
        };
        if n < lo {
            level.entries.iter_mut().for_each(|entry| entry.df = 0); // parts of features, but none themselves
        }
        levels.push(level);
    }
    levels
}

/// Finds the n-grams of one length.
struct Search<'a> {
    texts: &'a Texts,
    lefts: &'a [u32],
    n: usize,
    n_lefts: usize,
    n_words: usize,
}

/// Some of the lefts, and with how many words they occur.
struct Part {
    lefts: Range<u32>,
    n: usize,
}

impl Search<'_> {
    fn run(&self, limits: &Limits, is_feature: bool) -> Level {
        let parts: Vec<Grams> = self
            .parts()
            .into_par_iter()
            .with_max_len(1)
            .map(|part| self.part(&part, None, limits, is_feature, |_, _| ()))
            .collect();
        join(parts)
    }

    /// The same, and for each place the n-gram that starts there.
    fn run_with_places(&self, limits: &Limits, is_feature: bool) -> (Level, Vec<u32>) {
        let row_of = self.texts.rows();
        let mut grams = vec![NONE; row_of.len()];
        let mut n_entries = 0;
        let mut parts = Vec::new();
        for part in self.parts() {
            let part = self.part(&part, Some(&row_of), limits, is_feature, |place, entry| {
                grams[place as usize] = n_entries + entry;
            });
            n_entries += part.entries.len() as u32;
            parts.push(part);
        }
        (join(parts), grams)
    }

    /// Cuts the lefts into parts of about as many occurrences. The result does not depend on how many parts there are.
    fn parts(&self) -> Vec<Part> {
        let n_all = self.texts.words.len();
        let n_parts = n_all.div_ceil(TOGETHER).max(rayon::current_num_threads()).min(MOST_PARTS);
        let mut counts = vec![0u32; self.n_lefts];
        self.texts.for_each(self.lefts, self.n, |left, _, _, _| counts[left as usize] += 1);
        let enough = n_all.div_ceil(n_parts).max(1);
        let mut parts = Vec::new();
        let (mut start, mut n) = (0, 0);
        for (left, &count) in counts.iter().enumerate() {
            n += count as usize;
            if n >= enough || left + 1 == counts.len() {
                parts.push(Part { lefts: start..left as u32 + 1, n });
                (start, n) = (left as u32 + 1, 0);
            }
        }
        parts
    }

    fn part(
        &self,
        part: &Part,
        row_of: Option<&[u32]>,
        limits: &Limits,
        is_feature: bool,
        mark: impl FnMut(u32, u32),
    ) -> Grams {
        let low_bits = bits(row_of.map_or(self.texts.lens.len(), <[u32]>::len));
        if bits(part.lefts.len()) + bits(self.n_words) + low_bits <= 64 {
            self.sort::<u64>(part, row_of, low_bits, limits, is_feature, mark)
        } else {
            self.sort::<u128>(part, row_of, low_bits, limits, is_feature, mark)
        }
    }

    fn sort<P: Packed>(
        &self,
        part: &Part,
        row_of: Option<&[u32]>,
        low_bits: u32,
        limits: &Limits,
        is_feature: bool,
        mut mark: impl FnMut(u32, u32),
    ) -> Grams {
        let word_bits = bits(self.n_words);
        let has_places = row_of.is_some();
        let mut found = vec![P::pack(0, 0, low_bits); part.n + 1];
        let mut n = 0;
        self.texts.for_each(self.lefts, self.n, |left, word, row, place| {
            let key = u64::from(left.wrapping_sub(part.lefts.start)) << word_bits | u64::from(word);
            let low = if has_places { place } else { row };
            // Written in any case, and overwritten if it is not of this part: a branch would be guessed wrong too often.
            found[n] = P::pack(key, low, low_bits);
            n += usize::from(part.lefts.contains(&left));
        });
        found.truncate(n);
        let mut buffer = found.clone();
        let most = ((part.lefts.len() as u64) << word_bits).saturating_sub(1);
        radix_sort(&mut found, &mut buffer, &mut [0; 2048], most, |p| p.key(low_bits));

        let row = |p: &P| {
            let low = p.low(low_bits);
            row_of.map_or(low, |row_of| row_of[low as usize])
        };
        let halves = |key: u64| {
            (part.lefts.start + (key >> word_bits) as u32, key as u32 & !(u32::MAX << word_bits))
        };
        let occurrences = found.iter().map(|p| (p.key(low_bits), row(p)));
        let mut grams = Grams::of_sorted(occurrences, halves, P::recycle(buffer));
        let drops_some = !is_feature || limits.drops_some(self.texts.lens.len());
        let kept =
            if drops_some || has_places { grams.keep(limits, is_feature) } else { Vec::new() };
        if row_of.is_some() {
            let equals = found.chunk_by(|a, b| a.key(low_bits) == b.key(low_bits));
            for (equals, &entry) in equals.zip(&kept) {
                if entry != NONE {
                    equals.iter().for_each(|p| mark(p.low(low_bits), entry));
                }
            }
        }
        grams
    }
}

/// Some n-grams of one length, in order of name, with their postings.
#[derive(Default)]
struct Grams {
    entries: Vec<Entry>,
    postings: Vec<u64>,
}

impl Grams {
    /// From (key, row) of all occurrences, in order; `halves` cuts a key into left and word. `postings` is for as many as
    /// there are occurrences.
    fn of_sorted(
        mut occurrences: impl Iterator<Item = (u64, u32)> + Clone,
        halves: impl Fn(u64) -> (u32, u32),
        mut postings: Vec<u64>,
    ) -> Self {
        let n_entries = changes(occurrences.clone().map(|(key, _)| key));
        let Some((mut last_key, mut last_row)) = occurrences.next() else {
            return Self::default();
        };
        // Nothing here branches: where n-grams and rows change is anyone's guess.
        let entry = |key, df, at| {
            let (left, word) = halves(key);
            Entry { left, word, df, at }
        };
        let mut entries = vec![Entry::default(); n_entries];
        let (mut n_entries, mut n_postings) = (0usize, 0usize);
        let (mut df, mut at, mut count) = (1u32, 0u32, 1u32);
        entries[0] = entry(last_key, df, at);
        postings[0] = u64::from(last_row) << 32 | 1;
        for (key, row) in occurrences {
            let is_new = key != last_key;
            let is_new_row = is_new | (row != last_row);
            n_entries += usize::from(is_new);
            n_postings += usize::from(is_new_row);
            count = if is_new_row { 1 } else { count + 1 };
            df = if is_new { 1 } else { df + u32::from(is_new_row) };
            at = if is_new { n_postings as u32 } else { at };
            entries[n_entries] = entry(key, df, at);
            postings[n_postings] = u64::from(row) << 32 | u64::from(count);
            (last_key, last_row) = (key, row);
        }
        postings.truncate(n_postings + 1);
        Self { entries, postings }
    }

    /// Drops n-grams that nothing needs, and postings of those that are not features. Gives the new place of each, or [`NONE`].
    fn keep(&mut self, limits: &Limits, is_feature: bool) -> Vec<u32> {
        let mut kept = Vec::with_capacity(self.entries.len());
        let (mut n_entries, mut n_postings) = (0, 0);
        for i in 0..self.entries.len() {
            let Entry { df, at, .. } = self.entries[i];
            if !limits.may_be_in_kept(df) {
                kept.push(NONE);
                continue;
            }
            kept.push(n_entries as u32);
            self.entries[n_entries] = Entry { at: n_postings as u32, ..self.entries[i] };
            n_entries += 1;
            if is_feature && limits.is_kept(df) {
                let (from, n) = (at as usize, df as usize);
                self.postings.copy_within(from..from + n, n_postings);
                n_postings += n;
            }
        }
        self.entries.truncate(n_entries);
        self.postings.truncate(n_postings);
        kept
    }
}

fn join(parts: Vec<Grams>) -> Level {
    let mut all = Level::default();
    for part in parts {
        if all.entries.is_empty() {
            all.entries = part.entries;
        } else {
            all.entries.extend_from_slice(&part.entries);
        }
        all.postings.push((all.entries.len() as u32, part.postings));
    }
    all
}

/// How many runs of equal numbers there are.
fn changes(mut numbers: impl Iterator<Item = u64>) -> usize {
    let Some(mut last) = numbers.next() else { return 0 };
    let mut n = 1;
    for number in numbers {
        n += usize::from(number != last);
        last = number;
    }
    n
}

/// How many bits numbers below `n` have.
fn bits(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

/// An occurrence: its key, and the row or place below it.
trait Packed: Copy {
    fn pack(key: u64, low: u32, low_bits: u32) -> Self;
    fn key(self, low_bits: u32) -> u64;
    fn low(self, low_bits: u32) -> u32;
    /// As many 64-bit numbers, if it can be in the same memory.
    fn recycle(buffer: Vec<Self>) -> Vec<u64>;
}

impl Packed for u64 {
    #[inline(always)]
    fn pack(key: u64, low: u32, low_bits: u32) -> Self {
        key << low_bits | u64::from(low)
    }

    #[inline(always)]
    fn key(self, low_bits: u32) -> u64 {
        self >> low_bits
    }

    #[inline(always)]
    fn low(self, low_bits: u32) -> u32 {
        (self & !(u64::MAX << low_bits)) as u32
    }

    fn recycle(buffer: Vec<Self>) -> Vec<u64> {
        buffer
    }
}

/// For so many rows and words that 64 bits do not do.
impl Packed for u128 {
    #[inline(always)]
    fn pack(key: u64, low: u32, _low_bits: u32) -> Self {
        u128::from(key) << 32 | u128::from(low)
    }

    #[inline(always)]
    fn key(self, _low_bits: u32) -> u64 {
        (self >> 32) as u64
    }

    #[inline(always)]
    fn low(self, _low_bits: u32) -> u32 {
        self as u32
    }

    fn recycle(buffer: Vec<Self>) -> Vec<u64> {
        vec![0; buffer.len()]
    }
}
