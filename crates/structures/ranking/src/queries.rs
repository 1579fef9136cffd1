//! Documents by query: features, grades, weights, and the groups of equal grades.
//!
//! A *query* has documents, each with a row of features and a grade; higher grades are better. Documents of a query are numbered from 0 in the order in which they were
//! given. Documents of equal grade form a *group*; groups are numbered from 0, the best.

use lineal_linalg::{Matrix, Row};
use std::ops::Range;
use thiserror::Error;

/// Why documents do not form queries.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum QueryError {
    /// Ends of queries that fall, or that do not end with the last document.
    #[error("ends of queries must rise to the number of documents, {documents}")]
    Ends {
        /// How many documents there are.
        documents: usize,
    },
    /// A document whose row the matrix does not have.
    #[error("document {document} is row {row}, and there are {rows} rows")]
    Row {
        /// Counted from 0.
        document: usize,
        /// The row that was asked for.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// As many grades as rows are needed.
    #[error("{grades} grades for {rows} rows")]
    Grades {
        /// How many grades were given.
        grades: usize,
        /// How many rows there are.
        rows: usize,
    },
    /// A grade that is infinite or not a number.
    #[error("the grade of row {row} is {grade}: grades must be finite")]
    Grade {
        /// Counted from 0.
        row: usize,
        /// The grade.
        grade: f32,
    },
    /// As many weights as queries are needed.
    #[error("{weights} weights for {queries} queries")]
    Weights {
        /// How many weights were given.
        weights: usize,
        /// How many queries there are.
        queries: usize,
    },
    /// A weight that is negative, infinite or not a number.
    #[error("the weight of query {query} is {weight}: weights must be finite and not negative")]
    Weight {
        /// Counted from 0.
        query: usize,
        /// The weight.
        weight: f32,
    },
}

/// The documents of all queries. The matrix is borrowed, never copied.
#[derive(Clone, Debug)]
pub struct Queries<'a> {
    x: &'a Matrix,
    /// The row of each document; none: document d is row d.
    rows: Option<&'a [u32]>,
    /// Where the documents of each query end.
    ends: &'a [usize],
    /// One for each row of the matrix.
    grades: &'a [f32],
    /// One for each query; none: 1 for all.
    weights: Option<&'a [f32]>,
    /// The group of each document.
    group_of: Vec<u32>,
    /// The documents of each query by falling grade, numbered within their query; equal grades in the order given.
    by_grade: Vec<u32>,
    /// Where the groups of all queries end, numbered within their query.
    group_ends: Vec<u32>,
    /// Where the groups of each query end in `group_ends`.
    last_groups: Vec<usize>,
}

impl<'a> Queries<'a> {
    /// Queries whose documents are rows one after the other: query q ends before row `ends[q]`. One grade for each row.
    ///
    /// # Errors
    /// If the ends do not rise to the number of rows, or a grade is not finite.
    pub fn new(x: &'a Matrix, ends: &'a [usize], grades: &'a [f32]) -> Result<Self, QueryError> {
        Self::build(x, None, ends, grades)
    }

    /// Queries whose documents are listed: document d is row `rows[d]`, and query q ends before document `ends[q]`. One grade for each row of the matrix.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if a row does not exist.
    pub fn listed(
        x: &'a Matrix,
        rows: &'a [u32],
        ends: &'a [usize],
        grades: &'a [f32],
    ) -> Result<Self, QueryError> {
        Self::build(x, Some(rows), ends, grades)
    }

    fn build(
        x: &'a Matrix,
        rows: Option<&'a [u32]>,
        ends: &'a [usize],
        grades: &'a [f32],
    ) -> Result<Self, QueryError> {
        let n_rows = x.n_rows();
        let documents = rows.map_or(n_rows, <[u32]>::len);
        if !ends.is_sorted() || ends.last().copied().unwrap_or(0) != documents {
            return Err(QueryError::Ends { documents });
        }
        if grades.len() != n_rows {
            return Err(QueryError::Grades { grades: grades.len(), rows: n_rows });
        }
        if let Some((row, &grade)) = grades.iter().enumerate().find(|(_, g)| !g.is_finite()) {
            return Err(QueryError::Grade { row, grade });
        }
        let outside = |(_, row): &(usize, &u32)| **row as usize >= n_rows;
        if let Some((document, &row)) = rows.into_iter().flatten().enumerate().find(outside) {
            return Err(QueryError::Row { document, row: row as usize, rows: n_rows });
        }
        let mut new = Self {
            x,
            rows,
            ends,
            grades,
            weights: None,
            group_of: vec![0; documents],
            by_grade: Vec::with_capacity(documents),
            group_ends: Vec::new(),
            last_groups: Vec::with_capacity(ends.len()),
        };
        (0..ends.len()).for_each(|q| new.push_groups(q));
        Ok(new)
    }

    /// How much each query counts; all the same by default.
    ///
    /// # Errors
    /// If there are not as many as queries, or one is negative or not finite.
    pub fn with_weights(self, weights: &'a [f32]) -> Result<Self, QueryError> {
        if weights.len() != self.len() {
            return Err(QueryError::Weights { weights: weights.len(), queries: self.len() });
        }
        let wrong = |(_, w): &(usize, &f32)| !(w.is_finite() && **w >= 0.0);
        if let Some((query, &weight)) = weights.iter().enumerate().find(wrong) {
            return Err(QueryError::Weight { query, weight });
        }
        Ok(Self { weights: Some(weights), ..self })
    }

    fn push_groups(&mut self, q: usize) {
        let documents = self.documents(q);
        let (start, from) = (documents.start, self.by_grade.len());
        self.by_grade.extend(0..documents.len() as u32);
        let grade = |d: u32| self.grades[row_of(self.rows, start + d as usize)];
        // Stable: equal grades stay in order.
        self.by_grade[from..].sort_by(|&a, &b| grade(b).total_cmp(&grade(a)));
        let (mut group, mut last) = (0, None);
        for (place, &d) in self.by_grade[from..].iter().enumerate() {
            // Not by their bits: −0 and 0 are one grade.
            if last.is_some_and(|last| last != grade(d)) {
                self.group_ends.push(place as u32);
                group += 1;
            }
            last = Some(grade(d));
            self.group_of[start + d as usize] = group;
        }
        if !documents.is_empty() {
            self.group_ends.push(documents.len() as u32);
        }
        self.last_groups.push(self.group_ends.len());
    }

    /// How many queries.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no query.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many features.
    pub fn n_features(&self) -> usize {
        self.x.n_cols()
    }

    /// The documents of a query, counted over all queries.
    pub fn documents(&self, q: usize) -> Range<usize> {
        let start = if q == 0 { 0 } else { self.ends[q - 1] };
        start..self.ends[q]
    }

    /// The features of a document, counted over all queries.
    #[inline]
    pub fn row(&self, document: usize) -> Row<'a> {
        self.x.row(row_of(self.rows, document))
    }

    /// The grade of a document, counted over all queries.
    #[inline]
    pub fn grade(&self, document: usize) -> f32 {
        self.grades[row_of(self.rows, document)]
    }

    /// How much a query counts.
    pub fn weight(&self, q: usize) -> f64 {
        self.weights.map_or(1.0, |weights| f64::from(weights[q]))
    }

    /// Whether all values of all rows are stored.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.x, Matrix::Dense(_))
    }

    /// How many values are stored, about: rows may be listed twice or not at all.
    pub(crate) fn n_values(&self) -> usize {
        let documents = self.group_of.len() as f64;
        (self.x.nnz() as f64 * documents / self.x.n_rows().max(1) as f64) as usize
    }

    /// What oracles see of a query.
    pub(crate) fn query(&self, q: usize) -> Query<'_> {
        let documents = self.documents(q);
        let first = if q == 0 { 0 } else { self.last_groups[q - 1] };
        Query {
            group_of: &self.group_of[documents.clone()],
            by_grade: &self.by_grade[documents],
            group_ends: &self.group_ends[first..self.last_groups[q]],
        }
    }
}

fn row_of(rows: Option<&[u32]>, document: usize) -> usize {
    rows.map_or(document, |rows| rows[document] as usize)
}

/// The documents of one query and which are better than which.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// The group of each document.
    pub(crate) group_of: &'q [u32],
    /// Documents from the best group to the worst.
    pub(crate) by_grade: &'q [u32],
    /// Where each group ends in `by_grade`.
    pub(crate) group_ends: &'q [u32],
}

impl<'q> Query<'q> {
    pub(crate) fn n(&self) -> usize {
        self.group_of.len()
    }

    pub(crate) fn n_groups(&self) -> usize {
        self.group_ends.len()
    }

    /// The places in `by_grade` of a group.
    pub(crate) fn places(&self, group: usize) -> Range<usize> {
        let start = if group == 0 { 0 } else { self.group_ends[group - 1] };
        start as usize..self.group_ends[group] as usize
    }

    /// The documents of a group.
    pub(crate) fn group(&self, group: usize) -> &'q [u32] {
        &self.by_grade[self.places(group)]
    }

    /// How many pairs of documents differ in grade.
    pub(crate) fn n_pairs(&self) -> f64 {
        let below = |group: usize| {
            let places = self.places(group);
            places.len() as f64 * (self.n() - places.end) as f64
        };
        (0..self.n_groups()).map(below).sum()
    }
}

/// Gathers rows by their query: rows in the order of the first row of their query, and where each query ends. For [`Queries::listed`]; queries may come back later in a file.
pub fn group_rows(ids: &[u64]) -> (Vec<u32>, Vec<usize>) {
    let mut first = std::collections::HashMap::with_capacity(ids.len() / 8);
    for (row, &id) in ids.iter().enumerate() {
        first.entry(id).or_insert(row as u32);
    }
    let mut rows: Vec<u32> = (0..ids.len() as u32).collect();
    // Stable: the rows of a query stay in order.
    rows.sort_by_key(|&row| first[&ids[row as usize]]);
    let is_last = |&at: &usize| {
        rows.get(at + 1).is_none_or(|&next| ids[next as usize] != ids[rows[at] as usize])
    };
    let ends = (0..rows.len()).filter(is_last).map(|at| at + 1).collect();
    (rows, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::Dense;

    fn matrix(n: usize) -> Matrix {
        Matrix::Dense(Dense::new(n, 1, vec![0.0; n]).unwrap())
    }

    #[test]
    fn equal_grades_are_one_group() {
        let x = matrix(6);
        let grades = [1.0, 2.0, 1.0, 0.0, -0.0, 5.0];
        let queries = Queries::new(&x, &[5, 5, 6], &grades).unwrap();
        let query = queries.query(0);
        assert_eq!(query.group_of, [1, 0, 1, 2, 2]);
        assert_eq!(query.by_grade, [1, 0, 2, 3, 4]);
        assert_eq!(query.group_ends, [1, 3, 5]);
        assert_eq!(query.n_pairs(), 8.0);
        assert_eq!((queries.query(1).n(), queries.query(1).n_groups()), (0, 0));
        assert_eq!((queries.query(2).n_pairs(), queries.grade(5)), (0.0, 5.0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let x = matrix(3);
        let grades = [0.0; 3];
        let refused = |ends: &[usize]| Queries::new(&x, ends, &grades).unwrap_err();
        assert_eq!(refused(&[2, 1, 3]), QueryError::Ends { documents: 3 });
        assert_eq!(refused(&[2]), QueryError::Ends { documents: 3 });
        assert_eq!(refused(&[]), QueryError::Ends { documents: 3 });
        let error = Queries::new(&x, &[3], &grades[..2]).unwrap_err();
        assert_eq!(error, QueryError::Grades { grades: 2, rows: 3 });
        let error = Queries::new(&x, &[3], &[0.0, f32::INFINITY, 1.0]).unwrap_err();
        assert!(error.to_string().contains("row 1"), "{error}");
        let error = Queries::listed(&x, &[0, 3], &[2], &grades).unwrap_err();
        assert_eq!(error, QueryError::Row { document: 1, row: 3, rows: 3 });
        let queries = Queries::new(&x, &[3], &grades).unwrap();
        assert!(queries.clone().with_weights(&[1.0, 1.0]).is_err());
        assert!(queries.with_weights(&[-1.0]).is_err());
    }

    #[test]
    fn queries_that_come_back_are_gathered() {
        let (rows, ends) = group_rows(&[7, 3, 7, 7, 3, 9]);
        assert_eq!((&rows[..], &ends[..]), (&[0, 2, 3, 1, 4, 5][..], &[3, 5, 6][..]));
        assert_eq!(group_rows(&[]), (vec![], vec![]));
    }
}
