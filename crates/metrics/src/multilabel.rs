//! A set of labels a row: how far the predicted sets are from the gold ones, and how well labels are ranked.
//!
//! With tp, fp, fn the true positives, false positives and false negatives of a label, its F1 is 2tp/(2tp+fp+fn), and 0
//! where that is 0/0 (scikit-learn's `zero_division=0`). Micro F1 is that of the counts of all labels together, macro F1
//! the mean over labels: all L of the model, also those that are nowhere in the data, as scikit-learn has it for an
//! indicator matrix of L columns.
//!
//! A gold label that the model has never seen ([`UNSEEN`]) is a missed positive of a label of its own, which is never
//! predicted nor ranked: a further column of that matrix, with F1 0.
//!
//! Rows without gold labels are legal. Such a row is right for subset accuracy if nothing was predicted, its P@k is 0 (and
//! it counts in the mean), and nDCG leaves it out, because it has no ideal order.

mod top;

use crate::{Error, UNSEEN};
use serde::Serialize;
use top::Ranked;

/// A list of labels a row: row i has `ids[start[i]..start[i + 1]]`, in any order, as a set.
#[derive(Clone, Copy, Debug)]
pub struct LabelLists<'a> {
    /// Where each row starts, and where the last one ends: n + 1 numbers, rising from 0.
    pub start: &'a [usize],
    /// The labels of all rows. [`UNSEEN`] may stand among gold ones, once for each label that the model does not know.
    pub ids: &'a [u32],
}

/// Which labels a row should have first.
#[derive(Clone, Copy, Debug)]
pub enum Ranking<'a> {
    /// Row-major n × `width`, best first, for models that look at no more than these. At least 5, or all labels. After a
    /// list that ends early stands [`UNSEEN`].
    Top {
        /// Labels a row.
        width: usize,
        /// Their numbers.
        ids: &'a [u32],
    },
    /// Row-major n × L; among equal scores the lowest label comes first. Infinite scores are legal, NaN is not.
    Scores(&'a [f64]),
}

/// What is known of rows with labels.
#[derive(Clone, Copy, Debug)]
pub struct MultilabelRows<'a> {
    /// Number of labels L of the model.
    pub n_labels: usize,
    /// The true labels.
    pub gold: LabelLists<'a>,
    /// The predicted labels.
    pub predicted: LabelLists<'a>,
    /// The order in which labels are proposed.
    pub ranked: Ranking<'a>,
    /// How many different labels the unseen ones are. As many as a row has are taken at least.
    pub unseen_labels: usize,
}

impl<'a> MultilabelRows<'a> {
    /// Rows, and nothing said of how many labels the unseen ones are.
    pub fn new(
        n_labels: usize,
        gold: LabelLists<'a>,
        predicted: LabelLists<'a>,
        ranked: Ranking<'a>,
    ) -> Self {
        Self { n_labels, gold, predicted, ranked, unseen_labels: 0 }
    }
}

/// Metrics of multilabel prediction. Rows count alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MultilabelMetrics {
    /// F1 of the counts of all labels together.
    pub micro_f1: f64,
    /// Mean F1 over labels, those without any gold or predicted row included (0).
    pub macro_f1: f64,
    /// Fraction of the n × L yes-or-no answers that are wrong.
    pub hamming_loss: f64,
    /// Fraction of rows whose predicted set is the gold set.
    pub subset_accuracy: f64,
    /// Mean over rows of (gold labels among the first 1).
    #[serde(rename = "p@1")]
    pub p_at_1: f64,
    /// Mean over rows of (gold labels among the first 3) / 3, also where a row or the model has fewer labels.
    #[serde(rename = "p@3")]
    pub p_at_3: f64,
    /// Mean over rows of (gold labels among the first 5) / 5.
    #[serde(rename = "p@5")]
    pub p_at_5: f64,
    /// Mean over rows with gold labels of DCG@5 / ideal DCG@5, where DCG@5 = Σ 1/log₂(rank + 1) over the gold labels among the
    /// first 5 and the ideal has min(5, gold labels) of them first. `None` where no row has a gold label.
    #[serde(rename = "ndcg@5")]
    pub ndcg_at_5: Option<f64>,
    /// Number of rows.
    pub examples: u64,
    /// Number of labels of the model.
    pub labels: u64,
    /// Gold labels that the model does not know, over all rows.
    pub unseen: u64,
}

/// Computes the metrics, after checking that the parts fit together.
pub fn multilabel(rows: &MultilabelRows<'_>) -> Result<MultilabelMetrics, Error> {
    let n_rows = check(rows)?;
    let mut ranked = Ranked::new(rows, n_rows)?;
    let mut counts = Counts::new(rows.n_labels);
    for row in 0..n_rows {
        let n_gold = counts.add_row(row, rows.gold.row(row), rows.predicted.row(row));
        ranked.add_row(row, n_gold, |label| counts.is_gold(row, label));
    }

    let n = n_rows as f64;
    let n_columns = rows.n_labels + rows.unseen_labels.max(counts.most_unseen);
    let wrong = counts.gold + counts.predicted - 2 * counts.right;
    Ok(MultilabelMetrics {
        micro_f1: f1(counts.right, counts.gold, counts.predicted),
        macro_f1: counts.per_label.iter().fold(0.0, |sum, c| sum + f1(c[0], c[1], c[2]))
            / n_columns as f64,
        hamming_loss: wrong as f64 / (n * n_columns as f64),
        subset_accuracy: counts.exact as f64 / n,
        p_at_1: ranked.precision(1),
        p_at_3: ranked.precision(3),
        p_at_5: ranked.precision(5),
        ndcg_at_5: ranked.ndcg(),
        examples: n_rows as u64,
        labels: rows.n_labels as u64,
        unseen: counts.unseen,
    })
}

impl<'a> LabelLists<'a> {
    fn row(&self, row: usize) -> &'a [u32] {
        &self.ids[self.start[row]..self.start[row + 1]]
    }

    fn check(&self, what: &'static str, n_labels: usize) -> Result<(), Error> {
        let rises = self.start.windows(2).all(|pair| pair[0] <= pair[1]);
        let ends = (self.start.first(), self.start.last()) == (Some(&0), Some(&self.ids.len()));
        if !(rises && ends) {
            return Err(Error::Lists { what });
        }
        let known = |id: u32| (id as usize) < n_labels || (what == "gold" && id == UNSEEN);
        match self.ids.iter().position(|&id| !known(id)) {
            None => Ok(()),
            Some(i) => {
                let row = self.start.partition_point(|&start| start <= i);
                Err(Error::Label { row, what, label: self.ids[i], n_labels })
            }
        }
    }
}

/// The number of rows, if everything fits.
fn check(rows: &MultilabelRows<'_>) -> Result<usize, Error> {
    rows.gold.check("gold", rows.n_labels)?;
    rows.predicted.check("predicted", rows.n_labels)?;
    let n_rows = rows.gold.start.len() - 1;
    if n_rows == 0 || rows.n_labels == 0 {
        return Err(Error::Empty);
    }
    Error::unless_len("rows of predicted labels", n_rows, rows.predicted.start.len() - 1)?;
    Ok(n_rows)
}

fn f1(right: u64, gold: u64, predicted: u64) -> f64 {
    if gold + predicted == 0 { 0.0 } else { 2.0 * right as f64 / (gold + predicted) as f64 }
}

/// Sums over rows. A row's set is kept as one stamp per label, so that a row costs as much as it has labels, not L.
struct Counts {
    /// Right, gold and predicted, by label.
    per_label: Vec<[u64; 3]>,
    /// The last row, from 1, that has the label in gold, and in predicted.
    stamps: Vec<[usize; 2]>,
    right: u64,
    gold: u64,
    predicted: u64,
    exact: u64,
    unseen: u64,
    /// Unseen labels of the row that has most of them.
    most_unseen: usize,
}

impl Counts {
    fn new(n_labels: usize) -> Self {
        Self {
            per_label: vec![[0; 3]; n_labels],
            stamps: vec![[0; 2]; n_labels],
            right: 0,
            gold: 0,
            predicted: 0,
            exact: 0,
            unseen: 0,
            most_unseen: 0,
        }
    }

    /// Counts a row and returns how many gold labels it has.
    fn add_row(&mut self, row: usize, gold: &[u32], predicted: &[u32]) -> usize {
        let stamp = row + 1;
        let (mut n_gold, mut n_predicted, mut n_right, mut n_unseen) = (0, 0, 0, 0);
        for &id in gold {
            let Some(stamps) = self.stamps.get_mut(id as usize) else {
                n_unseen += 1;
                continue;
            };
            if stamps[0] != stamp {
                stamps[0] = stamp;
                n_gold += 1;
                self.per_label[id as usize][1] += 1;
            }
        }
        for &id in predicted {
            let stamps = &mut self.stamps[id as usize];
            if stamps[1] != stamp {
                stamps[1] = stamp;
                n_predicted += 1;
                let right = u64::from(stamps[0] == stamp);
                n_right += right;
                self.per_label[id as usize][0] += right;
                self.per_label[id as usize][2] += 1;
            }
        }
        n_gold += n_unseen;
        self.right += n_right;
        self.gold += n_gold;
        self.predicted += n_predicted;
        self.exact += u64::from(n_right == n_gold && n_right == n_predicted);
        self.unseen += n_unseen;
        self.most_unseen = self.most_unseen.max(n_unseen as usize);
        n_gold as usize
    }

    /// Whether the row that was added last has this gold label.
    fn is_gold(&self, row: usize, label: u32) -> bool {
        self.stamps.get(label as usize).is_some_and(|stamps| stamps[0] == row + 1)
    }
}
