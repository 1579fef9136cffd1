//! Names of features, and from a string to its feature.

use super::order::{Feature, Sorted};
use super::page::Page;
use super::plan::{Block, Plan};
use super::spec::Norm;
use super::tables::{NONE, PAD, Pairs, Strings, ZEROS};
use super::weigh::{Weigher, smooth_idf};
use crate::Error;
use std::collections::BTreeMap;
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
    /// Enters features with as many spaces in their names, whose words are at `spans` of a buffer.
    fn add(
        &mut self,
        buffer: &[u8],
        (spaces, features, spans): (usize, &[u32], &[(usize, usize)]),
        words: &mut Vec<u32>,
        next: &mut u32,
    ) -> Result<(), Error> {
        if spaces == 0 {
            for (&j, &(start, end)) in features.iter().zip(spans) {
                let found = self.words.find_or_insert(buffer, start, end, j);
                if found != j {
                    return Err(twice((found, j)));
                }
            }
            return Ok(());
        }
        self.words.find_all(buffer, spans, words);
        for (word, &(start, end)) in words.iter_mut().zip(spans).filter(|(word, _)| **word == NONE)
        {
            *word = self.words.find_or_insert(buffer, start, end, *next);
            *next += u32::from(*word == *next);
        }
        self.pairs.touch(words.chunks_exact(spaces + 1).map(|words| (words[0], words[1])));
        for (&j, words) in features.iter().zip(words.chunks_exact(spaces + 1)) {
            let mut found = words[0];
            for &word in &words[1..spaces] {
                found = self.pairs.find_or_insert(found, word, *next);
                *next += u32::from(found == *next);
            }
            found = self.pairs.find_or_insert(found, words[spaces], j);
            if found != j {
                return Err(twice((found, j)));
            }
        }
        if *next >= NONE - 2 - (TOGETHER * 64) as u32 {
            return Err(Error::Damaged("names have too many parts".into()));
        }
        Ok(())
    }

    /// Appends the number of each feature of a block that a page has. Some belong to no feature.
    pub(crate) fn ids(&self, page: &mut Page, block: &Block, work: &mut Work, out: &mut Vec<u32>) {
        let find =
            |buffer: &[u8], spans: &[_], out: &mut _| self.words.find_all(buffer, spans, out);
        if !block.is_chained {
            return page.strings(block, find, out);
        }
        let Work { words, grams } = work;
        let (lo, hi) = block.range;
        words.clear();
        page.strings(block, find, words);
        if lo == 1 {
            out.extend_from_slice(words);
        }
        grams.clear();
        grams.extend_from_slice(words);
        for n in 2..=hi.min(words.len()) {
            grams.truncate(words.len() - (n - 1));
            self.pairs.find_all(grams, &words[n - 1..]);
            if n >= lo {
                out.extend_from_slice(grams);
            }
        }
    }
}

/// What is wrong with a file in which two features have one name.
fn twice((a, b): (u32, u32)) -> Error {
    Error::Damaged(format!("features {a} and {b} have one name"))
}

/// Names that are entered into tables together: see `Strings::prepare`.
const TOGETHER: usize = 64;

/// Buffers for [`Fixed::ids`].
#[derive(Default)]
pub(crate) struct Work {
    words: Vec<u32>,
    grams: Vec<u32>,
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
        for features in features.chunks(TOGETHER) {
            for ends_are_near in [false, true] {
                features.iter().for_each(|f| sorted[f.block as usize].prefetch(f, ends_are_near));
            }
            for feature in features {
                if plan.has_marks() {
                    bytes.push(feature.block);
                }
                sorted[feature.block as usize].write_name(feature, &mut bytes);
                let end = u32::try_from(bytes.len());
                let limit = u64::from(u32::MAX);
                ends.push(end.map_err(|_| Error::TooMany { what: "bytes of names", limit })?);
            }
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
        if n > (u32::MAX / 2) as usize {
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
        if let [block] = &plan.blocks[..]
            && !block.is_chained
        {
            // Names are the strings.
            let words = Strings::of_all(&self.bytes, &self.ends).map_err(twice)?;
            return Ok(vec![Fixed { words, pairs: Pairs::default() }]);
        }
        // By number of spaces and block. Shorter names first: an n-gram's words have their numbers when it needs them.
        let mut groups: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
        for j in 0..n {
            let Some((block, start, end)) = self.bare_name(plan, j) else {
                return Err(Error::Damaged(format!("feature {j} is of a kind that is not used")));
            };
            let spaces = if plan.blocks[block].is_chained {
                self.bytes[start..end].iter().filter(|&&b| b == b' ').count()
            } else {
                0
            };
            groups.entry((spaces, block)).or_default().push(j as u32);
        }
        let mut tables: Vec<Fixed> = (0..plan.blocks.len())
            .map(|block| {
                let of_block = groups.iter().filter(|(group, _)| group.1 == block);
                let (words, pairs): (Vec<_>, Vec<_>) =
                    of_block.partition(|(group, _)| group.0 == 0);
                let count = |groups: Vec<(_, &Vec<u32>)>| groups.iter().map(|g| g.1.len()).sum();
                Fixed {
                    words: Strings::with_capacity(count(words)),
                    pairs: Pairs::with_capacity(count(pairs)),
                }
            })
            .collect();
        let mut next = n as u32; // the number of what is not a feature itself
        let (mut spans, mut words) = (Vec::new(), Vec::new());
        for (&(spaces, block), features) in &groups {
            for features in features.chunks(TOGETHER) {
                spans.clear();
                for &j in features {
                    let Some((_, at, end)) = self.bare_name(plan, j as usize) else { continue };
                    self.push_words(at, end, spaces, &mut spans);
                }
                words.clear();
                let found = (spaces, features, spans.as_slice());
                tables[block].add(&self.bytes, found, &mut words, &mut next)?;
            }
        }
        Ok(tables)
    }

    /// Appends where the words of a name are.
    fn push_words(&self, mut at: usize, end: usize, spaces: usize, out: &mut Vec<(usize, usize)>) {
        for _ in 0..spaces {
            let len = self.bytes[at..end].iter().position(|&b| b == b' ').unwrap_or(end - at);
            out.push((at, at + len));
            at = (at + len + 1).min(end);
        }
        out.push((at, end));
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
