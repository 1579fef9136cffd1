//! Examples in memory.

use lineal_linalg::Matrix;

use crate::label_lists::Labels;
use crate::queries::Queries;
use crate::schema::Schema;

/// The class id of a label that the schema does not have.
pub const UNSEEN: u32 = u32::MAX;

/// Examples with what is known of them.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// One row an example. As read it has `schema.n_read()` columns; once features were made of text or of others,
    /// `schema.n_features`.
    pub x: Matrix,
    /// What is to be predicted.
    pub y: Targets,
    /// How much each example counts; finite and not negative.
    pub weights: Option<Vec<f32>>,
    /// For ranking: the queries that the rows are documents of.
    pub queries: Option<Queries>,
    /// What columns and classes mean.
    pub schema: Schema,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The name that it was read from.
    pub source: String,
}

/// The labels of a [`Dataset`], one entry per row.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// The data has none (to be predicted).
    None,
    /// Numbers, all finite; for ranking the grades, none negative.
    Real(Vec<f64>),
    /// Indices into `schema.classes`, or [`UNSEEN`].
    Classes(Vec<u32>),
    /// For each row any number of indices into `schema.classes`, or [`UNSEEN`].
    Labels(Labels),
}

/// The examples' features.
impl AsRef<Matrix> for Dataset {
    fn as_ref(&self) -> &Matrix {
        &self.x
    }
}

impl Dataset {
    /// Number of examples.
    pub fn n_rows(&self) -> usize {
        self.x.n_rows()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.x.n_cols()
    }

    /// A copy of some rows, in the order asked for. Warnings stay with the original.
    ///
    /// Of ranking data it may cut queries: [`select_queries`](Self::select_queries) keeps them whole.
    ///
    /// # Panics
    /// If a row is not below `n_rows()`.
    pub fn select(&self, rows: &[usize]) -> Dataset {
        Dataset {
            x: self.x.select(rows),
            y: self.y.select(rows),
            weights: self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect()),
            queries: self.queries.as_ref().map(|queries| queries.select(rows)),
            schema: self.schema.clone(),
            warnings: Vec::new(),
            source: self.source.clone(),
        }
    }

    /// A copy of some queries with all their documents, in the order asked for; without queries, of some rows.
    ///
    /// # Panics
    /// If there is no query of some number.
    pub fn select_queries(&self, which: &[usize]) -> Dataset {
        let Some(queries) = &self.queries else { return self.select(which) };
        let rows: Vec<usize> = which.iter().flat_map(|&query| queries.rows(query)).collect();
        self.select(&rows)
    }

    /// How much each query counts: as each of its documents. `None` without weights or without queries.
    pub fn query_weights(&self) -> Option<Vec<f32>> {
        let (queries, weights) = (self.queries.as_ref()?, self.weights.as_ref()?);
        Some(queries.iter().map(|(_, rows)| weights[rows.start]).collect())
    }
}

impl Targets {
    /// How many rows have an entry: all, or 0 for [`Targets::None`].
    pub fn len(&self) -> usize {
        match self {
            Targets::None => 0,
            Targets::Real(y) => y.len(),
            Targets::Classes(y) => y.len(),
            Targets::Labels(y) => y.n_rows(),
        }
    }

    /// No labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn select(&self, rows: &[usize]) -> Targets {
        match self {
            Targets::None => Targets::None,
            Targets::Real(y) => Targets::Real(rows.iter().map(|&i| y[i]).collect()),
            Targets::Classes(y) => Targets::Classes(rows.iter().map(|&i| y[i]).collect()),
            Targets::Labels(y) => Targets::Labels(y.select(rows)),
        }
    }
}
