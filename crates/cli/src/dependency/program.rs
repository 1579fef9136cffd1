//! What the commands ask of a parser.

use std::io::{self, Write};

use lineal::metrics::DependencyMetrics;
use lineal::{ArcExplanation, DependencyModel, Treebank};
use serde_json::Value;

use super::{eval, explain, inspect, predict};
use crate::args::{EvalArgs, ExplainArgs, PredictArgs};
use crate::html;
use crate::program::Program;
use crate::talk::Talk;

/// Explanations of some sentences: the number of each, and its words.
pub struct Explained {
    pub data: Treebank,
    pub found: Vec<(usize, Vec<ArcExplanation>)>,
}

impl Program for DependencyModel {
    type Measured = DependencyMetrics;
    type Explained<'m> = Explained;

    fn check_ask(&self, args: &PredictArgs) -> anyhow::Result<()> {
        predict::check(self, args)
    }

    fn answer(&self, args: &PredictArgs, out: &mut dyn Write) -> anyhow::Result<()> {
        predict::predict(self, args, out)
    }

    fn measure(&self, args: &EvalArgs, talk: Talk) -> anyhow::Result<DependencyMetrics> {
        eval::measure(self, args, talk)
    }

    fn measured_json(&self, found: &DependencyMetrics) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(found)?)
    }

    fn measured_lines(&self, found: &DependencyMetrics) -> Vec<String> {
        eval::in_full(found)
    }

    fn measured_page(&self, found: &DependencyMetrics, data: &str) -> String {
        html::dependency_eval_page(self, found, data)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        inspect::facts(self)
    }

    fn weight_lines(&self, _: Option<usize>) -> Vec<String> {
        inspect::weight_lines()
    }

    fn inspect_json(&self, _: Option<usize>) -> Value {
        inspect::as_json(self)
    }

    fn reasons(&self, args: &ExplainArgs, talk: Talk) -> anyhow::Result<Explained> {
        explain::explain(self, args, talk)
    }

    fn explained_text(
        &self,
        explained: &Explained,
        args: &ExplainArgs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        explained.found.iter().try_for_each(|(sentence, words)| {
            let sentence = explained.data.get(*sentence);
            words.iter().try_for_each(|one| explain::write_text(out, sentence, one, args.top))
        })
    }

    fn explained_json(
        &self,
        explained: &Explained,
        args: &ExplainArgs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        explained.found.iter().try_for_each(|(sentence, words)| {
            words.iter().try_for_each(|one| explain::write_json(out, *sentence, one, args.top))
        })
    }

    fn explained_page(&self, explained: &Explained, args: &ExplainArgs) -> String {
        html::dependency_explain_page(self, explained, args.top)
    }
}
