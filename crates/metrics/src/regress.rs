//! A number a row: how far off.

use crate::Error;
use serde::Serialize;

/// Metrics of regression.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegressMetrics {
    /// Square root of the mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// 1 − Σ(y − ŷ)² / Σ(y − ȳ)²: 1 is perfect, 0 is what predicting the mean gives, and it can be any amount below.
    ///
    /// `None` for a single row, which has no variance. Where all gold values are equal it is 1 if the predictions
    /// are too, else 0, as scikit-learn has it.
    pub r2: Option<f64>,
    /// Number of rows.
    pub examples: u64,
}

/// Computes the metrics; values must be finite, and so must the sum of squared errors.
pub fn regress(gold: &[f64], predicted: &[f64]) -> Result<RegressMetrics, Error> {
    if gold.is_empty() {
        return Err(Error::Empty);
    }
    Error::unless_len("predictions", gold.len(), predicted.len())?;
    Error::unless_finite("gold value", gold)?;
    Error::unless_finite("prediction", predicted)?;

    let n = gold.len() as f64;
    // Each is divided before the sum, lest large values overflow.
    let mean = gold.iter().fold(0.0, |sum, y| sum + y / n);
    let (mut absolute, mut squared, mut variation) = (0.0, 0.0, 0.0);
    let constant = gold.iter().all(|&y| y == gold[0]);
    for (row, (y, y_hat)) in gold.iter().zip(predicted).enumerate() {
        let error = y - y_hat;
        absolute += error.abs();
        squared += error * error;
        variation += (y - mean) * (y - mean);
        if !(squared + variation).is_finite() {
            return Err(Error::Value { row: row + 1, what: "squared error", value: f64::INFINITY });
        }
    }
    let r2 = if gold.len() == 1 {
        None
    } else if constant || variation == 0.0 {
        // `mean` may differ from a constant by a rounding, and the ratio would be noise.
        Some(if squared == 0.0 { 1.0 } else { 0.0 })
    } else {
        Some(1.0 - squared / variation).filter(|r2| r2.is_finite())
    };
    Ok(RegressMetrics {
        rmse: (squared / n).sqrt(),
        mae: absolute / n,
        r2,
        examples: gold.len() as u64,
    })
}
