//! Flags of `train`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use lineal::{LossKind, Precision, ScheduleKind, SolverKind, Strategy, Task};

use super::choice::{at_least_one, choice, not_negative, positive, task};
use super::classes::{CLASSES, ProbaArgs, ReductionArgs};
use super::constituency::ConstituencyArgs;
use super::declared::DeclaredArgs;
use super::dependency::DependencyArgs;
use super::fit::{MODEL, ModelArgs, PENALTY, PenaltyArgs, SOLVER, StopArgs};
use super::maps::MapArgs;
use super::rank::RankArgs;
use super::read::{ColumnArgs, FileArgs};
use super::running::RunArgs;
use super::segment::SegmentArgs;
use super::stream::StreamArgs;
use super::tag::TagArgs;
use super::templates::TemplateArgs;
use super::text::TextArgs;

const SGD: &str =
    "Stochastic gradient descent (any of these chooses --solver sgd where that is auto)";
const WATCH: &str = "Watching";
const RUNNING: &str = "Running and output";

const HELP: &str = "\
Objective: mean loss + (l2/2)·‖W‖² + l1·‖W‖₁; with -C, ½‖W‖² + C·(sum of losses), which is l2 = 1/(C·n).

Which loss each solver accepts:
  exact               the squared loss (closed form)
  gd, newton, lbfgs   a smooth loss: squared, huber, logistic, squared-hinge
                      (two classes, --sum, or a --strategy other than joint);
                      newton also the hinge of two classes or ova, up to 1,000 features
  sgd                 any loss
  dual                any loss, with l2 > 0; trains all problems of ova, ovo, ecoc
                      and tree side by side
and l1 > 0 needs lbfgs.

--tol is a relative duality gap: stop when the objective is proven to be within this fraction of the optimum; \
where there is no dual, the gradient norm relative to that at the start. sgd runs its epochs and then certifies \
what it reached.

--stream keeps no rows in memory: it predicts each row, compares the answer with the label (progressive validation) and learns from the row, so files may be larger than \
memory. Ctrl-C keeps what was learnt so far, and --resume continues from there.

Examples:
  lineal train flowers.csv --label species -o flowers.lineal --test test.csv
  lineal train a9a.svm -o a9a.lineal --loss hinge -C 0.1
  lineal train houses.csv --label price --task regress -o h.lineal
  lineal train big.svm.gz -o m.lineal --solver sgd --epochs 5 --average
  lineal train data.csv -o m.lineal --validation 0.2 --patience 5 --report r.html
  lineal train data.csv -o m.lineal --class-weight balanced --json > run.json
  lineal train letter.svm -o m.lineal --strategy ovo --loss hinge --calibrate platt
  lineal train letter.svm -o m.lineal --strategy ecoc --code hadamard
  lineal train huge.svm.zst -o m.lineal --stream --update adagrad
  lineal train today.svm -o m2.lineal --resume m.lineal
  zcat clicks.csv.gz | lineal train - --format csv -o m.lineal --stream --hash 18
  lineal train many.svm -o m.lineal --strategy tree --beam 20
  lineal train circles.csv -o m.lineal --map poly:2      (or rff:200)
  lineal train people.csv -o m.lineal --interact 'age*city,age*income'
  lineal train words.tsv --label tag --templates pos.txt -o pos.lineal
  lineal train films.csv --label genres --label-separator ';' --task multilabel \\
      --threshold f1 -o films.lineal
  lineal train train.conll --task tag --template chunk.tpl -o m.lineal \\
      --test test.conll
  lineal train en.conllu --task tag --label upos --loss perceptron --epochs 10 \\
      --features word,lower,shape,suffix:1-4,window:2 -o pos.lineal --dev dev.conllu
  lineal train en.conllu --task dependency -o parser.lineal --test test.conllu
  lineal train en.conllu --task dependency --loss logistic -o parser.lineal
  lineal train wsj.mrg --task constituency -o trees.lineal --test test.mrg
  lineal train train.letor --task rank -o rank.lineal --test test.letor
  lineal train clicks.csv --task rank --query session --label clicked -o rank.lineal
  lineal train images.tsv --task segment -o horses.lineal --test test.tsv
  lineal train train.jsonl --task declared --declaration relations.decl -o m.lineal --test test.jsonl";

/// Train a model on DATA and write it to MODEL
///
/// Without flags: for tables, logistic regression; for text, a linear SVM with calibrated probabilities; both with C = 1,
/// to within 0.1 % of the optimum. Types of columns are guessed and shown; progress and the certificate go to stderr.
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct TrainArgs {
    /// Labelled examples, as csv, tsv, jsonl, parquet, libsvm, conll, …; - is standard input
    ///
    /// Rows: csv, tsv, jsonl, parquet, libsvm, fasttext, vw or idx. Sequences: conll, conllu, crfsuite, jsonl. Trees: conllu, Penn brackets. Rankings: letor, tables. Images: a list or folder. Graphs: jsonl.
    pub data: PathBuf,

    /// File to write the model to
    #[arg(short, value_name = "MODEL", required = true)]
    pub out: PathBuf,

    /// What is predicted [default: classify; regress if labels are fractions or many different numbers]
    #[arg(long = "task", value_name = "T", help_heading = MODEL, value_parser = task(&[
        ("classify", "one of two or more classes"),
        ("multilabel", "any number of labels per row, none included"),
        ("regress", "a number"),
        ("tag", "a label for each position of a sequence"),
        ("dependency", "a head and a relation for each word of a sentence (CoNLL-U)"),
        ("constituency", "a bracketed tree over the words of a sentence (Penn brackets)"),
        ("rank", "the order of the documents of a query (LETOR, SVMrank, tables with --query)"),
        ("segment", "a label for each pixel of an image or node of a graph (a list or folder of images and masks; JSON lines)"),
        ("declared", "labels of variables with factors and rules (--declaration; JSON lines)"),
    ]))]
    pub task_flag: Option<Task>,

    /// The flag, or its default.
    #[arg(skip = Task::Classify)]
    pub task: Task,

    /// The loss [default: logistic; squared-hinge for text; squared for numbers]
    ///
    /// Defaults of other tasks: tag, the best of a short trial, unless a flag names a learner; dependency, constituency, segment and declared, hinge; rank, squared-hinge (logistic for softmax and plackett-luce, hinge for ndcg and map).
    #[arg(long, value_name = "L", help_heading = MODEL, value_parser = choice::<LossKind>(&[
        ("perceptron", "only counts mistakes; no penalty unless you ask for one"),
        ("hinge", "large margin: support vector machine; Crammer–Singer with several classes"),
        ("squared-hinge", "its square"),
        ("logistic", "maximum likelihood: logistic regression, softmax; gives probabilities"),
        ("squared", "least squares"),
        ("huber", "regress: squared for small errors, linear beyond --delta"),
        ("epsilon", "regress: zero for errors within --epsilon, linear beyond"),
    ]))]
    pub loss: Option<LossKind>,

    /// Sum over all violating classes instead of the worst one (perceptron, hinge, squared-hinge: Weston–Watkins)
    #[arg(long, help_heading = MODEL)]
    pub sum: bool,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Where the huber loss turns linear [default: 1]
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = positive, help_heading = MODEL)]
    pub delta: Option<f64>,

    /// Half the width of the tube of the epsilon loss [default: 0.1]
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = not_negative, help_heading = MODEL)]
    pub epsilon: Option<f64>,

    /// min ½‖W‖² subject to every margin ≥ 1; says which rows make that impossible
    #[arg(long, help_heading = MODEL, conflicts_with_all = ["c", "l2", "l1"])]
    pub hard_margin: bool,

    /// How to train on several classes [default: joint; ova for text and labels, tree for text of over 200 classes]
    #[arg(long, value_name = "S", help_heading = CLASSES, value_parser = choice::<Strategy>(&[
        ("joint", "one weight matrix, one loss over all classes"),
        ("ova", "one-vs-all: one binary problem per class"),
        ("ovo", "one-vs-one: one binary problem per pair of classes"),
        ("ecoc", "error-correcting output codes: one binary problem per column of a --code"),
        ("tree", "a label tree: about one problem per class, of which a prediction asks few; for thousands of classes"),
    ]))]
    pub strategy: Option<Strategy>,

    #[command(flatten)]
    pub reduction: ReductionArgs,

    #[command(flatten)]
    pub proba: ProbaArgs,

    #[command(flatten)]
    pub penalty: PenaltyArgs,

    /// Factor of ‖W‖₁, which makes weights zero; needs the lbfgs solver [default: 0]
    #[arg(long, value_name = "λ", allow_negative_numbers = true, value_parser = not_negative, help_heading = PENALTY)]
    pub l1: Option<f64>,

    /// The algorithm that minimises the objective
    #[arg(long, value_name = "V", default_value = "auto", help_heading = SOLVER,
          value_parser = choice::<SolverKind>(&[
        ("auto", "the fastest solver that proves its result"),
        ("exact", "closed form; needs the squared loss"),
        ("gd", "gradient descent; needs a smooth loss; searches its step unless --rate gives it"),
        ("sgd", "stochastic gradient descent, also mini-batch; any loss"),
        ("newton", "Newton's method; needs a smooth loss, or the hinge loss with few features (two classes, or one-vs-all)"),
        ("lbfgs", "L-BFGS, and OWL-QN with --l1; needs a smooth loss"),
        ("dual", "dual coordinate ascent; any loss, needs l2 > 0"),
    ]))]
    pub solver: SolverKind,

    #[command(flatten)]
    pub stop: StopArgs,

    /// Type of the weights
    #[arg(long, value_name = "P", default_value = "auto", help_heading = SOLVER,
          value_parser = choice::<Precision>(&[
        ("auto", "f32 for dual and sgd with a tolerance of 1e-4 or more, else f64"),
        ("f32", "single"),
        ("f64", "double"),
    ]))]
    pub precision: Precision,

    /// Passes over the data [default: 20; 8 with --task dependency; 5 with --task constituency]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = SGD,
          conflicts_with = "max_passes")]
    pub epochs: Option<usize>,

    /// Examples per step [default: 1]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = SGD)]
    pub batch_size: Option<usize>,

    /// Step size η of sgd (default: 1 for the perceptron, else by the curvature of the data); with --solver gd, the
    /// fixed step
    #[arg(long, value_name = "η", allow_negative_numbers = true, value_parser = positive, help_heading = SGD)]
    pub rate: Option<f64>,

    /// How η decreases after t steps [default: inverse; constant for the perceptron]
    #[arg(long, value_name = "H", help_heading = SGD, value_parser = choice::<ScheduleKind>(&[
        ("constant", "not at all"),
        ("inverse", "η / (1 + η·l2·t)"),
        ("pegasos", "1 / (l2·t)"),
    ]))]
    pub schedule: Option<ScheduleKind>,

    /// Use the mean of the weights over all steps, where step t has weight t (perceptron: equal weights)
    #[arg(long, help_heading = SGD)]
    pub average: bool,

    /// Take the examples in the order of the file in every epoch
    #[arg(long, help_heading = SGD, conflicts_with = "with_replacement")]
    pub no_shuffle: bool,

    /// Draw examples with replacement
    #[arg(long, help_heading = SGD)]
    pub with_replacement: bool,

    #[command(flatten)]
    pub stream: StreamArgs,

    /// Labelled rows to measure after every pass: a file, or a fraction of DATA to hold out (0.2)
    #[arg(long, value_name = "FILE|FRACTION", visible_alias = "dev", allow_negative_numbers = true, help_heading = WATCH)]
    pub validation: Option<Held>,

    /// Stop after N passes without a better held-out metric, and keep the best weights
    #[arg(long, value_name = "N", requires = "validation", value_parser = at_least_one,
          help_heading = WATCH)]
    pub patience: Option<usize>,

    /// Record objective and training loss after every pass, for --json; this reads the data once more per pass
    #[arg(long, help_heading = WATCH)]
    pub curve: bool,

    /// Measure the trained model on this labelled file
    #[arg(long, value_name = "DATA", help_heading = WATCH)]
    pub test: Option<PathBuf>,

    #[command(flatten)]
    pub file: FileArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub maps: MapArgs,

    #[command(flatten)]
    pub templates: TemplateArgs,

    #[command(flatten)]
    pub tag: TagArgs,

    #[command(flatten)]
    pub dependency: DependencyArgs,

    #[command(flatten)]
    pub constituency: ConstituencyArgs,

    #[command(flatten)]
    pub rank: RankArgs,

    #[command(flatten)]
    pub segment: SegmentArgs,

    #[command(flatten)]
    pub declared: DeclaredArgs,

    #[command(flatten)]
    pub text: TextArgs,

    /// Seed of every random choice: same seed and data, same model bytes, at any --threads
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, help_heading = RUNNING)]
    pub seed: u64,

    /// Print one JSON object on stdout and nothing else there
    #[arg(long, help_heading = RUNNING)]
    pub json: bool,

    /// Write an HTML page with curves, margins and certificate (implies --curve)
    #[arg(long, value_name = "FILE.html", help_heading = RUNNING)]
    pub report: Option<PathBuf>,

    /// Exit with code 3 if the tolerance was not met (the model is still written)
    #[arg(long, help_heading = RUNNING)]
    pub require_convergence: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

/// The rows to watch.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// A share of the training rows.
    Fraction(f64),
    /// A file of their own.
    File(PathBuf),
}

impl FromStr for Held {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s.parse::<f64>() {
            Ok(f) if f > 0.0 && f < 1.0 => Ok(Held::Fraction(f)),
            Ok(_) => Err("a fraction must be between 0 and 1 (or give a file)".to_owned()),
            Err(_) => Ok(Held::File(s.into())),
        }
    }
}

impl TrainArgs {
    /// Takes the task from the flag; without one it is found when the data is read.
    pub fn settle(mut self) -> Self {
        self.task = self.task_flag.unwrap_or(Task::Classify);
        self
    }
}
