//! Output spaces: what can be predicted, as parts, with the oracles that losses need.

mod binary;
mod classes;
mod columns;
mod real;

pub use binary::Binary;
pub use classes::Classes;
pub use columns::{Columns, Signs};
pub use real::Real;

use lineal_linalg::Scalar;

/// A set of outputs, each a vector of parts.
pub trait OutputSpace<F>: Copy + Send + Sync {
    /// An output as users know it.
    type Output: Copy + PartialEq + Send + Sync + std::fmt::Debug;
    /// Length of a score vector.
    fn n_parts(&self) -> usize;
    /// The output of the highest score; the lowest class among equals.
    fn decode(&self, scores: &[F]) -> Self::Output;
}

/// A space of finitely many outputs, with score ⟨θ, μ(y)⟩.
pub trait Discrete<F: Scalar>: OutputSpace<F> {
    /// `parts += a·μ(y)`.
    fn add_parts(&self, y: Self::Output, a: F, parts: &mut [F]);
    /// ⟨scores, μ(y)⟩.
    fn score(&self, scores: &[F], y: Self::Output) -> F;
    /// The highest score; its output's parts overwrite `parts`.
    fn max(&self, scores: &[F], parts: &mut [F]) -> F;
}

/// A space that can sum over its outputs.
pub trait Marginals<F: Scalar>: Discrete<F> {
    /// ln Σ_y exp ⟨scores, μ(y)⟩; the expected parts overwrite `parts`.
    fn log_sum_exp(&self, scores: &[F], parts: &mut [F]) -> F;
    /// `out = Cov(μ) dir` under the distribution whose expected parts are `mean`.
    fn cov_vec(&self, mean: &[F], dir: &[F], out: &mut [F]);
    /// The diagonal of Cov(μ).
    fn cov_diag(&self, mean: &[F], out: &mut [F]);
}
