//! Features hashed into 2^bits columns: no vocabulary, one pass, bounded memory.
//!
//! Column and sign come from MurmurHash3 of the name, as in scikit-learn's `FeatureHasher`; a row's values are those of
//! `HashingVectorizer(alternate_sign=True)`. Dampening, and counting as 0 or 1, happen to a feature, before columns are
//! added up.

use super::fit::CHUNK;
use super::murmur::murmur3_32;
use super::names::{ChunkNames, NameTable, Names, Voting, column};
use super::page::Page;
use super::plan::Plan;
use super::rows::TextRows;
use super::sort::sort_ids;
use super::weigh::{Weigher, smooth_idf};
use lineal_linalg::Csr;
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Chunks of which every row is looked at for names, and every name counts. Of later ones it is every fourth row, and names that
/// occur twice there.
const FIRST_CHUNKS: usize = 16;

/// Chunks between two votes on names.
const WAVE: usize = 64;

/// No column has this number.
const NO_COLUMN: u32 = u32::MAX;

/// What a hashing encoder knows.
#[derive(Clone)]
pub(crate) struct Hashed {
    pub(crate) bits: u8,
    pub(crate) idf: Vec<f32>,
    pub(crate) names: Names,
}

impl Hashed {
    pub(crate) fn n_columns(&self) -> usize {
        1 << self.bits
    }

    pub(crate) fn mask(&self) -> u32 {
        (1 << self.bits) - 1
    }

    pub(crate) fn weigher(&self, plan: &Plan) -> Weigher<'_> {
        weigher(plan, &self.idf)
    }
}

fn weigher<'a>(plan: &Plan, idf: &'a [f32]) -> Weigher<'a> {
    Weigher {
        weights: plan.spec.weights,
        norm: plan.spec.norm,
        idf,
        block_of: &[],
        n_blocks: plan.blocks.len(),
    }
}

/// Rows one after the other.
#[derive(Default)]
pub(crate) struct SparseRows {
    pub(crate) lens: Vec<usize>,
    pub(crate) idx: Vec<u32>,
    pub(crate) val: Vec<f32>,
}

impl SparseRows {
    pub(crate) fn clear(&mut self) {
        self.lens.clear();
        self.idx.clear();
        self.val.clear();
    }

    /// Idf and norm, row by row.
    pub(crate) fn finish(&mut self, weigher: &Weigher<'_>) {
        let mut start = 0;
        for &len in &self.lens {
            let span = start..start + len;
            weigher.finish(&self.idx[span.clone()], &mut self.val[span]);
            start += len;
        }
    }

    /// Gives back what was reserved and not used.
    fn shrink(&mut self) {
        self.idx.shrink_to_fit();
        self.val.shrink_to_fit();
    }

    /// One matrix of many.
    pub(crate) fn stack(n_cols: usize, chunks: Vec<SparseRows>) -> Csr {
        let nnz = chunks.iter().map(|chunk| chunk.idx.len()).sum();
        let (mut idx, mut val) = (Vec::with_capacity(nnz), Vec::with_capacity(nnz));
        let mut indptr = vec![0];
        let mut end = 0;
        for chunk in chunks {
            idx.extend_from_slice(&chunk.idx);
            val.extend_from_slice(&chunk.val);
            indptr.extend(chunk.lens.iter().map(|len| {
                end += len;
                end
            }));
        }
        Csr::new(n_cols, indptr, idx, val).expect("sorted rows below the number of columns")
    }
}

/// Buffers for one row.
#[derive(Default)]
pub(crate) struct HashWork {
    page: Page,
    hashes: Vec<u32>,
    buffer: Vec<u32>,
}

impl HashWork {
    /// Appends a row, before idf and norm; notes names if so asked.
    ///
    /// A column whose values cancel stays, as a zero: it counts for idf.
    pub(crate) fn encode(
        &mut self,
        plan: &Plan,
        weigher: &Weigher<'_>,
        mask: u32,
        (rows, row): (&(impl TextRows + ?Sized), usize),
        mut names: Option<&mut NameTable>,
        out: &mut SparseRows,
    ) {
        self.hashes.clear();
        for slot in 0..plan.n_slots {
            self.page.read(plan, rows.get(row, slot));
            for (b, block) in plan.blocks.iter().enumerate().filter(|(_, b)| b.slot == slot) {
                let hashes = &mut self.hashes;
                match &mut names {
                    None => self.page.names(block, |buffer, start, end| {
                        hashes.push(murmur3_32(buffer, start, end, block.seed));
                    }),
                    Some(names) => self.page.names(block, |buffer, start, end| {
                        let hash = murmur3_32(buffer, start, end, block.seed);
                        hashes.push(hash);
                        names.note(hash, b as u8, &buffer[start..end]);
                    }),
                }
            }
        }
        let columns = mask as usize + 1;
        sort_ids(&mut self.hashes, &mut self.buffer, columns, |hash| column(hash, mask));
        let before = out.idx.len();
        if weigher.is_plain() {
            self.sum_signs(mask, out);
        } else {
            self.sum_features(mask, weigher, out);
        }
        out.lens.push(out.idx.len() - before);
    }

    /// Where a feature counts as often as it occurs: ±1 for each hash, without a branch.
    fn sum_signs(&self, mask: u32, out: &mut SparseRows) {
        let (before, n) = (out.idx.len(), self.hashes.len());
        out.idx.resize(before + n, 0);
        out.val.resize(before + n, 0.0);
        let (idx, val) = (&mut out.idx[before..], &mut out.val[before..]);
        let (mut len, mut last, mut sum) = (0usize, NO_COLUMN, 0i32);
        for &hash in &self.hashes {
            let j = column(hash, mask);
            len += usize::from(j != last);
            sum = if j == last { sum } else { 0 } + ((hash as i32) >> 31 | 1);
            idx[len - 1] = j;
            val[len - 1] = sum as f32;
            last = j;
        }
        out.idx.truncate(before + len);
        out.val.truncate(before + len);
    }

    fn sum_features(&mut self, mask: u32, weigher: &Weigher<'_>, out: &mut SparseRows) {
        let (before, n) = (out.idx.len(), self.hashes.len());
        out.idx.resize(before + n, 0);
        out.val.resize(before + n, 0.0);
        let (idx, val) = (&mut out.idx[before..], &mut out.val[before..]);
        let once = weigher.of_count(1) as f32;
        let (mut len, mut at) = (0, 0);
        while let Some(&hash) = self.hashes.get(at) {
            let j = column(hash, mask);
            let rest = self.hashes[at + 1..].iter();
            let end = at + 1 + rest.take_while(|&&other| column(other, mask) == j).count();
            idx[len] = j;
            val[len] = match &mut self.hashes[at..end] {
                // Most features of a row occur once, and alone.
                [hash] => signed(*hash, once),
                several => {
                    several.sort_unstable();
                    let of = |equals: &[u32]| {
                        let value = weigher.of_count(equals.len() as u32);
                        if equals[0] as i32 >= 0 { value } else { -value }
                    };
                    several.chunk_by(|a, b| a == b).map(of).sum::<f64>() as f32
                }
            };
            len += 1;
            at = end;
        }
        out.idx.truncate(before + len);
        out.val.truncate(before + len);
    }
}

/// What a mutex guards, also after a panic elsewhere: buffers are cleared before they are used.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value with the sign of a hash.
fn signed(hash: u32, value: f32) -> f32 {
    f32::from_bits(value.to_bits() | hash & 1 << 31)
}

/// Learns names, and idf if wanted, as batches come.
pub(crate) struct HashFit {
    bits: u8,
    /// Rows so far, before idf and norm if there is idf to come.
    chunks: Vec<SparseRows>,
    n_chunks: usize,
    voting: Voting,
    /// Buffers that no thread has at the moment.
    idle: Mutex<Vec<(HashWork, Option<NameTable>)>>,
}

impl HashFit {
    pub(crate) fn new(plan: &Plan, bits: u8) -> Self {
        let voting = Voting::new(plan.spec.hash_names, (1 << bits) - 1);
        Self { bits, chunks: Vec::new(), n_chunks: 0, voting, idle: Mutex::default() }
    }

    pub(crate) fn resume(&mut self, names: &Names) {
        self.voting.resume(names);
    }

    pub(crate) fn push(&mut self, plan: &Plan, rows: &(impl TextRows + ?Sized)) {
        let chunks = self.read(plan, rows);
        self.chunks.extend(chunks);
    }

    pub(crate) fn encode(&mut self, plan: &Plan, rows: &(impl TextRows + ?Sized)) -> Csr {
        SparseRows::stack(1 << self.bits, self.read(plan, rows))
    }

    fn read(&mut self, plan: &Plan, rows: &(impl TextRows + ?Sized)) -> Vec<SparseRows> {
        let n_chunks = rows.n_rows().div_ceil(CHUNK);
        let weigher = weigher(plan, &[]);
        let mask = (1 << self.bits) - 1;
        let mut out = Vec::with_capacity(n_chunks);
        let new_work = || {
            let names = (plan.spec.hash_names > 0).then(|| NameTable::new(mask));
            (HashWork::default(), names)
        };
        let idle = &self.idle;
        for wave in (0..n_chunks).step_by(WAVE) {
            let first = self.n_chunks;
            let done: Vec<(SparseRows, Option<ChunkNames>)> = (wave..n_chunks.min(wave + WAVE))
                .into_par_iter()
                .map(|chunk| {
                    let (mut work, mut names) = locked(idle).pop().unwrap_or_else(new_work);
                    let (step, enough) =
                        if first + chunk - wave < FIRST_CHUNKS { (1, 1) } else { (4, 2) };
                    let range = chunk * CHUNK..rows.n_rows().min((chunk + 1) * CHUNK);
                    let mut chunk = SparseRows::default();
                    for row in range {
                        let names = names.as_mut().filter(|_| row.is_multiple_of(step));
                        work.encode(plan, &weigher, mask, (rows, row), names, &mut chunk);
                    }
                    if !plan.spec.weights.has_idf() {
                        chunk.finish(&weigher);
                    }
                    chunk.shrink();
                    let of_chunk = names.as_mut().map(|names| names.take(enough));
                    locked(idle).push((work, names));
                    (chunk, of_chunk)
                })
                .collect();
            self.n_chunks += done.len();
            for (rows, names) in done {
                out.push(rows);
                if let Some(names) = names {
                    self.voting.add(names);
                }
            }
        }
        out
    }

    pub(crate) fn snapshot(&self, plan: &Plan) -> Hashed {
        Hashed { bits: self.bits, idf: Vec::new(), names: self.voting.names(plan) }
    }

    pub(crate) fn finish(mut self, plan: &Plan, n_rows: usize) -> (Hashed, Csr) {
        let mut hashed = self.snapshot(plan);
        if plan.spec.weights.has_idf() {
            let mut df = vec![0u32; hashed.n_columns()];
            for &j in self.chunks.iter().flat_map(|chunk| &chunk.idx) {
                df[j as usize] += 1;
            }
            hashed.idf = df.into_iter().map(|df| smooth_idf(df, n_rows)).collect();
            let weigher = hashed.weigher(plan);
            self.chunks.par_iter_mut().for_each(|chunk| chunk.finish(&weigher));
        }
        let rows = SparseRows::stack(hashed.n_columns(), self.chunks);
        (hashed, rows)
    }
}
