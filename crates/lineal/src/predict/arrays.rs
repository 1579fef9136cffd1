//! Predictions of rows at hand, without a file or a schema of one's own.

use crate::Error;
use crate::predict::model::{Model, Predicted};
use lineal_data::{Dataset, Schema};
use lineal_linalg::{Csr, Dense, Matrix};

/// What a model says about one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The name of a class.
    Class(String),
    /// A number.
    Number(f64),
    /// The names of any number of labels.
    Labels(Vec<String>),
}

impl PartialEq<&str> for Answer {
    fn eq(&self, name: &&str) -> bool {
        matches!(self, Self::Class(class) if class == name)
    }
}

impl Model {
    /// Rows to predict, as many features wide as the model is.
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
    pub fn predict_one(&self, row: &[f32]) -> Result<Answer, Error> {
        let x = Dense::new(1, row.len(), row.to_vec()).map(Matrix::Dense);
        self.answer_one(x.map_err(|why| Error::request(why.to_string()))?)
    }

    /// The same of a row that is 0 but at some features, whose numbers rise from 0.
    pub fn predict_one_sparse(&self, features: &[u32], values: &[f32]) -> Result<Answer, Error> {
        let bounds = vec![0, features.len()];
        let x = Csr::new(self.n_features(), bounds, features.to_vec(), values.to_vec());
        self.answer_one(Matrix::Sparse(x.map_err(|why| Error::request(why.to_string()))?))
    }

    fn answer_one(&self, x: Matrix) -> Result<Answer, Error> {
        let name = |id: &u32| self.classes().get(*id as usize).cloned().unwrap_or_default();
        Ok(match self.predict(&self.rows(x)?) {
            Predicted::Classes(ids) => Answer::Class(ids.first().map(name).unwrap_or_default()),
            Predicted::Real(values) => Answer::Number(values.first().copied().unwrap_or(0.0)),
            Predicted::Labels(labels) => Answer::Labels(labels.row(0).iter().map(name).collect()),
        })
    }
}
