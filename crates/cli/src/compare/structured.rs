//! Every learner of a structure on the same split.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::bail;
use lineal::{Ask, CurvePoint, Error, Examples, Learner, Source, StructuredModel, Training};

use super::measure::{self, Measured, Row};
use super::{Comparison, LeftOut, outcome_of, split};
use crate::args::{CompareArgs, LossName};
use crate::fields::as_flags;
use crate::progress::Series;
use crate::structured::StructuredTask;
use crate::talk::{Talk, count};
use crate::train::Trainable;
use crate::train::request::Request;

/// Metrics that have a column.
const METRICS: usize = 4;

/// Trains them one after the other.
pub fn compare<M: StructuredTask>(args: &CompareArgs) -> anyhow::Result<Comparison> {
    let start = Instant::now();
    let talk = Talk::new(args.run.quiet);
    let train = args.train()?;
    let mut request = <M as StructuredTask>::request(&train)?;
    let source = Source::from(&args.data);
    let data =
        <M as Trainable>::read(source, &train, &mut request, &mut |lines| talk.say_all(&lines))?;
    if let Some(why) = M::cannot_compare(&data) {
        bail!("{}: {why}", data.source());
    }
    let (train, test) = match &args.test {
        Some(path) => {
            let test = M::labelled(Source::from(path), &request, &data, talk)?;
            (data, test)
        }
        None => {
            let parts = split::parts(data.n_examples(), M::EXAMPLE, data.source(), args)?;
            let [train, test] = parts.map(|part| data.select(&part));
            (train, test)
        }
    };
    talk.say(format_args!(
        "trained on {}, measured on {}",
        count(train.n_examples(), M::EXAMPLE),
        count(test.n_examples(), M::EXAMPLE)
    ));
    let learners = match args.losses.as_slice() {
        [] => Learner::of(args.task),
        named => LossName::learners(named)?,
    };
    let mut series = Series::new(talk, learners.len());
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for learner in learners {
        let name = learner.to_string();
        series.begin(&name);
        let outcome = match measured::<M>(learner, &request, &train, &test, &series) {
            Ok(measured) => Ok(measured),
            // What the structure, or what else is asked for, does not allow.
            Err(Error::Request(reason)) => {
                let reason = as_flags(&reason).into_owned();
                series.end(&name, &format!("left out: {reason}"));
                left_out.push(LeftOut { strategy: None, loss: Some(name), reason });
                continue;
            }
            Err(error) => Err(as_flags(&error.to_string()).into_owned()),
        };
        let row = Row { strategy: None, loss: name.clone(), outcome };
        series.end(&name, &outcome_of(&row));
        rows.push(row);
    }
    series.finish();
    if rows.is_empty() {
        let why = left_out.first().map_or("", |left| left.reason.as_str());
        bail!("nothing is left to run: {why}");
    }
    let ran: Vec<&Measured> = rows.iter().filter_map(|row| row.outcome.as_ref().ok()).collect();
    let is_known = |name: &&&str| ran.iter().any(|m| !m.metric(name).is_nan());
    let metrics = M::METRICS.iter().filter(is_known).take(METRICS).copied().collect();
    let report = ran.first().map(|m| &m.report);
    Ok(Comparison {
        data: train.source().to_owned(),
        task: args.task,
        example: M::EXAMPLE,
        n_examples: [train.n_examples(), test.n_examples()],
        n_features: report.map_or(0, |report| report.features),
        n_classes: report.map_or(0, |report| report.classes),
        metrics,
        rows,
        left_out,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn measured<M: StructuredTask>(
    learner: Learner,
    request: &Request<M::Request>,
    train: &M::Data,
    test: &M::Data,
    series: &Series,
) -> Result<Measured, Error> {
    let spec = learner.spec(&request.spec, None);
    let begun = Instant::now();
    let mut watch = |point: &CurvePoint| {
        series.pass(learner.as_str(), point, spec.task);
        ControlFlow::Continue(())
    };
    let training = Training::new(train, &spec).monitor(&mut watch);
    let (model, report) = M::prepare(training, &request.options).run()?;
    let train_seconds = begun.elapsed().as_secs_f64();
    let mut answers = Ok(Vec::new());
    let fastest =
        measure::fastest(|| answers = StructuredModel::answer(&model, test, &Ask::default()));
    let metrics = StructuredModel::compare(&model, test, &answers?)?;
    let json = serde_json::to_value(&metrics)
        .map_err(|error| Error::Write(std::io::Error::other(error)))?;
    Ok(Measured {
        report,
        train_seconds,
        predict_seconds: fastest / test.n_examples().max(1) as f64,
        one_line: <M as StructuredTask>::one_line(&metrics),
        metrics: measure::without_lists(json),
        model_bytes: model.to_bytes()?.len() as u64,
    })
}
