//! What to train: every choice of the three steps, with its default.

use crate::constituency::ConstituencySpec;
use crate::declare::DeclaredSpec;
use crate::dependency::DependencySpec;
use crate::rank::RankSpec;
use crate::segment::SegmentSpec;
use crate::tag::TagSpec;
use lineal_data::TargetKind;
use lineal_model::{Bias, cost::CostMatrix};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A training run, but for the data. `TrainSpec::default()` is logistic regression with C = 1; [`TrainSpec::for_task`] has the defaults of the
/// other tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainSpec {
    /// What is predicted.
    pub task: Task,
    /// The loss; by default logistic for classes and squared for numbers.
    pub loss: Option<LossKind>,
    /// The sum over violating classes in place of the maximum (Weston–Watkins) for perceptron, hinge, squared hinge.
    pub sum: bool,
    /// How several classes become one problem.
    pub strategy: Strategy,
    /// What the strategies other than `joint` can choose.
    pub reduction: ReductionSpec,
    /// Turn scores into probabilities by a map fitted to rows that training did not see.
    pub calibrate: Option<CalibrateKind>,
    /// When a label is predicted, or the second of two classes.
    pub threshold: Threshold,
    /// Folds of cross-fitting, for `calibrate` and tuned thresholds.
    pub folds: usize,
    /// Train without no more of these folds than hold so many rows together, where the rest would cost time and tell little, and do without what is
    /// fitted to them where there are too few rows for folds; by default each fold has its training, and too few rows are an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enough_held_out: Option<usize>,
    /// Who minimises.
    pub solver: SolverKind,
    /// How strong ½‖W‖² is.
    pub penalty: Penalty,
    /// The factor of ‖W‖₁.
    pub l1: f64,
    /// What is added to every score.
    pub bias: Bias,
    /// Stop at a relative gap (or relative gradient norm) of that.
    pub tol: f64,
    /// Give up after that many passes; by default 1,000, and more in the dual where the data is so small that they cost nothing.
    pub max_passes: Option<usize>,
    /// The stochastic solver's own choices.
    pub sgd: SgdSpec,
    /// The fixed step of `gd`; by default it searches.
    pub gd_step: Option<f64>,
    /// Costs of mistakes, inside hinge (as margins) and logistic (softmax-margin).
    pub cost: Option<CostMatrix>,
    /// A factor on the weight of each class's examples.
    pub class_weight: ClassWeight,
    /// Which features are brought to one scale for training. Weights are stored for the features as they are.
    pub standardize: Standardize,
    /// Solve min ½‖W‖² subject to every margin ≥ 1 (or its cost).
    pub hard_margin: bool,
    /// Hold out this share of the training rows (0 for none) to watch.
    pub validation: f64,
    /// Stop after that many passes without a better held-out metric, and keep the best weights.
    pub patience: Option<usize>,
    /// Record the training loss after every pass (an extra look at the data each).
    pub curve: bool,
    /// Where Huber's loss turns linear.
    pub delta: f64,
    /// Half the width of the epsilon-insensitive tube.
    pub epsilon: f64,
    /// The type of the weights.
    pub precision: Precision,
    /// Of every random choice.
    pub seed: u64,
    /// What tagging alone can choose.
    #[serde(skip_serializing_if = "is_default")]
    pub tag: TagSpec,
    /// What dependency parsing alone can choose.
    #[serde(skip_serializing_if = "is_default")]
    pub dependency: DependencySpec,
    /// What constituency parsing alone can choose.
    #[serde(skip_serializing_if = "is_default")]
    pub constituency: ConstituencySpec,
    /// What ranking alone can choose.
    #[serde(skip_serializing_if = "is_default")]
    pub rank: RankSpec,
    /// What segmentation alone can choose.
    #[serde(skip_serializing_if = "is_default")]
    pub segment: SegmentSpec,
    /// What declared structures alone can choose.
    #[serde(skip_serializing_if = "is_default")]
    pub declared: DeclaredSpec,
}

impl From<TagSpec> for TrainSpec {
    /// Tagging with these choices and the defaults of everything else.
    fn from(tag: TagSpec) -> Self {
        Self { tag, ..Self::for_task(Task::Tag) }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for TrainSpec {
    fn default() -> Self {
        Self {
            task: Task::Classify,
            loss: None,
            sum: false,
            strategy: Strategy::Joint,
            reduction: ReductionSpec::default(),
            calibrate: None,
            threshold: Threshold::Half,
            folds: 5,
            enough_held_out: None,
            solver: SolverKind::Auto,
            penalty: Penalty::C(1.0),
            l1: 0.0,
            bias: Bias::Free,
            tol: 1e-3,
            max_passes: None,
            sgd: SgdSpec::default(),
            gd_step: None,
            cost: None,
            class_weight: ClassWeight::Equal,
            standardize: Standardize::Numbers,
            hard_margin: false,
            validation: 0.0,
            patience: None,
            curve: false,
            delta: 1.0,
            epsilon: 0.1,
            precision: Precision::Auto,
            seed: 0,
            tag: TagSpec::default(),
            dependency: DependencySpec::default(),
            constituency: ConstituencySpec::default(),
            rank: RankSpec::default(),
            segment: SegmentSpec::default(),
            declared: DeclaredSpec::default(),
        }
    }
}

/// Held-out rows that suffice to fit one number, as a threshold for all labels or a temperature is.
pub(crate) const ENOUGH_HELD_OUT: usize = 2000;

impl TrainSpec {
    /// The defaults of a task: thresholds that are tuned for labels; of classification, a conditional random field to within 1 % for tags (the proof lags behind: the objective is then usually within
    /// 0.05 %), and passive–aggressive updates for trees: eight epochs for dependencies, five for constituents.
    pub fn for_task(task: Task) -> Self {
        let spec = Self { task, ..Self::default() };
        match task {
            Task::Classify | Task::Regress => spec,
            Task::Multilabel => {
                Self { threshold: Threshold::Auto, enough_held_out: Some(ENOUGH_HELD_OUT), ..spec }
            }
            Task::Rank => Self { bias: Bias::None, tol: 1e-4, ..spec },
            Task::Tag => Self { tol: 1e-2, ..spec },
            Task::Segment => Self {
                tol: 1e-2,
                loss: Some(LossKind::Hinge),
                penalty: SegmentSpec::penalty(),
                ..spec
            },
            Task::Dependency | Task::Constituency | Task::Declared => {
                let (epochs, size) = match task {
                    Task::Dependency => (8, 0.05),
                    Task::Constituency => (5, 0.02),
                    _ => (30, 0.03),
                };
                let passive_aggressive = Some(size);
                Self {
                    tol: 1e-2,
                    loss: Some(LossKind::Hinge),
                    sgd: SgdSpec { epochs, passive_aggressive, ..SgdSpec::default() },
                    ..spec
                }
            }
        }
    }

    /// What suits text of so many classes: the squared hinge loss, one class against the others, as scikit-learn's `LinearSVC`; a label tree
    /// over more than 200 classes. It trains in a fraction of the time of softmax and is a point or two more accurate at C = 1.
    /// Probabilities are of a temperature fitted to held-out rows, which moves no class up or down; a tree has none unless `calibrate` says so.
    pub fn for_text(n_classes: usize) -> Self {
        let strategy = match n_classes {
            0..=2 => Strategy::Joint,
            3..=200 => Strategy::Ova,
            _ => Strategy::Tree,
        };
        let calibrate = (n_classes <= 200).then_some(CalibrateKind::Temperature);
        Self {
            loss: Some(LossKind::SquaredHinge),
            strategy,
            calibrate,
            enough_held_out: calibrate.map(|_| ENOUGH_HELD_OUT),
            ..Self::default()
        }
    }
}

/// Choices of one-vs-one, output codes and label trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReductionSpec {
    /// `ovo`: how duels decide.
    pub pairs: PairKind,
    /// `ecoc`: the code.
    pub code: CodeKind,
    /// `ecoc`: its number of columns; by default what is usual for the code.
    pub code_length: Option<usize>,
    /// `ecoc` with a code of the user's: one line of `+`, `-` and `0` per class, in the order of the classes.
    pub code_text: Option<String>,
    /// `ecoc`: how answers become a class.
    pub decoding: DecodingKind,
    /// `tree`: its shape.
    pub tree: TreeKind,
    /// `tree` with a tree of the user's: `((a b) (c d))` over class numbers.
    pub tree_text: Option<String>,
    /// `tree`: groups of at most that many classes are told apart in one node; 1 is a binary tree down to the classes.
    pub leaf_size: Option<usize>,
    /// `tree`: nodes followed at each depth of a prediction.
    pub beam: usize,
}

impl Default for ReductionSpec {
    fn default() -> Self {
        Self {
            pairs: PairKind::Votes,
            code: CodeKind::Dense,
            code_length: None,
            code_text: None,
            decoding: DecodingKind::Loss,
            tree: TreeKind::Clusters,
            tree_text: None,
            leaf_size: None,
            beam: 10,
        }
    }
}

/// When a label is predicted, or the second of two classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// At a score above 0: a probability above ½.
    #[default]
    Half,
    /// At a probability above this (a score above its logit, for losses without probabilities).
    Fixed(f64),
    /// Where what is usual is best on rows that training did not see: micro F1 of labels, macro F1 of two classes.
    Auto,
    /// Where the F1 of each label, or of the second of two classes, is best on rows that training did not see.
    F1,
    /// One for all labels, where micro F1 is best on rows that training did not see.
    MicroF1,
    /// Of two classes, where the mean of both classes' F1 is best on rows that training did not see.
    MacroF1,
    /// Where the cost of false positives and false negatives is least on rows that training did not see.
    Cost {
        /// Of a label that should not have been predicted.
        false_positive: f64,
        /// Of a label that should have been.
        false_negative: f64,
    },
}

impl Threshold {
    /// Whether it is found on rows that training did not see.
    pub fn is_tuned(self) -> bool {
        !matches!(self, Self::Half | Self::Fixed(_))
    }

    /// The one that `Auto` means for a task.
    pub fn of_task(self, task: Task) -> Self {
        match (self, task) {
            (Self::Auto, Task::Multilabel) => Self::MicroF1,
            // The labels' own F1, each as large as can be, are the largest mean.
            (Self::MacroF1, Task::Multilabel) => Self::F1,
            (Self::Auto, _) => Self::MacroF1,
            _ => self,
        }
    }
}

impl FromStr for Threshold {
    type Err = String;

    /// `auto`, `f1`, `micro-f1`, `macro-f1`, `cost:FP,FN`, or a probability.
    fn from_str(s: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        match s {
            "auto" => return Ok(Self::Auto),
            "f1" => return Ok(Self::F1),
            "micro-f1" => return Ok(Self::MicroF1),
            "macro-f1" => return Ok(Self::MacroF1),
            _ => {}
        }
        if let Some((fp, fn_)) = s.strip_prefix("cost:").and_then(|costs| costs.split_once(',')) {
            return match (number(fp), number(fn_)) {
                (Some(false_positive), Some(false_negative))
                    if false_positive >= 0.0 && false_negative >= 0.0 =>
                {
                    Ok(Self::Cost { false_positive, false_negative })
                }
                _ => Err(format!("`{s}` is not cost:FP,FN with two costs ≥ 0")),
            };
        }
        match number(s) {
            Some(p) if p > 0.0 && p < 1.0 => Ok(Self::Fixed(p)),
            _ => Err(format!(
                "`{s}` is not auto, f1, micro-f1, macro-f1, cost:FP,FN or a probability between 0 and 1"
            )),
        }
    }
}

/// Choices of stochastic gradient descent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SgdSpec {
    /// Passes over the data.
    pub epochs: usize,
    /// Examples per step.
    pub batch_size: usize,
    /// η; by default 1 for the perceptron, else 1 / (the loss's curvature × the mean squared row norm).
    pub rate: Option<f64>,
    /// How η falls; by default constant for the perceptron, else inverse.
    pub schedule: Option<ScheduleKind>,
    /// Return the mean of the iterates, one after each step, in place of the last one; in that of a convex objective the t-th counts t times, in that of the perceptron all count
    /// the same. By default no; for structures yes, but for the logistic loss.
    pub average: Option<bool>,
    /// A fresh order each epoch.
    pub shuffle: bool,
    /// Draw examples with replacement.
    pub with_replacement: bool,
    /// Structures: move just far enough to be right, by at most this much (PA-I), in place of gradient steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passive_aggressive: Option<f64>,
}

impl Default for SgdSpec {
    fn default() -> Self {
        Self {
            epochs: 20,
            batch_size: 1,
            rate: None,
            schedule: None,
            average: None,
            shuffle: true,
            with_replacement: false,
            passive_aggressive: None,
        }
    }
}

/// How strong ½‖W‖² is, in either convention of the field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Penalty {
    /// mean loss + (λ/2)‖W‖².
    L2(f64),
    /// ½‖W‖² + C·Σ loss, so λ = 1/(C·n), n being the sum of the example weights.
    C(f64),
}

impl Penalty {
    /// λ for data whose example weights sum to `total_weight`.
    pub fn l2(self, total_weight: f64) -> f64 {
        match self {
            Penalty::L2(l2) => l2,
            Penalty::C(c) => 1.0 / (c * total_weight),
        }
    }
}

/// Factors on classes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassWeight {
    /// All 1.
    #[default]
    Equal,
    /// n / (K · n_class): all classes weigh the same.
    Balanced,
    /// By name; 1 for those not named.
    Named(Vec<(String, f64)>),
}

impl FromStr for ClassWeight {
    type Err = String;

    /// `balanced`, or `name=w,name=w`.
    fn from_str(s: &str) -> Result<Self, String> {
        if s == "balanced" {
            return Ok(Self::Balanced);
        }
        let parse = |pair: &str| {
            let (name, weight) = pair.rsplit_once('=')?;
            let weight: f64 = weight.trim().parse().ok()?;
            (weight.is_finite() && weight >= 0.0).then(|| (name.trim().to_string(), weight))
        };
        s.split(',')
            .map(|pair| {
                parse(pair).ok_or(format!(
                    "`{pair}` is not name=weight with a weight ≥ 0 (or say `balanced`)"
                ))
            })
            .collect::<Result<_, _>>()
            .map(Self::Named)
    }
}

/// Declares a choice with its names on the command line, in JSON and in messages.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every choice, in the order of the help.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// The name of the choice.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = String;
            fn from_str(s: &str) -> Result<Self, String> {
                match s {
                    $($text => Ok($name::$variant),)+
                    _ => Err(format!("`{s}` is not one of {}", [$($text),+].join(", "))),
                }
            }
        }
    };
}

pub(crate) use choice;

choice! {
    /// What is predicted.
    Task {
        /// One of two or more classes.
        Classify = "classify",
        /// Any number of labels.
        Multilabel = "multilabel",
        /// A number.
        Regress = "regress",
        /// A label for each position of a sequence.
        Tag = "tag",
        /// A head and a relation for each word of a sentence.
        Dependency = "dependency",
        /// A bracketed tree over the words of a sentence.
        Constituency = "constituency",
        /// The order of the documents of a query.
        Rank = "rank",
        /// A label for each pixel of an image, or each node of a graph.
        Segment = "segment",
        /// Labels of variables that the user declares, with factors and rules.
        Declared = "declared",
    }
}

impl Task {
    /// Other names that it goes by: `regression` for `regress`, `ner` for `tag`.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Task::Classify => &["classification", "binary", "multiclass"],
            Task::Multilabel => &["multi-label"],
            Task::Regress => &["regression"],
            Task::Tag => &["tagging", "sequence", "chunking", "ner", "crf"],
            Task::Dependency => &["dependencies", "parsing"],
            Task::Constituency => &["constituents"],
            Task::Rank => &["ranking"],
            Task::Segment => &["segmentation"],
            Task::Declared => &["declare"],
        }
    }

    /// The task of a name or alias.
    pub fn named(name: &str) -> Option<Self> {
        let is_its = |task: &Task| task.as_str() == name || task.aliases().contains(&name);
        Task::ALL.iter().copied().find(is_its)
    }

    /// Whether an output has parts that depend on each other: labels of a sequence, heads of a tree, an order.
    pub fn is_structured(self) -> bool {
        !matches!(self, Task::Classify | Task::Multilabel | Task::Regress)
    }

    /// How the labels of rows are read for it.
    pub fn target(self) -> TargetKind {
        match self {
            Task::Multilabel => TargetKind::Labels,
            Task::Regress => TargetKind::Real,
            Task::Rank => TargetKind::Grades,
            _ => TargetKind::Classes,
        }
    }
}

choice! {
    /// Which features are divided by their standard deviation and, where a free bias makes up for it, centred.
    Standardize {
        /// Columns of numbers in tables: not categories, whose values are 0 or 1, nor text, nor formats without named columns.
        Numbers = "numbers",
        /// All features but categories. Sparse data is not centred.
        All = "all",
        /// None.
        Never = "never",
    }
}

choice! {
    /// The loss.
    LossKind {
        /// 0 unless the argmax is wrong.
        Perceptron = "perceptron",
        /// The large margin: support vector machines.
        Hinge = "hinge",
        /// Its square.
        SquaredHinge = "squared-hinge",
        /// Maximum likelihood: logistic regression, softmax.
        Logistic = "logistic",
        /// Least squares.
        Squared = "squared",
        /// Squared near, linear far.
        Huber = "huber",
        /// Nothing within ε, linear beyond.
        Epsilon = "epsilon",
    }
}

choice! {
    /// How several classes become one problem.
    Strategy {
        /// One weight matrix, one loss over all classes.
        Joint = "joint",
        /// One-vs-all: one binary problem per class.
        Ova = "ova",
        /// One-vs-one: one binary problem per pair of classes.
        Ovo = "ovo",
        /// Error-correcting output codes: one binary problem per column of a code.
        Ecoc = "ecoc",
        /// A label tree: about one binary problem per class, of which a prediction asks few.
        Tree = "tree",
    }
}

choice! {
    /// How duels between two classes decide.
    PairKind {
        /// The class that wins most duels; among equals by summed scores.
        Votes = "votes",
        /// The highest summed score.
        Scores = "scores",
        /// The winner plays the next class: one duel less than classes.
        Tournament = "tournament",
    }
}

choice! {
    /// Output codes.
    CodeKind {
        /// Random signs.
        Dense = "dense",
        /// Random signs and zeros.
        Sparse = "sparse",
        /// Every split of the classes; at most 12 classes.
        Exhaustive = "exhaustive",
        /// Rows of a Hadamard matrix: half of all columns between any two classes.
        Hadamard = "hadamard",
        /// A BCH code.
        Bch = "bch",
        /// Codewords picked one by one, as far apart as can be.
        Greedy = "greedy",
        /// One-vs-all as a code.
        Ova = "ova",
        /// One-vs-one as a code.
        Ovo = "ovo",
        /// The user's own.
        File = "file",
    }
}

choice! {
    /// How the answers to a code's columns become a class.
    DecodingKind {
        /// The codeword that the fewest answers contradict.
        Hamming = "hamming",
        /// The codeword of the least summed loss.
        Loss = "loss",
        /// The likeliest codeword.
        Probability = "probability",
    }
}

choice! {
    /// Shapes of label trees.
    TreeKind {
        /// Like classes together: halves by clustering.
        Clusters = "clusters",
        /// Halves at random.
        Random = "random",
        /// Frequent classes near the root.
        Huffman = "huffman",
        /// The user's own.
        File = "file",
    }
}

choice! {
    /// Maps from scores to probabilities.
    CalibrateKind {
        /// A sigmoid for each column.
        Platt = "platt",
        /// A rising step function for each column.
        Isotonic = "isotonic",
        /// One temperature for all.
        Temperature = "temperature",
    }
}

choice! {
    /// Who minimises.
    SolverKind {
        /// The fastest that certifies.
        Auto = "auto",
        /// Normal equations; the squared loss.
        Exact = "exact",
        /// Gradient descent; a smooth loss.
        Gd = "gd",
        /// Stochastic gradient descent; any loss.
        Sgd = "sgd",
        /// Newton's method; a smooth loss.
        Newton = "newton",
        /// L-BFGS, and OWL-QN with l1; a smooth loss.
        Lbfgs = "lbfgs",
        /// Dual coordinate ascent; any loss, l2 > 0.
        Dual = "dual",
    }
}

choice! {
    /// How the rate of `sgd` falls.
    ScheduleKind {
        /// Not at all.
        Constant = "constant",
        /// η / (1 + η·l2·t).
        Inverse = "inverse",
        /// 1 / (l2·t).
        Pegasos = "pegasos",
    }
}

choice! {
    /// How a gradient becomes a step, in a stream.
    UpdateKind {
        /// The same rate for all weights.
        Plain = "plain",
        /// A rate for each weight, which falls with the gradients that it has seen.
        AdaGrad = "adagrad",
        /// That, and whatever units features come in.
        Normalised = "normalised",
    }
}

choice! {
    /// The type of the weights.
    Precision {
        /// f32 for `dual` and `sgd` with a tolerance of 1e-4 or more, else f64.
        Auto = "auto",
        /// Single.
        F32 = "f32",
        /// Double.
        F64 = "f64",
    }
}
