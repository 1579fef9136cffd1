//! Are the probabilities true? Log loss, Brier score, and the reliability of the likeliest class.

use crate::{Error, UNSEEN};
use serde::Serialize;

/// Bins of equal width in the expected calibration error.
pub const N_BINS: usize = 15;

/// A probability is taken as at least this, so that one row cannot make the log loss infinite.
const LEAST: f64 = 1e-15;

/// How far probabilities are from what happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Mean −ln p of the gold class, with p taken as at least 1e-15.
    pub log_loss: f64,
    /// Mean over rows of Σ_k (p_k − y_k)², where y is the one-hot gold class; between 0 and 2.
    ///
    /// With two classes half of that, (p₁ − y)², between 0 and 1: the binary definition, as in scikit-learn's
    /// `brier_score_loss`. An unseen label is one more class, which got probability 0.
    pub brier: f64,
    /// Mean over rows of |confidence − accuracy| of the row's bin (Guo et al., 2017).
    pub ece: f64,
    /// The bins that have rows, by rising confidence.
    pub bins: Vec<ReliabilityBin>,
}

/// Rows whose likeliest class has about the same probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// Mean probability of the likeliest class.
    pub confidence: f64,
    /// How often it was the gold class.
    pub accuracy: f64,
    /// Rows.
    pub count: u64,
}

/// Compares row-major n × K probabilities with gold classes.
///
/// The calibration error is of the likeliest class (the lowest among equals), which is not the predicted one where
/// predictions minimise expected cost. Bin b of [`N_BINS`] holds confidences in (b/N, (b+1)/N].
pub fn calibration(n_classes: usize, gold: &[u32], proba: &[f64]) -> Result<Calibration, Error> {
    if gold.is_empty() || n_classes == 0 {
        return Err(Error::Empty);
    }
    Error::unless_len("probabilities", gold.len().saturating_mul(n_classes), proba.len())?;
    // A sum of roundings may end a hair above 1.
    if let Some(i) = proba.iter().position(|p| !(0.0..=1.0 + 1e-6).contains(p)) {
        return Err(Error::Value { row: i / n_classes + 1, what: "probability", value: proba[i] });
    }

    let (mut log_loss, mut brier) = (0.0, 0.0);
    let mut bins = vec![Bin::default(); N_BINS];
    for (row, (&y, p)) in gold.iter().zip(proba.chunks_exact(n_classes)).enumerate() {
        let p_gold = match p.get(y as usize) {
            Some(p) => p.min(1.0),
            None if y == UNSEEN => 0.0,
            None => return Err(Error::Class { row: row + 1, what: "gold", class: y, n_classes }),
        };
        log_loss -= p_gold.max(LEAST).ln();
        // Summed apart from the gold term: Σ p_k² − 2 p_y + 1 loses its digits where p_y is near 1.
        let others = p.iter().enumerate().filter(|&(k, _)| k != y as usize);
        brier += others.fold((1.0 - p_gold) * (1.0 - p_gold), |sum, (_, p)| sum + p * p);

        let (top, confidence) = p
            .iter()
            .enumerate()
            .fold((0, 0.0), |best, (k, &p)| if p > best.1 { (k, p) } else { best });
        let bin = ((confidence * N_BINS as f64).ceil() as usize).clamp(1, N_BINS) - 1;
        bins[bin].count += 1;
        bins[bin].confidence += confidence.min(1.0);
        bins[bin].right += u64::from(top as u32 == y);
    }

    let n = gold.len() as f64;
    let distance = bins.iter().fold(0.0, |sum, b| sum + (b.confidence - b.right as f64).abs());
    Ok(Calibration {
        log_loss: log_loss / n,
        brier: brier / n / if n_classes == 2 { 2.0 } else { 1.0 },
        ece: distance / n,
        bins: bins.iter().filter(|b| b.count > 0).map(Bin::mean).collect(),
    })
}

/// Sums over the rows of a bin.
#[derive(Clone, Default)]
struct Bin {
    confidence: f64,
    right: u64,
    count: u64,
}

impl Bin {
    fn mean(&self) -> ReliabilityBin {
        let n = self.count as f64;
        ReliabilityBin {
            confidence: self.confidence / n,
            accuracy: self.right as f64 / n,
            count: self.count,
        }
    }
}
