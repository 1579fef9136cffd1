//! From what learning left behind to a matrix.

use super::fit::CHUNK;
use super::order::{Feature, Sorted};
use super::plan::Plan;
use super::sort::sort_row;
use super::tables::NONE;
use super::tally::{MOST, Tally};
use super::vocabulary::Vocabulary;
use lineal_linalg::Csr;
use lineal_linalg::kernels::prefetch_at;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Some rows of one block: the (number, count) of the strings of each, and its words' numbers in order, as far as either is
/// wanted. A count of 255 or more is among `large`, in order.
#[derive(Clone, Default)]
pub(crate) struct Rows {
    lens: Vec<u32>,
    ids: Vec<u32>,
    counts: Vec<u8>,
    large: Vec<u32>,
    pub(crate) words: Vec<u32>,
    pub(crate) word_lens: Vec<u32>,
}

impl Rows {
    pub(crate) fn n_rows(&self) -> usize {
        self.lens.len().max(self.word_lens.len())
    }

    /// Appends a row's strings.
    pub(crate) fn push(&mut self, entries: &[(u32, u32)]) {
        self.lens.push(entries.len() as u32);
        self.ids.extend(entries.iter().map(|&(id, _)| id));
        self.counts.extend(entries.iter().map(|&(_, count)| count.min(255) as u8));
        self.large.extend(entries.iter().map(|&(_, count)| count).filter(|&count| count >= 255));
    }

    /// Appends a row's words.
    pub(crate) fn push_words(&mut self, words: &[u32]) {
        self.word_lens.push(words.len() as u32);
        self.words.extend_from_slice(words);
    }

    pub(crate) fn clear(&mut self) {
        self.lens.clear();
        self.ids.clear();
        self.counts.clear();
        self.large.clear();
        self.words.clear();
        self.word_lens.clear();
    }

    /// All (number, count), row after row.
    fn entries(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut large = self.large.iter();
        self.ids.iter().zip(&self.counts).map(move |(&id, &count)| match count {
            255 => (id, large.next().copied().unwrap_or(255)),
            count => (id, u32::from(count)),
        })
    }
}

/// Chunks of rows, each with its place among all and its lane.
pub(crate) type Chunks = Vec<(usize, usize, Rows)>;

/// Where the entries of a block are.
pub(crate) struct Source {
    /// Of strings, row by row, if they are features; with the places of each lane's numbers.
    pub(crate) rows: Option<(Chunks, Vec<Vec<u32>>)>,
    /// Of n-grams, feature by feature: by number of words from two up and by part, each part with where its entries end.
    pub(crate) postings: Vec<Vec<(u32, Vec<u64>)>>,
}

impl Source {
    /// How often each string occurs in all rows; empty if strings are not features.
    pub(crate) fn totals(&self, n_strings: usize) -> Vec<u64> {
        let Some((chunks, places)) = &self.rows else { return Vec::new() };
        let mut totals = vec![0; n_strings];
        for (_, lane, rows) in chunks {
            for (id, count) in rows.entries() {
                totals[places[*lane][id as usize] as usize] += u64::from(count);
            }
        }
        totals
    }

    /// The postings of a feature; a string has none.
    #[inline]
    pub(crate) fn postings(&self, feature: &Feature) -> &[u64] {
        match (feature.level as usize).checked_sub(1) {
            None => &[],
            Some(level) => {
                let (_, part) = &self.postings[level][feature.part as usize];
                let at = feature.postings as usize;
                &part[at..at + feature.df as usize]
            }
        }
    }

    /// Which part has the postings of an entry.
    #[inline]
    pub(crate) fn part(&self, level: usize, entry: u32) -> u8 {
        match level.checked_sub(1) {
            None => 0,
            Some(level) => {
                let parts = self.postings[level].iter();
                parts.take_while(|&&(end, _)| end <= entry).count() as u8
            }
        }
    }
}

/// Postings sorted by chunk of rows, in order of columns within each.
#[derive(Default)]
struct ChunkedPostings {
    /// `column << 32 | row in the chunk << 24 | count`.
    packed: Vec<u64>,
    /// Where each chunk's end.
    ends: Vec<usize>,
    /// Counts, by column and row, that are too large for a posting.
    large: BTreeMap<(u32, u32), u32>,
}

/// How many features ahead postings are asked for: most have one or two, anywhere.
const AHEAD: usize = 16;

const COUNT_BITS: u32 = 32 - CHUNK.trailing_zeros();
const LARGE_COUNT: u32 = (1 << COUNT_BITS) - 1;

impl ChunkedPostings {
    fn new(
        chunk_rows: &[usize],
        (features, has_all): (&[Feature], bool),
        sources: &[Source],
    ) -> Self {
        let mut this = Self { ends: vec![0; chunk_rows.len()], ..Self::default() };
        if sources.iter().all(|source| source.postings.is_empty()) {
            return this;
        }
        // Chunk, and row in the chunk, of each row.
        let mut places = Vec::new();
        for (chunk, &n) in chunk_rows.iter().enumerate() {
            places.extend((0..n as u32).map(|row| (chunk as u32, row)));
        }
        let of = |feature: &Feature| sources[feature.block as usize].postings(feature);
        let mut n = 0;
        let mut count = |postings: &[u64]| {
            for posting in postings {
                this.ends[places[(posting >> 32) as usize].0 as usize] += 1;
            }
            n += postings.len();
        };
        if has_all {
            // Front to back instead of feature by feature.
            let levels = sources.iter().flat_map(|source| &source.postings);
            levels.flatten().for_each(|(_, part)| count(part));
        } else {
            features.iter().for_each(|feature| count(of(feature)));
        }
        let mut sum = 0;
        for end in &mut this.ends {
            sum += std::mem::replace(end, sum);
        }
        this.packed = vec![0; n];
        for (column, feature) in features.iter().enumerate() {
            if let Some(later) = features.get(column + AHEAD) {
                prefetch_at(of(later), 0);
            }
            for posting in of(feature) {
                let (row, count) = ((posting >> 32) as u32, *posting as u32);
                let (chunk, in_chunk) = places[row as usize];
                let at = &mut this.ends[chunk as usize];
                let low = in_chunk << COUNT_BITS | count.min(LARGE_COUNT);
                this.packed[*at] = (column as u64) << 32 | u64::from(low);
                *at += 1;
                if count >= LARGE_COUNT {
                    this.large.insert((column as u32, row), count);
                }
            }
        }
        this
    }

    fn chunk(&self, i: usize) -> &[u64] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.packed[start..self.ends[i]]
    }

    /// A chunk's entries `column << 32 | count`, row after row, and where each row starts. Columns rise within a row.
    fn rows(&self, chunk: usize, first_row: usize, n_rows: usize) -> (Vec<u64>, Vec<usize>) {
        let packed = self.chunk(chunk);
        let row = |posting: u64| (posting as u32 >> COUNT_BITS) as usize;
        let mut starts = vec![0; n_rows + 1];
        for &posting in packed {
            starts[row(posting) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; packed.len()];
        for &posting in packed {
            let (column, mut count) = (posting >> 32, posting as u32 & LARGE_COUNT);
            if count == LARGE_COUNT {
                let key = (column as u32, (first_row + row(posting)) as u32);
                count = self.large.get(&key).copied().unwrap_or(count);
            }
            let at = &mut next[row(posting)];
            entries[*at] = column << 32 | u64::from(count);
            *at += 1;
        }
        (entries, starts)
    }
}

/// A block's rows with columns instead of numbers; [`NONE`] for what is not a feature.
fn renumber(
    block: usize,
    features: &[Feature],
    n_strings: usize,
    mut chunks: Chunks,
    mut places: Vec<Vec<u32>>,
) -> Vec<Rows> {
    let mut columns = vec![NONE; n_strings];
    for (column, feature) in features.iter().enumerate() {
        if feature.block as usize == block && feature.level == 0 {
            columns[feature.at as usize] = column as u32;
        }
    }
    places.par_iter_mut().for_each(|of_lane| {
        of_lane.iter_mut().for_each(|place| *place = columns[*place as usize]);
    });
    chunks.par_iter_mut().for_each(|(_, lane, rows)| {
        rows.ids.iter_mut().for_each(|id| *id = places[*lane][*id as usize]);
    });
    chunks.into_iter().map(|(.., rows)| rows).collect()
}

/// The matrix of all rows, weighed. `chunk_rows` has how many rows each chunk has; features come with whether they are all
/// that have postings.
///
/// What it is made from is freed along the way, so that not both forms of all rows are held.
pub(crate) fn assemble(
    plan: &Plan,
    vocabulary: &Vocabulary,
    chunk_rows: &[usize],
    (features, has_all): (&[Feature], bool),
    sorted: Vec<Sorted>,
    sources: Vec<Source>,
) -> Csr {
    let packed = ChunkedPostings::new(chunk_rows, (features, has_all), &sources);
    let mut in_rows: Vec<Vec<Rows>> = chunk_rows.iter().map(|_| Vec::new()).collect();
    for (block, (sorted, source)) in sorted.into_iter().zip(sources).enumerate() {
        if let Some((chunks, places)) = source.rows {
            let rows = renumber(block, features, sorted.n_strings(), chunks, places);
            for (chunk, rows) in in_rows.iter_mut().zip(rows) {
                chunk.push(rows);
            }
        }
    }

    let len = |(chunk, rows): (usize, &Vec<Rows>)| {
        let ids = rows.iter().flat_map(|rows| &rows.ids);
        packed.chunk(chunk).len() + ids.filter(|&&id| id != NONE).count()
    };
    let lens: Vec<usize> = in_rows.iter().enumerate().map(len).collect();
    let nnz = lens.iter().sum();
    let (mut idx, mut val) = (vec![0u32; nnz], vec![0f32; nnz]);
    let (mut idx_left, mut val_left) = (idx.as_mut_slice(), val.as_mut_slice());
    let mut work = Vec::with_capacity(in_rows.len());
    let mut first_row = 0;
    for (chunk, (rows, len)) in in_rows.into_iter().zip(lens).enumerate() {
        let (idx, val);
        (idx, idx_left) = idx_left.split_at_mut(len);
        (val, val_left) = val_left.split_at_mut(len);
        work.push((chunk, first_row, rows, idx, val));
        first_row += chunk_rows[chunk];
    }
    let weigher = vocabulary.weigher(plan);
    let tallies: Mutex<Vec<Tally>> = Mutex::default(); // as many as there are threads
    let row_lens: Vec<Vec<usize>> = work
        .into_par_iter()
        .with_max_len(1)
        .map(|(chunk, first_row, rows, mut idx, mut val)| {
            let (entries, starts) = packed.rows(chunk, first_row, chunk_rows[chunk]);
            let mut others: Vec<_> =
                rows.iter().map(|rows| (rows.lens.iter(), rows.entries())).collect();
            let (mut strings, mut buffer, mut merged) = (Vec::new(), Vec::new(), Vec::new());
            let mut tally =
                tallies.lock().ok().and_then(|mut tallies| tallies.pop()).unwrap_or_default();
            let mut lens = Vec::with_capacity(starts.len());
            for span in starts.windows(2) {
                let mut row = &entries[span[0]..span[1]];
                if !others.is_empty() {
                    strings.clear();
                    let in_row = others.iter_mut().flat_map(|(lens, entries)| {
                        let n = lens.next().copied().unwrap_or(0);
                        entries.by_ref().take(n as usize)
                    });
                    let entry = |(j, n)| u64::from(j) << 32 | u64::from(n);
                    if vocabulary.len() <= MOST {
                        tally.add_up(in_row, vocabulary.len(), |j, n| strings.push(entry((j, n))));
                    } else {
                        strings.extend(in_row.filter(|&(j, _)| j != NONE).map(entry));
                        sort_row(&mut strings, &mut buffer, vocabulary.len());
                    }
                    if row.is_empty() {
                        row = &strings;
                    } else {
                        merge(row, &strings, &mut merged);
                        row = &merged;
                    }
                }
                let (row_idx, row_val);
                (row_idx, idx) = std::mem::take(&mut idx).split_at_mut(row.len());
                (row_val, val) = std::mem::take(&mut val).split_at_mut(row.len());
                weigher.fill(row, row_idx, row_val);
                lens.push(row.len());
            }
            if let Ok(mut tallies) = tallies.lock() {
                tallies.push(tally);
            }
            lens
        })
        .collect();
    let mut indptr = vec![0];
    let mut end = 0;
    indptr.extend(row_lens.iter().flatten().map(|len| {
        end += len;
        end
    }));
    Csr::new(vocabulary.len(), indptr, idx, val).expect("sorted rows of numbered features")
}

/// Two sorted lists into one.
fn merge(a: &[u64], b: &[u64], out: &mut Vec<u64>) {
    out.clear();
    out.resize(a.len() + b.len(), 0);
    let (mut i, mut k) = (0, 0);
    while i < a.len() && k < b.len() {
        // No branch on which comes next: it is anyone's guess.
        let (x, y) = (a[i], b[k]);
        out[i + k] = x.min(y);
        i += usize::from(x <= y);
        k += usize::from(x > y);
    }
    out[i + k..][..a.len() - i].copy_from_slice(&a[i..]);
    out[a.len() + k..].copy_from_slice(&b[k..]);
}
