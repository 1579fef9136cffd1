//! What a model says about rows: scores, probabilities, predictions.

use crate::Error;
use crate::predict::layout::{Decoder, Layout, argmax, leads};
use crate::predict::model::{Model, Predicted, Table};
use crate::request::spec::{LossKind, Task, Threshold};
use crate::train::weights::with_weights;
use lineal_calibrate::{Calibration, Kind, couple};
use lineal_data::Labels;
use lineal_linalg::special::{log1p_exp, sigmoid, softmax};
use lineal_linalg::{Matrix, Scalar};
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
    /// Rows are those of a dataset or of a [`Matrix`]; an error if they have not as many features as the model.
    pub fn scores(&self, x: &impl AsRef<Matrix>) -> Result<Table, Error> {
        let (x, k) = (self.fitting(x.as_ref())?, self.n_scores());
        let mut values = vec![0.0; x.n_rows() * k];
        self.write_scores(x, &mut values);
        Ok(Table { n_rows: x.n_rows(), n_cols: k, values })
    }

    /// As [`scores`](Self::scores), into a buffer of the caller's: row by row, [`n_scores`](Self::n_scores) numbers each.
    ///
    /// ```
    /// use lineal::{Dataset, Dense, Matrix, TrainSpec, train};
    ///
    /// let data = Dataset::from_rows(&[[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]], &["flat", "flat", "tall", "tall"])?;
    /// let (model, _) = train(&data, &TrainSpec::default())?;
    /// let x = Matrix::Dense(Dense::from_array(2, 2, vec![9.0f64, 2.0, 1.0, 7.0], Default::default())?);
    /// let mut scores = [0.0; 4];
    /// model.scores_into(&x, &mut scores)?;
    /// assert!(scores[1] > 0.0 && scores[3] < 0.0); // the first row is tall, the second is not
    /// assert!(model.scores_into(&x, &mut [0.0; 3]).is_err());
    /// # Ok::<(), lineal::Error>(())
    /// ```
    pub fn scores_into(&self, x: &impl AsRef<Matrix>, out: &mut [f64]) -> Result<(), Error> {
        let x = self.fitting(x.as_ref())?;
        self.check_room(x, out.len())?;
        self.write_scores(x, out);
        Ok(())
    }

    /// How many scores a row has: one for each class or label, or the number that is predicted.
    pub fn n_scores(&self) -> usize {
        self.classes().len().max(1)
    }

    fn write_scores(&self, x: &Matrix, out: &mut [f64]) {
        let k = self.classes().len();
        if let Some(tree) = &self.tree {
            return self.write_tree_logs(tree, x, out);
        }
        match &self.decoder {
            Decoder::Direct if k == 2 && self.n_outputs() == 1 => {
                let raw = self.raw_scores(x);
                for (out, &f) in out.chunks_exact_mut(2).zip(&raw.values) {
                    out.copy_from_slice(&[-f, f]);
                }
            }
            Decoder::Direct => self.write_raw_scores(x, 0..x.n_rows(), out),
            decoder => by_row_into(&self.raw_scores(x), k, out, |columns, out| {
                decoder.class_scores(columns, out);
            }),
        }
    }

    /// The rows, if they have as many features as the model.
    fn fitting<'x>(&self, x: &'x Matrix) -> Result<&'x Matrix, Error> {
        match x.n_cols() == self.n_features() {
            true => Ok(x),
            false => Err(Error::request(format!(
                "rows have {} features, and the model has {}; rows are read by the model (Model::read), or have its features in its order",
                x.n_cols(),
                self.n_features()
            ))),
        }
    }

    fn check_room(&self, x: &Matrix, len: usize) -> Result<(), Error> {
        match x.n_rows().checked_mul(self.n_scores()) {
            Some(n) if n == len => Ok(()),
            _ => Err(Error::request(format!(
                "out has {len} entries; {} rows of {} are needed",
                x.n_rows(),
                self.n_scores()
            ))),
        }
    }

    /// Whether the model has probabilities: its loss is one of probabilities, or it was calibrated.
    pub fn has_proba(&self) -> bool {
        self.about.report.loss == LossKind::Logistic || self.about.calibration.is_some()
    }

    /// The probability of every class, which sum to one; of every label, for multilabel models.
    pub fn proba(&self, x: &impl AsRef<Matrix>) -> Result<Table, Error> {
        self.proba_of_rows(self.fitting(x.as_ref())?)
    }

    /// As [`proba`](Self::proba), into a buffer of the caller's: row by row, [`n_scores`](Self::n_scores) numbers each.
    pub fn proba_into(&self, x: &impl AsRef<Matrix>, out: &mut [f64]) -> Result<(), Error> {
        let x = self.fitting(x.as_ref())?;
        self.check_room(x, out.len())?;
        out.copy_from_slice(&self.proba_of_rows(x)?.values);
        Ok(())
    }

    fn proba_of_rows(&self, x: &Matrix) -> Result<Table, Error> {
        if !self.has_proba() {
            return Err(Error::request(format!(
                "a model trained with the {} loss has no probabilities; train with spec.loss = logistic, or add spec.calibrate = platt",
                self.about.report.loss
            )));
        }
        let table = match &self.tree {
            Some(tree) => {
                let mut logs = self.tree_logs(tree, x);
                logs.values.iter_mut().for_each(|p| *p = p.exp());
                logs
            }
            None => self.proba_of(&self.raw_scores(x)),
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
    ///
    /// Rows are those of a dataset or of a [`Matrix`]; an error if they have not as many features as the model. The same call for every strategy:
    /// classes however they were reduced to columns, labels, numbers.
    ///
    /// ```
    /// use lineal::{Csr, Dataset, Matrix, Predicted, TrainSpec, lend, train};
    ///
    /// let data = Dataset::from_rows(&[[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]], &["flat", "flat", "tall", "tall"])?;
    /// let (model, _) = train(&data, &TrainSpec::default())?;
    /// assert_eq!(model.predict(&data)?, Predicted::Classes(vec![0, 0, 1, 1]));
    ///
    /// let (indptr, indices, values) = ([0i32, 1, 2], [0i32, 1], [9.0f32, 8.0]);
    /// let predicted = lend(|loan| {
    ///     let x = Csr::from_arrays(2, loan.buffer(&indptr), loan.buffer(&indices), loan.buffer(&values))?;
    ///     model.predict(&Matrix::Sparse(x))
    /// })?;
    /// assert_eq!(predicted, Predicted::Classes(vec![1, 0]));
    /// # Ok::<(), lineal::Error>(())
    /// ```
    pub fn predict(&self, x: &impl AsRef<Matrix>) -> Result<Predicted, Error> {
        Ok(self.predict_rows(self.fitting(x.as_ref())?))
    }

    fn predict_rows(&self, data: &Matrix) -> Predicted {
        let k = self.classes().len();
        match (self.task(), &self.tree) {
            (Task::Multilabel, _) => return Predicted::Labels(self.labels_above(data)),
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

    /// What scores are compared with, where that is not 0: one number for two classes, one for each label.
    pub(crate) fn cuts(&self) -> Option<Cut> {
        if self.task() != Task::Multilabel {
            return self.second_class_from().map(|at| match at {
                ClassThreshold::Score(at) | ClassThreshold::Logit(at) => Cut::Scores(vec![at]),
                ClassThreshold::Calibrated(..) => Cut::Calibrated,
            });
        }
        // Whether half of a probability is a score of 0.
        let is_even = self.about.calibration.as_ref().is_none_or(|c| c.kind() == Kind::Temperature);
        match (&self.about.thresholds, self.about.spec.threshold) {
            (Some(thresholds), _) => Some(Cut::Scores(thresholds.clone())),
            (None, Threshold::Fixed(p)) if self.about.calibration.is_none() => {
                Some(Cut::Scores(vec![(p / (1.0 - p)).ln(); self.classes().len()]))
            }
            (None, Threshold::Fixed(_)) => Some(Cut::Calibrated),
            (None, _) => (!is_even).then_some(Cut::Calibrated),
        }
    }

    fn labels_above(&self, data: &Matrix) -> Labels {
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
            (Some(thresholds), _) => above(&self.scores_of_rows(data), &|l, s| s >= thresholds[l]),
            (None, Threshold::Fixed(p)) => match self.proba_of_rows(data) {
                Ok(proba) => above(&proba, &|_, s| s > p),
                Err(_) => above(&self.scores_of_rows(data), &|_, s| s > (p / (1.0 - p)).ln()),
            },
            (None, _) if is_tree => above(&self.scores_of_rows(data), &|_, s| s > 0.5f64.ln()),
            (None, _) if self.about.calibration.is_some() => match self.proba_of_rows(data) {
                Ok(proba) => above(&proba, &|_, s| s > 0.5),
                Err(_) => above(&self.scores_of_rows(data), &|_, s| s > 0.0),
            },
            (None, _) => above(&self.scores_of_rows(data), &|_, s| s > 0.0),
        }
    }

    /// The `k` best classes or labels of each row with their probabilities (scores, where the model has none), best first. A tree finds them
    /// by a beam, without looking at all classes.
    pub fn top(&self, x: &impl AsRef<Matrix>, k: usize) -> Result<Vec<Vec<(u32, f64)>>, Error> {
        let data = self.fitting(x.as_ref())?;
        if let Some(tree) = self.tree.as_ref().filter(|_| self.about.sharpness == 1.0) {
            let mut best = self.tree_best(tree, data, k);
            if self.has_proba() {
                best.iter_mut().flatten().for_each(|b| b.1 = b.1.exp());
            }
            return Ok(best);
        }
        let table = match self.has_proba() {
            true => self.proba_of_rows(data)?,
            false => self.scores_of_rows(data),
        };
        Ok((0..table.n_rows).map(|i| highest(table.row(i), k)).collect())
    }

    /// One number per column of the weights: f alone for two classes.
    pub(crate) fn raw_scores(&self, x: &Matrix) -> Table {
        self.raw_scores_of(x, 0..x.n_rows())
    }

    /// The same of some rows.
    fn raw_scores_of(&self, x: &Matrix, rows: Range<usize>) -> Table {
        let (n_rows, n_cols) = (rows.len(), self.n_outputs());
        let mut values = vec![0.0; n_rows * n_cols];
        self.write_raw_scores(x, rows, &mut values);
        Table { n_rows, n_cols, values }
    }

    fn write_raw_scores(&self, x: &Matrix, rows: Range<usize>, out: &mut [f64]) {
        let model = Linear::new(self.n_features(), Classes(self.n_outputs()), self.about.spec.bias);
        with_weights!(self.weights, w => score_rows(w, &model, x, rows, out));
    }

    fn scores_of_rows(&self, x: &Matrix) -> Table {
        let k = self.n_scores();
        let mut values = vec![0.0; x.n_rows() * k];
        self.write_scores(x, &mut values);
        Table { n_rows: x.n_rows(), n_cols: k, values }
    }

    fn link(&self) -> NodeLink<'_> {
        match (&self.about.calibration, self.about.report.loss) {
            (Some(maps), _) => NodeLink::Calibrated(maps),
            (None, LossKind::Logistic) => NodeLink::Logistic,
            (None, _) => NodeLink::Margin,
        }
    }

    fn tree_logs(&self, tree: &LabelTree, x: &Matrix) -> Table {
        let (n_rows, n_cols) = (x.n_rows(), tree.n_outputs());
        let mut values = vec![0.0; n_rows * n_cols];
        self.write_tree_logs(tree, x, &mut values);
        Table { n_rows, n_cols, values }
    }

    fn write_tree_logs(&self, tree: &LabelTree, x: &Matrix, out: &mut [f64]) {
        fn all<F: Scalar>(
            tree: &LabelTree,
            w: &[F],
            link: &(impl Link + Sync),
            x: &Matrix,
            out: &mut [f64],
        ) {
            by_block(tree.n_outputs(), out, &|first, out| {
                let mut scratch = Scratch::<F>::default();
                for (i, out) in out.chunks_exact_mut(tree.n_outputs()).enumerate() {
                    tree.log_probas(x.row(first + i), w, link, &mut scratch, out);
                }
            });
        }
        let link = self.link();
        with_weights!(self.weights, w => all(tree, w, &link, x, out));
    }

    fn tree_best(&self, tree: &LabelTree, x: &Matrix, k: usize) -> Vec<Vec<(u32, f64)>> {
        let beam = self.about.spec.reduction.beam.max(k);
        let link = self.link();
        with_weights!(self.weights, w => {
            if x.n_rows() == 1 {
                let mut scratch = Scratch::default();
                return vec![tree.best(x.row(0), w, &link, (k, beam), &mut scratch)];
            }
            (0..x.n_rows())
                .into_par_iter()
                .map_init(Scratch::default, |s, i| tree.best(x.row(i), w, &link, (k, beam), s))
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

/// Where answers change.
pub(crate) enum Cut {
    /// At these scores.
    Scores(Vec<f64>),
    /// At a probability that scores are mapped to.
    Calibrated,
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
    by_row_into(from, k, &mut values, make);
    Table { n_rows: from.n_rows, n_cols: k, values }
}

fn by_row_into(from: &Table, k: usize, out: &mut [f64], make: impl Fn(&[f64], &mut [f64]) + Sync) {
    by_block(k, out, &|first, out| {
        for (i, out) in out.chunks_exact_mut(k).enumerate() {
            make(from.row(first + i), out);
        }
    });
}

/// Runs `f` with the first row and the numbers of each block of rows that have `k` numbers each. A single block stays on this thread: to wake another one takes longer than a few rows.
fn by_block(k: usize, out: &mut [f64], f: &(dyn Fn(usize, &mut [f64]) + Sync)) {
    let n = BLOCK * k.max(1);
    match out.len() <= n {
        true => f(0, out),
        false => out.par_chunks_mut(n).enumerate().for_each(|(b, out)| f(b * BLOCK, out)),
    }
}

fn score_rows<F: Scalar>(
    w: &[F],
    model: &Linear<Classes>,
    x: &Matrix,
    rows: Range<usize>,
    out: &mut [f64],
) {
    let k = lineal_model::Model::<F>::max_parts(model);
    by_block(k, out, &|first, out| {
        let mut scores = vec![F::ZERO; k];
        for (i, out) in out.chunks_exact_mut(k).enumerate() {
            model.scores(x.row(rows.start + first + i), w, &mut scores);
            out.iter_mut().zip(&scores).for_each(|(o, s)| *o = s.to_f64());
        }
    });
}
