//! From a spec and labelled images or graphs to a certified segmentation.

use super::inputs::{Prepared, layout};
use super::metrics::SegmentMetrics;
use super::model::{About, SegmentModel, Segmented};
use super::scenes::Scenes;
use super::spec::SegmentSpec;
use crate::Error;
use crate::request::spec::{ClassWeight, SolverKind, Task, TrainSpec};
use crate::structured::{Counts, Header, Metric, fit, train_and_held_out};
use crate::train::report::{Report, StructuredReport};
use crate::train::{Trainable, Training};
use lineal_erm::structured::learn_max;
use lineal_graph::{Decoder, Effort, Example, GraphModel, Labelling, LabellingOptions, VOID};
use rayon::prelude::*;

impl From<SegmentSpec> for TrainSpec {
    /// Segmentation with these choices and the defaults of everything else.
    fn from(segment: SegmentSpec) -> Self {
        Self { segment, ..Self::for_task(Task::Segment) }
    }
}

impl Trainable for Scenes {
    type Model = SegmentModel;

    fn is_for(task: Task) -> bool {
        task == Task::Segment
    }

    fn train(run: Training<'_, Self>) -> Result<(SegmentModel, Report), Error> {
        let Training { data, spec, held_out, start, on_pass, .. } = run;
        check(spec, data)?;
        let (data, held_out) = train_and_held_out(data, held_out, spec)?;
        let data = &*data;
        let model = layout(&spec.segment, &data.schema);
        let prepared = prepare(spec, data)?;
        let class_weights = class_weights(spec, data, &prepared)?;
        let examples: Vec<Example<'_, _>> = prepared
            .iter()
            .zip(data.iter())
            .map(|(p, scene)| Example {
                input: p.input(),
                gold: &p.gold,
                weight: f64::from(scene.weight),
            })
            .collect();
        let options = LabellingOptions { class_weights, ..LabellingOptions::default() };
        let problem = Labelling::new(model, examples, options)
            .map_err(|e| Error::request(format!("{}: {e}", data.source)))?;
        let n_known: usize = prepared.iter().map(n_known).sum();
        let unlabelled = prepared.iter().map(|p| p.gold.len()).sum::<usize>() - n_known;
        if unlabelled > 0 && spec.solver == SolverKind::Dual {
            let what = if data.is_graphs() { "nodes without a label" } else { "void pixels" };
            return Err(Error::request(format!(
                "{}: with {what} the loss has no dual: choose spec.solver = sgd, or leave it out",
                data.source
            )));
        }
        let mut learning = spec.learning(n_known as f64)?;
        if unlabelled > 0 && spec.max_passes.is_none() && spec.n_epochs().is_none() {
            learning.request.passes = learning.request.passes.min(PASSES_WITHOUT_A_GAP);
        }
        let start = start.map(|old| old.start(&model, data)).transpose()?;
        let held_out = match &held_out {
            Some(held_out) => Some((&**held_out, prepare(spec, held_out)?)),
            None => None,
        };
        let metric = held_out.as_ref().map(|(held_out, prepared)| -> Metric<'_> {
            Box::new(
                move |w| Ok(SegmentMetrics::new(held_out, &label(&model, prepared, w))?.main()),
            )
        });
        let mut run = fit(spec, on_pass, metric, |see| {
            Ok(learn_max(&problem, &learning.request, start, see)?)
        })?;
        let weights = std::mem::take(&mut run.w);
        let counts = Counts {
            examples: data.len(),
            features: model.n_features + model.n_edge_features,
            classes: model.n_labels,
        };
        let more = StructuredReport {
            tokens: data.n_nodes(),
            unlabelled,
            weights: weights.len(),
            ..StructuredReport::default()
        };
        let mut report = run.report(spec, &learning, counts, more);
        let never = never_met(data);
        if !never.is_empty() {
            let what = if data.is_graphs() { "node" } else { "pixel" };
            report.warnings.push(format!(
                "no {what} has the label {}: it is never predicted; check the values of options.labels",
                never.join(" or ")
            ));
        }
        let header = Header::new(spec, &report, &data.source);
        let about = About { header, schema: data.schema.clone() };
        Ok((SegmentModel::new(weights, about), report))
    }
}

/// Where some labels are not known there is no gap to stop by. After so many passes the loss hardly falls any more.
const PASSES_WITHOUT_A_GAP: usize = 100;

/// Sees that the choices fit each other and the data.
fn check(spec: &TrainSpec, data: &Scenes) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Request(why));
    spec.check_without_sums("labellings of an image")?;
    if spec.cost.is_some() {
        return refuse("spec.cost is not for segmentation, whose cost is the number of wrong pixels: leave it out, or weight the labels by spec.class_weight".into());
    }
    if data.is_graphs() && (spec.segment.superpixels.is_some()) {
        return refuse(
            "spec.segment.superpixels are pieces of images; leave it out for graphs".into(),
        );
    }
    if spec.segment.superpixels == Some(0) {
        return refuse("spec.segment.superpixels counts the parts of an image: give 1 or more, or leave it out for pixels".into());
    }
    spec.segment.check().map_err(Error::Request)?;
    let n_labels = data.schema.labels().len();
    if !(2..=254).contains(&n_labels) {
        return refuse(format!(
            "{}: there must be 2 to 254 labels to choose from, and there {} {n_labels}",
            data.source,
            if n_labels == 1 { "is" } else { "are" }
        ));
    }
    match n_labels - never_met(data).len() {
        0 => refuse(format!("{}: there are no labels to learn from", data.source)),
        1 => refuse(format!(
            "{}: all pixels have the same label: there is nothing to tell apart (see options.labels and options.threshold)",
            data.source
        )),
        _ => Ok(()),
    }
}

/// Labels that no pixel or node has.
fn never_met(data: &Scenes) -> Vec<String> {
    let labels = data.schema.labels();
    let mut met = vec![false; labels.len()];
    for &label in data.iter().filter_map(|scene| scene.labels.as_ref()).flatten() {
        if let Some(met) = met.get_mut(usize::from(label)) {
            *met = true;
        }
    }
    labels.into_iter().zip(met).filter(|(_, met)| !met).map(|(label, _)| label).collect()
}

/// The features of all scenes.
fn prepare(spec: &TrainSpec, data: &Scenes) -> Result<Vec<Prepared>, Error> {
    let one = |i: usize| Prepared::new(&spec.segment, &data.schema, data.get(i));
    (0..data.len()).into_par_iter().map(one).collect()
}

fn n_known(prepared: &Prepared) -> usize {
    prepared.gold.iter().filter(|&&label| label != VOID).count()
}

/// What a wrong pixel costs, by its gold label.
fn class_weights(
    spec: &TrainSpec,
    data: &Scenes,
    prepared: &[Prepared],
) -> Result<Option<Vec<f64>>, Error> {
    let labels = data.schema.labels();
    match &spec.class_weight {
        ClassWeight::Equal => Ok(None),
        ClassWeight::Named(named) => {
            if let Some((name, _)) = named.iter().find(|(name, _)| !labels.contains(name)) {
                return Err(Error::request(format!(
                    "spec.class_weight: `{name}` is not a label; labels are {}",
                    labels.join(", ")
                )));
            }
            let of =
                |label: &String| named.iter().find(|(n, _)| n == label).map_or(1.0, |(_, w)| *w);
            Ok(Some(labels.iter().map(of).collect()))
        }
        ClassWeight::Balanced => {
            let mut counts = vec![0.0f64; labels.len()];
            let known = prepared.iter().flat_map(|p| &p.gold).filter(|l| **l != VOID);
            for &label in known {
                if let Some(count) = counts.get_mut(usize::from(label)) {
                    *count += 1.0;
                }
            }
            let even = counts.iter().sum::<f64>() / labels.len() as f64;
            Ok(Some(counts.iter().map(|&n| if n > 0.0 { even / n } else { 0.0 }).collect()))
        }
    }
}

/// The best labels at some weights.
fn label(model: &GraphModel, prepared: &[Prepared], w: &[f32]) -> Vec<Segmented> {
    let one = |p: &Prepared| {
        let (mut decoder, mut labels) = (Decoder::<i64>::default(), Vec::new());
        let effort = Effort::default();
        model.label(&p.input(), w, &[], &effort, &mut decoder, &mut labels);
        Segmented { labels: p.to_pixels(&labels), ..Segmented::default() }
    };
    prepared.par_iter().map(one).collect()
}

impl SegmentModel {
    /// The weights to start from, if they are of the same labels and features.
    fn start(&self, model: &GraphModel, data: &Scenes) -> Result<&[f32], Error> {
        match self.schema() == &data.schema && self.layout() == model {
            true => Ok(self.weights()),
            false => Err(Error::request(
                "the model to start from has other labels or features; give the same data and flags",
            )),
        }
    }
}
