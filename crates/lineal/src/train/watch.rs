//! Looks on while a solver runs: the curve, the held-out set, early stopping.

use crate::train::report::CurvePoint;
use crate::train::weights::{Number, Weights};
use lineal_solver::Pass;
use std::ops::ControlFlow;
use std::time::Instant;

/// Called after every pass; `Break` ends the run.
pub type OnPass<'a> = dyn FnMut(&CurvePoint) -> ControlFlow<()> + Send + 'a;

/// What can be measured about weights on the way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    pub objective: Option<f64>,
    pub train_loss: Option<f64>,
    pub held_out_loss: Option<f64>,
    pub held_out_metric: Option<f64>,
}

pub(crate) struct Watch<'a> {
    started: Instant,
    on_pass: Option<&'a mut OnPass<'a>>,
    patience: Option<usize>,
    pub curve: Vec<CurvePoint>,
    best: Option<Best>,
}

struct Best {
    metric: f64,
    loss: f64,
    pass: usize,
    weights: Weights,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(on_pass: Option<&'a mut OnPass<'a>>, patience: Option<usize>) -> Self {
        Self { started: Instant::now(), on_pass, patience, curve: Vec::new(), best: None }
    }

    /// Records a pass and says whether to go on.
    pub(crate) fn see<F: Number>(
        &mut self,
        pass: &Pass<'_, F>,
        measured: Measured,
    ) -> ControlFlow<()> {
        let point = CurvePoint {
            pass: pass.pass,
            objective: measured.objective,
            train_loss: measured.train_loss,
            gap: pass.gap.filter(|gap| gap.is_finite()),
            gap_estimate: pass.gap_estimate.filter(|gap| gap.is_finite()),
            held_out_loss: measured.held_out_loss,
            held_out_metric: measured.held_out_metric,
            blocks: None,
            seconds: 0.0,
        };
        self.note(point)?;
        let (Some(patience), Some(metric)) = (self.patience, measured.held_out_metric) else {
            return ControlFlow::Continue(());
        };
        // Accuracy moves in steps; among equals the smaller held-out loss is the better model.
        let loss = measured.held_out_loss.unwrap_or(f64::INFINITY);
        let better = self
            .best
            .as_ref()
            .is_none_or(|best| metric > best.metric || (metric == best.metric && loss < best.loss));
        if better {
            self.best =
                Some(Best { metric, loss, pass: pass.pass, weights: F::own(pass.w.to_vec()) });
        }
        match &self.best {
            Some(best) if pass.pass - best.pass >= patience => ControlFlow::Break(()),
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
    pub(crate) fn take_best(&mut self) -> Option<(usize, Weights)> {
        let last = self.curve.last()?.pass;
        self.best.take().filter(|best| best.pass != last).map(|best| (best.pass, best.weights))
    }
}
