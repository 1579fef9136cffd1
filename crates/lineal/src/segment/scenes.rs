//! Images with masks, or graphs with labels: what segmentation learns from.

use crate::Error;
use crate::structured::Examples;
use lineal_data::{
    FeatureNames, Format, Graph, GraphReadOptions, GraphSchema, Graphs, ImageReadOptions, ImageSet,
    LeftOut, MaskSchema, RgbPixels, Source, read_graphs, stream_graphs,
};
use lineal_graph::VOID;
use lineal_linalg::{Csr, Matrix, Row};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// What labels mean, and for graphs which features there are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SceneSchema {
    /// Of images: the values of masks.
    Images(MaskSchema),
    /// Of graphs: names of labels and features.
    Graphs(GraphSchema),
}

impl SceneSchema {
    /// The labels by number.
    pub fn labels(&self) -> Vec<String> {
        match self {
            Self::Images(masks) => masks.names(),
            Self::Graphs(graphs) => graphs.labels.clone(),
        }
    }

    /// Whether it makes sense.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Images(masks) => masks.check(),
            Self::Graphs(graphs) => graphs.check(),
        }
    }
}

/// How scenes are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneOptions {
    /// Graphs from JSON lines, whatever the file's name.
    pub format: Option<Format>,
    /// Labels and limits of images.
    pub images: ImageReadOptions,
    /// Labels that are there are what the user knows: values of masks that are not a label's are not known.
    pub known: bool,
}

impl SceneOptions {
    /// Whether a source is read as graphs: by the format asked for, or by the file's name.
    pub fn is_graphs(&self, source: &Source) -> bool {
        let format = self.format.or_else(|| Format::from_name(&source.name()));
        format == Some(Format::Jsonl)
    }
}

/// An image or a graph.
#[derive(Clone, Debug)]
pub enum SceneKind {
    /// An image and its file.
    Image(PathBuf, RgbPixels),
    /// A graph.
    Graph(SceneGraph),
}

/// Nodes and edges with their features.
#[derive(Clone, Debug)]
pub struct SceneGraph {
    /// Features of nodes, one row each.
    pub nodes: Matrix,
    /// The two ends of each edge.
    pub ends: Vec<(u32, u32)>,
    /// Features of edges, all ≥ 0, edge by edge.
    pub edges: Vec<f32>,
    /// Whether its id was written as a number, and not as a text.
    pub id_is_number: bool,
}

/// Features of edges are kept for every edge.
const MOST_VALUES: usize = 1 << 28;

impl SceneGraph {
    /// Nodes and edges as the lines that they are read from have them: features by the names of the schema, or in lists.
    pub fn to_json(&self, schema: &GraphSchema) -> [Value; 2] {
        let row = |names: &FeatureNames, row: Row<'_>| {
            let mut values = vec![0.0; names.len()];
            row.for_each(|j, x| values[j] = x);
            match names {
                FeatureNames::Numbered(_) => values.into_iter().map(shortest).collect(),
                FeatureNames::Named(names) => {
                    let some = names.iter().zip(values).filter(|(_, x)| *x != 0.0);
                    Value::Object(some.map(|(name, x)| (name.clone(), shortest(x))).collect())
                }
            }
        };
        let nodes = (0..self.nodes.n_rows()).map(|node| row(&schema.nodes, self.nodes.row(node)));
        let features = self.edges.chunks_exact(schema.edges.len().max(1));
        let edges = self.ends.iter().zip(features);
        let edges = edges.map(|((a, b), x)| json!([a, b, row(&schema.edges, Row::Dense(x))]));
        [nodes.collect(), edges.collect()]
    }

    fn new(graph: Graph<'_>, schema: &GraphSchema) -> Result<Self, Error> {
        let (mut ends, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
        for node in 0..graph.n_nodes() {
            let row = graph.node(node);
            idx.extend_from_slice(row.idx());
            val.extend_from_slice(row.val());
            ends.push(idx.len());
        }
        let nodes = Csr::new(schema.nodes.len(), ends, idx, val)
            .map_err(|e| Error::request(format!("graph {}: {e}", graph.id())))?;
        let n_features = schema.edges.len();
        if graph.edges().len().saturating_mul(n_features) > MOST_VALUES {
            return Err(Error::request(format!(
                "graph {}: {} edges with {n_features} different features are too many; give edges the same few features",
                graph.id(),
                graph.edges().len()
            )));
        }
        let mut edges = vec![0.0; graph.edges().len() * n_features];
        for (edge, features) in edges.chunks_exact_mut(n_features.max(1)).enumerate() {
            let row = graph.edge(edge);
            row.idx().iter().zip(row.val()).for_each(|(&j, &x)| features[j as usize] = x);
        }
        let ends = graph.edges().iter().map(|&[a, b]| (a, b)).collect();
        let id_is_number = graph.id_is_number();
        Ok(Self { nodes: Matrix::Sparse(nodes), ends, edges, id_is_number })
    }
}

/// The shortest number that is read as this one.
fn shortest(x: f32) -> Value {
    x.to_string().parse::<f64>().map_or(Value::Null, |x| json!(x))
}

/// An image or a graph with its labels.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its name: the file of an image, the id of a graph or its number.
    pub name: String,
    /// What there is to label.
    pub kind: SceneKind,
    /// The label of each pixel or node, 255 where it is not known; nothing where no label is.
    pub labels: Option<Vec<u8>>,
    /// How much it counts in training.
    pub weight: f32,
}

impl Scene {
    /// How many pixels or nodes.
    pub fn len(&self) -> usize {
        match &self.kind {
            SceneKind::Image(_, image) => image.width * image.height,
            SceneKind::Graph(graph) => graph.nodes.n_rows(),
        }
    }

    /// Nothing to label?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where in an image, from 0 at the left and at the top; the number of a graph's node, from 1.
    pub fn place(&self, at: usize) -> String {
        match &self.kind {
            SceneKind::Image(_, image) => format!("({}, {})", at % image.width, at / image.width),
            SceneKind::Graph(_) => (at + 1).to_string(),
        }
    }
}

/// Images or graphs, with what their labels mean.
#[derive(Clone, Debug)]
pub struct Scenes {
    /// What labels and features mean.
    pub schema: SceneSchema,
    /// The labels: those of the schema, and then those that the data alone has.
    pub labels: Vec<String>,
    /// The file, for messages.
    pub source: String,
    /// Of graphs: features that the schema does not have.
    pub left_out: LeftOut,
    scenes: Vec<Arc<Scene>>,
}

impl Scenes {
    /// Reads images (a list, a folder or a file) or graphs (JSON lines), and learns which labels there are.
    pub fn read(source: impl Into<Source>, options: &SceneOptions) -> Result<Self, Error> {
        let source = source.into();
        if options.is_graphs(&source) {
            let graphs = read_graphs(source, &GraphReadOptions { require_labels: true })?;
            let schema = SceneSchema::Graphs(graphs.schema.clone());
            let mut scenes = Self::empty(schema, &graphs.source);
            scenes.push_graphs(&graphs)?;
            return Ok(scenes);
        }
        let set = ImageSet::open(source, &options.images)?;
        let schema = set.learn_masks()?;
        let mut scenes = Self::empty(SceneSchema::Images(schema), set.source());
        (0..set.len()).try_for_each(|i| scenes.push_image(&set, i, false, false))?;
        Ok(scenes)
    }

    /// Reads more of the kind that a schema describes.
    pub fn read_with(
        source: impl Into<Source>,
        options: &SceneOptions,
        schema: &SceneSchema,
    ) -> Result<Self, Error> {
        let mut all: Option<Scenes> = None;
        let source = source.into();
        let name = source.name();
        Self::stream(source, options, schema, &mut |block| {
            match &mut all {
                Some(all) => {
                    all.scenes.extend(block.scenes.iter().cloned());
                    if block.labels.len() > all.labels.len() {
                        all.labels.clone_from(&block.labels);
                    }
                    all.left_out.merge(&block.left_out);
                }
                none => *none = Some(block.clone()),
            }
            ControlFlow::Continue(())
        })?;
        Ok(all.unwrap_or_else(|| Self::empty(schema.clone(), &name)))
    }

    /// Reads scenes a few at a time: images one by one, graphs in blocks.
    pub fn stream(
        source: impl Into<Source>,
        options: &SceneOptions,
        schema: &SceneSchema,
        on_block: &mut dyn FnMut(&Scenes) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let source = source.into();
        match schema {
            SceneSchema::Graphs(graphs) => {
                if lineal_data::is_image(&source)? {
                    return Err(Error::request(format!(
                        "{}: the model was trained on graphs, and this is an image or a folder: give graphs in JSON lines, or train with spec.task = segment on images",
                        source.name()
                    )));
                }
                let read = GraphReadOptions::default();
                let mut failed = None;
                stream_graphs(source, &read, graphs, &mut |block| {
                    let mut scenes = Self::empty(schema.clone(), &block.source);
                    scenes.labels.clone_from(&block.labels);
                    scenes.left_out.clone_from(&block.left_out);
                    match scenes.push_graphs(block) {
                        Ok(()) => on_block(&scenes),
                        Err(error) => {
                            failed = Some(error);
                            ControlFlow::Break(())
                        }
                    }
                })?;
                failed.map_or(Ok(()), Err)
            }
            SceneSchema::Images(_) => {
                if options.is_graphs(&source) {
                    return Err(Error::request(format!(
                        "{}: the model was trained on images, and these are graphs: give images, or train with spec.task = segment on graphs",
                        source.name()
                    )));
                }
                let set = ImageSet::open(source, &options.images)?;
                for i in 0..set.len() {
                    let mut scenes = Self::empty(schema.clone(), set.source());
                    scenes.push_image(&set, i, options.known, true)?;
                    if on_block(&scenes).is_break() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// Images that are in memory, each with a name and, where it is known, the label of each pixel (or [`VOID`](lineal_data::VOID)).
    pub fn of_images(
        schema: MaskSchema,
        images: impl IntoIterator<Item = (String, RgbPixels, Option<Vec<u32>>)>,
    ) -> Result<Self, Error> {
        let mut scenes = Self::empty(SceneSchema::Images(schema), "the images given");
        for (name, pixels, labels) in images {
            let n_pixels = pixels.width.checked_mul(pixels.height);
            let n_bytes = n_pixels.and_then(|n| n.checked_mul(3));
            let fits = labels.as_ref().is_none_or(|labels| Some(labels.len()) == n_pixels);
            if n_bytes != Some(pixels.rgb.len()) || !fits {
                return Err(Error::request(format!(
                    "{name}: colours or labels are not those of {}×{} pixels",
                    pixels.width, pixels.height
                )));
            }
            scenes.scenes.push(Arc::new(Scene {
                kind: SceneKind::Image(PathBuf::from(&name), pixels),
                name,
                labels: labels.map(|labels| bytes(&labels)),
                weight: 1.0,
            }));
        }
        Ok(scenes)
    }

    fn empty(schema: SceneSchema, source: &str) -> Self {
        let labels = schema.labels();
        let left_out = LeftOut::default();
        Self { schema, labels, source: source.to_owned(), left_out, scenes: Vec::new() }
    }

    /// `known`: the mask has what a user knows. `unseen`: it may have values that are no label, all of which count as one more label.
    fn push_image(
        &mut self,
        set: &ImageSet,
        i: usize,
        known: bool,
        unseen: bool,
    ) -> Result<(), Error> {
        let SceneSchema::Images(schema) = &self.schema else { return Ok(()) };
        let labels = match (known, unseen) {
            (true, _) => set.read_known(i, schema)?,
            (false, false) => set.read_labels(i, schema)?,
            (false, true) => {
                let found = set.read_labels_and_unseen(i, schema)?;
                let is_new = self.labels.len() == schema.labels.len();
                if let Some(value) = found.as_ref().and_then(|found| found.1).filter(|_| is_new) {
                    self.labels.push(value.to_string());
                }
                found.map(|found| found.0)
            }
        };
        let path = set.path(i).to_owned();
        self.scenes.push(Arc::new(Scene {
            name: path.display().to_string(),
            kind: SceneKind::Image(path, set.read(i)?),
            labels: labels.map(|labels| bytes(&labels)),
            weight: set.weight(i),
        }));
        Ok(())
    }

    fn push_graphs(&mut self, graphs: &Graphs) -> Result<(), Error> {
        for graph in graphs.iter() {
            self.scenes.push(Arc::new(Scene {
                name: graph.id().to_owned(),
                labels: graph.has_labels().then(|| bytes(graph.labels())),
                weight: graph.weight(),
                kind: SceneKind::Graph(SceneGraph::new(graph, &graphs.schema)?),
            }));
        }
        Ok(())
    }

    /// Whether they are graphs, and not images.
    pub fn is_graphs(&self) -> bool {
        matches!(self.schema, SceneSchema::Graphs(_))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.scenes.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.scenes.is_empty()
    }

    /// One of them.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn get(&self, i: usize) -> &Scene {
        &self.scenes[i]
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Scene> + '_ {
        self.scenes.iter().map(|scene| &**scene)
    }

    /// Pixels or nodes of all scenes.
    pub fn n_nodes(&self) -> usize {
        self.iter().map(Scene::len).sum()
    }

    /// Whether any pixel or node has a label.
    pub fn has_labels(&self) -> bool {
        self.iter().any(|scene| scene.labels.as_ref().is_some_and(|l| l.iter().any(|l| *l != VOID)))
    }

    /// Pixels or nodes whose label training did not see.
    pub fn n_unseen(&self) -> usize {
        let n = self.schema.labels().len();
        let labels = self.iter().filter_map(|scene| scene.labels.as_ref()).flatten();
        labels.filter(|&&label| label != VOID && usize::from(label) >= n).count()
    }
}

impl Examples for Scenes {
    fn n_examples(&self) -> usize {
        self.len()
    }

    fn source(&self) -> &str {
        &self.source
    }

    fn select(&self, which: &[usize]) -> Self {
        let scenes = which.iter().map(|&i| self.scenes[i].clone()).collect();
        Self { scenes, ..Self::empty_like(self) }
    }

    fn n_parts(&self, example: usize) -> usize {
        self.get(example).len()
    }
}

impl Scenes {
    fn empty_like(other: &Self) -> Self {
        Self { scenes: Vec::new(), ..other.clone() }
    }
}

/// Labels in a byte each. A model has at most 254 of them, so that the last number stands for all that training did not see.
fn bytes(labels: &[u32]) -> Vec<u8> {
    let byte = |&label: &u32| match label {
        lineal_data::VOID => VOID,
        label => u8::try_from(label).unwrap_or(VOID).min(UNSEEN),
    };
    labels.iter().map(byte).collect()
}

/// See [`bytes`].
const UNSEEN: u8 = 254;
