//! A linear model without anything around it.

use crate::Error;
use crate::predict::model::Model;
use crate::predict::scoring::Cut;
use crate::request::spec::{LossKind, Strategy, Task};
use lineal_calibrate::Calibration;
use lineal_model::Bias;

#[cfg(feature = "train")]
use crate::request::spec::{Precision, TrainSpec};
#[cfg(feature = "train")]
use crate::train::weights::Weights;
#[cfg(feature = "train")]
use lineal_data::{Format, Schema, TargetKind};

/// Weights of numbered features for outputs: scores are Wx + b.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plain {
    /// What is predicted: classes, labels or a number.
    pub task: Task,
    /// Names of classes or labels; none for a number.
    pub names: Vec<String>,
    pub n_features: usize,
    /// Feature by feature the weights of all outputs; one output for two classes, positive for the second, or a number.
    pub weights: Vec<f64>,
    /// What is added to each score; empty where nothing is.
    pub bias: Vec<f64>,
    /// The loss that they were trained with, as far as it is known. The logistic one has probabilities.
    pub loss: LossKind,
    /// Whether classes were trained one by one: the probabilities of each are then brought to a sum of one.
    pub is_ova: bool,
    pub has_l1: bool,
    /// Names of features, where they are not their numbers.
    pub feature_names: Vec<String>,
    /// The numbers, from 1 and rising, that features have in LIBSVM files, where these are not 1, 2, ….
    pub feature_ids: Option<Vec<u32>>,
}

/// As many names of features are written into a file.
const MOST_NAMES: usize = 1 << 20;

impl Plain {
    /// Number of outputs.
    pub(super) fn n_outputs(&self) -> usize {
        match self.task {
            Task::Multilabel => self.names.len(),
            _ if self.names.len() > 2 => self.names.len(),
            _ => 1,
        }
    }

    /// Takes the weights out of a model. Thresholds become part of the bias; calibration is kept where it is one temperature.
    pub(super) fn of(model: &Model, notes: &mut Vec<String>) -> Result<Self, Error> {
        if !model.decoder_is_direct() {
            return Err(Error::request(format!(
                "a model of the strategy {} has no weights for each class, which other programs need; train with the strategy ova or joint",
                model.spec().strategy
            )));
        }
        let (n, k) = (model.n_features(), model.n_outputs());
        let mut plain = Self {
            task: model.task(),
            names: model.classes().to_vec(),
            n_features: n,
            weights: model.weights.to_f64(),
            bias: Vec::new(),
            loss: model.report().loss,
            is_ova: model.spec().strategy == Strategy::Ova,
            has_l1: model.spec().l1 > 0.0,
            feature_names: Vec::new(),
            feature_ids: model.schema().feature_ids.clone().filter(|ids| ids.len() == n),
        };
        plain.bias = plain.weights.split_off(n * k);
        plain.take_calibration(model, notes);
        plain.take_threshold(model, notes)?;
        if model.schema().columns.is_some() || !model.features().is_empty() {
            if n <= MOST_NAMES {
                plain.feature_names = (0..n).map(|j| model.feature_name(j)).collect();
            }
            notes.push(
                "the file cannot hold how columns become features, so it takes rows of numbers; `lineal convert DATA rows.svm --model MODEL` writes them"
                    .to_owned(),
            );
        }
        Ok(plain)
    }

    /// softmax(s/T) and σ(s/T) are those of scores that are divided by T; other maps are left out.
    fn take_calibration(&mut self, model: &Model, notes: &mut Vec<String>) {
        match model.calibration() {
            None => {}
            Some(Calibration::Temperature(by)) if self.task == Task::Classify => {
                let by = model.about.sharpness / by.t;
                self.weights.iter_mut().chain(&mut self.bias).for_each(|w| *w *= by);
                self.loss = LossKind::Logistic;
                self.is_ova = false;
                notes.push("its temperature is multiplied into the weights".to_owned());
            }
            Some(map) => {
                self.loss =
                    if self.loss == LossKind::Logistic { LossKind::Hinge } else { self.loss };
                notes.push(format!(
                    "its calibration ({}) is left out: the class of highest score is predicted, without a probability",
                    map.kind()
                ));
            }
        }
    }

    /// A score is compared with 0 elsewhere.
    fn take_threshold(&mut self, model: &Model, notes: &mut Vec<String>) -> Result<(), Error> {
        let cuts = match model.cuts() {
            Some(Cut::Scores(cuts)) => cuts,
            Some(Cut::Calibrated) => {
                return Err(Error::request(
                    "its threshold is a calibrated probability, which other programs cannot compare with; train without calibrate, or without threshold",
                ));
            }
            None => return Ok(()),
        };
        if cuts.iter().all(|&cut| cut == 0.0) {
            return Ok(());
        }
        if self.bias.is_empty() {
            self.bias = vec![0.0; cuts.len()];
        }
        self.bias.iter_mut().zip(&cuts).for_each(|(b, cut)| *b -= cut);
        if self.loss == LossKind::Logistic {
            self.loss = LossKind::Hinge;
            notes.push(
                "its threshold is part of the bias, so that there are no probabilities".to_owned(),
            );
        } else {
            notes.push("its threshold is part of the bias".to_owned());
        }
        Ok(())
    }

    /// A model of it, for rows of LIBSVM files and arrays.
    #[cfg(feature = "train")]
    pub(super) fn into_model(self, source: &str) -> Result<Model, Error> {
        let target = match self.task {
            Task::Multilabel => TargetKind::Labels,
            Task::Regress => TargetKind::Real,
            _ => TargetKind::Classes,
        };
        let mut schema = Schema::of_arrays(self.n_features, target, self.names);
        schema.format = Some(Format::Svmlight);
        let bias = if self.bias.is_empty() { Bias::None } else { Bias::Penalised };
        let strategy = if self.is_ova { Strategy::Ova } else { Strategy::Joint };
        let loss = Some(self.loss);
        let spec = TrainSpec { loss, strategy, bias, ..TrainSpec::for_task(self.task) };
        let weights = [self.weights, self.bias].concat();
        // Numbers of single precision are scored in it, as those that were written were.
        let narrow: Vec<f32> = weights.iter().map(|&w| w as f32).collect();
        let is_narrow = narrow.iter().zip(&weights).all(|(&n, &w)| f64::from(n) == w);
        let mut model = Model::from_weights(schema, spec, weights)?;
        if is_narrow {
            model.weights = Weights::F32(narrow);
            model.about.report.precision = Precision::F32;
        }
        model.about.provenance.source = source.to_owned();
        Ok(model)
    }
}
