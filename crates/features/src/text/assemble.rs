//! Rows under provisional numbers, and how they become a matrix.

use super::merge::LaneMap;
use super::order::Renumbering;
use super::plan::Plan;
use super::sort::sort_row;
use super::tables::NONE;
use super::vocabulary::Vocabulary;
use lineal_linalg::Csr;
use rayon::prelude::*;

/// The entries of one block of some rows, as (number, count). A count of 255 or more is among `large`, in order.
#[derive(Clone, Default)]
pub(crate) struct Rows {
    lens: Vec<u32>,
    ids: Vec<u32>,
    counts: Vec<u8>,
    large: Vec<u32>,
}

impl Rows {
    /// Appends a row.
    pub(crate) fn push(&mut self, entries: &[(u32, u32)]) {
        self.lens.push(entries.len() as u32);
        self.ids.extend(entries.iter().map(|&(id, _)| id));
        for &(_, count) in entries {
            self.counts.push(count.min(255) as u8);
            if count >= 255 {
                self.large.push(count);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.lens.clear();
        self.ids.clear();
        self.counts.clear();
        self.large.clear();
    }

    /// All entries, row after row.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut large = self.large.iter();
        self.ids.iter().zip(&self.counts).map(move |(&id, &count)| match count {
            255 => (id, large.next().copied().unwrap_or(255)),
            count => (id, u32::from(count)),
        })
    }
}

/// The matrix of all rows, under the new numbers, weighed.
///
/// A chunk is freed when it has been copied, so that at no time both forms of all rows are held.
pub(crate) fn assemble(
    plan: &Plan,
    vocabulary: &Vocabulary,
    renumber: Vec<Renumbering>,
    maps: Vec<Vec<Option<LaneMap>>>,
    mut chunks: Vec<(usize, usize, Vec<Rows>)>,
) -> Csr {
    let after: Vec<Vec<Option<Renumbering>>> = maps
        .into_iter()
        .zip(&renumber)
        .map(|(lanes, all)| lanes.into_iter().map(|map| map.map(|map| all.after(&map))).collect())
        .collect();
    let of = |block: usize, lane: usize| after[block][lane].as_ref().unwrap_or(&renumber[block]);

    // New numbers in place of the old, and how long each row gets.
    let lens: Vec<Vec<usize>> = chunks
        .par_iter_mut()
        .with_max_len(1)
        .map(|(_, lane, in_blocks)| {
            let mut lens = vec![0; in_blocks[0].lens.len()];
            for (block, rows) in in_blocks.iter_mut().enumerate() {
                let new = of(block, *lane);
                let mut left = rows.ids.as_mut_slice();
                for (&n, len) in rows.lens.iter().zip(&mut lens) {
                    let ids;
                    (ids, left) = left.split_at_mut(n as usize);
                    for id in ids {
                        *id = new.get(*id);
                        *len += usize::from(*id != NONE);
                    }
                }
            }
            lens
        })
        .collect();
    let mut indptr = vec![0];
    let mut nnz = 0;
    for &len in lens.iter().flatten() {
        nnz += len;
        indptr.push(nnz);
    }

    let (mut idx, mut val) = (vec![0u32; nnz], vec![0f32; nnz]);
    let (mut idx_left, mut val_left) = (idx.as_mut_slice(), val.as_mut_slice());
    let mut work = Vec::with_capacity(chunks.len());
    for ((_, _, in_blocks), lens) in chunks.into_iter().zip(lens) {
        let n = lens.iter().sum();
        let (idx, val);
        (idx, idx_left) = idx_left.split_at_mut(n);
        (val, val_left) = val_left.split_at_mut(n);
        work.push((in_blocks, lens, idx, val));
    }
    let weigher = vocabulary.weigher(plan);
    work.into_par_iter().with_max_len(1).for_each(|(in_blocks, lens, mut idx, mut val)| {
        let (mut row, mut buffer) = (Vec::new(), Vec::new());
        let mut blocks: Vec<_> =
            in_blocks.iter().map(|rows| (rows.lens.iter(), rows.entries())).collect();
        for len in lens {
            row.clear();
            for (lens, entries) in &mut blocks {
                let n = lens.next().copied().unwrap_or(0);
                let entries = entries.by_ref().take(n as usize).filter(|&(j, _)| j != NONE);
                row.extend(entries.map(|(j, count)| u64::from(j) << 32 | u64::from(count)));
            }
            sort_row(&mut row, &mut buffer, vocabulary.len());
            let (row_idx, row_val);
            (row_idx, idx) = std::mem::take(&mut idx).split_at_mut(len);
            (row_val, val) = std::mem::take(&mut val).split_at_mut(len);
            weigher.fill(&row, row_idx, row_val);
        }
    });
    Csr::new(vocabulary.len(), indptr, idx, val).expect("sorted rows of numbered features")
}
