//! The threshold above which a label, or the second of two classes, is predicted.

use super::choices::Task;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The threshold above which a label, or the second of two classes, is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// A score of 0, which is a probability of ½.
    #[default]
    Half,
    /// This probability (for losses without probabilities, its logit as a score).
    Fixed(f64),
    /// The best threshold for the usual metric on rows that training did not see: micro F1 for labels, macro F1 for two classes.
    Auto,
    /// The best threshold for the F1 of each label, or of the second of two classes, on rows that training did not see.
    F1,
    /// One threshold for all labels: the best for micro F1 on rows that training did not see.
    MicroF1,
    /// Two classes: the best threshold for the mean of both classes' F1 on rows that training did not see.
    MacroF1,
    /// The threshold with the least cost of false positives and false negatives on rows that training did not see.
    Cost {
        /// The cost of a label that should not have been predicted.
        false_positive: f64,
        /// The cost of a label that should have been predicted and was not.
        false_negative: f64,
    },
}

impl Threshold {
    /// Whether the threshold is found on rows that training did not see.
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
