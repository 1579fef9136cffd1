//! Names of features, and from a string to its feature.

use super::order::{Feature, Sorted};
use super::page::Lookup;
use super::plan::{Kind, Plan};
use super::spec::Norm;
use super::tables::{NONE, PAD, PAIR, Pairs, Sorter, Strings, ZEROS};
use super::weigh::{Weigher, smooth_idf};
use crate::Error;
use std::sync::OnceLock;

/// Feature `j` is the `j`-th name. A stored name is the block's number as one byte, where there are several blocks, then
/// the words with one space between them, or the characters.
#[derive(Clone)]
pub(crate) struct Vocabulary {
    /// All names, then the pad.
    bytes: Vec<u8>,
    ends: Vec<u32>,
    idf: Vec<f32>,
    /// For [`Norm::L2PerBlock`], else empty.
    block_of: Vec<u8>,
    /// Made when the first text is encoded: training alone does not need it.
    tables: OnceLock<Vec<Fixed>>,
}

/// From strings and n-grams of one block to features: numbers below the number of features. Words that are only part of
/// n-grams have numbers above.
#[derive(Clone, Default)]
pub(crate) struct Fixed {
    words: Strings,
    pairs: Pairs,
}

impl Fixed {
    /// The number of a name: a feature's if it is one.
    pub(crate) fn find(&self, kind: Kind, name: &[u8]) -> u32 {
        let mut buffer = name.to_vec();
        buffer.extend_from_slice(ZEROS.as_bytes());
        if kind != Kind::Words {
            return self.words.find(&buffer, 0, name.len());
        }
        let mut at = 0;
        let mut gram = NONE;
        for (i, word) in name.split(|&b| b == b' ').enumerate() {
            let id = self.words.find(&buffer, at, at + word.len());
            gram = if i == 0 { id } else { self.pairs.find(gram, id) };
            at += word.len() + 1;
        }
        gram
    }
}

impl Lookup for &Fixed {
    fn words(&mut self, buffer: &[u8], spans: &[(usize, usize)], out: &mut Vec<u32>) {
        self.words.find_all(buffer, spans, out);
    }

    fn lengthen(&mut self, grams: &mut [u32], words: &[u32], sorter: &mut Sorter) {
        self.pairs.find_all(grams, words, sorter);
    }
}

impl Vocabulary {
    /// The names of learnt features.
    pub(crate) fn new(
        plan: &Plan,
        features: &[Feature],
        sorted: &[Sorted],
        n_docs: usize,
    ) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(features.len());
        for feature in features {
            if plan.has_marks() {
                bytes.push(feature.block);
            }
            sorted[feature.block as usize].write_name(feature, &mut bytes);
            let end = u32::try_from(bytes.len());
            let limit = u64::from(u32::MAX);
            ends.push(end.map_err(|_| Error::TooMany { what: "bytes of names", limit })?);
        }
        bytes.extend_from_slice(ZEROS.as_bytes());
        let mut idf = Vec::new();
        if plan.spec.weights.has_idf() {
            idf.reserve_exact(features.len());
            // Features come by falling frequency: a logarithm a frequency, not a feature.
            for equals in features.chunk_by(|a, b| a.df == b.df) {
                idf.resize(idf.len() + equals.len(), smooth_idf(equals[0].df, n_docs));
            }
        }
        let mut block_of = Vec::new();
        if plan.spec.norm == Norm::L2PerBlock {
            block_of.extend(features.iter().map(|feature| feature.block));
        }
        Ok(Self { bytes, ends, idf, block_of, tables: OnceLock::new() })
    }

    /// Takes stored names, if they can be names of this plan's features.
    pub(crate) fn from_parts(
        plan: &Plan,
        mut bytes: Vec<u8>,
        ends: Vec<u32>,
        idf: Vec<f32>,
    ) -> Result<Self, Error> {
        let n = ends.len();
        check_names(&bytes, &ends)?;
        if n >= PAIR as usize {
            return Err(Error::Damaged(format!("{n} features are too many")));
        }
        let expected = if plan.spec.weights.has_idf() { n } else { 0 };
        if idf.len() != expected {
            let found = idf.len();
            return Err(Error::Damaged(format!("{found} idf values where {expected} belong")));
        }
        if let Some(j) = idf.iter().position(|v| !v.is_finite()) {
            return Err(Error::Damaged(format!("the idf of feature {j} is {}", idf[j])));
        }
        bytes.extend_from_slice(ZEROS.as_bytes());
        let mut this = Self { bytes, ends, idf, block_of: Vec::new(), tables: OnceLock::new() };
        let tables = this.build(plan)?;
        if plan.spec.norm == Norm::L2PerBlock {
            let block = |j| plan.split_name(this.stored_name(j)).map_or(0, |(b, _)| b as u8);
            this.block_of = (0..n).map(block).collect();
        }
        this.tables = OnceLock::from(tables);
        Ok(this)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - PAD]
    }

    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    pub(crate) fn idf(&self) -> &[f32] {
        &self.idf
    }

    pub(crate) fn stored_name(&self, j: usize) -> &str {
        let start = if j == 0 { 0 } else { self.ends[j - 1] as usize };
        std::str::from_utf8(&self.bytes[start..self.ends[j] as usize]).unwrap_or_default()
    }

    pub(crate) fn weigher(&self, plan: &Plan) -> Weigher<'_> {
        Weigher {
            weights: plan.spec.weights,
            norm: plan.spec.norm,
            idf: &self.idf,
            block_of: &self.block_of,
            n_blocks: plan.blocks.len(),
        }
    }

    /// One table a block.
    pub(crate) fn tables(&self, plan: &Plan) -> &[Fixed] {
        self.tables.get_or_init(|| self.build(plan).expect("names that were checked or learnt"))
    }

    fn build(&self, plan: &Plan) -> Result<Vec<Fixed>, Error> {
        let n = self.ends.len();
        // Shorter names first: an n-gram's words have their numbers when it needs them.
        let mut order = Vec::with_capacity(n);
        let mut n_strings = vec![0; plan.blocks.len()];
        for j in 0..n {
            let Some((block, start, end)) = self.bare_name(plan, j) else {
                return Err(Error::Damaged(format!("feature {j} is of a kind that is not used")));
            };
            let spaces = match plan.blocks[block].kind {
                Kind::Words => self.bytes[start..end].iter().filter(|&&b| b == b' ').count(),
                _ => 0,
            };
            n_strings[block] += usize::from(spaces == 0);
            order.push((spaces as u32, j as u32));
        }
        order.sort_by_key(|&(spaces, _)| spaces);
        let new = |n| Fixed { words: Strings::with_capacity(n), pairs: Pairs::default() };
        let mut tables: Vec<Fixed> = n_strings.into_iter().map(new).collect();
        let mut next = n as u32; // the number of what is not a feature itself
        for (spaces, j) in order {
            let Some((block, mut at, end)) = self.bare_name(plan, j as usize) else { continue };
            let Fixed { words, pairs } = &mut tables[block];
            let mut found = NONE;
            for i in 0..=spaces {
                let stop = match self.bytes[at..end].iter().position(|&b| b == b' ') {
                    Some(len) if i < spaces => at + len,
                    _ => end,
                };
                let new = if spaces == 0 { j } else { next };
                let word = words.find_or_insert(&self.bytes, at, stop, new);
                next += u32::from(word == next);
                if i == 0 {
                    found = word;
                } else {
                    let new = if i == spaces { j } else { next };
                    found = pairs.find_or_insert(found, word, new);
                    next += u32::from(found == next);
                }
                at = stop + 1;
                if next >= NONE - 2 {
                    return Err(Error::Damaged("names have too many parts".into()));
                }
            }
            if found != j {
                return Err(Error::Damaged(format!("features {found} and {j} have one name")));
            }
        }
        Ok(tables)
    }

    /// The block of a feature, and where its name is without the block's number.
    fn bare_name(&self, plan: &Plan, j: usize) -> Option<(usize, usize, usize)> {
        let start = if j == 0 { 0 } else { self.ends[j - 1] as usize };
        let end = self.ends[j] as usize;
        if !plan.has_marks() {
            return Some((0, start, end));
        }
        let block = self.bytes[start..end].first().copied().map(usize::from)?;
        (block < plan.blocks.len()).then_some((block, start + 1, end))
    }
}

/// Refuses names that are not UTF-8 one by one or do not fill the bytes.
pub(crate) fn check_names(bytes: &[u8], ends: &[u32]) -> Result<(), Error> {
    let damaged = |why: &str| Err(Error::Damaged(why.to_owned()));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return damaged("names are not UTF-8");
    };
    if !ends.is_sorted() || ends.last().map_or(0, |&end| end as usize) != text.len() {
        return damaged("the ends of names do not rise to their number of bytes");
    }
    if !ends.iter().all(|&end| text.is_char_boundary(end as usize)) {
        return damaged("a name ends within a character");
    }
    Ok(())
}
