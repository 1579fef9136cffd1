//! Features of a word whose relation is chosen when its tree is known.
//!
//! A feature has one weight for each relation: the `n` weights from its place in the table on, so that they are added as one slice. Places are not multiples
//! of `n`: a feature seldom goes with more than a few relations, and runs that overlap let the table be filled by what is used.

use super::hash;
use super::keys::{key, list_keys, single_key};
use super::sentences::{NONE, Sentence};
use super::syntax::{SHAPES, Section};
use super::templates::{CellOf, Part, Program};

/// A tree, ready to be asked for the neighbours of its words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Family {
    heads: Vec<u32>,
    /// Modifiers of each word (and of the root), rising: those of word h end at `ends[h + 1]`.
    ends: Vec<u32>,
    children: Vec<u32>,
}

impl Family {
    /// Reads a tree.
    pub(crate) fn load(&mut self, heads: &[u32]) {
        self.heads.clear();
        self.heads.extend_from_slice(heads);
        self.ends.clear();
        self.ends.resize(heads.len() + 2, 0);
        for &head in heads {
            self.ends[head as usize + 1] += 1;
        }
        for h in 0..=heads.len() {
            self.ends[h + 1] += self.ends[h];
        }
        self.children.clear();
        self.children.resize(heads.len(), 0);
        let mut next = self.ends.clone();
        for (m, &head) in (1..).zip(heads) {
            self.children[next[head as usize] as usize] = m;
            next[head as usize] += 1;
        }
    }

    pub(crate) fn children(&self, h: usize) -> &[u32] {
        &self.children[self.ends[h] as usize..self.ends[h + 1] as usize]
    }

    /// The words at a place of [`Section::Relations`], for word `m`: one, [`NONE`], or many.
    pub(crate) fn at(&self, place: usize, m: usize, words: &mut Vec<usize>) {
        let h = self.heads[m - 1] as usize;
        let siblings = self.children(h);
        let at = siblings.partition_point(|&word| (word as usize) < m);
        let one = |word: Option<&u32>| word.map_or(NONE, |&word| word as usize);
        words.clear();
        match Section::Relations.places().get(place) {
            Some(&"m") => words.push(m),
            Some(&"h") => words.push(h),
            Some(&"g") => words.push(if h == 0 { NONE } else { self.heads[h - 1] as usize }),
            Some(&"prev") => words.push(one(at.checked_sub(1).and_then(|at| siblings.get(at)))),
            Some(&"next") => words.push(one(siblings.get(at + 1))),
            Some(&"left") => {
                words.push(one(self.children(m).first().filter(|&&c| (c as usize) < m)))
            }
            Some(&"right") => words.push(one(self.children(m).last().filter(|&&c| c as usize > m))),
            Some(&"child") => words.extend(self.children(m).iter().map(|&c| c as usize)),
            Some(&"sibling") => {
                words.extend(siblings.iter().map(|&s| s as usize).filter(|&s| s != m));
            }
            _ => words.push(m),
        }
    }

    /// The number of a shape at word `m`, in the order of the syntax: direction, distance, position, children.
    pub(crate) fn shape(&self, shape: usize, m: usize) -> u64 {
        let h = self.heads[m - 1] as usize;
        match shape {
            0 => u64::from(h < m),
            1 => match h.abs_diff(m) {
                far @ 0..=4 => far as u64,
                5..=7 => 5,
                8..=14 => 6,
                _ => 7,
            },
            2 => {
                let same_side = |&&word: &&u32| (word as usize > h) == (m > h);
                let mut side = self.children(h).iter().filter(same_side).map(|&word| word as usize);
                let first = side.next() == Some(m);
                let last = side.next_back().map_or(first, |word| word == m);
                u64::from(first) * 2 + u64::from(last)
            }
            _ => self.children(m).len().min(4) as u64,
        }
    }
}

/// Working memory for the features of words in trees.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelationKeys {
    family: Family,
    /// The word at each place of one, and the hashes of shapes, for the word that is visited.
    words: Vec<usize>,
    shapes: [u64; SHAPES.len()],
    many: Vec<usize>,
    hashes: Vec<u64>,
    /// The hashes of the places so far, one for each combination.
    keys: Vec<u32>,
    part_keys: Vec<u32>,
}

impl RelationKeys {
    /// Reads a tree: the next words are its.
    pub(crate) fn load(&mut self, heads: &[u32]) {
        self.family.load(heads);
    }

    /// The features of word `m`.
    pub(crate) fn each(
        &mut self,
        program: &Program,
        sentence: &Sentence<'_>,
        m: usize,
        mut f: impl FnMut(u32),
    ) {
        self.visit(program, m);
        let (single, several) = program.templates.split_at(program.n_single);
        for template in single {
            let keys = template.parts.iter().map(|part| match self.words.get(part.place) {
                Some(&word) => single_key(part, sentence, word),
                None => self.shape_key(part),
            });
            f(keys.fold(0, |all, key| all ^ key));
        }
        for template in several {
            self.keys.clear();
            self.keys.push(0);
            for part in &template.parts {
                self.part_keys.clear();
                if part.place == self.words.len() {
                    self.part_keys.push(self.shape_key(part));
                } else if program.section.is_many(part.place) {
                    self.family.at(part.place, m, &mut self.many);
                    for &word in &self.many {
                        list_keys(part, sentence, word, &mut self.hashes);
                        self.part_keys.extend(self.hashes.iter().map(|&hash| key(hash)));
                    }
                    // A value that several children share counts once.
                    self.part_keys.sort_unstable();
                    self.part_keys.dedup();
                } else {
                    list_keys(part, sentence, self.words[part.place], &mut self.hashes);
                    self.part_keys.extend(self.hashes.iter().map(|&hash| key(hash)));
                }
                let n = self.keys.len();
                for at in 0..n {
                    let known = self.keys[at];
                    self.keys.extend(self.part_keys.iter().map(|key| known ^ key));
                }
                self.keys.drain(..n);
            }
            self.keys.iter().copied().for_each(&mut f);
        }
    }

    /// Finds the words and shapes around word `m`.
    fn visit(&mut self, program: &Program, m: usize) {
        self.words.clear();
        for place in 0..program.section.places().len() {
            if program.section.is_many(place) {
                self.words.push(NONE);
            } else {
                self.family.at(place, m, &mut self.many);
                self.words.push(self.many[0]);
            }
        }
        for (shape, hash) in self.shapes.iter_mut().enumerate() {
            *hash = hash::mix(self.family.shape(shape, m) + 1);
        }
    }

    fn shape_key(&self, part: &Part) -> u32 {
        key(part.atoms.iter().fold(part.seed, |hash, atom| match atom {
            CellOf::Shape(shape) => hash::push(hash, self.shapes[*shape]),
            _ => hash,
        }))
    }
}

/// Where the weights of a feature begin, for runs of `n` weights in a table of `dim`.
#[inline]
pub(crate) fn run_start(raw: u32, dim: usize, n: usize) -> usize {
    // The high bits of a product: the table need not be a power of two less the run.
    ((u64::from(raw) * (dim - n + 1) as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_of_a_word() {
        // 1 ← 3, 2 ← 3, 3 ← 0, 4 ← 3, 5 ← 4
        let mut family = Family::default();
        family.load(&[3, 3, 0, 3, 4]);
        assert_eq!(family.children(3), [1, 2, 4]);
        assert_eq!(family.children(0), [3]);
        let mut words = Vec::new();
        let mut at = |name: &str, m| {
            let place = Section::Relations.places().iter().position(|&p| p == name).unwrap();
            family.at(place, m, &mut words);
            words.clone()
        };
        assert_eq!(at("h", 5), [4]);
        assert_eq!(at("g", 5), [3]);
        assert_eq!(at("g", 3), [NONE]);
        assert_eq!(at("prev", 2), [1]);
        assert_eq!(at("prev", 1), [NONE]);
        assert_eq!(at("next", 2), [4]);
        assert_eq!(at("left", 3), [1]);
        assert_eq!(at("right", 3), [4]);
        assert_eq!(at("left", 4), [NONE]);
        assert_eq!(at("child", 3), [1, 2, 4]);
        assert_eq!(at("sibling", 4), [1, 2]);
        // First of two on the left, last of two, only one on the right.
        assert_eq!([1, 2, 4].map(|m| family.shape(2, m)), [2, 1, 3]);
        assert_eq!(family.shape(3, 3), 3);
    }

    #[test]
    fn runs_stay_within_the_table() {
        assert_eq!(run_start(0, 100, 7), 0);
        assert_eq!(run_start(u32::MAX, 100, 7), 93);
    }
}
