//! Training a model with structured outputs.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::bail;
use lineal::{CurvePoint, Evaluation, Examples, Report, Source, StructuredModel, Training};
use serde_json::Value;

use super::program::stages;
use super::{Pairs, StructuredTask};
use crate::args::TrainArgs;
use crate::talk::{Talk, count, seconds};
use crate::train::request::Request;
use crate::train::{Alternatives, SharedProgress, Trainable};

impl<M: StructuredTask> Trainable for M {
    type Data = M::Data;
    type Options = M::Request;
    type Metrics = M::Metrics;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<M::Request>> {
        <M as StructuredTask>::request(args)
    }

    fn read(
        source: Source,
        args: &TrainArgs,
        request: &mut Request<M::Request>,
        talk: &mut dyn FnMut(Vec<String>),
    ) -> anyhow::Result<M::Data> {
        let start = Instant::now();
        let data = M::read_training(source, args, request)?;
        let read = start.elapsed().as_secs_f64();
        let time = if read < 0.1 { String::new() } else { format!(" ({})", seconds(read)) };
        let n = count(data.n_examples(), M::example(&data));
        let size = M::size(&data).join(", ");
        let mut lines = vec![format!("{}: {n}, {size}{time}", data.source())];
        lines.extend(M::details(&data));
        talk(lines);
        Ok(data)
    }

    fn labelled(
        source: Source,
        request: &Request<M::Request>,
        data: &M::Data,
        talk: Talk,
    ) -> anyhow::Result<M::Data> {
        let other = M::read_like(source, request, data)?;
        check_labelled::<M>(&other, talk)?;
        Ok(other)
    }

    fn fit(
        request: &Request<M::Request>,
        data: &M::Data,
        held_out: Option<&M::Data>,
        shown: &SharedProgress,
    ) -> anyhow::Result<(Self, Report)> {
        let old = request.start.as_deref().map(M::load).transpose()?;
        let mut watch = |point: &CurvePoint| shown.pass(point);
        let mut training = Training::new(data, &request.spec).monitor(&mut watch);
        if let Some(held_out) = held_out {
            training = training.held_out(held_out);
        }
        if let Some(old) = &old {
            training = training.start_from(old);
        }
        Ok(M::prepare(training, &request.options).run()?)
    }

    fn evaluate(&self, data: &M::Data) -> anyhow::Result<M::Metrics> {
        Ok(StructuredModel::evaluate(self, data)?)
    }

    fn keep_evaluation(&mut self, evaluation: Evaluation) {
        StructuredModel::keep_evaluation(self, evaluation);
    }

    fn source(data: &M::Data) -> &str {
        data.source()
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<u64> {
        let bytes = self.to_bytes().map_err(io::Error::other)?;
        out.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    fn shrink(&self, max_bytes: u64) -> anyhow::Result<Option<Self>> {
        Ok(Some(StructuredModel::shrink(self, max_bytes)?))
    }

    fn n_weights(&self) -> usize {
        StructuredModel::n_weights(self)
    }

    fn main_metric(metrics: &M::Metrics) -> (&'static str, f64) {
        <M as StructuredTask>::main_metric(metrics)
    }

    fn one_line(metrics: &M::Metrics) -> String {
        <M as StructuredTask>::one_line(metrics)
    }

    fn metric_rows(metrics: &M::Metrics) -> Pairs {
        <M as StructuredTask>::metric_rows(metrics)
    }

    fn metrics_json(metrics: &M::Metrics) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(metrics)?)
    }

    fn lines_about(&self, report: &Report) -> [Vec<String>; 2] {
        let [mut before, after] = self.about();
        before.extend(stages(report));
        [before, after]
    }

    fn more_json(&self) -> Vec<(&'static str, Value)> {
        self.train_json()
    }

    fn alternatives(
        &self,
        args: &TrainArgs,
        data: &M::Data,
        others: [Option<&M::Data>; 2],
        train_seconds: f64,
    ) -> anyhow::Result<Option<Alternatives>> {
        StructuredTask::alternatives(self, args, data, others, train_seconds)
    }

    fn parts() -> &'static str {
        M::PARTS
    }

    fn nouns() -> [&'static str; 3] {
        M::NOUNS
    }
}

/// Refuses data without anything to compare with, and says what training did not see.
pub fn check_labelled<M: StructuredTask>(data: &M::Data, talk: Talk) -> anyhow::Result<()> {
    if let Some(why) = M::cannot_compare(data) {
        bail!("{}: {why}", data.source());
    }
    if let Some(said) = M::left_out(data).in_words() {
        talk.warn(format_args!("{}: {said}", data.source()));
    }
    if let Some((n, name)) = M::unseen(data) {
        talk.warn(format_args!(
            "{}: {n} with a {} that training did not see, such as `{name}`: counted as wrong",
            data.source(),
            M::CLASS
        ));
    }
    Ok(())
}
