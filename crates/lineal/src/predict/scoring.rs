//! What a model says about rows: scores, probabilities, predictions.

use crate::Error;
use crate::predict::layout::{Decoder, Layout, argmax, leads};
use crate::predict::model::{Model, Predicted, Table};
use crate::request::spec::{LossKind, Task, Threshold};
use crate::train::weights::with_weights;
use lineal_calibrate::{Calibration, Kind, couple};
use lineal_data::{Dataset, Labels};
use lineal_linalg::Scalar;
use lineal_linalg::special::{log1p_exp, sigmoid, softmax};
use lineal_model::label_tree::{LabelTree, Link, Scratch};
use lineal_model::space::{Binary, Classes, OutputSpace};
use lineal_model::{Linear, Model as _};
use rayon::prelude::*;
use std::ops::Range;

const BLOCK: usize = 512;

/// Scores that are held at a time where only what follows from them is kept.
const PART: usize = 1 << 23;

/// Ranges of rows, of so many scores each.
fn parts(n_rows: usize, n_columns: usize) -> impl Iterator<Item = Range<usize>> {
    let n = (PART / n_columns.max(1)).max(BLOCK);
    (0..n_rows).step_by(n).map(move |start| start..n_rows.min(start + n))
}

impl Model {
    /// The score of every class (two columns, −f and f, for two classes; one, the prediction, for regression). For one-vs-one votes or
    /// summed scores, for output codes minus the distance from the codeword, for trees the logarithm of the probability.
    ///
    /// # Panics
    /// If the data was not read with this model's schema and has more features.
    pub fn scores(&self, data: &Dataset) -> Table {
        let k = self.classes().len();
        if let Some(tree) = &self.tree {
            return self.tree_logs(tree, data);
        }
        let raw = self.raw_scores(data);
        match &self.decoder {
            Decoder::Direct if k == 2 && raw.n_cols == 1 => {
                let values = raw.values.iter().flat_map(|&f| [-f, f]).collect();
                Table { n_cols: 2, values, ..raw }
            }
            Decoder::Direct => raw,
            decoder => by_row(&raw, k, |columns, out| decoder.class_scores(columns, out)),
        }
    }

    /// Whether the model has probabilities: its loss is one of probabilities, or it was calibrated.
    pub fn has_proba(&self) -> bool {
        self.about.report.loss == LossKind::Logistic || self.about.calibration.is_some()
    }

    /// The probability of every class, which sum to one; of every label, for multilabel models.
    pub fn proba(&self, data: &Dataset) -> Result<Table, Error> {
        if !self.has_proba() {
            return Err(Error::request(format!(
                "a model trained with the {} loss has no probabilities; train with --loss logistic, or add --calibrate platt",
                self.about.report.loss
            )));
        }
        let table = match &self.tree {
            Some(tree) => {
                let mut logs = self.tree_logs(tree, data);
                logs.values.iter_mut().for_each(|p| *p = p.exp());
                logs
            }
            None => self.proba_of(&self.raw_scores(data)),
        };
        Ok(self.sharpened(table))
    }

    /// Calibrated probabilities raised to the power that goes with them.
    fn sharpened(&self, table: Table) -> Table {
        let by = self.about.sharpness;
        if by == 1.0 {
            return table;
        }
        by_row(&table, table.n_cols, |p, out| {
            let top = p.iter().fold(f64::MIN_POSITIVE, |m, &p| m.max(p));
            out.iter_mut().zip(p).for_each(|(o, &p)| *o = (p / top).powf(by));
            couple::one_vs_all(out);
        })
    }

    /// Probabilities of classes or labels from the scores of columns.
    pub(crate) fn proba_of(&self, raw: &Table) -> Table {
        let k = self.classes().len();
        let calibration = self.about.calibration.as_ref();
        match (&self.about.layout, calibration) {
            (Layout::Labels, _) => by_row(raw, k, |columns, out| self.column_probas(columns, out)),
            (Layout::Joint, Some(maps)) if k > 2 && maps.kind() != Kind::Temperature => {
                by_row(raw, k, |scores, out| {
                    let mut ahead = vec![0.0; k];
                    leads(scores, &mut ahead);
                    maps.classes(&ahead, out);
                })
            }
            (Layout::Joint | Layout::Ova, Some(maps)) => {
                by_row(raw, k, |scores, out| maps.classes(scores, out))
            }
            (Layout::Joint, None) if k == 2 => by_row(raw, 2, |f, out| {
                out.copy_from_slice(&[sigmoid(-f[0]), sigmoid(f[0])]);
            }),
            (Layout::Joint, None) => by_row(raw, k, |scores, out| {
                softmax(scores, out);
            }),
            _ => by_row(raw, k, |columns, out| {
                let mut yes = vec![0.0; columns.len()];
                self.column_probas(columns, &mut yes);
                self.decoder.class_proba(&yes, out);
            }),
        }
    }

    /// P(yes) of each column.
    fn column_probas(&self, columns: &[f64], out: &mut [f64]) {
        match &self.about.calibration {
            Some(maps) => maps.columns(columns, out),
            None => out.iter_mut().zip(columns).for_each(|(p, &s)| *p = sigmoid(s)),
        }
    }

    /// The argmax, the lowest class among equals: of scores, or of probabilities where the model was calibrated. Of labels, those above their
    /// thresholds.
    pub fn predict(&self, data: &Dataset) -> Predicted {
        let k = self.classes().len();
        match (self.task(), &self.tree) {
            (Task::Multilabel, _) => return Predicted::Labels(self.predict_labels(data)),
            (_, Some(tree)) => {
                let best = self.tree_best(tree, data, 1);
                return Predicted::Classes(
                    best.iter().map(|b| b.first().map_or(0, |b| b.0)).collect(),
                );
            }
            _ => {}
        }
        if k == 0 {
            return Predicted::Real(self.raw_scores(data).values);
        }
        let mut classes = Vec::with_capacity(data.n_rows());
        for part in parts(data.n_rows(), self.n_outputs().max(k)) {
            let raw = self.raw_scores_of(data, part);
            if let Some(threshold) = self.second_class_from().filter(|_| raw.n_cols == 1) {
                classes.extend(raw.values.iter().map(|&f| u32::from(threshold.is_met_by(f))));
                continue;
            }
            if self.about.calibration.is_some() && !self.keeps_order() {
                let proba = self.sharpened(self.proba_of(&raw));
                classes.extend((0..proba.n_rows).map(|i| argmax(proba.row(i))));
                continue;
            }
            let rows = raw.values.chunks_exact(raw.n_cols.max(1));
            match &self.decoder {
                Decoder::Direct if k == 2 && raw.n_cols == 1 => {
                    classes.extend(rows.map(|s| Binary.decode(s)));
                }
                Decoder::Direct => classes.extend(rows.map(|s| Classes(k).decode(s))),
                decoder => {
                    let mut scratch = Vec::new();
                    classes.extend(rows.map(|s| decoder.decide(s, &mut scratch, k)));
                }
            }
        }
        Predicted::Classes(classes)
    }

    /// Whether the likeliest class is that of the highest score: one temperature moves no class up or down.
    fn keeps_order(&self) -> bool {
        let kind = self.about.calibration.as_ref().map(Calibration::kind);
        kind == Some(Kind::Temperature) && self.decoder_is_direct()
    }

    /// What the score of two classes is compared with, where that is not 0.
    fn second_class_from(&self) -> Option<ClassThreshold<'_>> {
        if self.classes().len() != 2 || self.task() != Task::Classify {
            return None;
        }
        match (&self.about.thresholds, self.about.spec.threshold) {
            (Some(thresholds), _) => thresholds.first().map(|&at| ClassThreshold::Score(at)),
            (None, Threshold::Fixed(p)) => Some(match &self.about.calibration {
                Some(maps) => ClassThreshold::Calibrated(maps, p),
                None => ClassThreshold::Logit((p / (1.0 - p)).ln()),
            }),
            (None, _) => None,
        }
    }

    fn predict_labels(&self, data: &Dataset) -> Labels {
        let above = |table: &Table, fires: &dyn Fn(usize, f64) -> bool| {
            let (mut start, mut ids) = (vec![0], Vec::new());
            for i in 0..table.n_rows {
                let over = table.row(i).iter().enumerate().filter(|&(l, s)| fires(l, *s));
                ids.extend(over.map(|(l, _)| l as u32));
                start.push(ids.len());
            }
            Labels::new(start, ids).expect("labels rise in each row")
        };
        let is_tree = self.tree.is_some();
        match (&self.about.thresholds, self.about.spec.threshold) {
            (Some(thresholds), _) => above(&self.scores(data), &|l, s| s >= thresholds[l]),
            (None, Threshold::Fixed(p)) => match self.proba(data) {
                Ok(proba) => above(&proba, &|_, s| s > p),
                Err(_) => above(&self.scores(data), &|_, s| s > (p / (1.0 - p)).ln()),
            },
            (None, _) if is_tree => above(&self.scores(data), &|_, s| s > 0.5f64.ln()),
            (None, _) if self.about.calibration.is_some() => match self.proba(data) {
                Ok(proba) => above(&proba, &|_, s| s > 0.5),
                Err(_) => above(&self.scores(data), &|_, s| s > 0.0),
            },
            (None, _) => above(&self.scores(data), &|_, s| s > 0.0),
        }
    }

    /// The `k` best classes or labels of each row with their probabilities (scores, where the model has none), best first. A tree finds them
    /// by a beam, without looking at all classes.
    pub fn top(&self, data: &Dataset, k: usize) -> Result<Vec<Vec<(u32, f64)>>, Error> {
        if let Some(tree) = self.tree.as_ref().filter(|_| self.about.sharpness == 1.0) {
            let mut best = self.tree_best(tree, data, k);
            if self.has_proba() {
                best.iter_mut().flatten().for_each(|b| b.1 = b.1.exp());
            }
            return Ok(best);
        }
        let table = if self.has_proba() { self.proba(data)? } else { self.scores(data) };
        Ok((0..table.n_rows).map(|i| highest(table.row(i), k)).collect())
    }

    /// One number per column of the weights: f alone for two classes.
    pub(crate) fn raw_scores(&self, data: &Dataset) -> Table {
        self.raw_scores_of(data, 0..data.n_rows())
    }

    /// The same of some rows.
    fn raw_scores_of(&self, data: &Dataset, rows: Range<usize>) -> Table {
        let model = Linear::new(self.n_features(), Classes(self.n_outputs()), self.about.spec.bias);
        with_weights!(self.weights, w => score_rows(w, &model, data, rows))
    }

    fn link(&self) -> NodeLink<'_> {
        match (&self.about.calibration, self.about.report.loss) {
            (Some(maps), _) => NodeLink::Calibrated(maps),
            (None, LossKind::Logistic) => NodeLink::Logistic,
            (None, _) => NodeLink::Margin,
        }
    }

    fn tree_logs(&self, tree: &LabelTree, data: &Dataset) -> Table {
        fn all<F: Scalar>(
            tree: &LabelTree,
            w: &[F],
            link: &(impl Link + Sync),
            data: &Dataset,
        ) -> Table {
            let (n_rows, k) = (data.n_rows(), tree.n_outputs());
            let mut values = vec![0.0; n_rows * k];
            values.par_chunks_mut(BLOCK * k).enumerate().for_each(|(b, out)| {
                let mut scratch = Scratch::<F>::default();
                for (i, out) in out.chunks_exact_mut(k).enumerate() {
                    tree.log_probas(data.x.row(b * BLOCK + i), w, link, &mut scratch, out);
                }
            });
            Table { n_rows, n_cols: k, values }
        }
        let link = self.link();
        with_weights!(self.weights, w => all(tree, w, &link, data))
    }

    fn tree_best(&self, tree: &LabelTree, data: &Dataset, k: usize) -> Vec<Vec<(u32, f64)>> {
        let beam = self.about.spec.reduction.beam.max(k);
        let link = self.link();
        with_weights!(self.weights, w => {
            (0..data.n_rows())
                .into_par_iter()
                .map_init(Scratch::default, |s, i| tree.best(data.x.row(i), w, &link, (k, beam), s))
                .collect()
        })
    }
}

/// From where on the second of two classes is predicted.
enum ClassThreshold<'a> {
    /// At this score.
    Score(f64),
    /// Above this score.
    Logit(f64),
    /// Above this probability.
    Calibrated(&'a Calibration, f64),
}

impl ClassThreshold<'_> {
    fn is_met_by(&self, score: f64) -> bool {
        match self {
            Self::Score(at) => score >= *at,
            Self::Logit(at) => score > *at,
            Self::Calibrated(maps, p) => {
                let mut proba = [0.0; 2];
                maps.classes(&[score], &mut proba);
                proba[1] > *p
            }
        }
    }
}

/// What the answers of a tree's nodes are worth.
enum NodeLink<'a> {
    Calibrated(&'a Calibration),
    Logistic,
    /// No probabilities; what orders classes as the margins do.
    Margin,
}

impl Link for NodeLink<'_> {
    fn log_probas(&self, score: f64) -> [f64; 2] {
        match self {
            NodeLink::Calibrated(maps) => {
                let mut p = [0.5];
                maps.columns(&[score], &mut p);
                // A map that claims certainty must not veto a whole subtree.
                [p[0].ln().max(-35.0), (1.0 - p[0]).ln().max(-35.0)]
            }
            NodeLink::Logistic => [-log1p_exp(-score), -log1p_exp(score)],
            NodeLink::Margin => [-(1.0 - score).max(0.0).powi(2), -(1.0 + score).max(0.0).powi(2)],
        }
    }

    fn is_proba(&self) -> bool {
        !matches!(self, NodeLink::Margin)
    }
}

/// The `k` largest values with their places, falling; the lower place first among equals.
pub fn highest(values: &[f64], k: usize) -> Vec<(u32, f64)> {
    let mut all: Vec<(u32, f64)> = (0u32..).zip(values.iter().copied()).collect();
    let order = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if k < all.len() {
        all.select_nth_unstable_by(k, order);
        all.truncate(k);
    }
    all.sort_unstable_by(order);
    all
}

/// A table of `k` columns, each row made from one of `from`.
fn by_row(from: &Table, k: usize, make: impl Fn(&[f64], &mut [f64]) + Sync) -> Table {
    let mut values = vec![0.0; from.n_rows * k];
    values.par_chunks_mut(BLOCK * k.max(1)).enumerate().for_each(|(b, out)| {
        for (i, out) in out.chunks_exact_mut(k).enumerate() {
            make(from.row(b * BLOCK + i), out);
        }
    });
    Table { n_rows: from.n_rows, n_cols: k, values }
}

fn score_rows<F: Scalar>(
    w: &[F],
    model: &Linear<Classes>,
    data: &Dataset,
    rows: Range<usize>,
) -> Table {
    let (n_rows, k) = (rows.len(), lineal_model::Model::<F>::max_parts(model));
    let mut values = vec![0.0; n_rows * k];
    values.par_chunks_mut(BLOCK * k).enumerate().for_each(|(b, out)| {
        let mut scores = vec![F::ZERO; k];
        for (i, out) in out.chunks_exact_mut(k).enumerate() {
            model.scores(data.x.row(rows.start + b * BLOCK + i), w, &mut scores);
            out.iter_mut().zip(&scores).for_each(|(o, s)| *o = s.to_f64());
        }
    });
    Table { n_rows, n_cols: k, values }
}
