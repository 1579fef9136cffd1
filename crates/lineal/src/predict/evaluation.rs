//! How a model did on labelled data when it was made, as its file keeps it: counts and curves in bounded size, and no rows.

use std::collections::BTreeMap;

use lineal_data::UNSEEN;
use lineal_metrics::{ClassScores, ClassifyMetrics, N_BINS, ReliabilityBin};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::predict::model::{Model, Table};
use crate::request::spec::Task;
use crate::{Dataset, Error, Targets};

/// Classes whose scores are kept, and with at most how many of them the table of confusions is.
const CLASSES: usize = 200;
const CONFUSION: usize = 50;
/// Confusions that are kept of more classes.
const PAIRS: usize = 40;
/// Classes that have curves, and points of all curves together.
const CURVES: usize = 30;
const POINTS: usize = 800;
/// Scores that curves are made of.
const SCORES: usize = 1 << 21;
/// Rows that nobody has.
const MOST: u64 = 1 << 50;
/// Scores that are held at once.
const AT_ONCE: usize = 1 << 22;

/// The metrics that were measured when the model was trained. They take less than 64 kB of the model file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The name of the data.
    pub source: String,
    /// The metrics that are single numbers, by their names in `eval --json`.
    pub metrics: BTreeMap<String, f64>,
    /// More about classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassEvaluation>,
}

/// Which classes were confused, and what other thresholds would change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassEvaluation {
    /// For each of the first 200 classes: the rows of this class, the rows that are predicted to be of it, and the rows that are both.
    pub counts: Vec<[u64; 3]>,
    /// Rows by true class and predicted class, if there are at most 50 classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
    /// With more classes, the most frequent confusions: rows, true class, predicted class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confused: Vec<(u64, usize, usize)>,
    /// Mean probability of the likeliest class, how often it was right, and in how many rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<(f64, f64, u64)>,
    /// Whether thresholds are probabilities, or scores.
    pub is_proba: bool,
    /// The second of two classes, or each of the first 30.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<ThresholdCurve>,
}

/// How the mistakes of one class change with the threshold on its score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdCurve {
    /// The class.
    pub class: usize,
    /// Rows of the class, and others.
    pub rows: [u64; 2],
    /// The area under the ROC curve.
    pub auc: f64,
    /// The area under the precision–recall curve.
    pub average_precision: f64,
    /// Thresholds in descending order, each with the number of rows of the class, and of other rows, that score at least as high.
    pub points: Vec<(f64, u64, u64)>,
}

impl Evaluation {
    /// Of data from `source`, from what `eval --json` would print.
    pub fn new(source: &str, metrics: &Value) -> Self {
        let numbers = metrics.as_object().into_iter().flatten();
        let numbers = numbers.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
        Self { source: source.to_owned(), metrics: numbers.collect(), classes: None }
    }

    /// Whether it can be of a model with so many classes; a file may claim anything.
    pub fn fits(&self, n_classes: usize) -> bool {
        self.classes.as_ref().is_none_or(|of| of.fits(n_classes))
    }
}

impl ClassEvaluation {
    /// From the metrics and the curves of a model's classes.
    pub fn new(metrics: &ClassifyMetrics, is_proba: bool, curves: Vec<ThresholdCurve>) -> Self {
        let right = |s: &ClassScores| (s.recall * s.support as f64).round() as u64;
        let counts = metrics.per_class.iter().take(CLASSES);
        let bin = |bin: &ReliabilityBin| (short(bin.confidence), short(bin.accuracy), bin.count);
        let has_table = metrics.confusion.len() <= CONFUSION;
        let most = POINTS / curves.len().max(1);
        Self {
            counts: counts.map(|s| [s.support, s.predicted, right(s)]).collect(),
            confusion: if has_table { metrics.confusion.clone() } else { Vec::new() },
            confused: if has_table { Vec::new() } else { confused(&metrics.confusion, PAIRS) },
            reliability: metrics.bins.iter().map(bin).collect(),
            is_proba,
            curves: curves.into_iter().map(|curve| curve.thinned(most)).collect(),
        }
    }

    fn fits(&self, n_classes: usize) -> bool {
        let table = &self.confusion;
        let is_count = |n: &u64| *n < MOST;
        self.counts.len() <= n_classes
            && self.counts.iter().flatten().all(is_count)
            && (table.is_empty() || table.len() == n_classes)
            && table.iter().all(|row| row.len() == n_classes && row.iter().all(is_count))
            && self.confused.iter().all(|&(_, y, y_hat)| y.max(y_hat) < n_classes)
            && self.reliability.len() <= N_BINS
            && self.reliability.iter().all(|bin| is_count(&bin.2))
            && self.curves.iter().all(|curve| curve.fits(n_classes))
    }

    /// How well each class is found.
    pub fn scores(&self) -> Vec<ClassScores> {
        let share = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
        let of = |(class, &[support, predicted, right]): (usize, &[u64; 3])| ClassScores {
            class,
            precision: share(right, predicted),
            recall: share(right, support),
            f1: share(right.saturating_mul(2), support.saturating_add(predicted)),
            support,
            predicted,
        };
        self.counts.iter().enumerate().map(of).collect()
    }

    /// The points of the reliability diagram.
    pub fn bins(&self) -> Vec<ReliabilityBin> {
        let bin =
            |&(confidence, accuracy, count): &_| ReliabilityBin { confidence, accuracy, count };
        self.reliability.iter().map(bin).collect()
    }
}

/// The pairs (rows, true class, predicted class) of a table that have most rows.
pub fn confused(table: &[Vec<u64>], n: usize) -> Vec<(u64, usize, usize)> {
    let mut pairs = Vec::new();
    for (y, counts) in table.iter().enumerate() {
        let wrong = counts.iter().enumerate().filter(|&(y_hat, &n)| y_hat != y && n > 0);
        pairs.extend(wrong.map(|(y_hat, &n)| (n, y, y_hat)));
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    pairs.truncate(n);
    pairs
}

/// Five digits, which is more than a chart shows.
fn short(x: f64) -> f64 {
    format!("{x:.4e}").parse().unwrap_or(x)
}

impl ThresholdCurve {
    /// From the scores of rows, and whether each is of the class. None where the class is in all rows or in none.
    pub fn new(class: usize, mut scores: Vec<(f64, bool)>) -> Option<Self> {
        scores.retain(|(score, _)| score.is_finite());
        scores.sort_by(|a, b| b.0.total_cmp(&a.0));
        let n_true = scores.iter().filter(|(_, is_it)| *is_it).count() as u64;
        let n_other = scores.len() as u64 - n_true;
        if n_true == 0 || n_other == 0 {
            return None;
        }
        // One point for each threshold that some row has.
        let mut points: Vec<(f64, u64, u64)> = Vec::new();
        let (mut tp, mut fp) = (0, 0);
        let (mut area, mut precision_sum) = (0.0, 0.0);
        let mut i = 0;
        while i < scores.len() {
            let (threshold, before) = (scores[i].0, (tp, fp));
            while i < scores.len() && scores[i].0 == threshold {
                tp += u64::from(scores[i].1);
                fp += u64::from(!scores[i].1);
                i += 1;
            }
            area += (fp - before.1) as f64 * (tp + before.0) as f64 / 2.0;
            precision_sum += (tp - before.0) as f64 * tp as f64 / (tp + fp) as f64;
            points.push((threshold, tp, fp));
        }
        Some(Self {
            class,
            rows: [n_true, n_other],
            auc: area / (n_true as f64 * n_other as f64),
            average_precision: precision_sum / n_true as f64,
            points,
        })
    }

    /// Some of the points, the first and the last among them.
    pub fn some_points(&self, most: usize) -> Vec<(f64, u64, u64)> {
        let every = self.points.len().div_ceil(most).max(1);
        let last = self.points.len() - 1;
        let points = self.points.iter().enumerate();
        points.filter(|(i, _)| i % every == 0 || *i == last).map(|(_, point)| *point).collect()
    }

    fn fits(&self, n_classes: usize) -> bool {
        let [n_true, n_other] = self.rows;
        let fits = |&(_, tp, fp): &(f64, u64, u64)| tp <= n_true && fp <= n_other;
        self.class < n_classes
            && n_true.max(n_other) < MOST
            && !self.points.is_empty()
            && self.points.iter().all(fits)
    }

    fn thinned(mut self, most: usize) -> Self {
        self.points = self.some_points(most.max(2) - 1);
        self.points.iter_mut().for_each(|point| point.0 = short(point.0));
        [self.auc, self.average_precision] = [short(self.auc), short(self.average_precision)];
        self
    }
}

impl Model {
    /// How the model did on labelled data when it was made, if that is known.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        self.about.evaluation.as_ref().filter(|kept| kept.fits(self.classes().len()))
    }

    /// From now on its file says how it did on labelled data.
    pub fn keep_evaluation(&mut self, evaluation: Evaluation) {
        self.about.evaluation = Some(evaluation);
    }

    /// What thresholds trade on labelled rows: for the second of two classes, or for each of the first 30. Of very many rows, some are taken.
    pub fn threshold_curves(&self, data: &Dataset) -> Result<Vec<ThresholdCurve>, Error> {
        let (Targets::Classes(gold), Task::Classify) = (&data.y, self.task()) else {
            return Ok(Vec::new());
        };
        let k = self.classes().len();
        // Of two classes one curve says it all.
        let shown: Vec<usize> = if k == 2 { vec![1] } else { (0..k.min(CURVES)).collect() };
        let every = (data.n_rows() * shown.len()).div_ceil(SCORES).max(1);
        let known = |i: &usize| gold[*i] != UNSEEN;
        let rows: Vec<usize> = (0..data.n_rows()).step_by(every).filter(known).collect();
        let mut scores: Vec<Vec<(f64, bool)>> = vec![Vec::new(); shown.len()];
        for rows in rows.chunks((AT_ONCE / k.max(1)).max(1)) {
            let part = data.select(rows);
            let table = if self.has_proba() { self.proba(&part)? } else { self.scores(&part)? };
            for (at, &i) in rows.iter().enumerate() {
                for (scores, &class) in scores.iter_mut().zip(&shown) {
                    scores.push((score_of(&table, at, class), gold[i] as usize == class));
                }
            }
        }
        let curves = scores.into_iter().zip(shown);
        Ok(curves.filter_map(|(scores, class)| ThresholdCurve::new(class, scores)).collect())
    }
}

/// Two classes may have one score, that of the second.
fn score_of(table: &Table, row: usize, class: usize) -> f64 {
    match table.row(row) {
        [score] if class == 0 => -score,
        [score] => *score,
        scores => scores.get(class).copied().unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_counts_ties_once() {
        let scores = vec![(0.9, true), (0.5, true), (0.5, false), (0.1, false)];
        let curve = ThresholdCurve::new(1, scores).unwrap();
        assert_eq!(curve.points, [(0.9, 1, 0), (0.5, 2, 1), (0.1, 2, 2)]);
        // scikit-learn 1.5: roc_auc_score and average_precision_score of these.
        assert_eq!(curve.auc, 0.875);
        assert!((curve.average_precision - (0.5 + 0.5 * 2.0 / 3.0)).abs() < 1e-12);
        assert!(ThresholdCurve::new(0, vec![(0.1, true)]).is_none());
    }

    /// The largest that there can be, with counts of nine digits.
    fn largest(k: usize) -> ClassEvaluation {
        let n = 123_456_789;
        let scores = |class| ClassScores {
            class,
            precision: 0.5,
            recall: 0.5,
            f1: 0.5,
            support: n,
            predicted: n,
        };
        let bin = |i: usize| ReliabilityBin {
            confidence: 1.0 / (i + 3) as f64,
            accuracy: 1.0 / 7.0,
            count: n,
        };
        let metrics = ClassifyMetrics {
            accuracy: 0.5,
            macro_f1: 0.5,
            micro_f1: 0.5,
            log_loss: None,
            brier: None,
            ece: None,
            confusion: vec![vec![n; k]; k],
            mean_cost: 0.5,
            baseline: 0.5,
            auc: None,
            pr_auc: None,
            mcc: 0.5,
            examples: n,
            unseen: 0,
            per_class: (0..k).map(scores).collect(),
            bins: (0..N_BINS).map(bin).collect(),
        };
        let curve = |class| ThresholdCurve {
            class,
            rows: [n, n],
            auc: 1.0 / 3.0,
            average_precision: 1.0 / 3.0,
            points: (0..5000).map(|i| (-1e-9 / f64::from(i + 3), n, n)).collect(),
        };
        let n_curves = if k == 2 { 1 } else { k.min(CURVES) };
        ClassEvaluation::new(&metrics, true, (0..n_curves).map(curve).collect())
    }

    #[test]
    fn it_is_small_whatever_it_is_of() {
        for k in [2, 3, 30, CONFUSION, CONFUSION + 1, 2000] {
            let kept = largest(k);
            assert!(kept.fits(k) && !kept.fits(1), "{k}");
            let bytes = serde_json::to_vec(&kept).unwrap();
            assert!(bytes.len() < 64_000, "{k} classes: {} bytes", bytes.len());
            assert_eq!(serde_json::from_slice::<ClassEvaluation>(&bytes).unwrap(), kept);
            let ends = [kept.curves[0].points[0].0, kept.curves[0].points.last().unwrap().0];
            assert_eq!(ends, [short(-1e-9 / 3.0), short(-1e-9 / 5002.0)]);
        }
    }

    #[test]
    fn what_a_file_claims_must_fit() {
        let mut bad = largest(3);
        bad.confused = vec![(1, 0, 3)];
        let mut narrow = largest(3);
        narrow.confusion[1].pop();
        let mut empty = largest(3);
        empty.curves[0].points.clear();
        let mut many = largest(3);
        many.curves[0].points[0].1 = 1 << 40;
        for kept in [bad, narrow, empty, many] {
            let kept = Evaluation { classes: Some(kept), ..Evaluation::default() };
            assert!(!kept.fits(3));
        }
    }
}
