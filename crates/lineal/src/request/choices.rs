//! Choices by name: the same on the command line, in JSON and in messages.

use lineal_data::TargetKind;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

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
            Task::Classify => &["classification", "classifier", "binary", "multiclass"],
            Task::Multilabel => &["multi-label"],
            Task::Regress => &["regression", "regressor"],
            Task::Tag => &["tagging", "sequence", "chunking", "tagger", "ner", "pos", "crf"],
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
        /// Newton's method; a smooth loss, or the hinge of two classes or one-vs-all on at most 1,000 features.
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
