//! Where the weights lie, and scores of an example by them.
//!
//! ```text
//! score(y) = Σᵢ ⟨w_{yᵢ}, (xᵢ, bias)⟩ − Σ over edges of ⟨v, f⟩·[yᵢ ≠ yⱼ],        f ≥ 0, v ≥ 0
//! weights    nodes: feature-major, labels contiguous, the bias as the last feature; then v
//! ```
//!
//! Two labels have one vector in all, as binary problems have: it scores label 1, and label 0 scores 0. The bias is a feature of a fixed value, penalised like the others, so that the dual solver can learn it; a larger
//! value makes it cheaper.

use crate::decode::{Decoded, Decoder, Effort};
use crate::flow::Capacity;
use crate::marginals::Marginals;
use crate::nodes::NodeFeatures;
use crate::potts::{Potts, columns};
use crate::topology::Topology;
use lineal_linalg::{Scalar, kernels};
use std::ops::Range;

/// Number of labels and features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphModel {
    /// At most 255.
    pub n_labels: usize,
    /// Of a node, without the bias.
    pub n_features: usize,
    /// Of an edge.
    pub n_edge_features: usize,
    /// The value of the last feature of every node; without one if 0.
    pub bias: f32,
}

/// Nodes and edges to label.
#[derive(Debug)]
pub struct Input<'a, N> {
    /// Which nodes are neighbours.
    pub topology: &'a Topology,
    /// Features of nodes.
    pub nodes: &'a N,
    /// Features of edges, edge by edge, all ≥ 0.
    pub edges: &'a [f32],
}

impl<N> Clone for Input<'_, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N> Copy for Input<'_, N> {}

impl GraphModel {
    /// Vectors of weights for nodes: one for two labels.
    pub fn columns(&self) -> usize {
        columns(self.n_labels)
    }

    /// How many weights nodes have.
    pub fn n_node_weights(&self) -> usize {
        (self.n_features + usize::from(self.bias != 0.0)) * self.columns()
    }

    /// How many weights there are.
    pub fn dim(&self) -> usize {
        self.n_node_weights() + self.n_edge_features
    }

    /// The weights of edges, which are never negative.
    pub fn edge_weights(&self) -> Range<usize> {
        self.n_node_weights()..self.dim()
    }

    /// Scores of nodes, `columns` each, and then of edges: −⟨v, f⟩, at the weights `scale · w`.
    pub fn scores<F: Scalar, N: NodeFeatures>(
        &self,
        input: &Input<'_, N>,
        w: &[F],
        scale: F,
        theta: &mut Vec<F>,
    ) {
        let (k, n) = (self.columns(), input.topology.n_nodes());
        theta.clear();
        theta.resize(n * k + input.topology.n_edges(), F::ZERO);
        let (nodes, edges) = theta.split_at_mut(n * k);
        let (own, v) = w.split_at(self.n_node_weights());
        let (of_features, of_bias) = own.split_at(self.n_features * k);
        if !of_bias.is_empty() {
            let by = scale * F::from_f32(self.bias);
            for node in nodes.chunks_exact_mut(k) {
                node.iter_mut().zip(of_bias).for_each(|(score, &bias)| *score = by * bias);
            }
        }
        input.nodes.scores(of_features, k, scale, nodes);
        if let [v] = *v {
            edges
                .iter_mut()
                .zip(input.edges)
                .for_each(|(score, &f)| *score = -(scale * v * F::from_f32(f)));
        } else if !v.is_empty() {
            for (score, f) in edges.iter_mut().zip(input.edges.chunks_exact(v.len())) {
                let sum: F = f.iter().zip(v).map(|(&f, &v)| F::from_f32(f) * v).sum();
                *score = -(scale * sum);
            }
        }
    }

    /// The way back: `into += Ψᵀ g` for a number per part.
    pub fn accumulate<F: Scalar, N: NodeFeatures>(
        &self,
        input: &Input<'_, N>,
        g: &[F],
        into: &mut [F],
    ) {
        let (k, n) = (self.columns(), input.topology.n_nodes());
        let (nodes, edges) = g.split_at(n * k);
        let (own, v) = into.split_at_mut(self.n_node_weights());
        let (of_features, of_bias) = own.split_at_mut(self.n_features * k);
        input.nodes.accumulate(nodes, k, of_features);
        if !of_bias.is_empty() {
            let bias = F::from_f32(self.bias);
            for node in nodes.chunks_exact(k) {
                kernels::axpy(bias, node, of_bias);
            }
        }
        if v.is_empty() {
            return;
        }
        for (&g, f) in edges.iter().zip(input.edges.chunks_exact(v.len())) {
            if g != F::ZERO {
                v.iter_mut().zip(f).for_each(|(v, &f)| *v -= g * F::from_f32(f));
            }
        }
    }

    /// The best labelling at the weights `w`, left in `y`. `known` has the labels that nodes must have, [`VOID`](crate::VOID) where any will do, or is empty.
    ///
    /// # Panics
    /// If there are not `dim` weights, or the input does not fit: see [`check_input`](crate::check_input).
    pub fn label<N: NodeFeatures, C: Capacity>(
        &self,
        input: &Input<'_, N>,
        w: &[f32],
        known: &[u8],
        effort: &Effort,
        decoder: &mut Decoder<C>,
        y: &mut Vec<u8>,
    ) -> Decoded {
        self.with_potts(input, w, known, |potts| decoder.best(potts, effort, y))
    }

    /// The best labelling at the weights `w`, and what every other label of each node would cost.
    ///
    /// # Panics
    /// If there are not `dim` weights, or the input does not fit: see [`check_input`](crate::check_input).
    pub fn marginals<N: NodeFeatures, C: Capacity>(
        &self,
        input: &Input<'_, N>,
        w: &[f32],
        known: &[u8],
        effort: &Effort,
        decoder: &mut Decoder<C>,
    ) -> Marginals {
        let all = 0..input.topology.n_nodes();
        self.with_potts(input, w, known, |potts| decoder.marginals(potts, effort, all))
    }

    fn with_potts<N: NodeFeatures, R>(
        &self,
        input: &Input<'_, N>,
        w: &[f32],
        known: &[u8],
        f: impl FnOnce(&Potts<'_>) -> R,
    ) -> R {
        let mut theta = Vec::new();
        self.scores(input, w, 1.0f32, &mut theta);
        let (own, edges) = theta.split_at(input.topology.n_nodes() * self.columns());
        let own: Vec<f64> = own.iter().map(|&s| f64::from(s)).collect();
        let cost: Vec<f64> = edges.iter().map(|&s| f64::from(-s)).collect();
        f(&Potts {
            topology: input.topology,
            n_labels: self.n_labels,
            own: &own,
            cost: &cost,
            known,
        })
    }
}
