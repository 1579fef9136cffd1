//! Flags of `compare`.

use std::path::PathBuf;

use clap::Args;
use lineal::{Strategy, Task};

use super::choice::{choice, task};
use super::classes::{ProbaArgs, ReductionArgs};
use super::fit::{MODEL, ModelArgs, PenaltyArgs, StopArgs};
use super::maps::MapArgs;
use super::read::{ColumnArgs, FileArgs};
use super::running::RunArgs;
use super::structure::{LossName, StructureArgs};
use super::text::TextArgs;
use super::train::TrainArgs;

const COMPARE: &str = "What to compare";
const RUNNING: &str = "Running and output";

const HELP: &str = "\
Every combination of strategy and loss is trained on the same rows and measured on the same other rows. The columns are: the number of binary problems, \
how many training rows these read in all, seconds of training, microseconds per prediction, accuracy \
and macro F1 (multilabel: micro F1, macro F1 and p@1; numbers: rmse, mae and r2). The best value of each column is marked with *.

If the labels are numbers, the task is regression, as for train, and its losses are compared. Two classes are one binary problem with any strategy, so there is one row per loss. For --task multilabel the strategies are ova and \
tree. Combinations that would be too large are left out, with the reason, unless --strategies names them. If a run fails, its row says why, \
and the others continue.

With --task tag, dependency, constituency, rank, segment or declared, every learner that the structure supports is compared: perceptron, passive–aggressive updates, hinge (structured SVM), logistic (CRF), and squared-hinge for pairs of documents. The others are left out, with the reason. The columns are seconds of training, microseconds per predicted example, the metrics of `eval --json`, and the gap relative to the objective.

Examples:
  lineal compare letter.svm --test letter.t.svm
  lineal compare flowers.csv --label species --holdout 0.3 --report compare.html
  lineal compare letter.svm --strategies ova,ovo --losses hinge,logistic -C 10
  lineal compare houses.csv --label price
  lineal compare genes.svm --task multilabel --threshold f1 --json > rows.json
  lineal compare train.conll --task tag --test test.conll
  lineal compare train.letor --task rank --losses hinge,squared-hinge,logistic";

/// Train every strategy × loss, or every learner of a structure, on the same split, and compare time and accuracy
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct CompareArgs {
    /// Labelled data, as for train; - is standard input
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

    /// Losses to run [default: perceptron,hinge,squared-hinge,logistic; regress: squared,huber,epsilon; structures: all learners that they allow]
    #[arg(long, value_name = "L,…", value_delimiter = ',', help_heading = COMPARE,
          value_parser = choice::<LossName>(&[
        ("perceptron", "only counts mistakes; no penalty unless you ask for one"),
        ("passive-aggressive", "structures: updates that are just large enough (--passive-aggressive says how large at most)"),
        ("hinge", "the large margin"),
        ("squared-hinge", "its square"),
        ("logistic", "maximum likelihood"),
        ("squared", "least squares; of classes joint only"),
        ("huber", "regress: squared near, linear far"),
        ("epsilon", "regress: nothing near, linear far"),
    ]))]
    pub losses: Vec<LossName>,

    /// Measure on this labelled file
    #[arg(long, value_name = "DATA", help_heading = COMPARE)]
    pub test: Option<PathBuf>,

    /// Without --test, measure on this share of the rows, drawn by --seed, and train on the others [default: 0.2]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = share, help_heading = COMPARE,
          conflicts_with = "test")]
    pub holdout: Option<f64>,

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

    #[command(flatten)]
    pub structure: StructureArgs,

    /// Seed of the split and of every random choice
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, help_heading = RUNNING)]
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

impl CompareArgs {
    /// Takes the task from the flag; without one it is found when the data is read.
    pub fn settle(mut self) -> Self {
        self.task = self.task_flag.unwrap_or(Task::Classify);
        self
    }

    /// The training run that each learner varies.
    pub fn train(&self) -> anyhow::Result<TrainArgs> {
        Ok(TrainArgs {
            task_flag: self.task_flag,
            strategy: self.strategies.first().copied(),
            model: self.model.clone(),
            reduction: self.reduction.clone(),
            proba: self.proba.clone(),
            penalty: self.penalty.clone(),
            stop: self.stop.clone(),
            file: self.file.clone(),
            columns: self.columns.clone(),
            maps: self.maps.clone(),
            text: self.text.clone(),
            test: self.test.clone(),
            seed: self.seed,
            run: self.run.clone(),
            ..self.structure.train(&self.data, self.task)?
        })
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a share between 0 and 1".to_owned()),
    }
}
