//! Features hashed into 2^bits columns: no vocabulary, one pass, bounded memory.
//!
//! Column and sign come from MurmurHash3 of the name, as in scikit-learn's `FeatureHasher`; a row's values are those of
//! `HashingVectorizer(alternate_sign=True)`. Dampening, and counting as 0 or 1, happen to a feature, before columns are
//! added up.

use super::count::Counter;
use super::fit::CHUNK;
use super::murmur::murmur3_32;
use super::names::{ChunkNames, Names, Voting, column};
use super::page::Page;
use super::plan::Plan;
use super::rows::TextRows;
use super::sort::sort_row;
use super::weigh::{Weigher, smooth_idf};
use lineal_linalg::Csr;
use rayon::prelude::*;

/// Chunks that are all looked at for names; of later ones, every eighth is.
const NAMED_CHUNKS: usize = 512;

/// Chunks between two votes on names.
const WAVE: usize = 64;

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
    counter: Counter,
    /// column << 32 | bits of the value.
    row: Vec<u64>,
    buffer: Vec<u64>,
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
        mut names: Option<&mut ChunkNames>,
        out: &mut SparseRows,
    ) {
        self.hashes.clear();
        for slot in 0..plan.n_slots {
            self.page.read(plan, rows.get(row, slot));
            for (b, block) in plan.blocks.iter().enumerate().filter(|(_, b)| b.slot == slot) {
                let hashes = &mut self.hashes;
                self.page.names(block, |name| {
                    let hash = murmur3_32(name, block.seed);
                    hashes.push(hash);
                    if let Some(names) = &mut names {
                        names.note(hash, b as u8, name);
                    }
                });
            }
        }
        self.row.clear();
        self.row.extend(self.counter.count(&self.hashes, u32::MAX).iter().map(|&(hash, count)| {
            let value = weigher.of_count(count) as f32;
            let signed = if hash as i32 >= 0 { value } else { -value };
            u64::from(column(hash, mask)) << 32 | u64::from(signed.to_bits())
        }));
        sort_row(&mut self.row, &mut self.buffer, mask as usize + 1);
        let before = out.idx.len();
        for &entry in &self.row {
            let (j, value) = ((entry >> 32) as u32, f32::from_bits(entry as u32));
            if out.idx.len() > before && out.idx.last() == Some(&j) {
                if let Some(sum) = out.val.last_mut() {
                    *sum += value;
                }
            } else {
                out.idx.push(j);
                out.val.push(value);
            }
        }
        out.lens.push(out.idx.len() - before);
    }
}

/// Learns names, and idf if wanted, as batches come.
pub(crate) struct HashFit {
    bits: u8,
    /// Rows so far, before idf and norm if there is idf to come.
    chunks: Vec<SparseRows>,
    n_chunks: usize,
    voting: Voting,
}

impl HashFit {
    pub(crate) fn new(plan: &Plan, bits: u8) -> Self {
        let voting = Voting::new(plan.spec.hash_names, bits);
        Self { bits, chunks: Vec::new(), n_chunks: 0, voting }
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
        for wave in (0..n_chunks).step_by(WAVE) {
            let first = self.n_chunks;
            let done: Vec<(SparseRows, Option<ChunkNames>)> = (wave..n_chunks.min(wave + WAVE))
                .into_par_iter()
                .map_init(HashWork::default, |work, chunk| {
                    let nth = first + chunk - wave;
                    let is_named = nth < NAMED_CHUNKS || nth.is_multiple_of(8);
                    let wanted = is_named && plan.spec.hash_names > 0;
                    let mut names = wanted.then(ChunkNames::default);
                    let range = chunk * CHUNK..rows.n_rows().min((chunk + 1) * CHUNK);
                    let mut chunk = SparseRows::default();
                    for row in range {
                        let names = names.as_mut();
                        work.encode(plan, &weigher, mask, (rows, row), names, &mut chunk);
                    }
                    if !plan.spec.weights.has_idf() {
                        chunk.finish(&weigher);
                    }
                    chunk.shrink();
                    (chunk, names)
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
