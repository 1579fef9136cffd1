//! Scores of rows that training did not see, for calibration and thresholds: each fold is scored by a model trained on the others.

use crate::Error;
use crate::predict::layout::{Decoder, Layout, leads};
use crate::predict::model::{Model, Table};
use crate::request::spec::{CalibrateKind, Task, Threshold, TrainSpec};
use crate::train::Training;
use crate::train::weights::with_weights;
use lineal_calibrate::{Aim, Calibration, Held, Kind, Truth, thresholds};
use lineal_data::{Dataset, Labels, Targets};
use lineal_linalg::Scalar;
use lineal_model::label_tree::{LabelTree, Scratch};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::ops::ControlFlow;

/// Called before each fold that is trained without its rows, with its number from 1 and how many there are; `Break` ends the run with [`Error::Interrupted`]: there is no model without its
/// calibration.
pub type OnFold<'a> = dyn FnMut(usize, usize) -> ControlFlow<()> + Send + 'a;

/// Fits the maps and thresholds that the model's spec asks for. Folds take at most as many passes as are said to be enough.
pub(crate) fn calibrate(
    model: &mut Model,
    data: &Dataset,
    enough_passes: Option<usize>,
    on_fold: Option<&mut OnFold<'_>>,
) -> Result<(), Error> {
    let spec = model.spec().clone();
    let tunes = spec.threshold.is_tuned();
    if spec.calibrate.is_none() && !tunes {
        return Ok(());
    }
    if spec.task == Task::Regress {
        return Err(Error::request(
            "spec.calibrate makes probabilities of classes; spec.task = regress has none",
        ));
    }
    if data.n_rows() < 2 * spec.folds && spec.enough_held_out.is_some() {
        model.about.spec.calibrate = None;
        model.about.spec.threshold = Threshold::Half;
        return Ok(());
    }
    if data.n_rows() < 2 * spec.folds {
        return Err(Error::request(format!(
            "{} rows are too few to fit {} in {} folds; give more data or fewer spec.folds, or leave it out",
            data.n_rows(),
            if spec.calibrate.is_some() {
                "probabilities (spec.calibrate)"
            } else {
                "a spec.threshold"
            },
            spec.folds
        )));
    }
    let held = HeldOut::collect(model, data, &spec, enough_passes, on_fold)?;
    if let Some(kind) = spec.calibrate {
        model.about.calibration = Some(held.maps(kind)?);
        model.about.sharpness = held.sharpness(model)?;
    }
    if tunes {
        model.about.thresholds = Some(held.thresholds(model, spec.threshold)?);
    }
    Ok(())
}

/// Held-out rows: their scores by column, and what was true.
struct HeldOut {
    /// Row-major, as the model gives them.
    raw: Vec<f64>,
    /// The same as the maps take them.
    scores: Vec<f64>,
    n_columns: usize,
    truth: Owned,
    weights: Option<Vec<f32>>,
    /// For trees with labels: ln P of each label.
    logs: Option<Vec<f64>>,
    labels: Option<Labels>,
    /// For trees: the models of the folds, and the rows that they have not seen.
    folds: Vec<(Model, Dataset)>,
}

/// As many class probabilities as this are enough to fit one number.
const ENOUGH: usize = 10_000_000;

enum Owned {
    Classes(Vec<u32>),
    Coded { y: Vec<u32>, code: Vec<i8> },
    Labels(Labels),
}

impl HeldOut {
    fn collect(
        model: &Model,
        data: &Dataset,
        spec: &TrainSpec,
        enough_passes: Option<usize>,
        mut on_fold: Option<&mut OnFold<'_>>,
    ) -> Result<Self, Error> {
        let max_passes = match enough_passes {
            Some(enough) if spec.n_epochs().is_none() => {
                Some(spec.max_passes.unwrap_or(usize::MAX).min(enough.max(1)))
            }
            _ => spec.max_passes,
        };
        let plain = TrainSpec {
            max_passes,
            calibrate: None,
            threshold: Threshold::Half,
            enough_held_out: None,
            validation: 0.0,
            patience: None,
            curve: false,
            ..spec.clone()
        };
        let mut order: Vec<usize> = (0..data.n_rows()).collect();
        order.shuffle(&mut Pcg64Mcg::seed_from_u64(spec.seed ^ 0xf01d));
        let (mut scores, mut logs, mut rows, mut yes) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let is_tree = model.tree.is_some();
        let (mut weights, mut folds) = (Vec::new(), Vec::new());
        let n_folds = folds_to_fit(spec, data.n_rows());
        for fold in 0..n_folds {
            if let Some(see) = &mut on_fold
                && see(fold + 1, n_folds).is_break()
            {
                return Err(Error::Interrupted);
            }
            let part = |inside: bool| -> Vec<usize> {
                let mut part: Vec<usize> = (0..order.len())
                    .filter(|at| (at % spec.folds == fold) == inside)
                    .map(|at| order[at])
                    .collect();
                part.sort_unstable();
                part
            };
            let held_rows = part(true);
            let held = data.select(&held_rows);
            let others = data.select(&part(false));
            let (other, _) = Training::new(&others, &plain).features(model.features()).run()?;
            match &other.tree {
                Some(tree) => {
                    let w = &other.weights;
                    with_weights!(w, w => {
                        path_answers(tree, w, &held, &mut scores, &mut yes, &mut weights)
                    });
                    if spec.task == Task::Multilabel {
                        logs.extend(other.scores(&held)?.values);
                    } else {
                        folds.push((other, held));
                    }
                }
                None => scores.extend(other.raw_scores(&held.x).values),
            }
            rows.extend(held_rows);
        }
        let all = data.select(&rows);
        let labels = if let Targets::Labels(labels) = &all.y { Some(labels.clone()) } else { None };
        let weights = if is_tree { data.weights.as_ref().map(|_| weights) } else { all.weights };
        let truth = match (&all.y, &model.decoder, &model.about.layout) {
            (_, _, Layout::Tree) => Owned::Classes(yes),
            (Targets::Labels(labels), ..) => Owned::Labels(labels.clone()),
            (Targets::Classes(y), Decoder::Direct, _) => Owned::Classes(y.clone()),
            (Targets::Classes(y), decoder, _) => {
                Owned::Coded { y: y.clone(), code: entries(decoder, model.classes().len()) }
            }
            _ => return Err(Error::request("calibration needs classes or labels")),
        };
        let n_columns = if is_tree { 1 } else { model.n_outputs() };
        let raw = if is_tree { Vec::new() } else { scores.clone() };
        let by_class = spec.calibrate.is_some_and(|kind| kind != CalibrateKind::Temperature);
        if model.about.layout == Layout::Joint && n_columns > 2 && by_class {
            let mut ahead = vec![0.0; n_columns];
            for row in scores.chunks_exact_mut(n_columns) {
                leads(row, &mut ahead);
                row.copy_from_slice(&ahead);
            }
        }
        let logs = (!logs.is_empty()).then_some(logs);
        Ok(Self { raw, scores, n_columns, truth, weights, logs, labels, folds })
    }

    fn maps(&self, kind: CalibrateKind) -> Result<Calibration, Error> {
        let truth = match &self.truth {
            Owned::Classes(y) => Truth::Classes(y),
            Owned::Coded { y, code } => Truth::Coded { y, code },
            Owned::Labels(labels) => Truth::Labels { start: labels.starts(), ids: labels.ids() },
        };
        let fail = |why: lineal_calibrate::Error| Error::request(format!("spec.calibrate: {why}"));
        let mut held = Held::new(self.n_columns, &self.scores, truth).map_err(fail)?;
        if let Some(weights) = &self.weights {
            held = held.with_weights(weights).map_err(fail)?;
        }
        let kind = match kind {
            CalibrateKind::Platt => Kind::Platt,
            CalibrateKind::Isotonic => Kind::Isotonic,
            CalibrateKind::Temperature => Kind::Temperature,
        };
        Ok(Calibration::fit(kind, &held))
    }

    /// The power that calibrated class probabilities are raised to. Maps of single columns know nothing of one another, so that what they
    /// combine to is calibrated as a whole by one number more: the temperature of its logarithm.
    fn sharpness(&self, model: &Model) -> Result<f64, Error> {
        let k = model.classes().len();
        let whole =
            model.decoder_is_direct() && model.spec().calibrate == Some(CalibrateKind::Temperature);
        if k <= 2 || whole || model.task() == Task::Multilabel {
            return Ok(1.0);
        }
        let rows = (ENOUGH / k).max(1);
        let (mut logs, mut gold) = (Vec::new(), Vec::new());
        if model.tree.is_some() {
            for (other, held) in &self.folds {
                let other = other.calibrated_as(model)?;
                let share = rows.div_ceil(self.folds.len()).min(held.n_rows());
                let held = held.select(&(0..share).collect::<Vec<_>>());
                logs.extend(other.proba(&held)?.values);
                if let Targets::Classes(y) = &held.y {
                    gold.extend_from_slice(y);
                }
            }
        } else {
            let (Owned::Classes(y) | Owned::Coded { y, .. }) = &self.truth else { return Ok(1.0) };
            let n_rows = rows.min(y.len());
            let raw = self.raw[..n_rows * self.n_columns].to_vec();
            let raw = Table { n_rows, n_cols: self.n_columns, values: raw };
            logs = model.proba_of(&raw).values;
            gold.extend_from_slice(&y[..n_rows]);
        }
        logs.iter_mut().for_each(|p| *p = p.max(1e-12).ln());
        let fail = |why: lineal_calibrate::Error| Error::request(format!("spec.calibrate: {why}"));
        let held = Held::new(k, &logs, Truth::Classes(&gold)).map_err(fail)?;
        let Calibration::Temperature(t) = Calibration::fit(Kind::Temperature, &held) else {
            return Ok(1.0);
        };
        Ok((1.0 / t.t).clamp(0.05, 20.0))
    }

    fn thresholds(&self, model: &Model, threshold: Threshold) -> Result<Vec<f64>, Error> {
        let classes = match &self.truth {
            Owned::Classes(y) => y.as_slice(),
            _ => &[],
        };
        let n_columns = if self.labels.is_some() { model.classes().len() } else { 1 };
        let scores = self.logs.as_deref().unwrap_or(&self.raw);
        let truth = match &self.labels {
            Some(labels) => Truth::Labels { start: labels.starts(), ids: labels.ids() },
            None => Truth::Classes(classes),
        };
        fit_thresholds(scores, n_columns, truth, threshold.of_task(model.task()))
    }
}

/// How many training runs leave out a fold: all folds, or as many as hold `enough_held_out` rows.
pub fn folds_to_fit(spec: &TrainSpec, n_rows: usize) -> usize {
    match spec.enough_held_out {
        Some(enough) => enough.div_ceil((n_rows / spec.folds.max(1)).max(1)).clamp(1, spec.folds),
        None => spec.folds,
    }
}

/// The scores from which on columns say yes, for an aim.
fn fit_thresholds(
    scores: &[f64],
    n_columns: usize,
    truth: Truth<'_>,
    threshold: Threshold,
) -> Result<Vec<f64>, Error> {
    let fail = |why: lineal_calibrate::Error| Error::request(format!("spec.threshold: {why}"));
    let held = Held::new(n_columns, scores, truth).map_err(fail)?;
    let aim = match threshold {
        Threshold::MicroF1 => Aim::MicroF1,
        Threshold::MacroF1 => Aim::MacroF1,
        Threshold::Cost { false_positive, false_negative } => {
            Aim::Cost { false_positive, false_negative }
        }
        _ if n_columns == 1 => Aim::F1 { floor: 0.0 },
        _ => Aim::F1 { floor: 0.1 },
    };
    thresholds(aim, &held).map_err(fail)
}

/// Thresholds of a model for rows that it was not trained on, for the aim of its spec.
pub(crate) fn thresholds_on(model: &Model, held_out: &Dataset) -> Result<Vec<f64>, Error> {
    let threshold = model.spec().threshold.of_task(model.task());
    match &held_out.y {
        Targets::Labels(labels) => {
            let truth = Truth::Labels { start: labels.starts(), ids: labels.ids() };
            let scores = model.scores(held_out)?.values;
            fit_thresholds(&scores, model.classes().len(), truth, threshold)
        }
        Targets::Classes(y) => {
            let scores = model.raw_scores(&held_out.x).values;
            fit_thresholds(&scores, 1, Truth::Classes(y), threshold)
        }
        _ => Err(Error::request("a threshold is for labels or for two classes")),
    }
}

/// Every answer on the way to the gold outputs, as one long column.
fn path_answers<F: Scalar>(
    tree: &LabelTree,
    w: &[F],
    data: &Dataset,
    scores: &mut Vec<f64>,
    yes: &mut Vec<u32>,
    weights: &mut Vec<f32>,
) {
    let mut scratch = Scratch::default();
    for i in 0..data.n_rows() {
        let gold = match &data.y {
            Targets::Classes(y) => &y[i..=i],
            Targets::Labels(labels) => labels.row(i),
            _ => &[],
        };
        let weight = data.weights.as_ref().map_or(1.0, |w| w[i]);
        tree.path_answers(data.x.row(i), w, gold, &mut scratch, |score, is_yes| {
            scores.push(score);
            yes.push(u32::from(is_yes));
            weights.push(weight);
        });
    }
}

/// The code of a decoder, class by class.
fn entries(decoder: &Decoder, n_classes: usize) -> Vec<i8> {
    match decoder {
        Decoder::Direct => Vec::new(),
        Decoder::Code { code, .. } => (0..n_classes).flat_map(|k| code.row(k).to_vec()).collect(),
        Decoder::Pairs { pairs, .. } => (0..n_classes as u32)
            .flat_map(|k| pairs.iter().map(move |&(a, b)| i8::from(k == a) - i8::from(k == b)))
            .collect(),
    }
}
