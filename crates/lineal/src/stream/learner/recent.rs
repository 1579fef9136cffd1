//! Rows as they were scored before they were learnt from, and the probabilities that follow from them.

use super::Learner;
use crate::request::spec::{LossKind, Strategy, Task};
use lineal_calibrate::{Calibration, Held, Kind, Truth};

/// Rows that are too few to fit a temperature to.
const FEW: usize = 50;

/// Rows of the last chunk, as they were scored before they were learnt from.
#[derive(Default)]
pub(super) struct Recent {
    pub n_columns: usize,
    /// Their places in the chunk.
    pub rows: Vec<usize>,
    pub scores: Vec<f64>,
    pub classes: Vec<u32>,
}

impl Learner {
    /// Whether the loss has no probabilities of its own and one temperature makes some: one column per class, or one for two.
    pub(super) fn calibrates(&self) -> bool {
        let is_direct = self.n_classes <= 2 || self.spec.strategy() != Strategy::Ovo;
        self.spec.task == Task::Classify && self.spec.loss() != LossKind::Logistic && is_direct
    }

    /// The temperature that makes probabilities of scores, by the rows that were new when they came; `None` if there are too few.
    pub(in crate::stream) fn temperature(&self) -> Option<Calibration> {
        let Recent { n_columns, scores, classes, .. } = &self.recent;
        if classes.len() < FEW || *n_columns != self.n_columns() {
            return None;
        }
        let held = Held::new(*n_columns, scores, Truth::Classes(classes)).ok()?;
        Some(Calibration::fit(Kind::Temperature, &held))
    }
}
