//! A trained model: what it predicts, and what it knows of itself. Its file is in [`super::file`].

use crate::Error;
use crate::features::{AboutFeatures, Features};
use crate::predict::evaluation::Evaluation;
use crate::predict::layout::{Decoder, Layout};
use crate::request::spec::{Task, Threshold, TrainSpec};
use crate::stream::{AboutStream, StreamSpec, StreamTensors};
use crate::train::report::Report;
use crate::train::weights::{Weights, with_weights};
use lineal_calibrate::Calibration;
use lineal_data::{ColumnScale, Dataset, Labels, ReadOptions, Schema, Source, TargetKind};
use lineal_linalg::Scalar;
use lineal_model::Bias;
use lineal_model::cost::CostMatrix;
use lineal_model::label_tree::LabelTree;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

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
    /// How it did on labelled data when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
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
            evaluation: None,
        };
        Ok(Self { weights, tree, decoder, features, stream: None, about })
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

    /// Of which sign each class is in each column of one-vs-one and output codes: 1, −1, or 0 where it takes no part.
    pub fn class_signs(&self) -> Option<Vec<Vec<i8>>> {
        let n_classes = self.classes().len();
        match &self.decoder {
            Decoder::Direct => None,
            Decoder::Pairs { pairs, .. } => {
                let of = |&(a, b): &(u32, u32)| {
                    let sign = |c: u32| i8::from(c == a) - i8::from(c == b);
                    (0..n_classes as u32).map(sign).collect()
                };
                Some(pairs.iter().map(of).collect())
            }
            Decoder::Code { code, .. } => {
                let column = |l: usize| (0..n_classes).map(|class| code.row(class)[l]).collect();
                Some((0..code.n_columns()).map(column).collect())
            }
        }
    }

    /// The features with the largest weights for a class ([`class_weights`](Self::class_weights)), by size, with sign. A word that is hashed to minus a column
    /// has minus its weight.
    pub fn top_features(&self, class: usize, n: usize) -> Vec<(String, f64)> {
        self.top_effects(class, n).into_iter().map(|(name, w, _)| (name, w)).collect()
    }

    /// [`top_features`](Self::top_features), each with what it is ordered by: its weight times the standard deviation of the feature, which is what a usual difference of it does.
    pub fn top_effects(&self, class: usize, n: usize) -> Vec<(String, f64, f64)> {
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
            let sign = if is_negated(j) { -1.0 } else { 1.0 };
            (self.feature_name(j), sign * w * in_units(j), sign * w * self.deviation(j))
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

/// Number of columns of the weights; `None` where the description contradicts itself.
pub(super) fn outputs(about: &About, decoder: &Decoder) -> Option<usize> {
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
