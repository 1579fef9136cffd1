//! What the commands ask of a model with structured outputs.

use std::io::{self, Write};

use anyhow::bail;
use lineal::{Report, StructuredModel, Task};
use serde_json::{Map, Value, json};

use super::explain::{self, Explained};
use super::{Pairs, StructuredTask, learn, page, predict};
use crate::args::{EvalArgs, ExplainArgs, PredictArgs};
use crate::fields::{as_flags, in_json};
use crate::html::Page;
use crate::program::Program;
use crate::table::{self, Align};
use crate::talk::{Talk, count, rough, thousands};

/// Classes that `inspect` lists.
const CLASSES: usize = 60;

/// Metrics, and what the page has beside them.
pub struct Measured<M: StructuredModel> {
    pub metrics: M::Metrics,
    pub sections: Vec<String>,
    pub unseen: Option<(String, String)>,
}

impl<M: StructuredTask> Program for M {
    type Measured = Measured<M>;
    type Explained<'m>
        = Explained<M>
    where
        M: 'm;

    fn check_ask(&self, args: &PredictArgs) -> anyhow::Result<()> {
        predict::check(self, args)
    }

    fn prepare_output(&self, args: &PredictArgs) -> anyhow::Result<bool> {
        StructuredTask::prepare_output(self, args)
    }

    fn answer(&self, args: &PredictArgs, out: &mut dyn Write) -> anyhow::Result<()> {
        predict::predict(self, args, out)
    }

    fn measure(&self, args: &EvalArgs, talk: Talk) -> anyhow::Result<Measured<M>> {
        if args.cost.is_some() {
            bail!(
                "{} is a model of the task {}, which has no --cost; leave it out",
                args.model.display(),
                self.task()
            );
        }
        if args.evalb && self.task() != Task::Constituency {
            bail!("--evalb is for bracketed trees; leave it out");
        }
        let data = self.read(args.source(), &M::eval_options(args))?;
        measure_data(self, &data, args, talk)
    }

    fn measured_json(&self, found: &Measured<M>) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(&found.metrics)?)
    }

    fn measured_lines(&self, found: &Measured<M>) -> Vec<String> {
        metric_lines::<M>(&found.metrics)
    }

    fn measured_page(&self, found: &Measured<M>, data: &str) -> Page {
        page::eval(self, found, data)
    }

    fn facts(&self) -> Pairs {
        facts(self)
    }

    fn weight_lines(&self, top: Option<usize>) -> Vec<String> {
        StructuredTask::weight_lines(self, top)
    }

    fn inspect_json(&self, top: Option<usize>) -> Value {
        let report = self.report();
        let mut object = match serde_json::to_value(report) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(),
        };
        let all = json!({
            "certificate": report.certificate(),
            "warnings": in_json(&report.warnings),
            "class_names": self.classes(),
            "nonzeros": self.n_weights(),
            "provenance": self.provenance(),
            "evaluation": self.evaluation(),
        });
        for more in [all, StructuredTask::inspect_json(self, top)] {
            object.extend(more.as_object().cloned().unwrap_or_default());
        }
        object.into()
    }

    fn reasons(&self, args: &ExplainArgs, talk: Talk) -> anyhow::Result<Explained<M>> {
        explain::explain(self, args, talk)
    }

    fn explained_text(
        &self,
        found: &Explained<M>,
        args: &ExplainArgs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        found.each(|i, one| {
            let lines = explain::lines(self, &found.data, i, one, args.top);
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))
        })
    }

    fn explained_json(
        &self,
        found: &Explained<M>,
        args: &ExplainArgs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        found.each(|i, one| {
            serde_json::to_writer(&mut *out, &explain::object(self, i, one, args.top))?;
            writeln!(out)
        })
    }

    fn explained_page(&self, found: &Explained<M>, args: &ExplainArgs) -> String {
        page::explain(self, found, args.top)
    }
}

/// Compares with labelled data at hand.
pub fn measure_data<M: StructuredTask>(
    model: &M,
    data: &M::Data,
    args: &EvalArgs,
    talk: Talk,
) -> anyhow::Result<Measured<M>> {
    learn::check_labelled::<M>(data, talk)?;
    let answers = StructuredModel::answer(model, data, &Default::default())?;
    let mut sections = Vec::new();
    if args.report.is_some() {
        sections = model.page_sections(data, &answers, args)?;
        sections.push(page::border(model, data)?);
    }
    let metrics = model.compare_with(data, &answers, args)?;
    Ok(Measured { metrics, sections, unseen: M::unseen(data) })
}

/// A table of the metrics, then the finer ones.
pub fn metric_lines<M: StructuredTask>(metrics: &M::Metrics) -> Vec<String> {
    let mut lines = table::pairs(&M::metric_rows(metrics), 0);
    for found in M::metric_tables(metrics) {
        lines.push(String::new());
        lines.extend(table::lines(&found.rows, &[Align::Left, Align::Right], 0));
    }
    lines
}

/// What the model is, how it was trained and what is proven of it.
fn facts<M: StructuredTask>(model: &M) -> Pairs {
    let report = model.report();
    let l1 = if report.l1 > 0.0 { format!(", l1 {}", rough(report.l1)) } else { String::new() };
    let converged = match report.gap.or(report.grad_norm) {
        _ if report.converged => ", converged",
        Some(_) => ", did not converge",
        // Perceptrons and their relatives have nothing to converge to.
        None => "",
    };
    let best = report.best_pass.map(|p| format!("; weights of pass {p} kept")).unwrap_or_default();
    let n_parts = report.structured.as_ref().map_or(0, |s| s.tokens);
    let mut facts = vec![
        ("task", report.task.to_string()),
        ("loss", report.loss.to_string()),
        ("penalty", format!("l2 {}{l1}", rough(report.l2))),
        ("solver", report.solver.to_string()),
        ("certificate", report.certificate()),
        ("passes", format!("{} over all the data{converged}{best}", thousands(report.passes))),
        (
            "examples",
            format!("{}, {}", count(report.examples, M::EXAMPLE), count(n_parts, M::PART)),
        ),
    ];
    facts.extend(stages(report).into_iter().map(|stage| ("stage", stage)));
    facts.extend(StructuredTask::facts(model));
    let classes = model.classes();
    if !classes.is_empty() {
        let shown = classes.iter().take(CLASSES).cloned().collect::<Vec<_>>().join(", ");
        let more = if classes.len() > CLASSES { ", …" } else { "" };
        facts.push((M::CLASSES, format!("{}: {shown}{more}", classes.len())));
    }
    facts.push(("trained on", model.provenance().source.clone()));
    facts.extend(model.evaluation().map(|kept| ("tested on", kept.source.clone())));
    facts.push(("by", format!("lineal {}", model.provenance().lineal)));
    facts.extend(report.warnings.iter().map(|warning| ("warning", as_flags(warning).into_owned())));
    facts
}

/// The runs beside the main one, with what they achieve.
pub fn stages(report: &Report) -> Vec<String> {
    let stages = report.structured.iter().flat_map(|s| &s.stages);
    let told = stages.filter_map(|stage| {
        let (name, value) = stage.figure.as_ref()?;
        Some(format!("{}: {name} {value:.4} after {}", stage.stage, count(stage.passes, "pass")))
    });
    told.collect()
}
