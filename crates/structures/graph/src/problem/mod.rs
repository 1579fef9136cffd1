//! Labelled grids and graphs as examples of the learners of structures.
//!
//! Parts of an example are `columns` scores per node and one per edge ([`GraphModel`]); an edge's part is there where its ends differ. The cost of a labelling is that of its wrong nodes,
//!
//! ```text
//! Δ(y) = Σ over nodes whose label is known of weight(gold)·[yᵢ ≠ gold]
//! ```
//!
//! and the loss of an example, cost and scores alike, is divided by the number of these nodes ([`Normalise`]): with n nodes in all, `l2 = 1 / (C·n)` is then about the penalty of a linear SVM over
//! single nodes with C.
//!
//! Nodes without a gold label cost nothing, and the gold labelling is completed there by the best labels; an example with such nodes has no dual. Weights of edges stay ≥ 0
//! ([`Structure::nonnegative`](lineal_model::structure::Structure::nonnegative)), so that every argmax of two labels is exact: a cut. Flows are in `i32` where weights are f32 and in `i64` where they are f64; what rounding to integers may have
//! cost is added to the upper bound of the argmax.
//!
//! Memory of one thread: 8 bytes for each score of an example, and the cut ([`Grid::bytes_per_pixel`](crate::flow::Grid::bytes_per_pixel)). Examples keep nothing between calls.

mod oracle;

use crate::decode::{Decoder, Effort};
use crate::flow::Capacity;
use crate::model::{GraphModel, Input};
use crate::nodes::NodeFeatures;
use lineal_linalg::Scalar;
use lineal_model::VOID;
use thiserror::Error;

/// A graph with its gold labels.
#[derive(Debug)]
pub struct Example<'a, N> {
    /// Nodes and edges with their features.
    pub input: Input<'a, N>,
    /// A label for each node, [`VOID`] where it is not known.
    pub gold: &'a [u8],
    /// How much the example counts.
    pub weight: f64,
}

impl<N> Clone for Example<'_, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N> Copy for Example<'_, N> {}

/// What the cost of wrong nodes is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalise {
    /// The mean over examples of the mean over their nodes whose label is known: a large image counts no more than a small one.
    #[default]
    Nodes,
    /// The mean over examples of the sum over their nodes: large images dominate.
    Nothing,
}

/// How labellings are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabellingOptions {
    /// What a wrong node costs, by its gold label; 1 if not given.
    pub class_weights: Option<Vec<f64>>,
    /// What counts how much.
    pub normalise: Normalise,
    /// For more than two labels.
    pub effort: Effort,
}

/// Why examples cannot be learnt from.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LabellingError {
    /// Labels are bytes, and one is no label.
    #[error("{0} labels: there must be 2 to 255")]
    Labels(usize),
    /// Not a number for each label.
    #[error("class weights must be {0} finite numbers ≥ 0, one for each label")]
    ClassWeights(usize),
    /// Buffers of an example do not fit together.
    #[error("example {example}: {what} has {found} entries, but {expected} are needed")]
    Length {
        /// Which example.
        example: usize,
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// A label that is not there.
    #[error(
        "example {example}: node {node} has the label {label}, but there are {n_labels} labels, numbered from 0 ({VOID} for none)"
    )]
    Label {
        /// Which example.
        example: usize,
        /// Which node.
        node: usize,
        /// Its label.
        label: u8,
        /// How many there are.
        n_labels: usize,
    },
    /// Cuts need features of edges that are not negative.
    #[error(
        "example {example}: edge {edge} has the feature {value}: features of edges must be finite numbers ≥ 0"
    )]
    EdgeFeature {
        /// Which example.
        example: usize,
        /// Which edge.
        edge: usize,
        /// The feature's value.
        value: f32,
    },
    /// Weights must be numbers.
    #[error(
        "example {example} has the weight {weight}: it must be a finite number ≥ 0, and one must be above 0"
    )]
    Weight {
        /// Which example.
        example: usize,
        /// Its weight.
        weight: f64,
    },
}

/// The problem of labelling the nodes of graphs.
#[derive(Clone, Debug)]
pub struct Labelling<'a, N> {
    model: GraphModel,
    examples: Vec<Example<'a, N>>,
    options: LabellingOptions,
    shares: Vec<f64>,
    whole: Vec<bool>,
    work: usize,
}

/// Floats whose flows are in integers.
pub trait Rounded: Scalar {
    /// i32 for f32, i64 for f64.
    type Cap: Capacity;
}

impl Rounded for f32 {
    type Cap = i32;
}

impl Rounded for f64 {
    type Cap = i64;
}

/// Working memory of [`Labelling`].
#[derive(Clone, Debug)]
pub struct LabellingScratch<F: Rounded> {
    decoder: Decoder<F::Cap>,
    own: Vec<f64>,
    cost: Vec<f64>,
    known: Vec<u8>,
    /// A difference of outputs, part by part, and by weights.
    parts: Vec<F>,
    features: Vec<F>,
}

impl<'a, N: NodeFeatures> Labelling<'a, N> {
    /// Checks examples and takes them.
    pub fn new(
        model: GraphModel,
        examples: Vec<Example<'a, N>>,
        options: LabellingOptions,
    ) -> Result<Self, LabellingError> {
        if !(2..=255).contains(&model.n_labels) {
            return Err(LabellingError::Labels(model.n_labels));
        }
        let fine = |weights: &Vec<f64>| {
            weights.len() == model.n_labels && weights.iter().all(|w| w.is_finite() && *w >= 0.0)
        };
        if !options.class_weights.as_ref().is_none_or(fine) {
            return Err(LabellingError::ClassWeights(model.n_labels));
        }
        let (mut whole, mut shares, mut work) = (Vec::new(), Vec::new(), 0);
        for (i, example) in examples.iter().enumerate() {
            check(&model, i, example)?;
            let n_known = example.gold.iter().filter(|&&label| label != VOID).count();
            whole.push(n_known == example.gold.len());
            shares.push(match options.normalise {
                Normalise::Nodes => example.weight / n_known.max(1) as f64,
                Normalise::Nothing => example.weight,
            });
            let topology = example.input.topology;
            // A cut costs about as much as some hundred products per node.
            work += topology.n_nodes() * (model.n_features * model.columns() + 100)
                + topology.n_edges() * model.n_edge_features;
        }
        let total: f64 = examples.iter().map(|example| example.weight).sum();
        if !examples.is_empty() && total <= 0.0 {
            return Err(LabellingError::Weight { example: 0, weight: examples[0].weight });
        }
        shares.iter_mut().for_each(|share| *share /= total);
        Ok(Self { model, examples, options, shares, whole, work })
    }

    /// Where the weights lie.
    pub fn model(&self) -> &GraphModel {
        &self.model
    }

    /// The examples.
    pub fn examples(&self) -> &[Example<'a, N>] {
        &self.examples
    }

    /// What a wrong label costs at a node with this gold label.
    fn wrong(&self, gold: u8) -> f64 {
        self.options.class_weights.as_ref().map_or(1.0, |weights| weights[usize::from(gold)])
    }
}

fn check<N: NodeFeatures>(
    model: &GraphModel,
    i: usize,
    example: &Example<'_, N>,
) -> Result<(), LabellingError> {
    let Example { input, gold, weight } = example;
    let (found, expected) = (gold.len(), input.topology.n_nodes());
    if found != expected {
        let what = "the list of gold labels";
        return Err(LabellingError::Length { example: i, what, found, expected });
    }
    check_input(model, i, input, gold)?;
    if !weight.is_finite() || *weight < 0.0 {
        return Err(LabellingError::Weight { example: i, weight: *weight });
    }
    Ok(())
}

/// Whether features fit the model and labels are there: what [`GraphModel::label`] and [`GraphModel::marginals`] rely on. `known` may be empty; `example` is its number in messages.
pub fn check_input<N: NodeFeatures>(
    model: &GraphModel,
    example: usize,
    input: &Input<'_, N>,
    known: &[u8],
) -> Result<(), LabellingError> {
    let (n, n_edges) = (input.topology.n_nodes(), input.topology.n_edges());
    let lengths = [
        ("the list of nodes", input.nodes.n_nodes(), n),
        ("the list of features of a node", input.nodes.n_features(), model.n_features),
        ("the list of known labels", known.len(), if known.is_empty() { 0 } else { n }),
        ("the list of features of edges", input.edges.len(), n_edges * model.n_edge_features),
    ];
    for (what, found, expected) in lengths {
        if found != expected {
            return Err(LabellingError::Length { example, what, found, expected });
        }
    }
    let fits = |&label: &u8| label == VOID || usize::from(label) < model.n_labels;
    if let Some(node) = known.iter().position(|label| !fits(label)) {
        let (label, n_labels) = (known[node], model.n_labels);
        return Err(LabellingError::Label { example, node, label, n_labels });
    }
    let fine = |f: &f32| f.is_finite() && *f >= 0.0;
    if let Some(at) = input.edges.iter().position(|f| !fine(f)) {
        let (edge, value) = (at / model.n_edge_features.max(1), input.edges[at]);
        return Err(LabellingError::EdgeFeature { example, edge, value });
    }
    Ok(())
}
