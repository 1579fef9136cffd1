//! The queries of ranking data: which rows are the documents of which one.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::quote;

/// Queries with their documents: rows that stand together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queries {
    /// Where each query starts, and where the last one ends.
    start: Vec<usize>,
    names: Vec<String>,
}

impl Queries {
    /// Queries by name and number of documents, one after the other. One without documents is left out.
    pub fn new<N: Into<String>>(queries: impl IntoIterator<Item = (N, usize)>) -> Self {
        let mut new = Self::default();
        let mut n_rows = 0;
        for (name, n_documents) in queries.into_iter().filter(|(_, n)| *n > 0) {
            new.push(name.into(), n_rows);
            n_rows += n_documents;
        }
        new.end(n_rows);
        new
    }

    /// How many queries.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// No query?
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Where each query starts, and where the last one ends: `len() + 1` rows, rising from 0.
    pub fn start(&self) -> &[usize] {
        if self.start.is_empty() { &[0] } else { &self.start }
    }

    /// The rows of a query.
    ///
    /// # Panics
    /// If there is no query of that number.
    pub fn rows(&self, query: usize) -> Range<usize> {
        self.start[query]..self.start[query + 1]
    }

    /// What the file calls a query.
    ///
    /// # Panics
    /// If there is no query of that number.
    pub fn name(&self, query: usize) -> &str {
        &self.names[query]
    }

    /// What the file calls the queries.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Names and rows of all queries.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, Range<usize>)> + '_ {
        (0..self.len()).map(|query| (self.name(query), self.rows(query)))
    }

    /// Which query each row belongs to.
    pub fn by_row(&self) -> Vec<usize> {
        self.iter().enumerate().flat_map(|(q, (_, rows))| rows.map(move |_| q)).collect()
    }

    /// The queries of some rows, in the order of these: each run of rows of one query is a query.
    pub(crate) fn select(&self, rows: &[usize]) -> Queries {
        let query_of = |row: usize| self.start.partition_point(|&start| start <= row) - 1;
        let mut some = Queries::default();
        let mut last = None;
        for (at, &row) in rows.iter().enumerate() {
            let query = query_of(row);
            if last != Some(query) {
                some.push(self.name(query).to_owned(), at);
                last = Some(query);
            }
        }
        some.end(rows.len());
        some
    }

    /// Begins a query at a row.
    pub(crate) fn push(&mut self, name: String, row: usize) {
        self.start.push(row);
        self.names.push(name);
    }

    /// Ends the last query before a row.
    pub(crate) fn end(&mut self, n_rows: usize) {
        self.start.push(n_rows);
    }

    /// The first row whose weight is another than that of its query's first document.
    pub(crate) fn uneven_weight(&self, weights: &[f32]) -> Option<usize> {
        let uneven =
            |rows: Range<usize>| rows.clone().find(|&row| weights[row] != weights[rows.start]);
        self.iter().find_map(|(_, rows)| uneven(rows))
    }

    /// The row where the last query began, and its name.
    pub(crate) fn last(&self) -> Option<(usize, &str)> {
        let start = self.start.get(self.names.len().checked_sub(1)?)?;
        Some((*start, self.names.last()?))
    }
}

/// Why documents of a query cannot have these weights.
pub(crate) fn uneven_weights(query: &str, first: f32, other: f32) -> String {
    format!(
        "documents of query {} have the weights {first} and {other}; in ranking a query has a weight, so give all its documents the same",
        quote(query)
    )
}

/// The queries that a walk over a file has met, with the lines where they began. It holds their names, and nothing of their documents.
#[derive(Default)]
pub(crate) struct QueryIndex {
    lines: HashMap<String, usize>,
}

impl QueryIndex {
    /// Notes a query that begins in a line, or says why it must not.
    pub(crate) fn begin(&mut self, name: &str, line: usize) -> Result<(), String> {
        match self.lines.insert(name.to_owned(), line) {
            None => Ok(()),
            Some(first) => Err(format!(
                "query {} comes back: its documents begin in line {first}, and others follow before this one; sort the file by query, so that \
                 the documents of each stand together",
                quote(name)
            )),
        }
    }
}
