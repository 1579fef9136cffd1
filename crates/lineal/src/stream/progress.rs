//! What a stream tells while it runs and when it has ended.

use crate::request::spec::Task;
use serde::{Deserialize, Serialize};

/// What a pass saw of rows before it learnt from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progressive {
    /// Which pass, from 1.
    pub pass: usize,
    /// Rows so far.
    pub rows: u64,
    /// Their mean loss.
    pub loss: f64,
    /// Accuracy; the share of right answers for labels; −RMSE for numbers.
    pub metric: f64,
}

/// The state of a stream, after each chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamPoint {
    /// The pass so far.
    pub pass: Progressive,
    /// The last chunk alone.
    pub chunk: Progressive,
    /// Features that have occurred.
    pub features: usize,
    /// Classes that have occurred.
    pub classes: usize,
    /// Seconds since the run started.
    pub seconds: f64,
}

/// What a run over a stream tells about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamReport {
    /// One entry per pass, those before a resumption too. Only the first is of rows that were new.
    pub passes: Vec<Progressive>,
    /// Rows learnt from in this run, all passes.
    pub rows: u64,
    /// Whether the monitor ended it.
    pub interrupted: bool,
    /// Classes that came up after the first rows, or after the model that was resumed.
    pub new_classes: Vec<String>,
    /// What the user should hear of.
    pub warnings: Vec<String>,
}

/// Sums over rows, before they were learnt from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub rows: u64,
    pub weight: f64,
    pub loss: f64,
    pub error: f64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.rows += other.rows;
        self.weight += other.weight;
        self.loss += other.loss;
        self.error += other.error;
    }

    pub(super) fn progressive(&self, pass: usize, task: Task) -> Progressive {
        let mean = |sum: f64| if self.weight > 0.0 { sum / self.weight } else { 0.0 };
        let error = mean(self.error);
        let metric = if task == Task::Regress { -error.sqrt() } else { 1.0 - error };
        Progressive { pass, rows: self.rows, loss: mean(self.loss), metric }
    }
}
