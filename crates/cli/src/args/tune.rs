//! Flags of `tune`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use lineal::{Choice, Strategy, Task, TuneMetric};

use super::choice::{at_least_two, choice, positive};
use super::classes::{CLASSES, ReductionArgs};
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
Every loss × C (and, of text, every --try-ngrams × --try-chars) is measured by cross-validation: trained on all folds but one and measured on \
that one. Each run starts where the one of the C before it ended; the folds of one C run side by side, and share the data. The \
table shows mean ± standard error; * marks the best mean, 1se the smallest C of the same loss and features that is within one standard error of it. With \
-o the chosen one is trained on all rows and written.

A --budget ends the search between two steps, so that all that is shown was measured on all folds. Text features are made once of all rows: of a \
held-out row the words count, its label does not.

With --task tag, dependency, constituency, rank, segment or declared folds are of whole examples: sequences, sentences, queries, images. C runs around the task's usual one; of passive–aggressive updates it is the largest update. A learner that the structure has no oracle for is left out, with the reason.

Examples:
  lineal tune a9a.svm -o a9a.lineal
  lineal tune letter.svm -C 0.1,1,10,100 --losses logistic,hinge --folds 10
  lineal tune tickets.csv --label category --try-ngrams 1,1-2 --try-chars none,3-5 \\
      --budget 60s -o tickets.lineal
  lineal tune circles.csv --map poly:2 -o circles.lineal
  lineal tune data.csv --choose one-se --json > table.json
  lineal tune train.letor --task rank --metric map -o rank.lineal
  lineal tune train.conll --task tag --losses logistic --budget 5m -o tags.lineal";

/// Find C, loss and n-gram lengths by cross-validation, and train the best
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct TuneArgs {
    /// Labelled data, as for train; - is standard input
    pub data: PathBuf,

    /// Train the chosen one on everything and write it here
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

    /// Deal rows or examples to folds as they come, as scikit-learn's StratifiedKFold does, not at random
    #[arg(long, help_heading = SEARCH)]
    pub no_shuffle: bool,

    /// What counts: usual (accuracy; multilabel: micro F1; regress: rmse), macro-f1, log-loss (the logistic loss only); structures: a metric of eval --json, such as span_f1, las, f1, ndcg@10, iou, exact [default: the first of these that the task has]
    #[arg(long, value_name = "M", default_value = "usual", hide_default_value = true, help_heading = SEARCH)]
    pub metric: MetricArg,

    /// Which to take
    #[arg(long, value_name = "W", default_value = "best", help_heading = SEARCH,
          value_parser = choice::<ChoiceArg>(&[
        ("best", "the best mean"),
        ("one-se", "the smallest C within one standard error of the best"),
    ]))]
    pub choose: ChoiceArg,

    /// Time for the search: 60s, 5m, 1h [default: no limit]
    #[arg(long, value_name = "TIME", help_heading = SEARCH)]
    pub budget: Option<Budget>,

    /// What is predicted
    #[arg(long, value_name = "T", default_value = "classify", help_heading = MODEL,
          value_parser = choice::<Task>(&[
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
    pub task: Task,

    /// How several classes become problems [default: joint; ova with --task multilabel]
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
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = RUNNING)]
    pub seed: u64,

    /// Print one JSON object on stdout and nothing else there
    #[arg(long, help_heading = RUNNING)]
    pub json: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

impl TuneArgs {
    /// The training run that each step of the search varies.
    pub fn train(&self) -> anyhow::Result<TrainArgs> {
        let bare = self.structure.train(&self.data, self.task)?;
        Ok(TrainArgs {
            out: self.out.clone().unwrap_or(bare.out),
            strategy: self.strategy,
            model: self.model.clone(),
            reduction: self.reduction.clone(),
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
            Self::Named(name) if name == "macro_f1" => Ok(TuneMetric::MacroF1),
            Self::Named(name) if name == "log_loss" => Ok(TuneMetric::LogLoss),
            Self::Named(name) => usage(format!(
                "--metric {name} is not one of usual, macro-f1 and log-loss, which rows have"
            )),
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

/// Seconds, minutes or hours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget(pub Duration);

impl FromStr for Budget {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (number, unit) = match s.chars().last() {
            Some('s') => (&s[..s.len() - 1], 1.0),
            Some('m') => (&s[..s.len() - 1], 60.0),
            Some('h') => (&s[..s.len() - 1], 3600.0),
            _ => (s, 1.0),
        };
        match number.parse::<f64>() {
            Ok(n) if n > 0.0 && n * unit < 1e9 => Ok(Self(Duration::from_secs_f64(n * unit))),
            _ => Err("must be a time such as 60s, 5m or 1h".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("90", 90), ("60s", 60), ("5m", 300), ("1h", 3600)] {
            assert_eq!(text.parse(), Ok(Budget(Duration::from_secs(seconds))));
        }
        assert!(["", "s", "-1s", "1d", "nan", "infh"].iter().all(|s| s.parse::<Budget>().is_err()));
    }
}
