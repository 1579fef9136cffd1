//! Predictions of rows at hand, without a file or a schema of one's own.

use crate::Error;
use crate::predict::model::{Model, Predicted};
use lineal_data::{Dataset, Schema};
use lineal_linalg::{Csr, Dense, Matrix};
use std::fmt;

/// What a model says about one row, in the words of its training data.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<'m> {
    /// The name of a class.
    Class(&'m str),
    /// A number.
    Number(f64),
    /// The names of any number of labels.
    Labels(Vec<&'m str>),
}

impl PartialEq<&str> for Answer<'_> {
    fn eq(&self, name: &&str) -> bool {
        matches!(self, Self::Class(class) if class == name)
    }
}

/// The name, the number, or the names with commas between them.
impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(name) => f.pad(name),
            Self::Number(number) => number.fmt(f),
            Self::Labels(names) => f.pad(&names.join(",")),
        }
    }
}

impl Model {
    /// Rows to predict, as many features wide as the model is, as a dataset: for explanations and metrics.
    pub fn rows(&self, x: Matrix) -> Result<Dataset, Error> {
        // Predictions look up names in the model: a copy of thousands of them for one row would take longer than the row.
        let schema = Schema::of_arrays(self.n_features(), self.schema().target, Vec::new());
        Ok(Dataset::unlabelled(x, schema)?)
    }

    /// What the model says about one row of as many numbers as it has features.
    ///
    /// ```
    /// use lineal::{Dataset, TrainSpec, train};
    ///
    /// let data = Dataset::from_rows(&[[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]], &["flat", "flat", "tall", "tall"])?;
    /// let (model, _) = train(&data, &TrainSpec::default())?;
    /// assert_eq!(model.predict_one(&[9.0, 2.0])?, "tall");
    /// assert!(model.predict_one(&[9.0]).is_err()); // one number is missing
    /// # Ok::<(), lineal::Error>(())
    /// ```
    pub fn predict_one(&self, row: &[f32]) -> Result<Answer<'_>, Error> {
        let x = Dense::from_array(1, row.len(), row.to_vec(), Default::default())?;
        self.answer_one(Matrix::Dense(x))
    }

    /// The same of a row that is 0 but at some features, whose numbers rise from 0.
    pub fn predict_one_sparse(
        &self,
        features: &[u32],
        values: &[f32],
    ) -> Result<Answer<'_>, Error> {
        let ends = vec![0u64, features.len() as u64];
        let x = Csr::from_arrays(self.n_features(), ends, features.to_vec(), values.to_vec())?;
        self.answer_one(Matrix::Sparse(x))
    }

    fn answer_one(&self, x: Matrix) -> Result<Answer<'_>, Error> {
        if let Some(value) = x.row(0).values().iter().find(|v| !v.is_finite()) {
            return Err(Error::request(format!(
                "the row has the value {value}; all must be finite"
            )));
        }
        Ok(match self.predict(&x)? {
            Predicted::Classes(ids) => Answer::Class(ids.first().map_or("", |&id| self.name(id))),
            Predicted::Real(values) => Answer::Number(values.first().copied().unwrap_or(0.0)),
            Predicted::Labels(labels) => Answer::Labels(self.names(labels.row(0))),
        })
    }

    /// What the model says about each row of a dataset or a matrix, by name.
    ///
    /// ```
    /// use lineal::{Answer, Dataset, Dense, Matrix, TrainSpec, train};
    ///
    /// let data = Dataset::from_rows(&[[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]], &["flat", "flat", "tall", "tall"])?;
    /// let (model, _) = train(&data, &TrainSpec::default())?;
    /// let x = Matrix::Dense(Dense::from_array(2, 2, vec![9.0f32, 2.0, 1.0, 7.0], Default::default())?);
    /// assert_eq!(model.predict_names(&x)?, [Answer::Class("tall"), Answer::Class("flat")]);
    /// # Ok::<(), lineal::Error>(())
    /// ```
    pub fn predict_names(&self, x: &impl AsRef<Matrix>) -> Result<Vec<Answer<'_>>, Error> {
        Ok(match self.predict(x)? {
            Predicted::Classes(ids) => {
                ids.into_iter().map(|id| Answer::Class(self.name(id))).collect()
            }
            Predicted::Real(values) => values.into_iter().map(Answer::Number).collect(),
            Predicted::Labels(labels) => {
                labels.iter().map(|ids| Answer::Labels(self.names(ids))).collect()
            }
        })
    }

    fn name(&self, id: u32) -> &str {
        self.classes().get(id as usize).map_or("", String::as_str)
    }

    fn names(&self, ids: &[u32]) -> Vec<&str> {
        ids.iter().map(|&id| self.name(id)).collect()
    }
}
