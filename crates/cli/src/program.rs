//! What a task brings to the commands: its flags, its words and its writer.
//!
//! Every command has one path, over a model of any task that is opened once. A task is a folder of the program with an implementation of [`Program`] for its model,
//! which `predict`, `eval`, `inspect` and `explain` ask, and one of [`Trainable`](crate::train::Trainable), which `train` asks.

use std::io::Write;

use serde_json::Value;

use crate::args::{EvalArgs, ExplainArgs, PredictArgs};
use crate::html::Page;
use crate::talk::Talk;

/// A model, as the commands see it.
pub trait Program: Sized + Sync {
    /// What `eval` measures.
    type Measured;
    /// What `explain` finds.
    type Explained<'m>: Send
    where
        Self: 'm;

    /// Whether the name of an output file may tell its form.
    fn names_tell_output(&self) -> bool {
        false
    }

    /// Predicts a label, or the second of two classes, above this probability.
    fn set_threshold(&mut self, _: f64) -> anyhow::Result<()> {
        anyhow::bail!("--threshold is for two classes or labels of rows; leave it out")
    }

    /// Refuses flags of `predict` that this model has no answer to.
    fn check_ask(&self, args: &PredictArgs) -> anyhow::Result<()>;

    /// Prepares what is written beside the lines, where `-o` names a folder of files; whether it does.
    fn prepare_output(&self, args: &PredictArgs) -> anyhow::Result<bool>;

    /// Writes the predictions for the data that the flags name.
    fn answer(&self, args: &PredictArgs, out: &mut dyn Write) -> anyhow::Result<()>;

    /// Reads labelled data and compares.
    fn measure(&self, args: &EvalArgs, talk: Talk) -> anyhow::Result<Self::Measured>;

    /// What `eval --json` prints.
    fn measured_json(&self, found: &Self::Measured) -> anyhow::Result<Value>;

    /// What `eval` prints.
    fn measured_lines(&self, found: &Self::Measured) -> Vec<String>;

    /// The page of `eval --report`; `data` is the name of the file.
    fn measured_page(&self, found: &Self::Measured, data: &str) -> Page;

    /// What the model is, how it was trained and what is proven of it.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// What weighs most, below the facts.
    fn weight_lines(&self, top: Option<usize>) -> Vec<String>;

    /// What `inspect --json` prints.
    fn inspect_json(&self, top: Option<usize>) -> Value;

    /// Finds out why the model answers as it does.
    fn reasons<'m>(&'m self, args: &ExplainArgs, talk: Talk)
    -> anyhow::Result<Self::Explained<'m>>;

    /// Explanations for people.
    fn explained_text(
        &self,
        found: &Self::Explained<'_>,
        args: &ExplainArgs,
        out: &mut dyn Write,
    ) -> std::io::Result<()>;

    /// Explanations for programs, one object per line.
    fn explained_json(
        &self,
        found: &Self::Explained<'_>,
        args: &ExplainArgs,
        out: &mut dyn Write,
    ) -> std::io::Result<()>;

    /// The page of `explain --html`.
    fn explained_page(&self, found: &Self::Explained<'_>, args: &ExplainArgs) -> String;
}

/// Runs `$body` with `$model` bound to the model that a file holds, whatever its task.
macro_rules! with_model {
    ($path:expr, $model:ident => $body:expr) => {
        crate::program::with_opened!(lineal::AnyModel::open($path)?, $model => $body)
    };
}

/// The same for a model that is open, or a reference to it.
macro_rules! with_opened {
    ($any:expr, $model:ident => $body:expr) => {
        match $any {
            lineal::AnyModel::Rows($model) => $body,
            lineal::AnyModel::Tag($model) => $body,
            lineal::AnyModel::Dependency($model) => $body,
            lineal::AnyModel::Constituency($model) => $body,
            lineal::AnyModel::Rank($model) => $body,
            lineal::AnyModel::Segment($model) => $body,
            lineal::AnyModel::Declared($model) => $body,
        }
    };
}

/// Runs `$structured` with `$model` naming the model of a structured task, or `$rows` for a task of rows.
macro_rules! with_task {
    ($task:expr, $model:ident => $structured:expr, rows => $rows:expr) => {
        match $task {
            lineal::Task::Tag => {
                type $model = lineal::TagModel;
                $structured
            }
            lineal::Task::Dependency => {
                type $model = lineal::DependencyModel;
                $structured
            }
            lineal::Task::Constituency => {
                type $model = lineal::ConstituencyModel;
                $structured
            }
            lineal::Task::Rank => {
                type $model = lineal::RankModel;
                $structured
            }
            lineal::Task::Segment => {
                type $model = lineal::SegmentModel;
                $structured
            }
            lineal::Task::Declared => {
                type $model = lineal::DeclaredModel;
                $structured
            }
            lineal::Task::Classify | lineal::Task::Multilabel | lineal::Task::Regress => $rows,
        }
    };
}

pub(crate) use {with_model, with_opened, with_task};
