//! A trained model: what it predicts, what it knows of itself, and its file.

use crate::Error;
use crate::report::Report;
use crate::spec::{LossKind, Task, TrainSpec};
use crate::weights::{TENSOR, Weights, with_weights};
use lineal_data::{Dataset, ReadOptions, Schema, Source, TargetKind};
use lineal_linalg::Scalar;
use lineal_linalg::special::{sigmoid, softmax};
use lineal_model::Bias;
use lineal_model::cost::CostMatrix;
use lineal_model::file::{self, ModelFile, TensorData};
use lineal_model::space::{Binary, Classes, OutputSpace, Real};
use lineal_model::{Linear, Model as _};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Where a model comes from. No date: the same data and seed give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of Lineal that trained it.
    pub lineal: String,
    /// The name of the training data.
    pub source: String,
}

/// A trained linear model.
#[derive(Debug)]
pub struct Model {
    weights: Weights,
    about: About,
}

/// The JSON inside the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct About {
    spec: TrainSpec,
    schema: Schema,
    report: Report,
    provenance: Provenance,
}

/// Numbers by row and class.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of columns.
    pub n_cols: usize,
    /// Row-major.
    pub values: Vec<f64>,
}

impl Table {
    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n_cols..(i + 1) * self.n_cols]
    }
}

/// What a model says about rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicted {
    /// Indices into [`Model::classes`].
    Classes(Vec<u32>),
    /// Numbers.
    Real(Vec<f64>),
}

impl Model {
    pub(crate) fn new(
        weights: Weights,
        spec: TrainSpec,
        schema: Schema,
        report: &Report,
        provenance: Provenance,
    ) -> Self {
        // The curve has times in it; the file must have the same bytes for the same data and seed.
        let report = Report { curve: Vec::new(), ..report.clone() };
        Self { weights, about: About { spec, schema, report, provenance } }
    }

    /// Maps a model file. Nothing in it is believed before it is checked.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::from_file(ModelFile::open(path)?)
    }

    /// A model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_file(ModelFile::from_bytes(bytes)?)
    }

    fn from_file(file: ModelFile) -> Result<Self, Error> {
        let about: About = About::deserialize(file.model()).map_err(|e| {
            Error::from(file.bad_tensor("model", format!("its description does not fit: {e}")))
        })?;
        let n_outputs = outputs(&about)
            .ok_or_else(|| file.bad_tensor(TENSOR, "the task and its classes disagree"))?;
        let n_rows =
            about.schema.n_features.checked_add(usize::from(about.spec.bias != Bias::None));
        let fits = matches!(file.tensor(TENSOR), Some(TensorData::F32(_) | TensorData::F64(_)))
            && n_rows.is_some_and(|n| file.shape(TENSOR) == Some(&[n, n_outputs]));
        if !fits {
            return Err(file.bad_tensor(TENSOR, "its shape is not features × outputs").into());
        }
        let cost_fits =
            about.spec.cost.as_ref().is_none_or(|c| c.n_classes() == about.schema.classes.len());
        if !cost_fits {
            return Err(file
                .bad_tensor("model", "its cost matrix does not fit its classes")
                .into());
        }
        Ok(Self { weights: Weights::Mapped(file), about })
    }

    /// Writes the model beside and renames it into place; returns its size in bytes.
    pub fn save(&self, path: &Path) -> Result<u64, Error> {
        let bytes = self.to_bytes()?;
        file::write_atomically(path, |out| out.write_all(&bytes)).map_err(Error::Write)?;
        Ok(bytes.len() as u64)
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let about = serde_json::to_value(&self.about)
            .map_err(|e| Error::request(format!("the model cannot be written: {e}")))?;
        let shape = vec![self.n_rows(), self.n_outputs()];
        Ok(file::encode(&about, &[(TENSOR, shape, self.weights.as_tensor())])?)
    }

    /// How training went (without its curve).
    pub fn report(&self) -> &Report {
        &self.about.report
    }

    /// What was asked for.
    pub fn spec(&self) -> &TrainSpec {
        &self.about.spec
    }

    /// What columns and classes mean.
    pub fn schema(&self) -> &Schema {
        &self.about.schema
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.about.provenance
    }

    /// What it predicts.
    pub fn task(&self) -> Task {
        self.about.spec.task
    }

    /// Class names in the order of ids; empty for regression.
    pub fn classes(&self) -> &[String] {
        &self.about.schema.classes
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.about.schema.n_features
    }

    /// How many weights are not 0.
    pub fn nonzeros(&self) -> usize {
        with_weights!(self.weights, w => w.iter().filter(|w| w.to_f64() != 0.0).count())
    }

    /// Reads data as this model's training data was read.
    pub fn read(&self, source: impl Into<Source>, options: &ReadOptions) -> Result<Dataset, Error> {
        Ok(lineal_data::read_with(source, options, self.schema())?)
    }

    /// The score of every class (two columns, −f and f, for two classes; one, the prediction, for regression).
    ///
    /// # Panics
    /// If the data was not read with this model's schema and has more features.
    pub fn scores(&self, data: &Dataset) -> Table {
        let raw = self.raw_scores(data);
        if self.classes().len() != 2 {
            return raw;
        }
        let values = raw.values.iter().flat_map(|&f| [-f, f]).collect();
        Table { n_cols: 2, values, ..raw }
    }

    /// Whether the loss was one of probabilities.
    pub fn has_proba(&self) -> bool {
        self.about.report.loss == LossKind::Logistic
    }

    /// The probability of every class.
    pub fn proba(&self, data: &Dataset) -> Result<Table, Error> {
        if !self.has_proba() {
            return Err(Error::request(format!(
                "a model trained with the {} loss has no probabilities; train with --loss logistic",
                self.about.report.loss
            )));
        }
        let mut table = self.raw_scores(data);
        if self.classes().len() == 2 {
            table.values = table.values.iter().flat_map(|&f| [sigmoid(-f), sigmoid(f)]).collect();
            table.n_cols = 2;
        } else {
            let mut row = vec![0.0; table.n_cols];
            for scores in table.values.chunks_exact_mut(table.n_cols) {
                softmax(scores, &mut row);
                scores.copy_from_slice(&row);
            }
        }
        Ok(table)
    }

    /// The argmax; the lowest class among equals.
    pub fn predict(&self, data: &Dataset) -> Predicted {
        let scores = self.raw_scores(data);
        let rows = scores.values.chunks_exact(scores.n_cols.max(1));
        match self.classes().len() {
            0 => Predicted::Real(rows.map(|s| Real.decode(s)).collect()),
            2 => Predicted::Classes(rows.map(|s| Binary.decode(s)).collect()),
            k => Predicted::Classes(rows.map(|s| Classes(k).decode(s)).collect()),
        }
    }

    /// The class of least expected cost under probabilities, by the cost matrix of training.
    pub fn least_cost(&self, proba: &Table) -> Result<Vec<u32>, Error> {
        let cost = self.about.spec.cost.as_ref().ok_or_else(|| {
            Error::request("the model was trained without costs; give them with --cost FILE")
        })?;
        Ok(self.least_cost_with(proba, cost))
    }

    /// The class of least expected cost under probabilities.
    pub fn least_cost_with(&self, proba: &Table, cost: &CostMatrix) -> Vec<u32> {
        (0..proba.n_rows).map(|i| cost.least_expected(proba.row(i))).collect()
    }

    /// A class drawn from the probabilities, for each row.
    pub fn sample(&self, proba: &Table, seed: u64) -> Vec<u32> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        (0..proba.n_rows)
            .map(|i| {
                let mut left: f64 = rng.random();
                let row = proba.row(i);
                let drawn = row.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                drawn.unwrap_or(row.len() - 1) as u32
            })
            .collect()
    }

    /// What is added to each output's score; empty without a bias.
    pub fn bias(&self) -> Vec<f64> {
        (self.n_features() * self.n_outputs()..self.n_rows() * self.n_outputs())
            .map(|at| self.weights.get(at))
            .collect()
    }

    /// The weight of feature `j` for an output: a class, or 0 where there is one weight vector.
    pub fn weight(&self, j: usize, output: usize) -> f64 {
        self.weights.get(j * self.n_outputs() + output)
    }

    /// The features with the largest weights for a class, by size, with sign. With two classes, class 0's weights are those of
    /// class 1 turned round.
    pub fn top_features(&self, class: usize, n: usize) -> Vec<(String, f64)> {
        let k = self.n_outputs();
        let (output, sign) = if k == 1 {
            (0, if self.classes().len() == 2 && class == 0 { -1.0 } else { 1.0 })
        } else {
            (class, 1.0)
        };
        let mut order: Vec<(usize, f64)> = (0..self.n_features())
            .map(|j| (j, sign * self.weight(j, output)))
            .filter(|(_, w)| *w != 0.0)
            .collect();
        order.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        order.truncate(n);
        order.into_iter().map(|(j, w)| (self.schema().feature_name(j), w)).collect()
    }

    fn n_outputs(&self) -> usize {
        outputs(&self.about).unwrap_or(1)
    }

    fn n_rows(&self) -> usize {
        self.n_features() + usize::from(self.about.spec.bias != Bias::None)
    }

    /// One column an output: f alone for two classes.
    pub(crate) fn raw_scores(&self, data: &Dataset) -> Table {
        let k = self.n_outputs();
        with_weights!(self.weights, w => score_rows(w, self.n_features(), k, self.about.spec.bias, data))
    }
}

/// Number of weight vectors; `None` where the description contradicts itself.
fn outputs(about: &About) -> Option<usize> {
    match (about.spec.task, about.schema.target, about.schema.classes.len()) {
        (Task::Regress, TargetKind::Real, 0) => Some(1),
        (Task::Classify, TargetKind::Classes, 2) => Some(1),
        (Task::Classify, TargetKind::Classes, k) if k > 2 => Some(k),
        _ => None,
    }
}

fn score_rows<F: Scalar>(w: &[F], d: usize, k: usize, bias: Bias, data: &Dataset) -> Table {
    const BLOCK: usize = 512;
    let model = Linear::new(d, Classes(k), bias);
    let n_rows = data.n_rows();
    let mut values = vec![0.0; n_rows * k];
    values.par_chunks_mut(BLOCK * k).enumerate().for_each(|(b, out)| {
        let mut scores = vec![F::ZERO; k];
        for (i, out) in out.chunks_exact_mut(k).enumerate() {
            model.scores(data.x.row(b * BLOCK + i), w, &mut scores);
            out.iter_mut().zip(&scores).for_each(|(o, s)| *o = s.to_f64());
        }
    });
    Table { n_rows, n_cols: k, values }
}
