//! Training on treebanks.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use lineal::data::ConlluColumn;
use lineal::metrics::DependencyMetrics;
use lineal::{
    CurvePoint, DependencyModel, DependencySpec, Format, Report, Source, TagModel, TagsKind,
    TrainSpec, Training, Treebank, TreebankOptions,
};
use serde_json::{Value, json};

use super::eval;
use crate::args::{FileArgs, TrainArgs};
use crate::talk::{Talk, count, seconds};
use crate::train::request::{self, Request};
use crate::train::{Learns, Shown};

/// How treebanks are read, and where their tags come from.
pub struct TreebankRequest {
    read: TreebankOptions,
    tagger: Option<TagModel>,
    /// A file with the same sentences and other tags.
    tagged: Option<PathBuf>,
}

impl Learns for DependencyModel {
    type Data = Treebank;
    type Options = TreebankRequest;
    type Metrics = DependencyMetrics;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<TreebankRequest>> {
        let defaults = DependencySpec::default();
        let named = args.dependency.tags_file();
        let is_conllu =
            |path: &PathBuf| Format::from_name(&path.to_string_lossy()) == Some(Format::Conllu);
        let (tagged, tagger) = match named.clone() {
            Some(path) if is_conllu(&path) => (Some(path), None),
            other => (None, other),
        };
        let dependency = DependencySpec {
            decoder: args.dependency.decoder,
            order: args.tag.order,
            templates: templates(args)?,
            hash_bits: args.text.hash.map(u32::from),
            candidates: args.dependency.candidates,
            labeller: args.dependency.labeller.unwrap_or(defaults.labeller),
            tags: match (args.dependency.tags.as_deref(), &tagger) {
                (Some("jackknife"), _) => TagsKind::Jackknife,
                (_, Some(_)) => TagsKind::Given,
                _ => TagsKind::Gold,
            },
            single_root: !args.dependency.many_roots,
            forbidden: match &args.tag.forbid {
                Some(path) => lineal::read_forbidden_arcs(path)?,
                None => Vec::new(),
            },
        };
        let read = TreebankOptions {
            require_heads: true,
            single_root: dependency.single_root,
            ..read_options(&args.file)
        };
        let spec = TrainSpec { dependency, ..request::spec(args)? };
        let tagger = tagger.as_deref().map(TagModel::load).transpose()?;
        let options = TreebankRequest { read, tagger, tagged };
        Request::new(args, spec, options, args.tag.files().cloned().chain(named))
    }

    fn read(
        source: Source,
        _: &TrainArgs,
        request: &mut Request<TreebankRequest>,
        talk: &mut dyn FnMut(Vec<String>),
    ) -> anyhow::Result<Treebank> {
        let start = Instant::now();
        let data = lineal::read_treebank(source, &request.options.read)?;
        talk(data_lines(&data, start.elapsed().as_secs_f64()));
        match &request.options.tagged {
            Some(path) => retagged(&data, path),
            None => Ok(data),
        }
    }

    fn labelled(
        source: Source,
        request: &Request<TreebankRequest>,
        data: &Treebank,
        talk: Talk,
    ) -> anyhow::Result<Treebank> {
        let format = request.format_of(&source.name(), request.options.read.format);
        let options = TreebankOptions { format, ..TreebankOptions::default() };
        let other = lineal::data::read_treebank_with(source, &options, &data.schema)?;
        if other.n_heads() == 0 {
            bail!(
                "{}: the words have no heads to compare with; fill the HEAD column",
                other.source
            );
        }
        warn_unseen(&other, talk);
        Ok(other)
    }

    fn fit(
        request: &Request<TreebankRequest>,
        data: &Treebank,
        held_out: Option<&Treebank>,
        shown: &Shown,
    ) -> anyhow::Result<(Self, Report)> {
        let old = request.start.as_deref().map(DependencyModel::load).transpose()?;
        let mut watch = |point: &CurvePoint| shown.pass(point);
        let mut training = Training::new(data, &request.spec).monitor(&mut watch);
        if let Some(held_out) = held_out {
            training = training.held_out(held_out);
        }
        if let Some(old) = &old {
            training = training.start_from(old);
        }
        if let Some(tagger) = &request.options.tagger {
            training = training.tagger(tagger);
        }
        Ok(training.run()?)
    }

    fn evaluate(&self, data: &Treebank) -> anyhow::Result<DependencyMetrics> {
        Ok(DependencyModel::evaluate(self, data)?)
    }

    fn source(data: &Treebank) -> &str {
        &data.source
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<u64> {
        let bytes = self.to_bytes().map_err(io::Error::other)?;
        out.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    fn shrink(&self, max_bytes: u64) -> anyhow::Result<Option<Self>> {
        Ok(Some(DependencyModel::shrink(self, max_bytes)?))
    }

    fn n_weights(&self) -> usize {
        DependencyModel::n_weights(self)
    }

    fn main_metric(metrics: &DependencyMetrics) -> (&'static str, f64) {
        metrics.las.map_or(("uas", metrics.uas), |las| ("las", las))
    }

    fn in_short(metrics: &DependencyMetrics) -> String {
        eval::in_short(metrics)
    }

    fn metric_rows(metrics: &DependencyMetrics) -> Vec<(&'static str, String)> {
        eval::metric_rows(metrics)
    }

    fn metrics_json(metrics: &DependencyMetrics) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(metrics)?)
    }

    fn said(&self, report: &Report) -> [Vec<String>; 2] {
        let stages = report.structured.iter().flat_map(|s| &s.stages);
        let figures = stages.filter_map(|stage| {
            let (name, value) = stage.figure.as_ref()?;
            Some(format!(
                "{}: {name} {value:.4} after {}",
                stage.stage,
                count(stage.passes, "pass")
            ))
        });
        let trees =
            format!("trees: {}, {}", super::inspect::kind(self), super::inspect::choice(self));
        let weights = count(self.n_weights(), "weight");
        [[trees].into_iter().chain(figures).collect(), vec![weights]]
    }

    fn more_json(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("nonzeros", json!(self.n_weights())),
            ("trees", json!(super::inspect::kind(self))),
            ("order", json!(super::inspect::order(self))),
            ("candidates", json!(self.candidates())),
        ]
    }

    fn nouns() -> [&'static str; 3] {
        ["sentences", "weights", "relations"]
    }
}

/// The data with the tags of another file with the same sentences.
fn retagged(data: &Treebank, path: &Path) -> anyhow::Result<Treebank> {
    let tagged = lineal::read_treebank(path, &TreebankOptions::default())?;
    let forms = |data: &Treebank, i: usize| -> Option<Vec<String>> {
        let sentence = (i < data.len()).then(|| data.get(i))?;
        Some((0..sentence.len()).map(|t| sentence.form(t).to_owned()).collect())
    };
    let n = data.len().max(tagged.len());
    if let Some(i) = (0..n).find(|&i| forms(data, i) != forms(&tagged, i)) {
        bail!(
            "{}: sentence {} is not that of {}; give a file with the same words and other tags",
            path.display(),
            i + 1,
            data.source
        );
    }
    let cells = |column| -> Vec<&str> {
        tagged.iter().flat_map(|s| (0..s.len()).map(move |t| s.cell(t, column))).collect()
    };
    let columns = [ConlluColumn::Upos, ConlluColumn::Xpos, ConlluColumn::Feats];
    let cells = columns.map(cells);
    let columns: Vec<_> =
        columns.into_iter().zip(&cells).map(|(c, cells)| (c, &cells[..])).collect();
    Ok(data.with_columns(&columns))
}

/// How a treebank is read.
pub fn read_options(file: &FileArgs) -> TreebankOptions {
    TreebankOptions { format: file.format, ..TreebankOptions::default() }
}

/// Says which relations training did not see.
pub fn warn_unseen(data: &Treebank, talk: Talk) {
    if data.n_unseen() > 0 {
        let new = &data.relations[data.schema.relations.len().min(data.relations.len() - 1)];
        talk.warn(format_args!(
            "{}: {} with a relation that training did not see, such as `{new}`: counted as wrong",
            data.source,
            count(data.n_unseen(), "word")
        ));
    }
}

/// The data as it was understood.
fn data_lines(data: &Treebank, read_seconds: f64) -> Vec<String> {
    let time =
        if read_seconds < 0.1 { String::new() } else { format!(" ({})", seconds(read_seconds)) };
    vec![format!(
        "{}: {}, {}, {}{time}",
        data.source,
        count(data.len(), "sentence"),
        count(data.n_tokens(), "word"),
        count(data.schema.relations.len(), "relation")
    )]
}

/// The text of the template file; mistakes in it are told with its name when its columns are known.
fn templates(args: &TrainArgs) -> anyhow::Result<Option<String>> {
    let read = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the template {}", path.display()))
    };
    args.tag.template.as_ref().map(read).transpose()
}
