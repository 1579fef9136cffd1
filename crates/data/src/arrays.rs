//! Examples from memory: rows, vectors and matrices in place of files.
//!
//! Nothing is copied that is already in a [`Matrix`], and a matrix may share the memory of an array of another library, for as long as that is held
//! ([`Buffer::shared`](lineal_linalg::Buffer::shared)) or for the time of a call ([`lend`](lineal_linalg::lend)).
//!
//! ```
//! use lineal_data::Dataset;
//! use lineal_linalg::{Csr, Matrix, lend};
//!
//! // As SciPy has them: pointers of 64 bits, indices of 32.
//! let (indptr, indices, values) = ([0i64, 2, 3], [0i32, 2, 1], [1.0f32, 2.0, 5.0]);
//! lend(|loan| {
//!     let x = Csr::from_arrays(3, loan.buffer(&indptr), loan.buffer(&indices), loan.buffer(&values))?;
//!     let data = Dataset::of_classes(Matrix::Sparse(x), &["no", "yes"])?;
//!     assert_eq!((data.n_rows(), data.n_features()), (2, 3));
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::dataset::{Dataset, Targets};
use crate::error::{Error, ErrorKind};
use crate::label_lists::Labels;
use crate::labels::sort_names;
use crate::queries::Queries;
use crate::schema::{Column, ColumnKind, Schema, TargetKind};
use lineal_linalg::{Dense, Matrix};
use std::collections::HashMap;

/// What messages call the data.
const SOURCE: &str = "arrays";

impl Schema {
    /// Of so many features without names.
    pub fn of_arrays(n_features: usize, target: TargetKind, classes: Vec<String>) -> Self {
        Self {
            format: None,
            target,
            classes,
            n_features,
            n_computed: 0,
            columns: None,
            feature_ids: None,
            no_header: false,
            delimiter: None,
            decimal_comma: false,
            encoding: None,
            image: None,
        }
    }
}

impl Schema {
    /// The same features, each a column of numbers with its name.
    pub fn with_names<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, Error> {
        let column = |(at, name): (usize, N)| Column {
            name: name.into(),
            kind: ColumnKind::Numeric { at, mean: 0.0 },
        };
        let columns: Vec<Column> = names.into_iter().enumerate().map(column).collect();
        if columns.len() != self.n_features {
            let message = format!("{} names for {} features", columns.len(), self.n_features);
            return Err(bad(ErrorKind::Columns, message));
        }
        self.columns = Some(columns);
        Ok(self)
    }
}

impl Dataset {
    /// Rows of numbers, each with the name of its class.
    ///
    /// ```
    /// # use lineal_data::Dataset;
    /// let data = Dataset::from_rows(&[[1.0, 5.0], [7.0, 2.0], [8.0, 1.0]], &["flat", "tall", "tall"])?;
    /// assert_eq!((data.n_rows(), data.n_features()), (3, 2));
    /// assert_eq!(data.schema.classes, ["flat", "tall"]);
    /// # Ok::<(), lineal_data::Error>(())
    /// ```
    pub fn from_rows<X: AsRef<[f32]>, Y: AsRef<str>>(x: &[X], y: &[Y]) -> Result<Self, Error> {
        Self::of_classes(matrix(x)?, y)
    }

    /// Examples with the name of the class of each.
    pub fn of_classes<Y: AsRef<str>>(x: Matrix, y: &[Y]) -> Result<Self, Error> {
        let (classes, ids) = numbered(y.iter().map(AsRef::as_ref));
        let schema = Schema::of_arrays(x.n_cols(), TargetKind::Classes, classes);
        Self::of_arrays(x, Targets::Classes(ids), schema)
    }

    /// Examples with the number of the class of each, from 0. A class that no example has may be named, too.
    pub fn of_class_numbers(x: Matrix, y: Vec<u32>, classes: Vec<String>) -> Result<Self, Error> {
        if let Some(at) = y.iter().position(|&y| y as usize >= classes.len()) {
            return Err(bad(
                ErrorKind::Label,
                format!("row {at} has class {}, and there are {} classes", y[at], classes.len()),
            ));
        }
        let schema = Schema::of_arrays(x.n_cols(), TargetKind::Classes, classes);
        Self::of_arrays(x, Targets::Classes(y), schema)
    }

    /// Examples with the names of any number of labels each.
    pub fn of_labels<L: AsRef<[Y]>, Y: AsRef<str>>(x: Matrix, y: &[L]) -> Result<Self, Error> {
        let all = y.iter().flat_map(|labels| labels.as_ref()).map(AsRef::as_ref);
        let (classes, all) = numbered(all);
        let (mut start, mut ids) = (vec![0], Vec::with_capacity(all.len()));
        let mut left = all.as_slice();
        for labels in y {
            let (own, rest) = left.split_at(labels.as_ref().len());
            left = rest;
            ids.extend_from_slice(own);
            let from = start.last().copied().unwrap_or(0);
            ids[from..].sort_unstable();
            start.push(ids.len());
        }
        let labels = Labels::new(start, ids).map_err(|why| bad(ErrorKind::Label, why))?;
        let schema = Schema::of_arrays(x.n_cols(), TargetKind::Labels, classes);
        Self::of_arrays(x, Targets::Labels(labels), schema)
    }

    /// Examples with the number of each that is to be predicted.
    pub fn of_numbers(x: Matrix, y: Vec<f64>) -> Result<Self, Error> {
        let schema = Schema::of_arrays(x.n_cols(), TargetKind::Real, Vec::new());
        Self::of_arrays(x, Targets::Real(y), schema)
    }

    /// Documents with their grades, in queries of so many documents, one query after the other.
    pub fn of_grades(x: Matrix, y: Vec<f64>, sizes: &[usize]) -> Result<Self, Error> {
        if let Some(at) = y.iter().position(|&y| !(0.0..=crate::labels::MAX_GRADE).contains(&y)) {
            return Err(bad(
                ErrorKind::Label,
                format!("row {at} has the grade {}; grades are numbers of at least 0", y[at]),
            ));
        }
        let n_rows = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
        if n_rows != x.n_rows() {
            let message =
                format!("queries have {n_rows} documents, and there are {} rows", x.n_rows());
            return Err(bad(ErrorKind::Label, message));
        }
        let queries = Queries::new(sizes.iter().enumerate().map(|(q, &n)| (q.to_string(), n)));
        let schema = Schema::of_arrays(x.n_cols(), TargetKind::Grades, Vec::new());
        let data = Self::of_arrays(x, Targets::Real(y), schema)?;
        Ok(Self { queries: Some(queries), ..data })
    }

    /// Examples without labels, which mean what a schema says.
    pub fn unlabelled(x: Matrix, schema: Schema) -> Result<Self, Error> {
        Self::of_arrays(x, Targets::None, schema)
    }

    /// How much each example counts.
    pub fn with_weights(self, weights: Vec<f32>) -> Result<Self, Error> {
        let n_rows = self.n_rows();
        if weights.len() != n_rows {
            let message = format!("{} weights for {n_rows} rows", weights.len());
            return Err(bad(ErrorKind::Weight, message));
        }
        match weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            Some(at) => Err(bad(
                ErrorKind::Weight,
                format!(
                    "row {at} has the weight {}; weights are numbers of at least 0",
                    weights[at]
                ),
            )),
            None => Ok(Self { weights: Some(weights), ..self }),
        }
    }

    /// Names of the features, in their order.
    pub fn with_names<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, Error> {
        self.schema = self.schema.with_names(names)?;
        Ok(self)
    }

    fn of_arrays(x: Matrix, y: Targets, schema: Schema) -> Result<Self, Error> {
        if x.n_rows() == 0 {
            return Err(bad(ErrorKind::Empty, "there are no rows".into()));
        }
        if x.n_cols() != schema.n_features {
            let message = format!("rows have {} features, not {}", x.n_cols(), schema.n_features);
            return Err(bad(ErrorKind::Schema, message));
        }
        if y != Targets::None && y.len() != x.n_rows() {
            let message = format!("{} labels for {} rows", y.len(), x.n_rows());
            return Err(bad(ErrorKind::Label, message));
        }
        if let Targets::Real(y) = &y
            && let Some(at) = y.iter().position(|y| !y.is_finite())
        {
            return Err(bad(ErrorKind::Label, format!("row {at} is to be {}", y[at])));
        }
        check_finite(&x)?;
        Ok(Self {
            x,
            y,
            weights: None,
            queries: None,
            schema,
            warnings: Vec::new(),
            source: SOURCE.into(),
        })
    }
}

/// Rows of the same length.
fn matrix<X: AsRef<[f32]>>(rows: &[X]) -> Result<Matrix, Error> {
    let n_cols = rows.first().map_or(0, |row| row.as_ref().len());
    let mut values = Vec::with_capacity(rows.len() * n_cols);
    for (i, row) in rows.iter().enumerate() {
        let row = row.as_ref();
        if row.len() != n_cols {
            let message = format!("row {i} has {} features and row 0 has {n_cols}", row.len());
            return Err(bad(ErrorKind::Value, message));
        }
        values.extend_from_slice(row);
    }
    let dense = Dense::new(rows.len(), n_cols, values);
    dense.map(Matrix::Dense).map_err(|why| bad(ErrorKind::Value, why.to_string()))
}

fn check_finite(x: &Matrix) -> Result<(), Error> {
    // Without an early exit within a row: the loop vectorises.
    let is_bad = |i: &usize| x.row(*i).values().iter().fold(false, |bad, v| bad | !v.is_finite());
    let Some(i) = (0..x.n_rows()).find(is_bad) else { return Ok(()) };
    let mut message = String::new();
    x.row(i).for_each(|j, v| {
        if !v.is_finite() && message.is_empty() {
            message = format!(
                "row {i}, feature {j} is {v}, which is not a finite number in single precision"
            );
        }
    });
    Err(bad(ErrorKind::Value, message))
}

/// Names in order, and the place of each entry in them.
fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<u32>) {
    let mut first: HashMap<&str, u32> = HashMap::new();
    let ids: Vec<u32> = names
        .map(|name| {
            let next = first.len() as u32;
            *first.entry(name).or_insert(next)
        })
        .collect();
    let mut classes: Vec<String> = first.keys().map(|&name| name.to_owned()).collect();
    sort_names(&mut classes);
    let mut place = vec![0; classes.len()];
    for (at, class) in classes.iter().enumerate() {
        place[first[class.as_str()] as usize] = at as u32;
    }
    (classes, ids.into_iter().map(|id| place[id as usize]).collect())
}

fn bad(kind: ErrorKind, message: String) -> Error {
    Error::new(kind, SOURCE, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_rows() -> Matrix {
        Matrix::Dense(Dense::new(2, 1, vec![1.0, 2.0]).unwrap())
    }

    #[test]
    fn names_are_sorted_as_those_of_files() {
        let data = Dataset::from_rows(&[[1.0], [2.0], [3.0]], &["10", "9", "10"]).unwrap();
        assert_eq!(data.schema.classes, ["9", "10"]);
        assert_eq!(data.y, Targets::Classes(vec![1, 0, 1]));
        let lists = [vec!["b", "a"], vec![]];
        let data = Dataset::of_labels(two_rows(), &lists).unwrap();
        let Targets::Labels(labels) = &data.y else { panic!("{:?}", data.y) };
        assert_eq!((labels.row(0), labels.row(1)), (&[0, 1][..], &[][..]));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        let refused = |data: Result<Dataset, Error>, said: &str| {
            let message = data.map(|_| ()).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        };
        refused(Dataset::from_rows(&[vec![1.0], vec![]], &["a", "b"]), "row 1 has 0 features");
        refused(Dataset::from_rows(&[[1.0], [f32::NAN]], &["a", "b"]), "row 1, feature 0 is NaN");
        refused(Dataset::from_rows(&[[1.0]], &["a", "b"]), "2 labels for 1 rows");
        refused(Dataset::from_rows::<[f32; 1], &str>(&[], &[]), "no rows");
        refused(Dataset::of_numbers(two_rows(), vec![1.0, f64::INFINITY]), "row 1 is to be inf");
        refused(Dataset::of_class_numbers(two_rows(), vec![0, 1], vec!["a".into()]), "row 1");
        refused(Dataset::of_grades(two_rows(), vec![0.0, -1.0], &[2]), "row 1 has the grade -1");
        refused(Dataset::of_grades(two_rows(), vec![0.0, 1.0], &[3]), "3");
        refused(Dataset::of_labels(two_rows(), &[vec!["a", "a"], vec![]]), "");
        let data = || Dataset::of_numbers(two_rows(), vec![1.0, 2.0]).unwrap();
        refused(data().with_weights(vec![1.0]), "1 weights for 2 rows");
        refused(data().with_weights(vec![1.0, -1.0]), "row 1 has the weight -1");
        refused(data().with_names(["a", "b"]), "2 names for 1 features");
        assert_eq!(data().with_names(["age"]).unwrap().schema.feature_name(0), "age");
        let schema = Schema::of_arrays(3, TargetKind::Real, Vec::new());
        refused(Dataset::unlabelled(two_rows(), schema), "rows have 1 features, not 3");
    }
}
