//! From the probabilities of binary questions to probabilities of K classes that sum to one.
//!
//! - [`one_vs_all`]: K answers "class k?", brought to a sum of one.
//! - [`pairwise`], [`Pairs`]: answers "class a, not b?" of all pairs, or of some.
//! - [`CodeColumns`]: answers of an output code, a set of classes against another.
//! - [`Paths`]: answers at the nodes of a tree.
//!
//! Answers may be any numbers: they are brought into [0, 1], and NaN is taken for ½.

mod code;
mod one_vs_all;
mod pairs;
mod pairwise;
mod tree;

pub use code::CodeColumns;
pub use one_vs_all::one_vs_all;
pub use pairs::Pairs;
pub use pairwise::pairwise;
pub use tree::Paths;

/// Buffers, to be kept between calls. Any of the couplings may use any scratch.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    matrix: Vec<f64>,
    product: Vec<f64>,
    ratio: Vec<f64>,
}

/// A probability at least `margin` away from certainty.
fn tame(p: f64, margin: f64) -> f64 {
    if p.is_nan() { 0.5 } else { p.clamp(margin, 1.0 - margin) }
}

/// Zeros of this length.
fn cleared(buffer: &mut Vec<f64>, len: usize) -> &mut [f64] {
    buffer.clear();
    buffer.resize(len, 0.0);
    buffer
}
