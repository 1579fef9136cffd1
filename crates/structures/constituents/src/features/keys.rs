//! The keys of one sentence: what each end of a span contributes to the hashes of its features.
//!
//! A feature's hash is the exclusive or of a key for the first word, one for the last word and, in templates with properties of the whole span, one for these:
//!
//! ```text
//! hash(t, i, j) = first[i·T + t] ⊕ last[j·T + t] ⊕ whole(t, i, j)
//! ```
//!
//! so that each of the O(n²) spans costs one pass over two runs of T adjacent numbers.

use super::hash;
use super::sentences::Sentence;
use super::templates::{Near, Section, Templates, Whole};

/// The properties of whole spans, `[i·(n + 1) + j]` for the words i to j − 1: tags, outline, pattern.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wholes {
    n: usize,
    values: Vec<[u64; 3]>,
}

/// How many words `tags` has at most.
pub(crate) const MOST_TAGS: usize = 8;

/// A hash with which nothing begins.
const START: u64 = 0x243f_6a88_85a3_08d3;

impl Wholes {
    pub(crate) fn load(&mut self, sentence: &Sentence<'_>) {
        let n = sentence.n;
        self.n = n;
        self.values.clear();
        self.values.resize(n * (n + 1), [0; 3]);
        for i in 0..n {
            let mut hashes = [START; 3];
            for j in i + 1..=n {
                let marks = &sentence.marks[j - 1];
                hashes[0] = if j - i > MOST_TAGS { START } else { hash::push(hashes[0], marks[0]) };
                for kind in 1..3 {
                    if j == i + 1 || sentence.marks[j - 2][kind] != marks[kind] {
                        hashes[kind] = hash::push(hashes[kind], marks[kind]);
                    }
                }
                self.values[i * (n + 1) + j] = hashes;
            }
        }
    }

    #[inline]
    fn value(&self, whole: Whole, i: usize, j: usize) -> u64 {
        let values = &self.values[i * (self.n + 1) + j];
        match whole {
            Whole::Length => length_bin(j - i),
            Whole::Tags => values[0],
            Whole::Outline => values[1],
            Whole::Pattern => values[2],
            Whole::Bias => 1,
        }
    }
}

/// The longest length of each step, but for the last one, and the names of the steps.
const LENGTHS: [(usize, &str); 11] = [
    (0, "0"),
    (1, "1"),
    (2, "2"),
    (3, "3"),
    (4, "4"),
    (5, "5"),
    (7, "6-7"),
    (10, "8-10"),
    (15, "11-15"),
    (22, "16-22"),
    (32, "23-32"),
];

/// Lengths in steps that grow.
fn length_bin(length: usize) -> u64 {
    LENGTHS.iter().position(|&(longest, _)| length <= longest).unwrap_or(LENGTHS.len()) as u64
}

/// The same in words.
pub(crate) fn length_name(length: usize) -> &'static str {
    LENGTHS.get(length_bin(length) as usize).map_or("33+", |step| step.1)
}

/// The keys of one section.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    n_templates: usize,
    n_plain: usize,
    first: Vec<u32>,
    last: Vec<u32>,
    /// Templates with properties of the whole span: what these are, and a seed.
    wholes: Vec<(Vec<Whole>, u64)>,
}

#[inline]
fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

impl Keys {
    pub(crate) fn load(
        &mut self,
        templates: &Templates,
        section: Section,
        sentence: &Sentence<'_>,
    ) {
        let all = templates.section(section);
        self.n_templates = all.len();
        self.n_plain = templates.n_plain(section);
        if self.wholes.len() != all.len() - self.n_plain {
            let wholes = all[self.n_plain..].iter();
            self.wholes = wholes.map(|t| (t.whole.clone(), t.seed)).collect();
        }
        self.first.clear();
        self.last.clear();
        for word in 0..sentence.n as i64 {
            let key = |near: &[Near], seed: u64| {
                let read = |hash, near: &Near| {
                    hash::push(hash, sentence.cell(word + i64::from(near.offset), near.channel))
                };
                fold(hash::mix(near.iter().fold(seed, read)))
            };
            self.first.extend(all.iter().map(|t| key(&t.first, t.seed)));
            self.last.extend(all.iter().map(|t| key(&t.last, t.seed.rotate_left(17))));
        }
    }

    /// The hashes of the features of the words `i` to `j` − 1, added to `hashes`.
    #[inline]
    pub(crate) fn hashes(&self, wholes: &Wholes, i: usize, j: usize, hashes: &mut Vec<u32>) {
        let t = self.n_templates;
        let (first, last) = (&self.first[i * t..(i + 1) * t], &self.last[(j - 1) * t..j * t]);
        let start = hashes.len();
        hashes.extend(first.iter().zip(last).map(|(a, b)| a ^ b));
        for (hash, (atoms, seed)) in hashes[start + self.n_plain..].iter_mut().zip(&self.wholes) {
            let value = |hash, &atom: &Whole| hash::push(hash, wholes.value(atom, i, j));
            *hash ^= fold(hash::mix(atoms.iter().fold(!seed, value)));
        }
    }
}
