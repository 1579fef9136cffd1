//! Running text on its way to the code that makes features of it: in batches, none of which is kept.

use crate::schema::Schema;

/// Takes the text of a dataset while it is read.
pub trait TextSink {
    /// Hears what the columns are, before any row. Text columns are [`Schema::text_columns`].
    fn start(&mut self, _: &Schema) -> Result<(), String> {
        Ok(())
    }

    /// Takes some rows. Batches come in the order of rows, and each row comes once.
    ///
    /// An error ends the reading; its message should say what would fix it.
    fn batch(&mut self, batch: &TextBatch) -> Result<(), String>;
}

/// The text cells of some rows, one after the other in a single buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBatch {
    n_slots: usize,
    text: String,
    /// Where each cell ends, row by row.
    ends: Vec<usize>,
}

/// A batch is handed over when it has so many bytes of text or so many rows. Fixed, so that batches are the
/// same at any number of threads.
const BYTES: usize = 4 << 20;
const ROWS: usize = 1 << 16;

impl TextBatch {
    /// No rows, of so many text columns.
    pub fn new(n_slots: usize) -> Self {
        Self { n_slots, text: String::new(), ends: Vec::new() }
    }

    /// Number of rows; 0 without text columns.
    pub fn n_rows(&self) -> usize {
        self.ends.len().checked_div(self.n_slots).unwrap_or(0)
    }

    /// Number of text columns.
    pub fn n_slots(&self) -> usize {
        self.n_slots
    }

    /// Bytes of all cells together.
    pub fn n_bytes(&self) -> usize {
        self.text.len()
    }

    /// The text of a row in the `slot`-th text column; empty where the row has none.
    ///
    /// # Panics
    /// If `row` is not below `n_rows()` or `slot` not below `n_slots()`.
    #[inline]
    pub fn get(&self, row: usize, slot: usize) -> &str {
        assert!(slot < self.n_slots, "slot {slot} of {}", self.n_slots);
        let cell = row * self.n_slots + slot;
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If there are not `n_slots()` cells.
    pub fn push_row(&mut self, cells: &[&str]) {
        assert_eq!(cells.len(), self.n_slots, "one cell a slot");
        cells.iter().for_each(|cell| self.push(cell));
    }

    /// The next cell; rows are filled slot by slot.
    #[inline]
    pub(crate) fn push(&mut self, cell: &str) {
        self.push_with(|text| text.push_str(cell));
    }

    /// The next cell, appended by `write`.
    #[inline]
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    pub(crate) fn is_full(&self) -> bool {
        self.text.len() >= BYTES || self.n_rows() >= ROWS
    }

    /// Forgets the rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_apart() {
        let mut batch = TextBatch::new(2);
        batch.push_row(&["a b", ""]);
        batch.push_row(&["", "é"]);
        assert_eq!((batch.n_rows(), batch.n_slots(), batch.n_bytes()), (2, 2, 5));
        assert_eq!(
            [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| batch.get(i, j)),
            ["a b", "", "", "é"]
        );
        batch.clear();
        assert_eq!(batch, TextBatch::new(2));
        assert_eq!(TextBatch::new(0).n_rows(), 0);
    }

    #[test]
    fn a_batch_is_full_by_bytes_or_by_rows() {
        let mut batch = TextBatch::new(1);
        (1..ROWS).for_each(|_| batch.push(""));
        assert!(!batch.is_full());
        batch.push("");
        assert!(batch.is_full());
        batch.clear();
        batch.push(&"x".repeat(BYTES));
        assert!(batch.is_full());
    }
}
