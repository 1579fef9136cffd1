//! Rows read together, so that n-grams can be looked up in large batches.

use super::page::{Lookup, Page};
use super::plan::{Kind, Plan};
use super::rows::TextRows;
use super::tables::{NONE, Sorter};

/// Tokens after which a batch is large enough.
const LARGE: usize = 1 << 18;

/// The features of some rows as numbers, before they are counted.
#[derive(Default)]
pub(crate) struct Batch {
    page: Page,
    blocks: Vec<BlockIds>,
    sorter: Sorter,
    n_rows: usize,
}

#[derive(Default)]
struct BlockIds {
    /// Row after row. After each row of words stands [`NONE`], so that no n-gram spans two rows: one with it is none.
    ids: Vec<u32>,
    /// Where each row is.
    rows: Vec<(usize, usize)>,
    /// At each place, the n-gram of two words that starts there, then of three, …
    levels: Vec<Vec<u32>>,
    /// The rows whose tokens hold spaces: they have all their n-grams among the ids already.
    spaced: Vec<usize>,
}

impl Batch {
    /// Reads one row.
    pub(crate) fn push<L: Lookup>(
        &mut self,
        plan: &Plan,
        tables: &mut [L],
        rows: &(impl TextRows + ?Sized),
        row: usize,
    ) {
        self.blocks.resize_with(plan.blocks.len(), BlockIds::default);
        for slot in 0..plan.n_slots {
            self.page.read(plan, rows.get(row, slot));
            for ((block, table), out) in plan.blocks.iter().zip(&mut *tables).zip(&mut self.blocks)
            {
                if block.slot != slot {
                    continue;
                }
                let start = out.ids.len();
                if block.kind == Kind::Words && self.page.has_spaces() {
                    self.page.spaced_ngrams(block.range, table, &mut out.ids);
                    out.spaced.push(self.n_rows);
                } else {
                    self.page.strings(block, table, &mut out.ids);
                }
                out.rows.push((start, out.ids.len()));
                if block.kind == Kind::Words {
                    out.ids.push(NONE);
                }
            }
        }
        self.n_rows += 1;
    }

    /// How many rows have been read.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Whether it is time to go on.
    pub(crate) fn is_large(&self) -> bool {
        self.blocks.iter().any(|block| block.ids.len() >= LARGE)
    }

    /// Finds the n-grams of what was read.
    pub(crate) fn lengthen<L: Lookup>(&mut self, plan: &Plan, tables: &mut [L]) {
        for ((block, table), out) in plan.blocks.iter().zip(tables).zip(&mut self.blocks) {
            let (_, hi) = block.range;
            if block.kind != Kind::Words || hi == 1 {
                continue;
            }
            out.levels.resize_with(hi - 1, Vec::new);
            for n in 2..=hi {
                let (shorter, longer) = out.levels.split_at_mut(n - 2);
                let (grams, words) = (&mut longer[0], out.ids.get(n - 1..).unwrap_or_default());
                grams.clear();
                grams.extend_from_slice(shorter.last().map_or(&out.ids[..], |grams| &grams[..]));
                grams.truncate(words.len());
                table.lengthen(grams, words, &mut self.sorter);
            }
        }
    }

    /// Appends the numbers of a row's features of a block. Some are [`NONE`].
    pub(crate) fn ids(&self, plan: &Plan, block: usize, row: usize, out: &mut Vec<u32>) {
        let ids = &self.blocks[block];
        let (start, end) = ids.rows[row];
        let block = &plan.blocks[block];
        let (lo, hi) = block.range;
        if block.kind != Kind::Words || lo == 1 || ids.spaced.contains(&row) {
            out.extend_from_slice(&ids.ids[start..end]);
        }
        if block.kind == Kind::Words && hi > 1 && !ids.spaced.contains(&row) {
            for n in lo.max(2)..=hi.min(end - start) {
                out.extend_from_slice(&ids.levels[n - 2][start..=end - n]);
            }
        }
    }

    /// Forgets what was read.
    pub(crate) fn clear(&mut self) {
        self.n_rows = 0;
        for block in &mut self.blocks {
            block.ids.clear();
            block.rows.clear();
            block.spaced.clear();
        }
    }
}
