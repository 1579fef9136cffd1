//! Features of nodes: what a problem asks of them, and rows of a matrix as such features.

use lineal_linalg::{Matrix, Scalar, kernels};

/// The features of the nodes of one example. Weights are feature-major with the labels contiguous: feature j of label k is `w[j · n_labels + k]`.
pub trait NodeFeatures: Sync {
    /// How many nodes.
    fn n_nodes(&self) -> usize;
    /// How many features a node has.
    fn n_features(&self) -> usize;
    /// `into[node · n_labels + label] += scale · ⟨w_label, x_node⟩`.
    fn scores<F: Scalar>(&self, w: &[F], n_labels: usize, scale: F, into: &mut [F]);
    /// `into[feature · n_labels + label] += Σ over nodes of g[node · n_labels + label] · x_node[feature]`. Nodes whose g is 0 cost nothing.
    fn accumulate<F: Scalar>(&self, g: &[F], n_labels: usize, into: &mut [F]);
    /// `f(feature, value)` for the features of a node that are not 0.
    fn each(&self, node: usize, f: impl FnMut(usize, f32));
}

/// Nodes are rows, dense or sparse.
impl NodeFeatures for Matrix {
    fn n_nodes(&self) -> usize {
        self.n_rows()
    }

    fn n_features(&self) -> usize {
        self.n_cols()
    }

    fn scores<F: Scalar>(&self, w: &[F], n_labels: usize, scale: F, into: &mut [F]) {
        let mut of_row = vec![F::ZERO; n_labels];
        for (node, into) in into.chunks_exact_mut(n_labels).enumerate().take(self.n_rows()) {
            kernels::scores(self.row(node), w, &mut of_row);
            into.iter_mut().zip(&of_row).for_each(|(into, &score)| *into += scale * score);
        }
    }

    fn accumulate<F: Scalar>(&self, g: &[F], n_labels: usize, into: &mut [F]) {
        for (node, g) in g.chunks_exact(n_labels).enumerate().take(self.n_rows()) {
            if g.iter().any(|&g| g != F::ZERO) {
                kernels::add_outer(self.row(node), g, into);
            }
        }
    }

    fn each(&self, node: usize, f: impl FnMut(usize, f32)) {
        self.row(node).for_each(f);
    }
}

/// Borrowed features.
impl<N: NodeFeatures> NodeFeatures for &N {
    fn n_nodes(&self) -> usize {
        (**self).n_nodes()
    }

    fn n_features(&self) -> usize {
        (**self).n_features()
    }

    fn scores<F: Scalar>(&self, w: &[F], n_labels: usize, scale: F, into: &mut [F]) {
        (**self).scores(w, n_labels, scale, into);
    }

    fn accumulate<F: Scalar>(&self, g: &[F], n_labels: usize, into: &mut [F]) {
        (**self).accumulate(g, n_labels, into);
    }

    fn each(&self, node: usize, f: impl FnMut(usize, f32)) {
        (**self).each(node, f);
    }
}
