//! Why an output won: what its parts add to its lead.

/// A feature by which the best output and its rival differ.
#[derive(Clone, Debug, PartialEq)]
pub struct PartReason {
    /// The feature: its template and what it found; empty where the part itself has a weight.
    pub feature: String,
    /// The part that has it: `arcs: saw → dog`, `NP over words 4-7`.
    pub part: String,
    /// What it adds to the lead: its weight times how much more of it the best output has.
    pub amount: f64,
}

/// Those that add something, largest first.
pub fn sorted(mut reasons: Vec<PartReason>) -> Vec<PartReason> {
    reasons.retain(|reason| reason.amount != 0.0);
    reasons.sort_by(|a, b| b.amount.abs().total_cmp(&a.amount.abs()));
    reasons
}
