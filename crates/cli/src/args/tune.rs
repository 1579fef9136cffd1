//! Flags of `tune`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use clap::Args;
use lineal::{Choice, Strategy, Task, Threshold, TuneMetric};

use super::choice::{at_least_two, choice, positive, task};
use super::classes::{CLASSES, CalibrateArg, ProbaArgs, ReductionArgs, calibration};
use super::fit::{MODEL, ModelArgs, StopArgs};
use super::maps::MapArgs;
use super::read::{ColumnArgs, FileArgs};
use super::running::RunArgs;
use super::structure::{LossName, StructureArgs};
use super::text::{Lengths, TextArgs};
use super::train::TrainArgs;
use crate::exit::usage;

const SEARCH: &str = "What to search";
const RUNNING: &str = "Running and output";

const HELP: &str = "\
Every loss is tried with every C (for text, also with every --try-ngrams and --try-chars) and measured by cross-validation: training uses all folds but one, and that one \
measures it. Each run starts from the weights of the run with the C before it. The folds of one C run in parallel and share the data. The \
table shows mean ± standard error; * marks the best mean, 1se the smallest C with the same loss and features whose mean is within one standard error of it. With \
-o, the chosen setting is trained on all rows and written.

The search ends after --budget at the latest: fits that are still running stop, and the table shows what they reached; they are chosen only if there is nothing else. The final training on all rows may take \
as long again. A setting whose fits did not converge is marked, with a warning if it is chosen. If the labels are numbers, the task is regression, as for train. Text features are computed once, from all \
rows: the words of a held-out row count, its label does not.

Metrics: accuracy, micro_f1, macro_f1, mcc, auc (or roc_auc), pr_auc, log_loss, brier, ece, mean_cost of classes; micro_f1, macro_f1, hamming_loss, subset_accuracy, p@1, p@3, p@5, \
ndcg@5 of labels; rmse, mae, r2 of numbers; structures: those of eval --json.

With --task tag, dependency, constituency, rank, segment or declared, folds consist of whole examples: sequences, sentences, queries, images. The values of C lie around the default of the task; for passive–aggressive updates, C is the largest update. A learner that the structure does not support is left out, with the reason.

Examples:
  lineal tune a9a.svm -o a9a.lineal
  lineal tune letter.svm -C 0.1,1,10,100 --losses logistic,hinge --folds 10
  lineal tune tickets.csv --label category --try-ngrams 1,1-2 --try-chars none,3-5 \\
      --budget 60s -o tickets.lineal
  lineal tune circles.csv --map poly:2 -o circles.lineal
  lineal tune data.csv --choose one-se --json > table.json
  lineal tune churn.csv --metric pr_auc --budget 1m -o churn.lineal
  lineal tune train.letor --task rank --metric map -o rank.lineal
  lineal tune train.conll --task tag --losses logistic --budget 5m -o tags.lineal";

/// Find C, loss and n-gram lengths by cross-validation, and train the best
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct TuneArgs {
    /// Labelled data, as for train; - is standard input
    pub data: PathBuf,

    /// Train the chosen setting on all rows and write the model here
    #[arg(short, value_name = "MODEL")]
    pub out: Option<PathBuf>,

    /// Values of C [default: 0.01,0.03,0.1,0.3,1,3,10,30,100; structures: the usual C of train times 0.01,0.1,1,10,100, or the usual passive–aggressive update times 0.1,0.3,1,3,10]
    #[arg(short = 'C', value_name = "C,…", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = positive, help_heading = SEARCH)]
    pub cs: Vec<f64>,

    /// Losses [default: logistic,squared-hinge; regress: squared; dependency, constituency, declared: passive-aggressive; other structures: all that are minimised]
    #[arg(long, value_name = "L,…", value_delimiter = ',', help_heading = SEARCH,
          value_parser = choice::<LossName>(&[
        ("passive-aggressive", "structures: updates that are just large enough, and at most C"),
        ("hinge", "the large margin"),
        ("squared-hinge", "its square"),
        ("logistic", "maximum likelihood"),
        ("squared", "least squares"),
        ("huber", "regress: squared near, linear far"),
        ("epsilon", "regress: nothing near, linear far"),
    ]))]
    pub losses: Vec<LossName>,

    /// Text: lengths of word n-grams to try, such as 1,1-2 [default: that of --ngrams]
    #[arg(long, value_name = "N-M,…", value_delimiter = ',', help_heading = SEARCH, conflicts_with = "ngrams")]
    pub try_ngrams: Vec<Lengths>,

    /// Text: lengths of character n-grams to try, such as none,3-5 [default: that of --chars]
    #[arg(long, value_name = "N-M,…", value_delimiter = ',', help_heading = SEARCH, conflicts_with = "chars")]
    pub try_chars: Vec<Lengths>,

    /// Folds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_two, help_heading = SEARCH)]
    pub folds: usize,

    /// Assign rows to folds in the order of the file, as scikit-learn's StratifiedKFold does, instead of at random
    #[arg(long, help_heading = SEARCH)]
    pub no_shuffle: bool,

    /// Metric to optimise, by its name in eval --json: such as macro_f1, mcc, pr_auc, log_loss, mae, span_f1 [default: accuracy; multilabel: micro_f1; regress: rmse; structures: the main metric of the task]
    #[arg(long, value_name = "M", default_value = "usual", hide_default_value = true, help_heading = SEARCH)]
    pub metric: MetricArg,

    /// Which setting to choose
    #[arg(long, value_name = "W", default_value = "best", help_heading = SEARCH,
          value_parser = choice::<ChoiceArg>(&[
        ("best", "the best mean"),
        ("one-se", "the smallest C within one standard error of the best"),
    ]))]
    pub choose: ChoiceArg,

    /// Time for the search: 60s, 5m, 1h, or none for no limit
    #[arg(long, value_name = "TIME", default_value = "10m", help_heading = SEARCH)]
    pub budget: Budget,

    /// What is predicted [default: classify; regress if labels are fractions or many different numbers]
    #[arg(long = "task", value_name = "T", help_heading = MODEL, value_parser = task(&[
        ("classify", "one of two or more classes"),
        ("multilabel", "any number of labels per row, none included"),
        ("regress", "a number"),
        ("tag", "a label for each position of a sequence"),
        ("dependency", "a head and a relation for each word of a sentence"),
        ("constituency", "a bracketed tree over the words of a sentence"),
        ("rank", "the order of the documents of a query"),
        ("segment", "a label for each pixel of an image or node of a graph"),
        ("declared", "labels of variables with factors and rules (--declaration)"),
    ]))]
    pub task_flag: Option<Task>,

    /// The flag, or its default.
    #[arg(skip = Task::Classify)]
    pub task: Task,

    /// How to train on several classes [default: joint; ova with --task multilabel]
    #[arg(long, value_name = "S", help_heading = CLASSES, value_parser = choice::<Strategy>(&[
        ("joint", "one weight matrix, one loss over all classes"),
        ("ova", "one-vs-all"),
        ("ovo", "one-vs-one"),
        ("ecoc", "error-correcting output codes"),
        ("tree", "a label tree"),
    ]))]
    pub strategy: Option<Strategy>,

    #[command(flatten)]
    pub model: ModelArgs,

    #[command(flatten)]
    pub reduction: ReductionArgs,

    /// Turn the scores of the final model into probabilities [default: temperature, if the chosen loss has none]
    #[arg(long, value_name = "M", help_heading = CLASSES, value_parser = calibration())]
    pub calibrate: Option<CalibrateArg>,

    /// When a label, or the second of two classes, is predicted: above a probability, or by auto, f1, macro-f1, micro-f1 or cost:FP,FN, which tune the threshold on rows that training
    /// did not see [default: 0.5; multilabel: auto]
    #[arg(long, value_name = "P|AIM", allow_negative_numbers = true, help_heading = CLASSES)]
    pub threshold: Option<Threshold>,

    #[command(flatten)]
    pub stop: StopArgs,

    #[command(flatten)]
    pub file: FileArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub maps: MapArgs,

    #[command(flatten)]
    pub text: TextArgs,

    #[command(flatten)]
    pub structure: StructureArgs,

    /// Measure the trained model on this labelled file
    #[arg(long, value_name = "DATA", requires = "out", help_heading = RUNNING)]
    pub test: Option<PathBuf>,

    /// Seed of the folds and of every random choice
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, help_heading = RUNNING)]
    pub seed: u64,

    /// Print one JSON object on stdout and nothing else there
    #[arg(long, help_heading = RUNNING)]
    pub json: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

impl TuneArgs {
    /// What is fitted to held-out rows; --folds is of the search.
    pub fn proba(&self) -> ProbaArgs {
        ProbaArgs { calibrate: self.calibrate, threshold: self.threshold, folds: None }
    }

    /// Takes the task from the flag; without one it is found when the data is read.
    pub fn settle(mut self) -> Self {
        self.task = self.task_flag.unwrap_or(Task::Classify);
        self
    }

    /// The training run that each step of the search varies.
    pub fn train(&self) -> anyhow::Result<TrainArgs> {
        let bare = self.structure.train(&self.data, self.task)?;
        Ok(TrainArgs {
            out: self.out.clone().unwrap_or(bare.out),
            task_flag: self.task_flag,
            strategy: self.strategy,
            model: self.model.clone(),
            reduction: self.reduction.clone(),
            proba: self.proba(),
            stop: self.stop.clone(),
            file: self.file.clone(),
            columns: self.columns.clone(),
            maps: self.maps.clone(),
            text: self.text.clone(),
            test: self.test.clone(),
            seed: self.seed,
            run: self.run.clone(),
            ..bare
        })
    }
}

/// What counts, by name.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricArg {
    /// What the task usually counts.
    Usual,
    /// Another one, with the words of its name joined by `_`, as in `eval --json`.
    Named(String),
}

impl FromStr for MetricArg {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Ok(match s {
            "usual" => Self::Usual,
            other => Self::Named(other.replace('-', "_")),
        })
    }
}

impl MetricArg {
    /// A metric of rows.
    pub fn of_rows(&self) -> anyhow::Result<TuneMetric> {
        match self {
            Self::Usual => Ok(TuneMetric::Usual),
            Self::Named(name) => name.parse().or_else(|why| usage(format!("--metric: {why}"))),
        }
    }

    /// The name of a metric of structures, unless it is the usual one.
    pub fn of_structures(&self) -> Option<String> {
        match self {
            Self::Usual => None,
            Self::Named(name) => Some(name.clone()),
        }
    }
}

/// [`Choice`] by name.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceArg(pub Choice);

impl FromStr for ChoiceArg {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "best" => Ok(ChoiceArg(Choice::Best)),
            "one-se" => Ok(ChoiceArg(Choice::OneStandardError)),
            _ => Err(format!("`{s}` is not one of best, one-se")),
        }
    }
}

/// Seconds, minutes or hours, or no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget(pub Option<Duration>);

impl Budget {
    /// The share of one of so many parts.
    pub fn divided_by(self, n: usize) -> Self {
        Self(self.0.map(|budget| budget / u32::try_from(n).unwrap_or(u32::MAX).max(1)))
    }

    /// The time after which what begins now is stopped.
    pub fn deadline(self) -> Option<Instant> {
        self.0.and_then(|budget| Instant::now().checked_add(budget))
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if s == "none" {
            return Ok(Self(None));
        }
        let (number, unit) = match s.chars().last() {
            Some('s') => (&s[..s.len() - 1], 1.0),
            Some('m') => (&s[..s.len() - 1], 60.0),
            Some('h') => (&s[..s.len() - 1], 3600.0),
            _ => (s, 1.0),
        };
        match number.parse::<f64>() {
            Ok(n) if n > 0.0 && n * unit < 1e9 => Ok(Self(Some(Duration::from_secs_f64(n * unit)))),
            _ => Err("must be a time such as 60s, 5m or 1h, or none".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("90", 90), ("60s", 60), ("5m", 300), ("1h", 3600)] {
            assert_eq!(text.parse(), Ok(Budget(Some(Duration::from_secs(seconds)))));
        }
        assert_eq!("none".parse(), Ok(Budget(None)));
        assert!(["", "s", "-1s", "1d", "nan", "infh"].iter().all(|s| s.parse::<Budget>().is_err()));
    }
}
