//! What the commands ask of a tagger.

use std::io::{self, Write};

use lineal::{Sequences, TagExplanation, TagMetrics, TagModel};
use serde_json::Value;

use super::{eval, explain, inspect, predict};
use crate::args::{EvalArgs, ExplainArgs, PredictArgs};
use crate::html;
use crate::program::Program;
use crate::talk::Talk;

/// Explanations of some sequences: the number of each, and its positions.
pub struct Explained {
    pub data: Sequences,
    pub found: Vec<(usize, Vec<TagExplanation>)>,
}

/// Metrics, and tokens as rows of a classifier where a page will show who is taken for whom.
pub struct Measured {
    pub metrics: TagMetrics,
    pub tokens: Option<lineal::metrics::ClassifyMetrics>,
}

impl Program for TagModel {
    type Measured = Measured;
    type Explained<'m> = Explained;

    fn check_ask(&self, args: &PredictArgs) -> anyhow::Result<()> {
        predict::check(self, args)
    }

    fn answer(&self, args: &PredictArgs, out: &mut dyn Write) -> anyhow::Result<()> {
        predict::predict(self, args, out)
    }

    fn measure(&self, args: &EvalArgs, talk: Talk) -> anyhow::Result<Measured> {
        eval::measure(self, args, talk)
    }

    fn measured_json(&self, found: &Measured) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(&found.metrics)?)
    }

    fn measured_lines(&self, found: &Measured) -> Vec<String> {
        eval::in_full(&found.metrics)
    }

    fn measured_page(&self, found: &Measured, data: &str) -> String {
        html::tag_eval_page(self, &found.metrics, found.tokens.as_ref(), data)
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

    fn reasons(&self, args: &ExplainArgs, talk: Talk) -> anyhow::Result<Explained> {
        explain::explain(self, args, talk)
    }

    fn explained_text(
        &self,
        explained: &Explained,
        args: &ExplainArgs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        explained.found.iter().try_for_each(|(sequence, positions)| {
            let sequence = explained.data.get(*sequence);
            positions.iter().try_for_each(|one| explain::write_text(out, sequence, one, args.top))
        })
    }

    fn explained_json(
        &self,
        explained: &Explained,
        args: &ExplainArgs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        explained.found.iter().try_for_each(|(sequence, positions)| {
            positions.iter().try_for_each(|one| explain::write_json(out, *sequence, one, args.top))
        })
    }

    fn explained_page(&self, explained: &Explained, args: &ExplainArgs) -> String {
        html::tag_explain_page(self, &explained.data, &explained.found, args.top)
    }
}
