//! Looks on while a learner runs: the curve, the held-out examples, early stopping.

use crate::train::report::CurvePoint;
use std::ops::ControlFlow;
use std::time::Instant;

/// Called after every pass; `Break` ends the run.
pub type OnPass<'a> = dyn FnMut(&CurvePoint) -> ControlFlow<()> + Send + 'a;

/// A run's observer. `W` is what would be kept of a pass: weights, in whatever form the learner has them.
pub(crate) struct Watch<'a, W> {
    started: Instant,
    on_pass: Option<&'a mut OnPass<'a>>,
    patience: Option<usize>,
    pub curve: Vec<CurvePoint>,
    best: Option<Best<W>>,
}

struct Best<W> {
    metric: f64,
    loss: f64,
    pass: usize,
    /// Which point of the curve.
    at: usize,
    weights: W,
}

impl<'a, W> Watch<'a, W> {
    pub(crate) fn new(on_pass: Option<&'a mut OnPass<'a>>, patience: Option<usize>) -> Self {
        Self { started: Instant::now(), on_pass, patience, curve: Vec::new(), best: None }
    }

    /// Records a pass and says whether to go on; `weights` are asked for where the pass is the best so far.
    pub(crate) fn see(
        &mut self,
        point: CurvePoint,
        weights: impl FnOnce() -> W,
    ) -> ControlFlow<()> {
        self.note(point)?;
        let (Some(patience), Some(metric)) = (self.patience, point.held_out_metric) else {
            return ControlFlow::Continue(());
        };
        // Accuracy moves in steps; among equals the smaller held-out loss is the better model.
        let loss = point.held_out_loss.unwrap_or(f64::INFINITY);
        let better = self
            .best
            .as_ref()
            .is_none_or(|best| metric > best.metric || (metric == best.metric && loss < best.loss));
        if better {
            let (pass, at) = (point.pass, self.curve.len());
            self.best = Some(Best { metric, loss, pass, at, weights: weights() });
        }
        match &self.best {
            Some(best) if self.curve.len() - best.at >= patience => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Records a point of the curve, with the time.
    pub(crate) fn note(&mut self, point: CurvePoint) -> ControlFlow<()> {
        let point = CurvePoint { seconds: self.started.elapsed().as_secs_f64(), ..point };
        self.curve.push(point);
        match &mut self.on_pass {
            Some(on_pass) => on_pass(&point),
            None => ControlFlow::Continue(()),
        }
    }

    /// The best pass and its weights, if early stopping was on and it was not the last.
    pub(crate) fn take_best(&mut self) -> Option<(usize, W)> {
        let last = self.curve.len();
        self.best.take().filter(|best| best.at != last).map(|best| (best.pass, best.weights))
    }
}
