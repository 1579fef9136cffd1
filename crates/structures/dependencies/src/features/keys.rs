//! The keys of one sentence: for each place of a section, word and template, what the word contributes to the feature's hash.
//!
//! Single templates: `single[place][row * n_single + t]`, so that an arc reads two runs of adjacent numbers. Rows are the root 0, the words 1 … n and a row n + 1 for a word
//! that is not there. Templates with several features: `lists[place]`, a list for each row and template, [0] where the template has nothing at the place.

use super::hash;
use super::sentences::{NONE, Sentence, Spot};
use super::templates::{CellOf, Part, Program};

/// How many places a section of parts has at most: `h m between`, `h s m`, `g h m`.
const PLACES: usize = 3;
/// The place of `between` in sections of arcs.
const BETWEEN: usize = 2;

/// The keys of one sentence for one section.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    n_single: usize,
    n_lists: usize,
    n: usize,
    single: [Vec<u32>; PLACES],
    lists: [Lists; PLACES],
    /// For each entry of the lists of `between`: the last row before it that has the same key in the same template, or 0. The values of an interval are counted once
    /// each by taking entries whose `previous` row lies outside.
    previous: Vec<u32>,
    has_between: Vec<bool>,
    buffer: Vec<u64>,
}

/// A list of keys for each row and template.
#[derive(Clone, Debug, Default)]
struct Lists {
    /// Entry `row * n_lists + t + 1`: where the list ends.
    ends: Vec<u32>,
    keys: Vec<u32>,
}

impl Lists {
    #[inline]
    fn range(&self, at: usize) -> std::ops::Range<usize> {
        self.ends[at] as usize..self.ends[at + 1] as usize
    }

    #[inline]
    fn get(&self, at: usize) -> &[u32] {
        &self.keys[self.range(at)]
    }
}

impl Keys {
    /// Computes the keys of a sentence.
    pub(crate) fn load(&mut self, program: &Program, sentence: &Sentence<'_>) {
        let is_arcs = program.section.is_many(BETWEEN);
        let (single, several) = program.templates.split_at(program.n_single);
        self.n = sentence.n;
        self.n_single = single.len();
        self.n_lists = several.len();
        let rows = sentence.n + 2;
        for (place, keys) in self.single.iter_mut().enumerate() {
            keys.clear();
            if is_arcs && place == BETWEEN {
                continue;
            }
            keys.resize(rows * single.len(), 0);
            let parts = single.iter().enumerate().flat_map(|(t, template)| {
                template.parts.iter().filter(|part| part.place == place).map(move |part| (t, part))
            });
            for (t, part) in parts {
                for (row, keys) in keys.chunks_exact_mut(single.len()).enumerate() {
                    keys[t] = single_key(part, sentence, if row > sentence.n { NONE } else { row });
                }
            }
        }
        for (place, lists) in self.lists.iter_mut().enumerate() {
            lists.ends.clear();
            lists.keys.clear();
            lists.ends.push(0);
            for row in 0..rows {
                let word = if row > sentence.n { NONE } else { row };
                for template in several {
                    match template.parts.iter().find(|part| part.place == place) {
                        Some(part) => {
                            list_keys(part, sentence, word, &mut self.buffer);
                            lists.keys.extend(self.buffer.iter().map(|&hash| key(hash)));
                        }
                        None => lists.keys.push(0),
                    }
                    lists.ends.push(lists.keys.len() as u32);
                }
            }
        }
        self.has_between.clear();
        self.has_between.extend(
            several.iter().map(|t| is_arcs && t.parts.iter().any(|part| part.place == BETWEEN)),
        );
        self.link_equal_keys();
    }

    fn link_equal_keys(&mut self) {
        let lists = &self.lists[BETWEEN];
        self.previous.clear();
        if !self.has_between.contains(&true) {
            return;
        }
        self.previous.resize(lists.keys.len(), 0);
        for t in (0..self.n_lists).filter(|&t| self.has_between[t]) {
            for row in 2..=self.n {
                for entry in lists.range(row * self.n_lists + t) {
                    let same = |&row: &usize| {
                        lists.get(row * self.n_lists + t).contains(&lists.keys[entry])
                    };
                    self.previous[entry] = (1..row).rev().find(same).unwrap_or(0) as u32;
                }
            }
        }
    }

    /// The keys of the single templates at a place for a row: [`row`](Self::row) of a word.
    #[inline]
    pub(crate) fn single(&self, place: usize, row: usize) -> &[u32] {
        &self.single[place][row * self.n_single..(row + 1) * self.n_single]
    }

    /// The row of the word that is not there.
    pub(crate) fn none(&self) -> usize {
        self.n + 1
    }

    /// Whether there are templates with several features.
    #[inline]
    pub(crate) fn has_lists(&self) -> bool {
        self.n_lists > 0
    }

    /// The features of an arc that come from templates with several features.
    #[inline]
    pub(crate) fn each_of_arc(&self, h: usize, m: usize, mut f: impl FnMut(u32)) {
        let (low, high) = (h.min(m), h.max(m));
        for t in 0..self.n_lists {
            let (heads, modifiers) =
                (self.lists[0].get(h * self.n_lists + t), self.lists[1].get(m * self.n_lists + t));
            for &head in heads {
                for &modifier in modifiers {
                    let key = head ^ modifier;
                    if !self.has_between[t] {
                        f(key);
                        continue;
                    }
                    for row in low + 1..high {
                        for entry in self.lists[BETWEEN].range(row * self.n_lists + t) {
                            if self.previous[entry] as usize <= low {
                                f(key ^ self.lists[BETWEEN].keys[entry]);
                            }
                        }
                    }
                }
            }
        }
    }

    /// The features of a part of three words that come from templates with several features.
    #[inline]
    pub(crate) fn each_of_triple(&self, rows: [usize; 3], mut f: impl FnMut(u32)) {
        for t in 0..self.n_lists {
            let [first, second, third] =
                [0, 1, 2].map(|place| self.lists[place].get(rows[place] * self.n_lists + t));
            for &a in first {
                for &b in second {
                    for &c in third {
                        f(a ^ b ^ c);
                    }
                }
            }
        }
    }
}

/// The part of a hash that is kept.
#[inline]
pub(crate) fn key(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// The key of a part without split cells.
#[inline]
pub(crate) fn single_key(part: &Part, sentence: &Sentence<'_>, word: usize) -> u32 {
    let mut hash = part.seed;
    for atom in &part.atoms {
        if let CellOf::Single { channel, offset } = *atom {
            hash = hash::push(hash, sentence.cell(channel, Spot::near(word, offset, sentence.n)));
        }
    }
    key(hash)
}

/// The hashes of a part, one for each choice of values of its split cells.
pub(crate) fn list_keys(part: &Part, sentence: &Sentence<'_>, word: usize, hashes: &mut Vec<u64>) {
    hashes.clear();
    hashes.push(part.seed);
    for atom in &part.atoms {
        match *atom {
            CellOf::Single { channel, offset } => {
                let cell = sentence.cell(channel, Spot::near(word, offset, sentence.n));
                hashes.iter_mut().for_each(|hash| *hash = hash::push(*hash, cell));
            }
            CellOf::Split { channel, offset } => {
                let cells = sentence.list(channel, Spot::near(word, offset, sentence.n));
                let n = hashes.len();
                for at in 0..n {
                    let hash = hashes[at];
                    hashes.extend(cells.iter().map(|&cell| hash::push(hash, cell)));
                }
                hashes.drain(..n);
            }
            CellOf::Shape(_) => {}
        }
    }
}
