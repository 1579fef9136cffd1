//! What to train: every choice about sequences, with its default.

use crate::request::spec::{LossKind, Penalty, ScheduleKind, SolverKind, choice};
use lineal_chain::Scheme;
use lineal_model::cost::CostMatrix;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A training run on sequences, but for the data. `TagSpec::default()` is a conditional random field with C = 1 over the default features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TagSpec {
    /// What is read off the columns.
    pub features: TagFeatures,
    /// Number attributes by so many bits of a hash, in place of a table of those that were seen.
    pub hash_bits: Option<u32>,
    /// Leave out attributes that come less often.
    pub min_count: u32,
    /// Labels in a row that have weights of their own less one: 1, or 2.
    pub order: u32,
    /// Whether the first and the last label of a sequence have weights.
    pub ends: bool,
    /// Which labels an attribute has weights for.
    pub weights: WeightsKind,
    /// Whether each label has a weight that counts at every token: an attribute that all tokens have. By default yes where attributes come with their names, as
    /// nobody else would add it; templates and lists of features say it themselves.
    pub bias: Option<bool>,
    /// How spans are written as labels; what it does not allow is forbidden to the labels of the training data and in prediction.
    pub scheme: Option<SchemeKind>,
    /// Other transitions that are forbidden.
    pub forbidden: Vec<(Border, Border)>,
    /// Whether training sets the gold labels against legal sequences only, too. By default it is against all: the figures are no worse.
    pub legal_rivals: bool,
    /// The loss; perceptron, hinge or logistic.
    pub loss: LossKind,
    /// What a wrong label costs, for the hinge: δ(y, ŷ) by pair of labels. Hamming if it is not given.
    pub cost: Option<CostMatrix>,
    /// Who minimises: auto, sgd, lbfgs or dual.
    pub solver: SolverKind,
    /// Move just far enough to be right, by at most this much (PA-I), in place of gradient steps.
    pub passive_aggressive: Option<f64>,
    /// How strong ½‖W‖² is; n of `C` is the number of sequences. The perceptron and passive–aggressive updates have none.
    pub penalty: Penalty,
    /// The factor of ‖W‖₁.
    pub l1: f64,
    /// Stop at a relative gap (or relative gradient norm) of that. The proof lags behind: at 0.01 the objective is usually within 0.0005.
    pub tol: f64,
    /// Passes over the data, at most; by default 20 for `sgd`, else 1,000.
    pub passes: Option<usize>,
    /// η of `sgd`.
    pub rate: Option<f64>,
    /// How η falls.
    pub schedule: Option<ScheduleKind>,
    /// Whether `sgd` returns the mean of its iterates; by default yes but for the logistic loss.
    pub average: Option<bool>,
    /// Hold out this share of the training sequences (0 for none) to watch.
    pub validation: f64,
    /// Stop after that many passes without a better held-out metric, and keep the best weights.
    pub patience: Option<usize>,
    /// Of every random choice.
    pub seed: u64,
}

impl Default for TagSpec {
    fn default() -> Self {
        Self {
            features: TagFeatures::Default,
            hash_bits: None,
            min_count: 1,
            order: 1,
            ends: true,
            weights: WeightsKind::Frequent,
            bias: None,
            scheme: None,
            forbidden: Vec::new(),
            legal_rivals: false,
            loss: LossKind::Logistic,
            cost: None,
            solver: SolverKind::Auto,
            passive_aggressive: None,
            penalty: Penalty::C(1.0),
            l1: 0.0,
            tol: 1e-2,
            passes: None,
            rate: None,
            schedule: None,
            average: None,
            validation: 0.0,
            patience: None,
            seed: 0,
        }
    }
}

/// What is read off the columns of a token and its neighbours. Files of named attributes have their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TagFeatures {
    /// Word, shape, affixes and other columns in a window of two.
    #[default]
    Default,
    /// A list of the built-in vocabulary: `word,suffix:1-4,window:2`.
    List(String),
    /// The text of a CRF++ template file.
    Templates(String),
}

/// A label, or the border of the sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Border {
    /// Before the first position, or after the last.
    Edge,
    /// A label by name.
    Label(String),
}

choice! {
    /// Schemes that write spans as labels.
    SchemeKind {
        /// `B-X` begins a span, `I-X` goes on (IOB2).
        Bio = "bio",
        /// `B-X I-X … E-X` for two or more tokens, `S-X` for one.
        Bioes = "bioes",
        /// `I-X` in a span; `B-X` only where a span follows another of its own type.
        Iob1 = "iob1",
    }
}

impl SchemeKind {
    pub(crate) fn scheme(self) -> Scheme {
        match self {
            SchemeKind::Bio => Scheme::Bio,
            SchemeKind::Bioes => Scheme::Bioes,
            SchemeKind::Iob1 => Scheme::Iob1,
        }
    }
}

choice! {
    /// Which labels an attribute has weights for.
    WeightsKind {
        /// All labels for attributes that come with several, those that it came with for the others.
        Frequent = "frequent",
        /// Those that it came with in the training data, as CRFsuite does it.
        Observed = "observed",
        /// All, as CRF++ does it.
        All = "all",
    }
}
