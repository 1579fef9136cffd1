//! A model that answers requests: its examples become a file in memory, which is predicted as any other.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::FromArgMatches;
use lineal::{AnyModel, Evaluation, Interrupt, SceneSchema, Source, StructuredModel, Task};
use lineal_server::{Ask, Examples, ExplainAsk, Fault, Form, Served};
use serde_json::{Value, json};

use super::lines::{self, File};
use super::{evaluate, images, input, words};
use crate::args::{Cli, Command, EvalArgs, ExplainArgs, PredictArgs};
use crate::help;
use crate::html;
use crate::program::{Program, with_opened};
use crate::talk::Talk;

/// Words of a sentence that is parsed.
const PARSED: usize = 500;
/// Tokens of a sentence that is tagged.
const TAGGED: usize = 50_000;
/// Scores of a row of a model whose small requests are answered at once.
const QUICK_OUTPUTS: usize = 100;
/// Tokens of a sentence whose labels are explained, all of them.
const EXPLAINED: usize = 1_000;

/// A model with the flags that answer for it.
pub struct Answering {
    pub model: AnyModel,
    predict: PredictArgs,
    explain: ExplainArgs,
    eval: EvalArgs,
}

impl Answering {
    pub fn new(name: &str, model: AnyModel) -> anyhow::Result<Self> {
        let parse = |args: &[&str]| -> anyhow::Result<Command> {
            let matches = help::command().try_get_matches_from(args)?;
            Ok(Cli::from_arg_matches(&matches)?.command)
        };
        let predict = parse(&["lineal", "predict", name, "request", "--output", "jsonl", "-q"])?;
        let explain = parse(&["lineal", "explain", name, "request", "--output", "jsonl", "-q"])?;
        // That a page is asked for; it is not written.
        let eval = parse(&["lineal", "eval", name, "request", "--json", "--report", "page", "-q"])?;
        match (predict, explain, eval) {
            (Command::Predict(predict), Command::Explain(explain), Command::Eval(eval)) => {
                Ok(Self { model, predict: predict.settle(true), explain, eval })
            }
            _ => anyhow::bail!("predict, explain and eval are commands"),
        }
    }

    fn predict_args(&self, ask: &Ask, first: usize) -> PredictArgs {
        let mut args = PredictArgs {
            proba: ask.proba,
            scores: ask.scores,
            top: ask.top,
            min_cost: ask.min_cost,
            first: first as u64,
            ..self.predict.clone()
        };
        args.segment.confidence = ask.confidence;
        args
    }

    fn explain_args(&self, ask: &ExplainAsk) -> ExplainArgs {
        ExplainArgs {
            top: ask.top,
            class: ask.class.clone(),
            token: ask.part,
            pixel: ask.pixel,
            ..self.explain.clone()
        }
    }

    /// Tokens of a sentence. A token takes kilobytes where there are probabilities; a pair of words takes as much in a parser.
    fn most_tokens(&self) -> usize {
        match self.model.task() {
            Task::Dependency | Task::Constituency => PARSED,
            _ => TAGGED,
        }
    }

    /// What the flags of `predict` refuse, a request may not ask either.
    fn check(&self, args: &PredictArgs) -> Result<(), Fault> {
        if args.segment.confidence && !matches!(self.model.task(), Task::Segment | Task::Declared) {
            let detail = "is for images, graphs and declared structures; leave it out";
            return Err(Fault::request("/confidence", detail));
        }
        let checked = with_opened!(&self.model, model => Program::check_ask(model.as_ref(), args));
        checked.map_err(|error| Fault::request(asked(args), lines::in_fields(&error.to_string())))
    }
}

/// The first field that asks for more than the answer.
fn asked(args: &PredictArgs) -> &'static str {
    let asked = [
        ("/proba", args.proba),
        ("/scores", args.scores),
        ("/min_cost", args.min_cost),
        ("/top", args.top.is_some()),
    ];
    asked.into_iter().find(|(_, asked)| *asked).map_or("", |(at, _)| at)
}

impl Served for Answering {
    fn task(&self) -> String {
        self.model.task().to_string()
    }

    fn form(&self) -> Form {
        input::form(&self.model)
    }

    fn input(&self) -> Value {
        input::describe(&self.model)
    }

    fn describe(&self, top: Option<usize>) -> Value {
        let (mut about, facts) = with_opened!(&self.model, model => {
            (Program::inspect_json(model.as_ref(), top), Program::facts(model.as_ref()))
        });
        let facts: Vec<Value> = facts.iter().map(|(name, value)| json!([name, value])).collect();
        about["facts"] = facts.into();
        about
    }

    fn predict(&self, examples: &Examples<'_>, ask: &Ask, out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut args = self.predict_args(ask, examples.first);
        self.check(&args)?;
        if let AnyModel::Segment(model) = &self.model
            && matches!(model.schema(), SceneSchema::Images(_))
        {
            return images::predict(model, examples, &args, out);
        }
        let File { name, bytes, places } = lines::file(&self.model, examples, self.most_tokens())?;
        args.data = PathBuf::from(name);
        args.at_hand = Some(Source::Memory { name: name.to_owned(), bytes });
        let before = out.len();
        let done = with_opened!(&self.model, model => Program::answer(model.as_ref(), &args, out));
        // What is wrong with no example is wrong with what was asked.
        done.map_err(|error| match places.fault(&error) {
            fault if fault.pointer.is_empty() => Fault { pointer: asked(&args).into(), ..fault },
            fault => fault,
        })?;
        let n_lines = out[before..].iter().filter(|&&b| b == b'\n').count();
        match n_lines == examples.values.len() {
            true => Ok(()),
            false => Err(Fault::internal(format!(
                "{n_lines} answers to {} examples: an example is read as none, or as several",
                examples.values.len()
            ))),
        }
    }

    fn explain(
        &self,
        examples: &Examples<'_>,
        ask: &ExplainAsk,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let mut args = self.explain_args(ask);
        if let AnyModel::Segment(model) = &self.model
            && matches!(model.schema(), SceneSchema::Images(_))
        {
            return images::explain(model, examples, &args, out);
        }
        // Each position has its own search through the sentence.
        let most = match ask.part {
            None => self.most_tokens().min(EXPLAINED),
            Some(_) => self.most_tokens(),
        };
        let File { name, bytes, places } = lines::file(&self.model, examples, most)?;
        args.data = PathBuf::from(name);
        args.at_hand = Some(Source::Memory { name: name.to_owned(), bytes });
        let before = out.len();
        let done = with_opened!(&self.model, model => {
            let found = Program::reasons(model.as_ref(), &args, Talk::new(true));
            found.and_then(|found| {
                Ok(Program::explained_json(model.as_ref(), &found, &args, out)?)
            })
        });
        done.map_err(|error| {
            let fault = places.fault(&error);
            let at = match ask.part {
                _ if fault.detail.starts_with("`class`") => "/class",
                Some(_) if fault.pointer.is_empty() => "/part",
                _ => return fault,
            };
            Fault { pointer: at.into(), ..fault }
        })?;
        match &self.model {
            AnyModel::Rows(model) if ask.words && model.features().text().is_some() => {
                words::add(model, &args, out, before).map_err(|error| places.fault(&error))
            }
            _ => Ok(()),
        }
    }

    fn evaluate(&self, request: &str) -> Result<Value, Fault> {
        evaluate::evaluate(&self.model, &self.eval, request)
    }

    fn is_quick(&self) -> bool {
        // A few kilobytes may be a thousand rows, and each has a score for every output.
        match &self.model {
            AnyModel::Rows(model) => {
                model.n_outputs() <= QUICK_OUTPUTS && model.features().map().is_none()
            }
            _ => false,
        }
    }

    fn kept_evaluation(&self) -> Option<(String, String)> {
        let of = |kept: &Evaluation, classes: &[String]| {
            (kept.source.clone(), html::kept_evaluation(kept, classes))
        };
        match &self.model {
            AnyModel::Rows(model) => model.evaluation().map(|kept| of(kept, model.classes())),
            model => model.evaluation().map(|kept| of(kept, &[])),
        }
    }

    fn until(&self, unwanted: &Arc<AtomicBool>, work: &mut dyn FnMut()) {
        Interrupt::of(unwanted.clone()).scope(work);
    }

    fn training_view(&self) -> String {
        with_opened!(&self.model, model => html::training(model.report()))
    }
}
