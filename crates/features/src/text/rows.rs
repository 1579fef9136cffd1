//! Where text comes from.

/// Rows of text: one text a slot (column).
pub trait TextRows: Sync {
    /// How many rows there are.
    fn n_rows(&self) -> usize;
    /// How many texts each row has.
    fn n_slots(&self) -> usize;
    /// One text. `row` and `slot` are below the numbers given above.
    fn get(&self, row: usize, slot: usize) -> &str;
}

/// One text a row.
impl<S: AsRef<str> + Sync> TextRows for [S] {
    fn n_rows(&self) -> usize {
        self.len()
    }

    fn n_slots(&self) -> usize {
        1
    }

    fn get(&self, row: usize, _slot: usize) -> &str {
        self[row].as_ref()
    }
}

/// One text a row.
impl<S: AsRef<str> + Sync, const N: usize> TextRows for [S; N] {
    fn n_rows(&self) -> usize {
        N
    }

    fn n_slots(&self) -> usize {
        1
    }

    fn get(&self, row: usize, _slot: usize) -> &str {
        self[row].as_ref()
    }
}

/// One text a row.
impl<S: AsRef<str> + Sync> TextRows for Vec<S> {
    fn n_rows(&self) -> usize {
        self.len()
    }

    fn n_slots(&self) -> usize {
        1
    }

    fn get(&self, row: usize, _slot: usize) -> &str {
        self[row].as_ref()
    }
}

/// One row, with a text a slot.
pub(crate) struct OneRow<'a>(pub(crate) &'a [&'a str]);

impl TextRows for OneRow<'_> {
    fn n_rows(&self) -> usize {
        1
    }

    fn n_slots(&self) -> usize {
        self.0.len()
    }

    fn get(&self, _row: usize, slot: usize) -> &str {
        self.0[slot]
    }
}
