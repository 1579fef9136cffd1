//! A trained model: what it predicts, what it knows of itself, and its file.

use crate::Error;
use crate::features::{self, AboutFeatures, Features};
use crate::predict::layout::{Decoder, Layout};
use crate::predict::packed::{self, MASK, SHAPE};
use crate::predict::sparse_rows::{self, ROWS};
use crate::request::spec::{Task, Threshold, TrainSpec};
use crate::stream::{self, AboutStream, StreamSpec, StreamTensors};
use crate::train::report::Report;
use crate::train::weights::{TENSOR, Weights, with_weights};
use lineal_calibrate::Calibration;
use lineal_data::{ColumnScale, Dataset, Labels, ReadOptions, Schema, Source, TargetKind};
use lineal_linalg::Scalar;
use lineal_model::Bias;
use lineal_model::cost::CostMatrix;
use lineal_model::file::{self, ModelFile, TensorData};
use lineal_model::label_tree::LabelTree;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Where a model comes from. No date: the same data and seed give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of Lineal that trained it.
    pub lineal: String,
    /// The name of the training data.
    pub source: String,
}

impl Provenance {
    /// Trained here and now on this data.
    pub(crate) fn of(source: &str) -> Self {
        Self { lineal: env!("CARGO_PKG_VERSION").into(), source: source.to_owned() }
    }
}

/// A trained linear model. A copy shares the file that it was loaded from.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) weights: Weights,
    pub(crate) tree: Option<LabelTree>,
    pub(crate) decoder: Decoder,
    pub(crate) features: Features,
    pub(crate) stream: Option<StreamTensors>,
    pub(crate) about: About,
}

/// A name, a shape and the data of a tensor.
pub(crate) type Tensor<'a> = (&'a str, Vec<usize>, TensorData<'a>);

/// Weights, and what they are weights of.
pub(crate) struct Body {
    pub weights: Weights,
    pub layout: Layout,
    pub tree: Option<LabelTree>,
}

/// The JSON inside the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    pub spec: TrainSpec,
    pub schema: Schema,
    pub report: Report,
    pub provenance: Provenance,
    #[serde(default)]
    pub layout: Layout,
    /// How raw columns become features, where some are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<AboutFeatures>,
    /// Where a stream left off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<AboutStream>,
    /// Maps from scores to probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Calibrated class probabilities are raised to this power and brought back to a sum of one.
    #[serde(default = "one")]
    pub sharpness: f64,
    /// A label, or the second of two classes, is predicted at a score of at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Vec<f64>>,
    /// The numbers and categories of a table: their means and the inverse of their deviations at training. They make explanations relative to
    /// an average row; predictions do without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scales: Vec<ColumnScale>,
}

fn one() -> f64 {
    1.0
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
    /// Any number of indices into [`Model::classes`] per row.
    Labels(Labels),
}

/// Draws classes: rows that come in parts are drawn as they would be at once.
pub struct Sampler(Pcg64Mcg);

impl Sampler {
    /// The draws of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A class for each row, drawn from its probabilities.
    pub fn draw(&mut self, proba: &Table) -> Vec<u32> {
        let rng = &mut self.0;
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
}

impl Model {
    pub(crate) fn new(
        body: Body,
        spec: TrainSpec,
        schema: Schema,
        features: Features,
        report: &Report,
        provenance: Provenance,
    ) -> Result<Self, Error> {
        let report = report.stored();
        let Body { weights, layout, tree } = body;
        let decoder = Decoder::new(&layout, &spec, report.loss, schema.classes.len())
            .map_err(Error::Request)?;
        let (calibration, thresholds) = (None, None);
        let about = About {
            spec,
            schema,
            report,
            provenance,
            layout,
            features: features.about(),
            stream: None,
            calibration,
            sharpness: 1.0,
            thresholds,
            scales: Vec::new(),
        };
        Ok(Self { weights, tree, decoder, features, stream: None, about })
    }

    /// Maps a model file. Nothing in it is believed before it is checked.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_file(ModelFile::open(path.as_ref())?)
    }

    /// A model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_file(ModelFile::from_bytes(bytes)?)
    }

    pub(crate) fn from_file(file: ModelFile) -> Result<Self, Error> {
        if let Some(task) = file.model()["task"].as_str() {
            let why =
                format!("it is a model of the task {task}, which this command has no use for");
            return Err(file.bad_model(why).into());
        }
        let about: About = About::deserialize(file.model()).map_err(|e| {
            Error::from(file.bad_model(format!("its description does not fit: {e}")))
        })?;
        let unfit = |why: String| file.bad_model(format!("its columns: {why}"));
        about.schema.check().map_err(|why| Error::from(unfit(why)))?;
        let n_classes = about.schema.classes.len();
        let decoder = Decoder::new(&about.layout, &about.spec, about.report.loss, n_classes)
            .map_err(|why| Error::from(file.bad_model(why)))?;
        let n_outputs = outputs(&about, &decoder)
            .ok_or_else(|| file.bad_tensor(TENSOR, "the task and its classes disagree"))?;
        let features = match &about.features {
            Some(features) => Features::from_file(&file, features, &about.schema)?,
            None if about.schema.n_computed == 0 => Features::default(),
            None => {
                return Err(file.bad_model("it does not say how text is read").into());
            }
        };
        let tree = match about.layout {
            Layout::Tree => Some(read_tree(&file, &about)?),
            _ => None,
        };
        let has_bias = usize::from(about.spec.bias != Bias::None);
        let n_rows = about.schema.n_features.checked_add(has_bias);
        let shape = file.shape(TENSOR);
        let rows = sparse_rows::checked(&file, n_rows.unwrap_or(0), n_outputs)?;
        let n_stored = match (&tree, rows) {
            (Some(tree), _) => Some(tree.n_weights()),
            (None, Some(rows)) => rows.len().checked_mul(n_outputs),
            (None, None) => n_rows.and_then(|n| n.checked_mul(n_outputs)),
        };
        let unpacked = packed::unpack(&file, TENSOR, n_stored.unwrap_or(0))?;
        let fits = unpacked.is_some() && !(tree.is_some() && rows.is_some())
            || matches!(file.tensor(TENSOR)?, Some(TensorData::F32(_) | TensorData::F64(_)))
                && match (&tree, rows) {
                    (Some(tree), None) => shape == Some(&[tree.n_weights()]),
                    (Some(_), Some(_)) => false,
                    (None, Some(rows)) => shape == Some(&[rows.len(), n_outputs]),
                    (None, None) => n_rows.is_some_and(|n| shape == Some(&[n, n_outputs])),
                };
        if !fits {
            return Err(file.bad_tensor(TENSOR, "its shape is not features × outputs").into());
        }
        let maps_fit = about.calibration.as_ref().is_none_or(|c| {
            let n = if tree.is_some() { 1 } else { n_outputs };
            c.n_columns().is_none_or(|columns| columns == n)
        });
        let n_thresholds = match (about.spec.task, n_classes) {
            (Task::Multilabel, n) => n,
            (Task::Classify, 2) => 1,
            _ => 0,
        };
        let thresholds_fit = about.thresholds.as_ref().is_none_or(|t| t.len() == n_thresholds);
        let sharpness_fits = about.sharpness.is_finite() && about.sharpness > 0.0;
        if !maps_fit || !thresholds_fit || !sharpness_fits {
            return Err(file.bad_model("its calibration does not fit its columns").into());
        }
        let is_usual = |s: &ColumnScale| s.mean.is_finite() && s.scale.is_finite() && s.scale > 0.0;
        let scales_fit = about.scales.iter().all(is_usual)
            && about.scales.is_sorted_by(|a, b| a.at < b.at)
            && about.scales.last().is_none_or(|s| (s.at as usize) < about.schema.n_features);
        if !scales_fit {
            return Err(file.bad_model("the scales of its columns do not fit them").into());
        }
        let cost_fits =
            about.spec.cost.as_ref().is_none_or(|c| c.n_classes() == about.schema.classes.len());
        if !cost_fits {
            return Err(file.bad_model("its cost matrix does not fit its classes").into());
        }
        let n_rows = n_rows.unwrap_or(0);
        let stored = unpacked.as_ref().map(Weights::as_tensor);
        let all = rows.and_then(|rows| match stored.or_else(|| file.checked_tensor(TENSOR))? {
            TensorData::F32(w) => Some(Weights::F32(sparse_rows::spread(w, n_rows, rows))),
            TensorData::F64(w) => Some(Weights::F64(sparse_rows::spread(w, n_rows, rows))),
            _ => None,
        });
        let weights = match all.or(unpacked) {
            Some(all) => Weights::Spread(Box::new(all), Arc::new(file)),
            None => Weights::Mapped(Arc::new(file)),
        };
        Ok(Self { weights, tree, decoder, features, stream: None, about })
    }

    /// Writes the model beside and renames it into place; returns its size in bytes.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        let mut size = 0;
        let write = |out: &mut dyn Write| {
            size = self.write_to(out)?;
            Ok(())
        };
        file::write_atomically(path.as_ref(), write).map_err(Error::Write)?;
        Ok(size)
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.put(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the bytes of the model's file, piece by piece, and gives their number.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<u64> {
        let mut out = Counted { out, n_bytes: 0 };
        match self.put(&mut out) {
            Ok(()) => Ok(out.n_bytes),
            Err(Error::ModelFile(file::Error::Write(e))) => Err(e),
            Err(e) => Err(io::Error::other(e)),
        }
    }

    fn put(&self, out: &mut dyn Write) -> Result<(), Error> {
        let about = serde_json::to_value(&self.about)
            .map_err(|e| Error::request(format!("the model cannot be written: {e}")))?;
        let parts = self.features.parts();
        let text = parts.as_ref().map(features::tensors).unwrap_or_default();
        let Some(tree) = &self.tree else {
            let tables = self.tables()?;
            let n_rows = self.n_rows();
            let rows = self.rows_to_write(&tables);
            let gather = |rows: &Vec<u32>| -> Vec<Weights> {
                let one = |(.., table): &Tensor<'_>| sparse_rows::gather(*table, n_rows, rows);
                tables.iter().map(one).collect()
            };
            let some = rows.as_ref().map(gather).unwrap_or_default();
            let mut tensors = tables.clone();
            if let Some(rows) = &rows {
                for ((_, shape, table), some) in tensors.iter_mut().zip(&some) {
                    shape[0] = shape[0] / n_rows * rows.len();
                    *table = some.as_tensor();
                }
                tensors.push((ROWS, vec![rows.len()], TensorData::U32(rows)));
            }
            let packed = self.packed(tensors[0].2);
            let shape: Vec<u32> = tensors[0].1.iter().map(|&n| n as u32).collect();
            if let Some((mask, kept)) = &packed {
                let kept = kept.as_tensor();
                tensors[0] = (TENSOR, vec![n_values(kept)], kept);
                tensors.push((MASK, vec![mask.len()], TensorData::U32(mask)));
                tensors.push((SHAPE, vec![shape.len()], TensorData::U32(&shape)));
            }
            tensors.splice(1..1, text);
            return Ok(file::write_to(out, &about, &tensors)?);
        };
        let weights = match &self.weights {
            Weights::Spread(_, file) => file.tensor(TENSOR)?.unwrap_or(self.weights.as_tensor()),
            own => own.as_tensor(),
        };
        let packed = self.packed(weights);
        let (weights, mask) = match (&packed, &self.weights) {
            (Some((mask, kept)), _) => (kept.as_tensor(), Some(mask.as_slice())),
            (None, Weights::Spread(_, file)) => (weights, file.u32(MASK)?),
            (None, _) => (weights, None),
        };
        let flat = tree.to_flat();
        let tensor = |values: &'static str, data: &'_ [u32]| (values, vec![data.len()]);
        let [nodes, children, features] = [
            tensor(NODES, &flat.nodes),
            tensor(CHILDREN, &flat.children),
            tensor(FEATURES, &flat.features),
        ];
        let mut tensors = vec![
            (TENSOR, vec![n_values(weights)], weights),
            (nodes.0, nodes.1, TensorData::U32(&flat.nodes)),
            (children.0, children.1, TensorData::U32(&flat.children)),
            (features.0, features.1, TensorData::U32(&flat.features)),
        ];
        tensors.extend(text);
        let shape = [tree.n_weights() as u32];
        if let Some(mask) = mask {
            tensors.push((MASK, vec![mask.len()], TensorData::U32(mask)));
            tensors.push((SHAPE, vec![1], TensorData::U32(&shape)));
        }
        Ok(file::write_to(out, &about, &tensors)?)
    }

    /// The weights without zeros, where these are many. What was loaded is written as it was, and what a stream learns goes on.
    fn packed(&self, weights: TensorData<'_>) -> Option<(Vec<u32>, Weights)> {
        match (&self.weights, &self.about.stream) {
            (Weights::Spread(..), _) | (_, Some(_)) => None,
            _ => packed::pack(weights),
        }
    }

    /// The weights and what a stream keeps beside them; of a file with some rows only, these.
    fn tables(&self) -> Result<Vec<Tensor<'_>>, file::Error> {
        let (weights, rows) = match &self.weights {
            Weights::Spread(_, file) => {
                (stored(file, &[TENSOR])?, stored(file, &[ROWS, MASK, SHAPE])?)
            }
            w => {
                let shape = vec![self.n_rows(), self.n_outputs()];
                (vec![(TENSOR, shape, w.as_tensor())], Vec::new())
            }
        };
        Ok([weights, stream::tensors(self)?, rows].concat())
    }

    /// Of hashed features, the rows that are not zero, where they are few.
    fn rows_to_write(&self, tables: &[Tensor<'_>]) -> Option<Vec<u32>> {
        self.features.text()?.spec().hash_bits?;
        let tables: Vec<_> = tables.iter().map(|(.., table)| *table).collect();
        match &self.weights {
            Weights::Spread(..) => None,
            _ => sparse_rows::used(self.n_rows(), &tables),
        }
    }

    /// Whether columns are classes.
    pub(crate) fn decoder_is_direct(&self) -> bool {
        matches!(self.decoder, Decoder::Direct) && self.tree.is_none()
    }

    /// A copy that takes the maps of another model.
    pub(crate) fn calibrated_as(&self, other: &Model) -> Result<Model, Error> {
        let mut copy = Self::from_bytes(&self.to_bytes()?)?;
        copy.about.calibration.clone_from(&other.about.calibration);
        Ok(copy)
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

    /// The maps from scores to probabilities, if it was calibrated.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.about.calibration.as_ref()
    }

    /// The score from which on each label, or the second of two classes, is predicted, where thresholds were tuned.
    pub fn thresholds(&self) -> Option<&[f64]> {
        self.about.thresholds.as_deref()
    }

    /// Predict a label, or the second of two classes, from now on where its probability is above this, whatever threshold the model was trained with.
    pub fn set_threshold(&mut self, probability: f64) -> Result<(), Error> {
        let of_labels = self.task() == Task::Multilabel;
        if !of_labels && (self.task() != Task::Classify || self.classes().len() != 2) {
            return Err(Error::request(format!(
                "a threshold is for labels or for two classes, and the model is of the task {} with {} classes",
                self.task(),
                self.classes().len()
            )));
        }
        if !self.has_proba() {
            return Err(Error::request(format!(
                "a threshold is a probability, and a model trained with the {} loss has none; train with spec.loss = logistic, or add spec.calibrate = platt",
                self.about.report.loss
            )));
        }
        if !(probability > 0.0 && probability < 1.0) {
            return Err(Error::request(format!(
                "a threshold must be a probability between 0 and 1, not {probability}"
            )));
        }
        self.about.spec.threshold = Threshold::Fixed(probability);
        self.about.thresholds = None;
        Ok(())
    }

    /// How it was trained, where that was on a stream.
    pub fn stream_spec(&self) -> Option<&StreamSpec> {
        self.about.stream.as_ref().map(|stream| &stream.spec)
    }

    /// How many weights are not 0.
    pub fn nonzeros(&self) -> usize {
        with_weights!(self.weights, w => w.iter().filter(|w| w.to_f64() != 0.0).count())
    }

    /// How raw columns become features: empty unless some are text.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// What people call feature `j`.
    pub fn feature_name(&self, j: usize) -> String {
        self.features.feature_name(self.schema(), j)
    }

    /// Reads data as this model's training data was read: raw text too.
    pub fn read(&self, source: impl Into<Source>, options: &ReadOptions) -> Result<Dataset, Error> {
        self.features.read(source, options, self.schema())
    }

    /// Whether its features are of one text column and nothing else.
    pub fn is_of_one_text(&self) -> bool {
        self.schema().n_read() == 0 && self.schema().text_columns().count() == 1
    }

    /// Rows of texts at hand, for a model of one text column and no other.
    pub fn texts(&self, texts: &[impl AsRef<str> + Sync]) -> Result<Dataset, Error> {
        self.features.of_texts(self.schema(), texts)
    }

    /// The class of least expected cost under probabilities, by the cost matrix of training.
    pub fn least_cost(&self, proba: &Table) -> Result<Vec<u32>, Error> {
        let cost = self.about.spec.cost.as_ref().ok_or_else(|| {
            Error::request("the model was trained without costs; give them by spec.cost")
        })?;
        Ok(self.least_cost_with(proba, cost))
    }

    /// The class of least expected cost under probabilities.
    pub fn least_cost_with(&self, proba: &Table, cost: &CostMatrix) -> Vec<u32> {
        (0..proba.n_rows).map(|i| cost.least_expected(proba.row(i))).collect()
    }

    /// A class drawn from the probabilities, for each row.
    pub fn sample(&self, proba: &Table, seed: u64) -> Vec<u32> {
        Sampler::new(seed).draw(proba)
    }

    /// What is added to each column's score; empty without a bias, and for trees.
    pub fn bias(&self) -> Vec<f64> {
        if self.tree.is_some() {
            return Vec::new();
        }
        (self.n_features() * self.n_outputs()..self.n_rows() * self.n_outputs())
            .map(|at| self.weights.get(at))
            .collect()
    }

    /// The weight of feature `j` in a column: a class's, or 0 where there is one weight vector; 0 for trees.
    pub fn weight(&self, j: usize, column: usize) -> f64 {
        if self.tree.is_some() { 0.0 } else { self.weights.get(j * self.n_outputs() + column) }
    }

    /// What each feature says for a class: its weight; the mean over the class's duels or columns, signed, for one-vs-one and output codes;
    /// the sum of what leads to the class for trees. With two classes, class 0's are those of class 1 with the opposite sign.
    pub fn class_weights(&self, class: usize) -> Vec<f64> {
        let n = self.n_features();
        if let Some(tree) = &self.tree {
            let mut out = vec![0.0; n];
            with_weights!(self.weights, w => tree.path_weights(w, class as u32, &mut out));
            return out;
        }
        let signs: Vec<(usize, f64)> = match &self.decoder {
            Decoder::Direct if self.n_outputs() == 1 => {
                let is_first = self.classes().len() == 2 && class == 0;
                vec![(0, if is_first { -1.0 } else { 1.0 })]
            }
            Decoder::Direct => vec![(class, 1.0)],
            Decoder::Pairs { pairs, .. } => {
                let by = 1.0 / (self.classes().len() - 1) as f64;
                let of = |(l, &(a, b)): (usize, &(u32, u32))| match class as u32 {
                    c if c == a => Some((l, by)),
                    c if c == b => Some((l, -by)),
                    _ => None,
                };
                pairs.iter().enumerate().filter_map(of).collect()
            }
            Decoder::Code { code, .. } => {
                let word = code.row(class).iter().enumerate();
                let by = 1.0 / code.n_columns() as f64;
                word.filter(|(_, c)| **c != 0).map(|(l, &c)| (l, by * f64::from(c))).collect()
            }
        };
        let of = |j: usize| signs.iter().map(|&(l, s)| s * self.weight(j, l)).sum();
        (0..n).map(of).collect()
    }

    /// The features with the largest weights for a class ([`class_weights`](Self::class_weights)), by size, with sign. A word that is hashed to minus a column
    /// has minus its weight.
    pub fn top_features(&self, class: usize, n: usize) -> Vec<(String, f64)> {
        let weights = self.class_weights(class).into_iter().enumerate();
        let mut order: Vec<(usize, f64)> = weights.filter(|(_, w)| *w != 0.0).collect();
        // In units of its own a weight says little: what counts is what a usual difference of the feature does.
        let effect = |&(j, w): &(usize, f64)| (w * self.deviation(j)).abs();
        order.sort_by(|a, b| effect(b).total_cmp(&effect(a)).then(a.0.cmp(&b.0)));
        order.truncate(n);
        let is_negated = |j| self.features.is_negated(self.schema(), j);
        // Weights of numbers beside text are of rescaled ones.
        let in_units = |j| self.features.scale_of(j).map_or(1.0, |by| f64::from(by.scale));
        let shown = |(j, w): (usize, f64)| {
            let w = w * in_units(j);
            (self.feature_name(j), if is_negated(j) { -w } else { w })
        };
        order.into_iter().map(shown).collect()
    }

    /// The standard deviation of a feature at training, for numbers and categories of a table; else 1.
    pub fn deviation(&self, feature: usize) -> f64 {
        let scales = &self.about.scales;
        let found = scales.binary_search_by_key(&feature, |scale| scale.at as usize);
        found.map_or(1.0, |at| 1.0 / f64::from(scales[at].scale))
    }

    /// How many columns of weights there are: one for two classes or a number, one for each class, pair or column of a code else.
    pub fn n_outputs(&self) -> usize {
        outputs(&self.about, &self.decoder).unwrap_or(1)
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_features() + usize::from(self.about.spec.bias != Bias::None)
    }
}

/// How many numbers a tensor of weights has.
fn n_values(tensor: TensorData<'_>) -> usize {
    match tensor {
        TensorData::F32(w) => w.len(),
        TensorData::F64(w) => w.len(),
        _ => 0,
    }
}

/// Those of these tensors that a file has.
pub(crate) fn stored<'a>(
    file: &'a ModelFile,
    names: &[&'a str],
) -> Result<Vec<Tensor<'a>>, file::Error> {
    let mut tensors = Vec::new();
    for &name in names {
        if let (Some(shape), Some(data)) = (file.shape(name), file.tensor(name)?) {
            tensors.push((name, shape.to_vec(), data));
        }
    }
    Ok(tensors)
}

/// The tensors of a tree beside its weights.
const NODES: &str = "tree.nodes";
const CHILDREN: &str = "tree.children";
const FEATURES: &str = "tree.features";

fn read_tree(file: &ModelFile, about: &About) -> Result<LabelTree, Error> {
    let tensor = |name: &str| match file.tensor(name)? {
        Some(TensorData::U32(values)) => Ok(values),
        _ => Err(Error::from(file.bad_tensor(name, "it is not there, or not of whole numbers"))),
    };
    let tree = LabelTree::from_flat(
        tensor(NODES)?,
        tensor(CHILDREN)?,
        tensor(FEATURES)?.to_vec(),
        about.schema.classes.len(),
        about.spec.bias != Bias::None,
        about.spec.task == Task::Classify,
    );
    let tree =
        tree.map_err(|why| Error::from(file.bad_tensor(NODES, format!("the tree: {why}"))))?;
    if tree.n_features() > about.schema.n_features {
        return Err(file.bad_tensor(FEATURES, "a feature that the data has not").into());
    }
    Ok(tree)
}

/// Number of columns of the weights; `None` where the description contradicts itself.
fn outputs(about: &About, decoder: &Decoder) -> Option<usize> {
    let k = about.schema.classes.len();
    match (about.spec.task, about.schema.target, &about.layout) {
        (Task::Regress, TargetKind::Real, Layout::Joint)
        | (Task::Rank, TargetKind::Grades, Layout::Joint)
            if k == 0 =>
        {
            Some(1)
        }
        (Task::Classify, TargetKind::Classes, Layout::Joint) if k == 2 => Some(1),
        (Task::Multilabel, TargetKind::Labels, Layout::Labels | Layout::Tree) if k > 0 => Some(k),
        (Task::Classify, TargetKind::Classes, layout) if k > 2 && *layout != Layout::Labels => {
            Some(decoder.n_columns(k))
        }
        _ => None,
    }
}

/// Counts what is written.
struct Counted<'a> {
    out: &'a mut dyn Write,
    n_bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
