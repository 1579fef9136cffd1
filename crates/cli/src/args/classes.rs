//! Flags about several classes and labels, and about probabilities.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use lineal::{CalibrateKind, CodeKind, DecodingKind, PairKind, Threshold, TrainSpec, TreeKind};

use super::choice::{at_least_one, at_least_two, choice};

/// The heading of everything about several classes.
pub const CLASSES: &str = "Several classes";
const PROBABILITIES: &str = "Probabilities";

/// Choices of one-vs-one, output codes and label trees.
#[derive(Args, Clone, Debug, Default)]
pub struct ReductionArgs {
    /// ovo: how the pairwise decisions are combined [default: votes]
    #[arg(long, value_name = "P", help_heading = CLASSES, value_parser = choice::<PairKind>(&[
        ("votes", "the class that wins the most pairs; ties go to the highest summed score"),
        ("scores", "the highest summed score"),
        ("tournament", "the winner meets the next class: K − 1 comparisons for K classes"),
    ]))]
    pub pairs: Option<PairKind>,

    /// ecoc: dense, sparse, exhaustive, hadamard, bch, greedy, ova, ovo, or a file [default: dense]
    #[arg(long, value_name = "CODE|FILE", help_heading = CLASSES, long_help = CODE)]
    pub code: Option<CodeArg>,

    /// ecoc: columns of a dense, sparse, bch or greedy code, one binary problem each [default: 10 log₂ of the classes; sparse: 15]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = CLASSES)]
    pub code_length: Option<usize>,

    /// ecoc: how the answers to the columns become a class [default: loss]
    #[arg(long, value_name = "D", help_heading = CLASSES, value_parser = choice::<DecodingKind>(&[
        ("hamming", "the codeword that the fewest answers contradict"),
        ("loss", "the codeword of the least summed loss"),
        ("probability", "the likeliest codeword"),
    ]))]
    pub decoding: Option<DecodingKind>,

    /// tree: clusters, random, huffman, or a file [default: clusters]
    #[arg(long, value_name = "TREE|FILE", help_heading = CLASSES, long_help = TREE)]
    pub tree: Option<TreeArg>,

    /// tree: groups of up to this many classes are separated in one node; 1 halves down to single classes [default: 1; 100 with over
    /// 200 classes]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = CLASSES)]
    pub leaf_size: Option<usize>,

    /// tree: nodes that a prediction follows at each depth; 1 is greedy [default: 10]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = CLASSES)]
    pub beam: Option<usize>,
}

const CODE: &str = "\
ecoc: which classes say yes to which column [default: dense]
  dense        random + and −
  sparse       random + and − and 0, a class that a column leaves out
  exhaustive   every split of the classes; at most 12 classes
  hadamard     any two classes differ in half of the columns
  bch          a BCH code
  greedy       codewords picked one by one, as far apart as can be
  ova, ovo     one-vs-all and one-vs-one as codes
  FILE         one line of + - 0 per class, in the order of the classes,
               or lines `name: +-0…` in any order";

const TREE: &str = "\
tree: its shape [default: clusters]
  clusters   like classes together: halves by clustering
  random     halves at random
  huffman    frequent classes near the root
  FILE       ((a b) (c d)) over class names, \"in quotes\" where they have
             blanks or parentheses; or over class numbers from 0";

/// From scores to probabilities and labels.
#[derive(Args, Clone, Debug, Default)]
pub struct ProbaArgs {
    /// Turn scores into probabilities, fitted to rows that training did not see [default: none, as the logistic loss has them; temperature for text]
    #[arg(long, value_name = "M", help_heading = PROBABILITIES, value_parser = calibration())]
    pub calibrate: Option<CalibrateArg>,

    /// When a label, or the second of two classes, is predicted: a probability, auto, f1, macro-f1, micro-f1 or cost:FP,FN [default: 0.5; multilabel: auto]
    #[arg(long, value_name = "P|AIM", allow_negative_numbers = true, help_heading = PROBABILITIES,
          long_help = THRESHOLD)]
    pub threshold: Option<Threshold>,

    /// Folds of cross-fitting for --calibrate and a tuned --threshold; each fold is one more training run [default: 5; if neither flag was given, as many of 5 as hold 2,000 rows]
    #[arg(long, value_name = "N", value_parser = at_least_two, help_heading = PROBABILITIES)]
    pub folds: Option<usize>,
}

const THRESHOLD: &str = "\
When a label, or the second of two classes, is predicted [default: 0.5;
multilabel: auto, on as many of 5 folds as hold 2,000 rows]
  P            at a probability above P (a score above its logit, without);
               trains once
  auto         multilabel: micro-f1; two classes: macro-f1
  f1           where the F1 of each label, or of the second class, is best on
               rows that training did not see
  micro-f1     one for all labels, where micro F1 is best on such rows
  macro-f1     where the mean of the classes' or labels' F1 is best on such rows
  cost:FP,FN   where false positives at FP and false negatives at FN cost
               least on such rows";

/// The maps by name.
pub fn calibration() -> impl clap::builder::TypedValueParser<Value = CalibrateArg> {
    choice::<CalibrateArg>(&[
        ("platt", "a sigmoid for each binary problem; for a few hundred rows or more"),
        ("isotonic", "a monotone step function for each; for a thousand rows or more"),
        ("temperature", "one number for all classes; does not change predictions"),
        ("none", "scores only; trains once"),
    ])
}

/// A map from scores to probabilities, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrateArg(pub Option<CalibrateKind>);

impl FromStr for CalibrateArg {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "none" => Ok(Self(None)),
            kind => kind.parse().map(|kind| Self(Some(kind))),
        }
    }
}

/// An output code: one that is made, or the user's.
#[derive(Clone, Debug, PartialEq)]
pub enum CodeArg {
    Made(CodeKind),
    File(PathBuf),
}

impl FromStr for CodeArg {
    type Err = Infallible;

    fn from_str(s: &str) -> Result<Self, Infallible> {
        Ok(match s.parse() {
            Ok(CodeKind::File) | Err(_) => Self::File(s.into()),
            Ok(kind) => Self::Made(kind),
        })
    }
}

/// A label tree: one that is made, or the user's.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeArg {
    Made(TreeKind),
    File(PathBuf),
}

impl FromStr for TreeArg {
    type Err = Infallible;

    fn from_str(s: &str) -> Result<Self, Infallible> {
        Ok(match s.parse() {
            Ok(TreeKind::File) | Err(_) => Self::File(s.into()),
            Ok(kind) => Self::Made(kind),
        })
    }
}

impl ReductionArgs {
    /// The files that are named.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let code = match &self.code {
            Some(CodeArg::File(path)) => Some(path),
            _ => None,
        };
        let tree = match &self.tree {
            Some(TreeArg::File(path)) => Some(path),
            _ => None,
        };
        code.into_iter().chain(tree)
    }
}

impl ProbaArgs {
    /// Writes the given flags into a spec, and leaves its defaults for the others.
    pub fn add_to(&self, spec: &mut TrainSpec) {
        if let Some(threshold) = self.threshold {
            spec.threshold = threshold;
        }
        if let Some(CalibrateArg(kind)) = self.calibrate {
            spec.calibrate = kind;
        }
        // Who asks for it gets all folds.
        let calibrates = self.calibrate.is_some_and(|arg| arg.0.is_some());
        if self.folds.is_some() || self.threshold.is_some() || calibrates {
            spec.enough_held_out = None;
        }
        spec.folds = self.folds.unwrap_or(spec.folds);
    }
}
