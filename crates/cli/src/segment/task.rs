//! What images and graphs bring to the commands.

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use lineal::data::{ImageReadOptions, ImageSet, LeftOut, png};
use lineal::{
    Ask, Scene, SceneKind, SceneOptions, SceneSchema, Scenes, SegmentExplanation, SegmentMetrics,
    SegmentModel, SegmentSpec, Segmented, Source, StructuredModel, TrainSpec,
};
use serde_json::{Value, json};

use super::picture::overlay;
use super::write::{Writer, check_names, is_one_mask, is_other_file};
use crate::args::{EvalArgs, ExplainArgs, FileArgs, Output, PredictArgs, TrainArgs};
use crate::exit::usage;
use crate::html;
use crate::structured::{MetricTable, Pairs, Reason, StructuredTask, maybe, part_reasons};
use crate::talk::{Talk, count, rough, thousands};
use crate::train::request::{self, Request};

/// Images that `eval` lists and its page shows: the worst ones.
const WORST: usize = 10;
const DRAWN: usize = 8;

/// Features of nodes that weigh most, for each label that has weights; of two labels, the second.
fn strongest(model: &SegmentModel, top: Option<usize>) -> Vec<(&str, Vec<(String, f32)>)> {
    let [nodes, _] = model.feature_names();
    let columns = model.layout().columns();
    let of_column = |column: usize| {
        let label = if columns == 1 { 1 } else { column };
        let mut weights: Vec<(String, f32)> = (nodes.iter().cloned().enumerate())
            .map(|(j, name)| (name, model.weights()[j * columns + column]))
            .collect();
        weights.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        weights.truncate(top.unwrap_or(TOP));
        (model.labels()[label].as_str(), weights)
    };
    (0..columns).map(of_column).collect()
}

/// Features that are shown for each label.
const TOP: usize = 10;

impl StructuredTask for SegmentModel {
    const EXAMPLE: &'static str = "image";
    const PART: &'static str = "pixel";
    const PARTS: &'static str = "pixels";
    const CLASS: &'static str = "label";
    const NOUNS: [&'static str; 3] = ["images", "features", "labels"];
    const CLASSES: &'static str = "labels";
    const CARDS: &'static [&'static str] = &["iou", "foreground_iou", "pixel_accuracy"];
    const HAS: &'static str = "--confidence";
    type Request = SceneOptions;
    type Explanation = SegmentExplanation;
    type Writer<'m> = Writer<'m>;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<SceneOptions>> {
        let mut segment = SegmentSpec {
            superpixels: args.segment.superpixels,
            edges: !args.segment.no_edges,
            ..SegmentSpec::default()
        };
        if let Some(neighbours) = args.segment.neighbours {
            segment.contrast.diagonals = neighbours == 8;
        }
        let common = request::spec(args)?;
        let penalty = match args.penalty.c.is_some() || args.penalty.l2.is_some() {
            true => common.penalty,
            false => SegmentSpec::penalty(),
        };
        let class_weight = args.model.class_weight.clone().unwrap_or_default();
        let spec = TrainSpec { segment, penalty, class_weight, ..common };
        let options = Self::options(&args.file);
        let images = ImageReadOptions {
            labels: args.segment.mask_labels.clone(),
            threshold: args.segment.mask_threshold,
            void: args.segment.mask_void.clone(),
            require_masks: true,
            ..options.images
        };
        Request::new(args, spec, SceneOptions { images, ..options }, [])
    }

    fn read_training(
        source: Source,
        args: &TrainArgs,
        request: &mut Request<SceneOptions>,
    ) -> anyhow::Result<Scenes> {
        let data = Scenes::read(source, &request.options)?;
        if data.is_graphs() {
            let flags = &args.segment;
            let of_images = [
                ("--superpixels", flags.superpixels.is_some()),
                ("--neighbours", flags.neighbours.is_some()),
                ("--mask-labels", !flags.mask_labels.is_empty()),
                ("--mask-threshold", flags.mask_threshold.is_some()),
                ("--mask-void", !flags.mask_void.is_empty()),
            ];
            if let Some((flag, _)) = of_images.into_iter().find(|(_, given)| *given) {
                return usage(format!(
                    "{flag} is for images, and {} has graphs: leave it out",
                    data.source
                ));
            }
            if args.penalty.c.is_none() && args.penalty.l2.is_none() {
                request.spec.penalty = SegmentSpec::graph_penalty();
            }
        }
        Ok(data)
    }

    fn example(data: &Scenes) -> &'static str {
        if data.is_graphs() { "graph" } else { Self::EXAMPLE }
    }

    fn size(data: &Scenes) -> Vec<String> {
        let what = if data.is_graphs() { "node" } else { "pixel" };
        vec![count(data.n_nodes(), what), count(data.schema.labels().len(), "label")]
    }

    fn read_like(
        source: Source,
        request: &Request<SceneOptions>,
        data: &Scenes,
    ) -> anyhow::Result<Scenes> {
        let format = request.format_of(&source.name(), request.options.format);
        let options = SceneOptions { format, ..request.options.clone() };
        Ok(Scenes::read_with(source, &options, &data.schema)?)
    }

    fn cannot_compare(data: &Scenes) -> Option<&'static str> {
        let why = "there are no labels to compare with; give every image its mask";
        (!data.has_labels()).then_some(why)
    }

    fn unseen(data: &Scenes) -> Option<(String, String)> {
        let new = data.labels.get(data.schema.labels().len())?;
        let n = data.n_unseen();
        let what = if data.is_graphs() { "node" } else { "pixel" };
        (n > 0).then(|| (count(n, what), new.clone()))
    }

    fn left_out(data: &Scenes) -> LeftOut {
        data.left_out.clone()
    }

    fn options(file: &FileArgs) -> SceneOptions {
        let images =
            ImageReadOptions { max_pixels: file.max_pixels, ..ImageReadOptions::default() };
        SceneOptions { format: file.format, images, known: false }
    }

    fn predict_options(args: &PredictArgs) -> SceneOptions {
        let (known, options) = (args.tag.known.is_some(), Self::options(&args.file));
        let images = ImageReadOptions { ignore_masks: !known, ..options.images };
        SceneOptions { known, images, ..options }
    }

    fn ask(args: &PredictArgs) -> Ask {
        let (known, confidence) = (args.tag.known.is_some(), args.segment.confidence);
        Ask { known, confidence, ..Ask::default() }
    }

    fn has_no_answer(args: &PredictArgs) -> Option<&'static str> {
        let column = args.tag.known.as_deref().is_some_and(|column| !column.is_empty());
        let others =
            args.tag.n_best.is_some() || args.tag.review_below.is_some() || args.top.is_some();
        if args.proba || args.sample || args.min_cost || others {
            Some(
                "a segmentation has its best labels, and --confidence: leave out --proba, --sample, --min-cost, --top, --n-best and --review-below",
            )
        } else if column || args.tag.unlabelled.is_some() {
            Some(
                "--known of images keeps the pixels of their masks that have a label's value, whatever the others have: leave out the column and --unlabelled",
            )
        } else if args.segment.overlay && args.out.is_none() {
            Some("--overlay writes pictures: give their folder with -o")
        } else {
            None
        }
    }

    /// Masks are files: `-o` is their folder, or one of them.
    fn prepare_output(&self, args: &PredictArgs) -> anyhow::Result<bool> {
        if is_graphs(self.schema()) {
            if args.segment.overlay {
                bail!("--overlay is for images; leave it out");
            }
            if args.segment.confidence && args.output != Output::Jsonl {
                return usage(
                    "--confidence of graphs is a number in JSON lines: say --output jsonl",
                );
            }
            return Ok(false);
        }
        let source = Source::from(&args.data);
        // A stream is read once, and graphs are refused where they are read.
        let is_there = (args.data.is_file() || args.data.is_dir())
            && !Self::options(&args.file).is_graphs(&source);
        if args.tag.known.is_some() && is_there {
            let images = ImageSet::open(source, &Self::predict_options(args).images)?;
            if (0..images.len()).all(|i| images.mask_path(i).is_none()) {
                bail!(
                    "{}: --known keeps the marked pixels of masks, and no image has a mask; name it in the second column of a list, or call it like the image with _mask at the end",
                    args.data.display()
                );
            }
        }
        let Some(out) = args.out.as_deref() else {
            return match args.output {
                Output::Text if args.segment.confidence => {
                    bail!(
                        "--confidence writes a picture for each image: give their folder with -o, or say --output jsonl"
                    )
                }
                _ => Ok(false),
            };
        };
        if out == Path::new("-") {
            bail!(
                "masks are pictures: give their folder with -o, or leave it out for the share of each label"
            );
        }
        if is_other_file(out) {
            return usage(format!(
                "-o {}: masks are PNG files; give NAME.png for one image, or a folder",
                out.display()
            ));
        }
        match is_one_mask(out) {
            true => {
                crate::files::check_output(out, &[&args.model, &args.data])?;
                let images = ImageSet::open(&args.data, &Self::predict_options(args).images)?;
                if images.len() > 1 {
                    bail!(
                        "{} has {} images, and {} is one mask: give a folder with -o",
                        args.data.display(),
                        images.len(),
                        out.display()
                    );
                }
            }
            false => {
                if is_there {
                    let images = ImageSet::open(&args.data, &Self::predict_options(args).images)?;
                    check_names(&images, out)?;
                    if images.n_skipped() > 0 {
                        Talk::new(args.run.quiet).warn(format_args!(
                            "{}: images of other kinds than PNG, JPEG, PPM and PGM are skipped: {}",
                            args.data.display(),
                            images.n_skipped()
                        ));
                    }
                }
                std::fs::create_dir_all(out).map_err(|e| {
                    anyhow::anyhow!("cannot make the folder {}: {e}", out.display())
                })?;
            }
        }
        Ok(true)
    }

    fn writer(&self, args: &PredictArgs) -> Writer<'_> {
        Writer::new(self, args)
    }

    fn write(
        writer: &mut Writer<'_>,
        out: &mut dyn Write,
        data: &Scenes,
        i: usize,
        _: usize,
        found: &Segmented,
    ) -> io::Result<()> {
        writer.write(out, data.get(i), found)
    }

    fn main_metric(metrics: &SegmentMetrics) -> (&'static str, f64) {
        ("IoU", metrics.main())
    }

    fn one_line(metrics: &SegmentMetrics) -> String {
        let foreground =
            metrics.all.foreground_iou.map(|iou| format!(", of the foreground {iou:.4}"));
        let foreground = foreground.unwrap_or_default();
        format!("IoU {:.4}{foreground}, pixels {:.4}", metrics.all.iou, metrics.all.pixel_accuracy)
    }

    fn metric_rows(metrics: &SegmentMetrics) -> Pairs {
        let [examples, parts] = match metrics.is_graphs {
            true => ["graphs", "nodes"],
            false => ["images", "pixels"],
        };
        let mut rows = vec![
            (examples, thousands(metrics.all.images as usize)),
            (parts, thousands(metrics.all.pixels as usize)),
            ("pixel_accuracy", format!("{:.4}", metrics.all.pixel_accuracy)),
            ("iou", format!("{:.4}", metrics.all.iou)),
            ("foreground_iou", maybe(metrics.all.foreground_iou)),
            ("exact", format!("{:.4}", metrics.all.exact)),
        ];
        rows.retain(|(name, _)| *name != "foreground_iou" || metrics.all.foreground_iou.is_some());
        rows
    }

    fn metric_tables(metrics: &SegmentMetrics) -> Vec<MetricTable> {
        let header = ["label", "IoU", "precision", "recall", "gold", "found"];
        let mut labels = vec![header.map(str::to_owned).to_vec()];
        labels.extend(metrics.all.by_label.iter().map(|(name, area)| {
            let shares = [area.iou, area.precision, area.recall].map(|x| format!("{x:.4}"));
            let counts = [area.gold, area.found].map(|n| thousands(n as usize));
            [name.clone()].into_iter().chain(shares).chain(counts).collect()
        }));
        let figure = |image: &&lineal::SceneScores| {
            image.scores.foreground_iou.or(image.scores.accuracy).unwrap_or(1.0)
        };
        let mut worst: Vec<_> = metrics.by_image.iter().collect();
        worst.sort_by(|a, b| figure(a).total_cmp(&figure(b)));
        let mut images = vec![["image", "IoU", "accuracy", "pixels"].map(str::to_owned).to_vec()];
        images.extend(worst.into_iter().take(WORST).map(|image| {
            vec![
                image.image.clone(),
                maybe(image.scores.foreground_iou),
                maybe(image.scores.accuracy),
                thousands(image.scores.pixels as usize),
            ]
        }));
        vec![
            MetricTable { title: "Labels", note: "Over the pixels of all images.", rows: labels },
            MetricTable { title: "The worst images", note: "", rows: images },
        ]
    }

    /// The worst images with what was found and what should have been.
    fn page_sections(
        &self,
        data: &Scenes,
        found: &[Segmented],
        _: &EvalArgs,
    ) -> anyhow::Result<Vec<String>> {
        let metrics = self.compare(data, found)?;
        let scored = |i: usize| {
            let name = &data.get(i).name;
            metrics.by_image.iter().find(|image| image.image == *name).map(|image| image.scores)
        };
        let figure =
            |i: usize| scored(i).and_then(|s| s.foreground_iou.or(s.accuracy)).unwrap_or(1.0);
        let mut worst: Vec<usize> =
            (0..data.len()).filter(|&i| data.get(i).size().is_some()).collect();
        worst.sort_by(|&a, &b| figure(a).total_cmp(&figure(b)));
        let mut sections = Vec::new();
        for &i in worst.iter().take(DRAWN) {
            let scene = data.get(i);
            let (SceneKind::Image(_, image), Some(gold)) = (&scene.kind, &scene.labels) else {
                continue;
            };
            let shown = |labels: &[u8]| -> anyhow::Result<String> {
                let bytes = png(image.width, image.height, overlay(image, labels));
                Ok(html::image(&bytes.map_err(anyhow::Error::msg)?, &scene.name))
            };
            sections.push(html::section(
                &format!("{}: {:.4}", scene.name, figure(i)),
                &format!(
                    "<h3>Predicted</h3>{}<h3>Gold</h3>{}",
                    shown(&found[i].labels)?,
                    shown(gold)?
                ),
                "",
            ));
        }
        Ok(sections)
    }

    fn about(&self) -> [Vec<String>; 2] {
        [vec![shape(self)], vec![count(self.n_weights(), "weight")]]
    }

    fn train_json(&self) -> Vec<(&'static str, Value)> {
        let layout = self.layout();
        vec![
            ("nonzeros", json!(self.n_weights())),
            ("node_features", json!(layout.n_features)),
            ("edge_features", json!(layout.n_edge_features)),
        ]
    }

    fn classes(&self) -> &[String] {
        self.labels()
    }

    fn facts(&self) -> Pairs {
        let layout = self.layout();
        vec![
            ("nodes", shape(self)),
            (
                "features",
                format!("{} of nodes, {} of edges", layout.n_features, layout.n_edge_features),
            ),
            ("memory", format!("about {} bytes per pixel", self.bytes_per_pixel())),
        ]
    }

    fn weight_lines(&self, top: Option<usize>) -> Vec<String> {
        let [_, edges] = self.feature_names();
        let layout = self.layout();
        let mut lines = Vec::new();
        for (label, weights) in strongest(self, top) {
            lines.push(format!("for {label}"));
            lines.extend(weights.iter().map(|(name, w)| format!("  {w:+.4}  {name}")));
        }
        if !edges.is_empty() {
            lines.push("what a border costs".to_owned());
            let weights = &self.weights()[layout.edge_weights()];
            lines.extend(edges.iter().zip(weights).map(|(name, w)| format!("  {w:+.4}  {name}")));
        }
        lines
    }

    fn inspect_json(&self, top: Option<usize>) -> Value {
        let spec = &self.spec().segment;
        let features: Vec<Value> = strongest(self, top)
            .into_iter()
            .map(|(label, weights)| json!({"class": label, "features": weights}))
            .collect();
        let [nodes, edges] = self.feature_names();
        let weights = &self.weights()[self.layout().edge_weights()];
        let edges: Vec<Value> = edges
            .iter()
            .zip(weights)
            .map(|(name, w)| json!({"feature": name, "weight": w}))
            .collect();
        json!({
            "superpixels": spec.superpixels,
            "node_features": nodes.len(),
            "edges": edges,
            "top_features": features,
        })
    }

    fn explain(
        &self,
        data: &Scenes,
        i: usize,
        args: &ExplainArgs,
    ) -> anyhow::Result<Vec<SegmentExplanation>> {
        if args.class.is_some() {
            bail!(
                "--class is for rows; a pixel is explained against the label that comes next: leave it out"
            );
        }
        let scene = data.get(i);
        let node = match (args.pixel, scene.size()) {
            (Some(_), None) => {
                bail!("--pixel is for images; say --token N for a node of a graph, from 1")
            }
            (Some((x, y)), Some((width, height))) if x >= width || y >= height => bail!(
                "{}: there is no pixel {x},{y} in an image of {width} × {height}; both count from 0",
                scene.name
            ),
            (Some((x, y)), Some((width, _))) => Some(y * width + x),
            (None, _) => args.token.map(|token| token - 1),
        };
        Ok(vec![SegmentModel::explain(self, data, i, node)?])
    }

    fn headline(&self, data: &Scenes, i: usize, found: &SegmentExplanation) -> String {
        let scene = data.get(i);
        let others = match found.n_others {
            0 => String::new(),
            n => format!(", with {} that would change along", count(n, what(scene))),
        };
        format!(
            "{}, {} {}: {} ({:.4}), not {}, by {}{others}",
            scene.name,
            what(scene),
            scene.place(found.node),
            self.labels()[usize::from(found.label)],
            found.confidence,
            self.labels()[usize::from(found.other)],
            rough(found.lead)
        )
    }

    fn reasons(found: &SegmentExplanation) -> Vec<Reason> {
        part_reasons(&found.reasons)
    }

    fn explanation_json(&self, i: usize, found: &SegmentExplanation) -> Value {
        json!({
            "image": i + 1,
            "node": found.node + usize::from(is_graphs(self.schema())),
            "label": self.labels()[usize::from(found.label)],
            "against": self.labels()[usize::from(found.other)],
            "lead": found.lead,
            "confidence": found.confidence,
            "others": found.n_others,
        })
    }
}

fn is_graphs(schema: &SceneSchema) -> bool {
    matches!(schema, SceneSchema::Graphs(_))
}

fn what(scene: &Scene) -> &'static str {
    if scene.size().is_some() { "pixel" } else { "node" }
}

/// What is labelled.
fn shape(model: &SegmentModel) -> String {
    let spec = &model.spec().segment;
    let nodes = match (model.schema(), spec.superpixels) {
        (SceneSchema::Graphs(_), _) => "nodes of graphs".to_owned(),
        (_, Some(n)) => format!("{n} superpixels of an image"),
        _ => "pixels of images".to_owned(),
    };
    let agree = match (spec.edges, model.schema(), spec.superpixels) {
        (false, ..) => "each by itself",
        (true, SceneSchema::Graphs(_), _) | (true, _, Some(_)) => "neighbours like to agree",
        _ if spec.contrast.diagonals => "8 neighbours like to agree",
        _ => "4 neighbours like to agree",
    };
    format!("{nodes}; {agree}")
}
