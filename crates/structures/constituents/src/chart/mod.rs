//! Charts: the best derivation, sums over all, and the best few, for given scores of spans and pairs. They know nothing of features.

mod k_best;
mod max;
mod scored;
mod spans;
mod sums;

pub(crate) use k_best::Ranking;
pub use max::MaxChart;
pub(crate) use scored::Scored;
pub use spans::Spans;
pub(crate) use sums::Expected;
pub use sums::SumChart;
