//! What is reported about a stream while it runs and at the end.

use crate::request::spec::Task;
use serde::{Deserialize, Serialize};

/// Metrics of a pass over rows, each measured before the model learnt from it.
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
    /// One entry per pass, including passes before the run was resumed. Only the first pass is over rows that the model had not seen.
    pub passes: Vec<Progressive>,
    /// The number of rows that this run learnt from, over all passes.
    pub rows: u64,
    /// Whether the monitor ended it.
    pub interrupted: bool,
    /// Classes that the first rows, or the model that was resumed, did not have.
    pub new_classes: Vec<String>,
    /// What the user should know.
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
