//! A scene as the learners see it: nodes and edges with their features.

use super::scenes::{Scene, SceneKind, SceneSchema};
use super::spec::SegmentSpec;
use crate::Error;
use lineal_data::FeatureNames;
use lineal_graph::features::{
    EdgeOptions, GridEdges, Picture, SuperpixelOptions, Superpixels, Windows,
};
use lineal_graph::{GraphModel, Input, Neighbours, NodeFeatures, Topology, VOID};
use lineal_linalg::{Matrix, Scalar};

/// Features of nodes.
#[derive(Debug)]
pub(super) enum Nodes {
    /// Of pixels: looked up in planes.
    Pixels(Windows),
    /// Of superpixels and of graphs: rows.
    Rows(Matrix),
}

/// Runs `$do` on either kind.
macro_rules! each_kind {
    ($self:expr, $nodes:ident => $do:expr) => {
        match $self {
            Nodes::Pixels($nodes) => $do,
            Nodes::Rows($nodes) => $do,
        }
    };
}

impl NodeFeatures for Nodes {
    fn n_nodes(&self) -> usize {
        each_kind!(self, nodes => nodes.n_nodes())
    }

    fn n_features(&self) -> usize {
        each_kind!(self, nodes => nodes.n_features())
    }

    fn scores<F: Scalar>(&self, w: &[F], n_labels: usize, scale: F, into: &mut [F]) {
        each_kind!(self, nodes => nodes.scores(w, n_labels, scale, into));
    }

    fn accumulate<F: Scalar>(&self, g: &[F], n_labels: usize, into: &mut [F]) {
        each_kind!(self, nodes => nodes.accumulate(g, n_labels, into));
    }

    fn each(&self, node: usize, f: impl FnMut(usize, f32)) {
        each_kind!(self, nodes => nodes.each(node, f));
    }
}

/// A scene ready to be scored.
#[derive(Debug)]
pub(super) struct Prepared {
    pub topology: Topology,
    pub nodes: Nodes,
    pub edges: Vec<f32>,
    /// Of an image, where its nodes are not its pixels.
    pub superpixels: Option<Superpixels>,
    /// The label of each node, [`VOID`] where it is not known.
    pub gold: Vec<u8>,
}

/// Names of the features of nodes and of edges.
pub(super) fn names(spec: &SegmentSpec, schema: &SceneSchema) -> [Vec<String>; 2] {
    match schema {
        SceneSchema::Images(_) => [spec.pixels.names(), edge_names(spec)],
        SceneSchema::Graphs(graphs) => {
            let all = |names: &FeatureNames| (0..names.len()).map(|j| names.name(j)).collect();
            let edges = if spec.edges { all(&graphs.edges) } else { Vec::new() };
            [all(&graphs.nodes), edges]
        }
    }
}

fn edge_names(spec: &SegmentSpec) -> Vec<String> {
    if spec.edges { spec.contrast.names() } else { Vec::new() }
}

/// The bias is a feature of every node.
const BIAS: f32 = 1.0;

/// Where the weights of a model lie.
pub(super) fn layout(spec: &SegmentSpec, schema: &SceneSchema) -> GraphModel {
    // By numbers alone: names of a file are not written out before they are checked.
    let (nodes, edges) = match schema {
        SceneSchema::Images(_) => (spec.pixels.names().len(), spec.contrast.n_features()),
        SceneSchema::Graphs(graphs) => (graphs.nodes.len(), graphs.edges.len()),
    };
    let edges = if spec.edges { edges } else { 0 };
    let n_labels = schema.labels().len();
    GraphModel { n_labels, n_features: nodes, n_edge_features: edges, bias: BIAS }
}

/// Bytes that an image of so many pixels takes while it is labelled or learnt from: its planes, the features of its edges, scores and the cut.
pub(super) fn bytes_per_pixel(spec: &SegmentSpec) -> usize {
    let one =
        Picture::new(1, 1, &[0; 3]).map(|picture| spec.pixels.channels(&picture).n_channels());
    let directions = if spec.contrast.diagonals { 4 } else { 2 };
    let edges = if spec.edges { 2 * 4 * directions * spec.contrast.n_features() } else { 0 };
    4 * one.unwrap_or_default() + edges + 100
}

impl Prepared {
    /// Computes the features of a scene.
    pub(super) fn new(
        spec: &SegmentSpec,
        schema: &SceneSchema,
        scene: &Scene,
    ) -> Result<Self, Error> {
        let place = |e: &dyn std::fmt::Display| Error::request(format!("{}: {e}", scene.name));
        let gold = scene.labels.clone().unwrap_or_else(|| vec![VOID; scene.len()]);
        let image = match (&scene.kind, schema) {
            (SceneKind::Image(_, image), SceneSchema::Images(_)) => image,
            (SceneKind::Graph(graph), SceneSchema::Graphs(_)) => {
                let (ends, edges) = match spec.edges {
                    true => (graph.ends.clone(), graph.edges.clone()),
                    false => (Vec::new(), Vec::new()),
                };
                let nodes = Nodes::Rows(graph.nodes.clone());
                let topology = Topology::graph(scene.len(), ends).map_err(|e| place(&e))?;
                return Ok(Self { topology, nodes, edges, superpixels: None, gold });
            }
            _ => return Err(place(&"images and graphs have models of their own")),
        };
        let picture = Picture::new(image.width, image.height, &image.rgb).map_err(|e| place(&e))?;
        let windows = spec.pixels.windows(&picture);
        // The edges between superpixels are sums over straight ones.
        let diagonals = spec.contrast.diagonals && spec.superpixels.is_none();
        let contrast = EdgeOptions { diagonals, ..spec.contrast.clone() };
        let grid = if spec.edges { Some(contrast.edges(&picture)) } else { None };
        let Some(n_superpixels) = spec.superpixels else {
            let neighbours = if diagonals { Neighbours::Eight } else { Neighbours::Four };
            let topology = match &grid {
                Some(_) => Topology::grid(image.width, image.height, neighbours),
                None => Topology::graph(scene.len(), Vec::new()),
            }
            .map_err(|e| place(&e))?;
            let edges = grid.as_ref().map(GridEdges::rows).unwrap_or_default();
            let nodes = Nodes::Pixels(windows);
            return Ok(Self { topology, nodes, edges, superpixels: None, gold });
        };
        let options = SuperpixelOptions { n_superpixels, ..SuperpixelOptions::default() };
        let superpixels = Superpixels::new(&picture, &options);
        let nodes = superpixels.node_features(&windows).map_err(|e| place(&e))?;
        let nodes = Nodes::Rows(Matrix::Dense(nodes));
        let (mut ends, mut edges) = (Vec::new(), Vec::new());
        if let Some(grid) = &grid {
            let (borders, features) = superpixels.edge_features(grid).map_err(|e| place(&e))?;
            ends.extend(borders.iter().map(|border| (border.first, border.second)));
            (0..borders.len()).for_each(|i| edges.extend_from_slice(features.row(i).values()));
        }
        let topology = Topology::graph(superpixels.len(), ends).map_err(|e| place(&e))?;
        let n_labels = schema.labels().len();
        let wide: Vec<u32> =
            gold.iter().map(|&l| if l == VOID { u32::MAX } else { u32::from(l) }).collect();
        let gold = superpixels.majority(&wide, n_labels, u32::MAX);
        let gold = gold.into_iter().map(|l| u8::try_from(l).unwrap_or(VOID)).collect();
        Ok(Self { topology, nodes, edges, superpixels: Some(superpixels), gold })
    }

    pub(super) fn input(&self) -> Input<'_, Nodes> {
        Input { topology: &self.topology, nodes: &self.nodes, edges: &self.edges }
    }

    /// Labels of nodes as labels of pixels.
    pub(super) fn to_pixels<T: Copy>(&self, of_nodes: &[T]) -> Vec<T> {
        match &self.superpixels {
            Some(superpixels) => superpixels.to_pixels(of_nodes),
            None => of_nodes.to_vec(),
        }
    }

    /// The node of a pixel.
    pub(super) fn node(&self, pixel: usize) -> usize {
        self.superpixels.as_ref().map_or(pixel, |s| s.of_pixel()[pixel] as usize)
    }
}
