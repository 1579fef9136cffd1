//! Irregular but readable rows, counted for one warning.

use crate::error::count;
use crate::label_lists::DuplicateLabels;

#[derive(Default)]
pub(super) struct Irregularities {
    pub(super) n_unsorted: usize,
    /// The first line whose indices are out of order.
    pub(super) first_unsorted: Option<usize>,
    pub(super) duplicates: DuplicateLabels,
    /// Feature values that the schema has no column for, and the rows they are in.
    pub(super) n_dropped: usize,
    pub(super) n_dropped_rows: usize,
}

impl Irregularities {
    /// Adds what was odd in a later part of the file, which has so many lines before it.
    pub(super) fn add(&mut self, later: Irregularities, n_lines_before: usize) {
        self.n_unsorted += later.n_unsorted;
        let line = later.first_unsorted.map(|line| line + n_lines_before);
        self.first_unsorted = self.first_unsorted.or(line);
        self.duplicates.append(later.duplicates, n_lines_before);
        self.n_dropped += later.n_dropped;
        self.n_dropped_rows += later.n_dropped_rows;
    }

    pub(super) fn warnings(&self, file: &str) -> Vec<String> {
        let unsorted = self.first_unsorted.map(|line| {
            let more = match self.n_unsorted {
                1 => String::new(),
                n => format!(" (and {})", count(n - 1, "more row")),
            };
            format!("{file}:{line}: indices out of order; sorted{more}")
        });
        let dropped = (self.n_dropped > 0).then(|| {
            let (values, rows) =
                (count(self.n_dropped, "feature value"), count(self.n_dropped_rows, "row"));
            format!("{file}: {values} in {rows} that training did not have; left out")
        });
        unsorted.into_iter().chain(self.duplicates.warning(file)).chain(dropped).collect()
    }
}
