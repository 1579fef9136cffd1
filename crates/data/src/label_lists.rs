//! Several labels a row.

use crate::dataset::UNSEEN;
use crate::error::{count, quote};

/// The labels of multilabel data: for each row the ids of its labels, which may be none.
///
/// Ids of a row rise. [`UNSEEN`], a label that the schema does not have, comes last and may be there more
/// than once: each stands for another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    start: Vec<usize>,
    ids: Vec<u32>,
}

impl Labels {
    /// Checks and takes the lists: row `i` is `start[i]..start[i+1]` of `ids`.
    pub fn new(start: Vec<usize>, ids: Vec<u32>) -> Result<Self, String> {
        if start.first() != Some(&0) || start.last() != Some(&ids.len()) || !start.is_sorted() {
            return Err(format!("row starts must rise from 0 to the number of ids, {}", ids.len()));
        }
        let labels = Self { start, ids };
        let rising =
            |i: &usize| labels.row(*i).is_sorted_by(|a, b| a < b || (*a == UNSEEN && *b == UNSEEN));
        match (0..labels.n_rows()).find(|i| !rising(i)) {
            None => Ok(labels),
            Some(i) => Err(format!("row {i} has label ids that repeat or fall")),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.start.len() - 1
    }

    /// The labels of row `i`, sorted.
    ///
    /// # Panics
    /// If `i` is not below `n_rows()`.
    #[inline]
    pub fn row(&self, i: usize) -> &[u32] {
        &self.ids[self.start[i]..self.start[i + 1]]
    }

    /// Where each row starts among [`ids`](Self::ids), and where the last ends.
    pub fn starts(&self) -> &[usize] {
        &self.start
    }

    /// The labels of all rows, one after the other.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// How many labels all rows have together.
    pub fn n_labels_total(&self) -> usize {
        self.ids.len()
    }

    /// The labels of each row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.n_rows()).map(|i| self.row(i))
    }

    /// A copy of some rows, in the order asked for.
    ///
    /// # Panics
    /// If a row is not below `n_rows()`.
    pub fn select(&self, rows: &[usize]) -> Labels {
        let mut selected = LabelsBuilder::default();
        for &i in rows {
            selected.ids.extend_from_slice(self.row(i));
            selected.end_row();
        }
        selected.finish()
    }
}

/// Lists that grow row by row.
pub(crate) struct LabelsBuilder {
    start: Vec<usize>,
    ids: Vec<u32>,
}

impl Default for LabelsBuilder {
    fn default() -> Self {
        Self { start: vec![0], ids: Vec::new() }
    }
}

impl LabelsBuilder {
    /// A label of the row at work.
    pub(crate) fn push(&mut self, id: u32) {
        self.ids.push(id);
    }

    /// Ends the row at work: sorts its ids and keeps each once. Returns one that was there twice.
    pub(crate) fn end_row(&mut self) -> Option<u32> {
        let first = self.start.last().copied().unwrap_or(0);
        let row = &mut self.ids[first..];
        row.sort_unstable();
        let twice = row.windows(2).find(|w| w[0] == w[1] && w[0] != UNSEEN).map(|w| w[0]);
        if twice.is_some() {
            let mut last = None;
            let mut kept = first;
            for k in first..self.ids.len() {
                let id = self.ids[k];
                if last != Some(id) || id == UNSEEN {
                    self.ids[kept] = id;
                    kept += 1;
                }
                last = Some(id);
            }
            self.ids.truncate(kept);
        }
        self.start.push(self.ids.len());
        twice
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.start.len() - 1
    }

    pub(crate) fn n_labels_total(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn finish(self) -> Labels {
        Labels { start: self.start, ids: self.ids }
    }
}

/// Rows that give a label twice, which a set cannot: it is kept once, with a warning.
#[derive(Clone, Debug, Default)]
pub(crate) struct DuplicateLabels {
    n_rows: usize,
    /// The name of the first, its line and byte column.
    first: Option<(String, usize, Option<usize>)>,
}

impl DuplicateLabels {
    /// Notes a row.
    pub(crate) fn add(&mut self, name: &str, place: impl FnOnce() -> (usize, Option<usize>)) {
        self.n_rows += 1;
        self.first.get_or_insert_with(|| {
            let (line, column) = place();
            (quote(name), line, column)
        });
    }

    /// Adds those of a later part of the file, which has so many lines before it.
    pub(crate) fn append(&mut self, later: DuplicateLabels, n_lines_before: usize) {
        self.n_rows += later.n_rows;
        let first = later.first.map(|(name, line, column)| (name, line + n_lines_before, column));
        self.first = self.first.take().or(first);
    }

    pub(crate) fn warning(&self, file: &str) -> Option<String> {
        let (name, line, column) = self.first.as_ref()?;
        let column = column.map(|c| format!(":{c}")).unwrap_or_default();
        let more = match self.n_rows {
            1 => String::new(),
            n => format!(" (and {})", count(n - 1, "more row")),
        };
        Some(format!("{file}:{line}{column}: label {name} is given twice; kept once{more}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_may_be_empty() {
        let labels = Labels::new(vec![0, 2, 2, 5], vec![1, 4, 0, UNSEEN, UNSEEN]).unwrap();
        assert_eq!((labels.n_rows(), labels.n_labels_total()), (3, 5));
        assert_eq!(labels.iter().collect::<Vec<_>>(), [&[1, 4][..], &[], &[0, UNSEEN, UNSEEN]]);
        assert_eq!(labels.select(&[2, 0, 0]).iter().map(<[u32]>::len).sum::<usize>(), 7);
        assert_eq!(labels.select(&[1]), Labels::new(vec![0, 0], vec![]).unwrap());
    }

    #[test]
    fn what_is_not_lists_is_refused() {
        for (start, ids) in [
            (vec![], vec![]),
            (vec![1], vec![7]),
            (vec![0, 2], vec![1]),
            (vec![0, 2, 1, 2], vec![0, 1]),
            (vec![0, 2], vec![1, 1]),
            (vec![0, 2], vec![1, 0]),
        ] {
            assert!(Labels::new(start.clone(), ids).is_err(), "{start:?}");
        }
    }

    #[test]
    fn a_builder_sorts_and_tells_of_twins() {
        let mut lists = LabelsBuilder::default();
        [3, 1, UNSEEN, UNSEEN].iter().for_each(|&id| lists.push(id));
        assert_eq!(lists.end_row(), None);
        [2, UNSEEN, 0, 2, UNSEEN, 2].iter().for_each(|&id| lists.push(id));
        assert_eq!(lists.end_row(), Some(2));
        let lists = lists.finish();
        assert_eq!(
            (lists.row(0), lists.row(1)),
            (&[1, 3, UNSEEN, UNSEEN][..], &[0, 2, UNSEEN, UNSEEN][..])
        );
    }
}
