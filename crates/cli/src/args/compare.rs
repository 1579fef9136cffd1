//! Flags of `compare`.

use std::path::PathBuf;

use clap::Args;
use lineal::{LossKind, Strategy, Task};

use super::choice::choice;
use super::classes::{ProbaArgs, ReductionArgs};
use super::fit::{MODEL, ModelArgs, PenaltyArgs, StopArgs};
use super::maps::MapArgs;
use super::read::{ColumnArgs, FileArgs};
use super::running::RunArgs;
use super::text::TextArgs;

const COMPARE: &str = "What to compare";
const RUNNING: &str = "Running and output";

const HELP: &str = "\
Every strategy × loss is trained on the same rows and measured on the same others. Columns: binary problems that are \
solved, training rows that they touch between them, seconds of training, microseconds that a prediction takes, accuracy \
and macro F1 (multilabel: micro F1, macro F1 and p@1); the best of each is marked with *.

Data of two classes is one binary problem by any strategy: one row per loss. Labels (--task multilabel) are compared by ova and \
tree. What would be too large is left out, with the reason, unless --strategies names it. A run that fails says why in its \
row, and the others go on.

Examples:
  lineal compare letter.svm --test letter.t.svm
  lineal compare flowers.csv --label species --holdout 0.3 --report compare.html
  lineal compare letter.svm --strategies ova,ovo --losses hinge,logistic -C 10
  lineal compare genes.svm --task multilabel --threshold f1 --json > rows.json";

/// Train every strategy × loss on the same split, and show what each takes and gives
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct CompareArgs {
    /// Labelled rows: csv, tsv, jsonl, libsvm or idx; - is standard input
    pub data: PathBuf,

    /// Strategies to run [default: all that fit the data]
    #[arg(long, value_name = "S,…", value_delimiter = ',', help_heading = COMPARE,
          value_parser = choice::<Strategy>(&[
        ("joint", "one weight matrix, one loss over all classes"),
        ("ova", "one-vs-all: one binary problem per class"),
        ("ovo", "one-vs-one: one binary problem per pair of classes"),
        ("ecoc", "error-correcting output codes"),
        ("tree", "a label tree"),
    ]))]
    pub strategies: Vec<Strategy>,

    /// Losses to run
    #[arg(long, value_name = "L,…", value_delimiter = ',', help_heading = COMPARE,
          default_value = "perceptron,hinge,squared-hinge,logistic",
          value_parser = choice::<LossKind>(&[
        ("perceptron", "0 unless the argmax is wrong; no penalty unless asked for"),
        ("hinge", "the large margin"),
        ("squared-hinge", "its square"),
        ("logistic", "maximum likelihood"),
        ("squared", "least squares; joint only"),
    ]))]
    pub losses: Vec<LossKind>,

    /// Measure on this labelled file
    #[arg(long, value_name = "DATA", help_heading = COMPARE)]
    pub test: Option<PathBuf>,

    /// Without --test, measure on this share of the rows, drawn by --seed, and train on the others [default: 0.2]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = share, help_heading = COMPARE,
          conflicts_with = "test")]
    pub holdout: Option<f64>,

    /// What is predicted
    #[arg(long, value_name = "T", default_value = "classify", help_heading = MODEL,
          value_parser = choice::<Task>(&[
        ("classify", "one of two or more classes"),
        ("multilabel", "any number of labels per row, none included"),
    ]))]
    pub task: Task,

    #[command(flatten)]
    pub model: ModelArgs,

    #[command(flatten)]
    pub reduction: ReductionArgs,

    #[command(flatten)]
    pub proba: ProbaArgs,

    #[command(flatten)]
    pub penalty: PenaltyArgs,

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

    /// Seed of the split and of every random choice
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = RUNNING)]
    pub seed: u64,

    /// Print one JSON object on stdout and nothing else there
    #[arg(long, help_heading = RUNNING)]
    pub json: bool,

    /// Write an HTML page: the table, accuracy against training time and against prediction time
    #[arg(long, value_name = "FILE.html", help_heading = RUNNING)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub run: RunArgs,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a share between 0 and 1".to_owned()),
    }
}
