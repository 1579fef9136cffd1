//! `--task tag`: what sequences bring to the commands.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::bail;
use lineal::metrics::{Classified, ClassifyMetrics, UNSEEN, classify};
use lineal::{
    Bias, SchemeKind, SequenceOptions, Sequences, SolverKind, Source, StructuredModel,
    TagExplanation, TagFeatures, TagMetrics, TagModel, TagSpec, Tagged, TrainSpec, UNLABELLED,
    WordList,
};
use serde_json::{Value, json};

use super::write::Writer;
use super::{advice, inspect, metrics, mistakes};
use crate::args::{EvalArgs, ExplainArgs, FileArgs, Named, PredictArgs, TrainArgs};
use crate::exit::usage;
use crate::files::read_text;
use crate::html;
use crate::structured::{MetricTable, Pairs, Reason, StructuredTask};
use crate::table::cut;
use crate::talk::{count, rough, thousands};
use crate::train::request::{self, Request};

impl StructuredTask for TagModel {
    const EXAMPLE: &'static str = "sequence";
    const PART: &'static str = "token";
    const PARTS: &'static str = "tokens";
    const CLASS: &'static str = "label";
    const NOUNS: [&'static str; 3] = ["sequences", "attributes", "labels"];
    const CLASSES: &'static str = "labels";
    const CARDS: &'static [&'static str] =
        &["token_accuracy", "sentence_accuracy", "span_f1", "illegal"];
    type Request = SequenceOptions;
    type Explanation = TagExplanation;
    type Writer<'m> = Writer<'m>;

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
            rules: rules(args)?,
            legal_rivals: args.tag.legal_rivals,
            choose: names_no_learner(args),
            lists: lists(args)?,
            clusters: match &args.tag.clusters {
                Some(path) => lineal::read_word_clusters(path)?,
                None => BTreeMap::new(),
            },
        };
        let class_weight = args.model.class_weight.clone().unwrap_or_default();
        let spec = TrainSpec { tag, class_weight, ..request::spec(args)? };
        let unlabelled = args.tag.unlabelled.clone();
        let options = SequenceOptions { unlabelled, ..Self::options(&args.file) };
        Request::new(args, spec, options, args.tag.files().cloned())
    }

    fn read_training(
        source: Source,
        args: &TrainArgs,
        request: &mut Request<SequenceOptions>,
    ) -> anyhow::Result<Sequences> {
        let data = lineal::read_sequences(source, &request.options)?;
        if let Some(path) = &args.model.cost {
            request.spec.cost = Some(lineal::read_cost(path, &data.schema.labels)?);
        }
        // The labels of texts are made of spans, so that they keep to a scheme.
        if data.schema.texts.is_some() && request.spec.tag.scheme.is_none() {
            request.spec.tag.scheme = Some(SchemeKind::Bio);
        }
        if let Some(size) = args.tag.max_size {
            let least = lineal::least_model_bytes(&data, &request.spec);
            if size.0 < least {
                bail!(
                    "--max-size {} bytes is too small: the transitions between {}, their names and the templates alone take {} bytes; allow more",
                    thousands(size.0 as usize),
                    count(data.schema.labels.len(), "label"),
                    thousands(least as usize)
                );
            }
        }
        // Mistakes in the rules are reported with their file.
        if let (Some(path), Some(text)) = (&args.tag.rules, &request.spec.tag.rules)
            && let Err(why) = lineal::check_rules(&data.schema.labels, text)
        {
            bail!("{}: {why}", path.display());
        }
        Ok(data)
    }

    fn size(data: &Sequences) -> Vec<String> {
        let schema = &data.schema;
        let columns = match schema.has_attributes() {
            true => vec!["named attributes".to_owned()],
            false => vec![
                count(schema.columns.len(), "column"),
                format!("label in column {}", schema.columns[schema.label]),
            ],
        };
        let size = [count(data.n_tokens(), "token"), count(schema.labels.len(), "label")];
        size.into_iter().chain(columns).collect()
    }

    fn details(data: &Sequences) -> Vec<String> {
        advice::lines(data)
    }

    fn read_like(
        source: Source,
        request: &Request<SequenceOptions>,
        data: &Sequences,
    ) -> anyhow::Result<Sequences> {
        let format = request.format_of(&source.name(), request.options.format);
        let options = SequenceOptions { format, ..request.options.clone() };
        Ok(lineal::data::read_sequences_with(source, &options, &data.schema)?)
    }

    fn cannot_compare(data: &Sequences) -> Option<&'static str> {
        let why = "the tokens have no labels to compare with; add the label column, or name it with --label";
        (!data.has_labels()).then_some(why)
    }

    fn unseen(data: &Sequences) -> Option<(String, String)> {
        let n_known = data.schema.labels.len();
        let new = data.labels.get(n_known)?;
        let is_new = |gold: &&u32| **gold != UNLABELLED && **gold as usize >= n_known;
        let n = data.gold().iter().filter(is_new).count();
        Some((count(n, "token"), new.clone()))
    }

    fn options(file: &FileArgs) -> SequenceOptions {
        SequenceOptions {
            format: file.format,
            label: file.label.clone(),
            unlabelled: None,
            weight: file.weight.clone(),
        }
    }

    fn predict_options(args: &PredictArgs) -> SequenceOptions {
        let file = Self::options(&args.file);
        match &args.tag.known {
            None => file,
            Some(column) => SequenceOptions {
                label: if column.is_empty() { file.label } else { Some(column.clone()) },
                unlabelled: Some(args.tag.unlabelled.clone().unwrap_or_else(|| "_".to_owned())),
                ..file
            },
        }
    }

    fn has_no_answer(_: &PredictArgs) -> Option<&'static str> {
        None
    }

    fn writer(&self, args: &PredictArgs) -> Writer<'_> {
        Writer::new(self, args.output, args.proba, args.tag.n_best.or(args.top).unwrap_or(0))
    }

    fn write(
        writer: &mut Writer<'_>,
        out: &mut dyn Write,
        data: &Sequences,
        i: usize,
        number: usize,
        tagged: &Tagged,
    ) -> io::Result<()> {
        writer.write(out, data.get(i), number, tagged)
    }

    fn main_metric(metrics: &TagMetrics) -> (&'static str, f64) {
        (metrics.main_name(), metrics.main())
    }

    fn one_line(metrics: &TagMetrics) -> String {
        metrics::one_line(metrics)
    }

    fn metric_rows(metrics: &TagMetrics) -> Pairs {
        metrics::rows(metrics)
    }

    fn metric_tables(metrics: &TagMetrics) -> Vec<MetricTable> {
        metrics::by_type(metrics).into_iter().collect()
    }

    /// Which labels are taken for which: tokens as rows of a classifier.
    fn page_sections(
        &self,
        data: &Sequences,
        tagged: &[Tagged],
        _: &EvalArgs,
    ) -> anyhow::Result<Vec<String>> {
        let n_labels = self.labels().len();
        let predicted = tagged.iter().flat_map(|tagged| &tagged.labels);
        let (gold, predicted): (Vec<u32>, Vec<u32>) = data
            .gold()
            .iter()
            .zip(predicted)
            .filter(|(gold, _)| **gold != UNLABELLED)
            .map(|(&gold, &label)| (if (gold as usize) < n_labels { gold } else { UNSEEN }, label))
            .unzip();
        let tokens: ClassifyMetrics = classify(&Classified::new(n_labels, &gold, &predicted))?;
        Ok(vec![
            html::confusion(&tokens.confusion, self.labels()),
            html::by_class(&tokens.per_class, self.labels(), ["label", "tokens"]),
            mistakes::section(self, data, tagged),
        ])
    }

    fn about(&self) -> [Vec<String>; 2] {
        let attributes = count(self.n_attributes(), "attribute");
        let mut after = vec![format!("{attributes} with {}", count(self.n_weights(), "weight"))];
        let unlabelled = self.report().structured.as_ref().map_or(0, |s| s.unlabelled);
        if unlabelled > 0 {
            after.push(format!("{} without a label", count(unlabelled, "token")));
        }
        [Vec::new(), after]
    }

    fn train_json(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("weights", json!(self.n_weights())),
            ("order", json!(self.spec().tag.order)),
            ("scheme", json!(self.spec().tag.scheme)),
        ]
    }

    fn classes(&self) -> &[String] {
        self.labels()
    }

    fn facts(&self) -> Pairs {
        inspect::facts(self)
    }

    fn weight_lines(&self, top: Option<usize>) -> Vec<String> {
        inspect::weight_lines(self, top)
    }

    fn inspect_json(&self, top: Option<usize>) -> Value {
        inspect::as_json(self, top)
    }

    fn explain(
        &self,
        data: &Sequences,
        i: usize,
        args: &ExplainArgs,
    ) -> anyhow::Result<Vec<TagExplanation>> {
        let against = match &args.class {
            None => None,
            Some(name) => match self.labels().iter().position(|label| label == name) {
                Some(at) => Some(at as u32),
                None => bail!(
                    "--class: `{name}` is not a label; the labels are {}",
                    self.labels().iter().take(20).cloned().collect::<Vec<_>>().join(", ")
                ),
            },
        };
        let token = args.token.map(|token| token - 1);
        Ok(TagModel::explain(self, data.get(i), token, against)?)
    }

    fn headline(&self, data: &Sequences, i: usize, found: &TagExplanation) -> String {
        let schema = &data.schema;
        let word = match schema.has_attributes() {
            true => String::new(),
            false => format!(" `{}`", cut(data.get(i).cell(found.position, schema.words()), 40)),
        };
        let sure = |p: Option<f64>| p.map(|p| format!(" ({p:.4})")).unwrap_or_default();
        let verdict = match &found.other {
            None => "no other label is possible".to_owned(),
            Some(other) => {
                format!("over {other}{} by {}", sure(found.other_probability), rough(found.lead))
            }
        };
        format!(
            "sequence {}, token {}{word}: {}{} {verdict}",
            i + 1,
            found.position + 1,
            found.label,
            sure(found.probability)
        )
    }

    fn reasons(found: &TagExplanation) -> Vec<Reason> {
        let reason = |reason: &lineal::Reason| Reason {
            amount: reason.difference(),
            what: reason.what.clone(),
            place: match reason.position == found.position {
                true => reason.kind.to_owned(),
                false => format!("{} of token {}", reason.kind, reason.position + 1),
            },
            more: Some(format!("{:+.3} against {:+.3}", reason.for_label, reason.for_other)),
            json: json!({
                "token": reason.position + 1,
                "kind": reason.kind,
                "what": reason.what,
                "for_label": reason.for_label,
                "for_against": reason.for_other,
            }),
        };
        found.reasons.iter().map(reason).collect()
    }

    fn explanation_json(&self, i: usize, found: &TagExplanation) -> Value {
        json!({
            "sequence": i + 1,
            "token": found.position + 1,
            "label": found.label,
            "against": found.other,
            "lead": found.lead.is_finite().then_some(found.lead),
            "proba": found.probability,
            "against_proba": found.other_probability,
        })
    }
}

/// Whether the flags leave open what is minimised, and how.
fn names_no_learner(args: &TrainArgs) -> bool {
    let named = args.loss.is_some()
        || args.solver != SolverKind::Auto
        || args.penalty.c.is_some()
        || args.penalty.l2.is_some()
        || args.l1.is_some()
        || args.model.cost.is_some()
        || args.tag.passive_aggressive.is_some()
        || args.epochs.is_some()
        || args.rate.is_some()
        || args.schedule.is_some()
        || args.average
        || args.stream.resume.is_some();
    !named
}

fn features(args: &TrainArgs) -> anyhow::Result<TagFeatures> {
    Ok(match (&args.tag.template, &args.tag.features) {
        (Some(path), _) => {
            let text = read_text(path, "template")?;
            // Mistakes in it are reported with its name, before any data is read.
            if let Err(error) = lineal::sequence::Templates::parse(&text) {
                bail!("{}: {error}", path.display());
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

/// The lists of names.
fn lists(args: &TrainArgs) -> anyhow::Result<Vec<WordList>> {
    let read = |list: &Named| Ok(lineal::read_word_list(&list.name, &list.path)?);
    let lists = args.tag.lists.iter().map(read).collect::<anyhow::Result<Vec<WordList>>>()?;
    let mut names: Vec<&str> = lists.iter().map(|list| list.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => usage(format!("two lists have the name {}: give each its own", pair[0])),
        None => Ok(lists),
    }
}

/// The text of the rules.
fn rules(args: &TrainArgs) -> anyhow::Result<Option<String>> {
    let Some(path) = &args.tag.rules else { return Ok(None) };
    Ok(Some(read_text(path, "rules")?))
}
