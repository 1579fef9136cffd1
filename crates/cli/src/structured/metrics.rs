//! Cells of tables of metrics.

use crate::talk::thousands;

/// A share, or a dash.
pub fn maybe(x: Option<f64>) -> String {
    x.map_or("–".to_owned(), |x| format!("{x:.4}"))
}

/// The header above [`shares`].
pub fn shares_header(what: &str) -> Vec<String> {
    [what, "precision", "recall", "F1", "gold", "found", "right"].map(str::to_owned).to_vec()
}

/// Precision, recall and F1 of something, with how many there are: gold, found, right.
pub fn shares(name: &str, shares: [f64; 3], counts: [u64; 3]) -> Vec<String> {
    let shares = shares.map(|x| format!("{x:.4}"));
    let counts = counts.map(|n| thousands(n as usize));
    [name.to_owned()].into_iter().chain(shares).chain(counts).collect()
}
