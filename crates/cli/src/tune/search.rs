//! The search: a path of C for each way to make features, one way after the other.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use lineal::{
    Dataset, LossKind, ReadOptions, Shuffle, Source, Strategy, Task, TrainSpec, Trial, TuneSpec,
    TuneTable, Tuning,
};

use super::{Prepared, Setting, table};
use crate::args::{Lengths, LossName, TuneArgs};
use crate::exit::usage;
use crate::progress::Series;
use crate::rows::request::{check_multilabel, check_reduction};
use crate::rows::summary;
use crate::talk::{Talk, count, seconds};
use crate::train::flags;
use crate::{classes, files, text};

/// Flags against one another, and the output before any work.
pub fn check(args: &TuneArgs) -> anyhow::Result<()> {
    flags::check(&args.train()?)?;
    let strategy = strategy(args);
    check_reduction(&args.reduction, |s| s == strategy)?;
    if args.task == Task::Multilabel {
        check_multilabel(args.strategy, args.model.cost.is_some())?;
    }
    if args.task == Task::Regress && args.strategy.is_some() {
        return usage("--strategy is about classes: leave it out with --task regress");
    }
    let mut inputs = vec![args.data.as_path()];
    let others = args.test.iter().chain(&args.model.cost).chain(&args.file.labels);
    inputs.extend(others.chain(args.reduction.files()).map(PathBuf::as_path));
    let several = args.try_ngrams.len().max(1) * args.try_chars.len().max(1) > 1;
    if several && args.data == Path::new("-") {
        return usage(
            "standard input can only be read once, and each n-gram setting reads it: give a file",
        );
    }
    match &args.out {
        Some(out) if out == Path::new("-") => {
            usage("-o - would mix the model with the table: give a file")
        }
        Some(out) => files::check_output(out, &inputs),
        None => Ok(()),
    }
}

/// Each once, from the smallest on.
pub fn rising(cs: &[f64]) -> Vec<f64> {
    let mut cs = cs.to_vec();
    cs.sort_by(f64::total_cmp);
    cs.dedup();
    cs
}

/// How examples are dealt to folds.
pub fn shuffle(args: &TuneArgs) -> Shuffle {
    if args.no_shuffle { Shuffle::InOrder } else { Shuffle::Seeded(args.seed) }
}

fn strategy(args: &TuneArgs) -> Strategy {
    let usual = if args.task == Task::Multilabel { Strategy::Ova } else { Strategy::Joint };
    args.strategy.unwrap_or(usual)
}

/// A search that has read what it needs.
pub struct Search<'a> {
    args: &'a TuneArgs,
    source: Source,
    options: ReadOptions,
    settings: Vec<Setting>,
    /// The last features that were made, and which.
    prepared: Option<(usize, Prepared)>,
    talk: Talk,
}

impl<'a> Search<'a> {
    pub fn new(args: &'a TuneArgs, source: Source) -> anyhow::Result<Self> {
        let mut base = args.maps.add_to(text::features(&args.text)?, args.seed);
        base.standardize = args.model.standardized();
        let mut settings = Vec::new();
        let lengths = |tried: &[Lengths], usual| match tried {
            [] => vec![usual],
            tried => tried.iter().map(|l| l.0).collect(),
        };
        for ngrams in lengths(&args.try_ngrams, base.text.ngrams) {
            for chars in lengths(&args.try_chars, base.text.chars) {
                let mut spec = base.clone();
                (spec.text.ngrams, spec.text.chars) = (ngrams, chars);
                // What was asked for is what is tried.
                spec.no_pairs_of_few &= args.try_ngrams.is_empty();
                let shown = |name: &str, range: Option<(u8, u8)>| match range {
                    Some((lo, hi)) if lo == hi => format!("{name} {lo}"),
                    Some((lo, hi)) => format!("{name} {lo}-{hi}"),
                    None => format!("no {name}"),
                };
                let mut name = shown("words", ngrams);
                if !args.try_chars.is_empty() || chars.is_some() {
                    name = format!("{name}, {}", shown("characters", chars));
                }
                settings.push((name, spec));
            }
        }
        let options = args.file.learning(&args.columns, &args.text, args.task.target());
        let talk = Talk::new(args.run.quiet);
        Ok(Self { args, source, options, settings, prepared: None, talk })
    }

    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Rows and classes of what was read last.
    pub fn size(&self) -> (usize, usize) {
        self.prepared
            .as_ref()
            .map_or((0, 0), |(_, (data, _))| (data.n_rows(), data.schema.classes.len()))
    }

    /// Walks the path for each way to make features. Each has an equal share of what is left of the budget.
    pub fn run(&mut self, talk: Talk) -> anyhow::Result<TuneTable> {
        let args = self.args;
        let begun = Instant::now();
        let mut found = TuneTable::default();
        let n_settings = self.settings.len();
        let mut series: Option<Series> = None;
        for at in 0..n_settings {
            self.make(at)?;
            let Some((_, (data, features))) = &self.prepared else { break };
            let has_text = features.text().is_some();
            if at == 0 {
                text::check(&args.text, data, features)?;
                if n_settings > 1 && !has_text {
                    bail!(
                        "{}: n-grams are of text, and no column is text; name some with --text",
                        data.source
                    );
                }
            }
            let spec = self.spec(data)?;
            let n_runs = n_settings * spec.cs.len() * spec.losses.len();
            if at == 0 {
                self.say_plan(&spec, n_runs);
            }
            let series = series.get_or_insert_with(|| Series::new(talk, n_runs));
            let name = if has_text { self.settings[at].0.clone() } else { String::new() };
            let left = args.budget.0.map(|budget| budget.saturating_sub(begun.elapsed()));
            let share = left.map(|left| left / (n_settings - at) as u32);
            if at > 0 && left == Some(Duration::ZERO) {
                found.left_out += (n_settings - at) * spec.cs.len() * spec.losses.len();
                break;
            }
            let (metric, is_loss) = (spec.metric.name(args.task), spec.metric.is_loss(args.task));
            let mut see = |trial: &Trial| {
                series.begin(&table::name(trial));
                series.end(&table::name(trial), &table::measured(trial, metric, is_loss));
                ControlFlow::Continue(())
            };
            let tuning = Tuning::new(data, &spec).features(name).budget(share).monitor(&mut see);
            // The end of one share is the start of the next.
            let _: ControlFlow<()> = tuning.run(&mut found)?;
        }
        if let Some(series) = series {
            series.finish();
        }
        Ok(found)
    }

    /// What will be tried, and how long that takes at most.
    fn say_plan(&self, spec: &TuneSpec, n_runs: usize) {
        let losses: Vec<&str> = spec.losses.iter().map(|loss| loss.as_str()).collect();
        let features = match self.settings.len() {
            1 => String::new(),
            n => format!(" × {n} ways to make features"),
        };
        let time = match self.args.budget.0 {
            Some(budget) => {
                let time = seconds(budget.as_secs_f64());
                let and = if self.args.out.is_some() { ", then one on all rows" } else { "" };
                format!("{time} at most (--budget){and}")
            }
            None => "without a limit (--budget none)".to_owned(),
        };
        self.talk.say(format_args!(
            "tries {} × {} of C{features}: {} in {}, {time}",
            losses.join(", "),
            count(spec.cs.len(), "value"),
            count(n_runs.saturating_mul(spec.folds), "training"),
            count(spec.folds, "fold"),
        ));
    }

    /// What is made the way of that name.
    pub fn features_of(&mut self, name: &str) -> anyhow::Result<Prepared> {
        let at = self.settings.iter().position(|s| s.0 == name).unwrap_or(0);
        self.make(at)?;
        match self.prepared.take() {
            Some((_, prepared)) => Ok(prepared),
            None => bail!("{}: the data went away", self.args.data.display()),
        }
    }

    fn make(&mut self, at: usize) -> anyhow::Result<()> {
        if self.prepared.as_ref().is_some_and(|(which, _)| *which == at) {
            return Ok(());
        }
        self.prepared = None;
        let begun = Instant::now();
        let features = &self.settings[at].1;
        let (data, features) = lineal::read_features(&self.source, &self.options, features)?;
        self.talk.say_all(&summary::data(&data, &features, begun.elapsed().as_secs_f64()));
        self.prepared = Some((at, (data, features)));
        Ok(())
    }

    fn spec(&self, data: &Dataset) -> anyhow::Result<TuneSpec> {
        let (args, defaults) = (self.args, TuneSpec::default());
        let cs = if args.cs.is_empty() { defaults.cs } else { rising(&args.cs) };
        let metric = args.metric.of_rows()?;
        let losses = match (args.losses.as_slice(), args.task) {
            ([], Task::Regress) => vec![LossKind::Squared],
            ([], _) if metric.needs_proba() => vec![LossKind::Logistic],
            ([], _) => defaults.losses,
            (given, _) => LossName::losses(given)?,
        };
        let shuffle = shuffle(args);
        let base = self.base(data)?;
        Ok(TuneSpec { base, cs, losses, folds: args.folds, shuffle, metric })
    }

    /// Everything that is not searched.
    pub fn base(&self, data: &Dataset) -> anyhow::Result<TrainSpec> {
        let (args, mut defaults) = (self.args, TrainSpec::for_task(self.args.task));
        args.proba().add_to(&mut defaults);
        let classes = &data.schema.classes;
        let cost =
            args.model.cost.as_deref().map(|path| lineal::read_cost(path, classes)).transpose()?;
        Ok(TrainSpec {
            task: args.task,
            strategy: strategy(args),
            reduction: classes::with_files(&args.reduction, classes)?,
            bias: args.model.bias(),
            class_weight: args.model.class_weight.clone().unwrap_or_default(),
            cost,
            standardize: args.maps.standardize_left(args.model.standardized()),
            tol: args.stop.tol.unwrap_or(defaults.tol),
            max_passes: args.stop.max_passes,
            seed: args.seed,
            ..defaults
        })
    }
}
