//! From flags to a run over a stream: what they mean together, checked once.

use std::path::{Path, PathBuf};

use anyhow::bail;
use lineal::{
    ClassWeight, FeatureSpec, Model, Precision, ReadOptions, SolverKind, Strategy, StreamSpec, Task,
};

use crate::args::TrainArgs;
use crate::exit::usage;
use crate::rows::request::options_for;
use crate::{files, text};

/// A run that makes sense as far as flags can tell.
pub struct Request {
    pub spec: StreamSpec,
    pub options: ReadOptions,
    pub features: FeatureSpec,
    data: PathBuf,
    given: Given,
}

/// The flags that were given, to be compared with a model that is resumed.
struct Given {
    loss: Option<lineal::LossKind>,
    update: Option<lineal::UpdateKind>,
    l2: Option<f64>,
    task: Option<Task>,
    strategy: Option<Strategy>,
    text: Option<&'static str>,
    has_cost: bool,
}

impl Request {
    pub fn new(args: &TrainArgs) -> anyhow::Result<Self> {
        check(args)?;
        let (stream, defaults) = (&args.stream, StreamSpec::default());
        let spec = StreamSpec {
            task: args.task,
            loss: args.loss,
            sum: args.sum,
            strategy: args.strategy.filter(|_| args.task != Task::Multilabel),
            pairs: args.reduction.pairs.unwrap_or(defaults.pairs),
            cost: args.model.cost.as_deref().map(lineal::read_named_cost).transpose()?,
            bias: args.model.bias(),
            l2: args.penalty.l2.unwrap_or(0.0),
            update: stream.update,
            rate: args.rate,
            schedule: args.schedule,
            average: args.average,
            shuffle: !args.no_shuffle,
            class_weight: args.model.class_weight.clone().unwrap_or(ClassWeight::Equal),
            delta: args.delta.unwrap_or(defaults.delta),
            epsilon: args.epsilon.unwrap_or(defaults.epsilon),
            seed: args.seed,
            rows_per_chunk: stream.chunk,
            sample_rows: stream.sample.unwrap_or(defaults.sample_rows),
        };
        let features = text::features(&args.text)?;
        if args.text.max_features.is_some() {
            return usage(
                "--max-features limits a vocabulary, but text in a stream is hashed: use --hash BITS",
            );
        }
        let given = Given {
            loss: args.loss,
            update: stream.update,
            l2: args.penalty.l2,
            task: (args.task != Task::Classify).then_some(args.task),
            strategy: args.strategy,
            text: args.text.first(),
            has_cost: args.model.cost.is_some(),
        };
        let options = args.file.learning(&args.columns, &args.text, args.task.target());
        Ok(Self { spec, options, features, data: args.data.clone(), given })
    }

    /// How another file than the training data is read.
    pub fn options_for(&self, path: &Path) -> ReadOptions {
        options_for(path, &self.data, &self.options)
    }

    /// A model goes on as it began.
    pub fn check_resumed(&self, model: &Model) -> anyhow::Result<()> {
        let Some(spec) = model.stream_spec() else { return Ok(()) };
        let differs = |flag: &str, said: Option<String>, was: String| match said {
            Some(said) if said != was => bail!(
                "--resume continues with the settings of the model, here {flag} {was}; leave out {flag} {said}, or train a new model"
            ),
            _ => Ok(()),
        };
        differs("--loss", self.given.loss.map(|l| l.to_string()), spec.loss().to_string())?;
        differs(
            "--update",
            self.given.update.map(|u| u.to_string()),
            spec.update.map_or("", |u| u.as_str()).to_owned(),
        )?;
        differs("--l2", self.given.l2.map(|l| l.to_string()), spec.l2.to_string())?;
        differs("--task", self.given.task.map(|t| t.to_string()), spec.task.to_string())?;
        differs(
            "--strategy",
            self.given.strategy.map(|s| s.to_string()),
            spec.strategy().to_string(),
        )?;
        if self.given.has_cost {
            bail!("--resume continues with the costs of the model; leave out --cost");
        }
        match self.given.text {
            Some(flag) => bail!("--resume reads text as the model does; leave out {flag}"),
            None => Ok(()),
        }
    }
}

/// Which strategies a stream has.
fn check_strategy(args: &TrainArgs) -> anyhow::Result<()> {
    let strategy = args.strategy.unwrap_or(Strategy::Joint);
    if let Strategy::Ecoc | Strategy::Tree = strategy {
        return usage(format!(
            "--strategy {strategy} is made for classes that are all known, and new ones may come with a stream: take joint, ova or ovo, or leave \
             out --stream"
        ));
    }
    if args.task == Task::Multilabel && args.strategy.is_some_and(|s| s != Strategy::Ova) {
        return usage("--task multilabel asks each label alone (ova)");
    }
    if args.reduction.pairs.is_some() && strategy != Strategy::Ovo {
        return usage("--pairs is a choice of --strategy ovo: add that, or leave it out");
    }
    Ok(())
}

/// Flags that need all rows at once, and files that would be overwritten.
fn check(args: &TrainArgs) -> anyhow::Result<()> {
    if !args.stream.stream && args.stream.resume.is_none() {
        let flag = args.stream.given().unwrap_or_default();
        return usage(format!("{flag} is a choice of --stream: add that, or leave it out"));
    }
    let solver = !matches!(args.solver, SolverKind::Auto | SolverKind::Sgd);
    let reduction = &args.reduction;
    check_strategy(args)?;
    let given = [
        ("-C (say --l2)", args.penalty.c.is_some()),
        ("--l1", args.l1.is_some()),
        ("--solver", solver),
        ("--code", reduction.code.is_some()),
        ("--code-length", reduction.code_length.is_some()),
        ("--decoding", reduction.decoding.is_some()),
        ("--tree", reduction.tree.is_some()),
        ("--leaf-size", reduction.leaf_size.is_some()),
        ("--beam", reduction.beam.is_some()),
        ("--map", args.maps.map.is_some()),
        ("--interact", !args.maps.interact.is_empty()),
        ("--templates", args.templates.templates.is_some()),
        ("--calibrate", args.proba.calibrate.is_some()),
        ("--threshold", args.proba.threshold.is_some()),
        ("--folds", args.proba.folds.is_some()),
        ("--standardize (--update normalised does without)", args.model.standardize),
        ("--hard-margin", args.hard_margin),
        ("--tol", args.stop.tol.is_some()),
        ("--max-passes (say --epochs)", args.stop.max_passes.is_some()),
        ("--batch-size", args.batch_size.is_some()),
        ("--with-replacement", args.with_replacement),
        ("--precision", args.precision == Precision::F64),
        ("--validation (each row is judged before it is learnt)", args.validation.is_some()),
        ("--patience", args.patience.is_some()),
        ("--curve", args.curve),
        ("--report", args.report.is_some()),
        ("--require-convergence", args.require_convergence),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return usage(format!(
            "a stream does not take {flag}; leave it out, or leave out --stream"
        ));
    }
    if args.out == Path::new("-") && args.json {
        return usage("-o - and --json would both write to standard output");
    }
    if args.out != Path::new("-") {
        let others = [args.test.as_ref(), args.file.labels.as_ref(), args.model.cost.as_ref()];
        let inputs: Vec<&Path> =
            [Some(&args.data)].into_iter().chain(others).flatten().map(PathBuf::as_path).collect();
        // The model that is resumed may be the one that is written: it is replaced as a whole.
        files::check_output(&args.out, &inputs)?;
    }
    Ok(())
}
