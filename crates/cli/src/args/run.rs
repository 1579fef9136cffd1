//! Flags of `predict`, `eval`, `inspect` and `demo`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use lineal::{Format, Source};

use super::choice::{at_least_one, choice};
use super::declared::LimitArgs;
use super::read::FileArgs;
use super::running::RunArgs;
use super::segment::SegmentAskArgs;
use super::tag::TagAskArgs;

const PREDICT: &str = "\
Examples:
  lineal predict m.lineal new.csv                        one class per line
  lineal predict m.lineal new.csv --proba                ham  ham:0.93  spam:0.07
  lineal predict m.lineal x.svm --top 3 --output jsonl   {\"label\":…,\"top\":[…]}
  lineal predict m.lineal x.csv -o out.csv               a header, a column label
  lineal predict m.lineal x.csv --keep id,name -o out.csv
  lineal predict churn.lineal x.csv --threshold 0.3      two classes: where to cut
  lineal predict labels.lineal x.csv                     drama,war  (nothing for none)
  zcat x.csv.gz | lineal predict m.lineal - --format csv
  lineal predict chunks.lineal new.conll                 the columns and the label
  lineal predict chunks.lineal new.conll --proba --review-below 0.5 --output jsonl
  lineal predict parser.lineal new.conllu                CoNLL-U with heads and relations
  lineal predict trees.lineal sentences.txt --draw       a drawing of each tree
  lineal predict rank.lineal test.letor --top 3          query, rank, document, score
  lineal predict horses.lineal photos/ -o masks/         a mask for each image
  echo 'where is my invoice?' | lineal predict text.lineal -

The data needs the columns that the model was trained with (matched by name, in any order); a label column may \
be absent. If a model has one text column and no other, each line of a file whose name shows no format is one text. Rows of standard \
input are answered as soon as they arrive. A row without features gets a prediction, too. A multilabel model writes the labels of a row with \
--label-separator between them (csv: in a column `labels`; jsonl: as a list `labels`).";

/// Predict a class, labels or a number for each row of DATA; or tags, trees, rankings or masks
#[derive(Args, Clone, Debug)]
#[command(after_help = PREDICT)]
pub struct PredictArgs {
    /// A file that `lineal train` wrote
    pub model: PathBuf,

    /// Rows, sequences, sentences or queries to predict; - is standard input
    pub data: PathBuf,

    /// The data itself, where it is not in a file: what a server was sent.
    #[arg(skip)]
    pub at_hand: Option<Source>,

    /// The number of the first example among all, from 0, where earlier ones were answered before.
    #[arg(skip)]
    pub first: u64,

    /// Add the probability of each class or label (models of the logistic loss, of text, or trained with --calibrate)
    #[arg(long, help_heading = "What to give")]
    pub proba: bool,

    /// Add the score of each class; a model of two classes has f for the second and −f for the first
    #[arg(long, help_heading = "What to give")]
    pub scores: bool,

    /// Add the K best classes, best first, with probabilities (or scores, where the model has none); rank: the K best documents of each query
    #[arg(long, value_name = "K", value_parser = at_least_one, help_heading = "What to give")]
    pub top: Option<usize>,

    /// Predict a label, or the second of two classes, if its probability is above P [default: the model's threshold]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = probability, help_heading = "What to give",
          conflicts_with_all = ["sample", "min_cost"])]
    pub threshold: Option<f64>,

    /// Draw the class at random according to its probability, instead of taking the most probable
    #[arg(long, conflicts_with = "min_cost", help_heading = "What to give")]
    pub sample: bool,

    /// Predict the class with the least expected cost (from --cost, or the costs of training)
    #[arg(long, help_heading = "What to give")]
    pub min_cost: bool,

    /// Costs of mistakes: a CSV file with the class names in the header row and the first column; rows are true classes
    #[arg(long, value_name = "FILE", requires = "min_cost", help_heading = "What to give")]
    pub cost: Option<PathBuf>,

    /// constituency: draw each tree instead of writing it in a line
    #[arg(long, help_heading = "What to give")]
    pub draw: bool,

    #[command(flatten)]
    pub tag: TagAskArgs,

    #[command(flatten)]
    pub segment: SegmentAskArgs,

    #[command(flatten)]
    pub limits: LimitArgs,

    /// Seed of --sample
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = "What to give"
    )]
    pub seed: u64,

    /// Write to this file [default: standard output]
    #[arg(short, value_name = "OUT", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Copy these columns of the data into the output, before the answer: an id, a name; all copies all of them
    #[arg(long, value_name = "COL,…", value_delimiter = ',', help_heading = "Output")]
    pub keep: Vec<String>,

    /// Form of the output [default: that of OUT's name, if it ends in .csv or .jsonl and the model is one of rows; else text]
    #[arg(long = "output", value_name = "FORM", help_heading = "Output",
          value_parser = choice::<Output>(&[
        ("text", "the label alone, one per line; what else was asked for follows after tabs, as name:value"),
        ("csv", "a header; a column label (multilabel: labels), then one column per class"),
        ("jsonl", "one object per row: label (multilabel: a list labels), and scores, proba, top as asked for"),
    ]))]
    pub output_flag: Option<Output>,

    /// The flag, or its default.
    #[arg(skip = Output::Text)]
    pub output: Output,

    #[command(flatten)]
    pub file: FileArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

impl PredictArgs {
    /// What to predict.
    pub fn source(&self) -> Source {
        self.at_hand.clone().unwrap_or_else(|| Source::from(&self.data))
    }

    /// Takes the form from the flag, else from the output's name, if names may decide.
    pub fn settle(mut self, names_tell: bool) -> Self {
        let name = self.out.as_ref().filter(|_| names_tell).map(|out| out.to_string_lossy());
        let told = match name.and_then(|name| Format::from_name(&name)) {
            Some(Format::Csv) => Output::Csv,
            Some(Format::Jsonl) => Output::Jsonl,
            _ => Output::Text,
        };
        self.output = self.output_flag.unwrap_or(told);
        self
    }
}

/// A number between 0 and 1.
fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(p) if p > 0.0 && p < 1.0 => Ok(p),
        _ => Err("must be a probability between 0 and 1".to_owned()),
    }
}

/// The form of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Text,
    Csv,
    Jsonl,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "text" => Ok(Output::Text),
            "csv" => Ok(Output::Csv),
            "jsonl" => Ok(Output::Jsonl),
            _ => Err(format!("`{s}` is not one of text, csv, jsonl")),
        }
    }
}

const EVAL: &str = "\
Examples:
  lineal eval m.lineal test.csv
  lineal eval m.lineal test.csv --json               for scripts
  lineal eval m.lineal test.csv --report eval.html   a page with charts
  lineal eval churn.lineal test.csv --threshold 0.3  two classes: where to cut

Classes: accuracy, macro_f1, micro_f1, log_loss, brier, ece (expected calibration error), mean_cost, baseline (of the most frequent class), mcc, confusion; of two also auc, pr_auc; \
log_loss, brier and ece are null where the model has no probabilities; reliability, the points of the reliability diagram. \
Labels: micro_f1, macro_f1, hamming_loss, subset_accuracy, p@1, p@3, p@5, ndcg@5, reliability. Numbers: rmse, mae, r2. Sequences: token_accuracy, sentence_accuracy, span_precision, span_recall, span_f1, types. \
Dependency trees: uas, las, label_accuracy, exact, by relation and length. Bracketed trees: precision, recall, f1, exact, crossing brackets, by label. \
Images: pixel_accuracy, iou (mean over labels), iou_by_label, foreground_iou (mean over images), by_image. Declared structures: accuracy, exact (whole examples), unproved (the search reached a limit), kinds (by kind of variables: accuracy, micro_f1, macro_f1, by label). Rankings: ndcg@1, ndcg@5, ndcg@10 (queries with a relevant document), map, mrr (all queries), pairwise_accuracy, by_query. A label \
that training did not see counts as wrong.";

/// Measure a model on labelled data
#[derive(Args, Clone, Debug)]
#[command(after_help = EVAL)]
pub struct EvalArgs {
    /// A file that `lineal train` wrote
    pub model: PathBuf,

    /// Labelled rows, sequences, trees or queries; - is standard input
    pub data: PathBuf,

    /// The data itself, where it is not in a file: what a server was sent.
    #[arg(skip)]
    pub at_hand: Option<Source>,

    /// Print one JSON object on stdout and nothing else there
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Write an HTML page: metrics, confusion matrix or table of labels, reliability diagram
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,

    /// Costs for mean_cost: a CSV file with the class names in the header row and the first column; rows are true classes [default: the model's, else 1 per
    /// mistake]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub cost: Option<PathBuf>,

    /// Predict a label, or the second of two classes, if its probability is above P [default: the model's threshold]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = probability, help_heading = "Output")]
    pub threshold: Option<f64>,

    /// constituency: leave out punctuation and treat ADVP and PRT as equal, as EVALB's usual parameters do
    #[arg(long, help_heading = "Output")]
    pub evalb: bool,

    #[command(flatten)]
    pub limits: LimitArgs,

    #[command(flatten)]
    pub file: FileArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

impl EvalArgs {
    /// What to compare with.
    pub fn source(&self) -> Source {
        self.at_hand.clone().unwrap_or_else(|| Source::from(&self.data))
    }
}

/// Show what a model is: its certificate, margins, and the features with the largest weights
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lineal inspect flowers.lineal
  lineal inspect flowers.lineal --top 30        30 features per class, all classes
  lineal inspect flowers.lineal --json | jq .gap
  lineal inspect chunks.lineal --all --data train.conll > weights.tsv

For ovo and ecoc, the weights of a class are the mean over its binary problems; for a tree, the sum along the path to the \
class. The margin of a training row is the score of its class minus the best other score: below 0 it is \
misclassified.")]
pub struct InspectArgs {
    /// A file that `lineal train` wrote
    pub model: PathBuf,

    /// Features to show for each class, largest weight first [default: 10, of the first 20 classes]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// tag: print every weight, one per line with tabs: kind, attribute, label (two for transitions), weight
    #[arg(long, conflicts_with_all = ["top", "json"])]
    pub all: bool,

    /// tag: the training data, to show the names of attributes; the model only stores their hashes
    #[arg(long, value_name = "FILE", requires = "all")]
    pub data: Option<PathBuf>,

    /// Print one JSON object on stdout and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Train, test and show a model on a built-in set
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lineal demo              flowers: three species, four measurements, the soil
  lineal demo tickets      sparse words, six classes
  lineal demo letters      running text, four desks
  lineal demo houses       regression
  lineal demo four-classes --picture four.svg
                           where one-vs-all fails and joint and one-vs-one do not
  lineal demo circles      no line separates them: --map poly:2, --map rff:100
  lineal demo tags         the parts of addresses: sequences
  lineal demo --write .    write the set's files, to go on by hand

The sets are made by formula from a fixed seed: nothing is downloaded.")]
pub struct DemoArgs {
    /// The set [default: flowers]
    pub name: Option<String>,

    /// List the sets
    #[arg(long)]
    pub list: bool,

    /// Write the set's files into this folder and stop
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,

    /// Draw the decision regions of three strategies (four-classes) or three maps (circles, xor), and stop
    #[arg(long, value_name = "FILE.svg", conflicts_with = "write")]
    pub picture: Option<PathBuf>,
}
