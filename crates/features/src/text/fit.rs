//! Learning a vocabulary in one pass, batch by batch.
//!
//! Each thread has a *lane*: tables of its own, in which strings get provisional numbers. A batch is cut into chunks of
//! [`CHUNK`] rows and a lane takes the next chunk when it has done one. What a chunk leaves behind is its rows: the
//! (number, count) of each string that is a feature, five bytes an entry; and, where n-grams are to be found, all words'
//! numbers one after the other, four bytes each. Both are less than the text. At the end lanes are merged, n-grams found by sorting
//! ([`ngrams`](super::ngrams)), and features numbered by falling document frequency, ties by name. None of it
//! depends on which lane saw what, so the result has the same bits at any number of threads and for any batches.
//!
//! Nothing is dropped on the way: what was seen once may be seen again in the last document. Only
//! [`finish`](TextFit::finish) can tell what `min_df` leaves; it drops n-grams of a word that `min_df` drops before they
//! are formed.

use super::assemble::{Chunks, Rows, Source, assemble};
use super::encoder::TextEncoder;
use super::hashed::HashFit;
use super::merge::{Merged, merge};
use super::ngrams::{Limits, Texts, levels};
use super::order::{Feature, Sorted, by_falling_df, in_order, keep_most};
use super::page::Page;
use super::plan::Plan;
use super::rows::TextRows;
use super::spec::TextSpec;
use super::tables::{MOST, Strings};
use super::tally::Tally;
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
        let Settled { vocabulary, chunk_rows, features, has_all, sorted, sources } =
            settle(&plan, n_rows, lanes)?;
        let rows = assemble(&plan, &vocabulary, &chunk_rows, (&features, has_all), sorted, sources);
        Ok((TextEncoder::from_vocabulary(plan, vocabulary), rows))
    }

    /// Settles the features, as [`finish`](Self::finish) does, without the memory that the rows would take.
    pub fn finish_without_rows(self) -> Result<TextEncoder, Error> {
        let Self { plan, n_rows, state } = self;
        Ok(match state {
            State::Hashed(fit) => {
                TextEncoder::from_hashed(plan.clone(), fit.finish(&plan, n_rows).0)
            }
            State::Vocabulary { lanes, .. } => {
                let Settled { vocabulary, .. } = settle(&plan, n_rows, lanes)?;
                TextEncoder::from_vocabulary(plan, vocabulary)
            }
        })
    }
}

pub(crate) fn check_slots(plan: &Plan, rows: &(impl TextRows + ?Sized)) -> Result<(), Error> {
    let (found, expected) = (rows.n_slots(), plan.n_slots);
    if found == expected { Ok(()) } else { Err(Error::Columns { found, expected }) }
}

/// The features, and what the rows are made of.
struct Settled {
    vocabulary: Vocabulary,
    chunk_rows: Vec<usize>,
    features: Vec<Feature>,
    has_all: bool,
    sorted: Vec<Sorted>,
    sources: Vec<Source>,
}

fn settle(plan: &Plan, n_rows: usize, lanes: Vec<Lane>) -> Result<Settled, Error> {
    let mut tables: Vec<Vec<LaneTable>> = plan.blocks.iter().map(|_| Vec::new()).collect();
    let mut chunks: Vec<Chunks> = plan.blocks.iter().map(|_| Vec::new()).collect();
    for (l, lane) in lanes.into_iter().enumerate() {
        for (table, of_block) in lane.tables.into_iter().zip(&mut tables) {
            of_block.push(table);
        }
        for (order, in_blocks) in lane.chunks {
            for (rows, of_block) in in_blocks.into_iter().zip(&mut chunks) {
                of_block.push((order, l, rows));
            }
        }
    }
    if tables.iter().flatten().any(|table| table.words.is_full()) {
        return Err(Error::TooMany { what: "strings", limit: MOST as u64 });
    }
    chunks.iter_mut().for_each(|chunks| chunks.sort_unstable_by_key(|&(order, ..)| order));
    let chunk_rows: Vec<usize> = chunks[0].iter().map(|(.., rows)| rows.n_rows()).collect();
    let limits = Limits::new(&plan.spec, n_rows);
    let mut sorted = Vec::new();
    let mut sources = Vec::new();
    for ((block, tables), chunks) in plan.blocks.iter().zip(tables).zip(chunks) {
        let Merged { words, df, places } = merge(tables);
        let mut chunks = chunks;
        let (mut entries, mut postings) = (Vec::new(), Vec::new());
        if block.is_chained {
            let texts =
                Texts::new(&mut chunks, &places, |word| limits.may_be_in_kept(df[word as usize]))?;
            let levels = levels(texts, words.len(), block.range, &limits);
            (entries, postings) = levels.into_iter().map(|l| (l.entries, l.postings)).unzip();
        }
        let rows = block.has_strings().then_some((chunks, places));
        sorted.push(Sorted::new(words, rows.is_some().then_some(&df), entries));
        sources.push(Source { rows, postings });
    }
    let mut features = in_order(&sorted, &sources, &limits);
    let most = plan.spec.max_features.unwrap_or(usize::MAX);
    let has_all = features.len() <= most;
    if !has_all {
        let totals: Vec<Vec<u64>> =
            sources.iter().zip(&sorted).map(|(s, sorted)| s.totals(sorted.n_strings())).collect();
        keep_most(&mut features, most, |feature: &Feature| {
            let block = feature.block as usize;
            match feature.level {
                0 => totals[block][feature.at as usize],
                _ => sources[block].postings(feature).iter().map(|&p| u64::from(p as u32)).sum(),
            }
        });
    }
    if features.is_empty() {
        let seen: usize = sorted.iter().map(Sorted::n_strings).sum();
        let why = if seen == 0 {
            "no text has a token: there are no features".to_owned()
        } else {
            format!("none of {seen} tokens is left by min_df, max_df and n-gram lengths")
        };
        return Err(Error::Empty(why));
    }
    let features = by_falling_df(&features);
    let vocabulary = Vocabulary::new(plan, &features, &sorted, n_rows)?;
    Ok(Settled { vocabulary, chunk_rows, features, has_all, sorted, sources })
}

/// One thread's share of the work.
struct Lane {
    tables: Vec<LaneTable>,
    page: Page,
    tally: Tally,
    entries: Vec<(u32, u32)>,
    ids: Vec<u32>,
    /// One per block.
    rows: Vec<Rows>,
    /// Each with its place among all chunks.
    chunks: Vec<(usize, Vec<Rows>)>,
}

/// One lane's table for one block.
#[derive(Default)]
pub(crate) struct LaneTable {
    pub(crate) words: Strings,
    /// Documents with each string.
    pub(crate) df: Vec<u32>,
}

impl Lane {
    fn new(plan: &Plan) -> Self {
        Self {
            tables: plan.blocks.iter().map(|_| LaneTable::default()).collect(),
            page: Page::default(),
            tally: Tally::default(),
            entries: Vec::new(),
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
            for slot in 0..plan.n_slots {
                self.page.read(plan, rows.get(row, slot));
                for (b, block) in plan.blocks.iter().enumerate().filter(|(_, b)| b.slot == slot) {
                    let (LaneTable { words, df }, out) = (&mut self.tables[b], &mut self.rows[b]);
                    self.ids.clear();
                    let intern = |buffer: &[u8], spans: &[_], out: &mut _| {
                        words.intern_all(buffer, spans, out);
                    };
                    self.page.strings(block, intern, &mut self.ids);
                    if block.is_chained {
                        out.push_words(&self.ids);
                    }
                    df.resize(words.len(), 0);
                    self.entries.clear();
                    self.tally.count(&self.ids, words.len(), |id, count| {
                        df[id as usize] += 1;
                        self.entries.push((id, count));
                    });
                    if block.has_strings() {
                        out.push(&self.entries);
                    }
                }
            }
        }
        self.rows.clone() // as large as they must be
    }
}
