//! Learning a vocabulary in one pass, batch by batch.
//!
//! Each thread has a *lane*: tables of its own, in which strings and n-grams get provisional numbers. A batch is cut into
//! chunks of [`CHUNK`] rows and a lane takes the next chunk when it has done one. What a chunk leaves behind is its rows
//! as (provisional number, count): four bytes and one an entry, less than the text. At the end lanes are merged and
//! features numbered by falling document frequency, ties by name. Neither depends on which lane saw what, so the
//! result has the same bits at any number of threads and for any batches.
//!
//! Nothing is dropped on the way: a feature that was seen once may be seen again in the last document. Only
//! [`finish`](TextFit::finish) can tell what `min_df` leaves.

use super::assemble::{Rows, assemble};
use super::batch::Batch;
use super::count::Counter;
use super::encoder::TextEncoder;
use super::hashed::HashFit;
use super::merge::merge;
use super::order::{Renumbering, Totals, number};
use super::page::Lookup;
use super::plan::Plan;
use super::rows::TextRows;
use super::spec::TextSpec;
use super::tables::{MOST, NONE, PAIR, Pairs, Sorter, Strings};
use super::vocabulary::Vocabulary;
use crate::Error;
use lineal_linalg::Csr;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that one thread works on at a time.
pub(crate) const CHUNK: usize = 256;

/// Learns features from batches of rows.
///
/// ```
/// use lineal_features::text::{TextFit, TextSpec};
///
/// let mut fit = TextFit::new(TextSpec::default())?;
/// fit.push(&["the cat sat", "the dog sat"])?;
/// fit.push(&["the end"])?;
/// let (encoder, rows) = fit.finish()?;
/// assert_eq!(rows.n_rows(), 3);
/// assert_eq!(encoder.feature_name(0), "the"); // in most documents
/// # Ok::<(), lineal_features::Error>(())
/// ```
pub struct TextFit {
    plan: Plan,
    n_rows: usize,
    state: State,
}

enum State {
    Vocabulary { lanes: Vec<Lane>, n_chunks: usize },
    Hashed(HashFit),
}

impl TextFit {
    /// Starts from nothing.
    pub fn new(spec: TextSpec) -> Result<Self, Error> {
        let plan = Plan::new(spec)?;
        let state = match plan.spec.hash_bits {
            None => State::Vocabulary { lanes: Vec::new(), n_chunks: 0 },
            Some(bits) => State::Hashed(HashFit::new(&plan, bits)),
        };
        Ok(Self { plan, n_rows: 0, state })
    }

    /// Goes on counting names from a hashing encoder that was made before, for more passes over more files.
    ///
    /// Refused with a vocabulary or with idf, whose numbers would have to change for rows already handed out.
    pub fn resume(encoder: TextEncoder) -> Result<Self, Error> {
        let plan = encoder.plan().clone();
        let (Some(bits), false) = (plan.spec.hash_bits, plan.spec.weights.has_idf()) else {
            let remedy = "only hashed features without idf can be learnt in parts; set hash_bits";
            return Err(Error::setting("resume", "with a vocabulary or idf", remedy));
        };
        let mut state = HashFit::new(&plan, bits);
        if let Some(names) = encoder.names() {
            state.resume(names);
        }
        Ok(Self { plan, n_rows: 0, state: State::Hashed(state) })
    }

    /// How many rows have been seen.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Takes a batch in. The text is not kept.
    pub fn push(&mut self, rows: &(impl TextRows + ?Sized)) -> Result<(), Error> {
        check_slots(&self.plan, rows)?;
        self.n_rows += rows.n_rows();
        let plan = &self.plan;
        match &mut self.state {
            State::Hashed(fit) => fit.push(plan, rows),
            State::Vocabulary { lanes, n_chunks } => {
                let in_batch = rows.n_rows().div_ceil(CHUNK);
                let n_lanes = rayon::current_num_threads().min(in_batch);
                while lanes.len() < n_lanes {
                    lanes.push(Lane::new(plan));
                }
                let next = AtomicUsize::new(0);
                lanes[..n_lanes].par_iter_mut().with_max_len(1).for_each(|lane| {
                    loop {
                        let chunk = next.fetch_add(1, Ordering::Relaxed);
                        if chunk >= in_batch {
                            break;
                        }
                        let range = chunk * CHUNK..rows.n_rows().min((chunk + 1) * CHUNK);
                        let done = lane.read(plan, rows, range);
                        lane.chunks.push((*n_chunks + chunk, done));
                    }
                });
                *n_chunks += in_batch;
            }
        }
        Ok(())
    }

    /// Takes a batch in and hands its rows out instead of keeping them: memory stays bounded however many batches
    /// come.
    ///
    /// Needs hashing without idf: any other value may still change.
    pub fn encode(&mut self, rows: &(impl TextRows + ?Sized)) -> Result<Csr, Error> {
        check_slots(&self.plan, rows)?;
        match &mut self.state {
            State::Hashed(fit) if !self.plan.spec.weights.has_idf() => {
                self.n_rows += rows.n_rows();
                Ok(fit.encode(&self.plan, rows))
            }
            _ => {
                let remedy =
                    "rows can be handed out before the end only with hash_bits and without idf";
                Err(Error::setting("encode", "while learning", remedy))
            }
        }
    }

    /// A hashing encoder with the names so far, for a checkpoint. `None` with a vocabulary or idf.
    pub fn snapshot(&self) -> Option<TextEncoder> {
        match &self.state {
            State::Hashed(fit) if !self.plan.spec.weights.has_idf() => {
                Some(TextEncoder::from_hashed(self.plan.clone(), fit.snapshot(&self.plan)))
            }
            _ => None,
        }
    }

    /// Settles the features and gives the rows that were pushed, in order.
    ///
    /// With a vocabulary, it is an error if no feature is left.
    pub fn finish(self) -> Result<(TextEncoder, Csr), Error> {
        let Self { plan, n_rows, state } = self;
        let lanes = match state {
            State::Hashed(fit) => {
                let (hashed, rows) = fit.finish(&plan, n_rows);
                return Ok((TextEncoder::from_hashed(plan, hashed), rows));
            }
            State::Vocabulary { lanes, .. } => lanes,
        };
        let (vocabulary, rows) = finish_vocabulary(&plan, n_rows, lanes)?;
        Ok((TextEncoder::from_vocabulary(plan, vocabulary), rows))
    }
}

pub(crate) fn check_slots(plan: &Plan, rows: &(impl TextRows + ?Sized)) -> Result<(), Error> {
    let (found, expected) = (rows.n_slots(), plan.n_slots);
    if found == expected { Ok(()) } else { Err(Error::Columns { found, expected }) }
}

fn finish_vocabulary(
    plan: &Plan,
    n_rows: usize,
    lanes: Vec<Lane>,
) -> Result<(Vocabulary, Csr), Error> {
    let mut tables: Vec<Vec<Growing>> = plan.blocks.iter().map(|_| Vec::new()).collect();
    let mut chunks = Vec::new();
    for (l, lane) in lanes.into_iter().enumerate() {
        for (table, of_block) in lane.tables.into_iter().zip(&mut tables) {
            of_block.push(table);
        }
        chunks.extend(lane.chunks.into_iter().map(|(order, rows)| (order, l, rows)));
    }
    chunks.sort_unstable_by_key(|&(order, ..)| order);
    if tables.iter().flatten().any(Growing::is_full) {
        return Err(Error::TooMany { what: "strings or n-grams", limit: u64::from(PAIR) - 1 });
    }
    let (blocks, maps): (Vec<_>, Vec<_>) = tables.into_par_iter().map(merge).unzip();
    let totals = plan.spec.max_features.map(|_| {
        let mut totals: Vec<_> = blocks.iter().map(Totals::new).collect();
        for (_, lane, in_blocks) in &chunks {
            for (block, rows) in in_blocks.iter().enumerate() {
                let map = maps[block][*lane].as_ref();
                rows.entries().for_each(|(id, count)| totals[block].add(map, id, count));
            }
        }
        totals
    });
    let (features, sorted) = number(&plan.spec, n_rows, &blocks, totals.as_deref());
    if features.is_empty() {
        let seen: usize = blocks.iter().map(|block| block.words.len()).sum();
        let why = if seen == 0 {
            "no text has a token: there are no features".to_owned()
        } else {
            format!("none of {seen} tokens is left by min_df, max_df and n-gram lengths")
        };
        return Err(Error::Empty(why));
    }
    let vocabulary = Vocabulary::new(plan, &features, &sorted, n_rows)?;
    let renumber = Renumbering::all(&blocks, &features, &sorted);
    drop((blocks, sorted, features));
    let rows = assemble(plan, &vocabulary, renumber, maps, chunks);
    Ok((vocabulary, rows))
}

/// One thread's share of the work.
struct Lane {
    tables: Vec<Growing>,
    batch: Batch,
    counter: Counter,
    ids: Vec<u32>,
    /// One a block.
    rows: Vec<Rows>,
    /// Each with its place among all chunks.
    chunks: Vec<(usize, Vec<Rows>)>,
}

impl Lane {
    fn new(plan: &Plan) -> Self {
        Self {
            tables: plan.blocks.iter().map(|_| Growing::default()).collect(),
            batch: Batch::default(),
            counter: Counter::default(),
            ids: Vec::new(),
            rows: plan.blocks.iter().map(|_| Rows::default()).collect(),
            chunks: Vec::new(),
        }
    }

    fn read(
        &mut self,
        plan: &Plan,
        rows: &(impl TextRows + ?Sized),
        range: Range<usize>,
    ) -> Vec<Rows> {
        self.rows.iter_mut().for_each(Rows::clear);
        for row in range {
            self.batch.push(plan, &mut self.tables, rows, row);
            if self.batch.is_large() {
                self.count(plan);
            }
        }
        self.count(plan);
        self.rows.clone() // as large as they must be
    }

    /// Counts what the batch holds.
    fn count(&mut self, plan: &Plan) {
        self.batch.lengthen(plan, &mut self.tables);
        for (block, (table, rows)) in self.tables.iter_mut().zip(&mut self.rows).enumerate() {
            for row in 0..self.batch.n_rows() {
                self.ids.clear();
                self.batch.ids(plan, block, row, &mut self.ids);
                let entries = self.counter.count(&self.ids, NONE - 1);
                table.count_documents(entries);
                rows.push(entries);
            }
        }
        self.batch.clear();
    }
}

/// One lane's tables for one block.
#[derive(Default)]
pub(crate) struct Growing {
    pub(crate) words: Strings,
    /// For each n-gram of two or more words: the n-gram without its last word, and that word.
    pub(crate) pairs: Vec<[u32; 2]>,
    table: Pairs,
    /// Documents with each string, and with each n-gram.
    pub(crate) df_words: Vec<u32>,
    pub(crate) df_pairs: Vec<u32>,
}

impl Growing {
    fn count_documents(&mut self, entries: &[(u32, u32)]) {
        self.df_words.resize(self.words.len(), 0);
        self.df_pairs.resize(self.pairs.len(), 0);
        for &(id, _) in entries {
            let df = if id & PAIR == 0 {
                &mut self.df_words[id as usize]
            } else {
                &mut self.df_pairs[(id & !PAIR) as usize]
            };
            *df = df.saturating_add(1);
        }
    }

    /// Whether something may have found no number.
    fn is_full(&self) -> bool {
        self.words.is_full() || self.pairs.len() >= MOST
    }
}

impl Lookup for Growing {
    fn words(&mut self, buffer: &[u8], spans: &[(usize, usize)], out: &mut Vec<u32>) {
        self.words.intern_all(buffer, spans, out);
    }

    fn lengthen(&mut self, grams: &mut [u32], words: &[u32], sorter: &mut Sorter) {
        self.table.intern_all(grams, words, &mut self.pairs, sorter);
    }
}
