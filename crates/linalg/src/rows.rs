//! Sparse rows that grow.

use crate::{Row, SparseRow};
use std::ops::Range;

/// Rows of columns, rising, with their values. Values are stored only if one is not 1.
#[derive(Clone, Debug, Default)]
pub struct SparseRows {
    /// Where each row ends.
    ends: Vec<usize>,
    idx: Vec<u32>,
    /// As many as `idx`, or none: all are 1.
    val: Vec<f32>,
    /// As many as the longest row.
    ones: Vec<f32>,
    spare: Vec<(u32, f32)>,
    /// Whether some rows are not in order yet.
    raw: bool,
}

impl SparseRows {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.idx.clear();
        self.val.clear();
        self.raw = false;
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.ends.len()
    }

    /// How many entries in all.
    pub fn nnz(&self) -> usize {
        self.idx.len()
    }

    /// The highest column of all rows.
    pub fn max_id(&self) -> Option<u32> {
        self.idx.iter().copied().max()
    }

    /// A row that has been ended.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        let places = self.places(i);
        let idx = &self.idx[places.clone()];
        let val = if self.val.is_empty() { &self.ones[..idx.len()] } else { &self.val[places] };
        // Rows were put in order when they were ended, so that nothing needs to be checked here; of raw ones those that are not are empty.
        match self.raw {
            false => Row::Sparse(SparseRow::in_order(idx, val)),
            true => SparseRow::new(idx, val).map_or(Row::Dense(&[]), Row::Sparse),
        }
    }

    /// Adds a column with the value 1 to the row that is being written.
    #[inline]
    pub fn push(&mut self, id: u32) {
        self.idx.push(id);
        if !self.val.is_empty() {
            self.val.push(1.0);
        }
    }

    /// Adds a column with a value to the row that is being written.
    pub fn push_value(&mut self, id: u32, value: f32) {
        if value != 1.0 && self.val.is_empty() {
            self.val.resize(self.idx.len(), 1.0);
        }
        // An empty vector of values means ones, so the first entry of all needs care.
        if value != 1.0 || !self.val.is_empty() {
            self.val.push(value);
        }
        self.idx.push(id);
    }

    /// Ends the row that was written: sorts it, and adds up the values of columns that came more than once.
    pub fn end_row(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        self.sort_from(start);
        self.note_end();
    }

    /// Ends a row of preliminary numbers, to be put in order by [`renumber`](Self::renumber). Before that, a row that is not in order reads as empty.
    pub fn end_raw_row(&mut self) {
        self.raw = true;
        self.note_end();
    }

    /// Gives every column its final number and drops those that have none.
    pub fn renumber(&mut self, number: impl Fn(u32) -> Option<u32>) {
        self.raw = false;
        let ends = std::mem::take(&mut self.ends);
        let old_idx = std::mem::take(&mut self.idx);
        let old_val = std::mem::take(&mut self.val);
        self.idx.reserve(old_idx.len());
        let mut start = 0;
        for end in ends {
            for i in start..end {
                if let Some(id) = number(old_idx[i]) {
                    self.push_value(id, old_val.get(i).copied().unwrap_or(1.0));
                }
            }
            self.end_row();
            start = end;
        }
    }

    fn places(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }

    fn note_end(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        self.ends.push(self.idx.len());
        let len = self.idx.len() - start;
        if self.ones.len() < len {
            self.ones.resize(len, 1.0);
        }
    }

    fn sort_from(&mut self, start: usize) {
        if self.val.is_empty() {
            let row = &mut self.idx[start..];
            if row.len() <= RANKED && sort_by_rank(row) {
                return;
            }
            row.sort_unstable();
            if row.windows(2).all(|p| p[0] != p[1]) {
                return;
            }
            self.val.resize(self.idx.len(), 1.0);
        }
        self.spare.clear();
        self.spare.extend(self.idx[start..].iter().copied().zip(self.val[start..].iter().copied()));
        // Stable: values of one column are added in the order in which they came.
        self.spare.sort_by_key(|&(id, _)| id);
        self.idx.truncate(start);
        self.val.truncate(start);
        for &(id, value) in &self.spare {
            if self.idx.len() > start && self.idx.last() == Some(&id) {
                *self.val.last_mut().unwrap_or(&mut 0.0) += value;
            } else {
                self.idx.push(id);
                self.val.push(value);
            }
        }
    }
}

/// The longest row that is sorted by ranks.
const RANKED: usize = 64;

/// Puts each number where the count of smaller ones says: a loop without branches that vectorises, for 19 numbers four times as fast as a sort. Gives up
/// with the row as it was if two are the same or above 2³¹.
fn sort_by_rank(row: &mut [u32]) -> bool {
    let mut sorted = [u32::MAX; RANKED];
    for &x in row.iter() {
        let rank: i32 = row.iter().map(|&y| i32::from((y as i32) < x as i32)).sum();
        sorted[rank as usize] = x;
    }
    let sorted = &sorted[..row.len()];
    let rising = sorted.windows(2).fold(true, |rising, p| rising & (p[0] < p[1]));
    let ends = sorted.last().is_none_or(|&last| last <= i32::MAX as u32);
    if rising && ends {
        row.copy_from_slice(sorted);
    }
    rising && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(x: &SparseRows) -> Vec<Vec<(usize, f32)>> {
        (0..x.n_rows())
            .map(|i| {
                let mut row = Vec::new();
                x.row(i).for_each(|j, v| row.push((j, v)));
                row
            })
            .collect()
    }

    #[test]
    fn rows_are_sorted_and_repeats_added() {
        let mut x = SparseRows::new();
        for id in [5, 2, 9] {
            x.push(id);
        }
        x.end_row();
        x.end_row();
        assert_eq!(rows(&x), [vec![(2, 1.0), (5, 1.0), (9, 1.0)], vec![]]);
        assert!(x.val.is_empty());
        for id in [4, 1, 4] {
            x.push(id);
        }
        x.end_row();
        x.push_value(3, 0.5);
        x.push(3);
        x.end_row();
        assert_eq!(rows(&x)[2..], [vec![(1, 1.0), (4, 2.0)], vec![(3, 1.5)]]);
        assert_eq!(rows(&x)[0], [(2, 1.0), (5, 1.0), (9, 1.0)]);
        x.clear();
        x.push_value(1, 2.0);
        x.end_row();
        assert_eq!(rows(&x), [vec![(1, 2.0)]]);
    }

    #[test]
    fn ranks_sort() {
        for n in 0..=RANKED as u32 {
            let row: Vec<u32> = (0..n).map(|i| (i * 37 + 5) % 67).collect();
            let (mut ranked, mut sorted) = (row.clone(), row.clone());
            assert!(sort_by_rank(&mut ranked));
            sorted.sort_unstable();
            assert_eq!(ranked, sorted);
            for same in [0, n / 2] {
                let mut twice = row.clone();
                twice.push(row.get(same as usize).copied().unwrap_or(u32::MAX));
                let before = twice.clone();
                assert!(twice.len() > RANKED || !sort_by_rank(&mut twice) && twice == before);
            }
        }
    }

    #[test]
    fn raw_rows_out_of_order_are_not_read() {
        let mut x = SparseRows::new();
        [9, 2].into_iter().for_each(|column| x.push(column));
        x.end_raw_row();
        assert_eq!(rows(&x), [vec![]]);
        x.renumber(Some);
        assert_eq!(rows(&x), [vec![(2, 1.0), (9, 1.0)]]);
    }

    #[test]
    fn renumbering_drops_what_has_no_number() {
        let mut x = SparseRows::new();
        for row in [[10u32, 20, 30], [30, 20, 20]] {
            row.into_iter().for_each(|column| x.push(column));
            x.end_raw_row();
        }
        x.renumber(|column| [20, 30].iter().position(|&kept| kept == column).map(|i| i as u32));
        assert_eq!(rows(&x), [vec![(0, 1.0), (1, 1.0)], vec![(0, 2.0), (1, 1.0)]]);
    }
}
