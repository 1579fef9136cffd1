//! Graphs in memory: the nodes and the edges of all of them, one after the other.

use std::collections::HashMap;
use std::ops::Range;

use lineal_linalg::SparseRow;

use super::schema::{FeatureNames, GraphSchema, LeftOut};
use crate::images::VOID;

/// Some graphs with features of their nodes and edges, and labels where these are known.
#[derive(Clone, Debug)]
pub struct Graphs {
    /// What features and labels are.
    pub schema: GraphSchema,
    /// Names of labels: those of the schema, then others that the file has.
    pub labels: Vec<String>,
    /// The name that they were read from.
    pub source: String,
    /// Features that the schema does not have.
    pub left_out: LeftOut,
    pub(super) places: Vec<Place>,
    pub(super) nodes: Rows,
    pub(super) edges: Rows,
    pub(super) ends: Vec<[u32; 2]>,
    pub(super) gold: Vec<u32>,
    pub(super) label_index: HashMap<String, u32>,
}

/// The fields of one graph as a whole, and where its nodes and edges end.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) id: String,
    /// Whether the line has a number there, and not a text.
    pub(super) id_is_number: bool,
    pub(super) line: usize,
    pub(super) weight: f32,
    pub(super) node_end: usize,
    pub(super) edge_end: usize,
}

/// One of [`Graphs`].
#[derive(Clone, Copy, Debug)]
pub struct Graph<'a> {
    data: &'a Graphs,
    at: usize,
}

/// Sparse rows that grow, and the numbers of their features by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) ends: Vec<usize>,
    pub(super) idx: Vec<u32>,
    pub(super) val: Vec<f32>,
    pub(super) index: HashMap<String, u32>,
}

impl Rows {
    fn new(names: &FeatureNames) -> Self {
        let index = match names {
            FeatureNames::Numbered(_) => HashMap::new(),
            FeatureNames::Named(names) => names.iter().cloned().zip(0..).collect(),
        };
        Self { index, ..Self::default() }
    }

    fn row(&self, i: usize) -> SparseRow<'_> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let span = start..self.ends[i];
        let row = SparseRow::new(&self.idx[span.clone()], &self.val[span]);
        row.expect("rows are sorted when they are read")
    }

    fn clear(&mut self) {
        self.ends.clear();
        self.idx.clear();
        self.val.clear();
    }
}

impl Graphs {
    pub(super) fn new(source: String, schema: GraphSchema) -> Self {
        Self {
            labels: schema.labels.clone(),
            nodes: Rows::new(&schema.nodes),
            edges: Rows::new(&schema.edges),
            label_index: schema.labels.iter().cloned().zip(0..).collect(),
            schema,
            source,
            left_out: LeftOut::default(),
            places: Vec::new(),
            ends: Vec::new(),
            gold: Vec::new(),
        }
    }

    /// How many graphs.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// No graph?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Nodes of all graphs.
    pub fn n_nodes(&self) -> usize {
        self.gold.len()
    }

    /// Edges of all graphs.
    pub fn n_edges(&self) -> usize {
        self.ends.len()
    }

    /// A graph.
    ///
    /// # Panics
    /// If there is no graph of that number.
    pub fn get(&self, graph: usize) -> Graph<'_> {
        assert!(graph < self.len(), "graph {graph} of {}", self.len());
        Graph { data: self, at: graph }
    }

    /// All graphs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Graph<'_>> + '_ {
        (0..self.len()).map(|at| Graph { data: self, at })
    }

    /// Forgets the graphs, and keeps the schema.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.nodes.clear();
        self.edges.clear();
        self.ends.clear();
        self.gold.clear();
        self.left_out = LeftOut::default();
    }
}

impl<'a> Graph<'a> {
    fn place(&self) -> &'a Place {
        &self.data.places[self.at]
    }

    fn before(&self) -> (usize, usize) {
        match self.at.checked_sub(1) {
            None => (0, 0),
            Some(before) => (self.data.places[before].node_end, self.data.places[before].edge_end),
        }
    }

    fn nodes(&self) -> Range<usize> {
        self.before().0..self.place().node_end
    }

    fn edge_range(&self) -> Range<usize> {
        self.before().1..self.place().edge_end
    }

    /// What the file calls it, or its line.
    pub fn id(&self) -> &'a str {
        &self.place().id
    }

    /// Whether its id was written as a number, and not as a text.
    pub fn id_is_number(&self) -> bool {
        self.place().id_is_number
    }

    /// Its line in the file, from 1.
    pub fn line(&self) -> usize {
        self.place().line
    }

    /// How much it counts.
    pub fn weight(&self) -> f32 {
        self.place().weight
    }

    /// How many nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes().len()
    }

    /// The features of a node that are not 0.
    ///
    /// # Panics
    /// If there is no node of that number.
    pub fn node(&self, node: usize) -> SparseRow<'a> {
        assert!(node < self.n_nodes(), "node {node} of {}", self.n_nodes());
        self.data.nodes.row(self.nodes().start + node)
    }

    /// The two nodes of each edge, the smaller number first.
    pub fn edges(&self) -> &'a [[u32; 2]] {
        &self.data.ends[self.edge_range()]
    }

    /// The features of an edge that are not 0; none is below.
    ///
    /// # Panics
    /// If there is no edge of that number.
    pub fn edge(&self, edge: usize) -> SparseRow<'a> {
        assert!(edge < self.edges().len(), "edge {edge} of {}", self.edges().len());
        self.data.edges.row(self.edge_range().start + edge)
    }

    /// The label of each node, or [`VOID`] where it is not known.
    pub fn labels(&self) -> &'a [u32] {
        &self.data.gold[self.nodes()]
    }

    /// Whether a label is known.
    pub fn has_labels(&self) -> bool {
        self.labels().iter().any(|&label| label != VOID)
    }
}
