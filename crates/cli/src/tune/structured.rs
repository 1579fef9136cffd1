//! The search over learners of a structure.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use lineal::{
    Examples, Learner, Source, StructuredModel, StructuredTuneSpec, StructuredTuning, Training,
    Trial,
};

use super::search::{rising, shuffle};
use super::{Found, Trained, choose, say_trained, table};
use crate::args::{LossName, TuneArgs};
use crate::exit::usage;
use crate::fields::as_flags;
use crate::progress::Series;
use crate::structured::StructuredTask;
use crate::talk::{Talk, count, seconds};
use crate::train::request::Request;
use crate::train::{Trainable, write_model};

/// Searches, and trains what it found on everything.
pub fn tune<M: StructuredTask>(args: &TuneArgs) -> anyhow::Result<Found<Learner>> {
    let start = Instant::now();
    let talk = Talk::new(args.run.quiet);
    if !args.try_ngrams.is_empty() || !args.try_chars.is_empty() {
        return usage("--try-ngrams and --try-chars are for classes and numbers: leave them out");
    }
    let train = args.train()?;
    let mut request = <M as StructuredTask>::request(&train)?;
    request.check_outputs()?;
    let source = Source::from(&args.data);
    let data =
        <M as Trainable>::read(source, &train, &mut request, &mut |lines| talk.say_all(&lines))?;
    if let Some(why) = M::cannot_compare(&data) {
        bail!("{}: {why}", data.source());
    }
    let test = match &args.test {
        Some(path) => Some(M::labelled(Source::from(path), &request, &data, talk)?),
        None => None,
    };
    let spec = StructuredTuneSpec {
        base: request.spec.clone(),
        cs: rising(&args.cs),
        learners: LossName::learners(&args.losses)?,
        folds: args.folds,
        shuffle: shuffle(args),
        metric: args.metric.of_structures(),
    };
    say_plan(&spec, args, talk);
    let mut series = Series::new(talk, spec.paths().iter().map(|(_, cs)| cs.len()).sum());
    let mut see = |trial: &Trial<Learner>| {
        let name = table::name(trial);
        series.begin(&name);
        series.end(&name, &table::measured(trial, "mean", false));
        ControlFlow::Continue(())
    };
    let tuning = StructuredTuning::new(&data, &spec).budget(args.budget.0);
    let options = &request.options;
    let tuned = tuning.monitor(&mut see).run_with(&|data, spec, start, deadline| {
        let mut stop = lineal::stop_at(deadline);
        let mut training = Training::new(data, spec).monitor(&mut stop);
        if let Some(start) = start {
            training = training.start_from(start);
        }
        M::prepare(training, options).run()
    });
    series.finish();
    let tuned = tuned?;
    let search_seconds = start.elapsed().as_secs_f64();
    let chosen = choose(&tuned.table, args, talk)?;
    let trained = match &args.out {
        Some(out) => Some(write::<M>(args, &chosen, &request, &data, test.as_ref(), out, talk)?),
        None => None,
    };
    let total_seconds = start.elapsed().as_secs_f64();
    if let Some(trained) = &trained {
        say_trained(trained, args, total_seconds, talk);
    }
    Ok(Found {
        task: args.task,
        table: tuned.table,
        refused: in_flags(tuned.refused),
        chosen,
        metric: tuned.metric.to_owned(),
        is_loss: false,
        n_examples: data.n_examples(),
        n_classes: trained.as_ref().map(|trained| trained.report.classes),
        trained,
        search_seconds,
        total_seconds,
    })
}

/// What will be tried, and how long that takes at most.
fn say_plan(spec: &StructuredTuneSpec, args: &TuneArgs, talk: Talk) {
    let paths = spec.paths();
    let learners: Vec<String> = paths.iter().map(|(learner, _)| learner.to_string()).collect();
    let n_runs: usize = paths.iter().map(|(_, cs)| cs.len()).sum();
    let time = match args.budget.0 {
        Some(budget) => format!("{} at most (--budget)", seconds(budget.as_secs_f64())),
        None => "without a limit (--budget none)".to_owned(),
    };
    talk.say(format_args!(
        "tries {}: {} of C in all, {} in {}, {time}",
        learners.join(", "),
        count(n_runs, "value"),
        count(n_runs.saturating_mul(spec.folds), "training"),
        count(spec.folds, "fold"),
    ));
}

/// The chosen one on all examples, as `train` trains it.
fn write<M: StructuredTask>(
    args: &TuneArgs,
    chosen: &Trial<Learner>,
    request: &Request<M::Request>,
    data: &M::Data,
    test: Option<&M::Data>,
    out: &Path,
    talk: Talk,
) -> anyhow::Result<Trained> {
    let spec = chosen.loss.spec(&request.spec, Some(chosen.c));
    let mut stop = lineal::stop_at(args.budget.deadline());
    let training = Training::new(data, &spec).monitor(&mut stop);
    let (model, report) = M::prepare(training, &request.options).run()?;
    talk.say(report.certificate());
    report.warnings.iter().for_each(|warning| talk.warn(warning));
    let test = test.map(|test| StructuredModel::evaluate(&model, test)).transpose()?;
    let bytes = write_model(&model, out)?;
    Ok(Trained {
        report,
        bytes,
        test_in_one_line: test.as_ref().map(<M as StructuredTask>::one_line),
        test: test.as_ref().map(serde_json::to_value).transpose()?,
    })
}

/// The reasons in the program's words.
fn in_flags<L>(refused: Vec<(L, String)>) -> Vec<(L, String)> {
    refused.into_iter().map(|(learner, why)| (learner, as_flags(&why).into_owned())).collect()
}
