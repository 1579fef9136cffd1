//! Labels one by one: how well each is found, and whether probabilities are what they say.

use lineal::metrics::{N_BINS, ReliabilityBin};
use lineal::{Dataset, Labels, Model, Predicted};

/// Probabilities that are held at once.
const AT_ONCE: usize = 1 << 22;

/// Counts of gold and predicted labels.
pub struct ByLabel {
    pub labels: Vec<LabelCounts>,
    /// How often a label is there, by its probability: bins that have any, by rising probability. Empty where the model
    /// has no probabilities.
    pub bins: Vec<ReliabilityBin>,
}

/// The rows of one label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelCounts {
    pub gold: u64,
    pub predicted: u64,
    pub right: u64,
}

impl LabelCounts {
    /// Precision, recall and F1; 0 where there is nothing to divide by.
    pub fn scores(self) -> [f64; 3] {
        let share = |of: u64| if of == 0 { 0.0 } else { self.right as f64 / of as f64 };
        let both = self.gold + self.predicted;
        let f1 = if both == 0 { 0.0 } else { 2.0 * self.right as f64 / both as f64 };
        [share(self.predicted), share(self.gold), f1]
    }
}

impl ByLabel {
    /// Predicts the rows again, some at a time: a table of all probabilities may be larger than the data.
    pub fn new(model: &Model, data: &Dataset, gold: &Labels) -> Result<Self, lineal::Error> {
        let n_labels = model.classes().len();
        let mut counts = vec![LabelCounts::default(); n_labels];
        let mut bins = [Bin::default(); N_BINS];
        let rows: Vec<usize> = (0..data.n_rows()).collect();
        for rows in rows.chunks((AT_ONCE / n_labels.max(1)).max(1)) {
            let part = data.select(rows);
            if let Predicted::Labels(predicted) = model.predict(&part)? {
                for (&i, predicted) in rows.iter().zip(predicted.iter()) {
                    count(&mut counts, gold.row(i), predicted);
                }
            }
            if model.has_proba() {
                let proba = model.proba(&part)?;
                for (at, &i) in rows.iter().enumerate() {
                    bin(&mut bins, gold.row(i), proba.row(at));
                }
            }
        }
        let bins = bins.iter().filter(|bin| bin.n > 0).map(Bin::point).collect();
        Ok(Self { labels: counts, bins })
    }
}

fn count(counts: &mut [LabelCounts], gold: &[u32], predicted: &[u32]) {
    // A label that training did not see has no place.
    for &label in gold {
        if let Some(of) = counts.get_mut(label as usize) {
            of.gold += 1;
        }
    }
    for &label in predicted {
        let of = &mut counts[label as usize];
        of.predicted += 1;
        of.right += u64::from(gold.binary_search(&label).is_ok());
    }
}

#[derive(Clone, Copy, Default)]
struct Bin {
    n: u64,
    yes: u64,
    proba: f64,
}

impl Bin {
    fn point(&self) -> ReliabilityBin {
        let n = self.n as f64;
        ReliabilityBin { confidence: self.proba / n, accuracy: self.yes as f64 / n, count: self.n }
    }
}

fn bin(bins: &mut [Bin; N_BINS], gold: &[u32], proba: &[f64]) {
    for (label, &p) in (0u32..).zip(proba) {
        let at = ((p * N_BINS as f64).ceil() as usize).clamp(1, N_BINS) - 1;
        bins[at].n += 1;
        bins[at].proba += p;
        bins[at].yes += u64::from(gold.binary_search(&label).is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_bins_by_hand() {
        let mut counts = vec![LabelCounts::default(); 3];
        count(&mut counts, &[0, 2, lineal::UNSEEN], &[0, 1]);
        count(&mut counts, &[0], &[]);
        assert_eq!(counts[0], LabelCounts { gold: 2, predicted: 1, right: 1 });
        assert_eq!(counts[0].scores(), [1.0, 0.5, 2.0 / 3.0]);
        assert_eq!(counts[1].scores(), [0.0; 3]);
        let mut bins = [Bin::default(); N_BINS];
        bin(&mut bins, &[1], &[0.0, 1.0, 0.5]);
        let (first, last) = (bins[0].point(), bins[N_BINS - 1].point());
        assert_eq!((first.count, first.accuracy, last.accuracy), (1, 0.0, 1.0));
    }
}
