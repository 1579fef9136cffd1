//! Learnt features at work: texts in, rows out, and names for what a model says about them.

use super::fit::{CHUNK, TextFit, check_slots};
use super::hashed::{HashWork, Hashed, SparseRows};
use super::lower::origins;
use super::murmur::murmur3_32;
use super::names::{Collisions, Names, column};
use super::page::Page;
use super::plan::Plan;
use super::rows::{OneRow, TextRows};
use super::sort::sort_ids;
use super::spec::TextSpec;
use super::tally::{MOST, Tally};
use super::vocabulary::{Vocabulary, Work, check_names};
use crate::Error;
use lineal_linalg::Csr;
use rayon::prelude::*;
use std::borrow::Cow;

/// Turns texts into rows as its training did. Made by [`TextFit`], or from stored [`TextParts`].
#[derive(Clone)]
pub struct TextEncoder {
    plan: Plan,
    columns: Columns,
}

#[derive(Clone)]
enum Columns {
    Vocabulary(Vocabulary),
    Hashed(Hashed),
}

/// Buffers for one row at a time: keep one per thread.
#[derive(Default)]
pub struct TextScratch {
    page: Page,
    work: Work,
    ids: Vec<u32>,
    buffer: Vec<u32>,
    row: Vec<u64>,
    tally: Tally,
    hash: HashWork,
    out: SparseRows,
}

/// Rows as they are encoded, part after part, in memory that grows and is not copied.
#[derive(Default)]
pub struct EncodedRows {
    rows: SparseRows,
    /// One for each chunk of rows that is worked on at the same time.
    scratches: Vec<TextScratch>,
}

/// Of fewer rows features are sorted: to make the places ready would take longer.
const FEW_ROWS: usize = 32;

/// A feature and the part of the text that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeatureSpan {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The feature: a column of the rows.
    pub feature: u32,
}

/// All that an encoder knows beside its [`TextSpec`], as plain arrays for a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextParts<'a> {
    /// Names, one after the other, UTF-8. With several text columns or kinds of features each starts with one byte for
    /// which of them it is.
    pub bytes: Cow<'a, [u8]>,
    /// Where each name ends.
    pub ends: Cow<'a, [u32]>,
    /// One per feature with tf–idf, else empty.
    pub idf: Cow<'a, [f32]>,
    /// With hashing: the hash of each name, in order of columns. Else empty.
    pub hashes: Cow<'a, [u32]>,
    /// With hashing: how much each name outweighs others in its column. Else empty.
    pub votes: Cow<'a, [u32]>,
    /// With hashing: how often features met.
    pub collisions: Collisions,
}

impl TextEncoder {
    /// Learns from all rows at once: the encoder, and the rows encoded. See [`TextFit`] for batches.
    pub fn fit(spec: TextSpec, rows: &(impl TextRows + ?Sized)) -> Result<(Self, Csr), Error> {
        let mut fit = TextFit::new(spec)?;
        fit.push(rows)?;
        fit.finish()
    }

    /// A hashing encoder that has seen nothing: it has no names, but encodes. Refused with idf, which is learnt.
    pub fn untrained(spec: TextSpec) -> Result<Self, Error> {
        let fit = TextFit::new(spec)?;
        fit.snapshot().ok_or_else(|| {
            Error::setting("untrained", "with a vocabulary or idf", "set hash_bits, or learn it")
        })
    }

    pub(crate) fn from_vocabulary(plan: Plan, vocabulary: Vocabulary) -> Self {
        Self { plan, columns: Columns::Vocabulary(vocabulary) }
    }

    pub(crate) fn from_hashed(plan: Plan, hashed: Hashed) -> Self {
        Self { plan, columns: Columns::Hashed(hashed) }
    }

    /// Takes up what [`parts`](Self::parts) gave, after checking all of it: parts of a file that was made to mislead are
    /// refused, not believed.
    pub fn from_parts(spec: TextSpec, parts: TextParts<'_>) -> Result<Self, Error> {
        let plan = Plan::new(spec)?;
        let TextParts { bytes, ends, idf, hashes, votes, collisions } = parts;
        let (bytes, ends, idf) = (bytes.into_owned(), ends.into_owned(), idf.into_owned());
        let Some(bits) = plan.spec.hash_bits else {
            if !hashes.is_empty() || !votes.is_empty() {
                return Err(Error::Damaged("a vocabulary with hashes".into()));
            }
            let vocabulary = Vocabulary::from_parts(&plan, bytes, ends, idf)?;
            return Ok(Self::from_vocabulary(plan, vocabulary));
        };
        check_names(&bytes, &ends)?;
        let damaged = |why: String| Err(Error::Damaged(why));
        if hashes.len() != ends.len() || votes.len() != ends.len() {
            let (n, hashes, votes) = (ends.len(), hashes.len(), votes.len());
            return damaged(format!("{n} names, but {hashes} hashes and {votes} votes"));
        }
        let mask = (1u32 << bits) - 1;
        if !hashes.is_sorted_by(|&a, &b| column(a, mask) < column(b, mask)) {
            return damaged("names are not in order of columns".into());
        }
        let expected = if plan.spec.weights.has_idf() { 1 << bits } else { 0 };
        if idf.len() != expected || idf.iter().any(|v| !v.is_finite()) {
            return damaged(format!("{} idf values where {expected} numbers belong", idf.len()));
        }
        if collisions.others > collisions.seen {
            return damaged("more collisions than features".into());
        }
        let (hashes, votes) = (hashes.into_owned(), votes.into_owned());
        let has_marks = plan.has_marks();
        let names = Names { bytes, ends, hashes, votes, collisions, has_marks };
        if (0..names.ends.len()).any(|i| plan.split_name(names.stored(i)).is_none()) {
            return damaged("a name is of a kind that is not used".into());
        }
        Ok(Self::from_hashed(plan, Hashed { bits, idf, names }))
    }

    /// What a file must hold beside [`spec`](Self::spec).
    pub fn parts(&self) -> TextParts<'_> {
        match &self.columns {
            Columns::Vocabulary(vocabulary) => TextParts {
                bytes: vocabulary.bytes().into(),
                ends: vocabulary.ends().into(),
                idf: vocabulary.idf().into(),
                ..TextParts::default()
            },
            Columns::Hashed(Hashed { idf, names, .. }) => TextParts {
                bytes: (&names.bytes).into(),
                ends: (&names.ends).into(),
                idf: idf.into(),
                hashes: (&names.hashes).into(),
                votes: (&names.votes).into(),
                collisions: names.collisions,
            },
        }
    }

    /// How features are made.
    pub fn spec(&self) -> &TextSpec {
        &self.plan.spec
    }

    /// How many columns rows have.
    pub fn n_features(&self) -> usize {
        match &self.columns {
            Columns::Vocabulary(vocabulary) => vocabulary.len(),
            Columns::Hashed(hashed) => hashed.n_columns(),
        }
    }

    /// How many texts a row has.
    pub fn n_slots(&self) -> usize {
        self.plan.n_slots
    }

    /// What a column is called: `cat`, `black cat`, `c:cat`, `subject:cat`; a hashed column by its heaviest feature, or
    /// `#17` if that is not known.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn feature_name(&self, j: usize) -> Cow<'_, str> {
        let stored = match &self.columns {
            Columns::Vocabulary(vocabulary) => vocabulary.stored_name(j),
            Columns::Hashed(hashed) => {
                assert!(j < hashed.n_columns(), "column {j} of {}", hashed.n_columns());
                match hashed.names.find(j as u32, hashed.mask()) {
                    Some(stored) => stored,
                    None => return format!("#{j}").into(),
                }
            }
        };
        match self.plan.split_name(stored) {
            Some((0, bare)) if !self.plan.has_marks() => bare.into(),
            Some((block, bare)) => self.plan.show_name(block, bare).into(),
            None => stored.into(),
        }
    }

    /// With hashing: whether the feature that column `j` is named after counts there with a minus, so that its weight is minus the column's.
    pub fn is_negated(&self, j: usize) -> bool {
        match &self.columns {
            Columns::Vocabulary(_) => false,
            Columns::Hashed(hashed) => hashed.names.is_negated(j as u32, hashed.mask()),
        }
    }

    /// With hashing: how often features met in a column, as far as training looked.
    pub fn collisions(&self) -> Option<Collisions> {
        match &self.columns {
            Columns::Vocabulary(_) => None,
            Columns::Hashed(hashed) => Some(hashed.names.collisions),
        }
    }

    /// The rows of some texts. Words that training did not see are left out.
    pub fn encode(&self, rows: &(impl TextRows + ?Sized)) -> Result<Csr, Error> {
        let mut all = EncodedRows::default();
        self.encode_onto(rows, &mut all)?;
        Ok(self.matrix(all))
    }

    /// As [`encode`](Self::encode), after rows that this encoder has encoded before.
    pub fn encode_onto(
        &self,
        rows: &(impl TextRows + ?Sized),
        all: &mut EncodedRows,
    ) -> Result<(), Error> {
        check_slots(&self.plan, rows)?;
        let n_chunks = rows.n_rows().div_ceil(CHUNK);
        let at_once = (2 * rayon::current_num_threads()).min(n_chunks).max(1);
        let EncodedRows { rows: out, scratches } = all;
        scratches.resize_with(at_once.max(scratches.len()).max(1), TextScratch::default);
        let may_tally = rows.n_rows() >= FEW_ROWS && self.n_features() <= MOST;
        let encode = |chunk: usize, scratch: &mut TextScratch, out: &mut SparseRows| {
            for row in chunk * CHUNK..rows.n_rows().min((chunk + 1) * CHUNK) {
                self.append((rows, row), may_tally, scratch, out);
            }
        };
        if rayon::current_num_threads() == 1 {
            (0..n_chunks).for_each(|chunk| encode(chunk, &mut scratches[0], out));
            return Ok(());
        }
        for first in (0..n_chunks).step_by(at_once) {
            let scratches = &mut scratches[..at_once.min(n_chunks - first)];
            scratches.par_iter_mut().with_max_len(1).enumerate().for_each(|(i, scratch)| {
                let mut part = std::mem::take(&mut scratch.out);
                part.clear();
                encode(first + i, scratch, &mut part);
                scratch.out = part;
            });
            for TextScratch { out: part, .. } in scratches {
                out.lens.extend_from_slice(&part.lens);
                out.idx.extend_from_slice(&part.idx);
                out.val.extend_from_slice(&part.val);
            }
        }
        Ok(())
    }

    /// All rows that this encoder has encoded.
    pub fn matrix(&self, all: EncodedRows) -> Csr {
        let SparseRows { lens, idx, val } = all.rows;
        let mut end = 0;
        let ends = lens.into_iter().map(|len| {
            end += len;
            end
        });
        let indptr = std::iter::once(0).chain(ends).collect();
        Csr::new(self.n_features(), indptr, idx, val).expect("sorted rows of known features")
    }

    /// One row, with a text for each slot: columns, rising, and their values.
    ///
    /// The same values as [`encode`](Self::encode), without an allocation once the buffers have grown.
    pub fn encode_row<'s>(
        &self,
        texts: &[&str],
        scratch: &'s mut TextScratch,
    ) -> Result<(&'s [u32], &'s [f32]), Error> {
        let row = OneRow(texts);
        check_slots(&self.plan, &row)?;
        let mut out = std::mem::take(&mut scratch.out);
        out.clear();
        self.append((&row, 0), false, scratch, &mut out);
        scratch.out = out;
        Ok((&scratch.out.idx, &scratch.out.val))
    }

    fn append(
        &self,
        (rows, row): (&(impl TextRows + ?Sized), usize),
        may_tally: bool,
        scratch: &mut TextScratch,
        out: &mut SparseRows,
    ) {
        let plan = &self.plan;
        let before = out.idx.len();
        let vocabulary = match &self.columns {
            Columns::Hashed(hashed) => {
                let weigher = hashed.weigher(plan);
                let hash = &mut scratch.hash;
                hash.encode(plan, &weigher, hashed.mask(), (rows, row), None, out);
                weigher.finish(&out.idx[before..], &mut out.val[before..]);
                return;
            }
            Columns::Vocabulary(vocabulary) => vocabulary,
        };
        scratch.ids.clear();
        for slot in 0..plan.n_slots {
            scratch.page.read(plan, rows.get(row, slot));
            for (block, table) in plan.blocks.iter().zip(vocabulary.tables(plan)) {
                if block.slot == slot {
                    let TextScratch { page, work, ids, .. } = scratch;
                    table.ids(page, block, work, ids);
                }
            }
        }
        // Numbers above those of features are of words that are only part of n-grams.
        if may_tally {
            let weigher = vocabulary.weigher(plan);
            let (ids, n) = (&scratch.ids, vocabulary.len());
            scratch.tally.count(ids, n, |j, count| {
                out.idx.push(j);
                out.val.push(weigher.of_count(count) as f32);
            });
            weigher.finish(&out.idx[before..], &mut out.val[before..]);
            return out.lens.push(out.idx.len() - before);
        }
        scratch.ids.retain(|&id| (id as usize) < vocabulary.len());
        sort_ids(&mut scratch.ids, &mut scratch.buffer, vocabulary.len(), |id| id);
        scratch.row.clear();
        let equals = scratch.ids.chunk_by(|a, b| a == b);
        scratch.row.extend(equals.map(|equals| u64::from(equals[0]) << 32 | equals.len() as u64));
        let len = scratch.row.len();
        out.idx.resize(before + len, 0);
        out.val.resize(before + len, 0.0);
        let (idx, val) = (&mut out.idx[before..], &mut out.val[before..]);
        vocabulary.weigher(plan).fill(&scratch.row, idx, val);
        out.lens.push(len);
    }

    /// The features of a text and where in it they are, in order of place: for showing which words decided.
    ///
    /// Spans are bytes of the text as given. An n-gram spans its words and all between them; a space that pads a word's
    /// characters is not part of the span.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn spans(&self, slot: usize, text: &str) -> Vec<FeatureSpan> {
        assert!(slot < self.n_slots(), "slot {slot} of {}", self.n_slots());
        let plan = &self.plan;
        let origins = (!text.is_ascii()).then(|| origins(text, plan.spec.lowercase));
        let mut spans = Vec::new();
        let mut add = |feature, start: usize, end: usize| {
            let (start, end) = match &origins {
                None => (start, end),
                Some(origins) => {
                    // Where lower-casing made several characters of one, all of it belongs to the span.
                    let last = origins[end.saturating_sub(1).max(start)];
                    let after = origins[end..].iter().copied().find(|&at| at > last);
                    (
                        origins[start],
                        if end > start { after.unwrap_or(text.len()) } else { origins[start] },
                    )
                }
            };
            spans.push(FeatureSpan { start, end, feature });
        };
        let mut page = Page::default();
        page.read(plan, text);
        let mut ids = Vec::new();
        for (b, block) in plan.blocks.iter().enumerate().filter(|(_, block)| block.slot == slot) {
            ids.clear();
            match &self.columns {
                Columns::Vocabulary(vocabulary) => {
                    let table = &vocabulary.tables(plan)[b];
                    table.ids(&mut page, block, &mut Work::default(), &mut ids);
                }
                Columns::Hashed(hashed) => page.names(block, |buffer, start, end| {
                    ids.push(column(murmur3_32(buffer, start, end, block.seed), hashed.mask()));
                }),
            }
            for (&id, (start, end)) in ids.iter().zip(page.spans(block)) {
                if (id as usize) < self.n_features() {
                    add(id, start, end);
                }
            }
        }
        spans.sort_unstable();
        spans
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Names of hashed columns; none with a vocabulary.
    pub(crate) fn names(&self) -> Option<&Names> {
        match &self.columns {
            Columns::Vocabulary(_) => None,
            Columns::Hashed(hashed) => Some(&hashed.names),
        }
    }
}
