//! What a search over rows makes as large, or as small, as can be.

use crate::Error;
use crate::predict::evaluate::Metrics;
use crate::request::spec::Task;
use std::str::FromStr;

/// A metric of rows. Their names are those of `eval --json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuneMetric {
    /// Accuracy for classes, micro F1 for labels, RMSE for numbers.
    Usual,
    /// The share of rows with the right class.
    Accuracy,
    /// The mean of the classes' or labels' F1.
    MacroF1,
    /// F1 of the counts of all classes or labels together.
    MicroF1,
    /// Matthews' correlation of gold and predicted classes.
    Mcc,
    /// The area under the ROC curve, of two classes.
    Auc,
    /// The area under the precision–recall curve, of two classes.
    PrAuc,
    /// The logarithmic loss of probabilities.
    LogLoss,
    /// The squared error of probabilities.
    Brier,
    /// The expected calibration error of probabilities.
    Ece,
    /// The mean cost of mistakes.
    MeanCost,
    /// The share of wrong answers, over rows and labels.
    HammingLoss,
    /// The share of rows whose labels are all right.
    SubsetAccuracy,
    /// The share of right labels among the first one.
    PrecisionAt1,
    /// The share of right labels among the first three.
    PrecisionAt3,
    /// The share of right labels among the first five.
    PrecisionAt5,
    /// The discounted gain of the first five labels.
    NdcgAt5,
    /// The root of the mean squared error.
    Rmse,
    /// The mean absolute error.
    Mae,
    /// The share of the variance that is explained.
    R2,
}

/// What is known of a metric without data.
struct Entry {
    metric: TuneMetric,
    name: &'static str,
    tasks: &'static [Task],
    /// Whether it should be small.
    is_loss: bool,
    needs_proba: bool,
}

const CLASSES: &[Task] = &[Task::Classify];
const LABELS: &[Task] = &[Task::Multilabel];
const BOTH: &[Task] = &[Task::Classify, Task::Multilabel];
const NUMBERS: &[Task] = &[Task::Regress];

const fn entry(metric: TuneMetric, name: &'static str, tasks: &'static [Task]) -> Entry {
    let is_loss = matches!(
        metric,
        TuneMetric::LogLoss
            | TuneMetric::Brier
            | TuneMetric::Ece
            | TuneMetric::MeanCost
            | TuneMetric::HammingLoss
            | TuneMetric::Rmse
            | TuneMetric::Mae
    );
    let needs_proba = matches!(metric, TuneMetric::LogLoss | TuneMetric::Brier | TuneMetric::Ece);
    Entry { metric, name, tasks, is_loss, needs_proba }
}

/// The first of a task is the usual one.
const ALL: &[Entry] = &[
    entry(TuneMetric::Accuracy, "accuracy", CLASSES),
    entry(TuneMetric::MicroF1, "micro_f1", BOTH),
    entry(TuneMetric::MacroF1, "macro_f1", BOTH),
    entry(TuneMetric::Mcc, "mcc", CLASSES),
    entry(TuneMetric::Auc, "auc", CLASSES),
    entry(TuneMetric::PrAuc, "pr_auc", CLASSES),
    entry(TuneMetric::LogLoss, "log_loss", CLASSES),
    entry(TuneMetric::Brier, "brier", CLASSES),
    entry(TuneMetric::Ece, "ece", CLASSES),
    entry(TuneMetric::MeanCost, "mean_cost", CLASSES),
    entry(TuneMetric::HammingLoss, "hamming_loss", LABELS),
    entry(TuneMetric::SubsetAccuracy, "subset_accuracy", LABELS),
    entry(TuneMetric::PrecisionAt1, "p@1", LABELS),
    entry(TuneMetric::PrecisionAt3, "p@3", LABELS),
    entry(TuneMetric::PrecisionAt5, "p@5", LABELS),
    entry(TuneMetric::NdcgAt5, "ndcg@5", LABELS),
    entry(TuneMetric::Rmse, "rmse", NUMBERS),
    entry(TuneMetric::Mae, "mae", NUMBERS),
    entry(TuneMetric::R2, "r2", NUMBERS),
];

impl FromStr for TuneMetric {
    type Err = String;

    /// A name of `eval --json`, `usual`, or `roc_auc`.
    fn from_str(name: &str) -> Result<Self, String> {
        let found = ALL.iter().find(|entry| entry.name == name).map(|entry| entry.metric);
        match (name, found) {
            ("usual", _) => Ok(Self::Usual),
            ("roc_auc", _) => Ok(Self::Auc),
            (_, Some(metric)) => Ok(metric),
            (_, None) => {
                let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
                let which = match name {
                    "f1" => {
                        "; F1 is macro_f1 (the mean over classes or labels) or micro_f1 (all counts together)"
                    }
                    _ => "",
                };
                Err(format!("`{name}` is not one of usual, {}{which}", names.join(", ")))
            }
        }
    }
}

impl TuneMetric {
    /// The one that `Usual` means for a task.
    pub fn of_task(self, task: Task) -> Self {
        let first = ALL.iter().find(|entry| entry.tasks.contains(&task));
        match (self, first) {
            (Self::Usual, Some(entry)) => entry.metric,
            _ => self,
        }
    }

    /// Its name in `eval --json`, for a task.
    pub fn name(self, task: Task) -> &'static str {
        self.of_task(task).entry().map_or("usual", |entry| entry.name)
    }

    /// Whether it should be small, for a task. Its values are then kept with a minus.
    pub fn is_loss(self, task: Task) -> bool {
        self.of_task(task).entry().is_some_and(|entry| entry.is_loss)
    }

    /// Whether it is of probabilities.
    pub fn needs_proba(self) -> bool {
        self.entry().is_some_and(|entry| entry.needs_proba)
    }

    fn entry(self) -> Option<&'static Entry> {
        ALL.iter().find(|entry| entry.metric == self)
    }

    /// Refuses a metric that a task, or its number of classes, does not have.
    pub(super) fn check(self, task: Task, n_classes: usize) -> Result<(), Error> {
        let fits = |entry: &&Entry| entry.tasks.contains(&task);
        let Some(entry) = self.of_task(task).entry() else { return Ok(()) };
        if !entry.tasks.contains(&task) {
            let names: Vec<&str> = ALL.iter().filter(fits).map(|entry| entry.name).collect();
            return Err(Error::request(format!(
                "spec.metric = {} is not available for spec.task = {task}: choose one of {}",
                entry.name,
                names.join(", ")
            )));
        }
        if matches!(entry.metric, Self::Auc | Self::PrAuc) && n_classes > 2 {
            return Err(Error::request(format!(
                "spec.metric = {} is for two classes, and the data has {n_classes}: choose accuracy, macro_f1, mcc or log_loss",
                entry.name
            )));
        }
        Ok(())
    }

    /// Its value, with a minus where it should be small; not a number where the rows have none.
    pub(super) fn score(self, metrics: &Metrics, task: Task) -> f64 {
        let unknown = f64::NAN;
        let value = match (self.of_task(task), metrics) {
            (Self::Accuracy, Metrics::Classify(m)) => m.accuracy,
            (Self::MicroF1, Metrics::Classify(m)) => m.micro_f1,
            (Self::MacroF1, Metrics::Classify(m)) => m.macro_f1,
            (Self::Mcc, Metrics::Classify(m)) => m.mcc,
            (Self::Auc, Metrics::Classify(m)) => m.auc.unwrap_or(unknown),
            (Self::PrAuc, Metrics::Classify(m)) => m.pr_auc.unwrap_or(unknown),
            (Self::LogLoss, Metrics::Classify(m)) => m.log_loss.unwrap_or(unknown),
            (Self::Brier, Metrics::Classify(m)) => m.brier.unwrap_or(unknown),
            (Self::Ece, Metrics::Classify(m)) => m.ece.unwrap_or(unknown),
            (Self::MeanCost, Metrics::Classify(m)) => m.mean_cost,
            (Self::MicroF1, Metrics::Multilabel(m)) => m.micro_f1,
            (Self::MacroF1, Metrics::Multilabel(m)) => m.macro_f1,
            (Self::HammingLoss, Metrics::Multilabel(m)) => m.hamming_loss,
            (Self::SubsetAccuracy, Metrics::Multilabel(m)) => m.subset_accuracy,
            (Self::PrecisionAt1, Metrics::Multilabel(m)) => m.p_at_1,
            (Self::PrecisionAt3, Metrics::Multilabel(m)) => m.p_at_3,
            (Self::PrecisionAt5, Metrics::Multilabel(m)) => m.p_at_5,
            (Self::NdcgAt5, Metrics::Multilabel(m)) => m.ndcg_at_5.unwrap_or(unknown),
            (Self::Rmse, Metrics::Regress(m)) => m.rmse,
            (Self::Mae, Metrics::Regress(m)) => m.mae,
            (Self::R2, Metrics::Regress(m)) => m.r2.unwrap_or(unknown),
            _ => unknown,
        };
        if self.is_loss(task) { -value } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways_and_each_task_has_a_usual_one() {
        for entry in ALL {
            assert_eq!(entry.name.parse(), Ok(entry.metric));
            assert_eq!(entry.metric.name(entry.tasks[0]), entry.name);
        }
        assert_eq!("roc_auc".parse(), Ok(TuneMetric::Auc));
        assert!("auk".parse::<TuneMetric>().unwrap_err().contains("pr_auc"));
        for (task, name) in
            [(Task::Classify, "accuracy"), (Task::Multilabel, "micro_f1"), (Task::Regress, "rmse")]
        {
            assert_eq!(TuneMetric::Usual.name(task), name);
        }
        assert!(TuneMetric::Usual.is_loss(Task::Regress));
        assert!(TuneMetric::Auc.check(Task::Classify, 3).is_err());
        assert!(TuneMetric::R2.check(Task::Classify, 2).is_err());
    }
}
