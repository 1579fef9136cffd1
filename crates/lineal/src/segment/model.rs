//! A trained segmentation: its weights, its file, and what it says of images and graphs.

use super::inputs::{Prepared, bytes_per_pixel, layout, names};
use super::metrics::SegmentMetrics;
use super::scenes::{Scene, SceneKind, SceneOptions, SceneSchema, Scenes};
use crate::Error;
use crate::listener::Listener;
use crate::predict::evaluation::Evaluation;
use crate::request::spec::Task;
use crate::structured::{self, Ask, Header, StructuredModel};
use lineal_data::Source;
use lineal_graph::{Decoder, Effort, GraphModel, NodeFeatures, VOID};
use lineal_model::explain::{PartReason, sorted};
use lineal_model::file::{ModelFile, TensorData};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// F32 `[weights]`: of the features of nodes, label by label, and then of edges.
const WEIGHTS: &str = "weights";

/// A model that gives a label to each pixel of an image, or to each node of a graph.
#[derive(Clone, Debug)]
pub struct SegmentModel {
    pub(super) weights: Vec<f32>,
    pub(super) about: About,
    labels: Vec<String>,
    layout: GraphModel,
}

/// The JSON inside the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    #[serde(flatten)]
    pub(super) header: Header,
    pub(super) schema: SceneSchema,
}

/// The labels of an image or a graph, with what was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segmented {
    /// The label of each pixel, row by row, or of each node.
    pub labels: Vec<u8>,
    /// The score of the labelling.
    pub score: f64,
    /// No labelling scores more than this much above it: 0 if it is proved to be the best.
    pub slack: f64,
    /// How sure each label is, from 1 / labels to 1, if asked for: by what the best labelling with another label there loses.
    pub confidence: Option<Vec<f32>>,
}

/// Why a pixel or a node has its label: the best labelling against the best one in which it has another. The lead is the sum of the amounts of the reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentExplanation {
    /// The pixel or node, from 0.
    pub node: usize,
    /// Its label.
    pub label: u8,
    /// The label that comes next.
    pub other: u8,
    /// By how much the best labelling outscores the other.
    pub lead: f64,
    /// How many other pixels or nodes would change along with it.
    pub n_others: usize,
    /// How sure the label is.
    pub confidence: f64,
    /// Largest first.
    pub reasons: Vec<SegmentReason>,
}

/// What adds to the lead: a feature of the pixel or node itself, of its neighbours, or of edges.
pub type SegmentReason = PartReason;

impl SegmentModel {
    pub(super) fn new(weights: Vec<f32>, about: About) -> Self {
        let layout = layout(&about.header.spec.segment, &about.schema);
        Self { weights, labels: about.schema.labels(), layout, about }
    }

    /// The labels by number.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// What it knows of its data.
    pub fn schema(&self) -> &SceneSchema {
        &self.about.schema
    }

    /// Where the weights lie.
    pub fn layout(&self) -> &GraphModel {
        &self.layout
    }

    /// The weights.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Names of the features of nodes, and of edges.
    pub fn feature_names(&self) -> [Vec<String>; 2] {
        names(&self.spec().segment, &self.about.schema)
    }

    /// About how many bytes labelling takes for each pixel.
    pub fn bytes_per_pixel(&self) -> usize {
        bytes_per_pixel(&self.spec().segment)
    }

    /// The labels of each image or graph: [`answer`](StructuredModel::answer) to a plain question.
    pub fn label(&self, data: &Scenes) -> Result<Vec<Segmented>, Error> {
        self.answer(data, &Ask::default())
    }

    fn label_one(&self, scene: &Scene, ask: &Ask) -> Result<Segmented, Error> {
        let prepared = Prepared::new(&self.spec().segment, &self.about.schema, scene)?;
        let known = if ask.known { &prepared.gold[..] } else { &[] };
        self.check_known(scene, scene.labels.as_deref().filter(|_| ask.known).unwrap_or(&[]))?;
        let (mut decoder, effort) = (Decoder::<i64>::default(), Effort::default());
        let input = prepared.input();
        let mut labels = Vec::new();
        let found =
            self.layout.label(&input, &self.weights, known, &effort, &mut decoder, &mut labels);
        let mut confidence = ask.confidence.then(|| {
            let found = self.layout.marginals(&input, &self.weights, known, &effort, &mut decoder);
            let sure: Vec<f32> =
                (0..labels.len()).map(|node| found.confidence(node) as f32).collect();
            prepared.to_pixels(&sure)
        });
        let mut labels = prepared.to_pixels(&labels);
        // A superpixel has the label of most of its known pixels; each of these keeps its own.
        for (pixel, &own) in scene.labels.iter().filter(|_| ask.known).flatten().enumerate() {
            if own != VOID {
                labels[pixel] = own;
                confidence.iter_mut().for_each(|sure| sure[pixel] = 1.0);
            }
        }
        Ok(Segmented { labels, score: found.score, slack: found.slack, confidence })
    }

    fn check_known(&self, scene: &Scene, known: &[u8]) -> Result<(), Error> {
        let is_bad = |l: &&u8| **l != VOID && usize::from(**l) >= self.labels.len();
        match known.iter().find(is_bad) {
            Some(_) => Err(Error::request(format!(
                "{}: a known label is not one of the model's: {}",
                scene.name,
                self.labels.join(", ")
            ))),
            None => Ok(()),
        }
    }

    /// Explains the label of a pixel or node, or of the least sure one.
    pub fn explain(
        &self,
        data: &Scenes,
        scene: usize,
        node: Option<usize>,
    ) -> Result<SegmentExplanation, Error> {
        let scene = data.get(scene);
        if scene.is_empty() {
            return Err(Error::request(format!("{}: there is nothing to label", scene.name)));
        }
        if let Some(asked) = node.filter(|&asked| asked >= scene.len()) {
            return Err(Error::request(format!(
                "{}: there is no pixel or node {asked} among {}",
                scene.name,
                scene.len()
            )));
        }
        let prepared = Prepared::new(&self.spec().segment, &self.about.schema, scene)?;
        let (mut decoder, effort) = (Decoder::<i64>::default(), Effort::default());
        let input = prepared.input();
        let marginals = self.layout.marginals(&input, &self.weights, &[], &effort, &mut decoder);
        let n = prepared.nodes.n_nodes();
        let least = || (0..n).min_by(|&a, &b| marginals.lead(a).total_cmp(&marginals.lead(b)));
        let at = node.map(|pixel| prepared.node(pixel)).or_else(least).unwrap_or(0);
        let label = marginals.labels[at];
        let others = (0..self.labels.len()).filter(|&other| other != usize::from(label));
        let cost = |other: &usize| marginals.of(at)[*other];
        let other = others.min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(0) as u8;
        let mut known = vec![VOID; n];
        known[at] = other;
        let mut rival = Vec::new();
        self.layout.label(&input, &self.weights, &known, &effort, &mut decoder, &mut rival);
        let reasons = self.differences(&prepared, at, &marginals.labels, &rival);
        let changed = marginals.labels.iter().zip(&rival).filter(|(a, b)| a != b).count();
        Ok(SegmentExplanation {
            node: node.unwrap_or_else(|| {
                (0..scene.len()).find(|&p| prepared.node(p) == at).unwrap_or(at)
            }),
            label,
            other,
            lead: reasons.iter().map(|reason| reason.amount).sum(),
            n_others: changed - 1,
            confidence: marginals.confidence(at),
            reasons: sorted(reasons),
        })
    }

    /// By how much each feature speaks for one labelling against another: those of a node by themselves, those of all others and of edges together.
    fn differences(
        &self,
        prepared: &Prepared,
        at: usize,
        y: &[u8],
        rival: &[u8],
    ) -> Vec<SegmentReason> {
        let (k, two) = (self.layout.columns(), self.layout.n_labels == 2);
        let [of_nodes, of_edges] = self.feature_names();
        let weight = |feature: usize, label: u8| match two {
            true if label == 1 => f64::from(self.weights[feature]),
            true => 0.0,
            false => f64::from(self.weights[feature * k + usize::from(label)]),
        };
        let lead =
            |feature: usize, node: usize| weight(feature, y[node]) - weight(feature, rival[node]);
        let what =
            if matches!(self.about.schema, SceneSchema::Images(_)) { "pixel" } else { "node" };
        let mut reasons = Vec::new();
        let mut push = |feature: &str, part: String, amount: f64| {
            reasons.push(SegmentReason { feature: feature.to_owned(), part, amount });
        };
        prepared.nodes.each(at, |feature, x| {
            push(&of_nodes[feature], format!("this {what}"), lead(feature, at) * f64::from(x));
        });
        let has_bias = self.layout.bias != 0.0;
        let bias = |node: usize| match has_bias {
            true => lead(self.layout.n_features, node) * f64::from(self.layout.bias),
            false => 0.0,
        };
        push("bias", format!("this {what}"), bias(at));
        let mut others = vec![0.0; of_nodes.len() + 1];
        let changed = (0..y.len()).filter(|&node| node != at && y[node] != rival[node]);
        let n_changed = changed.clone().count();
        for node in changed {
            prepared.nodes.each(node, |feature, x| {
                others[feature] += lead(feature, node) * f64::from(x);
            });
            others[of_nodes.len()] += bias(node);
        }
        for (feature, amount) in others.into_iter().enumerate() {
            let name = of_nodes.get(feature).map_or("bias", String::as_str);
            push(name, format!("{n_changed} other {what}s that change along"), amount);
        }
        let v = &self.weights[self.layout.edge_weights()];
        let mut sums = vec![0.0; v.len()];
        prepared.topology.each_edge(|edge| {
            let cut = |y: &[u8]| f64::from(u8::from(y[edge.from] != y[edge.to]));
            let difference = cut(rival) - cut(y);
            if difference != 0.0 {
                let features = &prepared.edges[edge.index * v.len()..(edge.index + 1) * v.len()];
                sums.iter_mut().zip(features).for_each(|(s, &f)| *s += difference * f64::from(f));
            }
        });
        for ((name, sum), &v) in of_edges.iter().zip(sums).zip(v) {
            push(name, "edges between different labels".to_owned(), sum * f64::from(v));
        }
        reasons
    }
}

impl StructuredModel for SegmentModel {
    type Data = Scenes;
    type Options = SceneOptions;
    type Answer = Segmented;
    type Metrics = SegmentMetrics;
    const METRICS: &'static [&'static str] = &["foreground_iou", "iou", "pixel_accuracy", "exact"];

    fn header(&self) -> &Header {
        &self.about.header
    }

    fn keep_evaluation(&mut self, evaluation: Evaluation) {
        self.about.header.evaluation = Some(evaluation);
    }

    fn from_file(file: ModelFile) -> Result<Self, Error> {
        let about: About = structured::description(&file, Task::Segment)?;
        let bad = |why: &str| structured::unfit(&file, why);
        about.schema.check().map_err(|why| bad(&format!("its labels: {why}")))?;
        let n_labels = about.schema.labels().len();
        let fits = (2..=254).contains(&n_labels) && about.header.spec.task == Task::Segment;
        if !fits || about.header.spec.segment.check().is_err() {
            return Err(bad("its choices do not fit each other"));
        }
        let weights = file.f32(WEIGHTS)?;
        let weights = weights.ok_or_else(|| file.bad_tensor(WEIGHTS, "it is not there"))?.to_vec();
        let layout = layout(&about.header.spec.segment, &about.schema);
        if weights.len() != layout.dim() || weights.iter().any(|w| !w.is_finite()) {
            return Err(file.bad_tensor(WEIGHTS, "it does not fit the features").into());
        }
        if weights[layout.edge_weights()].iter().any(|w| *w < 0.0) {
            return Err(file.bad_tensor(WEIGHTS, "weights of edges are never negative").into());
        }
        Ok(Self::new(weights, about))
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let weights = (WEIGHTS, vec![self.weights.len()], TensorData::F32(&self.weights));
        structured::encode(&self.about, &[weights])
    }

    fn n_weights(&self) -> usize {
        self.weights.iter().filter(|w| **w != 0.0).count()
    }

    fn read(&self, source: impl Into<Source>, options: &SceneOptions) -> Result<Scenes, Error> {
        Scenes::read_with(source, options, &self.about.schema)
    }

    fn stream(
        &self,
        source: impl Into<Source>,
        options: &SceneOptions,
        on_block: &mut dyn FnMut(&Scenes) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        Scenes::stream(source, options, &self.about.schema, on_block)
    }

    fn answer(&self, data: &Scenes, ask: &Ask) -> Result<Vec<Segmented>, Error> {
        if ask.needs_proba() || ask.n_best > 0 {
            return Err(Error::request(
                "a segmentation gives its best labelling and the confidence of its labels; it has no probabilities",
            ));
        }
        let listener = Listener::here();
        let one = |i: usize| listener.go_on().and_then(|()| self.label_one(data.get(i), ask));
        (0..data.len()).into_par_iter().map(one).collect()
    }

    fn probability(_: &Segmented) -> Option<f64> {
        None
    }

    fn compare(&self, data: &Scenes, found: &[Segmented]) -> Result<SegmentMetrics, Error> {
        SegmentMetrics::new(data, found)
    }

    /// There is no sum over labellings.
    fn has_proba(&self) -> bool {
        false
    }
}

impl Scene {
    /// Width and height of an image.
    pub fn size(&self) -> Option<(usize, usize)> {
        match &self.kind {
            SceneKind::Image(_, image) => Some((image.width, image.height)),
            SceneKind::Graph(_) => None,
        }
    }
}
