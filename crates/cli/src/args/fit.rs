//! Flags of everything that trains: `train` and `compare`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use lineal::{Bias, ClassWeight, LossKind, Penalty, Standardize};

use super::choice::{at_least_one, choice, not_negative, positive};

/// The heading of the objective's flags.
pub const MODEL: &str = "Model and loss";
/// The heading of the penalty's flags.
pub const PENALTY: &str = "Penalty";
/// The heading of the solver's flags.
pub const SOLVER: &str = "Solver";

/// What the model is, by any loss.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// The constant that is added to every score [default: free; penalised for sequences of named attributes]
    #[arg(long, value_name = "B", help_heading = MODEL,
          value_parser = choice::<BiasArg>(&[
        ("free", "not penalised"),
        ("penalised", "as a feature that is always 1 (LIBLINEAR's -B 1)"),
        ("none", "no bias"),
    ]))]
    pub bias: Option<BiasArg>,

    /// Weights of classes: `balanced` (all classes count the same, however rare), or name=weight,…
    #[arg(long, value_name = "W", allow_hyphen_values = true, help_heading = MODEL)]
    pub class_weight: Option<ClassWeight>,

    /// Costs of mistakes: a CSV file with the class names in the header row and the first column; rows are true classes. With the joint strategy, the costs are the margins (hinge) or part of the softmax (logistic); with other strategies, they weight the examples
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub cost: Option<PathBuf>,

    /// Scale all features except categories for training: divide by their standard deviation and, in dense data, subtract their mean.
    /// This is the default for columns of numbers in tables (csv, tsv, jsonl). The model itself takes unscaled values
    #[arg(long, help_heading = MODEL)]
    pub standardize: bool,

    /// Do not scale the columns of a table
    #[arg(long, help_heading = MODEL, conflicts_with = "standardize")]
    pub no_standardize: bool,
}

impl ModelArgs {
    /// Which features are scaled.
    pub fn standardized(&self) -> Standardize {
        match (self.standardize, self.no_standardize) {
            (true, _) => Standardize::All,
            (false, true) => Standardize::Never,
            (false, false) => Standardize::Numbers,
        }
    }

    /// The bias of models without sequences.
    pub fn bias(&self) -> Bias {
        self.bias.map_or(Bias::Free, |bias| bias.0)
    }
}

/// How strong ½‖W‖² is.
#[derive(Args, Clone, Debug)]
pub struct PenaltyArgs {
    /// How closely to fit the training data: weight of the loss against the penalty ½‖W‖² [default: 1]
    ///
    /// l2 = 1/(C·n). Defaults of other tasks: rank, 0.001 for pairs, 0.1 for softmax and plackett-luce, 0.01 for ndcg and map, where n counts pairs, choices or queries; segment, 0.0003 per pixel of images and 1 per node of graphs.
    #[arg(short = 'C', value_name = "C", allow_negative_numbers = true, value_parser = positive, help_heading = PENALTY,
          conflicts_with = "l2")]
    pub c: Option<f64>,

    /// Factor of ½‖W‖² against the mean loss
    #[arg(long, value_name = "λ", allow_negative_numbers = true, value_parser = not_negative, help_heading = PENALTY)]
    pub l2: Option<f64>,
}

impl PenaltyArgs {
    /// The penalty of a loss: the perceptron has none unless asked for.
    pub fn of(&self, loss: Option<LossKind>) -> Penalty {
        match (self.c, self.l2) {
            (Some(c), _) => Penalty::C(c),
            (None, Some(l2)) => Penalty::L2(l2),
            (None, None) if loss == Some(LossKind::Perceptron) => Penalty::L2(0.0),
            (None, None) => Penalty::C(1.0),
        }
    }
}

/// When a solver stops.
#[derive(Args, Clone, Debug)]
pub struct StopArgs {
    /// Relative duality gap to reach: the objective is then proven to be within this fraction of the optimum; where
    /// there is no dual, the gradient norm relative to that at the start [default: 0.001; tag, trees, segment and declared: 0.01; rank: 0.0001]
    #[arg(long, value_name = "ε", allow_negative_numbers = true, value_parser = positive, help_heading = SOLVER)]
    pub tol: Option<f64>,

    /// Passes over the data after which to give up [default: 1000, more for dual on small data; for sgd the same as --epochs]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = SOLVER)]
    pub max_passes: Option<usize>,
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
