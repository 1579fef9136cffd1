//! Training on sequences.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::{Context, bail};
use lineal::{
    Bias, CurvePoint, Report, SequenceOptions, Sequences, Source, TagFeatures, TagMetrics,
    TagModel, TagSpec, TrainSpec, Training,
};
use serde_json::{Value, json};

use super::eval;
use crate::args::{FileArgs, TrainArgs};
use crate::exit::usage;
use crate::talk::{Talk, count, seconds};
use crate::train::request::{self, Request};
use crate::train::{Learns, Shown};

impl Learns for TagModel {
    type Data = Sequences;
    type Options = SequenceOptions;
    type Metrics = TagMetrics;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<SequenceOptions>> {
        let tag = TagSpec {
            features: features(args)?,
            hash_bits: args.text.hash.map(u32::from),
            min_count: args.tag.min_count.map_or(1, |n| n.min(u32::MAX as usize) as u32),
            order: args.tag.order.unwrap_or(TagSpec::default().order),
            ends: !args.tag.no_ends,
            bias: bias(args)?,
            weights: args.tag.label_weights.unwrap_or(TagSpec::default().weights),
            scheme: args.tag.scheme,
            forbidden: match &args.tag.forbid {
                Some(path) => lineal::read_forbidden(path)?,
                None => Vec::new(),
            },
            legal_rivals: args.tag.legal_rivals,
        };
        let spec = TrainSpec { tag, ..request::spec(args)? };
        let options =
            SequenceOptions { unlabelled: args.tag.unlabelled.clone(), ..read_options(&args.file) };
        Request::new(args, spec, options, args.tag.files().cloned())
    }

    fn read(
        source: Source,
        args: &TrainArgs,
        request: &mut Request<SequenceOptions>,
        talk: &mut dyn FnMut(Vec<String>),
    ) -> anyhow::Result<Sequences> {
        let start = Instant::now();
        let data = lineal::read_sequences(source, &request.options)?;
        talk(data_lines(&data, start.elapsed().as_secs_f64()));
        if let Some(path) = &args.model.cost {
            request.spec.cost = Some(lineal::read_cost(path, &data.schema.labels)?);
        }
        Ok(data)
    }

    fn labelled(
        source: Source,
        request: &Request<SequenceOptions>,
        data: &Sequences,
        talk: Talk,
    ) -> anyhow::Result<Sequences> {
        let format = request.format_of(&source.name(), request.options.format);
        let options = SequenceOptions { format, ..request.options.clone() };
        let other = lineal::data::read_sequences_with(source, &options, &data.schema)?;
        if !other.has_labels() {
            bail!(
                "{}: the tokens have no labels to compare with; add the label column",
                other.source
            );
        }
        warn_unseen(&other, data.schema.labels.len(), talk);
        Ok(other)
    }

    fn fit(
        request: &Request<SequenceOptions>,
        data: &Sequences,
        held_out: Option<&Sequences>,
        shown: &Shown,
    ) -> anyhow::Result<(Self, Report)> {
        let old = request.start.as_deref().map(TagModel::load).transpose()?;
        let mut watch = |point: &CurvePoint| shown.pass(point);
        let mut training = Training::new(data, &request.spec).monitor(&mut watch);
        if let Some(held_out) = held_out {
            training = training.held_out(held_out);
        }
        if let Some(old) = &old {
            training = training.start_from(old);
        }
        Ok(training.run()?)
    }

    fn evaluate(&self, data: &Sequences) -> anyhow::Result<TagMetrics> {
        Ok(TagModel::evaluate(self, data)?)
    }

    fn source(data: &Sequences) -> &str {
        &data.source
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<u64> {
        let bytes = self.to_bytes().map_err(io::Error::other)?;
        out.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    fn shrink(&self, max_bytes: u64) -> anyhow::Result<Option<Self>> {
        Ok(Some(TagModel::shrink(self, max_bytes)?))
    }

    fn n_weights(&self) -> usize {
        TagModel::n_weights(self)
    }

    fn main_metric(metrics: &TagMetrics) -> (&'static str, f64) {
        (metrics.main_name(), metrics.main())
    }

    fn in_short(metrics: &TagMetrics) -> String {
        eval::in_short(metrics)
    }

    fn metric_rows(metrics: &TagMetrics) -> Vec<(&'static str, String)> {
        eval::metric_rows(metrics)
    }

    fn metrics_json(metrics: &TagMetrics) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(metrics)?)
    }

    fn said(&self, report: &Report) -> [Vec<String>; 2] {
        let mut after = vec![format!(
            "{} with {}",
            count(self.n_attributes(), "attribute"),
            count(self.n_weights(), "weight")
        )];
        let unlabelled = report.structured.as_ref().map_or(0, |s| s.unlabelled);
        if unlabelled > 0 {
            after.push(format!("{} without a label", count(unlabelled, "token")));
        }
        [Vec::new(), after]
    }

    fn more_json(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("weights", json!(self.n_weights())),
            ("order", json!(self.spec().tag.order)),
            ("scheme", json!(self.spec().tag.scheme)),
        ]
    }

    fn nouns() -> [&'static str; 3] {
        ["sequences", "attributes", "labels"]
    }
}

/// How a file of sequences is read.
pub fn read_options(file: &FileArgs) -> SequenceOptions {
    SequenceOptions { format: file.format, label: file.label.clone(), unlabelled: None }
}

/// Says which labels training did not see.
pub fn warn_unseen(data: &Sequences, n_known: usize, talk: Talk) {
    let new = &data.labels[n_known.min(data.labels.len())..];
    if !new.is_empty() {
        let n = data.gold().iter().filter(|&&g| g != lineal::UNLABELLED && g as usize >= n_known);
        talk.warn(format_args!(
            "{}: {} with a label that training did not see, such as `{}`: counted as wrong",
            data.source,
            count(n.count(), "token"),
            new[0]
        ));
    }
}

/// The data as it was understood.
fn data_lines(data: &Sequences, read_seconds: f64) -> Vec<String> {
    let time =
        if read_seconds < 0.1 { String::new() } else { format!(" ({})", seconds(read_seconds)) };
    let columns = match data.schema.has_attributes() {
        true => "named attributes".to_owned(),
        false => format!(
            "{}, label in column {}",
            count(data.schema.columns.len(), "column"),
            data.schema.columns[data.schema.label]
        ),
    };
    vec![format!(
        "{}: {}, {}, {}, {columns}{time}",
        data.source,
        count(data.len(), "sequence"),
        count(data.n_tokens(), "token"),
        count(data.schema.labels.len(), "label")
    )]
}

fn features(args: &TrainArgs) -> anyhow::Result<TagFeatures> {
    Ok(match (&args.tag.template, &args.tag.features) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the template {}", path.display()))?;
            // Mistakes in it are told with its name, before any data is read.
            if let Err(error) = lineal::sequence::Templates::parse(&text) {
                anyhow::bail!("{}: {error}", path.display());
            }
            TagFeatures::Templates(text)
        }
        (None, Some(list)) => {
            lineal::sequence::expand(list)?;
            TagFeatures::List(list.clone())
        }
        (None, None) => TagFeatures::Default,
    })
}

/// Whether every token has an attribute for how frequent a label is.
fn bias(args: &TrainArgs) -> anyhow::Result<Option<bool>> {
    match args.model.bias.map(|bias| bias.0) {
        None => Ok(None),
        Some(Bias::None) => Ok(Some(false)),
        Some(Bias::Penalised) => Ok(Some(true)),
        Some(Bias::Free) => usage(
            "the bias of sequences is an attribute like others: say --bias penalised, or none",
        ),
    }
}
