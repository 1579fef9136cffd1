//! Tasks with structured outputs: everything that their commands share.
//!
//! A task implements [`StructuredTask`] for its model: how its flags and files are read, what its answers and metrics look like. From that follow
//! [`Program`](crate::program::Program) and [`Trainable`](crate::train::Trainable), by which the commands know models of every task.

mod explain;
mod learn;
mod metrics;
mod page;
mod predict;
mod program;
mod trees;

use std::io::{self, Write};

use lineal::data::LeftOut;
use lineal::{Ask, Source, StructuredModel, Training};
use serde_json::Value;

use crate::args::{EvalArgs, ExplainArgs, FileArgs, PredictArgs, TrainArgs};
use crate::train::request::Request;

pub use crate::train::Alternatives;
#[cfg(feature = "serve")]
pub use explain::explain_data;
pub use explain::lines as explanation_lines;
pub use metrics::{maybe, shares, shares_header};
#[cfg(feature = "serve")]
pub use program::measure_data;
pub use program::metric_lines;
pub use trees::{no_tree_answer, part_reasons, template_file};

/// Names for figures.
pub type Pairs = Vec<(&'static str, String)>;

/// What a task with structured outputs brings to the commands.
pub trait StructuredTask: StructuredModel {
    /// What an example is called, and a part of one that can be explained.
    const EXAMPLE: &'static str;
    /// What an example of this data is called.
    fn example(_: &Self::Data) -> &'static str {
        Self::EXAMPLE
    }
    const PART: &'static str;
    const PARTS: &'static str;
    /// What the examples, features and classes are called on the page of a training run.
    const NOUNS: [&'static str; 3];
    /// What the classes are called in `inspect`, and one of them.
    const CLASSES: &'static str;
    const CLASS: &'static str;
    /// The metrics that stand out on the page.
    const CARDS: &'static [&'static str];

    /// How training data is read, and what else only training needs.
    type Request: Send + Sync;
    /// Why a part of an output is as it is.
    type Explanation: Send;
    /// Writes answers one after the other.
    type Writer<'m>
    where
        Self: 'm;

    /// What the flags of `train` ask for.
    fn request(args: &TrainArgs) -> anyhow::Result<Request<Self::Request>>;
    /// Reads the training data, and completes the request with what depends on the data.
    fn read_training(
        source: Source,
        args: &TrainArgs,
        request: &mut Request<Self::Request>,
    ) -> anyhow::Result<Self::Data>;
    /// How much data there is, in words.
    fn size(data: &Self::Data) -> Vec<String>;
    /// More lines about the data.
    fn details(data: &Self::Data) -> Vec<String> {
        let _ = data;
        Vec::new()
    }
    /// Reads a file with the classes of the training data.
    fn read_like(
        source: Source,
        request: &Request<Self::Request>,
        data: &Self::Data,
    ) -> anyhow::Result<Self::Data>;
    /// Why data cannot be compared with answers, if it cannot.
    fn cannot_compare(data: &Self::Data) -> Option<&'static str>;
    /// What the data has whose class training did not see (`3 words`), and one such class.
    fn unseen(data: &Self::Data) -> Option<(String, String)>;
    /// Features that training did not have, and that play no part.
    fn left_out(data: &Self::Data) -> LeftOut {
        let _ = data;
        LeftOut::default()
    }
    /// What features read and the data does not have anywhere, in words.
    fn lacking(&self, data: &Self::Data) -> Option<String> {
        let _ = data;
        None
    }
    /// Adds what a run needs beside data and spec.
    fn prepare<'a>(
        training: Training<'a, Self::Data>,
        request: &'a Self::Request,
    ) -> Training<'a, Self::Data> {
        let _ = request;
        training
    }

    /// How files are read by a model.
    fn options(file: &FileArgs) -> Self::Options;
    /// The same for `predict`, where some of the output may be known.
    fn predict_options(args: &PredictArgs) -> Self::Options {
        Self::options(&args.file)
    }
    /// The same for `eval`.
    fn eval_options(args: &EvalArgs) -> Self::Options {
        Self::options(&args.file)
    }
    /// The same for `explain`.
    fn explain_options(args: &ExplainArgs) -> Self::Options {
        Self::options(&args.file)
    }
    /// What `predict` has in place of scores and costs of classes.
    const HAS: &'static str = "--proba, --n-best and --min-cost, which counts wrong parts";
    /// What the flags of `predict` ask for.
    fn ask(args: &PredictArgs) -> Ask {
        Ask {
            known: args.tag.known.is_some(),
            proba: args.proba || args.tag.review_below.is_some(),
            n_best: args.tag.n_best.or(args.top).unwrap_or(0),
            min_risk: args.min_cost,
            sample: args.sample.then_some(args.seed),
            confidence: false,
            first: 0,
        }
    }
    /// Why there is no answer to these flags of `predict`, if there is none.
    fn has_no_answer(args: &PredictArgs) -> Option<&'static str>;
    /// Prepares what is written beside the lines, where `-o` names a folder of files; whether it does.
    fn prepare_output(&self, args: &PredictArgs) -> anyhow::Result<bool> {
        match args.segment.overlay || args.segment.confidence {
            true => anyhow::bail!(
                "--overlay and --confidence are for --task segment and declared; leave them out"
            ),
            false => Ok(false),
        }
    }
    /// For answers to these flags.
    fn writer(&self, args: &PredictArgs) -> Self::Writer<'_>;
    /// Writes the answer for example `i` of the data; `number` is its place among all, from 0.
    fn write(
        writer: &mut Self::Writer<'_>,
        out: &mut dyn Write,
        data: &Self::Data,
        i: usize,
        number: usize,
        answer: &Self::Answer,
    ) -> io::Result<()>;

    /// The one number to watch, with its name.
    fn main_metric(metrics: &Self::Metrics) -> (&'static str, f64);
    /// The few numbers to say in a sentence.
    fn one_line(metrics: &Self::Metrics) -> String;
    /// All metrics as name and value.
    fn metric_rows(metrics: &Self::Metrics) -> Pairs;
    /// Tables of finer metrics.
    fn metric_tables(metrics: &Self::Metrics) -> Vec<MetricTable>;
    /// Compares by the rules that the flags of `eval` name.
    fn compare_with(
        &self,
        data: &Self::Data,
        answers: &[Self::Answer],
        args: &EvalArgs,
    ) -> anyhow::Result<Self::Metrics> {
        let _ = args;
        Ok(self.compare(data, answers)?)
    }
    /// More for the page of `eval --report`, as HTML.
    fn page_sections(
        &self,
        data: &Self::Data,
        answers: &[Self::Answer],
        args: &EvalArgs,
    ) -> anyhow::Result<Vec<String>> {
        let _ = (data, answers, args);
        Ok(Vec::new())
    }

    /// What `train` shows beside the new model: runs of the same request another way.
    fn alternatives(
        &self,
        args: &TrainArgs,
        data: &Self::Data,
        others: [Option<&Self::Data>; 2],
        train_seconds: f64,
    ) -> anyhow::Result<Option<Alternatives>> {
        let _ = (args, data, others, train_seconds);
        Ok(None)
    }
    /// What to say of a new model before its stages and its certificate, and after it.
    fn about(&self) -> [Vec<String>; 2];
    /// What `train --json` has besides the keys of every task.
    fn train_json(&self) -> Vec<(&'static str, Value)>;
    /// The classes by name.
    fn classes(&self) -> &[String];
    /// What the model is, as far as its task goes.
    fn facts(&self) -> Pairs;
    /// What weighs most.
    fn weight_lines(&self, top: Option<usize>) -> Vec<String> {
        let _ = top;
        let hashed = "weights are hashed: `lineal explain` names those that decided";
        let article = if Self::EXAMPLE.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        vec![format!("{hashed} {article} {}", Self::EXAMPLE)]
    }
    /// What `inspect --json` has besides the keys of every structured task.
    fn inspect_json(&self, top: Option<usize>) -> Value;

    /// Explains the parts of example `i` that the flags name.
    fn explain(
        &self,
        data: &Self::Data,
        i: usize,
        args: &ExplainArgs,
    ) -> anyhow::Result<Vec<Self::Explanation>>;
    /// What was decided, between what.
    fn headline(&self, data: &Self::Data, i: usize, found: &Self::Explanation) -> String;
    /// What decided it, largest first.
    fn reasons(found: &Self::Explanation) -> Vec<Reason>;
    /// What `explain --json` prints of a decision, without its reasons.
    fn explanation_json(&self, i: usize, found: &Self::Explanation) -> Value;
}

/// A header and rows, under a title.
pub struct MetricTable {
    pub title: &'static str,
    pub note: &'static str,
    pub rows: Vec<Vec<String>>,
}

/// What adds to a lead.
pub struct Reason {
    pub amount: f64,
    pub what: String,
    /// Where in the output it is.
    pub place: String,
    /// Further cells for the screen.
    pub more: Option<String>,
    pub json: Value,
}
