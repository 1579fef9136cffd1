//! What the commands ask of a model of rows.

use std::io::{self, Write};

use lineal::Model;
use serde_json::Value;

use super::{eval, explain, inspect, predict};
use crate::args::{EvalArgs, ExplainArgs, PredictArgs};
use crate::html;
use crate::program::Program;
use crate::talk::Talk;

impl Program for Model {
    type Measured = eval::Measured;
    type Explained<'m> = explain::Explained<'m>;

    fn names_tell_output(&self) -> bool {
        true
    }

    fn set_threshold(&mut self, p: f64) -> anyhow::Result<()> {
        Ok(Model::set_threshold(self, p)?)
    }

    fn check_ask(&self, args: &PredictArgs) -> anyhow::Result<()> {
        predict::check(self, args)
    }

    fn prepare_output(&self, args: &PredictArgs) -> anyhow::Result<bool> {
        match args.segment.overlay || args.segment.confidence {
            true => anyhow::bail!(
                "--overlay and --confidence are for --task segment and declared; leave them out"
            ),
            false => Ok(false),
        }
    }

    fn answer(&self, args: &PredictArgs, out: &mut dyn Write) -> anyhow::Result<()> {
        predict::predict(self, args, out)
    }

    fn measure(&self, args: &EvalArgs, talk: Talk) -> anyhow::Result<eval::Measured> {
        eval::measure(self, args, talk)
    }

    fn measured_json(&self, found: &eval::Measured) -> anyhow::Result<Value> {
        eval::measured_json(found)
    }

    fn measured_lines(&self, found: &eval::Measured) -> Vec<String> {
        eval::in_full(&found.metrics, self.classes())
    }

    fn measured_page(&self, found: &eval::Measured, data: &str) -> html::Page {
        html::eval_page(self, found, data)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        inspect::facts(self)
    }

    fn weight_lines(&self, top: Option<usize>) -> Vec<String> {
        inspect::weight_lines(self, top)
    }

    fn inspect_json(&self, top: Option<usize>) -> Value {
        inspect::as_json(self, top)
    }

    fn reasons<'m>(
        &'m self,
        args: &ExplainArgs,
        talk: Talk,
    ) -> anyhow::Result<explain::Explained<'m>> {
        explain::explain(self, args, talk)
    }

    fn explained_text(
        &self,
        found: &explain::Explained<'_>,
        _: &ExplainArgs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        explain::text::write(out, found)
    }

    fn explained_json(
        &self,
        found: &explain::Explained<'_>,
        _: &ExplainArgs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        explain::json::write(out, found)
    }

    fn explained_page(&self, found: &explain::Explained<'_>, _: &ExplainArgs) -> String {
        html::explain_page(found)
    }
}
