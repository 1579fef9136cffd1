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
    /// How many points there were, of which the curve keeps every `stride`-th and the last.
    n_seen: usize,
    stride: usize,
    best: Option<Best<W>>,
}

/// The most points of a curve: the dual may look at its gap a million times.
const MOST_POINTS: usize = 1 << 15;

struct Best<W> {
    metric: f64,
    loss: f64,
    pass: usize,
    /// How many points there were with it.
    at: usize,
    weights: W,
}

impl<'a, W> Watch<'a, W> {
    pub(crate) fn new(on_pass: Option<&'a mut OnPass<'a>>, patience: Option<usize>) -> Self {
        let started = Instant::now();
        Self { started, on_pass, patience, curve: Vec::new(), n_seen: 0, stride: 1, best: None }
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
            let (pass, at) = (point.pass, self.n_seen);
            self.best = Some(Best { metric, loss, pass, at, weights: weights() });
        }
        match &self.best {
            Some(best) if self.n_seen - best.at >= patience => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Records a point of the curve, with the time.
    pub(crate) fn note(&mut self, point: CurvePoint) -> ControlFlow<()> {
        let point = CurvePoint { seconds: self.started.elapsed().as_secs_f64(), ..point };
        self.keep(point);
        match &mut self.on_pass {
            Some(on_pass) => on_pass(&point),
            None => ControlFlow::Continue(()),
        }
    }

    fn keep(&mut self, point: CurvePoint) {
        if !self.n_seen.is_multiple_of(self.stride) {
            self.curve.pop();
        }
        self.curve.push(point);
        self.n_seen += 1;
        if self.curve.len() == MOST_POINTS && self.n_seen.is_multiple_of(self.stride) {
            let mut at = 0;
            self.curve.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.stride *= 2;
        }
    }

    /// The best pass and its weights, if early stopping was on and it was not the last.
    pub(crate) fn take_best(&mut self) -> Option<(usize, W)> {
        let last = self.n_seen;
        self.best.take().filter(|best| best.at != last).map(|best| (best.pass, best.weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned_evenly_and_keep_the_last_point() {
        let mut watch = Watch::<()>::new(None, None);
        for pass in 1..=5 * MOST_POINTS + 3 {
            let _ = watch.note(CurvePoint { pass, ..CurvePoint::default() });
        }
        let passes: Vec<usize> = watch.curve.iter().map(|point| point.pass).collect();
        assert!(passes.len() <= MOST_POINTS && passes.len() >= MOST_POINTS / 2, "{}", passes.len());
        let (last, others) = passes.split_last().unwrap();
        assert_eq!(*last, 5 * MOST_POINTS + 3);
        assert!((1..).zip(others).all(|(at, &pass)| pass == 8 * at), "{others:?}");
    }
}
