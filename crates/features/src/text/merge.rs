//! Many lanes' tables into one.

use super::fit::Growing;
use super::page::Lookup;
use super::tables::{NONE, PAIR, Sorter, Strings};

/// All strings and n-grams of a block.
pub(crate) struct Merged {
    pub(crate) words: Strings,
    /// For each n-gram of two or more words: the n-gram without its last word, which stands before it in this list
    /// or is a word, and the last word.
    pub(crate) pairs: Vec<[u32; 2]>,
    pub(crate) df_words: Vec<u32>,
    pub(crate) df_pairs: Vec<u32>,
}

/// A lane's numbers → merged numbers.
pub(crate) struct LaneMap {
    words: Vec<u32>,
    pairs: Vec<u32>,
}

impl LaneMap {
    #[inline]
    pub(crate) fn get(&self, id: u32) -> u32 {
        if id & PAIR == 0 { self.words[id as usize] } else { self.pairs[(id & !PAIR) as usize] }
    }

    /// How many strings and n-grams the lane has.
    pub(crate) fn n_words(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn n_pairs(&self) -> usize {
        self.pairs.len()
    }
}

/// Merges the lanes' tables of one block. No map means that a lane's numbers stay.
pub(crate) fn merge(lanes: Vec<Growing>) -> (Merged, Vec<Option<LaneMap>>) {
    let mut lanes = lanes.into_iter();
    let mut all = lanes.next().unwrap_or_default();
    let mut maps = vec![None];
    for lane in lanes {
        maps.push(Some(add(&mut all, lane)));
    }
    all.df_words.resize(all.words.len(), 0);
    all.df_pairs.resize(all.pairs.len(), 0);
    let Growing { words, pairs, df_words, df_pairs, .. } = all;
    (Merged { words, pairs, df_words, df_pairs }, maps)
}

fn add(all: &mut Growing, lane: Growing) -> LaneMap {
    let Growing { words, pairs, df_words, df_pairs, .. } = lane;
    let mut of_words = Vec::with_capacity(words.len());
    let spans: Vec<(usize, usize)> = (0..words.len()).map(|i| words.span(i)).collect();
    all.words(words.buffer(), &spans, &mut of_words);
    // An n-gram comes after the one that it lengthens, and that one's new number is known once all of fewer words are.
    let mut of_pairs = vec![NONE; pairs.len()];
    let mut left_over: Vec<u32> = (0..pairs.len() as u32).collect();
    let mut sorter = Sorter::default();
    while !left_over.is_empty() {
        let is_ready = |&i: &u32| {
            let left = pairs[i as usize][0];
            left & PAIR == 0 || of_pairs[(left & !PAIR) as usize] != NONE
        };
        let (ready, later): (Vec<u32>, Vec<u32>) = left_over.iter().partition(|i| is_ready(i));
        if ready.is_empty() {
            break; // numbers have run out, which is an error already
        }
        let new = |id: u32| {
            if id & PAIR == 0 { of_words[id as usize] } else { of_pairs[(id & !PAIR) as usize] }
        };
        let mut grams: Vec<u32> = ready.iter().map(|&i| new(pairs[i as usize][0])).collect();
        let lasts: Vec<u32> = ready.iter().map(|&i| new(pairs[i as usize][1])).collect();
        all.lengthen(&mut grams, &lasts, &mut sorter);
        for (&i, gram) in ready.iter().zip(grams) {
            of_pairs[i as usize] = gram;
        }
        left_over = later;
    }
    all.df_words.resize(all.words.len(), 0);
    all.df_pairs.resize(all.pairs.len(), 0);
    for (&id, df) in of_words.iter().zip(df_words) {
        if let Some(sum) = all.df_words.get_mut(id as usize) {
            *sum = sum.saturating_add(df);
        }
    }
    for (&id, df) in of_pairs.iter().zip(df_pairs) {
        if let Some(sum) = all.df_pairs.get_mut((id & !PAIR) as usize) {
            *sum = sum.saturating_add(df);
        }
    }
    LaneMap { words: of_words, pairs: of_pairs }
}
