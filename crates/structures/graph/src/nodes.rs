//! Features of the nodes of a graph.

use lineal_linalg::Scalar;

/// The features of the nodes of one example, in whatever form they are kept.
///
/// With K labels the weight of feature j for label k is `w[j·K + k]`, and the score of node i for label k is `scores[i·K + k]`.
pub trait NodeFeatures: Sync {
    /// How many nodes.
    fn n_nodes(&self) -> usize;
    /// How many features a node has.
    fn n_features(&self) -> usize;
    /// `into[i·K + k] += scale · ⟨w_k, xᵢ⟩`.
    fn scores<F: Scalar>(&self, w: &[F], n_labels: usize, scale: F, into: &mut [F]);
    /// `into[j·K + k] += Σᵢ xᵢⱼ · g[i·K + k]`.
    fn accumulate<F: Scalar>(&self, g: &[F], n_labels: usize, into: &mut [F]);
    /// `f(feature, value)` for the features of a node that are not 0.
    fn each<F: Scalar>(&self, node: usize, f: impl FnMut(usize, f32));
}
