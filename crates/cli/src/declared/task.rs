//! What declared structures bring to the commands.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::bail;
use lineal::declared::Declaration;
use lineal::{
    Ask, DeclaredAnswer, DeclaredData, DeclaredExplanation, DeclaredMetrics, DeclaredModel,
    DeclaredOptions, DeclaredSpec, Source, StructuredModel, TrainSpec,
};
use serde_json::{Value, json};

use super::compare_local;
use super::write::Writer;
use crate::args::{EvalArgs, ExplainArgs, FileArgs, Output, PredictArgs, TrainArgs};
use crate::exit::usage;
use crate::files::read_text;
use crate::structured::{
    Alternatives, MetricTable, Pairs, Reason, StructuredTask, shares, shares_header,
};
use crate::talk::{count, rough, thousands};
use crate::train::request::{self, Request};

impl StructuredTask for DeclaredModel {
    const EXAMPLE: &'static str = "example";
    const PART: &'static str = "variable";
    const PARTS: &'static str = "variables";
    const CLASS: &'static str = "label";
    const NOUNS: [&'static str; 3] = ["examples", "features", "labels"];
    const CLASSES: &'static str = "labels";
    const CARDS: &'static [&'static str] = &["accuracy", "exact"];
    const HAS: &'static str = "--n-best and --confidence";
    type Request = Arc<Declaration>;
    type Explanation = DeclaredExplanation;
    type Writer<'m> = Writer<'m>;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<Arc<Declaration>>> {
        let Some(path) = &args.declared.declaration else {
            return usage(
                "--task declared needs --declaration FILE: which variables, labels, features and rules there are",
            );
        };
        let text = read_text(path, "declaration")?;
        let declaration = match Declaration::parse(&text) {
            Ok(declaration) => Arc::new(declaration),
            Err(error) => bail!("{}:{error}", path.display()),
        };
        let defaults = DeclaredSpec::default();
        let declared = DeclaredSpec {
            declaration: text,
            local: args.declared.local,
            min_count: args.tag.min_count.unwrap_or(defaults.min_count),
            max_nodes: args.declared.limits.max_nodes.unwrap_or(defaults.max_nodes),
            seconds: args.declared.limits.time_limit,
        };
        let spec = TrainSpec { declared, ..request::spec(args)? };
        Request::new(args, spec, declaration, [path.clone()])
    }

    fn read_training(
        source: Source,
        _: &TrainArgs,
        request: &mut Request<Arc<Declaration>>,
    ) -> anyhow::Result<DeclaredData> {
        Ok(DeclaredData::read(source, &request.options)?)
    }

    fn size(data: &DeclaredData) -> Vec<String> {
        let kinds = data.declaration().variables().iter().enumerate().map(|(k, kind)| {
            let n: usize = data.iter().map(|ground| ground.starts[k + 1] - ground.starts[k]).sum();
            format!("{} × {}", thousands(n), kind.name)
        });
        kinds.chain([count(data.declaration().rules().len(), "rule")]).collect()
    }

    fn read_like(
        source: Source,
        request: &Request<Arc<Declaration>>,
        _: &DeclaredData,
    ) -> anyhow::Result<DeclaredData> {
        let options = DeclaredOptions::default();
        Ok(DeclaredData::read_any(source, &request.options, options)?)
    }

    fn cannot_compare(data: &DeclaredData) -> Option<&'static str> {
        (!data.has_labels()).then_some("there are no labels to compare with")
    }

    fn unseen(data: &DeclaredData) -> Option<(String, String)> {
        let (n, label) = data.unknown()?;
        Some((count(n, Self::PART), label.to_owned()))
    }

    fn alternatives(
        &self,
        args: &TrainArgs,
        data: &DeclaredData,
        [held_out, test]: [Option<&DeclaredData>; 2],
        train_seconds: f64,
    ) -> anyhow::Result<Option<Alternatives>> {
        match args.declared.compare_local {
            true => compare_local::compare(self, data, held_out, test, train_seconds).map(Some),
            false => Ok(None),
        }
    }

    fn options(_: &FileArgs) -> DeclaredOptions {
        DeclaredOptions::default()
    }

    fn predict_options(args: &PredictArgs) -> DeclaredOptions {
        args.limits.options()
    }

    fn eval_options(args: &EvalArgs) -> DeclaredOptions {
        args.limits.options()
    }

    fn explain_options(args: &ExplainArgs) -> DeclaredOptions {
        args.limits.options()
    }

    fn ask(args: &PredictArgs) -> Ask {
        Ask {
            known: args.tag.known.is_some(),
            n_best: args.tag.n_best.or(args.top).unwrap_or(0),
            confidence: args.segment.confidence,
            ..Ask::default()
        }
    }

    fn has_no_answer(args: &PredictArgs) -> Option<&'static str> {
        let column = args.tag.known.as_deref().is_some_and(|column| !column.is_empty());
        let ranked = args.tag.n_best.or(args.top).is_some();
        if args.proba || args.sample || args.min_cost || args.tag.review_below.is_some() {
            Some(
                "a declared structure has its best outputs and --confidence: leave out --proba, --sample, --min-cost and --review-below",
            )
        } else if column || args.tag.unlabelled.is_some() {
            Some(
                "--known keeps the labels that the data has, where null is not known: leave out the column and --unlabelled",
            )
        } else if (ranked || args.segment.confidence) && args.output != Output::Jsonl {
            Some("--n-best and --confidence need --output jsonl")
        } else {
            None
        }
    }

    fn prepare_output(&self, args: &PredictArgs) -> anyhow::Result<bool> {
        match args.segment.overlay {
            true => bail!("--overlay is for images; leave it out"),
            false => Ok(false),
        }
    }

    fn writer(&self, args: &PredictArgs) -> Writer<'_> {
        Writer::new(self, args)
    }

    fn write(
        writer: &mut Writer<'_>,
        out: &mut dyn Write,
        data: &DeclaredData,
        i: usize,
        number: usize,
        found: &DeclaredAnswer,
    ) -> io::Result<()> {
        writer.write(out, data.raw(i), data.get(i), number, found)
    }

    fn main_metric(metrics: &DeclaredMetrics) -> (&'static str, f64) {
        ("accuracy", metrics.accuracy)
    }

    fn one_line(metrics: &DeclaredMetrics) -> String {
        let kinds: String = metrics
            .kinds
            .iter()
            .map(|(name, kind)| format!(", {name} F1 {:.4}", kind.micro_f1))
            .collect();
        format!("accuracy {:.4}, whole examples {:.4}{kinds}", metrics.accuracy, metrics.exact)
    }

    fn metric_rows(metrics: &DeclaredMetrics) -> Pairs {
        let mut rows = vec![
            ("examples", thousands(metrics.examples)),
            ("variables", thousands(metrics.variables)),
            ("accuracy", format!("{:.4}", metrics.accuracy)),
            ("exact", format!("{:.4}", metrics.exact)),
        ];
        if metrics.unseen > 0 {
            rows.push(("unseen", thousands(metrics.unseen)));
        }
        if metrics.unproved > 0 {
            rows.push(("unproved", thousands(metrics.unproved)));
        }
        rows
    }

    fn metric_tables(metrics: &DeclaredMetrics) -> Vec<MetricTable> {
        let header = ["kind", "accuracy", "micro F1", "macro F1", "variables"];
        let mut kinds = vec![header.map(str::to_owned).to_vec()];
        let mut labels = vec![shares_header("label")];
        for (name, kind) in &metrics.kinds {
            let cells = [kind.accuracy, kind.micro_f1, kind.macro_f1].map(|x| format!("{x:.4}"));
            let n = thousands(kind.variables);
            kinds.push([name.clone()].into_iter().chain(cells).chain([n]).collect());
            labels.extend(kind.labels.iter().map(|(label, s)| {
                let counts = [s.gold, s.found, s.right].map(|n| n as u64);
                shares(&format!("{name}={label}"), [s.precision, s.recall, s.f1], counts)
            }));
        }
        vec![
            MetricTable {
                title: "Kinds",
                note: "Of pairs, F1 is without the first label.",
                rows: kinds,
            },
            MetricTable { title: "Labels", note: "", rows: labels },
        ]
    }

    fn about(&self) -> [Vec<String>; 2] {
        let declaration = self.declaration();
        let how = match self.spec().declared.local {
            true => "kept by predictions only",
            false => "kept in training",
        };
        let rules = format!("{}, {how}", count(declaration.rules().len(), "rule"));
        [vec![rules], vec![count(self.n_weights(), "weight")]]
    }

    fn train_json(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("nonzeros", json!(self.n_weights())),
            ("local", json!(self.spec().declared.local)),
            ("rules", json!(self.declaration().rules().len())),
        ]
    }

    fn classes(&self) -> &[String] {
        self.labels()
    }

    fn facts(&self) -> Pairs {
        let declaration = self.declaration();
        let kinds: Vec<&str> =
            declaration.variables().iter().map(|kind| kind.name.as_str()).collect();
        let factors: Vec<&str> = declaration.factors().iter().map(|f| f.name.as_str()).collect();
        let features = format!("{} with weights", count(self.n_features(), "feature"));
        let mut facts = vec![("variables", kinds.join(", ")), ("features", features)];
        if !factors.is_empty() {
            facts.push(("factors", factors.join(", ")));
        }
        facts.extend(declaration.rules().iter().map(|rule| ("rule", rule.text.clone())));
        facts
    }

    fn inspect_json(&self, _: Option<usize>) -> Value {
        json!({ "declaration": self.declaration().text(), "local": self.spec().declared.local })
    }

    fn explain(
        &self,
        data: &DeclaredData,
        i: usize,
        args: &ExplainArgs,
    ) -> anyhow::Result<Vec<DeclaredExplanation>> {
        if args.class.is_some() || args.pixel.is_some() {
            bail!("--class and --pixel have no meaning here: say --token N for a variable, from 1");
        }
        Ok(DeclaredModel::explain(self, data, i, args.token.map(|token| token - 1))?)
    }

    fn headline(&self, data: &DeclaredData, i: usize, found: &DeclaredExplanation) -> String {
        let ground = data.get(i);
        let label = |label: u32| self.label(ground, found.variable, label);
        let verdict = match (found.found.runner_up, found.found.lead) {
            (Some(other), Some(lead)) => format!("not {}, by {}", label(other), rough(lead)),
            _ => "no other label is possible".to_owned(),
        };
        let rules = match found.found.rules.len() {
            0 => String::new(),
            _ => {
                let rules = found.found.rules.iter().map(|&rule| {
                    let rule = &self.declaration().rules()[rule];
                    format!("line {}", rule.line)
                });
                let rules: Vec<String> = rules.collect();
                format!(
                    "; without rules {} ({})",
                    label(found.found.without_rules),
                    rules.join(", ")
                )
            }
        };
        format!(
            "example {}, {}: {}, {verdict}{rules}",
            i + 1,
            self.variable_name(ground, found.variable),
            label(found.found.label)
        )
    }

    fn reasons(found: &DeclaredExplanation) -> Vec<Reason> {
        let reason = |share: &lineal::declared::FeatureShare| Reason {
            amount: share.share,
            what: share.name.clone(),
            place: String::new(),
            more: None,
            json: json!({"feature": share.name, "amount": share.share}),
        };
        found.found.features.iter().map(reason).collect()
    }

    fn explanation_json(&self, i: usize, found: &DeclaredExplanation) -> Value {
        let e = &found.found;
        let kind = &self.declaration().variables()[found.kind];
        let name = |label: u32| kind.labels.get(label as usize);
        let rules: Vec<usize> =
            e.rules.iter().map(|&rule| self.declaration().rules()[rule].line).collect();
        json!({
            "example": i + 1,
            "variable": found.variable + 1,
            "kind": kind.name,
            "label": name(e.label),
            "against": e.runner_up.map(name),
            "lead": e.lead,
            "alone": name(e.alone),
            "without_rules": name(e.without_rules),
            "rules": rules,
        })
    }
}
