//! Flags of `train`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use lineal::{Bias, ClassWeight, LossKind, Precision, ScheduleKind, SolverKind, Strategy, Task};

use super::choice::{at_least_one, choice, not_negative, positive};
use super::read::{ColumnArgs, FileArgs};

const MODEL: &str = "Model and loss";
const PENALTY: &str = "Penalty";
const SOLVER: &str = "Solver";
const SGD: &str =
    "Stochastic gradient descent (any of these chooses --solver sgd where that is auto)";
const WATCH: &str = "Watching";
const RUNNING: &str = "Running and output";

const HELP: &str = "\
Objective: mean loss + (l2/2)·‖W‖² + l1·‖W‖₁; with -C, ½‖W‖² + C·(sum of losses), which is l2 = 1/(C·n).

What each solver needs of the loss:
  exact               the squared loss (closed form)
  gd, newton, lbfgs   a smooth loss: squared, huber, logistic, squared-hinge
                      (two classes, or --sum)
  sgd                 any loss
  dual                any loss, with l2 > 0
and l1 > 0 needs lbfgs.

--tol is a relative duality gap: stop when the objective is proven to be within this fraction of the optimum; \
where there is no dual, the gradient norm relative to that at the start. sgd runs its epochs and then certifies \
what it reached.

Examples:
  lineal train flowers.csv --label species -o flowers.lineal --test test.csv
  lineal train a9a.svm -o a9a.lineal --loss hinge -C 0.1
  lineal train houses.csv --label price --task regress --standardize -o h.lineal
  lineal train big.svm.gz -o m.lineal --solver sgd --epochs 5 --average
  lineal train data.csv -o m.lineal --validation 0.2 --patience 5 --report r.html
  lineal train data.csv -o m.lineal --class-weight balanced --json > run.json";

/// Train a model on DATA and write it to MODEL
///
/// Without flags: logistic regression with C = 1, to within 0.1 % of the optimum. Types of columns are guessed and
/// shown; progress and the certificate go to stderr.
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct TrainArgs {
    /// Labelled rows: csv, tsv, jsonl, libsvm or idx; - is standard input
    pub data: PathBuf,

    /// Where to write the model
    #[arg(short, value_name = "MODEL", required = true)]
    pub out: PathBuf,

    /// What is predicted
    #[arg(long, value_name = "T", default_value = "classify", help_heading = MODEL,
          value_parser = choice::<Task>(&[
        ("classify", "one of two or more classes"),
        ("regress", "a number"),
    ]))]
    pub task: Task,

    /// The loss [default: logistic; squared with --task regress]
    #[arg(long, value_name = "L", help_heading = MODEL, value_parser = choice::<LossKind>(&[
        ("perceptron", "0 unless the argmax is wrong; no penalty unless asked for"),
        ("hinge", "the large margin: support vector machines; Crammer–Singer with several classes"),
        ("squared-hinge", "its square"),
        ("logistic", "maximum likelihood: logistic regression, softmax; gives probabilities"),
        ("squared", "least squares"),
        ("huber", "regress: squared near, linear beyond --delta"),
        ("epsilon", "regress: nothing within --epsilon, linear beyond"),
    ]))]
    pub loss: Option<LossKind>,

    /// Sum over all violating classes in place of the worst one (perceptron, hinge, squared-hinge: Weston–Watkins)
    #[arg(long, help_heading = MODEL)]
    pub sum: bool,

    /// How several classes become one problem
    #[arg(long, value_name = "S", default_value = "joint", help_heading = MODEL,
          value_parser = choice::<Strategy>(&[("joint", "one weight matrix, one loss over all classes")]))]
    pub strategy: Strategy,

    /// The constant that is added to every score
    #[arg(long, value_name = "B", default_value = "free", help_heading = MODEL,
          value_parser = choice::<BiasArg>(&[
        ("free", "not penalised"),
        ("penalised", "as a feature that is always 1 (LIBLINEAR's -B 1)"),
        ("none", "no bias"),
    ]))]
    pub bias: BiasArg,

    /// Factors on classes: `balanced`, or name=weight,…
    #[arg(long, value_name = "W", allow_hyphen_values = true, help_heading = MODEL)]
    pub class_weight: Option<ClassWeight>,

    /// Costs of mistakes, a CSV with the class names in the header row and the first column, true class by row; margins
    /// to keep in hinge, softmax-margin in logistic
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub cost: Option<PathBuf>,

    /// Where the huber loss turns linear [default: 1]
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = positive, help_heading = MODEL)]
    pub delta: Option<f64>,

    /// Half the width of the tube of the epsilon loss [default: 0.1]
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = not_negative, help_heading = MODEL)]
    pub epsilon: Option<f64>,

    /// Divide each feature by its standard deviation (and centre dense data)
    #[arg(long, help_heading = MODEL)]
    pub standardize: bool,

    /// min ½‖W‖² subject to every margin ≥ 1; says which rows make that impossible
    #[arg(long, help_heading = MODEL, conflicts_with_all = ["c", "l2", "l1"])]
    pub hard_margin: bool,

    /// Weight of the losses against ½‖W‖²: l2 = 1/(C·n) [default: 1]
    #[arg(short = 'C', value_name = "C", allow_negative_numbers = true, value_parser = positive, help_heading = PENALTY,
          conflicts_with = "l2")]
    pub c: Option<f64>,

    /// Factor of ½‖W‖² against the mean loss
    #[arg(long, value_name = "λ", allow_negative_numbers = true, value_parser = not_negative, help_heading = PENALTY)]
    pub l2: Option<f64>,

    /// Factor of ‖W‖₁, which makes weights zero; needs the lbfgs solver [default: 0]
    #[arg(long, value_name = "λ", allow_negative_numbers = true, value_parser = not_negative, help_heading = PENALTY)]
    pub l1: Option<f64>,

    /// Who minimises
    #[arg(long, value_name = "V", default_value = "auto", help_heading = SOLVER,
          value_parser = choice::<SolverKind>(&[
        ("auto", "the fastest that certifies"),
        ("exact", "closed form; needs the squared loss"),
        ("gd", "gradient descent; needs a smooth loss; searches its step unless --rate gives it"),
        ("sgd", "stochastic gradient descent, also mini-batch; any loss"),
        ("newton", "Newton's method; needs a smooth loss"),
        ("lbfgs", "L-BFGS, and OWL-QN with --l1; needs a smooth loss"),
        ("dual", "dual coordinate ascent; any loss, needs l2 > 0"),
    ]))]
    pub solver: SolverKind,

    /// Relative duality gap to reach: the objective is then proven to be within this fraction of the optimum; where
    /// there is no dual, the gradient norm relative to that at the start [default: 0.001]
    #[arg(long, value_name = "ε", allow_negative_numbers = true, value_parser = positive, help_heading = SOLVER)]
    pub tol: Option<f64>,

    /// Passes over the data after which to give up [default: 1000, more for dual on small data; for sgd the same as --epochs]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = SOLVER)]
    pub max_passes: Option<usize>,

    /// Type of the weights
    #[arg(long, value_name = "P", default_value = "auto", help_heading = SOLVER,
          value_parser = choice::<Precision>(&[
        ("auto", "f32 for dual and sgd with a tolerance of 1e-4 or more, else f64"),
        ("f32", "single"),
        ("f64", "double"),
    ]))]
    pub precision: Precision,

    /// Passes over the data [default: 20]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = SGD,
          conflicts_with = "max_passes")]
    pub epochs: Option<usize>,

    /// Examples a step [default: 1]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = SGD)]
    pub batch_size: Option<usize>,

    /// Step size η of sgd (default: 1 for the perceptron, else by the curvature of the data); with --solver gd, the
    /// fixed step
    #[arg(long, value_name = "η", allow_negative_numbers = true, value_parser = positive, help_heading = SGD)]
    pub rate: Option<f64>,

    /// How η falls after t steps [default: inverse; constant for the perceptron]
    #[arg(long, value_name = "H", help_heading = SGD, value_parser = choice::<ScheduleKind>(&[
        ("constant", "not at all"),
        ("inverse", "η / (1 + η·l2·t)"),
        ("pegasos", "1 / (l2·t)"),
    ]))]
    pub schedule: Option<ScheduleKind>,

    /// Keep the mean of the weights over all steps after the first epoch (over all with one epoch)
    #[arg(long, help_heading = SGD)]
    pub average: bool,

    /// Take the examples in the order of the file in every epoch
    #[arg(long, help_heading = SGD, conflicts_with = "with_replacement")]
    pub no_shuffle: bool,

    /// Draw examples with replacement
    #[arg(long, help_heading = SGD)]
    pub with_replacement: bool,

    /// Labelled rows to watch during training: a file, or a fraction of DATA to hold out (0.2)
    #[arg(long, value_name = "FILE|FRACTION", allow_negative_numbers = true, help_heading = WATCH)]
    pub validation: Option<Held>,

    /// Stop after N passes without a better held-out metric, and keep the best weights
    #[arg(long, value_name = "N", requires = "validation", value_parser = at_least_one,
          help_heading = WATCH)]
    pub patience: Option<usize>,

    /// Record objective and training loss after every pass (an extra look at the data each), for --json
    #[arg(long, help_heading = WATCH)]
    pub curve: bool,

    /// Measure the model on this labelled file when it is trained
    #[arg(long, value_name = "DATA", help_heading = WATCH)]
    pub test: Option<PathBuf>,

    #[command(flatten)]
    pub file: FileArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// Seed of every random choice: same seed and data, same model bytes, at any --threads
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = RUNNING)]
    pub seed: u64,

    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = RUNNING)]
    pub threads: Option<usize>,

    /// Print one JSON object on stdout and nothing else there
    #[arg(long, help_heading = RUNNING)]
    pub json: bool,

    /// Write an HTML page with curves, margins and certificate (implies --curve)
    #[arg(long, value_name = "FILE.html", help_heading = RUNNING)]
    pub report: Option<PathBuf>,

    /// Exit with code 3 if the tolerance was not met (the model is written all the same)
    #[arg(long, help_heading = RUNNING)]
    pub require_convergence: bool,

    /// Say nothing on stderr but errors
    #[arg(short, long, help_heading = RUNNING)]
    pub quiet: bool,
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

/// [`Bias`] by name.
#[derive(Clone, Copy, Debug)]
pub struct BiasArg(pub Bias);

impl FromStr for BiasArg {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "free" => Ok(BiasArg(Bias::Free)),
            "penalised" => Ok(BiasArg(Bias::Penalised)),
            "none" => Ok(BiasArg(Bias::None)),
            _ => Err(format!("`{s}` is not one of free, penalised, none")),
        }
    }
}
