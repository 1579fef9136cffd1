//! One class per row: how often right, and at what cost.
//!
//! For class k let tp, fp, fn be its true positives, false positives and false negatives. Precision tp/(tp+fp), recall
//! tp/(tp+fn) and F1 = 2tp/(2tp+fp+fn) are 0 where their denominator is (scikit-learn's `zero_division=0`).
//! A row whose gold label the model has never seen is a mistake: a false positive of the class that was predicted, and a
//! false negative of a class that is never predicted.

use crate::{Error, ReliabilityBin, auc, average_precision, calibration};
use lineal_model::cost::CostMatrix;
use serde::Serialize;

/// The gold class of a row whose label the model does not know.
pub const UNSEEN: u32 = u32::MAX;

/// With more classes than this the confusion table is left out: 2,048² counts are 32 MB.
pub const MAX_CONFUSION: usize = 2048;

/// What is known of classified rows. The optional parts may be set by `..Classified::new(…)`.
#[derive(Clone, Copy, Debug)]
pub struct Classified<'a> {
    /// Number of classes K of the model.
    pub n_classes: usize,
    /// The true class of each row, or [`UNSEEN`].
    pub gold: &'a [u32],
    /// The predicted class of each row.
    pub predicted: &'a [u32],
    /// Row-major n × K probabilities, if the model gives any.
    pub proba: Option<&'a [f64]>,
    /// With two classes one score per row, higher for class 1, for `auc`. Without it the probabilities serve.
    pub scores: Option<&'a [f64]>,
    /// Δ(y, ŷ); without it every mistake costs 1.
    pub cost: Option<&'a CostMatrix>,
    /// How many different labels the unseen rows have. At least one is taken where there is such a row.
    pub unseen_classes: usize,
}

impl<'a> Classified<'a> {
    /// Gold and predicted classes, and nothing else.
    pub fn new(n_classes: usize, gold: &'a [u32], predicted: &'a [u32]) -> Self {
        Self {
            n_classes,
            gold,
            predicted,
            proba: None,
            scores: None,
            cost: None,
            unseen_classes: 0,
        }
    }
}

/// Metrics of classification. Rows count alike: example weights are of training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassifyMetrics {
    /// Fraction of rows with the right class.
    pub accuracy: f64,
    /// Mean F1 over the classes that are in gold or predicted, as scikit-learn's `average="macro"`. Each unseen label is
    /// such a class, with F1 0.
    pub macro_f1: f64,
    /// F1 of the counts of all classes together; with one class per row it equals the accuracy.
    pub micro_f1: f64,
    /// Mean −ln of the gold class's probability, which is taken as at least 1e-15 (and as that for an unseen label).
    pub log_loss: Option<f64>,
    /// Mean squared distance between the probabilities and the gold class, see [`Calibration`](crate::Calibration).
    pub brier: Option<f64>,
    /// Expected calibration error of the likeliest class, see [`Calibration`](crate::Calibration).
    pub ece: Option<f64>,
    /// Counts: one row per gold class, one column per predicted class. Without unseen labels; empty over [`MAX_CONFUSION`] classes.
    pub confusion: Vec<Vec<u64>>,
    /// Mean Δ(y, ŷ), or the error rate without a cost matrix. An unseen label costs as much as the dearest mistake
    /// that predicts ŷ.
    pub mean_cost: f64,
    /// Fraction of rows of the class that most rows have: the accuracy of predicting it always.
    pub baseline: f64,
    /// Area under the ROC curve of class 1, rows with unseen labels aside; `None` unless there are two classes, both in
    /// the data, and scores or probabilities.
    pub auc: Option<f64>,
    /// Area under the precision–recall curve of class 1 (average precision, as scikit-learn has it); `None` where `auc` is.
    pub pr_auc: Option<f64>,
    /// Matthews' correlation of gold and predicted classes, 0 for a guess and 1 for no mistake; 0 where all rows have, or get, one class.
    pub mcc: f64,
    /// Number of rows.
    pub examples: u64,
    /// Rows whose gold label the model does not know.
    pub unseen: u64,
    /// Scores of each class of the model.
    pub per_class: Vec<ClassScores>,
    /// The reliability diagram's points: bins that have rows, by rising confidence. Empty without probabilities.
    pub bins: Vec<ReliabilityBin>,
}

/// How well one class is found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassScores {
    /// The class.
    pub class: usize,
    /// Of the rows predicted as this class, the fraction that is.
    pub precision: f64,
    /// Of the rows of this class, the fraction that is predicted so.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Rows of this class.
    pub support: u64,
    /// Rows that are predicted as this class.
    pub predicted: u64,
}

/// Computes the metrics, after checking that the parts fit together.
pub fn classify(rows: &Classified<'_>) -> Result<ClassifyMetrics, Error> {
    check(rows)?;
    let counts = Counts::new(rows);
    let n = rows.gold.len() as f64;
    let n_right: u64 = counts.right.iter().sum();
    let accuracy = n_right as f64 / n;
    let per_class: Vec<ClassScores> = (0..rows.n_classes).map(|k| counts.scores(k)).collect();
    let calibration = rows.proba.map(|p| calibration(rows.n_classes, rows.gold, p)).transpose()?;
    let [auc, pr_auc] = binary_areas(rows)?;
    Ok(ClassifyMetrics {
        accuracy,
        baseline: counts.gold.iter().max().map_or(0.0, |&most| most as f64 / n),
        macro_f1: counts.macro_f1(&per_class, rows.unseen_classes),
        micro_f1: accuracy,
        log_loss: calibration.as_ref().map(|c| c.log_loss),
        brier: calibration.as_ref().map(|c| c.brier),
        ece: calibration.as_ref().map(|c| c.ece),
        confusion: confusion(rows),
        mean_cost: mean_cost(rows),
        auc,
        pr_auc,
        mcc: counts.correlation(),
        examples: rows.gold.len() as u64,
        unseen: counts.unseen,
        per_class,
        bins: calibration.map(|c| c.bins).unwrap_or_default(),
    })
}

fn check(rows: &Classified<'_>) -> Result<(), Error> {
    if rows.gold.is_empty() {
        return Err(Error::Empty);
    }
    Error::unless_len("predicted classes", rows.gold.len(), rows.predicted.len())?;
    for (what, classes) in [("gold", rows.gold), ("predicted", rows.predicted)] {
        let known = |y: u32| (y as usize) < rows.n_classes || (what == "gold" && y == UNSEEN);
        if let Some(i) = classes.iter().position(|&y| !known(y)) {
            return Err(Error::Class {
                row: i + 1,
                what,
                class: classes[i],
                n_classes: rows.n_classes,
            });
        }
    }
    if let Some(cost) = rows.cost {
        Error::unless_len("rows of the cost matrix", rows.n_classes, cost.n_classes())?;
    }
    Ok(())
}

/// Three numbers per class say all that F1 needs, also where a table of all pairs would be too large.
struct Counts {
    right: Vec<u64>,
    gold: Vec<u64>,
    predicted: Vec<u64>,
    unseen: u64,
}

impl Counts {
    fn new(rows: &Classified<'_>) -> Self {
        let zeros = vec![0; rows.n_classes];
        let mut counts =
            Self { right: zeros.clone(), gold: zeros.clone(), predicted: zeros, unseen: 0 };
        for (&y, &y_hat) in rows.gold.iter().zip(rows.predicted) {
            counts.predicted[y_hat as usize] += 1;
            if y == UNSEEN {
                counts.unseen += 1;
                continue;
            }
            counts.gold[y as usize] += 1;
            counts.right[y as usize] += u64::from(y == y_hat);
        }
        counts
    }

    fn scores(&self, class: usize) -> ClassScores {
        let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
        let (right, gold, predicted) = (self.right[class], self.gold[class], self.predicted[class]);
        ClassScores {
            class,
            precision: ratio(right, predicted),
            recall: ratio(right, gold),
            f1: ratio(2 * right, gold + predicted),
            support: gold,
            predicted,
        }
    }

    /// Matthews' correlation coefficient for K classes (Gorodkin 2004). Rows with unseen labels are of one class more.
    fn correlation(&self) -> f64 {
        let float = |counts: &[u64]| counts.iter().map(|&c| c as f64).collect::<Vec<f64>>();
        let (gold, predicted) = (float(&self.gold), float(&self.predicted));
        let n: f64 = predicted.iter().sum();
        let unseen = self.unseen as f64;
        let right: f64 = float(&self.right).iter().sum();
        let both: f64 = gold.iter().zip(&predicted).map(|(g, p)| g * p).sum();
        let spread_gold = n * n - gold.iter().map(|g| g * g).sum::<f64>() - unseen * unseen;
        let spread_predicted = n * n - predicted.iter().map(|p| p * p).sum::<f64>();
        let spread = (spread_gold * spread_predicted).sqrt();
        if spread > 0.0 { (right * n - both) / spread } else { 0.0 }
    }

    fn macro_f1(&self, per_class: &[ClassScores], unseen_classes: usize) -> f64 {
        let n_present =
            per_class.iter().filter(|s| s.support + self.predicted[s.class] > 0).count();
        let n_unseen = if self.unseen > 0 { unseen_classes.max(1) } else { 0 };
        // Absent classes have F1 0 and add nothing to the sum.
        per_class.iter().fold(0.0, |sum, s| sum + s.f1) / (n_present + n_unseen) as f64
    }
}

fn confusion(rows: &Classified<'_>) -> Vec<Vec<u64>> {
    if rows.n_classes > MAX_CONFUSION {
        return Vec::new();
    }
    let mut table = vec![vec![0; rows.n_classes]; rows.n_classes];
    for (&y, &y_hat) in rows.gold.iter().zip(rows.predicted) {
        if y != UNSEEN {
            table[y as usize][y_hat as usize] += 1;
        }
    }
    table
}

fn mean_cost(rows: &Classified<'_>) -> f64 {
    let cost = |y: u32, y_hat: u32| match rows.cost {
        None => f64::from(u8::from(y != y_hat)),
        Some(cost) if y != UNSEEN => cost.row(y)[y_hat as usize],
        Some(cost) => (0..rows.n_classes as u32)
            .fold(0.0, |dearest, y| cost.row(y)[y_hat as usize].max(dearest)),
    };
    let total =
        rows.gold.iter().zip(rows.predicted).fold(0.0, |sum, (&y, &y_hat)| sum + cost(y, y_hat));
    total / rows.gold.len() as f64
}

/// The areas under the ROC curve and under the precision–recall curve.
fn binary_areas(rows: &Classified<'_>) -> Result<[Option<f64>; 2], Error> {
    if rows.n_classes != 2 {
        return Ok([None; 2]);
    }
    let of_class_1 = |p: &[f64]| p.iter().skip(1).step_by(2).copied().collect::<Vec<f64>>();
    let Some(mut scores) = rows.scores.map(<[f64]>::to_vec).or_else(|| rows.proba.map(of_class_1))
    else {
        return Ok([None; 2]);
    };
    Error::unless_len("scores", rows.gold.len(), scores.len())?;
    let mut seen = rows.gold.iter().map(|&y| y != UNSEEN);
    scores.retain(|_| seen.next() == Some(true));
    let positive: Vec<bool> = rows.gold.iter().filter(|&&y| y != UNSEEN).map(|&y| y == 1).collect();
    Ok([auc(&positive, &scores)?, average_precision(&positive, &scores)?])
}
