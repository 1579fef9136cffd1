//! What to train: every choice of the three steps, with its default.

#[cfg(feature = "constituency")]
use crate::constituency::ConstituencySpec;
#[cfg(feature = "declared")]
use crate::declare::DeclaredSpec;
#[cfg(feature = "dependency")]
use crate::dependency::DependencySpec;
#[cfg(feature = "rank")]
use crate::rank::RankSpec;
#[cfg(feature = "segment")]
use crate::segment::SegmentSpec;
#[cfg(feature = "tag")]
use crate::tag::TagSpec;
use lineal_model::{Bias, cost::CostMatrix};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

pub(crate) use super::choices::choice;
pub use super::choices::{
    CalibrateKind, CodeKind, DecodingKind, LossKind, PairKind, Precision, ScheduleKind, SolverKind,
    Standardize, Strategy, Task, TreeKind, UpdateKind,
};
pub use super::threshold::Threshold;

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
    #[cfg(feature = "tag")]
    #[serde(skip_serializing_if = "is_default")]
    pub tag: TagSpec,
    /// What dependency parsing alone can choose.
    #[cfg(feature = "dependency")]
    #[serde(skip_serializing_if = "is_default")]
    pub dependency: DependencySpec,
    /// What constituency parsing alone can choose.
    #[cfg(feature = "constituency")]
    #[serde(skip_serializing_if = "is_default")]
    pub constituency: ConstituencySpec,
    /// What ranking alone can choose.
    #[cfg(feature = "rank")]
    #[serde(skip_serializing_if = "is_default")]
    pub rank: RankSpec,
    /// What segmentation alone can choose.
    #[cfg(feature = "segment")]
    #[serde(skip_serializing_if = "is_default")]
    pub segment: SegmentSpec,
    /// What declared structures alone can choose.
    #[cfg(feature = "declared")]
    #[serde(skip_serializing_if = "is_default")]
    pub declared: DeclaredSpec,
}

#[cfg(feature = "tag")]
impl From<TagSpec> for TrainSpec {
    /// Tagging with these choices and the defaults of everything else.
    fn from(tag: TagSpec) -> Self {
        Self { tag, ..Self::for_task(Task::Tag) }
    }
}

#[cfg(feature = "structured")]
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
            #[cfg(feature = "tag")]
            tag: TagSpec::default(),
            #[cfg(feature = "dependency")]
            dependency: DependencySpec::default(),
            #[cfg(feature = "constituency")]
            constituency: ConstituencySpec::default(),
            #[cfg(feature = "rank")]
            rank: RankSpec::default(),
            #[cfg(feature = "segment")]
            segment: SegmentSpec::default(),
            #[cfg(feature = "declared")]
            declared: DeclaredSpec::default(),
        }
    }
}

/// The penalty of images where none is said: C is per pixel, and pixels of an image are far from independent. Chosen on held-out images of the horses, where 1e-4 to 1e-3 are about as good.
pub(crate) const IMAGE_PENALTY: Penalty = Penalty::C(3e-4);

/// Held-out rows that suffice to fit one number, as a threshold for all labels or a temperature is.
pub(crate) const ENOUGH_HELD_OUT: usize = 2000;

impl TrainSpec {
    /// The number of passes, where it is known beforehand: the epochs of `sgd`.
    pub fn n_epochs(&self) -> Option<usize> {
        let stochastic = match self.solver {
            SolverKind::Auto => {
                self.loss == Some(LossKind::Perceptron) || self.sgd.passive_aggressive.is_some()
            }
            solver => solver == SolverKind::Sgd,
        };
        stochastic.then_some(self.sgd.epochs)
    }

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
            Task::Segment => {
                Self { tol: 1e-2, loss: Some(LossKind::Hinge), penalty: IMAGE_PENALTY, ..spec }
            }
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
