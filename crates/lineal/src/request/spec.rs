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

/// Everything about a training run except the data. `TrainSpec::default()` is logistic regression with C = 1; [`TrainSpec::for_task`] has the defaults of the
/// other tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainSpec {
    /// What is predicted.
    pub task: Task,
    /// The loss; by default logistic for classes and squared for numbers.
    pub loss: Option<LossKind>,
    /// For perceptron, hinge and squared hinge: sum over all violating classes (Weston–Watkins) instead of taking the worst one.
    pub sum: bool,
    /// How training on several classes is reduced to problems that the solver can solve.
    pub strategy: Strategy,
    /// Choices of the strategies other than `joint`.
    pub reduction: ReductionSpec,
    /// Turn scores into probabilities, by a map that is fitted to rows that training did not see.
    pub calibrate: Option<CalibrateKind>,
    /// The score or probability above which a label, or the second of two classes, is predicted.
    pub threshold: Threshold,
    /// Folds of cross-fitting, for `calibrate` and tuned thresholds.
    pub folds: usize,
    /// Hold out only as many of these folds as are needed for this many held-out rows, because each fold costs one more training run. If there are too few rows for
    /// folds, leave out the calibration or threshold that would be fitted to them. `None` holds out every fold, and too few rows are an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enough_held_out: Option<usize>,
    /// The algorithm that minimises the objective.
    pub solver: SolverKind,
    /// The strength of the penalty ½‖W‖².
    pub penalty: Penalty,
    /// The factor of ‖W‖₁.
    pub l1: f64,
    /// The constant that is added to every score.
    pub bias: Bias,
    /// Stop at this relative duality gap (or, without a dual, this relative gradient norm).
    pub tol: f64,
    /// Give up after this many passes; by default 1,000, and more for the dual if the data is so small that passes cost nothing.
    pub max_passes: Option<usize>,
    /// Choices of the stochastic solver.
    pub sgd: SgdSpec,
    /// The fixed step of `gd`; by default the step is found by a line search.
    pub gd_step: Option<f64>,
    /// Costs of mistakes: margins of the hinge losses, softmax-margin of the logistic loss.
    pub cost: Option<CostMatrix>,
    /// A factor by which the examples of each class count more or less.
    pub class_weight: ClassWeight,
    /// Which features are scaled for training. The stored weights are for unscaled features.
    pub standardize: Standardize,
    /// Solve min ½‖W‖² subject to every margin ≥ 1 (or its cost).
    pub hard_margin: bool,
    /// Hold out this share of the training rows (0 for none), and measure the model on it after every pass.
    pub validation: f64,
    /// Stop after this many passes without a better held-out metric, and keep the best weights.
    pub patience: Option<usize>,
    /// Record the training loss after every pass; this reads the data once more per pass.
    pub curve: bool,
    /// Where Huber's loss turns linear.
    pub delta: f64,
    /// Half the width of the epsilon-insensitive tube.
    pub epsilon: f64,
    /// The type of the weights.
    pub precision: Precision,
    /// The seed of every random choice.
    pub seed: u64,
    /// Choices of tagging.
    #[cfg(feature = "tag")]
    #[serde(skip_serializing_if = "is_default")]
    pub tag: TagSpec,
    /// Choices of dependency parsing.
    #[cfg(feature = "dependency")]
    #[serde(skip_serializing_if = "is_default")]
    pub dependency: DependencySpec,
    /// Choices of constituency parsing.
    #[cfg(feature = "constituency")]
    #[serde(skip_serializing_if = "is_default")]
    pub constituency: ConstituencySpec,
    /// Choices of ranking.
    #[cfg(feature = "rank")]
    #[serde(skip_serializing_if = "is_default")]
    pub rank: RankSpec,
    /// Choices of segmentation.
    #[cfg(feature = "segment")]
    #[serde(skip_serializing_if = "is_default")]
    pub segment: SegmentSpec,
    /// Choices of declared structures.
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

/// The default penalty of images: C is per pixel, and pixels of an image are far from independent. Chosen on held-out images of the horses, on which 1e-4 to 1e-3 are about equally good.
pub(crate) const IMAGE_PENALTY: Penalty = Penalty::C(3e-4);

/// Held-out rows that suffice to fit one number, such as a temperature, or one threshold for all labels.
pub(crate) const ENOUGH_HELD_OUT: usize = 2000;

impl TrainSpec {
    /// The number of passes if it is known beforehand, which is the number of epochs of `sgd`.
    pub fn n_epochs(&self) -> Option<usize> {
        let stochastic = match self.solver {
            SolverKind::Auto => {
                self.loss == Some(LossKind::Perceptron) || self.sgd.passive_aggressive.is_some()
            }
            solver => solver == SolverKind::Sgd,
        };
        stochastic.then_some(self.sgd.epochs)
    }

    /// The defaults of a task. For several labels, thresholds are tuned. For tags, a conditional random field is trained to within 1 % (the proof lags behind: the objective is then usually within
    /// 0.05 %). For trees, passive–aggressive updates run for eight epochs (dependencies) or five (constituents).
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

    /// The defaults for text with this many classes: the squared hinge loss with one class against the others, like scikit-learn's `LinearSVC`; a label tree
    /// for more than 200 classes. This trains in a fraction of the time of softmax and is a point or two more accurate at C = 1.
    /// A temperature, fitted to held-out rows, turns scores into probabilities without changing the order of classes; a tree has no probabilities unless `calibrate` asks for them.
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
    /// `ovo`: how the pairwise decisions are combined.
    pub pairs: PairKind,
    /// `ecoc`: the code.
    pub code: CodeKind,
    /// `ecoc`: the number of columns; the default depends on the code.
    pub code_length: Option<usize>,
    /// `ecoc` with your own code: one line of `+`, `-` and `0` per class, in the order of the classes.
    pub code_text: Option<String>,
    /// `ecoc`: how the answers to the columns become a class.
    pub decoding: DecodingKind,
    /// `tree`: its shape.
    pub tree: TreeKind,
    /// `tree` with your own tree: `((a b) (c d))` over class numbers.
    pub tree_text: Option<String>,
    /// `tree`: groups of at most this many classes are separated in one node; 1 is a binary tree down to single classes.
    pub leaf_size: Option<usize>,
    /// `tree`: how many nodes a prediction follows at each depth.
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
    /// The step size η; by default 1 for the perceptron, else 1 / (curvature of the loss × mean squared norm of the rows).
    pub rate: Option<f64>,
    /// How η decreases; by default constant for the perceptron, else inverse.
    pub schedule: Option<ScheduleKind>,
    /// Return the mean of the weights after each step instead of the last weights. For a convex objective, step t counts t times; for the perceptron, all steps count
    /// the same. `None` averages for structures, except with the logistic loss, and nothing else.
    pub average: Option<bool>,
    /// Take the examples in a new random order in each epoch.
    pub shuffle: bool,
    /// Draw examples with replacement.
    pub with_replacement: bool,
    /// Structures: instead of gradient steps, passive–aggressive updates (PA-I), which are just large enough to correct the mistake, and at most this large.
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

/// The strength of the penalty ½‖W‖², in either of the two usual conventions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Penalty {
    /// mean loss + (λ/2)‖W‖².
    L2(f64),
    /// ½‖W‖² + C·Σ loss, so λ = 1/(C·n), where n is the sum of the example weights.
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

/// Factors by which the examples of each class count.
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
