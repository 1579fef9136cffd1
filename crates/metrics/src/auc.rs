//! Areas under curves of two classes.
//!
//! Under the ROC curve: the chance that a positive row scores above a negative one, ties counting half.
//!
//! With ranks r among all scores (the mean rank where scores are equal), n₁ positives and n₀ negatives,
//! AUC = (Σ r over positives − n₁(n₁+1)/2) / (n₁ n₀): Mann and Whitney's U.

use crate::Error;

/// The area, or `None` where all rows are positive or none is.
pub fn auc(positive: &[bool], scores: &[f64]) -> Result<Option<f64>, Error> {
    Error::unless_len("scores", positive.len(), scores.len())?;
    Error::unless_finite("score", scores)?;
    let n_positive = positive.iter().filter(|&&p| p).count();
    let n_negative = positive.len() - n_positive;
    if n_positive == 0 || n_negative == 0 {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    // Negatives passed so far stand below a positive; those of its own tie count half. Doubled, it is a whole number.
    let (mut doubled, mut below) = (0u128, 0u128);
    for tie in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let positives = tie.iter().filter(|&&i| positive[i]).count() as u128;
        let negatives = tie.len() as u128 - positives;
        doubled += positives * (2 * below + negatives);
        below += negatives;
    }
    Ok(Some(doubled as f64 / 2.0 / (n_positive as f64 * n_negative as f64)))
}

/// The area under the precision–recall curve by steps, Σ (Rₙ − Rₙ₋₁) Pₙ over falling thresholds; `None` where all rows are positive or
/// none is.
pub fn average_precision(positive: &[bool], scores: &[f64]) -> Result<Option<f64>, Error> {
    Error::unless_len("scores", positive.len(), scores.len())?;
    Error::unless_finite("score", scores)?;
    let n_positive = positive.iter().filter(|&&p| p).count();
    if n_positive == 0 || n_positive == positive.len() {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let (mut area, mut found, mut seen) = (0.0, 0, 0);
    for tie in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let positives = tie.iter().filter(|&&i| positive[i]).count();
        found += positives;
        seen += tie.len();
        area += positives as f64 / n_positive as f64 * (found as f64 / seen as f64);
    }
    Ok(Some(area))
}
